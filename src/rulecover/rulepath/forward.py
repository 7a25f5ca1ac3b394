"""Forward choice: one rule after another by what it explains of the residual, all votes refitted after each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from rulecover.coverage import addable
from rulecover.progress import tracked
from rulecover.rulepath.candidates import Candidates
from rulecover.rulepath.constraints import Constraints
from rulecover.rulepath.shorten import Shortened, satisfied, shortened
from rulecover.rules.ruleset import RuleSet
from rulecover.typing import Bools, Floats, Ints
from rulecover.voting.ridge import GrowingRidge

#: Gains are compared to this many digits of the largest: rounding in the last ones decides nothing.
DIGITS = 9

#: A gain below this share of the targets' spread is rounding.
_NOTHING = 1e-12
#: So is one below the square of this share of the targets' own squares.
_ROUNDED = 1e-14

#: Rules for which there is room at first; it is doubled as they come.
_ROOM = 32


@dataclass(frozen=True)
class Terms:
    """The constants of the choice.

    Parameters
    ----------
    ridge
        The penalty on the squares of the votes.
    shrinkage
        How many samples are added to a candidate's own when its gain is averaged: small rules must be surer.
    tries
        How many of the best candidates are shortened before one is taken; 0 takes nodes as they are.
    """

    ridge: float = 10.0
    shrinkage: float = 50.0
    tries: int = 5


def usual_shrinkage(total: float) -> float:
    """A twentieth of the (weighted) samples, at most 50: among few samples small rules must be allowed to compete.

    >>> usual_shrinkage(200), usual_shrinkage(5000)
    (10.0, 50.0)
    """
    return min(50.0, total / 20.0)


@dataclass(frozen=True, eq=False)
class ForwardPath:
    """A nested family of rule sets: the set of size k has the first k rules and the votes ``votes[k]``.

    Parameters
    ----------
    rules
        The rules that were chosen, in the order in which they entered; given rules entered before them.
    covered
        Which rule covers which sample, samples x rules, the given ones first.
    signs
        What the vote of each rule is held to: 1 not negative, -1 not positive, 0 anything.
    votes
        For each size from 0 the default vote and the votes of all rules, sizes x (1 + rules) x targets; zero for
        rules that are not yet in.
    loss
        What the votes minimise, for each size; it never rises.
    least
        The smallest size with all given rules and all required features in it.
    """

    rules: RuleSet
    covered: Bools
    signs: Ints
    votes: Floats
    loss: Floats
    least: int


class RuleSums(Protocol):
    """What the choice must know of the rules to choose from: sums over their samples."""

    @property
    def weight(self) -> Floats | None:
        """What each sample counts."""

    @property
    def total(self) -> float:
        """The (weighted) number of samples."""

    @property
    def sizes(self) -> Floats:
        """The (weighted) number of samples of each rule."""

    def __len__(self) -> int: ...

    def sums(self, values: Floats) -> Floats:
        """The (weighted) sum of each column of `values` over the samples of each rule, rules x columns."""

    def overlap(self, covered: Bools) -> Floats:
        """The (weighted) number of these samples that each rule covers."""


class CandidateGains(Protocol):
    """What candidates would gain, given the rules that are in."""

    def __len__(self) -> int: ...

    def gains(self, signs: Ints, free: Bools) -> Floats:
        """What each free candidate explains of what is left, -1 if nothing; votes are held to signs other than 0."""


class Fit(CandidateGains, Protocol):
    """The rules that are in, their votes by some loss, and what is left to explain."""

    covered: list[Bools]
    signs: list[int]

    @property
    def loss(self) -> Sequence[float]:
        """What the votes minimise, for each size from 0."""

    @property
    def votes(self) -> list[Floats]:
        """For each size from 0 the default vote and those of the rules, (1 + rules) x columns."""

    def gains_of(self, covered: Bools, signs: Ints) -> Floats:
        """The same for any rules, as masks over the samples (rules x samples); -1 also for what is in already."""

    def enter(self, covered: Bools, sign: int) -> None:
        """A rule enters, and all votes are fitted again."""


class Squares:
    """Votes by least squares and what is left to explain, from sums over samples alone, wherever the samples are.

    Parameters
    ----------
    total, sizes
        The (weighted) number of samples, and of each candidate's.
    own
        The sums of the targets, less the centre, over the samples of each candidate, candidates x targets.
    sums, squares, whole
        The sums of these targets over all samples, the sum of all their squares, and that of the squares of the targets
        as they are given.
    centre
        What was taken off each target.
    terms
        The constants of the choice.
    """

    def __init__(
        self,
        *,
        total: float,
        sizes: Floats,
        own: Floats,
        sums: Floats,
        squares: float,
        whole: float,
        centre: Floats,
        terms: Terms,
    ) -> None:
        self.centre, self._sizes, self._own, self._total, self._terms = centre, sizes, own, total, terms
        self._overlap = np.zeros((_ROOM, len(sizes)))
        self._least = max(_NOTHING * squares, _ROUNDED**2 * whole)
        self._ridge = GrowingRidge(total=total, sums=sums, squares=squares, strength=terms.ridge)
        self.around_centre, self.loss = [self._ridge.votes()], [self._ridge.loss()]

    def __len__(self) -> int:
        return len(self.loss) - 1

    @property
    def votes(self) -> list[Floats]:
        """For each size from 0 the default vote and those of the rules, (1 + rules) x targets."""
        first = np.eye(1 + len(self), 1)
        return [mine + self.centre * first[: len(mine)] for mine in self.around_centre]

    def gains(self, signs: Ints, free: Bools) -> Floats:
        """What each free candidate explains of the residual, -1 if nothing."""
        votes = self.around_centre[-1]
        sums = self._own - self._sizes[:, None] * votes[0] - self._overlap[: len(self)].T @ votes[1:]
        return np.where(free, self.gain(sums, self._sizes, signs), -1.0)

    def gain(self, sums: Floats, sizes: Floats, signs: Ints) -> Floats:
        """‖Σ residuals‖² over a rule's samples, averaged; a vote that is held to a sign explains nothing against it."""
        spread = sizes * (1.0 - sizes / self._total) + self._terms.shrinkage
        gain = np.square(sums).sum(axis=1) / np.maximum(spread, np.finfo(np.float64).tiny)
        nothing = (gain <= self._least) | ((signs != 0) & (sums[:, 0] * signs <= 0))
        return np.asarray(np.where(nothing, -1.0, gain))

    def add(self, common: Floats, *, sums: Floats, overlap: Floats, sign: int) -> None:
        """A rule enters, and all votes are fitted again.

        Parameters
        ----------
        common
            Its (weighted) number of samples, and of those that it has in common with each rule before.
        sums
            The sums of the targets over its samples.
        overlap
            The (weighted) number of its samples that each candidate covers.
        sign
            What its vote is held to.
        """
        self._ridge.add(common, size=float(common[0]), sums=sums, sign=sign)
        if len(self) == len(self._overlap):
            self._overlap = np.concatenate([self._overlap, np.zeros_like(self._overlap)])
        self._overlap[len(self)] = overlap
        self.around_centre.append(self._ridge.votes())
        self.loss.append(self._ridge.loss())


