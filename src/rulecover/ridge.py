"""Ridge regression of numbers on rules: what each rule adds, from sums over the samples alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse

from rulecover.typing import Floats, Ints


@dataclass(frozen=True, eq=False)
class Moments:
    """All that a ridge regression on rules needs to know of the samples, with the mean of all samples taken off.

    Parameters
    ----------
    gram
        Σ weight · aⱼ · aₖ for every two rules, a being 1 where a rule covers the sample less its share of all samples.
    target
        Σ weight · aⱼ · z for every rule.
    share
        The share of all samples that each rule covers, by weight.
    mean
        The mean of z.
    """

    gram: Floats
    target: Floats
    share: Floats
    mean: float

    @classmethod
    def of(cls, covered: scipy.sparse.csr_array, z: Floats, weight: Floats) -> Moments:
        """The moments of rules on samples: `covered` is rows x rules."""
        columns = covered.astype(np.float64)
        weighted = scipy.sparse.csr_array(columns.multiply(weight[:, None]))
        total = float(weight.sum())
        size = np.asarray(weighted.sum(axis=0)).ravel()
        together = _dense(columns.T @ weighted)
        mean = float(weight @ z) / total
        target = np.asarray(weighted.T @ z).ravel() - size * mean
        return cls(together - np.outer(size, size) / total, target, size / total, mean)

    def take(self, rules: Ints) -> Moments:
        """The moments of some of the rules."""
        return Moments(self.gram[np.ix_(rules, rules)], self.target[rules], self.share[rules], self.mean)

    def fitted(self, penalty: float) -> Fit:
        """Least squares with a penalty on the squares of what rules add; the default is free."""
        adds = _solved(self.gram, self.target, penalty)
        return Fit(self.mean - float(self.share @ adds), adds)


@dataclass(frozen=True, eq=False)
class Fit:
    """``z ≈ default + Σ adds`` over the rules that cover a sample."""

    default: float
    adds: Floats


def _solved(gram: Floats, target: Floats, penalty: float) -> Floats:
    system = gram + penalty * np.eye(len(gram))
    return np.asarray(scipy.linalg.solve(system, target, assume_a="pos") if len(target) else target)


def _dense(matrix: Any) -> Floats:
    return np.asarray(matrix.toarray())
