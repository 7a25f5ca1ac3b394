"""Random covering problems and forests, small enough to check by brute force."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
from hypothesis import strategies as st

from rulecover.coverage import Block, Coverage
from rulecover.setcover import CoveringProblem


def random_coverage(rng: np.random.Generator, n_samples: int, n_rules: int) -> Coverage:
    """Rules in random blocks (some of one rule, some like trees), every sample covered at least once."""
    owner = rng.integers(0, max(1, n_rules // 2), size=n_rules)
    density = rng.uniform(0.3, 1.0)
    order = rng.permutation(n_rules)
    blocks = []
    for b in np.unique(owner):
        rules = order[owner == b]
        ids = np.where(rng.random(n_samples) < density, rng.integers(1, len(rules) + 1, n_samples), 0)
        blocks.append(Block(ids.astype(np.uint8), np.sort(rules)))
    coverage = Coverage(tuple(blocks), n_samples, n_rules)
    missed = coverage.missed()
    if missed.size:
        first = blocks[0]
        ids = first.ids.copy()
        ids[missed] = 1
        coverage = Coverage((Block(ids, first.rules), *blocks[1:]), n_samples, n_rules)
    return coverage


def random_problem(
    rng: np.random.Generator, *, max_samples: int = 12, max_rules: int = 9, max_demand: int = 3, ties: bool = True
) -> CoveringProblem:
    n_samples = int(rng.integers(1, max_samples + 1))
    n_rules = int(rng.integers(1, max_rules + 1))
    coverage = random_coverage(rng, n_samples, n_rules)
    cost = 1 + (rng.integers(0, 4, n_rules) / 4 if ties else rng.random(n_rules))
    return CoveringProblem(coverage, cost, rng.integers(1, max_demand + 1, n_samples))


@st.composite
def covering_problems(draw: Any, **sizes: int) -> CoveringProblem:
    return random_problem(np.random.default_rng(draw(st.integers(0, 2**32 - 1))), **sizes)


def dense(problem: CoveringProblem) -> np.ndarray:
    return problem.coverage.to_sparse().toarray().astype(int)


@functools.cache
def every_choice(n_rules: int) -> np.ndarray:
    return np.array(list(itertools.product([0, 1], repeat=n_rules)))


def every_cover(problem: CoveringProblem) -> np.ndarray:
    """All sets of rules that meet every demand, as rows of zeros and ones."""
    choices = every_choice(problem.n_rules)
    return choices[(choices @ dense(problem).T >= problem.demand).all(axis=1)]


def brute_force(problem: CoveringProblem) -> float:
    """The least cost of any cover, by trying every set of rules."""
    return float((every_cover(problem) @ problem.cost).min())


def fewest_rules(problem: CoveringProblem) -> int:
    """The least number of rules of any cover, by trying every set of rules."""
    return int(every_cover(problem).sum(axis=1).min())
