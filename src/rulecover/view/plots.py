"""Plots: each takes the axes to draw on and returns them; matplotlib is imported when first needed."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def plot_path(path: pd.DataFrame, *, size: int, model_score: float, ax: Any = None) -> Any:
    """The score of every size: cross-validated with its standard error where it is known, on training rows elsewhere.

    Parameters
    ----------
    path
        One row a size, as `RulePathClassifier.path_` has it.
    size
        The size that was taken; marked by a dotted line.
    model_score
        The score of the source model, a dashed line; NaN leaves it out.
    ax
        Where to draw; a new figure by default.
    """
    axes = _new_axes() if ax is None else ax
    sizes = path.index.to_numpy()
    axes.plot(sizes, path["train_score"], color="tab:gray", label="training rows")
    if "cv_score" in path:
        score, error = path["cv_score"], path["cv_se"]
        axes.plot(sizes, score, color="tab:blue", label="cross-validated")
        axes.fill_between(sizes, score - error, score + error, color="tab:blue", alpha=0.2, linewidth=0)
    if not isnan(model_score):
        axes.axhline(model_score, color="tab:green", linestyle="--", label="source model, cross-validated")
    axes.axvline(size, color="black", linestyle=":", label=f"{size} {'rule' if size == 1 else 'rules'} taken")
    axes.set_xlabel("rules")
    axes.set_ylabel("score")
    axes.legend()
    return axes


def _new_axes() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "plots need matplotlib, which is not installed; pip install 'rulecover[plot]' brings it."
        ) from error
    return pyplot.subplots()[1]
