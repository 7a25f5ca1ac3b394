"""Where data come in: frames of any library, columns matched by name, and what a model makes of its columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.validation import check_array, check_consistent_length, validate_data

from rulecover.data.categories import HashedCategories
from rulecover.data.columns import SourceColumns
from rulecover.data.encoder import TableEncoder
from rulecover.data.frames import absent, as_pandas, category_columns, check_kind, is_frame
from rulecover.estimators.binned import BinnedTrees
from rulecover.estimators.checks import check_column_names
from rulecover.estimators.cross_fitted import Honest
from rulecover.estimators.other_target import inner_model
from rulecover.estimators.steps_first import has_steps_first
from rulecover.estimators.zeros import HISTOGRAMS
from rulecover.exceptions import MismatchedDataError, RulecoverError
from rulecover.rules.ruleset import RuleSet
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Array


def with_columns(
    X: Any, names: Sequence[str] | None, needed: Collection[str] | None = None, *, as_arrays: bool = False
) -> Any:
    """X as an array, a sparse matrix or a pandas frame whose columns have these names, in this order.

    A frame in another order is matched by name; columns that are not `needed` may be missing, and are 0 then. A frame
    that cannot be matched comes back as it is, for scikit-learn to say what is wrong. With `as_arrays`, gaps are those
    of arrays; see `as_pandas`.
    """
    X = as_pandas(X, as_arrays=as_arrays)
    check_column_names(X)
    if names is None or not is_frame(X) or list(X.columns) == list(names) or set(X.columns) - set(names):
        return X
    lacking = set(names) - set(X.columns)
    if lacking and (needed is None or lacking & set(needed)):
        return X
    return X.reindex(columns=list(names), fill_value=0.0)


def with_category_types(X: Any, columns: SourceColumns, model: Any) -> Any:
    """X, its columns of categories of pandas' type for them where the model is one that takes nothing else.

    Rules know categories by name, so that a frame may hold texts or numbers there.
    """
    library = type(getattr(model, "source", model)).__module__.partition(".")[0]
    if library not in ("lightgbm", "xgboost") or not is_frame(X):
        return X
    place = {columns.name(f): known for f, known in columns.categories.items()}
    plain = [name for name in place if name in X and not isinstance(X[name].dtype, pd.CategoricalDtype)]
    return X.astype({name: _category_type(X[name], place[name]) for name in plain})


def _category_type(values: Any, known: Sequence[Any]) -> pd.CategoricalDtype:
    """The known categories in their order, then those that were never seen."""
    unseen = set(values.dropna()) - set(known)
    return pd.CategoricalDtype([*known, *sorted(unseen, key=str)])


def is_mixed(X: Any) -> bool:
    """Whether X may hold more than numbers: words, categories, dates."""
    if is_frame(X):
        return any(map(_is_not_numeric, X.dtypes))
    return isinstance(X, np.ndarray) and X.dtype.kind not in "biuf"


def encoded_first(estimator: Any, X: Any) -> Any:
    """The estimator with an encoder in front of it, if it is to be trained on a frame that holds more than numbers.

    Models that know categories are left alone where everything that is not a number is a category.
    """
    inner = inner_model(estimator)
    if isinstance(inner, (RuleSet, FrozenEstimator)) or has_steps_first(inner) or not needs_encoder(inner, X):
        return estimator
    inner = _by_type(inner, X)
    return Pipeline([("table", TableEncoder(native_categories=_knows_categories(inner))), ("trees", inner)])


def _by_type(estimator: Any, X: Any) -> Any:
    """The estimator without a list of the columns that are categories: behind an encoder it knows them by their type.

    Splits of CatBoost that rules can express are on one level, as on 0/1 columns, which may have gaps as well.
    """
    if isinstance(estimator, HISTOGRAMS) and not isinstance(estimator.categorical_features, (str, type(None))):
        listed = np.asarray(X.columns)[_places(estimator.categorical_features, X)]
        numeric = [name for name in listed if not (_is_not_numeric(X[name].dtype) or _is_truth(X[name].dtype))]
        if numeric:
            raise ValueError(
                f"categorical_features names column {numeric[0]!r}, which holds numbers, but X has texts or dates, "
                f"too, and is encoded first; give X.astype({{{numeric[0]!r}: 'category'}})."
            )
        return clone(estimator).set_params(categorical_features="from_dtype")
    settings = estimator.get_params() if type(estimator).__module__.startswith("catboost.") else {}
    return type(estimator)(**settings | {"cat_features": None}) if settings.get("cat_features") else estimator


def _places(columns: Any, X: Any) -> Any:
    """The places of columns that are listed by name, number or mask."""
    listed = np.asarray(columns)
    return listed if listed.dtype.kind in "biu" else [list(X.columns).index(name) for name in listed.tolist()]


def needs_encoder(estimator: Any, X: Any) -> bool:
    """Whether a frame holds columns that the estimator cannot be trained on, or that rules would take for numbers."""
    if not nw.dependencies.is_pandas_dataframe(X):
        return False
    odd = [name for name, kind in X.dtypes.items() if _is_not_numeric(kind) or _is_truth(kind)]
    if odd and type(estimator).__module__.startswith("catboost."):
        return not _catboost_takes(estimator, X, odd)
    return bool(odd) and not _takes(estimator, [X.dtypes[name] for name in odd])


def _catboost_takes(estimator: Any, X: Any, odd: Sequence[Any]) -> bool:
    """Whether CatBoost knows all of these columns as categories, and none has gaps, which it refuses there."""
    listed = estimator.get_params().get("cat_features")
    known = set() if listed is None else set(np.asarray(X.columns)[_places(listed, X)])
    return all(_is_truth(X.dtypes[name]) or (name in known and not X[name].isna().any()) for name in odd) and bool(
        known
    )


def _takes(estimator: Any, kinds: Sequence[Any]) -> bool:
    """Whether a model can be trained on columns of these types."""
    library = type(estimator).__module__.partition(".")[0]
    if isinstance(estimator, (BaseSearchCV, CalibratedClassifierCV)):
        return _takes(estimator.estimator, kinds)
    if isinstance(estimator, (BinnedTrees, Honest)):  # which take numbers only, whatever is inside
        return False
    if library == "rulecover":  # a model of rules encodes a table itself
        return True
    if library == "catboost" and estimator.get_params().get("cat_features") is not None:  # in a search
        return True
    knows = isinstance(estimator, HISTOGRAMS) or _knows_categories(estimator)
    return knows and all(isinstance(kind, pd.CategoricalDtype) or _is_truth(kind) for kind in kinds)


def _knows_categories(estimator: Any) -> bool:
    """Whether a model, as it is set, takes columns of pandas' type for categories by their levels.

    CatBoost does not: its settings name the columns, which it then takes as they are given.
    """
    if isinstance(estimator, (BaseSearchCV, CalibratedClassifierCV)):
        return _knows_categories(estimator.estimator)
    library = type(estimator).__module__.partition(".")[0]
    if library == "xgboost":
        return bool(estimator.get_params().get("enable_categorical"))
    by_type = isinstance(estimator, HISTOGRAMS) and estimator.categorical_features == "from_dtype"
    return by_type or library == "lightgbm"


def checked_apart(estimator: Any, X: Any, y: Any) -> Array:
    """y, once X and y fit each other; of X only the names and the number of columns are looked at."""
    y = validate_data(estimator, X="no_validation", y=y)  # this forgets all names, so it comes first
    validate_data(estimator, X, skip_check_array=True)
    check_consistent_length(X, y)
    return np.asarray(y)


@contextmanager
def naming_columns(X: Any) -> Iterator[None]:
    """Where a model cannot be trained on a frame with words or dates in it, the error names the columns."""
    try:
        yield
    except (InvalidParameterError, NotFittedError, RulecoverError):
        raise
    except (TypeError, ValueError) as error:
        odd = _odd_columns(X)
        if not odd:
            raise
        raise ValueError(
            f"X has columns that are not numbers: {odd}, and the "
            "estimator cannot be trained on them; leave them out, encode them in a pipeline (OneHotEncoder, "
            f"OrdinalEncoder), or give a model that knows categories. The estimator said: {error}"
        ) from error


@contextmanager
def as_numbers_alone(X: Any, names: Sequence[str] | None) -> Iterator[None]:
    """Refuses dates, and names the columns of a frame with these names that hold other things than numbers."""
    for name, kind in X.dtypes.items() if is_frame(X) else [(None, X.dtype)] if isinstance(X, np.ndarray) else ():
        check_kind(kind, "X" if name is None else f"column {name!r}")
    try:
        yield
    except (TypeError, ValueError) as error:
        odd = _odd_columns(X)
        if not odd or (names is not None and list(X.columns) != list(names)):
            raise
        raise MismatchedDataError(
            f"X has columns that are not numbers: {odd}, but the rules compare numbers there; make numbers of them as "
            f"in training ({error})."
        ) from error


def _odd_columns(X: Any) -> str:
    """The columns of a frame that do not hold numbers, the first few by name."""
    odd = [f"{name!r} ({kind})" for name, kind in X.dtypes.items() if _is_not_numeric(kind)] if is_frame(X) else []
    return f"{', '.join(odd[:5])}{' and more' if len(odd) > 5 else ''}"


def _is_truth(kind: Any) -> bool:
    return bool(pd.api.types.is_bool_dtype(kind)) and not isinstance(kind, pd.CategoricalDtype)


def _is_not_numeric(kind: Any) -> bool:
    return not pd.api.types.is_numeric_dtype(kind)


def as_rules_see(
    X: Any,
    columns: SourceColumns | None,
    used: Any,
    names: Sequence[str] | None,
    check: Callable[[Any], Any],
) -> Any:
    """The rows as the rules see them.

    Parameters
    ----------
    X
        The rows, as `with_columns` returns them.
    columns, used
        What the columns are made of and which of them are in use; without, all are numbers as they are given.
    names
        The names of the columns.
    check
        Checks rows that are numbers as they are given, and returns them as an array.
    """
    if columns is not None:
        return as_numbers(columns, X, used)
    with as_numbers_alone(X, names):
        return check(X)


def checked_numbers(X: Any, finite: bool | str) -> Array:
    """Rows of numbers as an array, by scikit-learn; `finite` is its ``ensure_all_finite``."""
    return np.asarray(check_array(X, dtype=[np.float64, np.float32], ensure_all_finite=finite))


def as_numbers(columns: SourceColumns, X: Any, used: Any) -> Array:
    """The rows as the rules see them; infinities are refused as by scikit-learn."""
    rows = columns.matrix(X, used)
    check = partial(check_array, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan", input_name="X")
    if used is None or not len(rows) or (isinstance(X, np.ndarray) and X.dtype.kind in "biuf"):
        return np.asarray(check(rows))
    for f in np.asarray(used, dtype=np.intp).tolist():  # the others are 0, and take no memory as long as none looks
        check(rows[:, f : f + 1])
    return rows


def columns_of(ensemble: TreeEnsemble) -> SourceColumns | None:
    """What a model's columns are made of; ``None`` where they are numbers as they are given."""
    if ensemble.columns is None and ensemble.categories:
        return SourceColumns(ensemble.n_features, ensemble.feature_names, ensemble.categories)
    return ensemble.columns


