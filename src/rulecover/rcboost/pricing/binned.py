"""Pricing by trees on binned features: the bins are made once per fit, only the weights change from call to call.

XGBoost's `hist`, asked for one tree of squared error on one-hot labels with no shrinkage and no penalty, splits where
Σₖ Gₖ² / H grows most: that is the weighted Gini gain, over the borders of bins instead of all values.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse
from joblib import effective_n_jobs

from rulecover.exceptions import MismatchedDataError
from rulecover.rcboost.pricing.settings import check_has_settings
from rulecover.readers.thresholds import below_float32
from rulecover.targets.samples import Samples
from rulecover.trees.tree import Tree, TreeEnsemble
from rulecover.typing import Array, Floats, Ints

if TYPE_CHECKING:
    from rulecover.rcboost.pricing.oracles import Duals

#: The depth of a tree that is given none: the deepest of the paper's study.
DEEPEST = 20
#: Bins are made from at most this many rows: their borders are quantiles, and more rows hardly move them.
SKETCHED = 200_000
#: Leaves are found by their values in a table of 2^16 places, with up to this many tries to give each its own place.
_TABLE_BITS, _TRIES = 16, 64
_SHARES = {"sqrt": np.sqrt, "log2": np.log2}


@dataclass(frozen=True)
class BinnedPricing:
    """Trees grown by XGBoost on binned features and samples weighted by the accumulated duals.

    The first tree is grown like this too. Of the settings of the given tree, it uses `max_depth` (``None`` is 20),
    `max_leaf_nodes`, `max_features`, `min_weight_fraction_leaf` and `min_samples_leaf`; the last two approximately.
    XGBoost knows weights, not numbers of samples: every leaf of enough samples may come, and so may one of fewer but
    heavier ones; with three or more classes both only keep small nodes from being split. Other settings of
    the tree, such as another criterion, are ignored. Trees do not depend on the number of threads.

    With a million rows the duals of one call are small compared with the weight 1 that each row starts with, and the
    tree on bins stays the same: the loop ends. Give a tree with ``max_features="sqrt"``, which differs in every call.

    Parameters
    ----------
    max_bin
        Bins per feature. Up to 256, the number of a bin is one byte.
    n_estimators
        Trees per call (S.3). More than one differ only if each split sees a part of the features: give a tree with
        ``max_features="sqrt"``. The LP is solved once per call, so that as many trees in fewer calls take less time;
        for many rows, ten per call with ``duals="near"`` take at most half of the time of one.
    n_jobs
        Threads; ``None`` is one.
    """

    max_bin: int = 256
    n_estimators: int = 1
    n_jobs: int | None = None

    repeats_rows: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.n_estimators < 1:
            raise ValueError(f"n_estimators is {self.n_estimators}; at least one tree must be grown per call.")

    def check(self, tree: Any) -> None:
        """Raises unless the settings of this model are those of a tree."""
        check_has_settings(tree, "binned")

    def __call__(self, data: Samples, duals: Duals, tree: Any, seed: int) -> TreeEnsemble:
        return self._bins(data).grow(duals.accumulated, tree, seed, self.n_estimators)

    def first(self, data: Samples, tree: Any, seed: int) -> TreeEnsemble:
        """The tree whose leaves are the first pool: every sample has its own weight."""
        return self._bins(data).grow(data.count, tree, seed)

    def _bins(self, data: Samples) -> _BinnedSamples:
        known = _BINS.setdefault(data, {})
        if self not in known:
            known[self] = _BinnedSamples(data, self.max_bin, effective_n_jobs(self.n_jobs))
        return known[self]


class _BinnedSamples:
    """The samples in bins, ready to grow trees of other weights."""

    def __init__(self, data: Samples, max_bin: int, n_threads: int) -> None:
        # Nothing here may keep `data` alive, or its bins would never be let go.
        self._xgboost = xgboost_module()
        self._rows = _dense(data.X)
        outputs = data.outputs.astype(np.float32)
        self._one_target = outputs.shape[1] == 1
        self._count = data.count
        self._scale = 1.0 / min(1.0, float(self._count.mean()))
        self._settings = tree_settings(max_bin, one_target=self._one_target) | {"nthread": n_threads}
        self._matrix = self._quantile_matrix(outputs.ravel() if self._one_target else outputs, data.weight)

    def _quantile_matrix(self, label: Array, weight: Floats | None) -> Any:
        shared = {"max_bin": self._settings["max_bin"], "nthread": self._settings["nthread"]}
        rows, reference = self._rows, None
        if weight is not None or len(rows) > SKETCHED:
            some, every = rows_for_bins(len(rows), weight)
            # The largest value of each column goes in: what lies above the last border would be put below it.
            largest = [] if every else [np.fmax.reduce(rows, axis=0)]
            reference = self._xgboost.QuantileDMatrix(np.vstack([rows[some], *largest]), **shared)
        # Without weights: borders would follow them, and the weights of the first call are not those of the next.
        return self._xgboost.QuantileDMatrix(rows, label=label, ref=reference, **shared)

    def grow(self, weight: Floats, tree: Any, seed: int, n_estimators: int = 1) -> TreeEnsemble:
        """The Gini trees of these weights, and the leaves of each sample."""
        weight = weight * self._scale  # XGBoost takes a gain below 1e-6 for none, whatever the weights add up to
        self._matrix.set_weight(weight)
        summed = SummedWeights(float(self._count.sum()), float((weight / self._count).min()), float(weight.sum()))
        settings = self._settings | limits(tree, summed)
        n_features = self._rows.shape[1]
        grown = [
            self._grow(settings | sampling(tree, n_features, (seed + number) % 2**31)) for number in range(n_estimators)
        ]
        return _ensemble(grown, self._rows)

    def _grow(self, settings: dict[str, Any]) -> tuple[Tree, Ints]:
        """A tree, and the leaf of each sample."""
        booster = self._xgboost.Booster(settings, [self._matrix])
        booster.update(self._matrix, 0)
        grown, value = parse_tree(booster)
        return grown, leaves_of(booster, self._matrix, [self._rows], grown, value, one_target=self._one_target)


#: The bins of each fit that is under way, by what they are made of.
_BINS: WeakKeyDictionary[Samples, dict[BinnedPricing, _BinnedSamples]] = WeakKeyDictionary()


def tree_settings(max_bin: int, *, one_target: bool) -> dict[str, Any]:
    """What makes a tree of XGBoost one of least Gini impurity or squared error."""
    return {
        "tree_method": "hist",
        "objective": "reg:squarederror",
        "multi_strategy": "one_output_per_tree" if one_target else "multi_output_tree",
        "eta": 1.0,
        "lambda": 0.0,
        "base_score": 0.0,
        "max_bin": max_bin,
        "verbosity": 0,
    }


def leaves_of(booster: Any, matrix: Any, blocks: Sequence[Any], tree: Tree, value: Array, *, one_target: bool) -> Ints:
    """The leaf of each sample that a tree was grown on, in the order of their blocks.

    It is found by its prediction, which XGBoost has already; to send the samples through the tree again takes as long
    as growing it. Leaves of the same value are told apart by the comparisons between them.
    """
    leaf = None
    if one_target and len(tree.leaves) <= 2**10:
        leaf = _leaf_of_value(booster.predict(matrix).view(np.uint32), tree.leaves, value)
    if leaf is None:
        return np.asarray(booster.predict(matrix, pred_leaf=True), dtype=np.intp)
    _, group = np.unique(value[tree.leaves].view(np.uint32), return_inverse=True)
    ends = np.cumsum([len(X) for X in blocks])
    for several in np.flatnonzero(np.bincount(group) > 1):
        alike = tree.leaves[group == several]
        for X, mine in zip(blocks, np.split(leaf, ends[:-1]), strict=True):
            rows = np.flatnonzero(mine == alike[0])
            mine[rows] = _told_apart(tree, X, rows, alike)
    return leaf


def _told_apart(tree: Tree, X: Any, rows: Ints, leaves: Ints) -> Ints:
    """The leaf of each of the rows, all of which are in some of the leaves: only splits between these are looked at."""
    within = np.isin(np.arange(len(tree.left)), leaves)
    split = np.arange(len(tree.left))  # where the way from a node to the leaves parts first
    for node in np.flatnonzero(tree.left >= 0)[::-1]:  # children come after their parents
        below = [child for child in (tree.left[node], tree.right[node]) if within[child]]
        within[node] = bool(below)
        if len(below) == 1:
            split[node] = split[below[0]]
    at = np.full(len(rows), split[0])
    moving = np.flatnonzero(tree.left[at] >= 0)
    while moving.size:
        here = at[moving]
        at[moving] = split[np.where(tree.goes_left(X, rows[moving], here), tree.left[here], tree.right[here])]
        moving = moving[tree.left[at[moving]] >= 0]
    return at


def _leaf_of_value(predicted: Array, leaves: Ints, value: Array) -> Ints | None:
    """The first leaf with the value of each sample by the bits of its prediction; ``None`` where that fails."""
    wanted, first = np.unique(value[leaves].view(np.uint32), return_index=True)
    shift = np.uint32(32 - _TABLE_BITS)
    for factor in np.random.default_rng(0).integers(0, 2**32, _TRIES, dtype=np.uint32) | np.uint32(1):
        place = (wanted * factor) >> shift
        if len(np.unique(place)) == len(wanted):
            table = np.zeros(1 << _TABLE_BITS, dtype=np.intp)
            table[place] = leaves[first]
            leaf = table[(predicted * factor) >> shift]
            found = value.view(np.uint32)[leaf] == predicted
            return leaf if found.all() else None
    return None


def xgboost_module() -> Any:
    try:
        import xgboost
    except ImportError as error:
        raise ImportError(
            "pricing='binned' grows its trees by XGBoost, which is not installed: pip install 'rulecover[binned]'."
        ) from error
    if tuple(map(int, xgboost.__version__.split(".")[:2])) < (3, 1):
        raise ImportError(
            f"pricing='binned' needs XGBoost 3.1 or later, but {xgboost.__version__} is installed: "
            "pip install 'rulecover[binned]'."
        )
    return xgboost


def _dense(X: Any) -> Floats:
    """X as XGBoost takes it; in a sparse matrix it would take what is not stored for missing."""
    if scipy.sparse.issparse(X):
        raise MismatchedDataError(
            "pricing='binned' does not support sparse X; give X.toarray(), or choose pricing='tree' or 'forest'."
        )
    with np.errstate(over="ignore"):
        largest = np.fmax.reduce(np.abs([np.fmin.reduce(X, axis=None), np.fmax.reduce(X, axis=None)]))
        if np.isinf(np.float32(largest)):
            raise MismatchedDataError(
                "X contains infinity or a value too large for float32; scale or clip that column."
            )
    return np.asarray(X)


def rows_for_bins(n_rows: int, weight: Floats | None) -> tuple[Ints, bool]:
    """The rows that bins are made from, as often as they count, evenly over all; and whether all are among them."""
    counts = np.ones(n_rows) if weight is None else weight
    whole = not (counts % 1).any()
    ends = np.cumsum(counts if whole else counts / counts.mean())
    places = np.linspace(0, ends[-1] - 1, min(SKETCHED, round(ends[-1])))
    return np.minimum(np.searchsorted(ends, places, side="right"), n_rows - 1), whole and len(places) == ends[-1]


class SummedWeights(NamedTuple):
    """How many rows all samples stand for, the least weight per row in a tree, and the weight of all samples there."""

    counted: float
    least: float
    total: float


def limits(tree: Any, weights: SummedWeights) -> dict[str, Any]:
    """How far a tree may grow, from the settings of scikit-learn's."""
    depth = getattr(tree, "max_depth", None)
    if depth is not None and depth < 1:
        raise ValueError(f"max_depth of the tree is {depth}; it must be at least 1, or None.")
    found: dict[str, Any] = {"max_depth": DEEPEST if depth is None else int(depth)}
    if getattr(tree, "max_leaf_nodes", None) is not None:
        found |= {"max_leaves": int(tree.max_leaf_nodes), "grow_policy": "lossguide"}
    least = getattr(tree, "min_samples_leaf", 1)
    least = least if isinstance(least, int | np.integer) else np.ceil(least * weights.counted)
    share = float(getattr(tree, "min_weight_fraction_leaf", 0.0))
    # Half a sample less, so that rounding never forbids a leaf of just enough.
    found["min_child_weight"] = max((float(least) - 0.5) * weights.least, share * weights.total)
    return found


