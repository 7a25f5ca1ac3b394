"""How good every size of a nested family is, and which size to take."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from rulecover.exceptions import RulecoverWarning
from rulecover.rulepath.family import RowPredictions, RuleFamily
from rulecover.targets.samples import Samples
from rulecover.typing import Array, Floats

if TYPE_CHECKING:
    import pandas as pd

#: Means that differ by less are equal.
_ROUNDING = 1e-12
#: How likely a difference is to be below a margin before that is promised.
_SURE = 0.95
#: How many sizes in a row must be within a margin of the model.
_STEADY = 5
#: What the best size gains over no rule at all, less than this share of it, is not worth a rule.
_NOT_WORTH_A_RULE = 0.01


#: From predictions, the truth and weights to a score, the higher the better.
Score = Callable[[RowPredictions, Array, Floats], float]


class SizeScores(NamedTuple):
    """How good every size is on some rows, and how good the model is.

    Parameters
    ----------
    score
        The score of the estimator: accuracy, or R².
    fidelity
        The same with what the model predicts as the truth.
    chosen_by
        The score by which a size is chosen; NaN where it is not defined.
    model
        The score of the model.
    model_chosen_by
        The score by which a size is chosen, of the model.
    """

    score: Floats
    fidelity: Floats
    chosen_by: Floats
    model: float
    model_chosen_by: float


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows as the rules see them, with what is to be predicted and their weights."""

    X: Any
    labels: Array
    count: Floats


def size_scores(
    family: RuleFamily, rows: LabelledRows | Samples, model: RowPredictions | None, by: Score | None = None
) -> SizeScores:
    """The scores of every size on labelled rows, given what the model predicts for them; NaN where it is not known."""
    target, y, weight = family.target, rows.labels, rows.count

    def own(predictions: RowPredictions, truth: Array) -> float:
        return target.score(truth, predictions.values, weight)

    def chosen_by(predictions: RowPredictions, score: float) -> float:
        return score if by is None else by(predictions, y, weight)

    sizes = []
    for sums in family.sums(rows.X):
        predictions = family.predictions(sums, with_shares=by is not None)
        score = own(predictions, y)
        fidelity = np.nan if model is None else own(predictions, model.values)
        sizes.append((score, fidelity, chosen_by(predictions, score)))
    ours = np.array(sizes).T
    if model is None:
        return SizeScores(ours[0], ours[1], ours[2], np.nan, np.nan)
    theirs = own(model, y)
    return SizeScores(ours[0], ours[1], ours[2], theirs, _or_nan(lambda: chosen_by(model, theirs)))


def _or_nan(score: Callable[[], float]) -> float:
    """The score; NaN where the model lacks what it needs, such as probabilities."""
    try:
        return score()
    except (AttributeError, ValueError):
        return float("nan")


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The scores of every size, folds x sizes, and of the model in each fold; see `SizeScores`."""

    score: Floats
    fidelity: Floats
    chosen_by: Floats
    model: Floats
    model_chosen_by: Floats

    @classmethod
    def of(cls, folds: Sequence[SizeScores], n_sizes: int) -> HeldOut:
        """A path that ended sooner in some fold is as good at every larger size as at its end."""

        def all_sizes(scores: Iterable[Floats]) -> Floats:
            return np.array([mine[np.minimum(np.arange(n_sizes), len(mine) - 1)] for mine in scores])

        return cls(
            all_sizes(fold.score for fold in folds),
            all_sizes(fold.fidelity for fold in folds),
            all_sizes(fold.chosen_by for fold in folds),
            np.array([fold.model for fold in folds]),
            np.array([fold.model_chosen_by for fold in folds]),
        )

    def where_defined(self, by: str) -> HeldOut:
        """The folds in which the score by which a size is chosen is defined for every size."""
        defined = np.flatnonzero(np.isfinite(self.chosen_by).all(axis=1))
        if not defined.size:
            raise ValueError(
                f"{by} is not defined in any fold, perhaps because none has rows of every class, or more than one row; "
                "take fewer folds (cv), another scoring, or the largest set (choose='last')."
            )
        return HeldOut(*(getattr(self, field.name)[defined] for field in fields(self)))


def standard_errors(scores: Floats) -> Floats:
    """The standard error of each size's mean score (folds x sizes); 0 if there is only one fold."""
    folds = len(scores)
    return np.asarray(scores.std(axis=0, ddof=1) / np.sqrt(folds)) if folds > 1 else np.zeros(scores.shape[1])