class ForwardFit:
    """The rules that are in, their votes by least squares, and what is left to explain."""

    def __init__(self, candidates: RuleSums, target: Floats, terms: Terms) -> None:
        self._candidates = candidates
        self._weight = np.ones(len(target)) if candidates.weight is None else candidates.weight
        # Around their means the targets keep their digits, however large the means are.
        centre = centre_of(target, self._weight)
        self._target = addable(target - centre)
        self._weighted = self._target * self._weight[:, None]
        self._squares = Squares(
            total=candidates.total,
            sizes=candidates.sizes,
            own=candidates.sums(self._target),
            sums=self._weighted.sum(axis=0),
            squares=float((self._weighted * self._target).sum()),
            whole=float(self._weight @ np.square(target).sum(axis=1)),
            centre=centre,
            terms=terms,
        )
        self._seen: set[bytes] = set()
        self.covered: list[Bools] = []
        self.signs: list[int] = []

    def __len__(self) -> int:
        return len(self.covered)

    @property
    def votes(self) -> list[Floats]:
        """For each size from 0 the default vote and those of the rules, (1 + rules) x targets."""
        return self._squares.votes

    @property
    def loss(self) -> list[float]:
        return self._squares.loss

    def gains(self, signs: Ints, free: Bools) -> Floats:
        """What each free candidate explains of the residual, -1 if nothing."""
        return self._squares.gains(signs, free)

    def gains_of(self, covered: Bools, signs: Ints) -> Floats:
        """The same for any rules, as masks over the samples (rules x samples); -1 also for what is in already."""
        marks = covered.astype(np.float64)
        gains = self._squares.gain(marks @ self._residual, marks @ self._weight, signs)
        known = np.array([mask_key(mask) in self._seen for mask in covered])
        return np.where(known, -1.0, gains)

    @cached_property
    def _residual(self) -> Floats:
        """What is left of the targets, times the weights."""
        votes = self._squares.around_centre[-1]
        left = self._target - votes[0]
        for covered, vote in zip(self.covered, votes[1:], strict=True):
            left -= covered[:, None] * vote
        return np.asarray(left * self._weight[:, None])

    def enter(self, covered: Bools, sign: int) -> None:
        """A rule enters, and all votes are fitted again."""
        counts = np.where(covered, self._weight, 0.0)
        common = np.array([float(counts.sum()), *(counts @ mine for mine in self.covered)])
        sums, overlap = self._weighted[covered].sum(axis=0), self._candidates.overlap(covered)
        self._squares.add(common, sums=sums, overlap=overlap, sign=sign)
        self.covered.append(covered)
        self._seen.add(mask_key(covered))
        self.signs.append(sign)
        self.__dict__.pop("_residual", None)


