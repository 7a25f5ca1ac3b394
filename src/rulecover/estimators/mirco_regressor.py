"""MIRCO for numbers: Algorithm 1 with squared error as impurity (S.3 of the paper)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from rulecover.estimators.checks import demands, real_number
from rulecover.estimators.mirco import SOLVERS, MinimumRuleCover
from rulecover.estimators.prepare import Prepared
from rulecover.estimators.regression import RuleRegressor
from rulecover.mirco.cover import Recipe
from rulecover.mirco.forward import Forward
from rulecover.setcover import CoverSolver
from rulecover.targets.numbers.impurity import NUMERIC_CRITERIA
from rulecover.targets.numbers.samples import NumberSamples
from rulecover.targets.samples import Samples
from rulecover.trees.cutting import without_small_branches
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Ints
from rulecover.voting.numbers import MEAN_VOTES, fitted_values
from rulecover.voting.vote import Vote


class MIRCORegressor(RuleRegressor, MinimumRuleCover):
    """A few rules of a forest that cover every training sample and predict a number almost as well as the forest.

    Every leaf of every tree is a rule, priced ``1 + squared error`` on a scale on which they compare (S.3 of Birbil,
    Edali and Yüceoğlu, 2020). Rules are chosen so that they cover every sample. The answer for a row is a default and
    what each covering rule adds, fitted by ridge regression; or the weighted mean of the covering rules.

    The defaults aim at good answers from few rules. `as_in_paper` is the plain cover, and the plain mean.

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
        The cost of a rule is ``1 + impurity_weight · w + length_weight · clauses``, a clause being one feature's
        interval.
    estimator_weights
        As of `MIRCOClassifier`: where the weights of a model's trees and leaves come in. Fitted values need none: of
        the votes they change the weights of plain means only.
    ridge
        The penalty on the squares of what rules add, when their values are fitted to the training samples together:
        higher means closer to the default. ``None`` fits nothing: the answer is the weighted mean of the rules' means.
    vote
        The weights of that mean. "equal": each covering rule has the same say. "support": as much as it has training
        samples. "precision": one over its variance, to which a twentieth of that of all samples is added.
    fallback
        Who answers for rows that no rule covers: "mean", the mean of all training samples, or the fitted default in
        its place; "closest", the mean of the rules with the largest share of accepted clauses; "all", that of every
        rule times its share; "model", the source model.
    time_limit
        Seconds that "search" and "exact" may take to choose; the best cover so far is kept.
    random_state
        Seed of the default forest, of an estimator without a seed of its own, and of the search.
    n_jobs
        Threads that read the trees, and train the default forest. The rules do not depend on it.
    verbose
        Above 0 shows progress on standard error.

    Attributes
    ----------
    rules_ : RuleSet
        The chosen rules; with "forward" in the order in which they were chosen. Of each the mean of its training
        samples, their standard deviation (spread), and what it adds to the answer.
    certificate_ : Certificate
        Objective, lower bound and where it comes from, gap, status and seconds.
    n_candidate_rules_ : int
        The number of rules to choose from: leaves that hold a sample.
    min_samples_ : float
        The fewest training samples of a rule that the trees were cut to.
    uncovered_ : ndarray
        Training rows covered less often than demanded, because of `max_rules`.
    estimator_ : object
        The trained source model.
    vote_ : Vote
        The rules and what they say.
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

    _criteria = NUMERIC_CRITERIA
    _votes = MEAN_VOTES
    _classifier = "MIRCOClassifier"
    _solvers: ClassVar[Mapping[str, Callable[[float | None, int], CoverSolver]]] = {
        "forward": lambda time_limit, seed: Forward(),
        **SOLVERS,
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        criterion: Any = "squared_error",
        scale: Any = "auto",
        solver: Any = "forward",
        demand: Any = 1,
        max_rules: int | None = 20,
        min_samples: float | str = "auto",
        impurity_weight: float = 1.0,
        length_weight: float = 0.0,
        estimator_weights: str | None = "both",
        vote: str = "equal",
        ridge: float | None = 5.0,
        fallback: Any = "mean",
        time_limit: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.criterion = criterion
        self.scale = scale
        self.solver = solver
        self.demand = demand
        self.max_rules = max_rules
        self.min_samples = min_samples
        self.impurity_weight = impurity_weight
        self.length_weight = length_weight
        self.estimator_weights = estimator_weights
        self.vote = vote
        self.ridge = ridge
        self.fallback = fallback
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def as_in_paper(cls, estimator: Any = None, **settings: Any) -> MIRCORegressor:
        """Algorithm 1 as it is: the greedy cover of the leaves, and the plain mean of the covering rules.

        >>> MIRCORegressor.as_in_paper(impurity_weight=5)
        MIRCORegressor(impurity_weight=5, max_rules=None, min_samples=1, ridge=None, solver='greedy')
        """
        paper = {"solver": "greedy", "max_rules": None, "min_samples": 1, "ridge": None}
        return cls(estimator, **{**paper, **settings})

    def _default_estimator(self) -> Any:
        # Few leaves, each of some samples, and trees that differ: a cover of them needs few rules (S.3).
        return RandomForestRegressor(
            n_estimators=100, max_leaf_nodes=8, min_samples_leaf=5, max_features=1 / 3, n_jobs=self.n_jobs
        )

    def _check_settings(self) -> CoverSolver:
        self._checked_scale()
        if isinstance(self.demand, Mapping):
            raise TypeError("demand is a dictionary, but numbers have no labels; give one number, or one for each row.")
        if self.min_samples != "auto":
            real_number("min_samples", self.min_samples)
        if self.ridge is not None:
            real_number("ridge", self.ridge, above=True)
        return super()._check_settings()

    def _fewest(self, n_samples: float) -> float:
        """The fewest samples of a rule, by weight."""
        if self.min_samples != "auto":
            share = float(self.min_samples)
            return share * n_samples if share < 1 else share
        if self.estimator is None:
            return 1.0
        return max(5.0, n_samples * min(0.1, 2.5 / (self.max_rules or 1)))

    def _recipe(self, solver: CoverSolver, X: Any, y: Any, sample_weight: Any) -> Recipe:
        return Recipe(
            partial(_informed, solver),
            self._vote_of,
            max_rules=self.max_rules,
            fit=None if self.ridge is None else partial(_fitted, ridge=self.ridge),
            weigh_votes=self.estimator_weights in ("vote", "both"),
        )

    def _demands(self, y: Any) -> Ints:
        return demands(self.demand, np.asarray(y).ravel(), np.zeros(0))

    def _trees(self, prepared: Prepared) -> TreeEnsemble:
        trees, samples = prepared.source.trees, prepared.samples
        assert trees is not None
        self.min_samples_ = self._fewest(float(samples.totals[0]))
        if self.min_samples_ <= 1:
            return trees
        return without_small_branches(trees, samples.X, samples.weight, self.min_samples_, n_jobs=self.n_jobs)


def _informed(solver: CoverSolver, samples: Samples) -> CoverSolver:
    """The solver; the forward choice also looks at the numbers of the samples."""
    assert isinstance(samples, NumberSamples)
    return solver.on(samples.z, samples.count) if isinstance(solver, Forward) else solver


def _fitted(vote: Vote, samples: Samples, *, ridge: float) -> Vote:
    assert isinstance(samples, NumberSamples)
    return fitted_values(vote, vote.rules.apply(samples.X), samples, ridge=ridge)
