"""Rules evaluated on samples: rules, coverage, sums and cost side by side."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from rulecover.clock import is_late
from rulecover.coverage import Block, Coverage, smallest_uint
from rulecover.exceptions import UncoveredSamplesError
from rulecover.parallel import map_tasks
from rulecover.progress import tracked
from rulecover.rules.applied import applied_in_time
from rulecover.rules.evidence import Evidence
from rulecover.rules.ruleset import RuleSet
from rulecover.setcover import CoveringProblem
from rulecover.targets.impurity import Price
from rulecover.targets.samples import Samples
from rulecover.trees.tree import Leaves, TreeEnsemble
from rulecover.typing import Array, Floats, Ints, UInts

#: From this many trees on it pays to sort the rows before they are sent through.
_MANY_TREES = 8
#: One row in this many shows how long a tree takes.
_ONE_IN = 64


@dataclass(frozen=True, eq=False)
class RulePool:
    """Rules, the samples they cover, and their evidence, aligned rule by rule.

    Parameters
    ----------
    source
        The rules, or leaves that are written out as rules only when asked for: a pool has thousands, a cover a few.
    coverage, evidence
        Which sample each rule covers; classes, class sums, impurity and cost.
    weight
        The weight of each sample, if not 1.
    strength
        The weight of each rule in its source model, where they are not all equal; see `with_strength`.
    """

    source: Leaves | RuleSet
    coverage: Coverage
    evidence: Evidence
    weight: Floats | None = None
    strength: Floats | None = None

    def __len__(self) -> int:
        return self.coverage.n_rules

    @cached_property
    def rules(self) -> RuleSet:
        """All rules, written out."""
        return self.written(np.arange(len(self)))

    def take(self, rules: Ints) -> RulePool:
        return replace(
            self,
            source=self.source.take(rules),
            coverage=self.coverage.take(rules),
            evidence=self.evidence.take(rules),
            strength=None if self.strength is None else self.strength[rules],
        )

    def with_strength(self, given: Floats, *, in_cost: bool) -> RulePool:
        """The pool with the weights of the source model: ωⱼ, the given weight over the mean of all rules.

        ω is kept between 1/10 and 10, so that a leaf with a value near 0 is expensive, but no rule is excluded or free.
        With `in_cost` the cost of a rule is divided by its ω.
        """
        mean = float(given.mean())
        strength = np.clip(given / mean, 0.1, 10.0) if mean > 0 else np.ones(len(given))
        cost = self.evidence.cost / strength if in_cost else self.evidence.cost
        return replace(self, evidence=replace(self.evidence, cost=cost), strength=strength)

    def join(self, other: RulePool) -> RulePool:
        """These rules followed by others that were evaluated on the same data."""
        return replace(
            self,
            source=_joined(self.source, other.source),
            coverage=self.coverage.join(other.coverage),
            evidence=self.evidence.join(other.evidence),
            strength=None,
        )

    def written(self, rules: Ints) -> RuleSet:
        """Some of the rules, written out."""
        chosen = self.source.take(rules)
        written = chosen if isinstance(chosen, RuleSet) else chosen.rules()
        return written.with_evidence(self.evidence.take(rules))

    def distinct(self) -> RulePool:
        """The pool without repeated rules, the first of each kept: covering twice by one rule is covering once."""
        first = self.rules.clauses.first_of_equal()
        return self if len(first) == len(self) else self.take(first)

    def coverable(self) -> tuple[RulePool, Ints, Ints]:
        """The pool on the samples that some rule covers; these samples, and those that no rule covers."""
        missed = self.coverage.missed()
        every = np.arange(self.coverage.n_samples)
        if not missed.size:
            return self, every, missed
        if len(missed) == len(every):
            raise UncoveredSamplesError(
                f"none of the {len(missed)} samples is covered by a rule; add rules that cover them."
            )
        covered = np.setdiff1d(every, missed)
        weight = None if self.weight is None else self.weight[covered]
        return replace(self, coverage=self.coverage.among(covered), weight=weight), covered, missed

    def problem(self, demand: int | Ints = 1) -> CoveringProblem:
        """Model (1) of the paper over this pool, with one demand for all samples or one for each."""
        demands = np.full(self.coverage.n_samples, demand)
        return CoveringProblem(self.coverage, self.evidence.cost, demands, self.weight)


def _joined(first: Leaves | RuleSet, second: Leaves | RuleSet) -> Leaves | RuleSet:
    """Leaves stay leaves; next to rules that do not come from trees they are written out."""
    if isinstance(first, Leaves) and isinstance(second, Leaves):
        return first.join(second)
    one, two = (each if isinstance(each, RuleSet) else each.rules() for each in (first, second))
    return one.join(two)


def leaf_pool(
    samples: Samples,
    ensemble: TreeEnsemble,
    price: Price,
    feature_names: tuple[str, ...],
    *,
    deadline: float | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> RulePool:
    """The leaves of all trees that hold a sample, as rules: Algorithm 1 up to the sets J(i).

    Impurities and counts come from all rows, not from the part that a tree was grown on; a leaf that no row
    reaches is not a rule. Rules are numbered tree by tree, leaves by node number. Trees that are not begun by the
    deadline, by `time.perf_counter`, are left out, but for the first: its leaves cover every row.
    """
    ensemble, X = ensemble.prepared_in_time(samples.X, deadline)
    order = neighbours(ensemble, X, deadline)
    summands = samples.summands()
    if order is not None:
        X, summands = X[order], _at(order, summands)

    def follow(tree: int) -> tuple[UInts, Ints, Floats] | None:
        """One tree, unless it is late."""
        if tree and is_late(deadline):
            return None
        node = ensemble.routes[tree](X)
        return _reached(node, samples.sums(node, *summands), order)

    tasks = map_tasks(follow, range(len(ensemble.routes)), n_jobs=n_jobs)
    each = tracked(tasks, "Reading trees", total=len(ensemble.trees), verbose=verbose)
    read, found = zip(*((tree, mine) for tree, mine in enumerate(each) if mine is not None), strict=True)
    sizes = [len(nodes) for _, nodes, _ in found]
    leaves = Leaves(
        ensemble.trees,
        tree=np.repeat(read, sizes),
        node=np.concatenate([nodes for _, nodes, _ in found]),
        columns=ensemble.columns_named(feature_names),
    )
    coverage = Coverage.of_ids((ids for ids, _, _ in found), sizes, len(samples.y))
    evidence = priced(samples, leaves, np.concatenate([sums for _, _, sums in found]), price)
    return RulePool(leaves, coverage, evidence, samples.weight)


def _reached(node: Ints, sums: Floats, order: Ints | None) -> tuple[UInts, Ints, Floats]:
    """The number of each sample's leaf from 1, the leaves that are reached, by their nodes, and their sums."""
    reached = np.flatnonzero(sums.any(axis=1))
    number: UInts = np.zeros(len(sums), dtype=smallest_uint(len(reached)))
    number[reached] = np.arange(1, len(reached) + 1)
    if order is None:
        return number[node], reached, sums[reached]
    ids = np.empty_like(number, shape=len(node))
    ids[order] = number[node]
    return ids, reached, sums[reached]