def centre_of(target: Floats, weight: Floats) -> Floats:
    """The mean of each column, the same in whatever order rows are added, samples x columns."""
    return np.asarray(addable(target * weight[:, None]).sum(axis=0) / weight.sum())


#: From candidates, response and constants to a fit without rules.
StartFit = Callable[[Candidates, Floats, Terms], Fit]


def mask_key(covered: Bools) -> bytes:
    """The same for masks that cover the same samples."""
    return np.packbits(covered).tobytes()


class EvaluatedClauses(NamedTuple):
    """The clauses of a candidate.

    Parameters
    ----------
    feature, signs
        Their features, and the signs they hold votes to.
    passed
        Which samples satisfy which, clauses x samples; or patterns of clauses in place of samples.
    gains
        What rules explain, given masks over these samples or patterns and the signs of their votes.
    """

    feature: Ints
    signs: Ints
    passed: Bools
    gains: Callable[[Bools, Ints], Floats]


class Taken(NamedTuple):
    """A rule that is to enter: the candidate that it is made of, what it keeps of it, and the sign of its vote."""

    candidate: int
    found: Shortened
    sign: int


#: Evaluates candidates, given as places and as rules; what was evaluated before may be kept.
LookAt = Callable[[Ints, RuleSet], dict[int, EvaluatedClauses]]


