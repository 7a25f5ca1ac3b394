"""RCBoost, rule cover boosting: Algorithm 2 of the paper as a scikit-learn classifier."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import has_fit_parameter

from rulecover.boosting.admission import ADMISSIONS
from rulecover.boosting.binned import GrownTree
from rulecover.boosting.generate import Round, RuleGeneration
from rulecover.boosting.pricing import PRICINGS, Duals
from rulecover.boosting.proposal import Proposed
from rulecover.estimators.base import RuleClassifier, shares
from rulecover.estimators.checks import check_model_fits, chosen, real_number, whole_number
from rulecover.exceptions import SolverError, UnreadableModelError
from rulecover.impurity import CRITERIA
from rulecover.pool import Price, TrainingData
from rulecover.progress import tracked
from rulecover.readers import read_trees
from rulecover.rules import RuleSet
from rulecover.setcover import Certificate, Status
from rulecover.setcover.master import Master, Relaxation
from rulecover.typing import Array, Floats, Ints
from rulecover.voting import VOTES, MajorityVote

if TYPE_CHECKING:
    import pandas as pd

#: A share of a rule in the LP's optimum that counts as more than nothing.
_SHARE = 1e-9
#: With early stopping, the part of the data that is held out.
_HELD_OUT = 0.1


class RCBoostClassifier(RuleClassifier):
    """Boosting by column generation: the duals of a covering LP weigh the samples of the next tree.

    The leaves of a first tree are the rule pool. Again and again the covering LP over the pool is solved, its duals
    are added to the weights of the samples, a tree is grown on the weighted samples, and those of its leaves whose
    reduced cost is negative enter the pool (Algorithm 2 of Birbil, Edali and Yüceoğlu, 2020). All rules of the pool
    vote.

    Parameters
    ----------
    estimator
        The tree of Algorithm 2, the first one and the one that prices. By default a decision tree of depth 5.
    max_rmp_calls
        A bound on the number of solves of the restricted master problem (RMP).
    criterion
        The impurity w in the cost ``1 + w`` of a rule: "gini", "entropy" or "log_loss".
    duals
        The LP has many optimal duals. "equal" shares the price of samples that are covered by the same rules equally
        among them; "vertex" leaves it with one of them, as a simplex code does (the paper's reading).
    pricing
        Where new rules come from: "tree" (paper), "forest" (ten randomised trees a call), "binned" (a tree on binned
        features, by XGBoost: for many rows), "bicriteria" (a tree whose splits weigh impurity and reduced cost),
        "exact" (the rules of most negative reduced cost, for small problems: with it a bound over all rules), or an
        object of `rulecover.boosting`.
    admit
        Which rules of negative reduced cost enter the pool: "all" (paper), "best" (the most negative one), or an
        object such as ``Negative(at_most=5)`` of `rulecover.boosting.admission`.
    rule_weights
        ``None``: every rule of the pool votes as it is (paper). "z": only rules with a share in the LP's optimum
        vote, times that share; such a pool may miss rows, which go to `fallback`.
    vote, fallback, class_weight
        As in `MIRCOClassifier`.
    early_stopping
        ``False``, or the number of calls without a better accuracy on a held-out tenth of the data after which to
        stop; ``True`` is 10. The rules of the best call are kept.
    warm_start
        ``fit`` again with a higher `max_rmp_calls`, on the same data, goes on where it was.
    time_limit
        Seconds after which no new call is made.
    on_interrupt
        Ctrl-C during the calls: "raise", or "keep" the rules of the last full one.
    random_state
        Seed of the tree, the pricing and the held-out part.
    n_jobs
        Threads of the default pricing forest. The rules do not depend on it.
    verbose
        Above 0 shows progress on standard error.

    Attributes
    ----------
    rules_ : RuleSet
        The rules that vote.
    n_rmp_calls_ : int
        The number of solves whose duals steered a tree; one more gives the certificate.
    initial_estimator_ : object
        The first tree (the paper's iniDT).
    certificate_ : Certificate
        The optimum of the LP over the whole pool.
    pool_ : RuleSet
        All rules that were generated, whether they vote or not.
    z_ : ndarray
        The share of each rule of the pool in that optimum.
    history_ : DataFrame
        A line for each call: rules in the pool, rules added, objective, a bound on the LP over all rules that the
        pricing can find (NaN if it proves none), most negative reduced cost, samples in the LP, seconds in LP,
        pricing and the rest.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> boosted = RCBoostClassifier(max_rmp_calls=5, random_state=0).fit(X, y)
    >>> boosted.score(X, y) > 0.95
    True
    >>> [round(float((stage == y).mean()), 2) for stage in boosted.staged_predict(X)][0]
    1.0
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        max_rmp_calls: int = 50,
        criterion: Any = "gini",
        duals: str = "equal",
        pricing: Any = "tree",
        admit: Any = "all",
        rule_weights: str | None = None,
        vote: str = "counts",
        fallback: Any = "closest",
        class_weight: Any = None,
        early_stopping: bool | int = False,
        warm_start: bool = False,
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.max_rmp_calls = max_rmp_calls
        self.criterion = criterion
        self.duals = duals
        self.pricing = pricing
        self.admit = admit
        self.rule_weights = rule_weights
        self.vote = vote
        self.fallback = fallback
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.warm_start = warm_start
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def as_in_paper(cls, estimator: Any = None, **settings: Any) -> RCBoostClassifier:
        """The paper's settings: one tree a call, duals as a simplex code returns them, all rules vote by counts.

        >>> RCBoostClassifier.as_in_paper(max_rmp_calls=10)
        RCBoostClassifier(duals='vertex', max_rmp_calls=10)
        """
        paper = {"duals": "vertex", "pricing": "tree", "admit": "all", "rule_weights": None, "vote": "counts"}
        return cls(estimator, **{**paper, **settings})

    def _default_estimator(self) -> Any:
        # A leaf must carry some weight: rows that hardly count make no rule of their own.
        return DecisionTreeClassifier(max_depth=5, min_weight_fraction_leaf=1e-6)

    pool_: RuleSet

    # Fitting: Algorithm 2 ---------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RCBoostClassifier:
        """Generates rules.

        Parameters
        ----------
        X
            Rows x columns: an array, a data frame or a sparse matrix.
        y
            A label for each row, of any kind.
        sample_weight
            Counts in the trees, impurities and votes; rows of weight zero need no cover.
        """
        self._check_settings()
        again = self.warm_start and hasattr(self, "_run")
        if not again:
            data, _ = self._training_data(X, y, sample_weight)
            self._run = self._start(*self._held_out(data))
        run, deadline = self._run, None if self.time_limit is None else time.perf_counter() + self.time_limit
        try:
            left = max(0, self.max_rmp_calls - len(run.rounds))
            calls = zip(range(left), run.generation, strict=False)
            for _, done in tracked(calls, "Generating rules", total=left, verbose=self.verbose):
                run.record(done)
                if run.stands_still(self._patience()) or (deadline is not None and time.perf_counter() > deadline):
                    break
        except KeyboardInterrupt:
            if self.on_interrupt != "keep":
                raise
        except SolverError as error:
            pool = run.generation.pool
            self.pool_ = pool.written(np.arange(len(pool)))
            raise SolverError(
                f"RMP call {len(run.rounds) + 1}: {error} The {len(pool)} rules generated so far are in pool_."
            ) from error
        self._finish(run)
        if not self.warm_start:
            del self._run
        return self

    def _check_settings(self) -> None:
        whole_number("max_rmp_calls", self.max_rmp_calls, at_least=0)
        if not isinstance(self.early_stopping, bool):
            whole_number("early_stopping", self.early_stopping, at_least=1)
        if self.time_limit is not None:
            real_number("time_limit", self.time_limit, above=True)
        for name, value, known in (
            ("vote", self.vote, VOTES),
            ("duals", self.duals, ("equal", "vertex")),
            ("rule_weights", self.rule_weights, (None, "z")),
            ("on_interrupt", self.on_interrupt, ("raise", "keep")),
        ):
            if value not in known:
                raise ValueError(f"{name} is {value!r}; choose one of {', '.join(map(repr, known))}.")
        self._fallback()
        chosen("criterion", self.criterion, CRITERIA)
        chosen("pricing", self.pricing, PRICINGS)
        chosen("admit", self.admit, ADMISSIONS)

    def _source(self) -> Any:
        source = super()._source()
        if not has_fit_parameter(source, "sample_weight"):
            raise UnreadableModelError(
                f"{type(source).__name__} takes no sample weights, by which RCBoost steers its trees; "
                "give a tree such as DecisionTreeClassifier."
            )
        return source

    def _made_of(self) -> tuple[None, None]:
        return None, None  # the trees of all calls are grown on the same numbers

    def _columns_in_use(self) -> Ints:
        return self.pool_.matcher.columns

    def _grows_first(self) -> bool:
        """Whether the pricing grows the first tree as well."""
        return hasattr(chosen("pricing", self.pricing, PRICINGS), "first")

    def _trained(self, estimator: Any, X: Any, y: Array, weight: Floats | None) -> Any:
        if not self._grows_first():
            return super()._trained(estimator, X, y, weight)
        settings = clone(estimator)  # not trained: what the pricing is to grow, once the data are in order
        settings.classes_ = np.unique(y)
        return settings

    def _patience(self) -> int | None:
        if self.early_stopping is False:
            return None
        return 10 if self.early_stopping is True else int(self.early_stopping)

    def _held_out(self, data: TrainingData) -> tuple[TrainingData, TrainingData | None]:
        """The data to learn from, and a part to watch, if learning is to stop early."""
        if self.early_stopping is False:
            return data, None
        rows = np.arange(len(data.y))
        counts = np.bincount(data.y, minlength=len(data.classes))
        rare = (counts[counts > 0] < 2).any() or len(rows) * _HELD_OUT < np.count_nonzero(counts)
        learn, watch = train_test_split(
            rows, test_size=_HELD_OUT, stratify=None if rare else data.y, random_state=self.random_state
        )
        return data.among(np.sort(learn)), data.among(np.sort(watch))

    def _start(self, data: TrainingData, watched: TrainingData | None) -> _Run:
        """The first tree, its pool, and the loop that is ready to go."""
        if watched is not None:  # the first tree must not have seen what is watched
            self.estimator_ = self._trained(self._source(), data.X, data.classes[data.y], data.weight)
        pricing, grows_first = chosen("pricing", self.pricing, PRICINGS), self._grows_first()
        seeds = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        tree = self.estimator_
        first = pricing.first(data, tree, int(seeds.integers(2**31 - 1))) if grows_first else read_trees(tree)
        names = check_model_fits(first, data.X, self._names())

        def propose(duals: Duals) -> Proposed:
            proposed: Proposed = pricing(data, duals, tree, int(seeds.integers(2**31 - 1)))
            return proposed

        generation = RuleGeneration(
            data,
            first,
            propose,
            price=Price(chosen("criterion", self.criterion, CRITERIA)),
            names=names,
            admit=chosen("admit", self.admit, ADMISSIONS),
            duals=self.duals,  # type: ignore[arg-type]
        )
        if grows_first:
            self.estimator_ = GrownTree.of(generation.pool)
        self.initial_estimator_ = self.estimator_
        return _Run(data, generation, watched)

    def _finish(self, run: _Run) -> None:
        stages = run.stages()
        pool = run.generation.pool
        relaxation = run.last_solve(stages)
        self.pool_ = pool.written(np.arange(stages[-1])).shown_for(run.data.X)
        self.z_: Floats = relaxation.z
        self._stages = [(size, done.z) for size, done in zip(stages, run.rounds, strict=False)][: len(stages) - 1]
        self._stages.append((stages[-1], relaxation.z))
        self.rules_, self.vote_ = self._voters(stages[-1], relaxation.z)
        self.n_rmp_calls_ = len(stages) - 1
        self.history_: pd.DataFrame = run.history()
        self.certificate_ = Certificate(
            relaxation.objective,
            relaxation.objective,
            "LP",
            Status.OPTIMAL,
            stages[-1],
            self.history_["seconds_lp"].sum(),
        )

    def _voters(self, size: int, z: Floats) -> tuple[RuleSet, MajorityVote]:
        """The rules of a stage that vote, and how."""
        if self.rule_weights is None:
            rules = self.pool_[:size]
            return rules, MajorityVote.of(rules, self.vote)
        kept = np.flatnonzero(z > _SHARE)
        rules = self.pool_.take(kept)
        return rules, MajorityVote.of(rules, self.vote).times(z[kept])

    # Stages -----------------------------------------------------------------------------------------------------

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """The answers after each call, from the first tree (stage 0) to the whole pool."""
        for tally in self._staged_tallies(X):
            yield self._decided(tally)

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """The probabilities after each call, from the first tree (stage 0) to the whole pool."""
        for tally in self._staged_tallies(X):
            yield shares(tally)

    def _staged_tallies(self, X: Any) -> Iterator[Floats]:
        X = self._check_rows(X)
        tally, covered = np.zeros((X.shape[0], len(self.classes_))), np.zeros(X.shape[0], dtype=bool)
        before = 0
        for size, z in self._stages:
            if self.rule_weights is not None:  # every stage has its own weights
                _, vote = self._voters(size, z)
                yield self._with_fallback(vote, X, *vote.tally(X))
                continue
            new, missed = MajorityVote(self.pool_[before:size], self.vote_.votes[before:size]).tally(X)
            tally, covered, before = tally + new, covered | ~missed, size
            so_far = MajorityVote(self.pool_[:size], self.vote_.votes[:size])
            yield self._with_fallback(so_far, X, tally.copy(), ~covered)


class _Run:
    """A fit between two calls: what it learns from, the loop, its rounds, and what it watches."""

    def __init__(self, data: TrainingData, generation: RuleGeneration, watched: TrainingData | None) -> None:
        self.data, self.generation, self._watched = data, generation, watched
        self.rounds: list[Round] = []
        self._sizes = [len(generation.pool)]
        self._scores: list[float] = []
        if watched is not None:
            self._tally = np.zeros((len(watched.y), len(watched.classes)))
            self._score(0)

    def record(self, done: Round) -> None:
        self.rounds.append(done)
        self._sizes.append(done.rules)
        if self._watched is not None:
            self._score(self._sizes[-2])

    def _score(self, first: int) -> None:
        assert self._watched is not None
        new = self.generation.pool.written(np.arange(first, self._sizes[-1]))
        self._tally += MajorityVote.of(new).tally(self._watched.X)[0]
        self._scores.append(float(np.mean(self._tally.argmax(axis=1) == self._watched.y)))

    def stands_still(self, patience: int | None) -> bool:
        """Whether so many calls in a row were no better than the best before them."""
        return patience is not None and len(self._scores) - 1 - int(np.argmax(self._scores)) >= patience

    def stages(self) -> list[int]:
        """The size of the pool after each call, up to the best call if calls were watched."""
        # A last call that added nothing is a call all the same: its duals were used.
        return self._sizes if self._watched is None else self._sizes[: 1 + int(np.argmax(self._scores))]

    def last_solve(self, stages: list[int]) -> Relaxation:
        """The optimum over the pool that is kept."""
        pool, master = self.generation.pool, self.generation.master
        if stages[-1] == len(pool) == len(master.cost):
            return master.solve()
        kept = pool.take(np.arange(stages[-1]))  # stopped early, or interrupted between two steps
        return Master(kept.coverage, kept.evidence.cost).solve()

    def history(self) -> pd.DataFrame:
        import pandas as pd

        lines = [{key: value for key, value in vars(done).items() if key != "z"} for done in self.rounds]
        columns = [field.name for field in fields(Round) if field.name != "z"]
        return pd.DataFrame(lines, columns=columns, index=pd.RangeIndex(1, len(lines) + 1, name="call"))