def rule_pool(samples: Samples, rules: RuleSet, price: Price) -> RulePool:
    """Given rules, evaluated on these samples; those that cover none are left out."""
    return pool_in_time(samples, rules, price)[0]


def pool_in_time(
    samples: Samples, rules: RuleSet, price: Price, *, deadline: float | None = None
) -> tuple[RulePool, int]:
    """The same of the first rules, as many as there is time for until the deadline; and how many these are."""
    parts = [part.tocsc() for part in applied_in_time(rules, samples.X, deadline)]
    covered = parts[0] if len(parts) == 1 else scipy.sparse.hstack(parts, format="csc")
    n_read = covered.shape[1]
    return _pool_of(samples, rules.take(np.arange(n_read)), price, covered), n_read


def with_evidence(samples: Samples, rules: RuleSet, price: Price) -> RuleSet:
    """Given rules with their evidence; that of a rule which covers none of the samples is all zeros."""
    covered = rules.apply(samples.X).tocsc()
    some = _pool_of(samples, rules, price, covered).evidence
    sums = np.zeros((len(rules), some.sums.shape[1]))
    sums[np.diff(covered.indptr) > 0] = some.sums
    return rules.with_evidence(priced(samples, rules, sums, price))


def _pool_of(samples: Samples, rules: RuleSet, price: Price, covered: scipy.sparse.csc_array) -> RulePool:
    size = np.diff(covered.indptr)
    kept = np.flatnonzero(size)
    coverage = _packed(covered[:, kept])
    sums = samples.sums(np.repeat(np.arange(len(kept)), size[kept]), *_at(covered.indices, samples.summands()))
    rules = rules.take(kept)
    return RulePool(rules, coverage, priced(samples, rules, sums, price), samples.weight)


