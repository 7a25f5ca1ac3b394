"""The master problem's ways with many samples: packed coverage, and a list of samples that are watched."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from rulecover.coverage import Coverage, SparseBlock
from rulecover.setcover import master as module
from rulecover.setcover.master import Master, Packs


def trees(rng: np.random.Generator, n_samples: int, sizes: list[int]) -> list[Coverage]:
    """Blocks that cover every sample, and, but for the first, parts of such blocks."""
    whole = [Coverage.of_ids([rng.integers(1, s + 1, n_samples).astype(np.uint16)], [s], n_samples) for s in sizes]
    return whole[:1] + [c.take(np.flatnonzero(rng.random(c.n_rules) < 0.6)) for c in whole[1:]]


@pytest.mark.parametrize("n_samples", [50, 3000, 100_000])
def test_packs_add_up_what_blocks_do(n_samples: int) -> None:
    rng = np.random.default_rng(n_samples)
    packs, whole = Packs(n_samples), Coverage((), n_samples, 0)
    for coverage in trees(rng, n_samples, [40, 300, 3, 8, 70_000, 5, 9, 60, 2, 64, 64, 7]):
        packs.add(coverage, whole.n_rules)
        whole = whole.join(coverage)
    values = np.where(rng.random(whole.n_rules) < 0.3, rng.random(whole.n_rules), 0.0)
    some = rng.permutation(n_samples)[: n_samples // 3]
    np.testing.assert_allclose(packs.per_sample(values), whole.per_sample(values), atol=1e-12)
    np.testing.assert_allclose(packs.per_sample(values, some), whole.per_sample(values)[some], atol=1e-12)
    one, other = rng.integers(0, n_samples, (2, 500))
    same = [all(block.ids[a] == block.ids[b] for block in whole.blocks) for a, b in zip(one, other, strict=True)]
    np.testing.assert_array_equal(packs.same(one, other), same)
    assert packs.same(one, one).all()


def test_packs_take_in_blocks_that_come_after_rules_of_no_tree() -> None:
    rng = np.random.default_rng(0)
    masks = rng.random((60, 5)) < 0.3
    (tree,) = trees(rng, 60, [4])
    mixed = Coverage.of_sparse(masks).join(tree)
    values = rng.random(9)
    packs = Packs(60)

    packs.add(mixed, 0)

    assert isinstance(mixed.blocks[0], SparseBlock) and not isinstance(mixed.blocks[-1], SparseBlock)
    np.testing.assert_allclose(packs.per_sample(values), mixed.per_sample(values), atol=1e-12)
    table = mixed.to_sparse().toarray()
    one, other = rng.integers(0, 60, (2, 500))
    np.testing.assert_array_equal(packs.same(one, other), (table[one] == table[other]).all(axis=1))


def test_samples_below_a_limit_are_those_of_all_sums_whatever_was_looked_at_before(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    n_samples, looked_at = 2000, []
    packs, whole = Packs(n_samples), Coverage((), n_samples, 0)
    plain = Packs.per_sample
    monkeypatch.setattr(Packs, "per_sample", lambda *given: looked_at.append(given[2]) or plain(*given))
    loose = Coverage.of_sparse(rng.random((n_samples, 9)) < 0.1)
    values = np.zeros(0)
    for coverage in [*trees(rng, n_samples, [6, 9, 5, 12]), loose, *trees(rng, n_samples, [7, 8])]:
        packs.add(coverage, whole.n_rules)
        whole = whole.join(coverage)
        values = np.concatenate([values, rng.random(coverage.n_rules)])
        for step in (0.5, 0.02, 0.02, 0.0, 0.02):
            values = np.maximum(values + step * rng.normal(size=len(values)), 0.0)
            samples, sums = packs.below(values, 0.9)
            expected = plain(packs, values)
            np.testing.assert_array_equal(samples, np.flatnonzero(expected < 0.9))
            np.testing.assert_array_equal(sums, expected[samples])

    of_some = [len(among) for among in looked_at if among is not None]
    assert len(of_some) > 10  # small steps: only samples near the limit were added up again
    assert max(of_some) < n_samples / 2


@pytest.mark.slow
@pytest.mark.parametrize("duals", ["equal", "vertex"])
def test_the_optimum_is_exact_when_samples_are_watched(duals: str, monkeypatch) -> None:
    monkeypatch.setattr(module, "WATCHED", 40)
    monkeypatch.setattr(module, "ENTERING", 4)
    for seed in range(15):
        rng = np.random.default_rng(seed)
        pools = trees(rng, 600, [10, 12, 9, 14, 11, 8])
        shuffle = rng.permutation(600)
        costs = [1 + rng.random(c.n_rules) for c in pools]
        plain = Master(pools[0], costs[0], duals=duals)
        shuffled = Master(pools[0].among(shuffle), costs[0], duals=duals)
        whole, cost = pools[0], costs[0]
        for coverage, more in zip(pools[1:], costs[1:], strict=True):
            for master, part in ((plain, coverage), (shuffled, coverage.among(shuffle))):
                master.add(part, more)
            whole, cost = whole.join(coverage), np.concatenate([cost, more])
            found, other = plain.solve(), shuffled.solve()
            matrix = whole.to_sparse().astype(float)
            full = linprog(cost, A_ub=-matrix, b_ub=-np.ones(600), method="highs").fun
            assert found.objective == pytest.approx(full, abs=1e-6)
            assert whole.per_sample(found.z).min() >= 1 - 1e-6
            assert (cost - whole.per_rule(found.duals)).min() >= -1e-6
            assert other.objective == pytest.approx(found.objective, abs=1e-9)
            if duals == "equal":  # the order of the rows has no say
                np.testing.assert_allclose(found.duals[shuffle], other.duals, atol=1e-9)
    assert plain.solve().n_samples_in_lp < 600
