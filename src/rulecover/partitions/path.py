"""Rule paths for rows in many places: sums over rows go up, a rule comes down."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np

from rulecover.clock import is_late
from rulecover.coverage import addable
from rulecover.data.fingerprint import Fingerprint
from rulecover.partitions.mirco import shown_for_parts
from rulecover.partitions.part import LeafNumbers
from rulecover.partitions.parts import Parts, added_one_by_one
from rulecover.partitions.path_part import Entered, Evaluated, Softening, SumsAtLeaves, WhatIsLeft, unit_for
from rulecover.partitions.patterns import PatternSums
from rulecover.pool import priced
from rulecover.rulepath.candidates import Candidates, nodes_to_choose_from
from rulecover.rulepath.constraints import Constraints
from rulecover.rulepath.family import RuleFamily
from rulecover.rulepath.forward import Contest, EvaluatedClauses, Taken, follow, stacked
from rulecover.rulepath.logistic import LogisticFit, NewtonGains
from rulecover.rulepath.path import PathRecipe, VotesBySize, ended_in_words
from rulecover.rulepath.response import best_exponent, noise_of
from rulecover.rulepath.squares import Squares, Terms
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.impurity import Price
from rulecover.targets.samples import Samples
from rulecover.targets.target import Target
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Bools, Floats, Ints
from rulecover.voting.logistic import Patterns
from rulecover.voting.preconditioner import PerClass

#: How many passes over the rows are made once rules are chosen.
_PASSES = 3

#: The bits of the sum of all marks, which is never rounded.
_BITS = 52


@dataclass(frozen=True, eq=False)
class NodesInParts:
    """The nodes of all trees as candidates: their sums are those of their leaves.

    Parameters
    ----------
    nodes
        The candidates, without samples.
    cell
        The cell of each leaf.
    """

    nodes: Candidates
    cell: Ints

    def sums(self, at_leaves: Floats) -> Floats:
        """From sums at leaves, leaves x columns, to sums over nodes."""
        return np.column_stack([self.nodes.over_nodes(self._at_cells(column)) for column in at_leaves.T])

    def _at_cells(self, at_leaves: Floats) -> Floats:
        return np.bincount(self.cell, at_leaves, minlength=self.nodes.n_cells).astype(np.float64, copy=False)

    def take(self, rules: Ints) -> NodesInParts:
        return NodesInParts(self.nodes.take(rules), self.cell)


@dataclass(frozen=True, eq=False)
class WeighedNodes:
    """Candidates and the weights of their rows.

    Parameters
    ----------
    nodes
        The candidates.
    weight
        For each the weight of its rows, and the two sums of their marks, by which equal sets of rows are known.
    total
        The weight of all rows.
    totals
        The sums over all rows, as `Samples.sums` gives them.
    """

    nodes: NodesInParts
    weight: Floats
    total: float
    totals: Floats

    @property
    def sizes(self) -> Floats:
        return self.weight[:, 0]

    def take(self, rules: Ints) -> WeighedNodes:
        return replace(self, nodes=self.nodes.take(rules), weight=self.weight[rules])


def weighed_nodes(
    parts: Parts, ensemble: TreeEnsemble, names: tuple[str, ...], *, max_depth: int, min_samples: int
) -> WeighedNodes:
    """The nodes of the trees that cover enough rows, by weight, and not all of them."""
    leaves = LeafNumbers(ensemble)
    sums: Floats = parts.reduced(np.add, "leaf_sums")
    n_rows = int(parts.reduced(add, "n_rows"))
    at_leaves: Floats = parts.reduced(np.add, "weigh_leaves", _BITS - n_rows.bit_length())
    nodes, cell = nodes_to_choose_from(ensemble, names, max_depth=max_depth)
    candidates = NodesInParts(nodes, cell[_leaf_nodes(leaves, ensemble)])
    weight, totals = candidates.sums(at_leaves), at_leaves[: leaves.sizes[0]].sum(axis=0)
    kept = np.flatnonzero((weight[:, 0] >= min_samples) & (weight[:, 0] < totals[0]))
    return WeighedNodes(candidates, weight, float(totals[0]), sums[: leaves.sizes[0]].sum(axis=0)).take(kept)


def _leaf_nodes(leaves: LeafNumbers, ensemble: TreeEnsemble) -> Ints:
    """The place of each leaf in the table of the nodes of all trees."""
    first = np.concatenate([[0], np.cumsum([len(tree.left) for tree in ensemble.trees])[:-1]]).astype(np.intp)
    return np.asarray(first[leaves.tree] + np.concatenate(leaves.nodes), dtype=np.intp)


def distinct_allowed_nodes(weighed: WeighedNodes, constraints: Constraints) -> tuple[WeighedNodes, RuleSet]:
    """The candidates that keep to the constraints; of those that cover the same rows, the one of fewest clauses."""
    rules = weighed.nodes.nodes.rules()
    allowed = np.flatnonzero(constraints.allows(rules))
    order = allowed[np.argsort(rules.lengths[allowed], kind="stable")]
    _, at = np.unique(weighed.weight[order], axis=0, return_index=True)
    kept = np.sort(order[at])
    return weighed.take(kept), rules.take(kept)


class FitInParts:
    """The rules that are in, their votes by least squares, and what is left to explain; see `ForwardFit`."""

    def __init__(self, parts: Parts, candidates: WeighedNodes, terms: Terms, sizes: Floats) -> None:
        self._parts, self._nodes = parts, candidates.nodes
        centre = np.asarray(parts.reduced(np.add, "response_sums", unit_for(float(sizes[0].sum()))))
        centre = centre / candidates.total
        unit = unit_for(float(sum(parts.map("size_around", centre))))
        found: SumsAtLeaves = parts.reduced(add, "centre_response", centre, unit)
        squares = float(sum(parts.map("squares_around_centre")))
        # The sizes of residuals add up to at most this (Cauchy-Schwarz), as their squares are at most those of before.
        self._unit = unit_for(float(np.sqrt(candidates.total * squares * len(centre))))
        self.squares = Squares(
            total=candidates.total,
            sizes=candidates.sizes,
            own=self._nodes.sums(found.at_leaves),
            sums=found.totals,
            squares=squares,
            whole=float(sizes[1].sum()),
            centre=centre,
            terms=terms,
        )
        self._seen: set[bytes] = set()
        self.signs: list[int] = []

    def __len__(self) -> int:
        return len(self.signs)

    @property
    def left(self) -> WhatIsLeft:
        """By what parts work out what is left."""
        return WhatIsLeft(self.squares.around_centre[-1], self._unit)

    def votes_by_size(self, target: Target) -> VotesBySize:
        """The votes of every size, and what they minimise."""
        votes = target.votes(stacked(self.squares.votes))
        return VotesBySize(np.stack([addable(mine) for mine in votes]), np.array(self.squares.loss))

    def gains(self, signs: Ints, free: Bools) -> Floats:
        return self.squares.gains(signs, free)

    def enter(self, entered: Entered, sign: int) -> None:
        """A rule enters, and all votes are fitted again."""
        overlap = self._nodes.sums(entered.overlap[:, None])[:, 0]
        self.squares.add(entered.common, sums=entered.sums, overlap=overlap, sign=sign)
        self._seen.add(_key(entered.common[0], entered.marks))
        self.signs.append(sign)

    def gains_of(self, sums: Floats, signs: Ints) -> Floats:
        """What rules explain, given their weights, residuals and marks side by side; -1 also for what is in already."""
        gains = self.squares.gain(sums[:, 1:-2], sums[:, 0], signs)
        known = np.array([_key(mine[0], mine[-2:]) in self._seen for mine in sums])
        return np.where(known, -1.0, gains)


class LogisticFitInParts:
    """The rules that are in, their log-odds, and what is left to explain; see `LogisticFit`."""

    #: The slopes of the logistic loss are with the parts.
    left = None

    def __init__(self, parts: Parts, candidates: WeighedNodes, terms: Terms) -> None:
        self._parts, self._nodes, self._strength = parts, candidates.nodes, terms.ridge
        self._newton, self._total = NewtonGains(terms, candidates.total), candidates.total
        self._precondition = PerClass()
        self._seen: set[bytes] = set()
        self._votes: list[Floats] = []
        self._loss: list[float] = []
        self.signs: list[int] = []
        self._fit()

    def __len__(self) -> int:
        return len(self.signs)

    def votes_by_size(self, target: Target) -> VotesBySize:
        """The votes of every size, and what they minimise."""
        return VotesBySize(stacked(self._votes), np.array(self._loss))

    def gains(self, signs: Ints, free: Bools) -> Floats:
        return self._newton.of_candidates(
            lambda some: self._sums[slice(None) if some is None else some], signs, free, len(self)
        )

    def enter(self, entered: Entered, sign: int) -> None:
        """A rule enters, and all votes are fitted again."""
        self._seen.add(_key(entered.common[0], entered.marks))
        self.signs.append(sign)
        self._fit()

    def gains_of(self, sums: Floats, signs: Ints) -> Floats:
        """What rules explain, given their weights, slopes and marks side by side; -1 also for what is in already."""
        known = np.array([_key(mine[0], mine[-2:]) in self._seen for mine in sums])
        return np.where(known, -1.0, self._newton.gain(sums[:, 1:-2], signs))

    def _fit(self) -> None:
        patterns = path_patterns(self._parts, self._total)
        start = self._votes[-1] if self._votes else None
        signs = np.array(self.signs, dtype=np.intp)
        votes, loss = Patterns.of_sums(patterns.passed, patterns.sums).fitted(
            len(self), strength=self._strength, start=start, signs=signs, precondition=self._precondition
        )
        self._votes.append(votes)
        self._loss.append(loss)
        sizes = reduce(np.add, self._parts.map("measure_slopes", votes))
        found: SumsAtLeaves = self._parts.reduced(add, "round_slopes", tuple(map(unit_for, sizes.tolist())))
        self._sums = self._nodes.sums(found.at_leaves)
        self._newton.start(found.totals[len(found.totals) // 2 :])


def path_patterns(parts: Parts, total: float) -> PatternSums:
    """The rows of all parts by the rules that have entered; their weights add up to `total`."""
    patterns: PatternSums = parts.reduced(add, "path_patterns", unit_for(total))
    return patterns


def _key(weight: float, marks: Floats) -> bytes:
    """The same for equal sets of rows."""
    return np.array([weight, *marks]).tobytes()


class _ClausesInParts:
    """Evaluates the clauses of candidates on the rows of all parts."""

    def __init__(
        self, parts: Parts, fit: FitInParts | LogisticFitInParts, constraints: Constraints, tries: int
    ) -> None:
        self._parts, self._fit, self._constraints, self._tries = parts, fit, constraints, tries
        self._leading: list[int] = []

    def __call__(self, leading: Ints, rules: RuleSet) -> dict[int, EvaluatedClauses]:
        self._leading = leading.tolist()
        some = rules.take(leading)
        found = self._parts.reduced(added_one_by_one, "try_rules", some, self._fit.left)
        each = [self._clauses(some[k : k + 1], mine) for k, mine in enumerate(found)]
        return dict(zip(self._leading, each, strict=True))

    def _clauses(self, rule: RuleSet, found: Evaluated) -> EvaluatedClauses:
        passed = np.unpackbits(found.bits, axis=1, count=int(rule.lengths[0])).astype(bool).T
        signs = self._constraints.clause_signs(rule)

        def gains(covered: Bools, signs: Ints) -> Floats:
            return self._fit.gains_of(covered.astype(np.float64) @ found.sums, signs)

        return EvaluatedClauses(rule.clauses.feature, signs, passed, gains)

    def enter(self, taken: Taken) -> None:
        """Has the rule enter that was taken from those that were tried last."""
        place = self._leading.index(taken.candidate)
        self._fit.enter(self._parts.reduced(add, "enter_tried", place, taken.found.kept), taken.sign)


def rule_path_of_parts(
    parts: Parts,
    weighed: WeighedNodes,
    head: Samples,
    softened: SoftenedParts,
    recipe: PathRecipe,
    *,
    strength: float | None,
) -> PathOfParts:
    """The rule sets of every size, with votes that are fitted to what is to be explained, for rows in many places.

    Parameters
    ----------
    parts
        The rows, of `PathPart`.
    weighed
        The candidates, as `weighed_nodes` returns them.
    head
        Samples of the same kind, with or without rows.
    softened
        What is to be explained, as `soften_parts` returns it.
    recipe
        The steps, and the limits; the deadline is that of all that is done with the rows.
    strength
        The penalty on log-odds; ``None`` for votes by which the rules are chosen.
    """
    candidates, rules = distinct_allowed_nodes(weighed, recipe.constraints)
    fit: FitInParts | LogisticFitInParts
    if recipe.steps.start is LogisticFit:
        fit = LogisticFitInParts(parts, candidates, recipe.terms)
    else:
        fit = FitInParts(parts, candidates, recipe.terms, softened.sizes)
    look_at = _ClausesInParts(parts, fit, recipe.constraints, recipe.terms.tries)
    contest = Contest(rules, look_at, recipe.constraints, recipe.terms.tries)
    if recipe.given is not None:
        contest.note(recipe.given)
        for j, sign in enumerate(recipe.constraints.signs(recipe.given).tolist()):
            fit.enter(parts.reduced(add, "enter_rule", recipe.given[j : j + 1]), sign)
    until = _choice_deadline(parts, rules[: recipe.max_rules], recipe.deadline)
    least = follow(contest, fit, look_at.enter, max_rules=recipe.max_rules, deadline=until, verbose=recipe.verbose)
    cut = ended_in_words(len(fit), recipe.max_rules) if is_late(until) and len(fit) < recipe.max_rules else ""
    recipe.constraints.check_met(contest.unmet, recipe.max_rules)
    taken = contest.taken() if recipe.given is None else recipe.given.join(contest.taken())
    votes, loss = _votes(parts, fit, recipe.target, weighed.total, strength)
    shown, fingerprint = shown_for_parts(parts, _with_evidence(parts, taken, head, weighed.totals, recipe.target))
    family = RuleFamily(shown, votes, loss, recipe.target, recipe.steps.make_vote, least, len(rules))
    return PathOfParts(family, fingerprint, cut)


def _choice_deadline(parts: Parts, rules: RuleSet, deadline: float | None) -> float | None:
    """When rules must be chosen, so that there is time for what is shown of them: given this many of the candidates."""
    if deadline is None or is_late(deadline):
        return deadline
    return deadline - _PASSES * float(parts.pace("rule_patterns", rules).sum())


class PathOfParts(NamedTuple):
    """The rule sets of every size, the fingerprint of the rows, and where time ended the path, in words."""

    family: RuleFamily
    fingerprint: Fingerprint
    cut: str


class SoftenedParts(NamedTuple):
    """What is to be explained, which is in the parts: the sums of sizes, and of squares, of its columns; its noise.

    The noise is that of a `Response`.
    """

    sizes: Floats
    noise: float | None


def soften_parts(parts: Parts, target: Target, share: float, *, calibrate: bool, totals: Floats) -> SoftenedParts:
    """What is to be explained is worked out in the parts; see `softened_response`.

    Parameters
    ----------
    parts
        The rows, of `PathPart`.
    target
        What is predicted.
    share
        How much of what is to be explained are predictions of the model.
    calibrate
        Whether these are shares of classes that are calibrated first.
    totals
        The sums over all rows, as `WeighedNodes` has them.
    """
    list(parts.map("start_response", target, share > 0))
    softening, noise = Softening(share), None
    if calibrate and share:

        def loss(log_exponent: float) -> float:
            return float(sum(parts.map("calibration_loss", log_exponent)))

        exponent = best_exponent(loss)
        softening, noise = Softening(share, exponent), noise_of(loss(exponent), totals)
    return SoftenedParts(np.asarray(reduce(np.add, parts.map("soften", softening))), noise)


def _votes(
    parts: Parts, fit: FitInParts | LogisticFitInParts, target: Target, total: float, strength: float | None
) -> VotesBySize:
    """The votes of every size: log-odds, or those by which the rules were chosen."""
    if strength is None:
        return fit.votes_by_size(target)
    patterns = path_patterns(parts, total)
    signs = np.array(fit.signs, dtype=np.intp)
    fits = Patterns.of_sums(patterns.passed, patterns.sums).fitted_by_size(strength=strength, signs=signs)
    return VotesBySize(stacked([each.votes for each in fits]), np.array([each.loss for each in fits]))


def _with_evidence(parts: Parts, rules: RuleSet, head: Samples, totals: Floats, target: Target) -> RuleSet:
    """The rules with their evidence."""
    patterns: PatternSums = parts.reduced(add, "rule_patterns", rules)
    sums = patterns.passed.T.astype(np.float64) @ patterns.sums
    return rules.with_evidence(priced(head, rules, sums, Price(target.impurity), totals))
