"""Data sets, trees, rule sets and covering problems, drawn piece by piece so that what fails shrinks to a small one."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from rulecover import RuleSet
from rulecover.coverage import Block, Coverage
from rulecover.data.categories import CategorySet
from rulecover.rulepath.candidates import Candidates, node_candidates
from rulecover.rules.rule import Clause
from rulecover.setcover import CoveringProblem
from rulecover.trees.tree import Tree, TreeEnsemble

# Data sets ------------------------------------------------------------------------------------------------------

#: Few whole numbers, so that values recur and lie on the bounds of rules and splits.
DIGITS = st.integers(0, 7).map(float)
DIGITS_OR_MISSING = DIGITS | st.just(math.nan)
#: What else a cell may hold.
ODD = st.sampled_from([math.nan, -1.0, 0.5, math.inf])


class DataSet(NamedTuple):
    """Rows, a class or a number for each, and whole weights."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray


def tables(
    n_columns: int = 3, *, cells: st.SearchStrategy[float] = DIGITS | ODD, min_rows: int = 1, max_rows: int = 30
) -> st.SearchStrategy[np.ndarray]:
    """Rows of cells, missing ones among them."""
    rows = st.lists(st.tuples(*[cells] * n_columns), min_size=min_rows, max_size=max_rows)
    return rows.map(lambda drawn: np.array(drawn, dtype=float).reshape(-1, n_columns))


def data_sets(
    n_columns: int = 3,
    *,
    n_classes: int | None = None,
    cells: st.SearchStrategy[float] = DIGITS_OR_MISSING,
    min_rows: int = 1,
    max_rows: int = 30,
) -> st.SearchStrategy[DataSet]:
    """Data of `n_classes` classes, of which some may have no row; without, each row has a number."""
    target = st.integers(-20, 20).map(float) if n_classes is None else st.integers(0, n_classes - 1)
    row = st.tuples(st.tuples(*[cells] * n_columns), target, st.integers(1, 4).map(float))
    rows = st.lists(row, min_size=min_rows, max_size=max_rows)
    return rows.map(lambda drawn: DataSet(*map(np.array, zip(*drawn, strict=True))))


# Trees ----------------------------------------------------------------------------------------------------------


class Split(NamedTuple):
    """An inner node, by a threshold or by a set of codes; `None` is a leaf."""

    feature: int
    at: float | tuple[float, ...]
    missing_left: bool
    left: Split | None
    right: Split | None


def trees(n_features: int = 3, *, categories: bool = False, max_splits: int = 12) -> st.SearchStrategy[Tree]:
    """Trees of any shape; with `categories` nodes split on sets of codes, too."""
    at: st.SearchStrategy[Any] = DIGITS
    if categories:
        at |= st.sets(DIGITS, max_size=5).map(lambda codes: tuple(sorted(codes)))
    feature = st.integers(0, n_features - 1)
    shapes = st.recursive(
        st.none(), lambda below: st.builds(Split, feature, at, st.booleans(), below, below), max_leaves=max_splits + 1
    )
    return shapes.map(tree_of)


def tree_of(root: Split | None) -> Tree:
    """The arrays of a tree, its nodes numbered level by level."""
    nodes: list[Split | None] = [root]
    left, right = [], []
    for node in nodes:  # which grows on the way
        left.append(-1 if node is None else len(nodes))
        right.append(-1 if node is None else len(nodes) + 1)
        nodes += [] if node is None else [node.left, node.right]
    sets = [node.at for node in nodes if node is not None and isinstance(node.at, tuple)]
    by_set = np.array([node is not None and isinstance(node.at, tuple) for node in nodes])
    return Tree(
        np.array([0 if node is None else node.feature for node in nodes]),
        np.array([0.0 if node is None or isinstance(node.at, tuple) else node.at for node in nodes]),
        np.array(left),
        np.array(right),
        np.array([node is not None and node.missing_left for node in nodes]),
        category=np.where(by_set, np.cumsum(by_set) - 1, -1) if sets else None,
        category_sets=tuple(np.array(codes) for codes in sets),
    )


def ensemble_of(several: Sequence[Tree], n_features: int = 3) -> TreeEnsemble:
    """Trees as those of a model."""
    return TreeEnsemble(tuple(several), tuple(tree.apply for tree in several), lambda X: X, n_features=n_features)


@st.composite
def candidate_sets(draw: Any, *, weighted: bool = False, missing: bool = False) -> tuple[Candidates, DataSet]:
    """The nodes of some trees as rules to choose from, at least one of them, and the rows that they cover."""
    data = draw(data_sets(cells=DIGITS_OR_MISSING if missing else DIGITS, min_rows=2))
    several = ensemble_of(draw(st.lists(trees(), min_size=1, max_size=3)))
    depth, fewest = draw(st.integers(1, 5)), draw(st.integers(1, 2))
    weight = data.weight if weighted else None
    found = node_candidates(several, data.X, weight, ("a", "b", "c"), max_depth=depth, min_samples=fewest)
    assume(len(found))
    return found, data