def sampling(tree: Any, n_features: int, seed: int) -> dict[str, Any]:
    """How many features a split may choose from, as scikit-learn counts them."""
    wanted = getattr(tree, "max_features", None)
    if wanted is None:
        return {}
    if isinstance(wanted, str):
        if wanted not in _SHARES:
            raise ValueError(f"max_features of the tree is {wanted!r}; give 'sqrt', 'log2' or a number.")
        wanted = _SHARES[wanted](n_features)
    elif not isinstance(wanted, int | np.integer):
        wanted = wanted * n_features
    count = max(1, min(n_features, int(wanted)))
    # XGBoost takes a share and cuts off what is less than a feature.
    return {"colsample_bynode": min(1.0, (count + 0.5) / n_features), "seed": seed}


def parse_tree(booster: Any) -> tuple[Tree, Array]:
    """The booster's only tree in our form, and the value of each node as a float32."""
    nodes = json.loads(booster.save_raw("json"))["learner"]["gradient_booster"]["model"]["trees"][0]
    left = np.array(nodes["left_children"], dtype=np.intp)
    inner = left >= 0
    condition = np.array(nodes["split_conditions"], dtype=np.float32)  # the value, in a leaf
    tree = Tree(
        feature=np.where(inner, np.array(nodes["split_indices"], dtype=np.intp), 0),
        threshold=np.where(inner, below_float32(condition), 0.0),
        left=left,
        right=np.where(inner, np.array(nodes["right_children"], dtype=np.intp), -1),
        missing_left=np.array(nodes["default_left"], dtype=bool),
    )
    return tree, condition + np.float32(0)  # no -0: XGBoost adds values to 0


def _ensemble(grown: list[tuple[Tree, Ints]], rows: Floats) -> TreeEnsemble:
    """Trees whose leaves are known for these rows."""

    def route(X: Any, tree: Tree, leaf: Ints) -> Ints:
        return leaf if X is rows else tree.apply(X)

    trees = tuple(tree for tree, _ in grown)
    routes = tuple(partial(route, tree=tree, leaf=leaf) for tree, leaf in grown)
    # Sorted rows, as for other ensembles of many trees, would not be these rows, and every leaf be looked for again.
    return TreeEnsemble(trees, routes, prepare=np.asarray, n_features=rows.shape[1], keeps_columns=False)
