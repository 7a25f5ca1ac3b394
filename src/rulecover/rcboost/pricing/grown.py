"""Trees that none of scikit-learn's classes grew, as models of their own."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_array

from rulecover.exceptions import MismatchedDataError
from rulecover.pool import RulePool
from rulecover.targets.classes.evidence import ClassEvidence
from rulecover.targets.numbers.evidence import NumberEvidence
from rulecover.trees.tree import Leaves, Tree
from rulecover.typing import Array, Floats, Ints


class _GrownModel(BaseEstimator):
    """A fitted tree, whatever its leaves predict."""

    tree: Tree
    n_features: int

    def fit(self, X: Any, y: Any = None) -> Self:
        """Itself: it is grown."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def n_features_in_(self) -> int:
        return self.n_features

    def get_n_leaves(self) -> int:
        return len(self.tree.leaves)

    def _leaf(self, X: Any) -> Ints:
        """The leaf of each row, by node number."""
        X = check_array(X, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
        if X.shape[1] != self.n_features:
            raise MismatchedDataError(f"X has {X.shape[1]} features, but the tree was grown on {self.n_features}.")
        return self.tree.apply(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class GrownTree(ClassifierMixin, _GrownModel):
    """A grown tree as a classifier: each leaf predicts by the samples in it.

    Parameters
    ----------
    tree
        The nodes.
    sums
        The (weighted) number of samples of each class at each leaf, nodes x classes.
    classes, n_features
        The labels; the number of columns.
    """

    def __init__(self, tree: Tree, sums: Floats, classes: Array, n_features: int) -> None:
        self.tree = tree
        self.sums = sums
        self.classes = classes
        self.n_features = n_features

    @classmethod
    def of(cls, pool: RulePool) -> GrownTree:
        """The tree whose leaves are this pool."""
        leaves, evidence = _leaves_of(pool), pool.evidence
        assert isinstance(evidence, ClassEvidence)
        # A leaf that no sample reaches predicts by all samples.
        sums = np.tile(evidence.totals, (len(leaves.trees[0].left), 1))
        sums[leaves.node] = evidence.sums
        return cls(leaves.trees[0], sums, evidence.classes, len(leaves.columns))

    @property
    def classes_(self) -> Array:
        return self.classes

    def predict(self, X: Any) -> Array:
        """The most frequent class in the leaf of each row, the first on ties."""
        return np.asarray(self.classes[self.sums[self._leaf(X)].argmax(axis=1)])

    def predict_proba(self, X: Any) -> Floats:
        """The share of each class in the leaf of each row."""
        sums = self.sums[self._leaf(X)]
        return np.asarray(sums / sums.sum(axis=1, keepdims=True))


class GrownNumberTree(RegressorMixin, _GrownModel):
    """A grown tree as a regressor: each leaf predicts the mean of the samples in it.

    Parameters
    ----------
    tree
        The nodes.
    value
        The prediction of each node.
    n_features
        The number of columns.
    """

    def __init__(self, tree: Tree, value: Floats, n_features: int) -> None:
        self.tree = tree
        self.value = value
        self.n_features = n_features

    @classmethod
    def of(cls, pool: RulePool) -> GrownNumberTree:
        """The tree whose leaves are this pool."""
        leaves, evidence = _leaves_of(pool), pool.evidence
        assert isinstance(evidence, NumberEvidence)
        # A leaf that no sample reaches predicts the mean of all samples.
        value = np.full(len(leaves.trees[0].left), evidence.of_all[0])
        value[leaves.node] = evidence.mean
        return cls(leaves.trees[0], value, len(leaves.columns))

    def predict(self, X: Any) -> Floats:
        """The mean in the leaf of each row."""
        return np.asarray(self.value[self._leaf(X)])


def _leaves_of(pool: RulePool) -> Leaves:
    leaves = pool.source
    assert isinstance(leaves, Leaves) and len(leaves.trees) == 1
    return leaves
