"""Which size of a nested family to take, by cross-validated scores (folds x sizes, the higher the better)."""

from __future__ import annotations

import numpy as np

from rulecover.typing import Floats


def standard_errors(scores: Floats) -> Floats:
    """The standard error of each size's mean score; 0 where there is but one fold."""
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


#: Means that differ by less are equal.
_ROUNDING = 1e-12


def _smallest(scores: Floats, wanted: float) -> int:
    return int(np.flatnonzero(scores.mean(axis=0) >= wanted - _ROUNDING)[0])
