"""MIRCO, minimum rule cover: Algorithm 1 of the paper as scikit-learn estimators, for classes and for numbers (S.3)."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from rulecover.checkpoint import Checkpoint, fingerprint
from rulecover.clock import TimeLimits, cut_in_words, deadline_of, training_deadline
from rulecover.estimators.base import VotingModel
from rulecover.estimators.booster import check_trains_again
from rulecover.estimators.checks import (
    check_model_fits,
    check_time_and_checkpoint,
    chosen,
    demands,
    one_of,
    real_number,
    settings_that_matter,
    whole_number,
)
from rulecover.estimators.elsewhere import RowsElsewhere
from rulecover.estimators.in_time import can_fit_votes, fitted_to_groups, made_in_time, votes_deadline
from rulecover.estimators.places import rows_elsewhere
from rulecover.estimators.predicts import PredictsClasses, PredictsMeans
from rulecover.estimators.prepare import Prepared, for_folds, forget_table, fresh
from rulecover.estimators.pruning import pruning_pays
from rulecover.exceptions import CutShortWarning
from rulecover.mirco.cover import Recipe, RuleCover, minimum_rule_cover
from rulecover.mirco.forward import Forward
from rulecover.mirco.prune import pruned_pool
from rulecover.mirco.timed import TimedSolver
from rulecover.partitions.mirco import (
    Grouped,
    PartsRecipe,
    leaf_pool_of_parts,
    minimum_rule_cover_of_parts,
)
from rulecover.partitions.parts import Parts, read_in_time
from rulecover.pool import RulePool, leaf_pool, pool_in_time
from rulecover.rules.ruleset import RuleSet
from rulecover.setcover import Certificate, CoveringProblem, Exact, Greedy, Search, Status
from rulecover.setcover.solver import AnySolver, SolverOnSamples
from rulecover.targets.impurity import Price
from rulecover.targets.numbers.samples import NumberSamples
from rulecover.targets.samples import Samples
from rulecover.trees.cutting import without_small_branches
from rulecover.trees.tree import Leaves, TreeEnsemble
from rulecover.typing import Ints
from rulecover.voting.numbers import fitted_values
from rulecover.voting.vote import Vote
from rulecover.voting.voting_on import voting_on

#: Where the weights that a booster gives to its trees and leaves come in.
WEIGHTS = (None, "cost", "vote", "both")

#: Seconds that the bound of a greedy choice may take.
_BOUND = 1.0

#: The solvers that have a name, made from the estimator's time limit and seed.
SOLVERS: dict[str, Callable[[float | None, int], AnySolver]] = {
    "greedy": lambda time_limit, seed: Greedy(bound="lp", bound_time_limit=_BOUND),
    "search": lambda time_limit, seed: Search(time_limit=time_limit, random_state=seed),
    "exact": lambda time_limit, seed: Exact(time_limit=time_limit or Exact.time_limit, random_state=seed),
}


class CoverKind(NamedTuple):
    """What a cover does in its own way where classes are predicted, or numbers.

    Parameters
    ----------
    solvers
        The solvers that have a name.
    shorten
        What drops the clauses that rules do not need, if anything does.
    cut
        What cuts small branches off the trees, if anything does.
    """

    solvers: Mapping[str, Callable[[float | None, int], AnySolver]]
    shorten: Callable[..., tuple[RulePool, str]] | None = None
    cut: Callable[..., TreeEnsemble] | None = None


@dataclass(eq=False, repr=False, kw_only=True)
class MinimumRuleCover(VotingModel):
    """What MIRCO does with rules, whatever they predict: price them, and choose a cheapest cover."""

    estimator: Any = field(default=None, kw_only=False)
    criterion: Any
    solver: Any
    demand: Any = 1
    max_rules: int | None
    impurity_weight: float
    length_weight: float = 0.0
    estimator_weights: str | None = "both"
    vote: str
    fallback: Any
    time_limit: float | None = None
    checkpoint: Any = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    # Settings for one kind of target, which are fixed for the other.
    prune: bool | str | None = field(init=False, default=False)
    min_samples: float | str = field(init=False, default=1)
    ridge: float | None = field(init=False, default=None)

    _kind: ClassVar[CoverKind]

    # Fitting: Algorithm 1 ---------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Trains the estimator unless it is frozen, and chooses its rules.

        Parameters
        ----------
        X
            Rows x columns: an array, a data frame or a sparse matrix. Or a table of `rulecover.open_table`, larger than
            memory, which has y and the weights in it. Or a Dask array or frame, whose rows stay on the workers of the
            cluster that the active client of `distributed` is connected to. Or, for a model that is frozen, an array of
            CuPy on a GPU.
        y
            What is to be predicted, one value per row: labels of any kind, or numbers. The name of a column of X, if X
            is a Dask frame.
        sample_weight
            Counts in training, impurities, votes and greedy gains; rows of weight zero need no cover.

        Returns
        -------
        MinimumRuleCover
            Itself.

        Raises
        ------
        ValueError
            If a setting is out of its range, or X, y or the weights do not fit together.
        UnreadableModelError
            If the estimator is of a type that no reader knows.
        """
        forget_table(self)
        begin = time.perf_counter()
        rows = rows_elsewhere(X, y, sample_weight)
        solver = self._check_settings()
        if rows is not None:
            self._warn_of_cuts(*self._fit_elsewhere(rows, solver, begin))
            return self
        # A checkpoint is of a pool, which must not depend on the clock.
        clocked = self.checkpoint is None
        until = training_deadline(begin, self.time_limit) if clocked else None
        prepared = self._prepare(X, y, sample_weight, deadline=until)
        limits = TimeLimits.of(self.time_limit, begin=begin, shared=True)
        demand = self._demands(prepared, y)
        passes = 2 if isinstance(solver, SolverOnSamples) else 1  # a cover, and for numbers a list to choose from
        pool, unread = self._candidates(prepared, demand, limits.reading(passes=passes) if clocked else None)
        with nullcontext() if self.checkpoint is None else self._checkpoint(pool, prepared, demand, solver) as file:
            solver = solver if file is None else solver.kept_in(file)
            recipe = replace(self._recipe(solver, X, y, sample_weight, limits), demand=demand)
            found = minimum_rule_cover(pool, prepared.samples, recipe)
        in_time = not (prepared.cut or unread or found.cut or (file is not None and file.unfinished))
        self.certificate_: Certificate = self._certified(found, in_time=in_time)
        self.uncovered_: Ints = prepared.rows[found.uncovered]
        self._warn_of_cuts(prepared.cut, unread, found.cut, found.votes_cut)
        is_done = in_time and not found.votes_cut and self.certificate_.status != Status.TIME_LIMIT
        if file is not None and is_done:
            file.remove()
        return self._finished(found.vote, prepared.samples)

    @staticmethod
    def _certified(found: RuleCover, *, in_time: bool) -> Certificate:
        """The certificate; of too few rules for a cover, with or without more time, it says nothing of what was cut."""
        if in_time or found.certificate.status == Status.LIMITED:
            return found.certificate
        return replace(found.certificate, status=Status.TIME_LIMIT)

    def _warn_of_cuts(self, *cut: str) -> None:
        """Says what there was no time for, apart from what the certificate says."""
        if any(cut):
            said = f"time_limit is {self.time_limit:g} s: {' and '.join(filter(None, cut))}"
            warnings.warn(f"{said}; give more time, or a model of fewer trees.", CutShortWarning, stacklevel=3)

    def _fit_elsewhere(self, rows: RowsElsewhere, solver: Any, begin: float) -> list[str]:
        """The same for rows that are not in memory: only sums over them are fetched.

        Returns what there was no time for, in words.
        """
        rows.check_cover(self, solver)
        prepared = rows.prepared(self, training_deadline(begin, self.time_limit))
        with rows.parts(self, prepared, self._trees(prepared)) as (parts, head):
            cut = self._cover_parts(parts, prepared, head, solver, deadline_of(self.time_limit, begin=begin))
        self.n_sampled_rows_ = len(prepared.rows)
        return cut

    def _cover_parts(
        self, parts: Parts, prepared: Prepared, head: Samples, solver: Any, deadline: float | None
    ) -> list[str]:
        """Algorithm 1 on rows in many places, with a model that is prepared on some of them."""
        whole = self._trees(prepared)
        names = check_model_fits(whole, prepared.samples.X, self._names())
        trees = read_in_time(parts, whole, deadline)
        unread = cut_in_words(len(trees.trees), len(whole.trees), "trees were read")
        pool = self._weighted(leaf_pool_of_parts(parts, trees, head, self._price(), names), trees)
        self.n_candidate_rules_ = len(pool)
        demand = self._demand_on_parts(head)
        pool = pool if demand.max() == 1 else pool.distinct()
        found = minimum_rule_cover_of_parts(parts, pool, head, self._parts_recipe(solver, demand, deadline))
        self.certificate_ = self._certified(found, in_time=not (prepared.cut or unread or found.cut))
        self.uncovered_ = found.uncovered
        self._finished(found.vote, prepared.samples, found.fingerprint)
        return [prepared.cut, unread, found.cut, found.votes_cut]

    def _demand_on_parts(self, head: Samples) -> Ints:
        """How many rules must cover each row: one number, or one for each class."""
        if not isinstance(self.demand, Mapping):
            return np.asarray(whole_number("demand", self.demand, at_least=1))
        classes = self._target.of(head).classes
        return demands(self.demand, classes, classes)

    def _parts_recipe(self, solver: Any, demand: Ints, deadline: float | None) -> PartsRecipe:
        """The steps of Algorithm 1 as they are set, for rows in many places."""
        if self._kind.shorten is not None:
            self.pruned_ = self.prune is not False
        return PartsRecipe(
            solver=solver,
            price=self._price(),
            vote=self._vote_of,
            demand=demand,
            max_rules=self.max_rules,
            prune=self.prune is not False,
            fit=partial(self._fit_to_groups, end=deadline) if self.vote in voting_on(self._target).fitted else None,
            weigh_votes=self.estimator_weights in ("vote", "both"),
            deadline=deadline,
        )

    def _fit_to_groups(self, vote: Vote, rows: Grouped, end: float | None) -> tuple[Vote, str]:
        """The votes, fitted to groups of rows, and what there was no time for, in words."""
        if not can_fit_votes(vote, end):
            return vote, "votes were not fitted"
        fit = voting_on(self._target).fitted[self.vote]
        votes, some = fitted_to_groups(fit, vote, rows, votes_deadline(end))
        return votes, some and f"votes were fitted to {some}"

    def _checkpoint(self, pool: RulePool, prepared: Prepared, demand: Ints, solver: Any) -> Checkpoint:
        samples = prepared.samples
        data = samples.X, samples.labels, samples.weight, demand, pool.evidence.cost
        # The time that a solver has may differ.
        timeless = solver.within_seconds(1.0) if hasattr(solver, "within_seconds") else solver
        settings = settings_that_matter(self) | {"solver": timeless}
        return Checkpoint(self.checkpoint, "an exact cover", fingerprint(settings, *data))

    def _recipe(self, solver: AnySolver, X: Any, y: Any, sample_weight: Any, limits: TimeLimits) -> Recipe:
        """The steps of Algorithm 1 as they are set."""
        shorten = self._kind.shorten
        if shorten is not None:
            self.pruned_ = self._prunes(X, y, sample_weight, limits)
            shorten = partial(shorten, price=self._price(), deadline=limits.pruning) if self.pruned_ else None
        return Recipe(
            solver=partial(TimedSolver.of, solver, deadline=limits.end),
            vote=self._vote_of,
            max_rules=self.max_rules,
            shorten=shorten,
            fit=partial(self._fit_votes, end=limits.end),
            weigh_votes=self.estimator_weights in ("vote", "both"),
        )

    def _prunes(self, X: Any, y: Any, sample_weight: Any, limits: TimeLimits) -> bool:
        """Whether needless clauses are dropped; rules that were made by hand stay as they are by default."""
        if self.prune == "held-out":
            return pruning_pays(self, for_folds(self.estimator_, X), np.asarray(y).ravel(), sample_weight, limits)
        return not isinstance(self.estimator, RuleSet) if self.prune is None else bool(self.prune)

    def _fit_votes(self, vote: Vote, samples: Samples, end: float | None) -> tuple[Vote, str]:
        """The votes, fitted to the samples if that is asked for, and what there was no time for, in words."""
        fit = partial(self._votes_of, vote)
        if self.ridge is None and self.vote not in voting_on(self._target).fitted:
            return fit(samples), ""
        if not can_fit_votes(vote, end):
            return vote, "votes were not fitted"
        votes, some = made_in_time(fit, samples, votes_deadline(end), classes=self._target.name == "classes")
        return votes, some and f"votes were fitted to {some}"

    def _votes_of(self, vote: Vote, samples: Samples) -> Vote:
        if self.ridge is None:
            return voting_on(self._target).fitted_to(samples, self.vote, vote)
        assert isinstance(samples, NumberSamples)
        return fitted_values(vote, vote.rules.apply(samples.X), samples, ridge=self.ridge)

    def _trees(self, prepared: Prepared, deadline: float | None = None) -> TreeEnsemble:
        """The trees whose leaves are the rules to choose from, small branches cut off if that is asked for."""
        trees, samples = prepared.source.trees, prepared.samples
        assert trees is not None
        if self._kind.cut is None:
            return trees
        fewest = self.min_samples_ = self._fewest(float(samples.totals[0]))
        if fewest <= 1:
            return trees
        return self._kind.cut(trees, samples.X, samples.weight, fewest, deadline=deadline, n_jobs=self.n_jobs)

    def _fewest(self, n_samples: float) -> float:
        """The fewest samples of a rule, by weight."""
        if self.min_samples != "auto":
            share = float(self.min_samples)
            return share * n_samples if share < 1 else share
        if self.estimator is None:
            return 1.0
        return max(5.0, n_samples * min(0.1, 2.5 / (self.max_rules or 1)))

    def _demands(self, prepared: Prepared, y: Any) -> Ints:
        """How many rules must cover each sample."""
        classes = self._target.of(prepared.samples).classes
        return demands(self.demand, np.asarray(y).ravel(), classes)[prepared.rows]

    def _vote_of(self, rules: RuleSet) -> Vote:
        return voting_on(self._target).plain(rules, self.vote)

    def _check_settings(self) -> Any:
        self._check_target_settings()
        if np.ndim(self.demand) == 0 and not isinstance(self.demand, Mapping):
            whole_number("demand", self.demand, at_least=1)
        if self.max_rules is not None:
            whole_number("max_rules", self.max_rules, at_least=1)
        check_time_and_checkpoint(self)
        one_of("vote", self.vote, voting_on(self._target).names)
        one_of("estimator_weights", self.estimator_weights, WEIGHTS)
        self._fallback()
        self._price()
        solver = self._solver()
        if self.checkpoint is not None and not hasattr(solver, "kept_in"):
            raise ValueError(
                f"checkpoint keeps the work of solver='exact', but solver is {self.solver!r}; leave checkpoint out."
            )
        if getattr(solver, "checkpoint", None) is not None:
            raise ValueError(
                f"solver is {solver!r}, but the file of a solver is for one cover, and there may be several in a fit; "
                f"give checkpoint to {type(self).__name__}, and leave it out of the solver."
            )
        if self.time_limit is not None and not hasattr(solver, "within_seconds"):
            raise ValueError(
                f"time_limit is {self.time_limit!r}, but solver is {solver!r}, which has no method within_seconds by "
                "which it could be told; leave time_limit out, or give the solver a limit of its own."
            )
        return solver

    def _check_target_settings(self) -> None:
        """Checks what is for classes alone, or for numbers."""
        if isinstance(self.demand, Mapping) and self._target.name == "numbers":
            raise TypeError("demand is a dictionary, but numbers have no labels; give one number, or one for each row.")
        if self.prune is not None and not isinstance(self.prune, bool) and self.prune != "held-out":
            raise ValueError(f"prune is {self.prune!r}; choose True, False or 'held-out'.")
        if self.prune == "held-out":
            check_trains_again(self.estimator, "prune='held-out' decides in folds", "choose prune=True or prune=False")
        if self.min_samples != "auto":
            real_number("min_samples", self.min_samples)
        if self.ridge is not None:
            real_number("ridge", self.ridge, above=True)

    def _solver(self) -> Any:
        given = self.solver
        if isinstance(given, SolverOnSamples) and not isinstance(given, type):
            if given.target != self._target.name:
                known = ", ".join(map(repr, self._kind.solvers))
                raise ValueError(
                    f"solver is {given!r}, which is for {given.target}, but {type(self).__name__} predicts "
                    f"{self._target.name}; choose one of {known} or give another object."
                )
            return given
        solver = chosen("solver", given, dict(self._kind.solvers))
        if not isinstance(given, str):
            return solver
        seed = 0 if self.random_state is None else int(check_random_state(self.random_state).randint(2**31 - 1))
        return solver(self.time_limit, seed)

    def _price(self) -> Price:
        return Price(
            chosen("criterion", self.criterion, dict(self._target.criteria)),
            real_number("impurity_weight", self.impurity_weight),
            real_number("length_weight", self.length_weight),
        )

    def _candidates(self, prepared: Prepared, demand: Ints, deadline: float | None = None) -> tuple[RulePool, str]:
        """The rules to choose from: the leaves of the model's trees, or the rules of a pool that is there already.

        Trees or rules that are not read by the deadline are left out, which is said in words.
        """
        samples, source, cut = prepared.samples, prepared.source, ""
        if source.trees is None:
            rules = source.model if isinstance(source.model, RuleSet) else source.model.rules_
            pool, n_read = pool_in_time(samples, rules, self._price(), deadline=deadline)
            cut = cut_in_words(n_read, len(rules), "rules were read")
        else:
            trees = self._trees(prepared, deadline)
            names = check_model_fits(trees, samples.X, self._names())
            # Trees that have been cut are few enough, or read in no time.
            until = deadline if trees is source.trees else None
            settings: dict[str, Any] = {"n_jobs": self.n_jobs, "verbose": self.verbose}
            pool = leaf_pool(samples, trees, self._price(), names, deadline=until, **settings)
            n_read = len(np.unique(pool.source.tree)) if isinstance(pool.source, Leaves) else 0
            cut = cut_in_words(n_read, len(source.trees.trees), "trees were read")
            pool = self._weighted(pool, trees)
        self.n_candidate_rules_ = len(pool)
        # Covering twice by one rule is covering once.
        return pool if demand.max() == 1 else pool.distinct(), cut

    def _weighted(self, pool: RulePool, trees: TreeEnsemble) -> RulePool:
        """The pool, its rules counting as their trees do in the model."""
        if self.estimator_weights is None or not isinstance(pool.source, Leaves):
            return pool
        strength = trees.strength(pool.source.tree, pool.source.node)
        in_cost = self.estimator_weights in ("cost", "both")
        return pool if strength is None else pool.with_strength(strength, in_cost=in_cost)

    def covering_problem(self, X: Any, y: Any, sample_weight: Any = None) -> CoveringProblem:
        """The set covering problem of a fitted model's rules on labelled data, for solvers and checks of your own.

        Its rules are numbered tree by tree, leaves by node number, leaves without a sample left out.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`; other rows than those of `fit` may be given.

        Returns
        -------
        CoveringProblem
            Of the rows that some rule covers.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted yet.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from rulecover import MIRCOClassifier
        >>> from rulecover.setcover import Greedy, verify
        >>> X, y = load_iris(return_X_y=True)
        >>> problem = MIRCOClassifier(random_state=0).fit(X, y).covering_problem(X, y)
        >>> verify(problem, Greedy()(problem)).n_uncovered
        0
        """
        check_is_fitted(self)
        again: Self = fresh(self).set_params(estimator=frozen(self.estimator_))
        if hasattr(self, "min_samples_"):  # as it was worked out for the trees that were trained
            again.set_params(min_samples=max(self.min_samples_, 1.0))  # below 1 it would be a share
        prepared = again._prepare(X, y, sample_weight)
        demand = again._demands(prepared, y)
        pool, covered, _ = again._candidates(prepared, demand)[0].coverable()
        return pool.problem(demand[covered])


