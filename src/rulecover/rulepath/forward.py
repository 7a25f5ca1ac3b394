"""Forward choice: one rule after another by what it explains of the residual, all votes refitted after each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from rulecover.progress import tracked
from rulecover.rulepath.candidates import Candidates
from rulecover.rulepath.constraints import Constraints
from rulecover.rulepath.shorten import Shortened, satisfied, shortened
from rulecover.rulepath.squares import ForwardFit, Terms
from rulecover.rules.ruleset import RuleSet
from rulecover.typing import Bools, Floats, Ints

#: Gains are compared to this many digits of the largest: rounding in the last ones decides nothing.
DIGITS = 9


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


#: From candidates, response and constants to a fit without rules.
StartFit = Callable[[Candidates, Floats, Terms], Fit]


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
        self._uses = _users(self._rules, constraints)
        self._free = np.ones(len(rules), dtype=bool)
        self._unmet = np.ones(len(constraints.required), dtype=bool)
        self._taken: list[tuple[int, Bools]] = []

    def note(self, given: RuleSet) -> None:
        """Rules that came from elsewhere may use what is required."""
        self._unmet &= ~_users(given, self._constraints).any(axis=0)

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
        highest = gains.max()
        near = np.flatnonzero(gains >= 0.5 * highest)
        near = near if len(near) > few else np.flatnonzero(gains > 0)
        if len(near) > few:
            least = -np.partition(-gains[near], few)[few]
            near = near[gains[near] >= (1.0 - 10.0**-DIGITS) * least]
        rounded = np.round(gains[near] / highest, DIGITS)
        return near[np.lexsort((self._rules.lengths[near], -rounded))][:few]

    def _tried(self, seen: EvaluatedClauses) -> Shortened:
        def gains(covered: Bools, kept: Bools) -> Floats:
            return seen.gains(covered, np.sign(kept @ seen.signs))

        if not self._tries:
            kept = np.ones(len(seen.feature), dtype=bool)
            whole: Bools = np.asarray(seen.passed.all(axis=0))
            return Shortened(kept, whole, float(gains(whole[None], kept[None])[0]))
        wanted = self._constraints.which_required(seen.feature)[:, self._unmet]
        needed: Bools | None = np.asarray(wanted.any(axis=1)) if self._unmet.any() else None
        return shortened(seen.passed, gains, needed)

    def _take(self, j: int, found: Shortened) -> Taken:
        self._free[j] = False
        self._taken.append((j, found.kept))
        rule = self._rules.take(np.array([j])).keep_clauses(found.kept)
        self._unmet &= ~_users(rule, self._constraints)[0]
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


def _users(rules: RuleSet, constraints: Constraints) -> Bools:
    """Which rule uses which of the required features, rules x features."""
    uses = np.zeros((len(rules), len(constraints.required)), dtype=bool)
    clause, which = np.nonzero(constraints.which_required(rules.clauses.feature))
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
