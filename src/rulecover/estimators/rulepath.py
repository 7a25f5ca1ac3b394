"""The whole trade-off between few rules and accuracy: a nested path of rule sets from one model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from rulecover.estimators.base import RuleClassifier
from rulecover.estimators.path import RulePath
from rulecover.estimators.regression import NumberModel
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.classes.impurity import Gini
from rulecover.targets.classes.task import ClassTask
from rulecover.targets.numbers.evidence import NumberEvidence
from rulecover.targets.numbers.impurity import SquaredError
from rulecover.targets.numbers.task import NumberTask
from rulecover.typing import Floats
from rulecover.voting.answers import AddedClasses, Mean


class RulePathClassifier(RulePath, RuleClassifier):
    """Rule sets of every size from one forest, from a few rules to as many as it takes to answer like the forest.

    Every node of every tree is a rule to choose from, inner nodes too. Rules enter one after another, each time the
    one that explains most of what is left; after each, the votes of all rules are fitted again in closed form (ridge).
    So one run gives a nested family of rule sets, and cross-validation says which size to take. Votes are added: a
    row is told the default vote and that of every rule it meets.

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
        such as 0.01. Where no set is, the best is taken, with a warning.
    cv
        Folds of the cross-validation: a number, whose rows are drawn by `random_state` with equal shares of the
        classes, or as scikit-learn takes it. The estimator is trained in each.
    max_depth
        How deep the nodes may lie: the most comparisons in a rule. By default 4, and 8 from 2,000 rows on.
    min_samples
        The fewest training rows that a rule may cover.
    model_share
        How much of the target is what the model says of the training rows; the rest is their label. Between 0 and 1.
        A forest is asked for its out-of-bag answers: of each row by the trees that did not see it.
    ridge
        The penalty on the squares of the votes: higher means smaller votes.
    shrinkage
        When rules compete, each is judged as if it covered so many more rows: higher means larger rules first. By
        default a twentieth of the rows, at most 50.
    tries
        At each step so many of the best nodes are shortened, by dropping clauses that do not help, before one is
        taken; 0 takes nodes as they are.
    max_clauses
        The most clauses of a rule, a clause being one feature's interval.
    forbidden
        Columns, by number or name, that no rule may use; the estimator is trained without them unless it is frozen.
    required
        Columns each of which some rule must use; no smaller set is taken.
    monotone
        For columns, by number or name, 1 if the answer (of two classes the votes for the second) must not fall where
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
        One row a size: ``clauses`` of all rules together, ``loss`` (what the votes minimise; it never rises),
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
    RulePathRegressor : the same for numbers.
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

    _impurity = Gini()

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

    def _task(self) -> ClassTask:
        return ClassTask(self.classes_)

    def _answer(self) -> AddedClasses:
        return AddedClasses(self.classes_)


class RulePathRegressor(NumberModel, RulePath):
    """Rule sets of every size from one forest of regression trees.

    As `RulePathClassifier`, for numbers: a row is told the default value plus what every rule that it meets adds to
    or takes from it. Scores are R².

    Parameters
    ----------
    estimator
        A regressor; by default a random forest of 100 trees.
    max_rules, choose, within, cv, max_depth, min_samples, model_share, ridge, shrinkage, tries
        As of `RulePathClassifier`.
    max_clauses, forbidden, required, monotone, keep, random_state, n_jobs, verbose
        As of `RulePathClassifier`.

    Attributes
    ----------
    rules_, vote_, n_rules_, path_, model_score_, n_candidate_rules_, estimator_
        As of `RulePathClassifier`.
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

    _classifier = "RulePathClassifier"
    _impurity = SquaredError()

    def _default_estimator(self) -> Any:
        return RandomForestRegressor(n_estimators=100, n_jobs=self.n_jobs)

    def _task(self) -> NumberTask:
        return NumberTask()

    def _answer(self) -> Mean:
        return Mean()

    def _take(self, size: int) -> None:
        super()._take(size)
        votes, seen = self.vote_, self.rules_.evidence
        if isinstance(seen, NumberEvidence):
            fitted = replace(seen, adds=votes.votes[:, 0], default=float(votes.base[0]))
            self.rules_ = self.rules_.with_evidence(fitted)
            self.vote_ = replace(votes, rules=self.rules_)
