"""What scikit-learn's one-hot and ordinal encoders make of each category, computed by the encoder itself."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.preprocessing import OneHotEncoder

from rulecover.readers.sklearn.origins import REFUSED, CategoryOrigin, NumberOrigin, Origin, are_numbers
from rulecover.typing import Floats


def encoded(step: Any, origins: list[Origin]) -> list[Origin] | None:
    """The origins of an encoder's columns."""
    out: list[Origin] = []
    sizes = [_n_columns(step, i) for i in range(len(origins))]
    for i, (origin, size) in enumerate(zip(origins, sizes, strict=True)):
        if origin is None or (isinstance(origin, NumberOrigin) and origin.steps):
            out += [None] * size
            continue
        where = slice(sum(sizes[:i]), sum(sizes[: i + 1]))
        answers = _EncoderOutputs(step, i, where)
        out += answers.of_raw(origin) if isinstance(origin, NumberOrigin) else answers.of_codes(origin)
    return out


def _n_columns(step: Any, i: int) -> int:
    """How many columns an encoder makes of its i-th column."""
    if not isinstance(step, OneHotEncoder):
        return 1
    rare = None if (step.min_frequency, step.max_categories) == (None, None) else step.infrequent_categories_[i]
    dropped = step.drop_idx_ is not None and step.drop_idx_[i] is not None
    return len(step.categories_[i]) - (0 if rare is None else len(rare) - 1) - dropped


class _EncoderOutputs:
    """The outputs of the encoder for one of its columns."""

    def __init__(self, step: Any, i: int, where: slice) -> None:
        self._step, self._i, self._where = step, i, where
        self._known = [label for label in step.categories_[i].tolist() if not is_missing(label)]
        self._sparse = isinstance(step, OneHotEncoder) and bool(step.sparse_output)
        self._single = np.dtype(step.dtype) != np.float64

    def of_raw(self, origin: NumberOrigin) -> list[Origin]:
        """For the categories in the original column."""
        labels = tuple(self._known)
        known = self._ask(list(labels)) if labels else None
        if known is None:
            return [None] * (self._where.stop - self._where.start)
        *gaps, unseen = self._each([*origin.gaps, unknown_label(labels)])
        return self._columns(origin.feature, labels, known, gaps, unseen)

    def of_codes(self, origin: CategoryOrigin) -> list[Origin]:
        """For the numbers that an earlier encoder made of categories."""
        known = self._ask(origin.values.tolist())
        if known is None:
            return [None] * (self._where.stop - self._where.start)
        *gaps, unseen = self._each([REFUSED if v is None else v for v in (*origin.gaps, origin.unseen)])
        return self._columns(origin.feature, origin.labels, known, gaps, unseen)

    def _columns(
        self,
        feature: int,
        labels: tuple[Any, ...],
        known: Floats,
        gaps: Sequence[Floats | None],
        unseen: Floats | None,
    ) -> list[Origin]:
        def value(row: Floats | None, k: int) -> float | None:
            return None if row is None else float(row[0, k])

        return [
            CategoryOrigin(
                feature,
                labels,
                known[:, k],
                tuple(value(gap, k) for gap in gaps),
                value(unseen, k),
                self._sparse,
                self._single,
            )
            for k in range(known.shape[1])
        ]

    def _each(self, values: Sequence[Any]) -> list[Floats | None]:
        """The output for each value; computed for all at once, or one by one where the encoder refuses one."""
        together = None if any(value is REFUSED for value in values) else self._ask(list(values))
        if together is not None:
            return list(together[:, None])
        return [None if value is REFUSED else self._ask([value]) for value in values]

    def _ask(self, values: list[Any]) -> Floats | None:
        """The output for values in its column, rows x columns; ``None`` if the encoder refuses them."""
        filler = [categories[0] for categories in self._step.categories_]
        columns = [[fill] * len(values) for fill in filler]
        columns[self._i] = values
        try:
            answer = without_warnings(self._step.transform, _table(columns, self._step))
        except (TypeError, ValueError):
            return None
        answer = answer.toarray() if scipy.sparse.issparse(answer) else np.asarray(answer)
        return np.asarray(answer[:, self._where], dtype=np.float64)


def unknown_label(labels: tuple[Any, ...]) -> Any:
    """A value that is not one of the labels."""
    if not are_numbers(labels):
        return "\0"
    largest = float(max(labels))
    return next(x for x in (largest + 1, np.nextafter(largest, -np.inf), 0.5) if x not in labels)


def _table(columns: list[list[Any]], step: Any) -> Any:
    """Columns as the encoder was given its data: a data frame, if it knows names."""
    kinds = [
        object if known.dtype.kind in "OUS" or not are_numbers(values) else np.float64
        for known, values in zip(step.categories_, columns, strict=True)
    ]
    names = getattr(step, "feature_names_in_", None)
    if names is not None:
        series = (pd.Series(values, dtype=kind) for values, kind in zip(columns, kinds, strict=True))
        return pd.DataFrame(dict(zip(names, series, strict=True)))
    kind = object if object in kinds else np.float64
    return np.column_stack([np.array(values, dtype=kind) for values in columns])


def is_missing(value: Any) -> bool:
    """Whether a value means "missing", such as None or NaN."""
    return bool(np.ndim(value) == 0 and pd.isna(value))


def without_warnings(function: Callable[..., Any], *args: Any) -> Any:
    """The result of a function, with its warnings suppressed: the user did not call it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args)
