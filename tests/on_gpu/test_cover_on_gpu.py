"""Covers of rows on a GPU: leaves, sums and rules are those of the CPU."""

from __future__ import annotations

import time
from typing import Any

import cupy as cp
import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from rulecover.gpu.part import DevicePart
from rulecover.gpu.trees import PackedTrees, leaves_of_rows
from rulecover.partitions.cover import greedy_cover
from rulecover.partitions.part import Part
from rulecover.partitions.parts import LocalParts
from rulecover.readers import read_trees
from rulecover.setcover import Greedy
from rulecover.targets.classes.samples import ClassSamples


def random_case(seed: int) -> tuple[Any, ClassSamples]:
    """A forest and rows with gaps and values on its thresholds; some wide, some deep, some weighted."""
    rng = np.random.default_rng(seed)
    n, width, n_classes = int(rng.integers(1, 3000)), int(rng.choice([2, 7, 40, 300])), int(rng.choice([2, 3, 300]))
    X = np.round(rng.normal(size=(n + 400, width)), int(rng.integers(0, 6)))
    y = np.digitize(X[:, 0] + X[:, 1] ** 2 + rng.normal(size=len(X)) / 2, np.sort(rng.normal(size=n_classes - 1)))
    kind = [RandomForestClassifier, ExtraTreesClassifier][seed % 2]
    depth = None if seed % 3 else int(rng.integers(1, 8))
    forest = kind(int(rng.integers(1, 20)), max_depth=depth, random_state=seed).fit(X, y)
    rows, labels = X[:n].astype([np.float32, np.float64][int(rng.integers(2))]), y[:n]
    if not seed % 4:
        rows[rng.random(rows.shape) < 0.05] = np.nan
    weight = rng.choice([0.1, 1.0, 2.5], size=n) if seed % 5 == 0 else None
    return read_trees(forest), ClassSamples(rows, np.searchsorted(forest.classes_, labels), forest.classes_, weight)


def here(ensemble: Any, samples: ClassSamples) -> Part:
    """The same trees by our own walk: where scikit-learn's code takes no missing values, it does."""
    from dataclasses import replace

    plain = replace(ensemble, routes=tuple(tree.apply for tree in ensemble.trees), prepare=lambda X: X)
    return Part(plain, lambda: samples)


def on_device(ensemble: Any, samples: ClassSamples) -> DevicePart:
    y = cp.asarray(samples.y.astype(np.uint8 if len(samples.classes) <= 256 else np.uint32))
    weight = None if samples.weight is None else cp.asarray(samples.weight)
    return DevicePart(ensemble, cp.asarray(samples.X), y, samples.classes, weight)


@pytest.mark.parametrize("seed", range(60))
def test_covers_are_the_same_rule_for_rule(seed: int) -> None:
    ensemble, samples = random_case(seed)
    one: Any = here(ensemble, samples)
    other: Any = on_device(ensemble, samples)
    sums = one.leaf_sums()
    np.testing.assert_allclose(other.leaf_sums(), sums, rtol=1e-12)
    leaves = np.flatnonzero(sums.any(axis=1))
    cost = 1.0 + 1.0 - np.square(sums[leaves] / sums[leaves].sum(axis=1, keepdims=True)).sum(axis=1)
    demand = np.asarray([1, 2, 5][seed % 3])
    total = None if samples.weight is None else float(samples.weight.sum())
    covers = [greedy_cover(LocalParts([part]), cost, leaves, demand, total_weight=total) for part in (one, other)]
    assert covers[0].rules.tolist() == covers[1].rules.tolist()
    assert covers[0].bound == covers[1].bound
    assert covers[0].certificate.n_capped == covers[1].certificate.n_capped


@pytest.mark.parametrize("seed", range(60))
def test_what_is_chosen_in_haste_or_with_slack_is_the_same(seed: int) -> None:
    ensemble, samples = random_case(seed)
    one: Any = here(ensemble, samples)
    other: Any = on_device(ensemble, samples)
    leaves = np.flatnonzero(one.leaf_sums().any(axis=1))
    other.leaf_sums()
    cost = 1.0 + np.random.default_rng(seed).random(len(leaves))
    total = None if samples.weight is None else float(samples.weight.sum())
    how = {"solver": Greedy(slack=0.5)} if seed % 2 else {"deadline": time.perf_counter() - 1}
    covers = [
        greedy_cover(LocalParts([part]), cost, leaves, np.asarray([1, 2, 5][seed % 3]), total_weight=total, **how)
        for part in (one, other)
    ]
    assert covers[0].rules.tolist() == covers[1].rules.tolist()
    assert covers[0].bound == covers[1].bound


@pytest.mark.parametrize("order", ["C", "F"])
def test_columns_may_follow_each_other_or_rows(order: str) -> None:
    ensemble, samples = random_case(4)
    packed = PackedTrees.of(ensemble, samples.X.dtype)
    ids = leaves_of_rows(cp.asarray(samples.X, order=order), packed).get()
    for tree, mine in zip(ensemble.trees, ids, strict=True):
        assert tree.leaves[mine].tolist() == tree.apply(samples.X).tolist()
