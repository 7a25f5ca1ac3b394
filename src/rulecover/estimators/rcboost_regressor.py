"""RCBoost for numbers: Algorithm 2 with squared error as impurity (S.3 of the paper)."""

from __future__ import annotations

from typing import Any

from sklearn.tree import DecisionTreeRegressor

from rulecover.estimators.regression import RuleRegressor
from rulecover.estimators.rule_boosting import RuleBoosting
from rulecover.pool import RulePool
from rulecover.rcboost.pricing.grown import GrownNumberTree
from rulecover.targets.numbers.impurity import NUMERIC_CRITERIA
from rulecover.voting.numbers import MEAN_VOTES


class RCBoostRegressor(RuleRegressor, RuleBoosting):
    """Boosting of numbers by column generation: the duals of a covering LP weigh the samples of the next tree.

    As `RCBoostClassifier`, with the squared error of a rule as its impurity and the mean of the covering rules as the
    answer (S.3 of Birbil, Edali and Yüceoğlu, 2020).

    Parameters
    ----------
    estimator
        The tree of Algorithm 2, the first one and the one that prices. By default a decision tree of depth 5 with at
        least a hundredth of the weight in each leaf.
    max_rmp_calls
        A bound on the number of solves of the restricted master problem (RMP).
    criterion
        The impurity w in the cost ``1 + w`` of a rule: "squared_error".
    scale
        The squared error that costs as much as a rule, in squared units of y; "auto" is the variance of y. The
        smaller, the more an impure rule costs.
    duals, step, admit, remove, rule_weights, warm_start, time_limit, on_interrupt, random_state, n_jobs, verbose
        As in `RCBoostClassifier`.
    pricing
        Where new rules come from: "tree" (paper), "forest" (ten randomised trees a call), "binned" (a tree on binned
        features, by XGBoost: for many rows), or an object of `rulecover.rcboost`. "bicriteria" and "exact" search by
        classes, and are refused.
    vote, fallback
        As in `MIRCORegressor`, for plain means.
    early_stopping
        ``False``, or the number of calls without a better R² on a held-out tenth of the data after which to stop;
        ``True`` is 10. The rules of the best call are kept.

    Attributes
    ----------
    rules_ : RuleSet
        The rules that vote.
    n_rmp_calls_ : int
        The number of solves whose duals steered a tree; one more gives the certificate.
    initial_estimator_ : object
        The first tree.
    certificate_ : Certificate
        The optimum of the LP over the whole pool.
    pool_ : RuleSet
        All rules that were generated, whether they vote or not.
    z_ : ndarray
        The share of each of these in that optimum; none if it has left the pool.
    history_ : DataFrame
        A line for each call; see `RCBoostClassifier`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    MIRCORegressor : a few rules; ``explain(boosted, X, y)`` chooses them from this model's pool.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> boosted = RCBoostRegressor(max_rmp_calls=5, random_state=0).fit(X, y)
    >>> boosted.score(X, y) > 0.4
    True
    >>> len(list(boosted.staged_predict(X))) == boosted.n_rmp_calls_ + 1
    True
    """

    _criteria = NUMERIC_CRITERIA
    _votes = MEAN_VOTES
    _classifier = "RCBoostClassifier"
    _tree_example = "DecisionTreeRegressor"

    def __init__(
        self,
        estimator: Any = None,
        *,
        max_rmp_calls: int = 50,
        criterion: Any = "squared_error",
        scale: Any = "auto",
        duals: str = "equal",
        step: float | str = "even",
        pricing: Any = "tree",
        admit: Any = "all",
        remove: Any = None,
        rule_weights: str | None = None,
        vote: str = "equal",
        fallback: Any = "mean",
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
        self.scale = scale
        self.duals = duals
        self.step = step
        self.pricing = pricing
        self.admit = admit
        self.remove = remove
        self.rule_weights = rule_weights
        self.vote = vote
        self.fallback = fallback
        self.early_stopping = early_stopping
        self.warm_start = warm_start
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _default_estimator(self) -> Any:
        # Trees of numbers tend to have a leaf for every few rows (S.3): rules must cover some.
        return DecisionTreeRegressor(max_depth=5, min_weight_fraction_leaf=0.01)

    def _check_settings(self) -> None:
        self._checked_scale()
        super()._check_settings()

    def _grown_tree(self, pool: RulePool) -> GrownNumberTree:
        return GrownNumberTree.of(pool)