class Contest:
    """The candidates that are still free, and the rules that were chosen among them."""

    def __init__(self, rules: RuleSet, look_at: LookAt, constraints: Constraints, tries: int) -> None:
        self._rules, self._look_at, self._constraints, self._tries = rules, look_at, constraints, tries
        self._signs = constraints.signs(self._rules)
        self._uses = _users(self._rules, constraints.required)
        self._free = np.ones(len(rules), dtype=bool)
        self._unmet = np.ones(len(constraints.required), dtype=bool)
        self._taken: list[tuple[int, Bools]] = []

    def note(self, given: RuleSet) -> None:
        """Rules that came from elsewhere may use what is required."""
        self._unmet &= ~_users(given, self._constraints.required).any(axis=0)

    @property
    def unmet(self) -> Ints:
        """Required features that no rule uses yet."""
        return self._constraints.required[self._unmet]

    def next_rule(self, fit: CandidateGains) -> Taken | None:
        """The best rule there is; ``None`` if none explains anything."""
        while True:
            open_to = self._free & self._uses[:, self._unmet].any(axis=1) if self._unmet.any() else self._free
            gains = fit.gains(self._signs, open_to)
            if not gains.size or gains.max() <= 0:
                return None
            tried = [(j, self._tried(seen)) for j, seen in self._look_at(self._leading(gains), self._rules).items()]
            self._free[[j for j, found in tried if found.gain <= 0]] = False
            best = max(found.gain for _, found in tried)
            if best > 0:
                return self._take(*min(tried, key=lambda one: (-round(one[1].gain / best, DIGITS), one[1].kept.sum())))

    def _leading(self, gains: Floats) -> Ints:
        """The few candidates of the largest gains, those with fewer clauses first where gains are equal."""
        few = max(1, self._tries)
        least = -np.partition(-gains, few)[few] if len(gains) > few else -1.0
        near = np.flatnonzero((gains > 0) & (gains >= (1.0 - 10.0**-DIGITS) * least))
        rounded = np.round(gains[near] / gains.max(), DIGITS)
        return near[np.lexsort((self._rules.lengths[near], -rounded))][:few]

    def _tried(self, seen: EvaluatedClauses) -> Shortened:
        def gains(covered: Bools, kept: Bools) -> Floats:
            return seen.gains(covered, np.sign((kept * seen.signs).sum(axis=1)))

        if not self._tries:
            kept = np.ones(len(seen.feature), dtype=bool)
            whole: Bools = np.asarray(seen.passed.all(axis=0))
            return Shortened(kept, whole, float(gains(whole[None], kept[None])[0]))
        needed = np.isin(seen.feature, self.unmet) if self._unmet.any() else None
        return shortened(seen.passed, gains, needed)

    def _take(self, j: int, found: Shortened) -> Taken:
        self._free[j] = False
        self._taken.append((j, found.kept))
        rule = self._rules.take(np.array([j])).keep_clauses(found.kept)
        self._unmet &= ~_users(rule, self._constraints.required)[0]
        return Taken(j, found, int(self._constraints.signs(rule)[0]))

    def taken(self) -> RuleSet:
        """The rules that were taken, in their order."""
        rules = self._rules.take(np.array([j for j, _ in self._taken], dtype=np.intp))
        kept = [mine for _, mine in self._taken]
        return rules if all(mine.all() for mine in kept) else rules.keep_clauses(np.concatenate(kept))


class _ClausesHere:
    """Evaluates the clauses of candidates on samples in this process; many of those that lead have led before."""

    def __init__(self, candidates: Candidates, X: Any, constraints: Constraints, fit: Fit, tries: int) -> None:
        self._candidates, self._X, self._constraints, self._fit = candidates, X, constraints, fit
        self._tries = tries
        self._seen: dict[int, EvaluatedClauses] = {}

    def __call__(self, leading: Ints, rules: RuleSet) -> dict[int, EvaluatedClauses]:
        new = np.array([j for j in leading.tolist() if j not in self._seen], dtype=np.intp)
        known = self._seen | dict(zip(new.tolist(), self._evaluated(new, rules), strict=True))
        self._seen = {j: known[j] for j in leading.tolist()}
        return self._seen

    def _evaluated(self, new: Ints, rules: RuleSet) -> Iterator[EvaluatedClauses]:
        """The clauses of candidates that have not led before, all at once."""
        some = RuleSet(rules.clauses.take(new), rules.columns)
        signs, offset = self._constraints.clause_signs(some), some.clauses.offset.tolist()
        passed = satisfied(some, self._X) if self._tries and new.size else None
        for j, start, end in zip(new.tolist(), offset, offset[1:], strict=False):
            mine = self._candidates.covered(j)[None] if passed is None else passed[start:end]
            yield EvaluatedClauses(some.clauses.feature[start:end], signs[start:end], mine, self._fit.gains_of)