# Rule sets ------------------------------------------------------------------------------------------------------

#: Names that could be taken for something else; every third column holds categories, with labels of that kind.
NAMES = ("a", "a and b", "b", "x <= 3", "1", "if", "in", "(z)", "always", "petal length (cm)", "or missing", "é", " s")
LABELS = ("red", "dark, red", "blue and green", "{", '"', "3", "", "not in", "\n", "or missing", " x ")
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-5, 5).map(float) | st.just(5e-324)
KINDS = ("above", "up to", "between", "is missing", "is not missing", "equal", "codes")


def holds_categories(column: int) -> bool:
    return column % 3 == 2


@st.composite
def clauses(draw: Any, column: int, name: str, numbers: st.SearchStrategy[float] = NUMBERS) -> Clause:
    """An interval, or a set of labels or of codes without a name."""
    missing = draw(st.booleans())
    if holds_categories(column):
        codes = sorted(draw(st.sets(st.integers(0, len(LABELS) - 1), min_size=1)))
        chosen = CategorySet(tuple(map(float, codes)), draw(st.booleans()))
        return Clause(column, name, missing=missing, categories=chosen, known=LABELS)
    kind = draw(st.sampled_from(KINDS))
    if kind == "is missing":
        return Clause(column, name, math.inf, math.inf, missing=True)
    if kind == "is not missing":
        return Clause(column, name)
    if kind == "codes":
        codes = sorted(draw(st.sets(DIGITS, min_size=1)))
        return Clause(column, name, missing=missing, categories=CategorySet(tuple(codes), draw(st.booleans())))
    low, high = sorted(draw(st.tuples(numbers, numbers)))
    if low == high or kind == "equal":
        low = math.nextafter(high, -math.inf)
    lower, upper = (-math.inf if kind == "up to" else low), (math.inf if kind == "above" else high)
    return Clause(column, name, lower, upper, missing)


@st.composite
def rule_sets(
    draw: Any,
    names: Sequence[str] = NAMES,
    *,
    numbers: st.SearchStrategy[float] = NUMBERS,
    max_rules: int = 4,
    max_clauses: int = 5,
) -> RuleSet:
    """Rules of any kind of clause, without any clause as well."""
    columns = st.sets(st.integers(0, len(names) - 1), max_size=max_clauses).map(sorted)
    rules = [
        [draw(clauses(f, names[f], numbers)) for f in some]
        for some in draw(st.lists(columns, min_size=1, max_size=max_rules))
    ]
    return RuleSet.of_clauses(rules, names, categories={f: LABELS for f in range(len(names)) if holds_categories(f)})


# Covering problems ----------------------------------------------------------------------------------------------


@st.composite
def covering_problems(
    draw: Any, *, max_samples: int = 12, max_rules: int = 9, max_demand: int = 3, weighted: bool = False
) -> CoveringProblem:
    """Rules in blocks, of one rule or like trees, in any order; every sample is covered at least once."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=max_rules))
    sizes = [size for size, end in zip(sizes, itertools.accumulate(sizes), strict=True) if end <= max_rules] or [1]
    sample = st.tuples(st.integers(1, max_demand), st.integers(1, 8), *(st.integers(0, size) for size in sizes))
    demand, quarters, *ids = zip(*draw(st.lists(sample, min_size=1, max_size=max_samples)), strict=True)
    covered = np.array(ids).any(axis=0)
    ids[0] = np.where(covered, ids[0], 1)
    order, n_rules = np.array(draw(st.permutations(range(sum(sizes))))), sum(sizes)
    parts = np.split(order, np.cumsum(sizes)[:-1])
    blocks = tuple(Block(np.array(own, np.uint8), np.sort(rules)) for own, rules in zip(ids, parts, strict=True))
    extra = st.sampled_from([0.0, 0.25, 0.5, 0.75]) | st.floats(0, 1)
    cost = 1 + np.array(draw(st.lists(extra, min_size=n_rules, max_size=n_rules)))
    # Quarters add up exactly, in any order.
    weight = np.array(quarters) / 4 if weighted else None
    return CoveringProblem(Coverage(blocks, len(demand), n_rules), cost, np.array(demand), weight)


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


def dense(problem: CoveringProblem) -> np.ndarray:
    return problem.coverage.to_sparse().toarray().astype(int)


def as_sparse(problem: CoveringProblem) -> CoveringProblem:
    """The same problem without blocks."""
    return CoveringProblem.from_sparse(problem.coverage.to_sparse(), problem.cost, problem.demand, problem.weight)


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
