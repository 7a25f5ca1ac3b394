"""MIRCO, minimum rule cover: Algorithm 1 of the paper as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier, is_regressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from rulecover.estimators.checks import (
    check_column_names,
    check_model_fits,
    chosen,
    real_number,
    sample_weights,
    whole_number,
)
from rulecover.exceptions import MismatchedDataError, UnreadableModelError
from rulecover.fallback import FALLBACKS, Fallback
from rulecover.impurity import CRITERIA
from rulecover.pool import Price, RulePool, TrainingData
from rulecover.readers import read_trees
from rulecover.rules import RuleSet
from rulecover.setcover import Certificate, CoveringProblem, CoverSolver, Greedy
from rulecover.typing import Array, Bools, Floats, Ints
from rulecover.voting import VOTES, MajorityVote

if TYPE_CHECKING:
    import pandas as pd
    import scipy.sparse


def _search(time_limit: float | None, seed: int) -> CoverSolver:
    from rulecover.setcover.search import Search

    return Search(time_limit=time_limit, random_state=seed)


def _exact(time_limit: float | None, seed: int) -> CoverSolver:
    from rulecover.setcover.exact import Exact

    return Exact(random_state=seed) if time_limit is None else Exact(time_limit=time_limit, random_state=seed)


#: The solvers that have a name, made from the estimator's time limit and seed.
SOLVERS: dict[str, Callable[[float | None, int], CoverSolver]] = {
    "greedy": lambda time_limit, seed: Greedy(),
    "search": _search,
    "exact": _exact,
}


class MIRCOClassifier(ClassifierMixin, BaseEstimator):
    """A few rules of a forest that cover every training sample and vote almost as well as the forest.

    Every leaf of every tree is a rule, priced ``1 + impurity``; a weighted set cover chooses among them (Algorithm 1
    of Birbil, Edali and Yüceoğlu, 2020). The chosen rules vote (eq. (2)); rows that none covers go to a fallback.

    Parameters
    ----------
    estimator
        The forest, or any tree ensemble that `rulecover.readers` can read; it is cloned and trained on the data. A
        model that is trained already is taken as it is inside scikit-learn's ``FrozenEstimator`` (or see `explain`).
        By default a random forest of 100 trees of depth 10.
    criterion
        The impurity w: "gini", "entropy" or "log_loss" (another name of entropy), or an object of
        `rulecover.impurity`.
    solver
        How rules are chosen: "greedy" (Algorithm S.1, the paper), "search" (fewer rules in about a second), "exact"
        (proved optimal, or the best found with a bound), or an object of `rulecover.setcover` with its own settings.
    demand
        How many rules must cover each sample; where fewer cover it at all, all of them.
    max_rules
        A hard limit: the first picks of the greedy choice, if the cover would have more. Rule sets under such limits
        are nested; samples that stay uncovered are counted in `certificate_` and listed in `uncovered_`.
    impurity_weight, length_weight
        The cost of a rule is ``1 + impurity_weight · w + length_weight · clauses``, a clause being one feature's
        interval.
    vote
        "counts": each covering rule adds its number of training samples of each class (paper). "shares": each adds
        its share of each class.
    fallback
        Who answers for rows that no rule covers: "closest", the rules with the largest share of accepted clauses
        (the paper's text); "all", every rule times its share (the authors' program, and their tables); "majority",
        the most frequent class; "model", the source model.
    class_weight
        As in scikit-learn: ``None``, "balanced" or a dictionary; multiplies the sample weights.
    time_limit
        Seconds that a solver with a name may take to choose; the best cover so far is kept. The greedy choice takes
        milliseconds and knows no limit; reading the trees and training the estimator do not count.
    random_state
        Seed of the default forest, of an estimator without a seed of its own, and of the search.
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
    uncovered_ : ndarray
        Training rows covered less often than demanded, because of `max_rules`.
    estimator_ : object
        The trained source model.
    vote_ : MajorityVote
        The rules and what they say for each class.
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
    rule  then  samples  purity  if
    ...
    >>> mirco.predict(X[:2])
    array([0, 0])
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        criterion: Any = "gini",
        solver: Any = "greedy",
        demand: int = 1,
        max_rules: int | None = None,
        impurity_weight: float = 1.0,
        length_weight: float = 0.0,
        vote: str = "counts",
        fallback: Any = "closest",
        class_weight: Any = None,
        time_limit: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.criterion = criterion
        self.solver = solver
        self.demand = demand
        self.max_rules = max_rules
        self.impurity_weight = impurity_weight
        self.length_weight = length_weight
        self.vote = vote
        self.fallback = fallback
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # Fitting: Algorithm 1 ---------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MIRCOClassifier:
        """Trains the estimator unless it is frozen, and chooses its rules.

        Parameters
        ----------
        X
            Rows x columns: an array, a data frame or a sparse matrix.
        y
            A label for each row, of any kind.
        sample_weight
            Counts in training, impurities, votes and greedy gains; rows of weight zero need no cover.
        """
        solver = self._check_settings()
        data = self._training_data(X, y, sample_weight)
        pool = self._pool(data)
        problem = pool.problem(self.demand)
        cover = solver(problem, max_rules=self.max_rules)

        self.rules_: RuleSet = pool.written(cover.rules).shown_for(data.X)
        self.vote_ = MajorityVote.of(self.rules_, self.vote)  # type: ignore[arg-type]
        self.certificate_: Certificate = cover.certificate.without_proof()
        self.n_candidate_rules_ = len(pool)
        short = problem.shortfall(cover.rules) if self.certificate_.n_uncovered else np.zeros(0, dtype=np.intp)
        self.uncovered_: Ints = self._counted_rows[short]
        del self._counted_rows
        return self

    def _check_settings(self) -> CoverSolver:
        whole_number("demand", self.demand, at_least=1)
        if self.max_rules is not None:
            whole_number("max_rules", self.max_rules, at_least=1)
        if self.time_limit is not None:
            real_number("time_limit", self.time_limit, above=True)
        if self.vote not in VOTES:
            raise ValueError(f"vote is {self.vote!r}; choose one of {', '.join(map(repr, VOTES))}.")
        chosen("fallback", self.fallback, FALLBACKS)
        self._price()
        solver = chosen("solver", self.solver, SOLVERS)
        if not isinstance(self.solver, str):
            return solver  # type: ignore[no-any-return]
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        return solver(self.time_limit, seed)  # type: ignore[no-any-return]

    def _price(self) -> Price:
        return Price(
            chosen("criterion", self.criterion, CRITERIA),
            real_number("impurity_weight", self.impurity_weight),
            real_number("length_weight", self.length_weight),
        )

    def _training_data(self, X: Any, y: Any, sample_weight: Any) -> TrainingData:
        """Checks the data, trains the estimator on it, and leaves out rows that do not count."""
        estimator = self._source()
        check_column_names(X)
        given = X
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=self._finite(estimator, X),
        )
        check_classification_targets(y)
        weight = sample_weights(X, y, sample_weight, self.class_weight)
        self.estimator_ = self._trained(estimator, given, y, weight)
        self.classes_: Array = np.asarray(self.estimator_.classes_)
        unseen = np.setdiff1d(y, self.classes_)
        if unseen.size:
            raise MismatchedDataError(
                f"y has labels that the model never saw: {unseen[:5].tolist()}; it knows {self.classes_[:10].tolist()}."
            )
        codes = np.searchsorted(self.classes_, y)
        counted = np.arange(len(y)) if weight is None else np.flatnonzero(weight > 0)
        self._counted_rows = counted
        if len(counted) == len(y):
            return TrainingData(X, codes, self.classes_, weight)
        assert weight is not None
        return TrainingData(X[counted], codes[counted], self.classes_, weight[counted])

    def _source(self) -> Any:
        if self.estimator is None:
            return RandomForestClassifier(n_estimators=100, max_depth=10, n_jobs=self.n_jobs)
        with suppress(NotFittedError):  # a type that cannot be read is refused before it is trained
            read_trees(self.estimator)
        if is_regressor(self.estimator) or not is_classifier(self.estimator):
            raise UnreadableModelError(
                f"{_name(self.estimator)} is no classifier, but MIRCOClassifier explains classifiers; "
                "give a model that was trained on classes."
            )
        return self.estimator

    def _finite(self, estimator: Any, X: Any) -> bool | str:
        """What values are taken: NaN only where the model has a route for it, which in sparse data it has not."""
        return "allow-nan" if get_tags(estimator).input_tags.allow_nan and not issparse(X) else True

    def _trained(self, estimator: Any, X: Any, y: Array, weight: Floats | None) -> Any:
        if isinstance(estimator, FrozenEstimator):
            return estimator.fit(X, y).estimator  # trains nothing, raises if it is not fitted
        model = clone(estimator)
        if "random_state" in model.get_params() and model.get_params()["random_state"] is None:
            model.set_params(random_state=check_random_state(self.random_state).randint(2**31 - 1))
        if weight is None:
            return model.fit(X, y)
        if not has_fit_parameter(model, "sample_weight"):
            raise ValueError(f"{_name(model)} takes no sample weights; leave weights out or choose another estimator.")
        return model.fit(X, y, sample_weight=weight)

    def _pool(self, data: TrainingData) -> RulePool:
        ensemble = read_trees(self.estimator_)
        names = check_model_fits(ensemble, data.X, self._names())
        pool = data.pool(ensemble, self._price(), names, n_jobs=self.n_jobs, verbose=self.verbose)
        return pool if self.demand == 1 else pool.distinct()

    def _names(self) -> tuple[str, ...] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else tuple(map(str, names))

    def covering_problem(self, X: Any, y: Any, sample_weight: Any = None) -> CoveringProblem:
        """The set covering problem of a fitted model's rules on labelled data, for solvers and checks of your own.

        Its rules are numbered tree by tree, leaves by node number, leaves without a sample left out.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from rulecover.setcover import Greedy, verify
        >>> X, y = load_iris(return_X_y=True)
        >>> problem = MIRCOClassifier(random_state=0).fit(X, y).covering_problem(X, y)
        >>> verify(problem, Greedy()(problem)).n_uncovered
        0
        """
        check_is_fitted(self)
        frozen = clone(self).set_params(estimator=FrozenEstimator(self.estimator_))
        problem: CoveringProblem = frozen._pool(frozen._training_data(X, y, sample_weight)).problem(self.demand)
        return problem

    # Predicting: eq. (2) ----------------------------------------------------------------------------------------

    def predict(self, X: Any) -> Array:
        """The class with most votes for each row, the first on ties."""
        best = self._tally(X)[0].argmax(axis=1)
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: Any) -> Floats:
        """The share of the votes for each class, rows x classes."""
        tally = self._tally(X)[0]
        return np.asarray(tally / tally.sum(axis=1, keepdims=True))

    def apply(self, X: Any) -> scipy.sparse.csr_array:
        """Which rule covers which row: a boolean sparse matrix of rows x rules."""
        X = self._check_rows(X)
        return self.rules_.apply(X)

    def missed(self, X: Any) -> Bools:
        """Which rows no rule covers."""
        return np.asarray(self.apply(X).sum(axis=1) == 0).ravel()

    def fidelity(self, X: Any) -> float:
        """The share of rows on which the rules say what the source model says."""
        X = self._check_rows(X)
        mine = self.classes_[self._tally_checked(X)[0].argmax(axis=1)]
        return float(np.mean(mine == self.estimator_.predict(self._as_model_saw(X))))

    def why(self, X: Any) -> pd.DataFrame:
        """For each row the rules that decided and their votes, or how the fallback decided.

        One line for each row and rule that had a say. The columns are ``row`` (the place in X), ``prediction``,
        ``decided_by`` ("rules", or the name of the fallback), ``rule`` (the place in `rules_`, -1 if no rule had a
        say), ``text``, ``weight`` (1 for a rule that fired, the weight that the fallback gave it otherwise) and one
        ``votes_…`` for each class.
        """
        from rulecover.estimators.reasons import reasons

        X = self._check_rows(X)
        tally, missed = self._tally_checked(X)
        return reasons(self.vote_, self._fallback(), X, tally, missed)

    def _tally(self, X: Any) -> tuple[Floats, Bools]:
        return self._tally_checked(self._check_rows(X))

    def _tally_checked(self, X: Any) -> tuple[Floats, Bools]:
        tally, missed = self.vote_.tally(X)
        if missed.any():
            rows = X[np.flatnonzero(missed)]
            tally[missed] = self._fallback()(self.vote_, rows, _Seen(self.estimator_, self._as_model_saw))
        silent = tally.sum(axis=1) <= 0  # rules of other classes only, or a fallback without a say
        if silent.any():
            assert self.rules_.evidence is not None
            tally[silent] = self.rules_.evidence.totals
        return tally, missed

    def _fallback(self) -> Fallback:
        return chosen("fallback", self.fallback, FALLBACKS)  # type: ignore[no-any-return]

    def _check_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        check_column_names(X)
        return validate_data(
            self,
            X,
            reset=False,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=self._finite(self.estimator_, X),
        )

    def _as_model_saw(self, X: Any) -> Any:
        """Rows with the column names that the source model was trained with, if it was."""
        names = getattr(self.estimator_, "feature_names_in_", None)
        if names is None:
            return X
        import pandas as pd

        return pd.DataFrame(X, columns=names)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        source = RandomForestClassifier() if self.estimator is None else self.estimator
        with suppress(AttributeError, TypeError):  # what is no estimator is refused by fit, with a reason
            inner = get_tags(source)
            tags.input_tags.allow_nan = inner.input_tags.allow_nan
            tags.input_tags.sparse = inner.input_tags.sparse
        return tags


