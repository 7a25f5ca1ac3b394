"""Tables as people have them, encoded as the numbers that trees take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from rulecover.data.advice import looks_like_id
from rulecover.data.columns import all_names
from rulecover.data.dates import ISO, PARTS, DatePart, holds_dates, is_iso, moments, parts_of, written_as
from rulecover.data.frames import MISSING, as_pandas, codes, is_frame, numbers
from rulecover.data.kinds import is_text, is_truth, parse_numbers, rare_odd_text, why_unusable
from rulecover.data.written_numbers import Notation, Undecided, marks_among, of_each_shape, recognise
from rulecover.typing import Array, Floats, Ints

#: How levels that are too rare to be told apart are written in the names of 0/1 columns.
RARE = "(rare)"

#: A text column of more levels than `max_levels` names rows if more than this share of its texts are different.
_NEARLY_ALL = 0.8

#: Encoded rows of more columns than these are made in blocks of about this many values where possible.
_WIDE, _VALUES = 128, 2**24


@dataclass(frozen=True)
class EncodedNumbers:
    """A column of numbers, which stays as it is; texts are read by a notation if there is one."""

    name: str
    notation: Notation | None = None

    @property
    def made_names(self) -> tuple[str, ...]:
        """The names of the encoded columns."""
        return (self.name,)

    def read(self, column: Any) -> Floats:
        """A column of a table as rules see it, rows x columns."""
        return numbers(np.asarray(parse_numbers(column)), self.name, notation=self.notation)[:, None]

    def encode(self, seen: Floats, out: Array) -> None:
        """Writes the encoded columns of what rules see into columns of zeros."""
        out[:] = seen


@dataclass(frozen=True, eq=False)
class EncodedLevels:
    """A column of texts, truth values or categories as 0/1 columns; of two levels, one column is enough.

    Parameters
    ----------
    name
        The column.
    labels
        The known levels.
    place
        For each label, then for a level that was never seen, then for a missing value: the encoded column that is 1,
        or -1 where all are 0.
    made_names
        The names of the encoded columns.
    """

    name: str
    labels: tuple[Any, ...]
    place: Ints
    made_names: tuple[str, ...]

    @property
    def n_frequent(self) -> int | None:
        """How many levels are told apart where all others are taken together; they are the first labels."""
        of_rare = self.place[len(self.labels)]
        return None if of_rare < 0 else int((self.place[: len(self.labels)] != of_rare).sum())

    def read(self, column: Any) -> Floats:
        """The places of its labels, -1 for a level that was never seen, NaN for a missing one."""
        return codes(column, self.labels)[:, None]

    def encode(self, seen: Floats, out: Array) -> None:
        """As in `EncodedNumbers`."""
        place = self._of_each(seen, self.place)
        rows = np.flatnonzero(place >= 0)
        out[rows, place[rows]] = 1.0

    def _of_each(self, seen: Floats, values: Array) -> Array:
        """One of as many values as `place` has for each row."""
        known, n = seen[:, 0], len(self.labels)
        return values[np.where(np.isnan(known), n + 1, np.where(known < 0, n, known)).astype(np.intp)]


@dataclass(frozen=True, eq=False)
class EncodedCategories(EncodedLevels):
    """A column of levels as one column of codes, for trees that know categories; NaN stands for what has no code."""

    @classmethod
    def of(cls, levels: EncodedLevels) -> EncodedLevels:
        """The same levels as codes, the numbers of their 0/1 columns; two levels stay one 0/1 column."""
        if len(levels.made_names) == 1:
            return levels
        return cls(levels.name, levels.labels, levels.place, (levels.name,))

    @property
    def n_codes(self) -> int:
        """The number of levels that have a code."""
        return int(self.place.max()) + 1

    @property
    def code(self) -> Floats:
        """The code of each label, then of a level that was never seen, then of a missing value."""
        return np.where(self.place < 0, np.nan, self.place)

    def encode(self, seen: Floats, out: Array) -> None:
        """As in `EncodedNumbers`."""
        out[:, 0] = self._of_each(seen, self.code)


@dataclass(frozen=True)
class EncodedDates:
    """A column of dates as columns of numbers: those parts of the dates that differ."""

    name: str
    parts: tuple[str, ...]
    written: str = ISO

    @property
    def made(self) -> tuple[DatePart, ...]:
        """What is made of the dates."""
        return tuple(DatePart(self.name, part, self.written) for part in self.parts)

    @property
    def made_names(self) -> tuple[str, ...]:
        """As in `EncodedNumbers`."""
        return tuple(each.made_name for each in self.made)

    def read(self, column: Any) -> Floats:
        """The parts of its dates."""
        dates = moments(column, self.written, self.name)
        return np.column_stack([*parts_of(dates, self.parts)])

    def encode(self, seen: Floats, out: Array) -> None:
        """As in `EncodedNumbers`."""
        out[:] = seen


@dataclass(frozen=True)
class LeftOut:
    """A column of which nothing is made, and why."""

    name: str
    reason: str

    made_names: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """The sentence on it."""
        return f"column {self.name!r} left out: {self.reason}."

    def read(self, column: Any) -> Floats:
        """Nothing of it."""
        return np.zeros((len(column), 0))

    def encode(self, seen: Floats, out: Array) -> None:
        """Writes nothing."""


#: Why a column that numbers the rows is left out.
ID = "it looks like an id, so that rules on it would name rows; TableEncoder(keep_ids=True) before the model uses it"

Encoded: TypeAlias = EncodedNumbers | EncodedLevels | EncodedDates | LeftOut
#: How a column is encoded, and what should be said about it.
_Found: TypeAlias = tuple[Encoded, str]


class TableEncoder(TransformerMixin, BaseEstimator):
    """Makes the numbers that trees take of a table with texts, categories, truth values, dates and missing values.

    Numbers stay as they are, NaN included. A column of texts, truth values or categories becomes 0/1 columns, one for
    each level; a missing value is a level of its own, and one that was never seen has none. A column of dates becomes
    the year, the month, the weekday (1 is Monday) and the days since 1970-01-01. Texts that are dates in all cells are
    taken as dates, and such as ``23.2%`` or ``$1,188`` as numbers; a dash or dots among these mean that a number is
    missing. What cannot help is left out: constant columns, texts that are nearly all different, and columns of a frame
    that number its rows.

    Rules of trees behind it are about the columns in front of it: ``colour in {red, blue}``, ``deck is missing``. All
    models of rules put one in front by themselves if they are fitted to such a table.

    Parameters
    ----------
    max_levels
        A column of more levels keeps those that occur most often; all others are one level, which also takes levels
        that were never seen.
    keep_ids
        Whether to use columns of numbers that look like ids: whole numbers, all different though chance would repeat
        some, or half of them under a name such as ``customer_id``. They are left out otherwise.
    native_categories
        Whether a column of more than two levels becomes one column of pandas' type for categories, for trees that know
        such, in place of 0/1 columns. `transform` then returns a data frame, whose columns are x0, x1 and so on; a
        level that was never seen is a missing value in it. Models of rules set it for trees that know categories.

    Attributes
    ----------
    columns_ : tuple
        How each column is encoded.
    notes_ : list of str
        What was left out or recognised, in sentences.
    feature_names_in_, n_features_in_
        The columns of the table.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [30, 50, 40], "colour": ["red", None, "blue"], "paid": [True, False, True]})
    >>> encoder = TableEncoder().fit(table)
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'colour = blue', 'colour = red', 'colour = (missing)', 'paid = True']
    >>> encoder.transform(table).astype(int).tolist()
    [[30, 0, 1, 0, 1], [50, 0, 0, 1, 0], [40, 1, 0, 0, 1]]
    """

    columns_: tuple[Encoded, ...]
    notes_: list[str]
    n_features_in_: int

    #: For encoders that were stored before there was such a setting.
    native_categories = False

    def __init__(self, max_levels: int = 50, *, keep_ids: bool = False, native_categories: bool = False) -> None:
        self.max_levels = max_levels
        self.keep_ids = keep_ids
        self.native_categories = native_categories

    def fit(self, X: Any, y: Any = None) -> Self:
        """Looks at each column of a table and decides what is made of it.

        Parameters
        ----------
        X
            A data frame of pandas, polars or Arrow, or an array.
        y
            Not used; for scikit-learn.

        Returns
        -------
        TableEncoder
            Itself.

        Raises
        ------
        ValueError
            If `max_levels` is below 2, or no column is left.
        """
        table, ids = self._begin(X)
        found = self._of_columns(table, ids)
        if ids and not _makes_some(found):
            found = self._of_columns(table, [])
        self._take(found)
        if not _makes_some(found):
            raise ValueError(f"no column is left to make rules of: {' '.join(self.notes_)}")
        return self

    def transform(self, X: Any) -> Any:
        """The encoded columns, rows x columns.

        Parameters
        ----------
        X
            A table with the columns of `fit`.

        Returns
        -------
        numpy.ndarray or pandas.DataFrame
            Numbers, and categories if these are native; NaN where a number or a date is missing.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the encoder is not fitted yet.
        ValueError
            If X has other columns, or a text that is not of the kind of its column.
        """
        check_is_fitted(self)
        table = self._table(X, reset=False)
        read = (each.read(table.iloc[:, f]) for f, each in enumerate(self.columns_))
        encoded = side_by_side(self.columns_, len(table), read)
        return self._framed(encoded) if self.native_categories else encoded

    def _framed(self, encoded: Floats) -> Any:
        """Encoded columns as a frame in which those of codes are categories."""
        columns: dict[str, Any] = {}
        for each in self.columns_:
            for _ in each.made_names:
                values = encoded[:, len(columns)]
                if isinstance(each, EncodedCategories):
                    codes = np.where(np.isnan(values), -1, values).astype(np.intp)
                    values = pd.Categorical.from_codes(codes, categories=range(each.n_codes))
                columns[f"x{len(columns)}"] = values  # some libraries refuse names as people write them
        return pd.DataFrame(columns)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the encoded columns.

        Parameters
        ----------
        input_features
            Not used; for scikit-learn.

        Returns
        -------
        numpy.ndarray
            Texts, in the order of the columns.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the encoder is not fitted yet.
        """
        check_is_fitted(self)
        kept = (EncodedNumbers, EncodedCategories)
        given = [each.name for each in self.columns_ if isinstance(each, kept)]
        made = [name for each in self.columns_ if not isinstance(each, kept) for name in each.made_names]
        of_made = iter(all_names(given, made)[len(given) :])
        names = ([each.name] if isinstance(each, kept) else list(_next(of_made, each)) for each in self.columns_)
        return np.array([name for mine in names for name in mine], dtype=object)

    def _table(self, X: Any, *, reset: bool) -> Any:
        if is_frame(X):
            table = as_pandas(X)
            validate_data(self, table, skip_check_array=True, reset=reset)
            return table
        fewest = 2 if reset else 1  # of one row every column is constant
        rows = validate_data(self, X, dtype=None, ensure_all_finite="allow-nan", ensure_min_samples=fewest, reset=reset)
        return pd.DataFrame(rows, columns=[f"x{f}" for f in range(rows.shape[1])])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def _check_settings(self) -> None:
        """Raises for settings out of their range."""
        if not isinstance(self.max_levels, (int, np.integer)) or self.max_levels < 2:
            raise ValueError(f"max_levels is {self.max_levels!r}; it is a whole number, at least 2.")

    def _begin(self, X: Any) -> tuple[Any, list[Any]]:
        """The table, and its columns that look like ids, if these are to be left out."""
        self._check_settings()
        table = self._table(X, reset=True)
        return table, [] if self.keep_ids or not is_frame(X) else id_columns(table)

    def _of_columns(self, table: Any, ids: Sequence[Any]) -> list[_Found]:
        """How the columns are encoded, without some that look like ids."""
        return [
            (LeftOut(str(name), ID), "") if name in ids else self._of_column(str(name), table.iloc[:, f])
            for f, name in enumerate(table.columns)
        ]

    def _of_column(self, name: str, column: Any) -> _Found:
        encoded, note = encoding_of(name, column, self.max_levels)
        if self.native_categories and isinstance(encoded, EncodedLevels):
            encoded = EncodedCategories.of(encoded)
        return encoded, note

    def _take(self, found: Sequence[_Found]) -> None:
        self.columns_ = tuple(encoded for encoded, _ in found)
        self.notes_ = [sentence for each in found for sentence in notes_on(*each)]