#: The types of columns that hold text.
_TEXTS = {"object", "str", "string"}


def named_by(ensemble: TreeEnsemble, X: Any) -> TreeEnsemble:
    """The same trees, with the names of columns and categories that a model leaves to the data.

    LightGBM writes _ for a blank in the name of a column, and knows categories by the order of their columns; CatBoost
    knows a hash of each category, and older versions of XGBoost no more than codes.
    """
    columns = category_columns(X)
    known = dict(ensemble.categories)
    texts = [name for name, kind in X.dtypes.items() if str(kind) in _TEXTS] if is_frame(X) else []
    if (columns or texts) and ensemble.frame_categories:
        if len(columns) != len(ensemble.frame_categories):
            way = f", such as X.astype({{{texts[0]!r}: 'category'}})" if texts else ""
            raise MismatchedDataError(
                f"X has {len(columns)} columns of categories, but the model was trained with "
                f"{len(ensemble.frame_categories)}; give the columns that it was trained on, in the same types{way}."
            )
        known = dict(zip(columns, ensemble.frame_categories, strict=True))
    elif ensemble.columns is None:
        known = {**{f: columns[f] for f in columns if f in set(ensemble.used_columns)}, **known}
    for f, hashed in known.items():
        if isinstance(hashed, HashedCategories):
            known[f] = hashed.named(np.asarray(X.iloc[:, f] if is_frame(X) else np.asarray(X, dtype=object)[:, f]))
    made_of = ensemble.columns
    return replace(
        ensemble,
        categories=known,
        feature_names=_spelled(ensemble.feature_names, X),
        columns=None if made_of is None else replace(made_of, names=_spelled(made_of.names, X)),
    )