def neighbours(ensemble: TreeEnsemble, X: Any, deadline: float | None = None) -> Ints | None:
    """The rows sorted by their leaves in the first two trees; ``None`` where that would not pay.

    Rows that follow each other then take much the same way through every other tree, which makes compiled tree
    code nearly twice as fast. It does not pay for few trees, nor where the leaves are known already, nor where a few
    rows show that there is no time for many trees before the deadline, by `time.perf_counter`.
    """
    if len(ensemble.trees) < _MANY_TREES or not ensemble.keeps_columns:
        return None
    if deadline is not None:
        begin, few = time.perf_counter(), X[: max(1, X.shape[0] // _ONE_IN)]
        ensemble.routes[0](few)
        if is_late(deadline, (time.perf_counter() - begin) * _ONE_IN * _MANY_TREES):
            return None
    key = np.zeros(1, dtype=np.int64)
    for route, tree in zip(ensemble.routes[:2], ensemble.trees, strict=False):
        key = key * len(tree.left) + route(X)
    return np.argsort(key, kind="stable")


def priced(
    samples: Samples, source: Leaves | RuleSet, sums: Floats, price: Price, totals: Floats | None = None
) -> Evidence:
    """The evidence of rules, given the sums over their samples; and the totals, if there are more samples than here."""
    some = sums.any(axis=1)
    impurity = np.zeros(len(sums))  # of no sample, too
    impurity[some] = price.impurity_of(sums if some.all() else sums[some])
    cost = 1.0 + price.impurity_weight * impurity
    if price.length_weight:
        source = source if isinstance(source, RuleSet) else source.rules()
        cost = cost + price.length_weight * source.lengths
    return samples.evidence(sums, impurity, cost, totals)


def _packed(covered: scipy.sparse.csc_array) -> Coverage:
    """The coverage of rules given one by one, rules that do not overlap in one block, as leaves of a tree are."""
    n_samples, n_rules = covered.shape
    block_of = _first_fit(covered)
    blocks = []
    for rules in np.split(np.argsort(block_of, kind="stable"), np.cumsum(np.bincount(block_of))[:-1]):
        if len(rules):
            mine = covered[:, rules]
            ids: UInts = np.zeros(n_samples, dtype=smallest_uint(len(rules)))
            ids[mine.indices] = np.repeat(np.arange(1, len(rules) + 1), np.diff(mine.indptr))
            blocks.append(Block(ids, rules))
    return Coverage(tuple(blocks), n_samples, n_rules)


def _first_fit(covered: scipy.sparse.csc_array) -> Ints:
    """For each rule the first block of which no rule covers its samples; 64 blocks are tried together.

    A sample has a bit for each of these blocks. Where all are taken, the next 64 begin.
    """
    taken = np.zeros(covered.shape[0], dtype=np.uint64)
    block_of, first = np.zeros(covered.shape[1], dtype=np.intp), 0
    for j, (start, end) in enumerate(itertools.pairwise(covered.indptr.tolist())):
        samples = covered.indices[start:end]
        full = int(np.bitwise_or.reduce(taken[samples]))
        if full == 2**64 - 1:
            taken[:], first, full = 0, first + 64, 0
        lowest = ~full & (full + 1)  # the first bit that is not set
        taken[samples] |= np.uint64(lowest)
        block_of[j] = first + lowest.bit_length() - 1
    return block_of


def _at(rows: Ints, arrays: tuple[Array | None, ...]) -> tuple[Array | None, ...]:
    return tuple(None if array is None else array[rows] for array in arrays)
