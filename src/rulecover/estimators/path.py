"""A nested path of rule sets from one model: what the classifier and the regressor share."""

from __future__ import annotations

import numbers
import warnings
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils import indexable
from sklearn.utils.validation import check_is_fitted

from rulecover.coverage import addable
from rulecover.estimators.base import VotingModel, fresh
from rulecover.estimators.booster import check_trains_anew
from rulecover.estimators.checks import check_model_fits, real_number, whole_number
from rulecover.estimators.held_out import HeldOut, folds_of, held_out
from rulecover.estimators.out_of_bag import HonestModel
from rulecover.estimators.prepare import Prepared, Source
from rulecover.exceptions import UnreadableModelError
from rulecover.pool import rule_pool
from rulecover.progress import tracked
from rulecover.rulepath.candidates import Candidates, node_candidates, rule_candidates
from rulecover.rulepath.constraints import Constraints, column_numbers
from rulecover.rulepath.family import RuleFamily
from rulecover.rulepath.forward import ForwardPath, Terms, forward_path
from rulecover.rulepath.sizes import best, one_standard_error, standard_errors, within
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.impurity import Impurity, Price
from rulecover.targets.samples import Samples
from rulecover.targets.task import Task
from rulecover.typing import Array, Floats, Ints
from rulecover.voting.answers import Answer
from rulecover.voting.fallback import Default, Fallback

if TYPE_CHECKING:
    import pandas as pd

CHOICES = ("one-se", "best", "last")

#: From so many rows on candidates lie deeper by default.
_MANY_ROWS = 2000