def _spelled(names: tuple[str, ...] | None, X: Any) -> tuple[str, ...] | None:
    """The names of a model as the frame spells them, if only blanks were replaced."""
    mine = tuple(map(str, X.columns)) if is_frame(X) else ()
    return mine if names == tuple(name.replace(" ", "_") for name in mine) else names


def rows_of(X: Any, rows: Any) -> Any:
    """Some rows of a frame or an array."""
    if issparse(X):
        return X.tocsr()[rows]
    return X.iloc[rows] if hasattr(X, "iloc") else np.asarray(X)[rows]


def rules_on(rules: RuleSet, names: tuple[str, ...] | None, n_features: int) -> RuleSet:
    """Rules made by hand, on the columns of the data: matched by name, or as they are where the data have no names."""
    if names is None:
        if n_features != rules.n_features:
            raise MismatchedDataError(
                f"X has {n_features} columns without names, but the rules know {rules.n_features}: "
                f"{', '.join(rules.feature_names[:5])}; give a data frame, or the same columns."
            )
        return rules
    place = {name: f for f, name in enumerate(names)}
    for f in rules.clauses.columns:
        if rules.feature_names[f] not in place:
            raise absent(rules.feature_names[f], names)
    moved = np.array([place.get(name, -1) for name in rules.feature_names], dtype=np.intp)
    return rules.on_columns(names, moved)