def best(scores: Floats, least: int = 0) -> int:
    """The size of the best mean score, the smallest of those that are at least `least`.

    >>> best(np.array([[0.5, 0.9, 0.9], [0.7, 0.9, 0.9]]))
    1
    """
    means = scores.mean(axis=0)[least:]
    return least + int(np.flatnonzero(means >= means.max() - _ROUNDING)[0])


def one_standard_error(scores: Floats, least: int = 0) -> int:
    """The smallest size that is not worse than the best by more than one standard error of the difference.

    The standard error is that of the difference in each fold: what makes a fold easy or hard for both is not counted.
    A hundredth of what the best gains over no rule is not counted either, however sure it is.

    Parameters
    ----------
    scores
        Folds x sizes, the first of which has no rule.
    least
        The smallest size that may be taken.

    Examples
    --------
    >>> one_standard_error(np.array([[0.5, 0.80, 0.84], [0.5, 0.86, 0.90]]))
    2
    >>> one_standard_error(np.array([[0.5, 0.85, 0.80], [0.5, 0.86, 0.94]]))
    1
    >>> one_standard_error(np.array([[0.5, 0.997, 0.999], [0.5, 0.997, 0.999]]))
    1
    """
    behind = scores[:, [best(scores, least)]] - scores
    means = behind.mean(axis=0)
    little = np.maximum(standard_errors(behind), _NOT_WORTH_A_RULE * means[0])
    return least + int(np.flatnonzero(means[least:] <= little[least:] + _ROUNDING)[0])


def within(scores: Floats, model: Floats, margin: float) -> int | None:
    """The smallest size that is very likely at most `margin` below the model on new rows; ``None`` if no size is.

    The upper end of an interval for the difference is at most the margin: by Student's distribution, and with the
    variance that Nadeau and Bengio (2003) give for folds that share most of the rows that they learn from. The
    next four sizes must be as near: a size that was lucky in the folds seldom has such neighbours.

    >>> within(np.array([[0.5, 0.89, 0.9], [0.5, 0.90, 0.9]]), np.array([0.9, 0.9]), 0.06)
    1
    >>> within(np.array([[0.5, 0.89, 0.9], [0.5, 0.90, 0.9]]), np.array([0.9, 0.9]), 0.01)
    2
    >>> within(np.array([[0.5, 0.91, 0.8, 0.9], [0.5, 0.91, 0.8, 0.9]]), np.array([0.9, 0.9]), 0.01)
    3
    >>> within(np.array([[0.5] + [0.9] * 5 + [0.8], [0.5] + [0.9] * 5 + [0.8]]), np.array([0.9, 0.9]), 0.01)
    1
    """
    behind = model[:, None] - scores
    far = np.flatnonzero(behind.mean(axis=0) + _uncertain(behind) > margin + _ROUNDING)
    sizes = np.arange(scores.shape[1])
    next_far = np.append(far, len(sizes) + _STEADY)[np.searchsorted(far, sizes)]
    steady = np.flatnonzero(next_far >= sizes + _STEADY)
    return int(steady[0]) if steady.size else None


def _uncertain(differences: Floats) -> Floats:
    """How far the mean of each column may very likely be below what it is on new rows; 0 if there is only one fold."""
    folds = len(differences)
    if folds == 1:
        return np.zeros(differences.shape[1])
    variance = differences.var(axis=0, ddof=1) * (1.0 / folds + 1.0 / (folds - 1))
    return np.asarray(stdtrit(folds - 1, _SURE) * np.sqrt(variance))


