"""What changes as rules are added."""

from __future__ import annotations

from math import isnan
from typing import Any

import numpy as np

from rulecover.plot.canvas import COLOURS, QUIET, axes_or_new, bare, lines_above, needs, panel

#: The most sizes that are evaluated.
_SIZES = 40


def coverage(model: Any, X: Any, y: Any, *, ax: Any = None) -> Any:
    """Which share of the rows the first rules cover, and how good their predictions are, as rules are added.

    Parameters
    ----------
    model
        A fitted model of rules; its `at` gives the model of its first rules, with its fallback for rows they miss.
    X, y
        Rows and their labels or numbers.
    ax
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulecover import MIRCOClassifier, plot
    >>> X, y = load_iris(return_X_y=True)
    >>> mirco = MIRCOClassifier(random_state=0).fit(X, y)
    >>> covered, accuracy = plot.coverage(mirco, X, y).lines
    >>> float(covered.get_ydata()[-1])
    1.0
    """
    ax = axes_or_new(ax)
    most = len(model.rules_)
    sizes = np.unique(np.linspace(1, most, min(most, _SIZES)).round().astype(int))
    covered, scores = [], []
    for size in sizes.tolist():
        first = model.at(size)
        covered.append(1.0 - float(np.mean(first.missed(X))))
        scores.append(float(first.score(X, y)))
    marker = {"marker": "o", "markersize": 3.5}
    ax.plot(sizes, covered, color=QUIET, label="rows covered", **marker)
    ax.plot(sizes, scores, color=COLOURS[0], label="accuracy" if hasattr(model, "classes_") else "R²", **marker)
    ax.set(xlabel="rules", ylabel="share", ylim=(min(0.0, *(score - 0.03 for score in scores)), 1.03))
    ax.xaxis.get_major_locator().set_params(integer=True)
    lines_above(ax)
    bare(ax)
    return ax


def path(model: Any, *, ax: Any = None) -> Any:
    """The score of every size of a path: cross-validated with its standard error, and on the training rows.

    The source model's score is a dashed line, the size that was taken a dotted one.

    Parameters
    ----------
    model
        A fitted `RulePathClassifier` or `RulePathRegressor`.
    ax
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulecover import RulePathClassifier, plot
    >>> model = RulePathClassifier(max_rules=5, random_state=0).fit(*load_iris(return_X_y=True))
    >>> plot.path(model).get_xlabel()
    'rules'
    """
    ax = axes_or_new(ax)
    table, size = needs(model, "path_", "RulePathClassifier and RulePathRegressor"), model.n_rules_
    sizes = table.index.to_numpy()
    if len(sizes) > 2 and size > 0:  # the score without any rule would take most of the room
        table, sizes = table.iloc[1:], sizes[1:]
    ax.plot(sizes, table["train_score"], color=QUIET, label="training rows")
    if "cv_score" in table:
        score, error = table["cv_score"], table["cv_se"]
        ax.plot(sizes, score, color=COLOURS[0], label="cross-validated")
        ax.fill_between(sizes, score - error, score + error, color=COLOURS[0], alpha=0.2, linewidth=0)
    if not isnan(model.model_score_):
        ax.axhline(model.model_score_, color=COLOURS[2], linestyle="--", label="source model, cross-validated")
    ax.axvline(size, color="black", linestyle=":", label=f"{size} {'rule' if size == 1 else 'rules'} taken")
    ax.set(xlabel="rules", ylabel="accuracy" if hasattr(model, "classes_") else "R²")
    ax.xaxis.get_major_locator().set_params(integer=True)
    lines_above(ax)
    bare(ax)
    return ax


def history(model: Any, *, ax: Any = None) -> Any:
    """The course of RCBoost, call by call: the LP's objective, the rules in the pool, the most negative reduced cost.

    Parameters
    ----------
    model
        A fitted model of RCBoost, with a `history_`.
    ax
        Where to draw the objective; the pool and the reduced costs are in panels that take their space from these
        axes. A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulecover import RCBoostClassifier, plot
    >>> boosted = RCBoostClassifier(max_rmp_calls=5, random_state=0).fit(*load_iris(return_X_y=True))
    >>> plot.history(boosted).get_ylabel()
    'objective'
    """
    table = needs(model, "history_", "RCBoostClassifier and RCBoostRegressor")
    ax = axes_or_new(ax, 6.4, 6.2)
    calls = np.arange(1, len(table) + 1)
    marker = {"marker": "o", "markersize": 3}
    ax.plot(calls, table["objective"], color=COLOURS[0], **marker)
    ax.set_ylabel("objective")
    pool = panel(ax, "bottom", "70%")
    pool.plot(calls, table["rules"], color=COLOURS[1], **marker)
    pool.set_ylabel("rules in the pool")
    reduced = panel(ax, "bottom", "70%")
    reduced.axhline(0, color="0.8", linewidth=0.8)
    reduced.plot(calls, table["most_negative"], color=COLOURS[2], **marker)
    reduced.set(xlabel="calls of the restricted master problem", ylabel="least reduced cost")
    reduced.xaxis.get_major_locator().set_params(integer=True)
    for each in (ax, pool):
        each.tick_params(labelbottom=False)
    for each in (ax, pool, reduced):
        bare(each)
    ax.figure.align_ylabels([ax, pool, reduced])
    return ax