def notes_on(encoded: Encoded, note: str) -> list[str]:
    """What should be said about a column, if anything, as a sentence."""
    if isinstance(encoded, LeftOut):
        return [encoded.note]
    return [f"column {encoded.name!r} {note}."] if note else []


def _makes_some(found: Sequence[_Found]) -> bool:
    return any(encoded.made_names for encoded, _ in found)


def side_by_side(
    columns: Sequence[Encoded], n_rows: int, seen: Iterable[Floats], kind: type[np.floating[Any]] = np.float64
) -> Array:
    """The encoded columns side by side, rows x columns, of each column of a table as rules see it."""
    widths = [len(each.made_names) for each in columns]
    out = np.zeros((n_rows, sum(widths)), dtype=kind)
    for each, mine, first in zip(columns, seen, np.cumsum([0, *widths]).tolist(), strict=False):
        with np.errstate(over="ignore"):
            each.encode(mine, out[:, first : first + len(each.made_names)])
    return out


def rows_at_a_time(n_columns: int) -> int | None:
    """How many encoded rows are made at a time: very wide ones would take much room; ``None`` for all of them.

    >>> rows_at_a_time(20), rows_at_a_time(2000)
    (None, 8388)
    """
    return max(1, _VALUES // n_columns) if n_columns > _WIDE else None


def as_in_whole(encoder: TableEncoder, table: Any) -> Any:
    """The table for an encoder of some of its rows: a column is of the same kind in these as in all.

    A part may lack the very cell that keeps a column from being read as dates, and then could not read that cell.

    Parameters
    ----------
    encoder
        Fitted to the whole table.
    table
        The table.

    Examples
    --------
    >>> table = pd.DataFrame({"when": ["2024-01-05", "2024-01-06", "unknown"], "size": [1, 2, 3]})
    >>> TableEncoder().fit(as_in_whole(TableEncoder().fit(table), table)[:2]).get_feature_names_out().tolist()
    ['when = 2024-01-06', 'size']
    """
    if not is_frame(table):
        return table
    frame = as_pandas(table)
    kept = [_of_kind(each, frame.iloc[:, f]) for f, each in enumerate(encoder.columns_)]
    if all(column is None for column in kept):
        return table
    frame = frame.copy(deep=False)
    for f, column in enumerate(kept):
        if column is not None:
            frame.isetitem(f, column)
    return frame


def _of_kind(encoded: Encoded, column: Any) -> Any:
    """The cells of a column so that they cannot be taken for anything else; ``None`` if they are not anyway."""
    if isinstance(encoded, EncodedNumbers):
        return None if encoded.notation is None else encoded.read(column)[:, 0].astype(object)
    if isinstance(encoded, EncodedDates):
        return None if is_iso(encoded.written) else moments(column, encoded.written, encoded.name)
    if isinstance(column.dtype, pd.CategoricalDtype) or pd.api.types.infer_dtype(column, skipna=True) != "string":
        return None
    known = sorted(column.dropna().unique())
    if not any(character.isdigit() for text in known for character in text):  # numbers and dates have one
        return None
    return np.full(len(column), None) if isinstance(encoded, LeftOut) else pd.Categorical(column, categories=known)


def id_columns(table: Any) -> list[Any]:
    """The names of columns of numbers that number the rows; none where no other column would be left."""
    numeric = [
        name
        for f, name in enumerate(table.columns)
        if pd.api.types.is_numeric_dtype(kind := table.dtypes.iloc[f]) and not pd.api.types.is_bool_dtype(kind)
    ]
    found = [
        name for name in numeric if looks_like_id(str(name), table[name].to_numpy(dtype=np.float64, na_value=np.nan))
    ]
    return found if len(found) < table.shape[1] else []


def _next(names: Iterator[str], encoded: Encoded) -> Iterator[str]:
    return (next(names) for _ in encoded.made_names)


def encoding_of(name: str, column: Any, max_levels: int) -> tuple[Encoded, str]:
    """How a column is encoded, and what should be said about it."""
    column = parse_numbers(column)
    reason = why_unusable(column) or _useless(column)
    if reason:
        return LeftOut(name, reason), ""
    if holds_dates(column):
        return _dates(name, column, ISO), ""
    if not is_text(column):
        return EncodedNumbers(name), ""
    if is_truth(column):
        return _levels(name, column, [False, True], ()), ""
    return _texts(name, column, max_levels)


def _texts(name: str, column: Any, max_levels: int) -> tuple[Encoded, str]:
    """Texts may be numbers or dates to people; those of pandas' type for categories are not."""
    texts = [] if isinstance(column.dtype, pd.CategoricalDtype) else list(dict.fromkeys(column.dropna().tolist()))
    if (notation := _notation(texts)) is not None:
        return EncodedNumbers(name, notation), f"is read as numbers: {_example(texts, notation)}"
    written = written_as(texts)
    if written is not None:
        shown = "year-month-day" if is_iso(written) else written
        return _dates(name, column, written), f"holds dates ({shown}): its year, month, weekday and days are used"
    return _words(name, column, max_levels)


def _notation(texts: list[Any]) -> Notation | None:
    """How numbers are written in texts that are all numbers to people, but not to programs."""
    if not all(isinstance(text, str) for text in texts):
        return None
    marks = marks_among(texts)
    known = list(of_each_shape(text for text in texts if text.strip() not in marks))
    found = recognise(known)
    found = found.likely if isinstance(found, Undecided) else found
    if not isinstance(found, Notation):
        return None
    plain = [_as_float(text) for text in known] == found.read(known).tolist()
    return replace(found, missing=marks) if marks or not plain else None  # plain numbers are texts for some reason


def _example(texts: list[str], notation: Notation) -> str:
    """How texts that are not plain are read, in words."""
    missing = [f"{mark!r} is taken as missing" for mark in notation.missing[:1]]
    known = [text for text in texts if not notation.is_missing(text)]
    example = max(known, key=lambda text: len(text.strip("0123456789")))
    plain = replace(notation, missing=()) == Notation()
    return " and ".join([*([] if plain else [f"{example!r} is {notation.read([example])[0]:.12g}"]), *missing])


def _as_float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _useless(column: Any) -> str:
    if column.isna().all():
        return "every value is missing"
    return "every value is the same" if column.nunique(dropna=False) == 1 else ""


def _dates(name: str, column: Any, written: str) -> Encoded:
    dates = moments(column, written, name)
    differ = tuple(
        part for part, values in zip(PARTS, parts_of(dates, PARTS), strict=True) if len(np.unique(values)) > 1
    )
    return EncodedDates(name, differ, written)


def _words(name: str, column: Any, max_levels: int) -> tuple[Encoded, str]:
    sizes = column.astype(object).value_counts()  # the most frequent first
    by_number = column.index.dtype.kind in "iu"  # rows of a file keep their numbers where some are left out
    odd = rare_odd_text(column if by_number else column.reset_index(drop=True))
    if len(sizes) <= max_levels:
        note = "" if odd is None else f"is taken as text: it holds {odd.among}, but {odd}"
        return _levels(name, column, _in_order(column, sizes.index.tolist()), ()), note
    if odd is not None:
        return LeftOut(
            name, f"it holds {odd.among}, but {odd}; correct the cell, or leave it empty if nothing is known"
        ), ""
    if len(sizes) > _NEARLY_ALL * sizes.sum():
        return LeftOut(
            name,
            f"it has {len(sizes)} different texts, such as {str(sizes.index[0])[:30]!r}, in {sizes.sum()} rows, and "
            "rules on them would only name rows",
        ), ""
    kept = max_levels - 1
    by_size = sizes.sort_index(key=lambda labels: labels.map(str)).sort_values(ascending=False, kind="stable")
    frequent, rare = by_size.index[:kept].tolist(), by_size.index[kept:].tolist()
    note = f"has {len(sizes)} levels: the {kept} most frequent are told apart, the others are taken together"
    return _levels(name, column, _in_order(column, frequent), _in_order(column, rare)), note


def _in_order(column: Any, labels: list[Any]) -> list[Any]:
    """Labels in the order of a column's categories, or in alphabetical order."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        chosen = set(labels)
        return [label for label in column.cat.categories.tolist() if label in chosen]
    return sorted(labels, key=str)


def _levels(name: str, column: Any, frequent: Any, rare: Any) -> EncodedLevels:
    groups = [*frequent, *([RARE] if rare else []), *([MISSING] if column.isna().any() else [])]
    first = 1 if len(groups) == 2 else 0  # of two levels, the later one is enough
    place = np.arange(len(frequent)) - first
    of_rare = len(frequent) - first if rare else -1
    of_missing = len(groups) - 1 - first if column.isna().any() else -1
    return EncodedLevels(
        name,
        (*frequent, *rare),
        np.array([*place, *[of_rare] * len(rare), of_rare, of_missing], dtype=np.intp),
        tuple(f"{name} = {group}" for group in groups[first:]),
    )
