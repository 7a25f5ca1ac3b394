"""Samples with classes to predict."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from rulecover.exceptions import MismatchedDataError
from rulecover.targets.classes.evidence import ClassEvidence
from rulecover.targets.samples import Samples
from rulecover.typing import Array, Floats, Ints


@dataclass(frozen=True, eq=False)
class ClassSamples(Samples):
    """Samples with classes.

    Parameters
    ----------
    X
        Rows x columns, dense or sparse.
    y
        The class of each row, by number.
    classes
        The labels.
    weight
        Positive, one per row; ``None`` counts each row once.
    class_weight
        The part of the weight that is due to the class, one per class; ``None`` if there is none.
    """

    X: Any
    y: Ints
    classes: Array
    weight: Floats | None = None
    class_weight: Floats | None = None

    @classmethod
    def of(cls, X: Any, y: Array, classes: Array, weight: Floats | None, plain: Floats | None) -> ClassSamples:
        """Labels by their numbers; `plain` are the weights without those of classes, ``None`` if there are none."""
        code = np.searchsorted(classes, y)
        each = None if plain is None or weight is None else class_factors(code, weight, plain, len(classes))
        return cls(X, code, classes, weight, each)

    @property
    def labels(self) -> Array:
        return np.asarray(self.classes[self.y])

    @cached_property
    def totals(self) -> Floats:
        """The (weighted) number of samples of each class."""
        return np.bincount(self.y, weights=self.weight, minlength=len(self.classes)).astype(np.float64)

    @property
    def outputs(self) -> Floats:
        """A column of zeros and ones for each class, or one for the second of two: by squared error that is Gini."""
        two = len(self.classes) <= 2
        return np.asarray((self.y == 1)[:, None] if two else np.eye(len(self.classes))[self.y], dtype=np.float64)

    @property
    def strata(self) -> Ints:
        return self.y

    def summands(self) -> tuple[Array | None, ...]:
        return self.y, self.weight

    def sums(self, group: Ints, *summands: Any) -> Floats:
        y, weight = summands
        return _class_sums(group, y, weight, len(self.classes))

    def counts(self, group: Ints, rows: Ints) -> Floats:
        return _class_sums(group, self.y[rows], None, len(self.classes))

    def evidence(self, sums: Floats, impurity: Floats, cost: Floats, totals: Floats | None = None) -> ClassEvidence:
        everything = self.totals if totals is None else totals
        return ClassEvidence(sums, impurity, cost, everything, self.classes, self.class_weight)


def class_factors(code: Ints, weight: Floats, plain: Floats, n_classes: int) -> Floats:
    """By how much the weights of each class exceed the plain ones; 1 for a class without rows."""
    ours = np.bincount(code, weights=weight, minlength=n_classes)
    theirs = np.bincount(code, weights=plain, minlength=n_classes)
    return np.divide(ours, theirs, out=np.ones(n_classes), where=ours > 0)


def weights_by_class(code: Ints, weight: Floats, n_classes: int) -> csr_array:
    """The weight of each row in the column of its class, rows x classes, without the zeros of the others.

    >>> weights_by_class(np.array([1, 0]), np.array([1.0, 2.0]), 3).toarray().tolist()
    [[0.0, 1.0, 0.0], [2.0, 0.0, 0.0]]
    """
    return csr_array((weight, code, np.arange(len(code) + 1)), shape=(len(code), n_classes))


def with_classes(data: Samples, searcher: str) -> ClassSamples:
    """The data, if they have classes, for a search that supports only these."""
    if not isinstance(data, ClassSamples):
        raise MismatchedDataError(
            f"{searcher} supports only classes, but these samples have numbers; choose 'tree', 'forest' or 'binned'."
        )
    return data


def _class_sums(node: Ints, y: Ints, weight: Floats | None, n_classes: int) -> Floats:
    """The (weighted) number of samples of each class at each node."""
    key = node * n_classes
    key += y
    sums = np.bincount(key, weights=weight, minlength=(int(node.max(initial=-1)) + 1) * n_classes)
    return sums.reshape(-1, n_classes).astype(np.float64, copy=False)
