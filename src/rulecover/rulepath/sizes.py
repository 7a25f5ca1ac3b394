"""How good every size of a nested family is, and which size to take."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulecover.rulepath.family import RuleFamily
from rulecover.targets.samples import Samples
from rulecover.typing import Array, Floats

if TYPE_CHECKING:
    import pandas as pd

#: Means that differ by less are equal.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class SizeScores:
    """The score and the fidelity of every size on some rows, and the score of the model; or those of several folds."""

    score: Floats
    fidelity: Floats
    model: Any

    @classmethod
    def in_folds(cls, folds: Sequence[SizeScores], n_sizes: int) -> SizeScores:
        """Folds x sizes; a path that ended sooner in some fold is as good at every larger size as at its end."""
        sizes = [np.minimum(np.arange(n_sizes), len(fold.score) - 1) for fold in folds]
        score = np.array([fold.score[mine] for fold, mine in zip(folds, sizes, strict=True)])
        fidelity = np.array([fold.fidelity[mine] for fold, mine in zip(folds, sizes, strict=True)])
        return cls(score, fidelity, np.array([fold.model for fold in folds]))


def size_scores(family: RuleFamily, X: Any, y: Array, weight: Floats, predicted: Array) -> SizeScores:
    """The scores of every size on these rows, given what the model predicts for them."""
    target, (score, fidelity) = family.target, family.scores(X, weight, y, predicted)
    merit = np.average(target.merit(predicted, y), weights=weight)
    return SizeScores(score, fidelity, float(target.score_of_merit(merit, y, weight)))


def standard_errors(scores: Floats) -> Floats:
    """The standard error of each size's mean score (folds x sizes); 0 if there is only one fold."""
    folds = len(scores)
    return np.asarray(scores.std(axis=0, ddof=1) / np.sqrt(folds)) if folds > 1 else np.zeros(scores.shape[1])


def best(scores: Floats) -> int:
    """The size of the best mean score, the smallest of those.

    >>> best(np.array([[0.5, 0.9, 0.9], [0.7, 0.9, 0.9]]))
    1
    """
    return _smallest(scores, float(scores.mean(axis=0).max()))


def one_standard_error(scores: Floats) -> int:
    """The smallest size whose mean score is within one standard error of the best.

    >>> one_standard_error(np.array([[0.5, 0.80, 0.84], [0.5, 0.86, 0.90]]))
    2
    >>> one_standard_error(np.array([[0.5, 0.85, 0.80], [0.5, 0.86, 0.94]]))
    1
    """
    top = best(scores)
    return _smallest(scores, float(scores.mean(axis=0)[top] - standard_errors(scores)[top]))


def within(scores: Floats, model: Floats, margin: float) -> int | None:
    """The smallest size whose mean score is at most `margin` below the model's; ``None`` if no size is.

    >>> within(np.array([[0.5, 0.88, 0.9], [0.5, 0.90, 0.9]]), np.array([0.9, 0.9]), 0.01)
    1
    """
    wanted = float(model.mean()) - margin
    return _smallest(scores, wanted) if bool((scores.mean(axis=0) >= wanted - _ROUNDING).any()) else None


def _smallest(scores: Floats, wanted: float) -> int:
    return int(np.flatnonzero(scores.mean(axis=0) >= wanted - _ROUNDING)[0])


#: How a size is chosen by scores in folds.
BY_SCORE: dict[str, Callable[[Floats], int]] = {"one-se": one_standard_error, "best": best}


def chosen_size(family: RuleFamily, held_out: SizeScores | None, choose: str, margin: float | None = None) -> int:
    """The size to take: by a name of `BY_SCORE`, or the smallest within a margin of the model; the largest unscored."""
    if held_out is None or not family.largest:
        return family.largest
    least = max(1, family.least)  # where there are rules, a model of rules has one
    scores = held_out.score[:, least:]
    if margin is None:
        return least + BY_SCORE[choose](scores)
    size = within(scores, held_out.model, margin)
    if size is not None:
        return least + size
    nearest = least + best(scores)
    short = held_out.model.mean() - held_out.score[:, nearest].mean()
    warnings.warn(
        f"no set of up to {family.largest} rules comes within {margin:g} of the model; the best, {nearest} rules, "
        f"is {short:.3g} below it and was taken. Raise max_rules or within.",
        UserWarning,
        stacklevel=3,
    )
    return nearest


def size_table(family: RuleFamily, samples: Samples, training: SizeScores, held_out: SizeScores | None) -> pd.DataFrame:
    """One row per size: its clauses, loss and scores."""
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
    return pd.DataFrame(columns, index=pd.Index(family.sizes, name="rules"))