#: How a size is chosen by scores in folds.
BY_SCORE: dict[str, Callable[[Floats, int], int]] = {"one-se": one_standard_error, "best": best}


#: Scores whose names in words are not those of scikit-learn with blanks.
_IN_WORDS = {
    "neg_brier_score": "Brier score",
    "roc_auc": "ROC AUC",
    "r2": "R²",
    "neg_mean_squared_error": "mean squared error",
    "neg_root_mean_squared_error": "root mean squared error",
}


def score_in_words(scoring: str) -> str:
    """What people call a score of scikit-learn; negated ones by the name of the loss.

    >>> score_in_words("neg_brier_score"), score_in_words("neg_log_loss"), score_in_words("average_precision")
    ('Brier score', 'log loss', 'average precision')
    """
    return _IN_WORDS.get(scoring, scoring.removeprefix("neg_").replace("_", " "))


class ChosenSize(NamedTuple):
    """A size, and why it was taken."""

    size: int
    reason: str


def chosen_size(
    family: RuleFamily, held_out: HeldOut | None, choose: str, margin: float | None = None, by: str = "score"
) -> ChosenSize:
    """The size to take: by a name of `BY_SCORE`, or the smallest within a margin of the model; the largest unscored."""
    if held_out is None or not family.largest:
        return ChosenSize(family.largest, "the largest set")
    by, least = score_in_words(by), max(1, family.least)  # where there are rules, a model of rules has one
    held_out = held_out.where_defined(by)
    scores = held_out.chosen_by
    top = best(scores, least)
    if margin is None:
        size = BY_SCORE[choose](scores, least)
        best_of_all = f"{'1 rule has' if top == 1 else f'{top} rules have'} the best cross-validated {by}"
        are = "is the fewest that is" if size == 1 else "are the fewest that are"
        fewest = f", and {size} {are} worse by at most one standard error, or next to nothing"
        return ChosenSize(size, best_of_all + (fewest if size < top else ""))
    if np.isnan(held_out.model_chosen_by).any():
        raise ValueError(
            f"within is {margin:g}, which is measured from the model's {by}, but the model gives no probabilities; "
            "choose a scoring that needs none, such as 'accuracy', or give max_rules in place of within."
        )
    near = within(scores[:, least:], held_out.model_chosen_by, margin)
    if near is not None:
        reason = f"{least + near} rules are the fewest whose {by} is very likely within {margin:g} of the model's"
        return ChosenSize(least + near, reason)
    short = held_out.model_chosen_by.mean() - held_out.chosen_by[:, top].mean()
    reason = f"no set of up to {family.largest} rules is surely within {margin:g} of the model by {by}"
    is_it = f"is {abs(short):.3g} {'below' if short > 0 else 'above'} it in cross-validation"
    warnings.warn(
        f"{reason}; the best, {top} rules, {is_it} and was taken. Raise max_rules or within.",
        RulecoverWarning,
        stacklevel=3,
    )
    return ChosenSize(top, f"{reason}, and {top} rules have the best")


def size_table(
    family: RuleFamily, samples: Samples, training: SizeScores, held_out: HeldOut | None, by: str | None = None
) -> pd.DataFrame:
    """One row per size: its clauses, loss and scores; `by` names the score by which a size is chosen, if another."""
    import pandas as pd

    columns: dict[str, Any] = {
        "clauses": np.concatenate([[0], np.cumsum(family.rules.lengths)]),
        "loss": family.loss / samples.count.sum(),
        "train_score": training.score,
        "train_fidelity": training.fidelity,
        "coverage": family.coverage(samples.X, samples.count),
    }
    if held_out is not None:
        columns |= {
            "cv_score": held_out.score.mean(axis=0),
            "cv_se": standard_errors(held_out.score),
            "cv_fidelity": held_out.fidelity.mean(axis=0),
        }
        if by is not None:
            columns |= {f"cv_{by}": held_out.chosen_by.mean(axis=0)}
    return pd.DataFrame(columns, index=pd.Index(family.sizes, name="rules"))
