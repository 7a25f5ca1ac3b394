"""What scikit-learn's one-hot and ordinal encoders make of each category, computed by the encoder itself."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.preprocessing import OneHotEncoder

from rulecover.readers.sklearn.origins import REFUSED, CategoryOrigin, NumberOrigin, Origin, are_numbers, by_label
from rulecover.typing import Floats

#: At most this many cells are asked for at a time, where they are not sparse.
_CELLS = 10**7


def encoded(step: Any, origins: list[Origin]) -> list[Origin] | None:
    """The origins of an encoder's columns."""
    ends = np.cumsum([0, *(_n_columns(step, i) for i in range(len(origins)))]).tolist()
    where = [slice(first, last) for first, last in pairwise(ends)]
    columns = {i: _EncodedColumn(step, i, origin) for i, origin in enumerate(origins) if _is_followed(origin)}
    encoder = _AskedEncoder(step, where)
    known = encoder.answers({i: each.values for i, each in columns.items()})
    others = encoder.answers_one_by_one({i: each.others for i, each in columns.items()})
    out: list[Origin] = []
    for i, mine in enumerate(where):
        found = columns[i].origins(known[i], others[i]) if i in columns else None
        out += [None] * (mine.stop - mine.start) if found is None else found
    return out


def _is_followed(origin: Origin) -> bool:
    return origin is not None and not (isinstance(origin, NumberOrigin) and origin.steps)


def _n_columns(step: Any, i: int) -> int:
    """How many columns an encoder makes of its i-th column."""
    if not isinstance(step, OneHotEncoder):
        return 1
    rare = None if (step.min_frequency, step.max_categories) == (None, None) else step.infrequent_categories_[i]
    dropped = step.drop_idx_ is not None and step.drop_idx_[i] is not None
    return len(step.categories_[i]) - (0 if rare is None else len(rare) - 1) - dropped


class _EncodedColumn:
    """One of the columns that an encoder is given: what it is asked there, and what its answers mean."""

    def __init__(self, step: Any, i: int, origin: Any) -> None:
        self._origin = origin
        self._sparse = isinstance(step, OneHotEncoder) and bool(step.sparse_output)
        self._single = np.dtype(step.dtype) != np.float64
        if isinstance(origin, NumberOrigin):  # the categories are in the original column
            self.values = [label for label in step.categories_[i].tolist() if not is_missing(label)]
            self._labels = tuple(self.values)
            self.others = [*origin.gaps, unknown_label(self._labels) if self._labels else REFUSED]
            if step.handle_unknown == "error":  # it need not be asked; a missing value may be one of the categories
                known = len(self.values) < len(step.categories_[i])
                self.others[-1] = REFUSED
                self.others = [REFUSED if is_missing(value) and not known else value for value in self.others]
        else:  # they are the numbers that an earlier encoder made of categories
            self.values = origin.values.tolist()
            self._labels = origin.labels
            self.others = [REFUSED if value is None else value for value in (*origin.gaps, origin.unseen)]

    def origins(self, known: Any, others: list[Floats | None]) -> list[Origin] | None:
        """The origins of its encoded columns, by the answers; ``None`` if a category is refused."""
        if known is None or not known.shape[0]:
            return None
        *gaps, unseen = (None if row is None else row.tolist() for row in others)
        return [
            CategoryOrigin(
                self._origin.feature,
                self._labels,
                known,
                k,
                tuple(None if gap is None else gap[k] for gap in gaps),
                None if unseen is None else unseen[k],
                sparse=self._sparse,
                single=self._single,
            )
            for k in range(known.shape[1])
        ]


@dataclass(frozen=True, eq=False)
class _AskedEncoder:
    """An encoder, asked what it makes of values.

    Parameters
    ----------
    step
        The encoder.
    where
        Its encoded columns, for each column that it is given.
    """

    step: Any
    where: list[slice]

    def answers(self, asked: dict[int, list[Any]]) -> dict[int, Any]:
        """What it makes of values in some columns, each a sparse matrix by columns; ``None`` where it refuses a value.

        It is asked about all columns at once where it looks at each by itself; if it refuses any value, about each
        column.
        """
        free = {i: values for i, values in asked.items() if not _refuses(values)}
        found = self._ask(free) if self._looks_at_each else None
        return {i: found[i] if found is not None and i in found else self._answers_in(i, asked[i]) for i in asked}

    def answers_one_by_one(self, asked: dict[int, list[Any]]) -> dict[int, list[Floats | None]]:
        """The same of few values, ``None`` for each that it refuses."""
        rows: dict[int, list[Floats | None]] = {}
        for i, found in self.answers(asked).items():
            if found is None:
                each = [self._answers_in(i, [value]) for value in asked[i]]
                rows[i] = [None if row is None else row.toarray().ravel() for row in each]
            else:
                rows[i] = list(found.toarray())
        return rows

    @property
    def _looks_at_each(self) -> bool:
        """Whether values in one column do not decide of what type others are: in an array, all are of one type."""
        texts = all(known.dtype.kind in "OUS" for known in self.step.categories_)
        return texts or hasattr(self.step, "feature_names_in_")

    def _answers_in(self, i: int, values: list[Any]) -> Any:
        """The same in one column."""
        found = None if _refuses(values) else self._ask({i: values})
        return None if found is None else found[i]

    def _ask(self, asked: dict[int, list[Any]]) -> dict[int, Any] | None:
        """Its output for values in some columns; ``None`` if it refuses one."""
        n_rows = max(map(len, asked.values()), default=0)
        sparse = isinstance(self.step, OneHotEncoder) and self.step.sparse_output
        size = max(1, n_rows if sparse else _CELLS // max(1, self.where[-1].stop))
        width = {i: self.where[i].stop - self.where[i].start for i in asked}
        parts: dict[int, list[Any]] = {i: [by_label(np.zeros((0, width[i])))] for i in asked}
        for start in range(0, n_rows, size):
            some = {i: values[start : start + size] for i, values in asked.items()}
            length = min(size, n_rows - start)
            columns = [
                [*mine, *[known[0]] * (length - len(mine))]
                for known, mine in ((known, some.get(i, [])) for i, known in enumerate(self.step.categories_))
            ]
            try:
                answer = without_warnings(self.step.transform, _table(columns, self.step))
            except (TypeError, ValueError):
                return None
            answer = answer if sparse else np.asarray(answer)
            for i, mine in some.items():
                rows: Any = answer[: len(mine), self.where[i]]
                parts[i].append(rows.tocsc() if sparse else by_label(rows))
        return {i: scipy.sparse.vstack(rows, format="csc") for i, rows in parts.items()}


def _refuses(values: list[Any]) -> bool:
    return any(value is REFUSED for value in values)


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
