"""Algorithm 1 of the paper for rows in many places: only sums, patterns and rules travel."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import add
from typing import Any

import numpy as np
import scipy.sparse

from rulecover.clock import deadline_of, earliest, is_late
from rulecover.coverage import Coverage
from rulecover.data.fingerprint import Fingerprint
from rulecover.mirco.cover import CoverRecipe, RuleCover
from rulecover.mirco.prune import needed_clauses, pruned_in_words, with_clauses
from rulecover.mirco.timed import TimedSolver
from rulecover.partitions.cover import greedy_cover
from rulecover.partitions.part import LeafNumbers, seen_together
from rulecover.partitions.parts import FEWEST_PASSES, Parts, added_one_by_one, done_in_time
from rulecover.partitions.patterns import PatternSums
from rulecover.pool import RulePool, priced
from rulecover.rules.ruleset import RuleSet
from rulecover.setcover import Cover, CoveringProblem, Greedy, Status
from rulecover.targets.impurity import Price
from rulecover.targets.samples import Samples
from rulecover.trees.tree import Leaves, TreeEnsemble
from rulecover.typing import Floats, Ints
from rulecover.voting.vote import Vote

#: By how many rules it is judged how long it takes to prune all; and the seconds after which votes are not fitted.
_JUDGED, _LATE = 32, 1.0
#: Nobody lists rows that are in many places.
_NO_ROWS = np.zeros(0, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Grouped:
    """Rows in groups: those of one class, or all, that the same rules cover.

    Parameters
    ----------
    covered
        Which rule covers which group, groups x rules, sparse.
    sums
        The sums over the rows of each group, groups x columns, as `Samples.sums` gives them.
    counts
        How many rows each group has.
    y
        The class of each group, by number; none where numbers are predicted.
    """

    covered: scipy.sparse.csr_array
    sums: Floats
    counts: Floats
    y: Ints | None

    @classmethod
    def of(cls, patterns: PatternSums, *, classes: bool) -> Grouped:
        """The groups of patterns; with `classes`, the rows of each class apart."""
        if not classes:
            return cls(patterns.covered, patterns.sums, patterns.counts[:, 0], None)
        pattern, label = np.nonzero(patterns.counts)
        sums = np.zeros((len(label), patterns.sums.shape[1]))
        sums[np.arange(len(label)), label] = patterns.sums[pattern, label]
        return cls(patterns.covered[pattern], sums, patterns.counts[pattern, label], label)

    @property
    def weight(self) -> Floats:
        """The weight of the rows of each group."""
        return np.asarray(self.sums[:, 0] if self.y is None else self.sums.sum(axis=1))


@dataclass(frozen=True, eq=False, kw_only=True)
class PartsRecipe(CoverRecipe):
    """The steps of Algorithm 1 that may be done in several ways, as far as sums over rows suffice for them.

    Parameters
    ----------
    solver
        The greedy choice.
    price
        What rules cost.
    demand
        How many rules must cover each row: one number, or one for each class.
    prune
        Whether needless clauses are dropped, and shorter rules chosen from.
    fit
        The votes, fitted to rows, and what time cut short.
    deadline
        When time is up, by `time.perf_counter`.
    """

    solver: Greedy
    price: Price
    demand: Ints
    prune: bool = False
    fit: Callable[[Vote, Grouped], tuple[Vote, str]] | None = None
    deadline: float | None = None


def leaf_pool_of_parts(
    parts: Parts, ensemble: TreeEnsemble, head: Samples, price: Price, feature_names: tuple[str, ...]
) -> RulePool:
    """The leaves of all trees that hold a row, as rules; which row each covers stays with the parts.

    Parameters
    ----------
    parts
        The rows.
    ensemble
        The trees.
    head
        Samples of the same kind, with or without rows: their classes, or the scale of their numbers.
    price
        What rules cost.
    feature_names
        The names of the columns.
    """
    leaves = LeafNumbers(ensemble)
    sums: Floats = parts.reduced(np.add, "leaf_sums")
    reached = np.flatnonzero(sums.any(axis=1))
    source = Leaves(
        ensemble.trees,
        tree=leaves.tree[reached],
        node=np.concatenate(leaves.nodes)[reached],
        columns=ensemble.columns_named(feature_names),
    )
    evidence = priced(head, source, sums[reached], price, totals=sums[: leaves.sizes[0]].sum(axis=0))
    return RulePool(source, Coverage((), 0, len(reached)), evidence)


def minimum_rule_cover_of_parts(parts: Parts, pool: RulePool, head: Samples, recipe: PartsRecipe) -> CoverOfParts:
    """The rules of a cheap cover out of the pool (model (1)), with their votes (eq. (2)), for rows in many places."""
    assert isinstance(pool.source, Leaves)
    solver, limit = recipe.solver, None if recipe.prune else recipe.max_rules
    weight = float(_weight_of(pool.evidence.totals, head)) if head.weight is not None else None
    places = LeafNumbers.places(pool.source)
    demand, cost = recipe.demand, pool.evidence.cost
    now = time.perf_counter()
    choices_end = earliest(recipe.deadline, deadline_of(solver.time_limit, begin=now))
    half = None if choices_end is None else now + max(0.0, choices_end - now) / 2  # the other for what comes after
    settings: dict[str, Any] = {"total_weight": weight, "solver": solver, "max_rules": limit}
    cover = greedy_cover(parts, cost, places, demand, **settings, deadline=half)
    ended = cover.status == Status.TIME_LIMIT
    grouped: Grouped | None = None
    cut = votes_cut = ""
    groups_by = _grouping_begins(parts, len(cover.rules), recipe.deadline)
    if recipe.prune:
        written = pool.written(cover.rules)
        rules, cut = pruned_on_parts(parts, written, pool.evidence.totals, earliest(recipe.deadline, groups_by))
        if rules is not written or (recipe.max_rules is not None and len(rules) > recipe.max_rules):
            grouped = grouped_rows(parts, rules, head)
            pool = _pool_of_groups(rules, grouped, head, recipe.price, pool.evidence.totals)
            cover = _cover_of_groups(pool, grouped, head, recipe, choices_end)
            grouped = replace(grouped, covered=grouped.covered[:, cover.rules])
    chosen, fingerprint = shown_for_parts(parts, pool.written(cover.rules))
    vote = recipe.plain_vote(chosen, None if pool.strength is None else pool.strength[cover.rules])
    if recipe.fit is not None and grouped is None and is_late(groups_by):
        votes_cut = "votes were not fitted"
    elif recipe.fit is not None:
        vote, votes_cut = recipe.fit(vote, grouped_rows(parts, chosen, head) if grouped is None else grouped)
    certificate = cover.certificate.without_proof()
    if ended and certificate.status != Status.LIMITED:  # it knows of the last choice alone
        certificate = replace(certificate, status=Status.TIME_LIMIT)
    return CoverOfParts(vote, certificate, _NO_ROWS, fingerprint, cut=cut, votes_cut=votes_cut)


@dataclass(frozen=True, eq=False)
class CoverOfParts(RuleCover):
    """The same as `RuleCover`, with the fingerprint of the rows; rows that are not covered are counted, not listed."""

    fingerprint: Fingerprint


def pruned_on_parts(parts: Parts, rules: RuleSet, totals: Floats, deadline: float | None = None) -> tuple[RuleSet, str]:
    """The rules without needless clauses, equal ones merged; see `rulecover.mirco.prune.pruned_in_time`.

    Those that there is no time for are as they were, which is said in words. The deadline is that of all that is done
    with the rows.
    """
    few, passes = rules[:_JUDGED], FEWEST_PASSES - 1
    n_done = done_in_time(parts, len(rules), deadline, "clause_patterns", few, passes=passes, n_judged=len(few))
    if not n_done:
        return rules, pruned_in_words(0, len(rules))
    some, late = rules[:n_done], rules[n_done:]
    merged: list[PatternSums] = parts.reduced(added_one_by_one, "clause_patterns", some)
    short = with_clauses(some, [needed_clauses(mine.passed.T, mine.sums, totals) for mine in merged])
    if not len(late):
        return short, ""
    whole = short.join(late)
    return whole.take(whole.clauses.first_of_equal()), pruned_in_words(n_done, len(rules))


def _grouping_begins(parts: Parts, n_rules: int, deadline: float | None) -> float | None:
    """When it must be begun to say which of the rules cover which rows."""
    return None if deadline is None else deadline + _LATE - sum(parts.map("seconds_to_group", n_rules))


def grouped_rows(parts: Parts, rules: RuleSet, head: Samples) -> Grouped:
    """All rows, in groups that the same rules cover."""
    patterns: PatternSums = parts.reduced(add, "rule_patterns", rules)
    return Grouped.of(patterns, classes=hasattr(head, "classes"))


def shown_for_parts(parts: Parts, rules: RuleSet) -> tuple[RuleSet, Fingerprint]:
    """The rules with bounds that are as short as they can be for the rows, and the fingerprint of the rows."""
    values, fingerprint = parts.reduced(seen_together, "seen", rules)
    return rules.shown_for(_table_of(values, rules)), fingerprint


def _table_of(values: dict[int, Floats], rules: RuleSet) -> Floats:
    """A table whose columns hold these values, the first of them repeated where a column has fewer than another."""
    table = np.zeros((max(map(len, values.values()), default=1), rules.n_features))
    for f, mine in values.items():
        table[:, f] = np.concatenate([mine, np.full(len(table) - len(mine), mine[0])])
    return table


def _weight_of(totals: Floats, head: Samples) -> float:
    """The weight of all rows, from their sums."""
    return float(totals.sum() if hasattr(head, "classes") else totals[0])


def _pool_of_groups(rules: RuleSet, grouped: Grouped, head: Samples, price: Price, totals: Floats) -> RulePool:
    sums = grouped.covered.T @ grouped.sums
    coverage = Coverage.of_sparse(grouped.covered)
    return RulePool(rules, coverage, priced(head, rules, sums, price, totals), grouped.weight)


def _cover_of_groups(
    pool: RulePool, grouped: Grouped, head: Samples, recipe: PartsRecipe, deadline: float | None
) -> Cover:
    """The cover of all rows: a group is a sample of the weight of its rows. What is counted are rows."""
    demand: Any = recipe.demand if recipe.demand.ndim == 0 else recipe.demand[grouped.y]
    problem = CoveringProblem(pool.coverage, pool.evidence.cost, demand, pool.weight)
    cover = TimedSolver(recipe.solver, head, deadline)(problem, max_rules=recipe.max_rules)
    short = int(grouped.counts[problem.shortfall(cover.rules)].sum())
    capped = int(grouped.counts[problem.demand < demand].sum())
    return replace(cover, certificate=replace(cover.certificate, n_uncovered=short, n_capped=capped))