class _Seen:
    """The source model, given rows in the form that it was trained with."""

    def __init__(self, model: Any, as_seen: Callable[[Any], Any]) -> None:
        self.classes_ = model.classes_
        self._model, self._as_seen = model, as_seen

    def predict_proba(self, X: Any) -> Floats:
        return np.asarray(self._model.predict_proba(self._as_seen(X)))


def _name(model: Any) -> str:
    return type(model.estimator if isinstance(model, FrozenEstimator) else model).__name__


def explain(model: Any, X: Any, y: Any, *, sample_weight: Any = None, **options: Any) -> MIRCOClassifier:
    """A few rules of a model that is already trained; the model is never trained again.

    Parameters
    ----------
    model
        A trained tree ensemble that `rulecover.readers` can read.
    X, y
        Labelled data to choose and price the rules by: the model's training data, or other data with the same
        columns and labels.
    sample_weight
        What each row counts.
    **options
        As of `MIRCOClassifier`.

    Returns
    -------
    MIRCOClassifier
        Fitted; see its ``rules_``, ``certificate_``, ``predict`` and ``why``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(max_depth=5, random_state=0).fit(X, y)
    >>> few = explain(forest, X, y)
    >>> len(few.rules_) < 20 < few.n_candidate_rules_
    True
    """
    frozen = model if isinstance(model, FrozenEstimator) else FrozenEstimator(model)
    return MIRCOClassifier(frozen, **options).fit(X, y, sample_weight=sample_weight)
