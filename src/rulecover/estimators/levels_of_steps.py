"""What scikit-learn's steps must see of a table: a few rows of numbers, and of texts all levels."""

from __future__ import annotations

import re
from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

from rulecover.readers.sklearn.pipelines import chosen_columns
from rulecover.typing import Ints

#: Settings whose lists are not of columns.
_OF_OTHERS = (
    "class_weight",
    "class_weights",
    "weights",
    "estimators",
    "steps",
    "param_grid",
    "param_distributions",
    "eval_metric",
)
#: Names of settings whose texts may name columns, and texts that name none.
_OF_COLUMNS = r"^(mc|fc|fp)$|cat_|categorical|monoton|interaction|feature|column|forced_?splits"
_BY_THEMSELVES = ("auto", "from_dtype", "warn", "sqrt", "log2")
#: Settings that say how many columns are taken.
_NUMBERS_OF_COLUMNS = ("max_features", "n_components", "n_features_to_select", "k")

_ENCODERS = (OneHotEncoder, OrdinalEncoder)
#: Steps that learn nothing but a few numbers of each column.
OF_NUMBERS = (SimpleImputer, StandardScaler, MinMaxScaler, RobustScaler, MaxAbsScaler)


def looks_at_levels(step: Any, *, comes_first: bool = True) -> bool:
    """Whether a step of scikit-learn learns nothing but the levels of columns, or a few numbers of each.

    Only a step that comes first may choose columns by number: others may be given fewer of them where rows are few.

    >>> from sklearn.compose import make_column_transformer
    >>> [looks_at_levels(OneHotEncoder(**settings)) for settings in ({}, {"categories": [["a", "b"]]})]
    [True, False]
    >>> encoder = OneHotEncoder(max_categories=5)  # it counts, and refuses levels that it does not know
    >>> looks_at_levels(make_column_transformer((StandardScaler(), ["size"]), (encoder, ["colour"])))
    False
    """
    if step is None or isinstance(step, str):  # "passthrough" or "drop"
        return True
    if type(step) is Pipeline:
        return all(looks_at_levels(each, comes_first=comes_first and k == 0) for k, (_, each) in enumerate(step.steps))
    if type(step) is ColumnTransformer:
        parts = (step.remainder, *(each for _, each, _ in step.transformers))
        return comes_first and all(looks_at_levels(each) for each in parts)
    if type(step) in _ENCODERS:
        counts_rows = isinstance(step.min_frequency, Integral)
        counts = (step.min_frequency, step.max_categories) != (None, None)
        closed = step.handle_unknown == "error"
        return isinstance(step.categories, str) and not counts_rows and not (counts and closed)
    return type(step) in OF_NUMBERS


def knows_columns_by_number(model: Any) -> bool:
    """Whether some setting of a model, or of a part of it, may name columns by their places, or says how many it takes.

    >>> from sklearn.ensemble import HistGradientBoostingClassifier as Histograms
    >>> from sklearn.model_selection import GridSearchCV
    >>> [knows_columns_by_number(Histograms(categorical_features=which)) for which in ("from_dtype", [0])]
    [False, True]
    >>> grids = {"max_iter": [5, 9]}, {"monotonic_cst": [None, [0, 1]]}
    >>> [knows_columns_by_number(GridSearchCV(Histograms(), grid)) for grid in grids]
    [False, True]
    """
    settings = model.get_params() if hasattr(model, "get_params") else {}
    tried = [settings[name] for name in ("param_grid", "param_distributions") if name in settings]
    grids = [grid for each in tried for grid in (each if isinstance(each, (list, tuple)) else [each])]
    choices = ((name, choice) for grid in grids for name, values in grid.items() for choice in _listed(values))
    return any(_is_by_number(name, value) for name, value in (*settings.items(), *choices))


def _listed(values: Any) -> Iterable[Any]:
    return values if isinstance(values, (list, tuple, np.ndarray)) else [values]


def _is_by_number(name: str, value: Any) -> bool:
    """Whether a setting may have something for each column, name some of them or say how many."""
    name = name.rpartition("__")[2]
    if isinstance(value, Integral):
        return name in _NUMBERS_OF_COLUMNS
    if isinstance(value, (list, tuple, dict, set, np.ndarray)):
        return name not in _OF_OTHERS
    if isinstance(value, str):
        return re.search(_OF_COLUMNS, name) is not None and value not in _BY_THEMSELVES
    return isinstance(value, ColumnTransformer)


def refusing_columns(step: Any, columns: list[int]) -> set[int]:
    """The columns of which a fitted step that `looks_at_levels` may refuse levels that it was not fitted to.

    >>> from sklearn.pipeline import make_pipeline
    >>> refusing_columns(make_pipeline(OrdinalEncoder()).fit([["a", "b"]]), [3, 4])
    {3, 4}
    """
    if type(step) is Pipeline:
        return set().union(*(refusing_columns(each, columns) for _, each in step.steps))
    if type(step) is ColumnTransformer:
        parts = [(each, chosen) for _, each, chosen in step.transformers_ if not isinstance(each, str)]
        mine = ([columns[f] for f in chosen_columns(chosen, step)] for _, chosen in parts)
        return set().union(*(refusing_columns(each, chosen) for (each, _), chosen in zip(parts, mine, strict=True)))
    return set(columns) if type(step) in _ENCODERS and step.handle_unknown == "error" else set()


def rows_of_all_levels(X: Any, columns: Iterable[int]) -> Ints:
    """The first row of each value in some columns, and of each kind of missing value.

    >>> rows_of_all_levels(pd.DataFrame({"x": ["a", "a", None, "b", float("nan"), "b"]}, dtype=object), [0])
    array([0, 2, 3, 4])
    """
    rows = [np.zeros(0, dtype=np.intp)]
    for f in columns:
        column = X.iloc[:, f] if hasattr(X, "iloc") else pd.Series(np.asarray(X)[:, f])
        rows.append(np.flatnonzero(~column.duplicated().to_numpy()))  # which tells kinds of missing values apart
    return np.unique(np.concatenate(rows))
