"""Rules as features: a transformer, and a sparse linear model on the rules of a trained model (RuleFit's idea)."""

from __future__ import annotations

import inspect
import time
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted, validate_data

from rulecover.clock import is_late
from rulecover.estimators.checks import real_number, sample_weights
from rulecover.estimators.in_time import sampling_order, trained_in_time
from rulecover.estimators.mirco import MIRCOClassifier
from rulecover.estimators.prepare import RuleModel, fresh
from rulecover.exceptions import CutShortWarning, UnreadableModelError
from rulecover.typing import Array, Floats, Ints

if TYPE_CHECKING:
    import scipy.sparse

#: Iterations that say how long others will take, and the share of the time that may be spent on these.
_FIRST, _SHARE = 10, 0.25


class RuleTransformer(TransformerMixin, BaseEstimator):
    """Turns rows into columns of 1 and 0: which rule covers them.

    Parameters
    ----------
    estimator
        A model of rules of this package; it is cloned and trained, unless it is inside scikit-learn's
        ``FrozenEstimator``. `MIRCOClassifier` by default. For a limit on the time give it one that has a `time_limit`:
        turning rows into columns is one pass over them.
    sparse_output
        Whether to return a sparse matrix; ``set_output(transform="pandas")`` needs a dense one.

    Attributes
    ----------
    estimator_ : object
        The trained model, whose ``rules_`` are the columns.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> columns = RuleTransformer(MIRCOClassifier(random_state=0)).set_output(transform="pandas").fit_transform(X, y)
    >>> columns.shape[0], set(columns.iloc[:, 0])
    (150, {0.0, 1.0})
    """

    def __init__(self, estimator: Any = None, *, sparse_output: bool = False) -> None:
        self.estimator = estimator
        self.sparse_output = sparse_output

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RuleTransformer:
        """Trains the model of rules.

        Parameters
        ----------
        X, y, sample_weight
            As in `MIRCOClassifier.fit`.

        Returns
        -------
        RuleTransformer
            Itself.

        Raises
        ------
        UnreadableModelError
            If the estimator is not a model of rules.
        """
        validate_data(self, X, skip_check_array=True)
        model = MIRCOClassifier() if self.estimator is None else self.estimator
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        trained = fresh(model).fit(X, y, **weights)
        self.estimator_ = trained.estimator if isinstance(trained, FrozenEstimator) else trained
        if not isinstance(self.estimator_, RuleModel):
            raise UnreadableModelError(
                f"{type(self.estimator_).__name__} has no rules to turn into columns; "
                "give a MIRCOClassifier, a MIRCORegressor or one of RCBoost."
            )
        return self

    def transform(self, X: Any) -> Array | scipy.sparse.csr_array:
        """One column per rule, rows x rules.

        Parameters
        ----------
        X
            Rows x columns: an array, a sparse matrix or a data frame.

        Returns
        -------
        scipy.sparse.csr_array or numpy.ndarray
            1 where the rule covers the row, 0 elsewhere; sparse with ``sparse_output=True``.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted yet.
        ValueError
            If X does not have the columns that the model was fitted to.
        """
        check_is_fitted(self)
        covered = self.estimator_.apply(X).astype(np.float64)
        return covered if self.sparse_output else covered.toarray()

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The text of each rule.

        Parameters
        ----------
        input_features
            Not used; for scikit-learn.

        Returns
        -------
        numpy.ndarray
            Texts, in the order of the columns.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted yet.
        """
        check_is_fitted(self)
        return np.array([rule.text for rule in self.estimator_.rules_], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags = (
            (MIRCOClassifier() if self.estimator is None else self.estimator).__sklearn_tags__().input_tags
        )
        return tags


def linear_rules(
    model: RuleModel,
    X: Any,
    y: Any,
    *,
    C: float = 0.1,
    sample_weight: Any = None,
    time_limit: float | None = None,
) -> Pipeline:
    """A sparse linear model on the rules of a trained model, as RuleFit has it: logistic for classes.

    Parameters
    ----------
    model
        A trained model of rules of this package; those of RCBoost have the richest pools.
    X, y, sample_weight
        Data to weigh the rules by.
    C
        The smaller, the fewer rules keep a weight (scikit-learn's inverse strength of the L1 penalty).
    time_limit
        Seconds for everything, no limit by default. Iterations go on until the weights converge or time is up, on a
        sample of the rows where a few iterations on all of them would take a quarter of it. A `CutShortWarning` says
        what was cut; with time to spare the weights are the same as without a limit.

    Returns
    -------
    Pipeline
        Fitted: rules as columns, then scikit-learn's `LogisticRegression`, or its `Lasso` for numbers, whose ``coef_``
        are the rules' weights.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rulecover import RCBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> boosted = RCBoostClassifier(max_rmp_calls=5, random_state=0).fit(X, y)
    >>> sparse = linear_rules(boosted, X, y, C=0.05)
    >>> bool(0 < np.count_nonzero(sparse[-1].coef_) < len(boosted.rules_))
    True
    """
    begin = time.perf_counter()
    real_number("C", C, above=True)
    if time_limit is not None:
        real_number("time_limit", time_limit, above=True)
    check_is_fitted(model)
    rules = RuleTransformer(FrozenEstimator(model), sparse_output=True)
    weight = sample_weights(X, np.asarray(y), sample_weight, None)
    if time_limit is not None:
        seconds = float(time_limit)
        return _fitted_in_time(rules.fit(X, y), X, np.asarray(y).ravel(), weight, C, begin=begin, seconds=seconds)
    regression = _lasso(C, y, weight) if is_regressor(model) else _logistic(C)
    weights = {} if weight is None else {f"{type(regression).__name__.lower()}__sample_weight": weight}
    return make_pipeline(rules, regression).fit(X, y, **weights)


def _logistic(C: float) -> LogisticRegression:
    # scikit-learn 1.8 replaced the penalty's name by the share of L1 in it.
    by_share = inspect.signature(LogisticRegression).parameters["l1_ratio"].default is not None
    penalty: dict[str, Any] = {"l1_ratio": 1.0} if by_share else {"penalty": "l1"}
    return LogisticRegression(C=C, solver="saga", max_iter=5000, tol=1e-3, random_state=0, **penalty)


def _lasso(C: float, y: Any, weight: Floats | None) -> Lasso:
    """C times half the squared errors, in units of the standard deviation of y, plus the absolute weights."""
    numbers = np.asarray(y, dtype=np.float64)
    spread = float(np.sqrt(np.average((numbers - np.average(numbers, weights=weight)) ** 2, weights=weight)))
    # scikit-learn takes the mean of the squared errors, over the sum of the weights.
    return Lasso(alpha=(spread or 1.0) / (C * float(np.sum(weight) if weight is not None else len(numbers))))


# In time --------------------------------------------------------------------------------------------------------------


class _Weighing(NamedTuple):
    """Rules as columns, what is to be predicted, what the rows count, and a regression on them."""

    columns: Any
    y: Array
    weight: Floats | None
    regression: Any

    def converges(self, iterations: int, *, warm: bool = False) -> bool:
        """Whether the weights converge in this many iterations, from where they are if `warm`."""
        given = self.regression.max_iter
        self.regression.set_params(max_iter=iterations, warm_start=warm)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.regression.fit(self.columns, self.y, sample_weight=self.weight)
        self.regression.set_params(max_iter=given, warm_start=False)
        for each in caught:
            if not issubclass(each.category, ConvergenceWarning):
                warnings.warn(each.message, stacklevel=2)
        return not any(issubclass(each.category, ConvergenceWarning) for each in caught)

    def converges_by(self, deadline: float, seconds: float) -> bool:
        """Whether the weights converge in time, if an iteration takes some seconds at first.

        Half of the time that is left is for the first iterations, which begin anew as they do without a limit, and half
        of what is then left for more.
        """
        most, done = int(self.regression.max_iter), 0
        while done < most and not is_late(deadline, seconds=2 * seconds):
            begin = time.perf_counter()
            iterations = min(int((deadline - begin) / 2 / seconds), most - done)
            if self.converges(iterations, warm=done > 0):
                return True
            done += iterations
            seconds = (time.perf_counter() - begin) / iterations
        if done >= most:
            warnings.warn(f"the weights did not converge in {most} iterations.", ConvergenceWarning, stacklevel=5)
        return done >= most


def _fitted_in_time(
    rules: RuleTransformer, X: Any, y: Array, weight: Floats | None, C: float, *, begin: float, seconds: float
) -> Pipeline:
    """The rules with a regression on the columns that they make of all rows, or of some, in time from `begin` on."""
    classes = not is_regressor(rules.estimator_)
    order = sampling_order(y, weight, classes=classes, n_columns=len(rules.estimator_.rules_))

    def begun(rows: Ints) -> tuple[_Weighing, bool, float]:
        """The first iterations on some of the rows, whether they were enough, and the seconds of each."""
        mine, target, counted = X, y, weight
        if len(rows) < len(order.rows):
            some = np.sort(rows)
            mine, target = _safe_indexing(X, some), y[some]
            counted = None if weight is None else weight[some]
        regression = _logistic(C) if classes else _lasso(C, target, counted)
        weighing = _Weighing(rules.transform(mine), target, counted, regression)
        start = time.perf_counter()
        enough = weighing.converges(min(_FIRST, regression.max_iter))
        return weighing, enough, (time.perf_counter() - start) / _FIRST

    (weighing, enough, each), size = trained_in_time(begun, order, begin + _SHARE * seconds)
    converged = enough or weighing.converges_by(begin + seconds, each)
    cut = [] if size == len(order.rows) else [f"the weights are those of {size:,} of {len(order.rows):,} rows"]
    if not converged:
        cut.append("they did not converge" if cut else "the weights did not converge")
    if cut:
        said = f"time_limit is {seconds:g} s: {' and '.join(cut)}"
        warnings.warn(f"{said}; give more time, or a model of fewer rules.", CutShortWarning, stacklevel=3)
    return make_pipeline(rules, weighing.regression)
