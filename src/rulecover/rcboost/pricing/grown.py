"""A tree of numbers that none of scikit-learn's classes grew, as a regressor."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_array

from rulecover.exceptions import MismatchedDataError
from rulecover.pool import RulePool
from rulecover.targets.numbers.evidence import NumberEvidence
from rulecover.trees.tree import Leaves, Tree
from rulecover.typing import Floats


class GrownNumberTree(RegressorMixin, BaseEstimator):
    """A grown tree: each leaf predicts the mean of the samples in it.

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
        leaves, evidence = pool.source, pool.evidence
        assert isinstance(leaves, Leaves) and len(leaves.trees) == 1 and isinstance(evidence, NumberEvidence)
        # A leaf that no sample reaches predicts the mean of all samples.
        value = np.full(len(leaves.trees[0].left), evidence.of_all[0])
        value[leaves.node] = evidence.mean
        return cls(leaves.trees[0], value, len(leaves.columns))

    def fit(self, X: Any, y: Any = None) -> GrownNumberTree:
        """Itself: it is grown."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def n_features_in_(self) -> int:
        return self.n_features

    def get_n_leaves(self) -> int:
        return len(self.tree.leaves)

    def predict(self, X: Any) -> Floats:
        """The mean in the leaf of each row."""
        X = check_array(X, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan")
        if X.shape[1] != self.n_features:
            raise MismatchedDataError(f"X has {X.shape[1]} features, but the tree was grown on {self.n_features}.")
        return np.asarray(self.value[self.tree.apply(X)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