@dataclass(eq=False, repr=False, kw_only=True)
class MIRCOClassifier(PredictsClasses, MinimumRuleCover):
    """A few rules of a forest that cover every training sample and vote almost as well as the forest.

    Every leaf of every tree is a rule, priced by its impurity; a weighted set cover chooses among them (Algorithm 1
    of Birbil, Edali and Yüceoğlu, 2020). The chosen rules vote (eq. (2)); rows that none covers go to a fallback.

    The defaults are the most accurate covers that have no more rules and clauses than those of the paper, on average:
    clauses that are not needed are dropped, impurity counts twice, and votes are fitted. Where
    classes are easy to tell apart there may be a rule or two more than in the paper; ``impurity_weight=1`` saves them.
    `as_in_paper` is the algorithm as it is printed, `accurate` covers every sample three times.

    Parameters
    ----------
    estimator
        The forest, or any tree ensemble that `rulecover.readers` can read; it is cloned and trained on the data. A
        model that is trained already is taken as it is inside scikit-learn's ``FrozenEstimator`` (or see `explain`).
        Or a `RuleSet` of your own to choose from. By default a random forest of 100 trees of depth 10.
    criterion
        The impurity w: "gini", "entropy" or "log_loss" (another name of entropy), or an object of
        `rulecover.targets.classes.impurity`.
    solver
        How rules are chosen: "greedy" (Algorithm S.1, the paper; the bound is that of the covering LP where it takes
        less than a second), "search" (fewer rules in about a second), "exact" (proved optimal, or the best found with a
        bound), or an object of `rulecover.setcover` with its own settings.
    demand
        How many rules must cover each sample; where fewer cover it at all, all of them. One number for all, a
        dictionary with one for each of some labels (1 for the others), or an array with one for each row.
    max_rules
        A hard limit. Where it binds, the first picks of the greedy choice are taken as they come, so that rule sets
        under different limits are nested; the other solvers keep the best buys of their cover. Samples that stay
        uncovered are counted in `certificate_` and listed in `uncovered_`.
    impurity_weight, length_weight
        The cost of a rule is ``1 + impurity_weight · w + length_weight · clauses``, a clause being one feature's
        interval.
    estimator_weights
        Where the trees of the model count differently, as in boosting (S.3 of the paper): let ωⱼ be what the model
        gives to rule j (AdaBoost's weight of the tree, the size of a booster's leaf value) over the mean of all rules,
        kept between 1/10 and 10. "cost": the cost of a rule is divided by ω. "vote": its votes are multiplied by ω.
        "both", or ``None``. In a forest all trees are alike, and nothing changes.
    prune
        Whether to drop the clauses that the chosen rules do not need, and to cover again with the shorter rules:
        fewer rules, shorter ones, fewer missed rows, mostly as accurate. "held-out" lets three folds decide, in which
        the estimator is trained again: rules are pruned unless that is less accurate by more than a standard error. By
        default they are pruned, but for those of a `RuleSet`, which stay as they were made.
    vote
        "counts": each covering rule adds its number of training samples of each class (paper). "shares": each adds
        its share of each class. "fitted": votes are fitted to the training samples by least squares, drawn towards the
        shares and never negative: the more accurate votes of pruned rules. "log-odds": votes and a base are fitted by
        a logistic regression, whose probabilities are never 0 or 1; `estimator_weights` has no effect on them.
    fallback
        What predicts for rows that no rule covers: "closest", the rules with the largest share of accepted clauses
        (the paper's text); "all", every rule times its share (the authors' program, and their tables); "majority",
        the most frequent class; "model", the source model.
    class_weight
        As in scikit-learn: ``None``, "balanced" or a dictionary; multiplies the sample weights.
    time_limit
        Seconds for the whole fit; the best cover so far is kept, with the status "time limit" in `certificate_`.
        "exact" takes 60 by default. If half of the time is too short to train the estimator on all rows, it is trained
        on a sample of them; every row is covered all the same. The bound of a greedy choice takes a second at most.
        Trees, or rules of a `RuleSet`, that are not read in half of what is left then are left out, and rules keep
        their clauses where there is no time to drop them. A choice that is late picks many rules at once, and may have
        more of them. Votes that would take longer than another second are fitted to a sample of the rows. A
        `CutShortWarning` says what was cut; one tree is always read, and a pass over rows that are not in memory is not
        cut. With ``prune="held-out"`` no fold is begun that would end after half of the time.
    checkpoint
        With ``solver="exact"``, or an `Exact` of your own: a file, such as "cover.npz", in which bounds, covers and
        parts of the proof are kept, so that a fit that was killed or cut short goes on from there when it is run again
        on the same data with the same settings. The file is removed at the end. It needs a whole number as
        `random_state`. See `Exact`.
    random_state
        Seed of the default forest, of an estimator without a seed of its own, and of the search. With ``None`` the
        forest differs from fit to fit, but the search does not: the rules of a trained model are always the same.
    n_jobs
        Threads that read the trees, and train the default forest. The rules do not depend on it.
    verbose
        Above 0 shows progress on standard error.

    Attributes
    ----------
    rules_ : RuleSet
        The chosen rules, best buy first.
    certificate_ : Certificate
        Objective, lower bound and where it comes from, gap, status and seconds.
    n_candidate_rules_ : int
        The number of rules to choose from: leaves that hold a sample.
    pruned_ : bool
        Whether the rules were pruned; what is proved is then proved of choices among the pruned rules.
    n_sampled_rows_ : int
        After fitting rows that are not in memory: how many of them the estimator was trained on, or, where it was
        frozen, its columns were looked up in.
    uncovered_ : ndarray
        Training rows covered less often than demanded, because of `max_rules`, or because no rule there is covers
        them: rules made by hand need not cover every row. None are listed after fitting from a table of `open_table`.
    estimator_ : object
        The trained source model.
    vote_ : Vote
        The rules and their votes for each class.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    explain : the same for a model that is already trained.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> mirco = MIRCOClassifier(random_state=0).fit(X, y)
    >>> print(mirco.rules_)
    rule  then  support  purity  if
    ...
    >>> mirco.predict(X[:2])
    array([0, 0])
    """

    _default = RandomForestClassifier(n_estimators=100, max_depth=10)
    _kind = CoverKind(SOLVERS, pruned_pool)

    criterion: Any = "gini"
    solver: Any = "greedy"
    max_rules: int | None = None
    impurity_weight: float = 2.0
    prune: bool | str | None = None
    vote: str = "log-odds"
    fallback: Any = "closest"
    class_weight: Any = None

    @classmethod
    def as_in_paper(cls, estimator: Any = None, **settings: Any) -> MIRCOClassifier:
        """Algorithm 1 as it is printed: the greedy cover of the leaves as they are, whose rules vote by their counts.

        The tables of the paper are those of the authors' program, in which missed rows are predicted by all rules:
        ``fallback="all"``.

        Parameters
        ----------
        estimator
            As in `MIRCOClassifier`.
        **settings
            Others of its settings; they take precedence.

        Returns
        -------
        MIRCOClassifier
            Not fitted yet.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> paper = MIRCOClassifier.as_in_paper(random_state=0).fit(X, y)
        >>> paper.pruned_, paper.certificate_.n_uncovered
        (False, 0)
        """
        paper = {"solver": Greedy(), "impurity_weight": 1.0, "prune": False, "vote": "counts", "fallback": "closest"}
        return cls(estimator, **{**paper, **settings})

    @classmethod
    def accurate(cls, estimator: Any = None, **settings: Any) -> MIRCOClassifier:
        """The settings of the most accurate covers: three rules for every sample, pruned, with log-odds for votes.

        On the paper's data sets there are 1.7 times as many rules as in the cover of the paper, and a quarter more
        clauses in all: pruned rules are shorter.

        Parameters
        ----------
        estimator
            As in `MIRCOClassifier`.
        **settings
            Others of its settings; they take precedence.

        Returns
        -------
        MIRCOClassifier
            Not fitted yet.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> accurate = MIRCOClassifier.accurate(random_state=0).fit(X, y)
        >>> int(accurate.apply(X).sum(axis=1).min()), accurate.score(X, y) > 0.95
        (3, True)
        >>> MIRCOClassifier.accurate(demand=2)
        MIRCOClassifier(demand=2, impurity_weight=1.0, prune=True)
        """
        accurate = {"demand": 3, "impurity_weight": 1.0, "prune": True, "vote": "log-odds"}
        return cls(estimator, **{**accurate, **settings})


