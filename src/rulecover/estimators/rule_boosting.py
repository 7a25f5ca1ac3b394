"""Rule generation in rounds: what RCBoost does, whatever its rules predict."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.validation import has_fit_parameter

from rulecover.estimators.base import RuleModel, VotingModel, fresh
from rulecover.estimators.centred import without_centre
from rulecover.estimators.checks import check_model_fits, chosen, real_number, whole_number
from rulecover.estimators.door import rows_of
from rulecover.estimators.prepare import Source
from rulecover.exceptions import SolverError, UnreadableModelError
from rulecover.pool import RulePool
from rulecover.progress import tracked
from rulecover.rcboost.admission import ADMISSIONS
from rulecover.rcboost.generate import Round, RuleGeneration
from rulecover.rcboost.pricing.grown import GrownNumberTree, GrownTree
from rulecover.rcboost.pricing.oracles import PRICINGS, Duals
from rulecover.rcboost.pricing.proposal import Proposed, farley_bound
from rulecover.rcboost.removal import REMOVALS, Removal
from rulecover.readers import read_trees, unreadable
from rulecover.rules.ruleset import RuleSet
from rulecover.setcover import Certificate, Status
from rulecover.setcover.master import Master
from rulecover.targets.impurity import Price
from rulecover.targets.samples import Samples, repeats
from rulecover.typing import Array, Floats, Ints
from rulecover.voting.vote import Tally, Vote
from rulecover.voting.voting_on import voting_on

if TYPE_CHECKING:
    import pandas as pd


#: A tree that a pricing has grown, as a model of its own, by what it predicts.
_GROWN: dict[str, Callable[[RulePool], Any]] = {"classes": GrownTree.of, "numbers": GrownNumberTree.of}
#: A share of a rule in the LP's optimum that counts as more than nothing.
_SHARE = 1e-9
#: With early stopping, the part of the data that is held out.
_HELD_OUT = 0.1


class RuleBoosting(VotingModel):
    """What RCBoost does with rules, whatever they predict: generate them by the duals of a covering LP."""

    max_rmp_calls: int
    criterion: Any
    duals: str
    step: float | str
    pricing: Any
    admit: Any
    remove: Any
    rule_weights: str | None
    vote: str
    early_stopping: bool | int
    warm_start: bool
    time_limit: float | None
    on_interrupt: str
    verbose: int

    pool_: RuleSet

    # Fitting: Algorithm 2 ---------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Generates rules.

        Parameters
        ----------
        X
            Rows x columns: an array, a data frame or a sparse matrix.
        y
            What is to be predicted, one a row: labels of any kind, or numbers.
        sample_weight
            Counts in the trees, impurities, duals and votes: a row of weight 3 is three rows. Rows of weight zero need
            no cover.
        """
        self._check_settings()
        deadline = None if self.time_limit is None else time.perf_counter() + self.time_limit
        again = self.warm_start and hasattr(self, "_run")
        if not again:
            data = self._prepare(X, y, sample_weight).samples
            self._run = self._start(*self._held_out(data))
        run, self._run.generation.deadline = self._run, deadline
        try:
            left = max(0, self.max_rmp_calls - len(run.rounds)) if _in_time(deadline) else 0
            calls = zip(range(left), run.generation, strict=False)
            for _, done in tracked(calls, "Generating rules", total=left, verbose=self.verbose):
                run.record(done)
                # The next call and the last solve will hardly take less than this one did.
                if run.stands_still(self._patience()) or not _in_time(deadline, done.seconds + done.seconds_lp):
                    break
        except TimeoutError:
            pass  # the rules of the last full call are kept
        except KeyboardInterrupt:
            if self.on_interrupt != "keep":
                raise
        except SolverError as error:
            self.pool_ = run.generation.generated.rules
            raise SolverError(
                f"RMP call {len(run.rounds) + 1}: {error} The {len(self.pool_)} rules generated so far are in pool_."
            ) from error
        self._finish(run)
        if not self.warm_start:
            del self._run
        return self

    def _vote_of(self, rules: RuleSet) -> Vote:
        return voting_on(self._target).plain(rules, self.vote)

    def _check_settings(self) -> None:
        whole_number("max_rmp_calls", self.max_rmp_calls, at_least=0)
        if not isinstance(self.early_stopping, bool):
            whole_number("early_stopping", self.early_stopping, at_least=1)
        if self.time_limit is not None:
            real_number("time_limit", self.time_limit, above=True)
        self._step()
        for name, value, known in (
            ("vote", self.vote, voting_on(self._target).kinds),
            ("duals", self.duals, ("equal", "vertex")),
            ("rule_weights", self.rule_weights, (None, "z")),
            ("on_interrupt", self.on_interrupt, ("raise", "keep")),
        ):
            if value not in known:
                raise ValueError(f"{name} is {value!r}; choose one of {', '.join(map(repr, known))}.")
        self._fallback()
        chosen("criterion", self.criterion, dict(self._target.criteria))
        chosen("pricing", self.pricing, PRICINGS)
        chosen("admit", self.admit, ADMISSIONS)
        self._removal()

    def _source(self, y: Any) -> Any:
        source = super()._source(y)
        if isinstance(source, RuleModel):
            raise unreadable(source)
        if not has_fit_parameter(source, "sample_weight"):
            raise UnreadableModelError(
                f"{type(source).__name__} takes no sample weights, by which RCBoost steers its trees; "
                f"give a tree such as {type(self._default_estimator()).__name__}."
            )
        pricing = chosen("pricing", self.pricing, PRICINGS)
        if hasattr(pricing, "check"):
            pricing.check(source)
        return source

    def _read(self, given: Any) -> Source:
        return Source(self.estimator_)  # the trees of all calls are grown on the same numbers

    def _columns_in_use(self) -> Ints:
        return self.pool_.clauses.columns

    def _grows_first(self) -> bool:
        """Whether the pricing grows the first tree as well."""
        return hasattr(chosen("pricing", self.pricing, PRICINGS), "first")

    def _trained(self, estimator: Any, X: Any, y: Array, weight: Floats | None) -> Any:
        if not self._grows_first():
            rows = None if weight is None or weight.min() == 0 else repeats(weight)
            if rows is not None:  # least numbers of samples hold for them, and sums are those of plain rows
                X, y, weight = rows_of(X, rows), y[rows], None
            return super()._trained(estimator, X, y, weight)
        return fresh(estimator)  # not trained: what the pricing is to grow, once the data are in order

    def _step(self) -> float | None:
        if isinstance(self.step, str):
            if self.step != "even":
                raise ValueError(f"step is {self.step!r}; give 'even' or a number.")
            return None
        return real_number("step", self.step, above=True)

    def _removal(self) -> Removal | None:
        if self.remove is None:
            return None
        removal: Removal = chosen("remove", self.remove, REMOVALS, needs=("calls",))
        return removal

    def _patience(self) -> int | None:
        if self.early_stopping is False:
            return None
        return 10 if self.early_stopping is True else int(self.early_stopping)

    def _held_out(self, data: Samples) -> tuple[Samples, Samples | None]:
        """The data to learn from, and a part to watch, if learning is to stop early."""
        if self.early_stopping is False:
            return data, None
        rows = np.arange(len(data.y))
        learn, watch = train_test_split(
            rows, test_size=_HELD_OUT, stratify=_large_strata(data.strata), random_state=self.random_state
        )
        return data.among(np.sort(learn)), data.among(np.sort(watch))

    def _start(self, data: Samples, watched: Samples | None) -> _Run:
        """The first tree, its pool, and the loop that is ready to go."""
        if watched is not None:  # the first tree must not have seen what is watched
            self.estimator_ = self._train(self._source(data.labels), data.X, data.labels, data.weight)
        pricing, grows_first = chosen("pricing", self.pricing, PRICINGS), self._grows_first()
        if getattr(pricing, "repeats_rows", True):
            data = data.repeated()
        seeds = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        tree = without_centre(self.estimator_)
        first = pricing.first(data, tree, int(seeds.integers(2**31 - 1))) if grows_first else read_trees(tree)
        names = check_model_fits(first, data.X, self._names())

        def propose(duals: Duals) -> Proposed:
            proposed: Proposed = pricing(data, duals, tree, int(seeds.integers(2**31 - 1)))
            return proposed

        generation = RuleGeneration(
            data,
            first,
            propose,
            price=Price(chosen("criterion", self.criterion, dict(self._target.criteria))),
            names=names,
            admit=chosen("admit", self.admit, ADMISSIONS),
            remove=self._removal(),
            duals=self.duals,  # type: ignore[arg-type]
            step=self._step(),
        )
        if grows_first:
            self.estimator_ = _GROWN[self._target.name](generation.generated)
        self.initial_estimator_ = self.estimator_
        return _Run(data, generation, watched, self._vote_of)

    def _finish(self, run: _Run) -> None:
        pools = run.pools()
        z, objective, bound = run.last_solve(pools)
        shares_of = [done.z for done in run.rounds[: len(pools) - 1]] + [z]
        self.pool_ = run.generation.generated.written(np.arange(len(z))).shown_for(run.data.X)
        self._stages = list(zip(pools, shares_of, strict=True))
        self.z_: Floats = z
        self.rules_, self.vote_ = self._voters(pools[-1], z)
        self.n_rmp_calls_ = len(pools) - 1
        self.history_: pd.DataFrame = run.history()
        seconds = self.history_["seconds_lp"].sum()
        status = Status.OPTIMAL if bound == objective else Status.TIME_LIMIT
        self.certificate_ = Certificate(objective, bound, "LP", status, len(pools[-1]), seconds)

    def _voters(self, pool: Ints, z: Floats) -> tuple[RuleSet, Vote]:
        """The rules of a stage that vote, and how."""
        if self.rule_weights is None:
            vote = self._vote_of(self.pool_).take(pool)
            return vote.rules, vote
        kept = np.flatnonzero(z > _SHARE)
        rules = self.pool_.take(kept)
        return rules, self._vote_of(rules).times(z[kept])

    # Stages -----------------------------------------------------------------------------------------------------

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """The answers after each call, from the first tree (stage 0) to the whole pool."""
        for tally in self._staged_tallies(X):
            yield self.vote_.decided(tally)

    def _staged_tallies(self, X: Any) -> Iterator[Tally]:
        X = self._check_rows(X)
        # The votes of all rules, so that those of any part of them add up exactly.
        changing = _ChangingVote(self._vote_of(self.pool_).take, X)
        for pool, z in self._stages:
            vote = self._voting(self._voters(pool, z)[1])
            if self.rule_weights is None:
                yield vote.completed(changing.to(pool), X)
            else:  # every stage has its own weights
                yield vote.tally(X)


