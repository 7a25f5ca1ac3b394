"""A run of Algorithm 2: how it begins, how long it goes on, and what it has found in the end."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulecover.clock import is_late
from rulecover.pool import RulePool
from rulecover.progress import tracked
from rulecover.rcboost.generate import Round, RuleGeneration
from rulecover.rcboost.pricing.grown import GrownNumberTree, GrownTree
from rulecover.rcboost.pricing.proposal import farley_bound
from rulecover.rules.ruleset import RuleSet
from rulecover.setcover import Certificate, Status
from rulecover.setcover.master import Master
from rulecover.targets.samples import Samples
from rulecover.targets.target import Target
from rulecover.typing import Floats, Ints
from rulecover.voting.vote import Tally, Vote

if TYPE_CHECKING:
    import pandas as pd

#: A tree that a pricing has grown, as a model of its own, by what it predicts.
_GROWN: dict[str, Callable[[RulePool], Any]] = {"classes": GrownTree.of, "numbers": GrownNumberTree.of}


#: Seconds that the LP over the first tree may take if time is up: enough for a million rows.
_FIRST_SOLVE = 1.0
#: By what part duals may fall short of the cost: LPs are solved to a millionth.
_LOST = 1e-5


class ChangingVote:
    """The votes of a pool that changes: each rule is evaluated once when it enters, and once when it leaves.

    Parameters
    ----------
    vote
        From the places of rules to their vote; votes of different rules add up exactly.
    X
        The rows.
    """

    def __init__(self, vote: Callable[[Ints], Vote], X: Any) -> None:
        self._vote, self._X = vote, X
        self._pool: Ints = np.zeros(0, dtype=np.intp)
        self._tally = Tally(np.zeros((X.shape[0], 1)), np.zeros(X.shape[0], dtype=np.intp))

    def to(self, pool: Ints) -> Tally:
        """The votes of these rules for each row."""
        for rules, sign in ((np.setdiff1d(pool, self._pool), 1), (np.setdiff1d(self._pool, pool), -1)):
            if len(rules):
                sums, fired = self._vote(rules).added(self._X)
                self._tally = Tally(self._tally.sums + sign * sums, self._tally.fired + sign * fired)
        self._pool = pool
        return self._tally._replace(sums=self._tally.sums.copy())


class Watch:
    """The scores of a pool on rows that are held out, from the first pool on."""

    def __init__(self, samples: Samples, target: Target, vote: Callable[[Ints], Vote]) -> None:
        self.samples, self._target, self._vote = samples, target, vote
        self._changing = ChangingVote(vote, samples.X)
        self._scores: list[float] = []

    def see(self, pool: Ints) -> None:
        """Scores the pool after one more call."""
        tally = self._changing.to(pool)
        predicted, samples = self._vote(pool[:1]).decided(tally), self.samples
        self._scores.append(self._target.score(samples.labels, predicted, samples.weight))

    @property
    def best(self) -> int:
        """The calls after which the score was best, the fewest of those."""
        return int(np.argmax(self._scores))

    def stands_still(self, patience: int | None) -> bool:
        """Whether this many calls in a row were not better than the best before them."""
        return patience is not None and len(self._scores) - 1 - self.best >= patience


class BoostRun:
    """Algorithm 2 between two calls, to go on with: the loop, its rounds, and the watch on them, if any."""

    def __init__(self, generation: RuleGeneration, watch: Watch | None = None) -> None:
        self.generation, self.watch = generation, watch
        self.rounds: list[Round] = []
        self._first = generation.pool
        if watch is not None:
            watch.see(self._first)

    def record(self, done: Round) -> None:
        """A round is over."""
        self.rounds.append(done)
        if self.watch is not None:
            self.watch.see(done.pool)

    def is_over(self, patience: int | None) -> bool:
        """Whether the last call added no rule, or the watched rows have seen no progress for this many calls."""
        ended = bool(self.rounds) and not self.rounds[-1].added
        return ended or (self.watch is not None and self.watch.stands_still(patience))

    @property
    def pools(self) -> list[Ints]:
        """The rules in the pool at first and after each call, up to the best call if calls are watched."""
        # A last call that added nothing is a call all the same: its duals were used.
        pools = [self._first, *(done.pool for done in self.rounds)]
        return pools if self.watch is None else pools[: 1 + self.watch.best]


class Boosted(NamedTuple):
    """What a run has found: all rules, the pool and the shares z of all rules at first and after each call."""

    rules: RuleSet
    stages: list[tuple[Ints, Floats]]
    certificate: Certificate
    history: pd.DataFrame


def grown_tree(pool: RulePool, target: Target) -> Any:
    """The tree whose leaves are this pool, as a model of its own."""
    return _GROWN[target.name](pool)


def boost(
    run: BoostRun,
    max_calls: int,
    *,
    deadline: float | None = None,
    expected: float = 0.0,
    patience: int | None = None,
    keep: Callable[[BoostRun], None] | None = None,
    verbose: int = 0,
) -> bool:
    """Goes on until there were `max_calls` calls, no rule is added, time is up, or the watched rows see no progress.

    `keep` is called after each call, and none is begun that takes longer than there is time for, judged by the one
    before; the next one is `expected` to take this many seconds. Returns whether the run is over, or else out of time.
    """
    run.generation.deadline = deadline
    left = 0 if run.is_over(patience) else max(0, max_calls - len(run.rounds))
    if is_late(deadline, expected):
        return not left
    calls = zip(range(left), run.generation, strict=False)
    with suppress(TimeoutError):  # the rules of the last full call are kept
        for _, done in tracked(calls, "Generating rules", total=left, verbose=verbose):
            run.record(done)
            if keep is not None:
                keep(run)
            if run.is_over(patience):
                return True
            # The next call and the last solve will hardly take less than this one did.
            if is_late(deadline, done.seconds + done.seconds_lp):
                return len(run.rounds) >= max_calls
        return True
    return False


def boosted(run: BoostRun, *, over: bool = True) -> Boosted:
    """What the run has found, once the LP over its last pool is solved; of one that is not over nothing is optimal."""
    pools = run.pools
    z, objective, bound, status = _last_solve(run, pools)
    shares = [done.z for done in run.rounds[: len(pools) - 1]] + [z]
    history = _history(run.rounds)
    status = status if over else Status.TIME_LIMIT
    seconds = history["seconds_lp"].sum()
    return Boosted(
        run.generation.shown(run.generation.generated.written(np.arange(len(z)))),
        list(zip(pools, shares, strict=True)),
        Certificate(objective, bound, "LP", status, len(pools[-1]), seconds),
        history,
    )


def _last_solve(run: BoostRun, pools: list[Ints]) -> tuple[Floats, float, float, Status]:
    """The optimum over the last of these pools: the shares of the rules generated until then, objective and bound.

    If time is up, the last shares there are: of the rules before the last call. All rules of the first tree, if there
    was no call.
    """
    generation, pool = run.generation, pools[-1]
    if not run.rounds and generation.deadline is not None:
        generation.deadline = max(generation.deadline, time.perf_counter() + _FIRST_SOLVE)
    z = np.zeros(1 + max(int(rules.max()) for rules in pools))
    try:
        if pool is generation.pool:
            relaxation = generation.optimum()
        else:
            kept = generation.generated.take(pool)
            relaxation = Master(kept.coverage, kept.evidence.cost).solve(deadline=generation.deadline)
    except TimeoutError:
        if not run.rounds:
            cost, z[pool] = generation.generated.evidence.cost[pool], 1.0
            # Every row needs a rule, and shares of rules that add up to one cost at least as much as the cheapest.
            return z, float(cost.sum()), float(cost.min()), Status.TIME_LIMIT
        before = run.rounds[max(0, len(pools) - 2)]
        z[: len(before.z)] = before.z
        objective = float(generation.generated.evidence.cost[: len(z)] @ z)
        return z, objective, farley_bound(before.objective, before.most_negative), Status.TIME_LIMIT
    z[pool] = relaxation.z
    cost = generation.generated.evidence.cost[pool]
    objective = float(cost @ relaxation.z)
    if relaxation.objective >= (1.0 - _LOST) * objective:
        return z, relaxation.objective, relaxation.objective, Status.OPTIMAL
    # Where costs are very far apart, the LP loses the duals in rounding; what they prove holds all the same.
    return z, objective, max(relaxation.objective, float(cost.min())), Status.FEASIBLE


def _history(rounds: list[Round]) -> pd.DataFrame:
    import pandas as pd

    columns = [field.name for field in fields(Round) if field.name not in ("z", "pool")]
    lines = [{column: getattr(done, column) for column in columns} for done in rounds]
    return pd.DataFrame(lines, columns=columns, index=pd.RangeIndex(1, len(lines) + 1, name="call"))