class RulePath(VotingModel):
    """Follows the path, chooses a size, and answers by added votes."""

    _impurity: ClassVar[Impurity]

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

    @abstractmethod
    def _task(self) -> Task:
        """What is predicted, once the estimator is trained."""

    @abstractmethod
    def _answer(self) -> Answer:
        """How sums of votes become answers."""

    # Fitting ----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Trains the estimator unless it is frozen, follows the path, and takes the size that was asked for.

        Parameters
        ----------
        X
            Rows x columns: an array, a data frame or a sparse matrix.
        y
            What is to be predicted, one a row.
        sample_weight
            What each row counts; rows of weight zero do not count at all.
        """
        self._check_settings()
        prepared = self._prepare(X, y, sample_weight)
        data, rows = prepared.samples, prepared.rows
        self._source_model = self._model(X, rows)
        y = self._check_target(np.asarray(y).ravel())
        self._family = self._followed(prepared, y[rows])
        figures = None if self._takes_all() else self._cross_validated(X, y, sample_weight)
        self.path_ = self._table(data, y[rows], figures)
        self.model_score_ = np.nan if figures is None else float(figures.model.mean())
        self._take(self._chosen_size(figures))
        del self._source_model
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
        whole_number("max_rules", self.max_rules, at_least=1)
        if self.max_depth is not None:
            whole_number("max_depth", self.max_depth, at_least=1)
        whole_number("min_samples", self.min_samples, at_least=1)
        whole_number("tries", self.tries, at_least=0)
        if self.max_clauses is not None:
            whole_number("max_clauses", self.max_clauses, at_least=1)
        if self.keep is not None and not isinstance(self.keep, RuleSet):
            raise TypeError(f"keep is {self.keep!r}; give a RuleSet, such as RuleSet.of_intervals makes.")
        real_number("ridge", self.ridge, above=True)
        if self.shrinkage is not None:
            real_number("shrinkage", self.shrinkage)
        if real_number("model_share", self.model_share) > 1:
            raise ValueError(f"model_share is {self.model_share}; it must be at most 1.")
        if self.within is not None:
            real_number("within", self.within)
        if isinstance(self.cv, numbers.Integral):
            whole_number("cv", self.cv, at_least=2)
        if self.choose not in CHOICES:
            raise ValueError(f"choose is {self.choose!r}; give one of {', '.join(map(repr, CHOICES))}.")
        if not self._takes_all():
            way_out = "give choose='last', and take another size by at(n_rules)"
            check_trains_anew(self.estimator, "a size is chosen in folds", way_out)

    def _followed(self, prepared: Prepared, y: Array) -> RuleFamily:
        """The path on these samples, from the nodes of the trained estimator."""
        data, task = prepared.samples, self._task()
        everything = self._everything(data, prepared.source)
        constraints = self._constraints(everything.source.columns.names)
        kept = None
        if self.keep is not None:
            constraints.check_given(self.keep, self.max_rules)
            kept = self.keep.in_codes_of(everything.source.columns)
        rules = everything.rules()
        allowed = np.flatnonzero(constraints.allows(rules))
        nodes = everything.take(allowed)
        candidates = nodes.take(nodes.distinct(np.argsort(rules.lengths[allowed], kind="stable")))
        self.n_candidate_rules_ = len(candidates)
        path = forward_path(
            candidates,
            self._target(data.X, y, task, prepared.rows),
            data.X,
            max_rules=self.max_rules,
            terms=Terms(self.ridge, self._shrinkage(candidates), self.tries),
            constraints=constraints,
            given=kept,
            verbose=self.verbose,
        )
        return self._family_of(path, kept, data, task)

    def _everything(self, data: Any, source: Source) -> Candidates:
        """All there is to choose from: the nodes of the model's trees, or the rules of a model of rules."""
        least = self.min_samples
        if source.trees is None:
            return rule_candidates(source.model.rules_, data.X, data.weight, min_samples=least)
        names = check_model_fits(source.trees, data.X, self._names())
        depth = self.max_depth or usual_depth(data.X.shape[0] if data.weight is None else data.weight.sum())
        return node_candidates(
            source.trees, data.X, data.weight, names, max_depth=depth, min_samples=least, n_jobs=self.n_jobs
        )

    def _shrinkage(self, candidates: Candidates) -> float:
        return usual_shrinkage(candidates.total) if self.shrinkage is None else self.shrinkage

    def _family_of(self, path: ForwardPath, kept: RuleSet | None, data: Any, task: Task) -> RuleFamily:
        rules = path.rules if kept is None else kept.join(path.rules)
        rules = self._with_evidence(rules, data).shown_for(data.X)
        # Sums of votes are exact: they are the same in whatever order, and on whatever machine, they are added.
        votes = np.stack([addable(mine) for mine in task.votes(path.votes)])
        return RuleFamily(rules, votes, path.loss, self._answer(), path.least)

    def _with_evidence(self, rules: RuleSet, data: Samples) -> RuleSet:
        """The rules, knowing what they met in the data; if one of those to be kept met nothing, none does."""
        met = rule_pool(data, rules, Price(self._impurity))
        return met.rules if len(met) == len(rules) else rules

    def _constraints(self, names: tuple[str, ...]) -> Constraints:
        made = Constraints.of(
            names,
            forbidden=self.forbidden,
            required=self.required,
            monotone=self.monotone,
            max_clauses=self.max_clauses,
        )
        if made.monotone.any() and len(self._task().answers) > 2:
            raise ValueError(
                f"monotone features need two classes or numbers, but there are {len(self._task().answers)} classes; "
                "leave monotone out, or ask for one class against the others."
            )
        return made

    def _fallback(self) -> Fallback:
        return Default()

    def _source(self, y: Any) -> Any:
        if isinstance(self.estimator, RuleSet):
            raise UnreadableModelError(
                "a path is chosen by what a model says, and rules made by hand have none behind them; "
                "give a model, and the rules as keep."
            )
        return super()._source(y)

    def _trained(self, estimator: Any, X: Any, y: Array, weight: Floats | None) -> Any:
        """The estimator, trained without the columns that no rule may use, so that its nodes do."""
        if self.forbidden is not None and not isinstance(estimator, FrozenEstimator):
            names = self._names() or tuple(f"x{f}" for f in range(self.n_features_in_))
            X = blanked(X, column_numbers("forbidden", self.forbidden, names))
        return super()._trained(estimator, X, y, weight)

    def _target(self, X: Any, y: Array, task: Task, places: Ints) -> Floats:
        """What the rules are to say: y, softened by what the model says of the same rows, honestly if it can."""
        target = task.targets(y)
        if self.model_share:
            asked = self._source_model
            says = task.model_outputs(HonestModel(self.estimator_, asked, asked.as_seen, places), X)
            target = (1.0 - self.model_share) * target + self.model_share * says
        return target

    # Choosing a size --------------------------------------------------------------------------------------------

    def _takes_all(self) -> bool:
        return self.within is None and self.choose == "last"

    def _cross_validated(self, X: Any, y: Array, sample_weight: Any) -> HeldOut | None:
        """The scores of every size in folds; in each the estimator is trained anew on a part of the rows."""
        weight = self._weights(X, y, sample_weight)
        model = fresh(self).set_params(choose="last", within=None, verbose=0)
        if hasattr(self, "class_weight"):  # it is in the weights already
            model.set_params(class_weight=None)
        if isinstance(self.estimator, FrozenEstimator):
            model.set_params(estimator=fresh(self.estimator.estimator))
        (X,) = indexable(X)
        folds = folds_of(self.cv, X, y, classes=is_classifier(self), random_state=self.random_state)
        shown = tracked(folds, "Cross-validating", total=len(folds), verbose=self.verbose)
        return held_out(model.fit, shown, X, y, weight, n_sizes=self._family.largest + 1)

    def scored(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[Floats, Floats, float]:
        """The score and the fidelity of every size of the path on labelled rows, and the score of the model."""
        rows, task, y = self._check_rows(X, whole=True), self._task(), np.asarray(y)
        weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        model = self._model(X, np.arange(len(y))).predict(rows)
        score, fidelity = self._family.scores(rows, task, weight, y, model)
        merit = np.average(task.merit(model, y), weights=weight)
        return score, fidelity, float(task.score(merit, y, weight))

    def _chosen_size(self, figures: HeldOut | None) -> int:
        largest = self._family.largest
        if figures is None or not largest:
            return largest
        least = max(1, self._family.least)  # where there are rules, a model of rules has one
        scores = figures.scores[:, least:]
        if self.within is None:
            return least + (best(scores) if self.choose == "best" else one_standard_error(scores))
        size = within(scores, figures.model, self.within)
        if size is not None:
            return least + size
        nearest = least + best(scores)
        short = figures.model.mean() - figures.scores[:, nearest].mean()
        warnings.warn(
            f"no set of up to {largest} rules comes within {self.within:g} of the model; the best, {nearest} rules, "
            f"is {short:.3g} below it and was taken. Raise max_rules or within.",
            UserWarning,
            stacklevel=3,
        )
        return nearest

    def _table(self, data: Any, y: Array, figures: HeldOut | None) -> pd.DataFrame:
        import pandas as pd

        family, task = self._family, self._task()
        weight = np.ones(len(y)) if data.weight is None else data.weight
        model = self._source_model.predict(data.X)
        score, fidelity = family.scores(data.X, task, weight, y, model)
        columns: dict[str, Any] = {
            "clauses": np.concatenate([[0], np.cumsum(family.rules.lengths)]),
            "loss": family.loss / weight.sum(),
            "train_score": score,
            "train_fidelity": fidelity,
            "coverage": family.coverage(data.X, weight),
        }
        if figures is not None:
            columns |= {
                "cv_score": figures.scores.mean(axis=0),
                "cv_se": standard_errors(figures.scores),
                "cv_fidelity": figures.fidelity.mean(axis=0),
            }
        return pd.DataFrame(columns, index=pd.Index(family.sizes, name="rules"))

    # Answering --------------------------------------------------------------------------------------------------

    def fidelity(self, X: Any) -> float:
        """How well the rules say what the source model says, by the score that `score` gives for true labels."""
        rows, task = self._check_rows(X, whole=True), self._task()
        model = self._model(X, np.arange(rows.shape[0])).predict(rows)
        mean = float(task.merit(self.vote_.decided(self._tally(rows)), model).mean())
        return float(task.score(mean, model, np.ones(len(model))))

    def why(self, X: Any) -> pd.DataFrame:
        """For each row the default vote and the votes of the rules that it meets; they add up to the answer.

        The columns are ``row`` (the place in X), ``prediction``, ``rule`` (the place in `rules_`, -1 for the default
        vote), ``text`` and ``vote``, or one ``votes_…`` for each class.
        """
        return super().why(X)

    def plot_path(self, ax: Any = None) -> Any:
        """The score of every size as a curve, beside the model's score, with the size that was taken.

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


def usual_depth(n_samples: float) -> int:
    """How deep candidates lie: deep rules pay where there are rows enough to tell good ones from lucky ones.

    >>> usual_depth(500), usual_depth(5000)
    (4, 8)
    """
    return 4 if round(n_samples) < _MANY_ROWS else 8


def usual_shrinkage(total: float) -> float:
    """A twentieth of the (weighted) samples, at most 50: among few samples small rules must be allowed to compete.

    >>> usual_shrinkage(200), usual_shrinkage(5000)
    (10.0, 50.0)
    """
    return min(50.0, total / 20.0)


def blanked(X: Any, columns: Ints) -> Any:
    """X with nothing but zeros in some columns, on which no tree will split."""
    if hasattr(X, "isetitem"):
        X = X.copy()
        for column in columns.tolist():
            X.isetitem(column, 0.0)
        return X
    keeps = np.ones(np.shape(X)[1])
    keeps[columns] = 0.0
    if issparse(X):
        return X.tocsr().multiply(keeps).tocsr()
    return np.where(keeps > 0, np.asarray(X), 0.0)