def _users(rules: RuleSet, features: Ints) -> Bools:
    """Which rule uses which of some features, rules x features."""
    uses = np.zeros((len(rules), len(features)), dtype=bool)
    clause, which = np.nonzero(rules.clauses.feature[:, None] == features[None, :])
    uses[rules.clauses.owner[clause], which] = True
    return uses


def forward_path(
    candidates: Candidates,
    target: Floats,
    X: Any,
    *,
    max_rules: int,
    terms: Terms | None = None,
    constraints: Constraints | None = None,
    given: RuleSet | None = None,
    start: StartFit = ForwardFit,
    deadline: float | None = None,
    verbose: int = 0,
) -> ForwardPath:
    """The rule sets of every size up to `max_rules`, each the beginning of the next.

    Parameters
    ----------
    candidates
        The rules to choose from; of those with equal gains the one with fewest clauses is taken, the first of those.
    target
        What is to be explained, samples x targets.
    X
        The samples, by which rules are shortened, and on which the given ones are evaluated.
    max_rules
        The size of the largest set; the path ends before if nothing is left to explain.
    terms, constraints
        The constants, and what the rules must keep to; the candidates keep to it already.
    given
        Rules that enter first, whatever they gain.
    start
        From candidates, target and constants to a fit without rules: by least squares, or by another loss.
    deadline
        When the path ends wherever it is, by `time.perf_counter`; it has one rule, and the required features, all the
        same.
    verbose
        Above 0 shows a bar that moves with each rule.
    """
    terms = terms or Terms()
    constraints = constraints or Constraints.of(candidates.source.columns.names)
    fit = start(candidates, target, terms)
    look_at = _ClausesHere(candidates, X, constraints, fit, terms.tries)
    contest = Contest(candidates.rules(), look_at, constraints, terms.tries)
    if given is not None:
        contest.note(given)
        for mask, sign in zip(given.apply(X).toarray().T, constraints.signs(given).tolist(), strict=True):
            fit.enter(mask, sign)
    least = follow(
        contest,
        fit,
        lambda taken: fit.enter(taken.found.covered, taken.sign),
        max_rules=max_rules,
        deadline=deadline,
        verbose=verbose,
    )
    constraints.check_met(contest.unmet, max_rules)
    covered = np.array(fit.covered, dtype=bool).reshape(len(fit), len(target)).T
    signs = np.array(fit.signs, dtype=np.intp)
    return ForwardPath(contest.taken(), covered, signs, stacked(fit.votes), np.array(fit.loss), least)


def follow(
    contest: Contest,
    fit: CandidateGains,
    enter: Callable[[Taken], None],
    *,
    max_rules: int,
    deadline: float | None = None,
    verbose: int = 0,
) -> int:
    """Takes one rule after another and has it enter; returns the smallest size with all required features in it."""
    least = len(fit)
    for _ in tracked(range(least, max_rules), "Choosing rules", total=max_rules - least, verbose=verbose):
        wanting = contest.unmet.size > 0
        if deadline is not None and len(fit) and not wanting and time.perf_counter() >= deadline:
            break
        found = contest.next_rule(fit)
        if found is None:
            break
        enter(found)
        least = len(fit) if wanting else least
    return least


def stacked(votes: Sequence[Floats]) -> Floats:
    """The votes of every size, (1 + rules) x columns each, in one array, with zeros for rules that are not yet in."""
    out = np.zeros((len(votes), len(votes[-1]), votes[-1].shape[1]))
    for size, mine in enumerate(votes):
        out[size, : len(mine)] = mine
    return out
