"""Data frames of any library: pandas, polars, Arrow and whatever else narwhals supports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import narwhals as nw
import narwhals.stable.v1 as stable
import numpy as np
import pandas as pd

from rulecover.data.written_numbers import Notation
from rulecover.exceptions import MismatchedDataError
from rulecover.typing import Array, Floats, Ints

#: The code of a category that was never seen.
UNSEEN = -1.0

#: The level of a text column that stands for a missing text.
MISSING = "(missing)"

#: Where 0 counts as missing, so does every number this close to it: LightGBM's bound.
ZERO = float(np.float32(1e-35))


def in_native_order(X: Any) -> Any:
    """Rows in the byte order of the machine; some libraries take an array in another one for other numbers."""
    return X.astype(X.dtype.newbyteorder("=")) if isinstance(X, np.ndarray) and not X.dtype.isnative else X


def is_frame(X: Any) -> bool:
    """Whether X is a data frame; a lazy one, which has no rows yet, is refused."""
    if isinstance(X, np.ndarray):  # most are, and the questions below take a while
        return False
    if nw.dependencies.is_polars_lazyframe(X):
        raise MismatchedDataError("X is a lazy frame, which has no rows yet; pass X.collect().")
    return bool(nw.dependencies.is_into_dataframe(X))


def absent(name: str, there: Sequence[Any], *, user: str = "the rules use") -> MismatchedDataError:
    """The error for a column that is used, but is not among those of X."""
    known = ", ".join(map(str, there[:5])) + ("…" if len(there) > 5 else "")
    return MismatchedDataError(f"{user} column {name!r}, but X has only {known}; add it.")


def names_of_model(model: Any) -> tuple[str, ...] | None:
    """The columns that a trained model knows by name."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else tuple(map(str, names))


def as_spelled(names: Sequence[str], there: Sequence[str]) -> list[str]:
    """The names of a model as a table spells them: LightGBM writes _ for a blank.

    >>> as_spelled(["net_weight", "size", "age"], ["size", "net weight"])
    ['net weight', 'size', 'age']
    """
    spelled = {name.replace(" ", "_"): name for name in there} | {name: name for name in there}
    return [spelled.get(name, name) for name in names]


def names_of(frame: Any) -> list[Any]:
    """The names of a frame's columns, in order."""
    return list(frame.columns) if nw.dependencies.is_pandas_dataframe(frame) else list(_eager(frame).columns)


def is_unnamed(frame: Any) -> bool:
    """Whether the columns are merely numbered, as pandas numbers them by default."""
    return names_of(frame) == list(range(len(names_of(frame))))


def as_pandas(X: Any, *, as_arrays: bool = False) -> Any:
    """A data frame of another library as one of pandas; anything else is returned as it is.

    With `as_arrays`, categories with gaps are texts and None, as in the arrays that scikit-learn makes of them: in a
    categorical column of pandas every gap is NaN, which an imputer may treat in another way.
    """
    if not is_frame(X) or nw.dependencies.is_pandas_dataframe(X):
        return X
    frame = _eager(X)
    return pd.DataFrame({name: _pandas_values(frame[name], as_arrays=as_arrays) for name in frame.columns})


def _eager(frame: Any) -> nw.DataFrame[Any]:
    return nw.from_native(frame, eager_only=True)


def _pandas_values(series: nw.Series[Any], *, as_arrays: bool) -> Any:
    categories = series.dtype in (nw.Categorical, nw.Enum)
    if categories and not (as_arrays and series.null_count()):
        # Arrow knows the codes; a list of all values takes ten times as long.
        values: Any = series.to_native().to_pandas() if series.implementation.is_pyarrow() else series.to_list()
        return pd.Categorical(values, categories=categories_of(series).to_list(), ordered=False)
    if series.dtype == nw.Boolean and series.null_count():
        series = series.cast(nw.Float64)
    values = np.array(series.to_list(), dtype=object) if categories else _values(series)
    return pd.Series(values, dtype=object) if values.dtype == object else values


def categories_of(series: nw.Series[Any]) -> nw.Series[Any]:
    """The categories of a categorical column, in their order."""
    known: nw.Series[Any] = stable.from_native(series.to_native(), series_only=True).cat.get_categories()
    return known


def column(frame: Any, name: str) -> Array:
    """One column of a frame; categories by their names."""
    if nw.dependencies.is_pandas_dataframe(frame):
        return np.asarray(frame[name])
    return _values(_eager(frame)[name])