@dataclass(eq=False, repr=False, kw_only=True)
class MIRCORegressor(PredictsMeans, MinimumRuleCover):
    """A few rules of a forest that cover every training sample and predict a number almost as well as the forest.

    Every leaf of every tree is a rule, priced ``1 + squared error`` on a scale on which they compare (S.3 of Birbil,
    Edali and Yüceoğlu, 2020). Rules are chosen so that they cover every sample. The prediction for a row is a default
    and what each covering rule adds, fitted by ridge regression; or the weighted mean of the covering rules.

    The defaults aim at good predictions from few rules. `as_in_paper` is the plain cover, and the plain mean.

    Parameters
    ----------
    estimator
        The forest, or any tree ensemble of numbers that `rulecover.readers` can read; it is cloned and trained on the
        data. A model that is trained already is taken as it is inside scikit-learn's ``FrozenEstimator`` (or see
        `explain`). By default a random forest of 100 trees with 8 leaves each, a third of the columns tried a split.
    criterion
        The impurity w: "squared_error", or an object of `rulecover.targets.numbers.impurity`.
    scale
        The squared error that costs as much as a rule, in squared units of y. "auto" is the variance of y: then w is 1
        for the rule that always holds. The smaller, the purer the rules, and the more of them.
    solver
        How rules are chosen. "forward": out of a cheap cover in which every sample is covered 20 times, the rules that
        explain most, one after another, such that together they cover every sample. "greedy" (Algorithm S.1, the
        paper), "search" (fewer rules in about a second) and "exact" (proved optimal, or the best found with a bound)
        choose a cheapest cover. Or an object with its own settings, such as `rulecover.mirco.forward.Forward`.
    demand
        How many rules must cover each sample; where fewer cover it at all, all of them. One number for all, or an
        array with one for each row.
    max_rules
        A hard limit. Where it leaves samples uncovered, these are counted in `certificate_` and listed in
        `uncovered_`. ``None`` is no limit: with "forward" all rules of its list are kept.
    min_samples
        The fewest (weighted) training samples that a rule covers, a number, or a share if it is below 1. Branches of
        the trees that are smaller are cut off, as if their splits had not been made: trees of numbers tend to have too
        many leaves (S.3). 1 leaves the trees as they are. "auto" does so with the default forest; other models are cut
        at a tenth of the samples, or 2.5 / `max_rules` if that is less, but at 5 samples at least.
    impurity_weight, length_weight
        As in `MIRCOClassifier`.
    estimator_weights
        As in `MIRCOClassifier`: where the weights of a model's trees and leaves come in. Fitted values need none: only
        the votes of plain means change.
    ridge
        The penalty on the squares of what rules add, when their values are fitted to the training samples together:
        higher means closer to the default. ``None`` fits nothing: the weighted mean of the rules' means is predicted.
    vote
        The weights of that mean. "equal": each covering rule counts the same. "support": as much as it has training
        samples. "precision": one over its variance, to which a twentieth of that of all samples is added.
    fallback
        What predicts for rows that no rule covers: "mean", the mean of all training samples, or the fitted default in
        its place; "closest", the mean of the rules with the largest share of accepted clauses; "all", that of every
        rule times its share; "model", the source model.
    time_limit, checkpoint, random_state, n_jobs, verbose
        As in `MIRCOClassifier`.

    Attributes
    ----------
    rules_ : RuleSet
        The chosen rules; with "forward" in the order in which they were chosen. Of each the mean of its training
        samples, their standard deviation (spread), and what it adds to the answer.
    min_samples_ : float
        The fewest training samples of a rule that the trees were cut to.
    certificate_, n_candidate_rules_, uncovered_, estimator_, vote_
        As in `MIRCOClassifier`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    explain : the same for a model that is already trained.
    MIRCOClassifier : the same for classes.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> mirco = MIRCORegressor(max_rules=10, random_state=0).fit(X, y)
    >>> print(mirco.rules_)
    rule    adds   mean  spread  support  if
    ...
    >>> len(mirco.rules_), int(mirco.missed(X).sum()), mirco.score(X, y) > 0.45
    (10, 0, True)
    >>> mirco.predict_interval(X[:2], coverage=0.9).shape
    (2, 2)
    """

    # Few leaves, each of some samples, and trees that differ: a cover of them needs few rules (S.3).
    _default = RandomForestRegressor(n_estimators=100, max_leaf_nodes=8, min_samples_leaf=5, max_features=1 / 3)
    _kind = CoverKind(
        {"forward": lambda time_limit, seed: Forward(time_limit=time_limit), **SOLVERS}, cut=without_small_branches
    )

    criterion: Any = "squared_error"
    scale: Any = "auto"
    solver: Any = "forward"
    max_rules: int | None = 20
    min_samples: float | str = "auto"
    impurity_weight: float = 1.0
    vote: str = "equal"
    ridge: float | None = 5.0
    fallback: Any = "mean"

    @classmethod
    def as_in_paper(cls, estimator: Any = None, **settings: Any) -> MIRCORegressor:
        """Algorithm 1 as it is: the greedy cover of the leaves, and the plain mean of the covering rules.

        Parameters
        ----------
        estimator
            As in `MIRCORegressor`.
        **settings
            Others of its settings; they take precedence.

        Returns
        -------
        MIRCORegressor
            Not fitted yet.

        Examples
        --------
        >>> MIRCORegressor.as_in_paper(impurity_weight=5)
        MIRCORegressor(impurity_weight=5, max_rules=None, min_samples=1, ridge=None, solver='greedy')
        """
        paper = {"solver": "greedy", "max_rules": None, "min_samples": 1, "ridge": None}
        return cls(estimator, **{**paper, **settings})


def frozen(source: Any) -> Any:
    """The source, never to be trained again."""
    return source if isinstance(source, (FrozenEstimator, RuleSet)) else FrozenEstimator(source)
