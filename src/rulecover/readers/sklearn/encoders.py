"""What scikit-learn's one-hot and ordinal encoders make of each category, asked of the encoder itself."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.preprocessing import OneHotEncoder

from rulecover.readers.sklearn.origins import Category, Number, Origin
from rulecover.readers.sklearn.rewriting import are_numbers
from rulecover.typing import Floats


def encoded(step: Any, origins: list[Origin]) -> list[Origin] | None:
    """The origins of an encoder's columns."""
    out: list[Origin] = []
    sizes = [_n_columns(step, i) for i in range(len(origins))]
    for i, (origin, size) in enumerate(zip(origins, sizes, strict=True)):
        if origin is None or (isinstance(origin, Number) and origin.steps):
            out += [None] * size
            continue
        where = slice(sum(sizes[:i]), sum(sizes[: i + 1]))
        answers = _Answers(step, i, where)
        out += answers.of_raw(origin) if isinstance(origin, Number) else answers.of_codes(origin)
    return out


def _n_columns(step: Any, i: int) -> int:
    """How many columns an encoder makes of its i-th."""
    if not isinstance(step, OneHotEncoder):
        return 1
    rare = None if (step.min_frequency, step.max_categories) == (None, None) else step.infrequent_categories_[i]
    dropped = step.drop_idx_ is not None and step.drop_idx_[i] is not None
    return len(step.categories_[i]) - (0 if rare is None else len(rare) - 1) - dropped


class _Answers:
    """The encoder, asked about one of its columns."""

    def __init__(self, step: Any, i: int, where: slice) -> None:
        self._step, self._i, self._where = step, i, where
        self._known = [label for label in step.categories_[i].tolist() if not is_missing(label)]
        self._sparse = isinstance(step, OneHotEncoder) and bool(step.sparse_output)
        self._single = np.dtype(step.dtype) != np.float64

    def of_raw(self, origin: Number) -> list[Origin]:
        """Of the categories in the original column."""
        labels = tuple(self._known)
        known = self._ask(list(labels)) if labels else None
        kinds = [label for label in self._step.categories_[self._i].tolist() if is_missing(label)]
        gap = origin.fill if origin.fill is not None else (kinds[0] if len(kinds) == 1 else np.nan)
        if known is None or len(kinds) > 1:  # None and NaN are two categories here, but one to us
            return [None] * (self._where.stop - self._where.start)
        return self._columns(origin.feature, labels, known, self._ask([gap]), self._ask([_stranger(labels)]))

    def of_codes(self, origin: Category) -> list[Origin]:
        """Of the numbers that an encoder in front made of categories."""
        known = self._ask(origin.values.tolist())
        if known is None:
            return [None] * (self._where.stop - self._where.start)
        missing, unseen = (None if v is None else self._ask([v]) for v in (origin.missing, origin.unseen))
        return self._columns(origin.feature, origin.labels, known, missing, unseen)

    def _columns(
        self, feature: int, labels: tuple[Any, ...], known: Floats, missing: Floats | None, unseen: Floats | None
    ) -> list[Origin]:
        def value(row: Floats | None, k: int) -> float | None:
            return None if row is None else float(row[0, k])

        return [
            Category(feature, labels, known[:, k], value(missing, k), value(unseen, k), self._sparse, self._single)
            for k in range(known.shape[1])
        ]

    def _ask(self, values: list[Any]) -> Floats | None:
        """What the encoder says of values in its column, rows x columns; ``None`` if it refuses them."""
        filler = [categories[0] for categories in self._step.categories_]
        columns = [[fill] * len(values) for fill in filler]
        columns[self._i] = values
        try:
            answer = quietly(self._step.transform, _table(columns, self._step))
        except ValueError:
            return None
        answer = answer.toarray() if scipy.sparse.issparse(answer) else np.asarray(answer)
        return np.asarray(answer[:, self._where], dtype=np.float64)


def _stranger(labels: tuple[Any, ...]) -> Any:
    """A value that is none of the labels."""
    if not are_numbers(labels):
        return "\0"
    largest = float(max(labels))
    return next(x for x in (largest + 1, np.nextafter(largest, -np.inf), 0.5) if x not in labels)


def _table(columns: list[list[Any]], step: Any) -> Any:
    """Columns as the encoder was given its data: a data frame, if it knows names."""
    import pandas as pd

    kinds = [object if known.dtype.kind in "OUS" else np.float64 for known in step.categories_]
    names = getattr(step, "feature_names_in_", None)
    if names is not None:
        series = (pd.Series(values, dtype=kind) for values, kind in zip(columns, kinds, strict=True))
        return pd.DataFrame(dict(zip(names, series, strict=True)))
    kind = object if object in kinds else np.float64
    return np.column_stack([np.array(values, dtype=kind) for values in columns])


def is_missing(value: Any) -> bool:
    """Whether a value is None or NaN, of whatever type."""
    return value is None or (isinstance(value, float) and np.isnan(value))


def quietly(function: Callable[..., Any], *args: Any) -> Any:
    """The answer of a function whose warnings are not for the user, who did not call it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args)