def _values(series: nw.Series[Any]) -> Array:
    """The values of a column; dates by their own clock, as numpy knows no time zones and would turn them to UTC."""
    zone = series.dtype.time_zone if isinstance(series.dtype, nw.Datetime) else None
    return np.asarray((series if zone is None else series.dt.replace_time_zone(None)).to_numpy())


def category_columns(X: Any) -> dict[int, tuple[Any, ...]]:
    """The columns of pandas' type for categories: their numbers, and their categories in order."""
    kinds = enumerate(X.dtypes) if nw.dependencies.is_pandas_dataframe(X) else ()
    return {f: tuple(kind.categories.tolist()) for f, kind in kinds if isinstance(kind, pd.CategoricalDtype)}


def numbers(values: Any, name: str, labels: Sequence[Any] | None = None, notation: Notation | None = None) -> Floats:
    """A column as float64: the codes of its categories where they are known, else its numbers, as they are written."""
    if labels is not None:
        return codes(values, labels)
    values = np.asarray(values)
    if notation is not None and values.dtype.kind not in "biuf":
        values = _read_texts(values, notation)
    check_kind(values.dtype, f"column {name!r}")
    plain = values.dtype.kind in "biuf"  # in texts, numpy takes "1_000" for a number
    return values.astype(np.float64) if plain else _numbers_of_objects(values, name)


def check_kind(kind: Any, what: str) -> None:
    """Raises for dates, times and complex numbers, which numpy would silently turn into numbers."""
    if kind.kind in "mMc":
        raise MismatchedDataError(
            f"{what} holds values of type {kind}, but rules compare numbers; convert them to numbers, in training and "
            "here alike, such as the year or the days since a date."
        )


def _numbers_of_objects(values: Array, name: str) -> Floats:
    """Every kind of missing value becomes NaN; the error names what is not a number."""
    out = pd.to_numeric(pd.Series(values, dtype=object), errors="coerce").to_numpy(np.float64, na_value=np.nan)
    wrong = np.flatnonzero(np.isnan(out) & ~pd.isna(values))
    if wrong.size:
        raise MismatchedDataError(
            f"could not convert string to float: column {name!r} holds {values[wrong[0]]!r} in row {wrong[0]}, but the "
            "rules compare numbers there."
        )
    return np.asarray(out)


def _read_texts(values: Array, notation: Notation) -> Array:
    """The values with numbers in place of the texts that the notation reads; each distinct one is read once."""
    which, known = pd.factorize(np.asarray(values, dtype=object))
    texts = np.array([isinstance(each, str) for each in known], dtype=bool)
    numbers = notation.read(known[texts])
    unread = np.isnan(numbers)
    unread[unread] = [not notation.is_missing(text) for text in known[texts][unread]]
    if texts.all() and not unread.any():
        return np.asarray(np.append(numbers, np.nan)[which])
    read = np.append(known, np.nan)  # others are named in an error
    read[:-1][np.flatnonzero(texts)[~unread]] = numbers[~unread]
    return np.asarray(read[which])


def missing_values() -> tuple[Any, ...]:
    """The values that mean "missing": all the same to a rule, but not to every transformer of scikit-learn."""
    return (np.nan, None, pd.NA, pd.NaT)


def kinds_of(values: Iterable[Any]) -> Ints:
    """For missing values the place of each among `missing_values`.

    >>> kinds_of([None, float("nan")])
    array([1, 0])
    """
    place = {type(value): kind for kind, value in enumerate(missing_values())}
    return np.array([place.get(type(value), 0) for value in values], dtype=np.intp)


def codes(values: Any, labels: Sequence[Any]) -> Floats:
    """The place of each value among the labels, NaN for a missing one, `UNSEEN` for any other.

    Values are an array, or a column of pandas, which is not made an array of objects first.

    >>> codes(np.array(["b", None, "z", "a"], dtype=object), ("a", "b"))
    array([ 1., nan, -1.,  0.])
    """
    if hasattr(labels, "codes"):  # labels that are known only by a hash
        return np.asarray(labels.codes(np.asarray(values)))
    which, known = pd.factorize(values if isinstance(values, pd.Series) else np.asarray(values, dtype=object))
    places = _index(labels).get_indexer(_index(known))
    return np.asarray(np.append(places, np.nan)[which], dtype=np.float64)  # what is missing is in place -1


def _index(values: Any) -> pd.Index:
    return pd.Index(np.asarray(values, dtype=object), dtype=object)