class _ChangingVote:
    """The votes of a pool that changes: each rule is met with the rows once when it enters, once when it leaves."""

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


class _Run:
    """A fit between two calls: what it learns from, the loop, its rounds, and what it watches."""

    def __init__(
        self,
        data: Samples,
        generation: RuleGeneration,
        watched: Samples | None,
        vote_of: Callable[[RuleSet], Vote],
    ) -> None:
        self.data, self.generation, self._watched, self._vote_of = data, generation, watched, vote_of
        self.rounds: list[Round] = []
        self._pools = [generation.pool]
        self._scores: list[float] = []
        if watched is not None:
            self._watched_vote = _ChangingVote(self._votes, watched.X)
            self._score()

    def _votes(self, rules: Ints) -> Vote:
        return self._vote_of(self.generation.generated.written(rules))

    def record(self, done: Round) -> None:
        self.rounds.append(done)
        self._pools.append(done.pool)
        if self._watched is not None:
            self._score()

    def _score(self) -> None:
        assert self._watched is not None
        tally = self._watched_vote.to(self._pools[-1])
        self._scores.append(self._watched.score(self._votes(self._pools[-1][:1]).decided(tally)))

    def stands_still(self, patience: int | None) -> bool:
        """Whether so many calls in a row were no better than the best before them."""
        return patience is not None and len(self._scores) - 1 - int(np.argmax(self._scores)) >= patience

    def pools(self) -> list[Ints]:
        """The rules in the pool after each call, up to the best call if calls were watched."""
        # A last call that added nothing is a call all the same: its duals were used.
        return self._pools if self._watched is None else self._pools[: 1 + int(np.argmax(self._scores))]

    def last_solve(self, pools: list[Ints]) -> tuple[Floats, float, float]:
        """The optimum over the last of these pools: the shares of the rules generated until then, objective and bound.

        If time is up, the last shares there are: of the rules before the last call.
        """
        generation, pool = self.generation, pools[-1]
        if not self.rounds:
            generation.deadline = None  # there must be some
        z = np.zeros(1 + max(int(rules.max()) for rules in pools))
        try:
            if pool is generation.pool:
                relaxation = generation.solve()
            else:
                kept = generation.generated.take(pool)
                relaxation = Master(kept.coverage, kept.evidence.cost).solve(deadline=generation.deadline)
        except TimeoutError:
            before = self.rounds[max(0, len(pools) - 2)]
            z[: len(before.z)] = before.z
            return z, before.objective, farley_bound(before.objective, before.most_negative)
        z[pool] = relaxation.z
        return z, relaxation.objective, relaxation.objective

    def history(self) -> pd.DataFrame:
        import pandas as pd

        columns = [field.name for field in fields(Round) if field.name not in ("z", "pool")]
        lines = [{column: getattr(done, column) for column in columns} for done in self.rounds]
        return pd.DataFrame(lines, columns=columns, index=pd.RangeIndex(1, len(lines) + 1, name="call"))


def _in_time(deadline: float | None, seconds: float = 0.0) -> bool:
    """Whether something that takes so long ends before the deadline."""
    return deadline is None or time.perf_counter() + seconds < deadline


def _large_strata(strata: Ints | None) -> Ints | None:
    """Strata to be kept in equal shares, if all are large enough to be in both parts."""
    if strata is None:
        return None
    counts = np.unique(strata, return_counts=True)[1]
    return None if counts.min() < 2 or len(strata) * _HELD_OUT < len(counts) else strata
