"""Rule paths as scikit-learn estimators: the whole trade-off between few rules and accuracy, from one model."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import RegressorMixin, is_classifier
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.utils import indexable
from sklearn.utils.validation import check_is_fitted

from rulecover.estimators.base import PredictsClasses, VotingModel
from rulecover.estimators.booster import check_trains_anew
from rulecover.estimators.checks import check_model_fits, real_number, sample_weights, whole_number
from rulecover.estimators.door import with_zeros_in
from rulecover.estimators.held_out import FoldPart, folds_of, parts_of
from rulecover.estimators.out_of_bag import HonestModel
from rulecover.estimators.prepare import Prepared, fresh
from rulecover.exceptions import UnreadableModelError
from rulecover.progress import tracked
from rulecover.rulepath.candidates import Candidates, node_candidates, rule_candidates
from rulecover.rulepath.constraints import Constraints, column_numbers
from rulecover.rulepath.forward import Terms, usual_shrinkage
from rulecover.rulepath.path import PathRecipe, rule_path, softened_response
from rulecover.rulepath.sizes import BY_SCORE, SizeScores, chosen_size, size_scores, size_table
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.numbers.target import NumberTarget
from rulecover.targets.samples import Samples
from rulecover.targets.target import Target
from rulecover.typing import Array, Floats
from rulecover.voting.fallback import Default, Fallback

if TYPE_CHECKING:
    import pandas as pd

#: How a size is chosen; "last" needs no scores.
CHOICES = (*BY_SCORE, "last")


class RulePath(VotingModel):
    """Follows the path, chooses a size, and predicts by added votes."""

    def __init__(
        self,
        estimator: Any = None,
        *,
        max_rules: int = 50,
        choose: str = "one-se",
        within: float | None = None,
        cv: Any = 5,
        max_depth: int | None = None,
        min_samples: int = 2,
        model_share: float = 0.5,
        ridge: float = 5.0,
        shrinkage: float | None = None,
        tries: int = 5,
        max_clauses: int | None = None,
        forbidden: Iterable[int | str] | None = None,
        required: Iterable[int | str] | None = None,
        monotone: Mapping[int | str, int] | None = None,
        keep: RuleSet | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.max_rules = max_rules
        self.choose = choose
        self.within = within
        self.cv = cv
        self.max_depth = max_depth
        self.min_samples = min_samples
        self.model_share = model_share
        self.ridge = ridge
        self.shrinkage = shrinkage
        self.tries = tries
        self.max_clauses = max_clauses
        self.forbidden = forbidden
        self.required = required
        self.monotone = monotone
        self.keep = keep
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # Fitting ----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Trains the estimator unless it is frozen, follows the path, and takes the size that was asked for.

        Parameters
        ----------
        X
            Rows x columns: an array, a data frame or a sparse matrix.
        y
            What is to be predicted, one value per row.
        sample_weight
            What each row counts; rows of weight zero do not count at all.
        """
        self._check_settings()
        samples, predicted = self._follow(X, y, sample_weight)
        held_out = None if self._takes_all() else self._cross_validated(X, y, sample_weight)
        training = size_scores(self._family, samples.X, samples.labels, samples.count, predicted(samples.X))
        self.path_: pd.DataFrame = size_table(self._family, samples, training, held_out)
        self.model_score_ = np.nan if held_out is None else float(held_out.model.mean())
        self._take(chosen_size(self._family, held_out, self.choose, self.within))
        return self

    def at(self, n_rules: int) -> Self:
        """The model of another size from the same path; nothing is fitted.

        Parameters
        ----------
        n_rules
            From 0, the default vote alone, to the size of the largest set.
        """
        check_is_fitted(self)
        if whole_number("n_rules", n_rules, at_least=0) > self._family.largest:
            raise ValueError(
                f"n_rules is {n_rules}, but the path ends at {self._family.largest} rules; "
                "fit with a larger max_rules, or take fewer."
            )
        other = copy(self)
        other._take(n_rules)
        return other

    def _take(self, size: int) -> None:
        self.n_rules_ = int(size)
        self.vote_ = self._family.vote(self.n_rules_)
        self.rules_: RuleSet = self.vote_.rules

    def _check_settings(self) -> None:
        for name, least in (("max_rules", 1), ("min_samples", 1), ("tries", 0)):
            whole_number(name, getattr(self, name), at_least=least)
        for name in ("max_depth", "max_clauses"):
            if getattr(self, name) is not None:
                whole_number(name, getattr(self, name), at_least=1)
        if self.keep is not None and not isinstance(self.keep, RuleSet):
            raise TypeError(f"keep is {self.keep!r}; give a RuleSet, such as RuleSet.of_intervals makes.")
        real_number("ridge", self.ridge, above=True)
        if real_number("model_share", self.model_share) > 1:
            raise ValueError(f"model_share is {self.model_share}; it must be at most 1.")
        for name in ("shrinkage", "within"):
            if getattr(self, name) is not None:
                real_number(name, getattr(self, name))
        if isinstance(self.cv, numbers.Integral):
            whole_number("cv", self.cv, at_least=2)
        if self.choose not in CHOICES:
            raise ValueError(f"choose is {self.choose!r}; give one of {', '.join(map(repr, CHOICES))}.")
        if not self._takes_all():
            way_out = "give choose='last', and take another size by at(n_rules)"
            check_trains_anew(self.estimator, "a size is chosen in folds", way_out)

    def _follow(self, X: Any, y: Any, sample_weight: Any) -> tuple[Samples, Callable[[Any], Array]]:
        """Follows the path to its end, and returns the samples and how the source model predicts them."""
        prepared = self._prepare(X, y, sample_weight)
        samples, source = prepared.samples, self._model(X, prepared.rows)
        candidates = self._candidates(prepared)
        recipe = self._recipe(candidates, self._target.of(samples))
        honest = HonestModel(source, prepared.rows)
        response = softened_response(samples, recipe.target, honest, self.model_share)
        self._family = rule_path(samples, candidates, response, recipe)
        self.n_candidate_rules_ = self._family.n_candidates
        self._take(self._family.largest)
        return samples, source.predict

    def _candidates(self, prepared: Prepared) -> Candidates:
        """The nodes of the model's trees, or the rules of a model of rules."""
        samples, source, least = prepared.samples, prepared.source, self.min_samples
        if source.trees is None:
            return rule_candidates(source.model.rules_, samples.X, samples.weight, min_samples=least)
        names = check_model_fits(source.trees, samples.X, self._names())
        return node_candidates(
            source.trees,
            samples.X,
            samples.weight,
            names,
            max_depth=self.max_depth,
            min_samples=least,
            n_jobs=self.n_jobs,
        )

    def _recipe(self, candidates: Candidates, target: Target) -> PathRecipe:
        columns = candidates.source.columns
        constraints = Constraints.of(
            columns.names,
            forbidden=self.forbidden,
            required=self.required,
            monotone=self.monotone,
            max_clauses=self.max_clauses,
        )
        constraints.check_outputs(len(target.classes))
        if self.keep is not None:
            constraints.check_given(self.keep, self.max_rules)
        shrinkage = usual_shrinkage(candidates.total) if self.shrinkage is None else self.shrinkage
        return PathRecipe(
            self.max_rules,
            Terms(self.ridge, shrinkage, self.tries),
            constraints,
            target,
            given=None if self.keep is None else self.keep.in_codes_of(columns),
            verbose=self.verbose,
        )

    def _fallback(self) -> Fallback:
        return Default()

    def _source(self, y: Any) -> Any:
        if isinstance(self.estimator, RuleSet):
            raise UnreadableModelError(
                "a path is chosen by what a model predicts, and rules made by hand have no model behind them; "
                "give a model, and the rules as keep."
            )
        return super()._source(y)

    def _trained(self, estimator: Any, X: Any, y: Array, weight: Floats | None) -> Any:
        """The estimator, trained without the columns that no rule may use, so that its nodes do not use them."""
        if self.forbidden is not None and not isinstance(estimator, FrozenEstimator):
            names = self._names() or tuple(f"x{f}" for f in range(self.n_features_in_))
            X = with_zeros_in(column_numbers("forbidden", self.forbidden, names), X)
        return super()._trained(estimator, X, y, weight)

    # Choosing a size --------------------------------------------------------------------------------------------

    def _takes_all(self) -> bool:
        return self.within is None and self.choose == "last"

    def _cross_validated(self, X: Any, y: Any, sample_weight: Any) -> SizeScores | None:
        """The scores of every size in folds, in each of which the estimator is trained anew."""
        y = self._target.check(np.asarray(y).ravel(), type(self).__name__)
        weight = sample_weights(X, y, sample_weight, self.class_weight)
        model = self._for_a_part()
        (X,) = indexable(X)
        folds = folds_of(self.cv, X, y, classes=is_classifier(self), random_state=self.random_state)
        shown = tracked(folds, "Cross-validating", total=len(folds), verbose=self.verbose)
        scores = [model._scores_on(*fold) for fold in parts_of(shown, X, y, weight)]
        return SizeScores.in_folds(scores, self._family.largest + 1) if scores else None

    def _for_a_part(self) -> Self:
        """The same settings for a part of the rows, whose weights have those of the classes in them."""
        model: Self = fresh(self).set_params(verbose=0)
        if is_classifier(self):
            model.set_params(class_weight=None)
        if isinstance(self.estimator, FrozenEstimator):
            model.set_params(estimator=fresh(self.estimator.estimator))
        return model

    def _scores_on(self, learn: FoldPart, check: FoldPart) -> SizeScores:
        """The scores of every size of the path on some rows, once it has followed the path on others."""
        self._follow(*learn)
        rows, n = self._check_rows(check.X, whole=True), len(check.y)
        weight = np.ones(n) if check.weight is None else check.weight
        return size_scores(self._family, rows, check.y, weight, self._model(check.X, np.arange(n)).predict(rows))

    # Predicting -------------------------------------------------------------------------------------------------

    def fidelity(self, X: Any) -> float:
        """How well the rules predict what the source model predicts, by the score that `score` gives for labels."""
        rows, target = self._check_rows(X, whole=True), self._target
        model = self._model(X, np.arange(rows.shape[0])).predict(rows)
        mean = float(target.merit(self.vote_.decided(self._tally(rows)), model).mean())
        return float(target.score_of_merit(mean, model, np.ones(len(model))))

    def why(self, X: Any) -> pd.DataFrame:
        """For each row the default vote and the votes of the rules that cover it; they add up to the prediction.

        The columns are ``row`` (the place in X), ``prediction``, ``rule`` (the place in `rules_`, -1 for the default
        vote), ``text`` and ``vote``, or one ``votes_…`` for each class.
        """
        return super().why(X)

    def plot_path(self, ax: Any = None) -> Any:
        """The score of every size as a curve, next to the model's score, with the size that was taken.

        Parameters
        ----------
        ax
            Where to draw; a new figure by default. Needs matplotlib, which the extra ``plot`` brings.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from rulecover.plot import path

        check_is_fitted(self)
        return path(self, ax=ax)


class RulePathClassifier(PredictsClasses, RulePath):
    """Rule sets of every size from one forest, from a few rules to as many as it takes to predict like the forest.

    Every node of every tree is a rule to choose from, inner nodes too. Rules enter one after another, each time the
    one that explains most of what is left; after each, the votes of all rules are fitted again in closed form (ridge).
    So one run gives a nested family of rule sets, and cross-validation says which size to take. Votes are added: every
    row starts with the default vote, and each rule that covers it adds its own.

    Parameters
    ----------
    estimator
        The forest, any tree ensemble that `rulecover.read_trees` can read, or a model of rules such as
        `MIRCOClassifier` or `RCBoostClassifier`, whose rules are then chosen from; it is cloned and trained on the
        data. A model that is trained already is taken as it is inside scikit-learn's ``FrozenEstimator``; the folds
        of the cross-validation train copies of it. By default a random forest of 100 trees.
    max_rules
        The size of the largest set.
    choose
        Which size to take: "one-se", the smallest whose cross-validated score is within one standard error of the
        best; "best", the best; "last", the largest, without cross-validation.
    within
        In place of `choose`: take the smallest set whose cross-validated score is at most this far below the model's,
        such as 0.01. If there is none, the best set is taken, with a warning.
    cv
        Folds of the cross-validation: a number, whose rows are drawn by `random_state` with equal shares of the
        classes, or as scikit-learn takes it. The estimator is trained in each.
    max_depth
        How deep the nodes may lie: the most comparisons in a rule. By default 4, and 8 from 2,000 rows on.
    min_samples
        The fewest training rows that a rule may cover.
    model_share
        The share of the model's predictions in the target; the rest are the labels. Between 0 and 1. The predictions
        of a forest are out of bag: for each row those of the trees that were not trained on it.
    ridge
        The penalty on the squares of the votes: higher means smaller votes.
    shrinkage
        When rules compete, each is judged as if it covered this many more rows: higher means larger rules first. By
        default a twentieth of the rows, at most 50.
    tries
        How many of the best nodes are shortened at each step, by dropping clauses that do not help, before one is
        taken; 0 takes nodes as they are.
    max_clauses
        The most clauses of a rule, a clause being one feature's interval.
    forbidden
        Columns, by number or name, that no rule may use; the estimator is trained without them unless it is frozen.
    required
        Columns each of which some rule must use; no smaller set is taken.
    monotone
        For columns, by number or name, 1 if the prediction (the votes for the second of two classes) must not fall as
        the value grows, or -1 if it must not rise.
    keep
        Rules that stay in, whatever they gain: they come first in every set, with fitted votes.
    class_weight
        As in scikit-learn: ``None``, "balanced" or a dictionary; multiplies the sample weights.
    random_state
        Seed of the default forest, of an estimator without a seed of its own, and of the folds, which are the same
        from fit to fit without one.
    n_jobs
        Threads that read the trees, and train the default forest. The rules do not depend on it.
    verbose
        Above 0 shows progress on standard error.

    Attributes
    ----------
    rules_ : RuleSet
        The rules of the size that was taken, in the order in which they entered.
    vote_ : Vote
        The rules, what each adds for each class, and the default vote; prints as a table.
    n_rules_ : int
        The size that was taken.
    path_ : DataFrame
        One row per size: ``clauses`` of all rules together, ``loss`` (what the votes minimise; it never rises),
        ``train_score``, ``train_fidelity`` and ``coverage`` (of the training rows), and with cross-validation
        ``cv_score``, ``cv_se`` and ``cv_fidelity``.
    model_score_ : float
        The cross-validated score of the model itself.
    n_candidate_rules_ : int
        The number of rules to choose from: nodes that cover different rows.
    estimator_ : object
        The trained source model.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    RulePathRegressor : the same for regression.
    MIRCOClassifier : few rules that cover every training row.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> path = RulePathClassifier(max_rules=10, random_state=0).fit(X, y)
    >>> path.n_rules_ == len(path.rules_) <= 10
    True
    >>> print(path.at(2).vote_)
    rule  support       0       1  if
    ...
    >>> path.path_[["train_score", "cv_score"]].shape
    (11, 2)
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        max_rules: int = 50,
        choose: str = "one-se",
        within: float | None = None,
        cv: Any = 5,
        max_depth: int | None = None,
        min_samples: int = 2,
        model_share: float = 0.5,
        ridge: float = 5.0,
        shrinkage: float | None = None,
        tries: int = 5,
        max_clauses: int | None = None,
        forbidden: Iterable[int | str] | None = None,
        required: Iterable[int | str] | None = None,
        monotone: Mapping[int | str, int] | None = None,
        keep: RuleSet | None = None,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            estimator,
            max_rules=max_rules,
            choose=choose,
            within=within,
            cv=cv,
            max_depth=max_depth,
            min_samples=min_samples,
            model_share=model_share,
            ridge=ridge,
            shrinkage=shrinkage,
            tries=tries,
            max_clauses=max_clauses,
            forbidden=forbidden,
            required=required,
            monotone=monotone,
            keep=keep,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.class_weight = class_weight

    def predict_proba(self, X: Any) -> Floats:
        """The probabilities nearest to the added votes, rows x classes."""
        return super().predict_proba(X)

    def _default_estimator(self) -> Any:
        return RandomForestClassifier(n_estimators=100, n_jobs=self.n_jobs)


class RulePathRegressor(RegressorMixin, RulePath):
    """Rule sets of every size from one forest of regression trees.

    `RulePathClassifier` for regression: every row starts with the default value, and each rule that covers it adds to
    it or subtracts from it. Scores are R².

    Parameters
    ----------
    estimator
        A regressor; by default a random forest of 100 trees.
    max_rules, choose, within, cv, max_depth, min_samples, model_share, ridge, shrinkage, tries
        As in `RulePathClassifier`.
    max_clauses, forbidden, required, monotone, keep, random_state, n_jobs, verbose
        As in `RulePathClassifier`.

    Attributes
    ----------
    rules_, vote_, n_rules_, path_, model_score_, n_candidate_rules_, estimator_
        As in `RulePathClassifier`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> path = RulePathRegressor(max_rules=5, choose="last", random_state=0).fit(X, y)
    >>> print(path.vote_)
    rule  support  value  if
    ...
    >>> bool(path.score(X, y) > 0.4)
    True
    """

    _target = NumberTarget()

    def _default_estimator(self) -> Any:
        return RandomForestRegressor(n_estimators=100, n_jobs=self.n_jobs)
