"""RCBoost on rows in parts generates the rules of RCBoost on the same rows in one place."""

from __future__ import annotations

from functools import partial, reduce
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from rulecover.exceptions import MismatchedDataError
from rulecover.partitions.boost import GenerationInParts, start_tracker
from rulecover.partitions.boost_part import BoostPart, BoostRows, _log, joined_samples
from rulecover.partitions.parts import LocalParts
from rulecover.rcboost.generate import BoostRecipe, RuleGeneration
from rulecover.rcboost.pricing.binned import BinnedPricing
from rulecover.rcboost.pricing.oracles import TreePricing
from rulecover.rcboost.removal import Stale
from rulecover.setcover import master
from rulecover.targets.classes.impurity import Gini
from rulecover.targets.classes.samples import ClassSamples
from rulecover.targets.impurity import Price
from rulecover.targets.numbers.impurity import SquaredError
from rulecover.targets.numbers.samples import NumberSamples
from rulecover.targets.samples import Samples

NAMES = tuple("abcde")


def table(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = np.round(random.normal(size=(n, 5)), 1)
    return X, (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int) + (X[:, 3] > 1)


def in_parts(samples: Samples, cuts: list[int]) -> LocalParts:
    """The rows cut at these places; bins are made from all of them, as often as they count."""
    reference = np.repeat(samples.X, samples.count.astype(int), axis=0)
    blocks = np.split(np.arange(len(samples.y)), cuts)
    halves = [[samples.among(half) for half in np.array_split(block, 2)] for block in blocks]
    return LocalParts([BoostPart(BoostRows(each, reference, k, len(samples.y))) for k, each in enumerate(halves)])


def assert_same(samples: Samples, cuts: list[int], recipe: BoostRecipe, tree: Any, rounds: int) -> None:
    one = RuleGeneration(samples, tree, recipe, lambda first: NAMES, seed=1)
    link = partial(start_tracker, "127.0.0.1")
    empty = samples.among(np.arange(0))
    many = GenerationInParts(
        in_parts(samples, cuts), link, empty, tree, recipe=recipe, names=lambda first: NAMES, seed=1
    )
    for _, ours, theirs in zip(range(rounds), many, one, strict=False):
        assert many.generated.rules.clauses.keys({}) == one.generated.rules.clauses.keys({})
        assert many.pool.tolist() == one.pool.tolist()
        assert ours.z.tolist() == theirs.z.tolist()
        assert (ours.objective, ours.removed, ours.lp_samples) == (theirs.objective, theirs.removed, theirs.lp_samples)
        assert ours.most_negative == pytest.approx(theirs.most_negative, rel=1e-12)
    evidence, others = many.generated.evidence, one.generated.evidence
    assert evidence.sums.tolist() == others.sums.tolist()
    assert evidence.totals.tolist() == others.totals.tolist()


@pytest.mark.slow
@pytest.mark.parametrize(("cuts", "classes"), [([], 2), ([5, 600], 2), ([300], 3)])
def test_the_rounds_are_those_of_one_process(cuts, classes):
    X, y = table(700, classes)
    samples = ClassSamples(X, np.minimum(y, classes - 1), np.arange(classes))
    tree = DecisionTreeClassifier(max_depth=4, max_features="sqrt", min_samples_leaf=0.01)
    assert_same(samples, cuts, BoostRecipe(BinnedPricing(), Price(Gini()), step=None), tree, rounds=4)


@pytest.mark.slow
def test_trees_are_grown_in_silence_and_real_messages_are_logged(capfd, caplog):
    X, y = table(300, 2)
    recipe = BoostRecipe(BinnedPricing(), Price(Gini()), step=None)
    assert_same(ClassSamples(X, y.clip(max=1), np.arange(2)), [100], recipe, DecisionTreeClassifier(max_depth=3), 1)
    assert capfd.readouterr() == ("", "")
    assert not caplog.messages
    _log(b"[12:00:00] WARNING: something is wrong")
    assert caplog.messages == ["[12:00:00] WARNING: something is wrong"]


@pytest.mark.slow
def test_whole_weights_and_removal_are_as_in_one_process():
    X, y = table(700, 3)
    samples = ClassSamples(X, y, np.arange(3), np.random.default_rng(0).integers(1, 4, 700).astype(float))
    recipe = BoostRecipe(BinnedPricing(), Price(Gini()), remove=Stale(above=0.05, calls=2), step=None)
    assert_same(samples, [200], recipe, DecisionTreeClassifier(max_depth=4, max_features="sqrt"), rounds=8)


@pytest.mark.slow
def test_many_samples_enter_the_lp_in_the_same_order(monkeypatch):
    for module in (master, "rulecover.partitions.boost_master", "rulecover.partitions.boost_part"):
        name = module if isinstance(module, str) else module.__name__
        monkeypatch.setattr(f"{name}.WATCHED", 40)
    for name in (master.__name__, "rulecover.partitions.boost_master"):
        monkeypatch.setattr(f"{name}.ENTERING", 4)
    X, y = table(900, 4)
    recipe = BoostRecipe(BinnedPricing(), Price(Gini()), step=None)
    tree = DecisionTreeClassifier(max_depth=5, max_features="sqrt")
    assert_same(ClassSamples(X, y, np.arange(3)), [100, 500], recipe, tree, rounds=5)


@pytest.mark.slow
def test_numbers_whose_sums_are_exact_are_as_in_one_process():
    X, y = table(700, 5)
    samples = NumberSamples(X, y.astype(float), None, 0.0, 1.0)
    recipe = BoostRecipe(BinnedPricing(), Price(SquaredError()), step=None)
    assert_same(samples, [200], recipe, DecisionTreeRegressor(max_depth=4, max_features=2), rounds=4)


def test_a_part_that_is_made_again_from_its_calls_is_the_same():
    X, y = table(400, 6)
    samples = ClassSamples(X, y, np.arange(3))
    parts = in_parts(samples, [])
    calls: list[tuple[str, tuple[Any, ...]]] = []

    class Recorded:
        def map(self, method: str, *arguments: Any) -> Any:
            if method not in BoostPart.passing:
                calls.append((method, arguments))
            return parts.map(method, *arguments)

        def reduced(self, add: Any, method: str, *arguments: Any) -> Any:
            return reduce(add, self.map(method, *arguments))

    recipe = BoostRecipe(BinnedPricing(), Price(Gini()), step=None)
    tree, empty = DecisionTreeClassifier(max_depth=3, max_features="sqrt"), samples.among(np.arange(0))
    generation = GenerationInParts(Recorded(), dict, empty, tree, recipe=recipe, names=lambda first: NAMES)
    for _ in zip(range(3), generation, strict=False):
        pass
    again = BoostPart(BoostRows([samples], X, 0, 400))
    for method, arguments in calls:
        getattr(again, method)(*arguments)
    assert again.weights() == parts.parts[0].weights()
    signatures = parts.parts[0]._signatures.value
    assert again._signatures.value.tolist() == signatures.tolist()


def test_steps_that_need_all_rows_in_one_place_are_refused():
    for recipe, message in (
        (BoostRecipe(TreePricing(), Price(Gini())), "pricing is TreePricing, which needs all rows in one place"),
        (BoostRecipe(BinnedPricing(), Price(Gini()), duals="vertex"), "duals is 'vertex', which depends on the order"),
        (BoostRecipe(BinnedPricing(), Price(Gini()), duals="near"), "duals is 'near', which needs all rows in one"),
    ):
        with pytest.raises(MismatchedDataError, match=message):
            GenerationInParts(LocalParts([]), dict, None, None, recipe=recipe, names=lambda first: NAMES)


def test_samples_are_joined_in_order():
    X, y = table(30, 7)
    samples = ClassSamples(X, y, np.arange(3), np.arange(1.0, 31.0))
    joined = joined_samples([samples.among(np.arange(12)), samples.among(np.arange(12, 30))])
    for name in ("X", "y", "weight"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(samples, name))
