"""What is found and what is a false alarm, for every threshold on a probability."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_curve

from rulecover.plot.canvas import QUIET, axes_or_new, bare, colour, lines_above, plain, probabilities_of


def roc(model: Any, X: Any, y: Any, *, ax: Any = None) -> Any:
    """The share of the rows of a class that is found, by the share of the others that are taken for it.

    For two classes the curve of the rarer one in y, for more a curve for each; the area below is next to the name.

    Parameters
    ----------
    model
        A fitted classifier with probabilities.
    X, y
        Rows and their classes, preferably held out.
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
    >>> plot.roc(MIRCOClassifier(random_state=0).fit(X[::2], y[::2]), X[1::2], y[1::2]).get_xlabel()
    'false positive rate'
    """
    ax = axes_or_new(ax, 5.4, 5.4)
    ax.plot([0, 1], [0, 1], color=QUIET, linewidth=0.8, linestyle=":")
    for k, label, positive, share in _by_class(model, X, y):
        alarms, found, _ = roc_curve(positive, share, drop_intermediate=False)
        ax.plot(alarms, found, color=colour(k), label=plain(f"{label} (area {auc(alarms, found):.3f})", 40))
    return _finished(ax, xlabel="false positive rate", ylabel="recall")


def precision_recall(model: Any, X: Any, y: Any, *, ax: Any = None) -> Any:
    """How many predictions of a class are right, by the share of its rows that is found.

    For two classes the curve of the rarer one in y, for more a curve for each; the average precision is next to the
    name, and a dotted line is at the share of the class.

    Parameters
    ----------
    model
        A fitted classifier with probabilities.
    X, y
        Rows and their classes, preferably held out.
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
    >>> plot.precision_recall(MIRCOClassifier(random_state=0).fit(X[::2], y[::2]), X[1::2], y[1::2]).get_ylabel()
    'precision'
    """
    ax = axes_or_new(ax, 5.4, 5.4)
    for k, label, positive, share in _by_class(model, X, y):
        precision, found, _ = precision_recall_curve(positive, share)
        average = average_precision_score(positive, share)
        ax.axhline(positive.mean(), color=colour(k), linewidth=0.8, linestyle=":")
        ax.plot(found, precision, color=colour(k), label=plain(f"{label} (average {average:.3f})", 40))
    return _finished(ax, xlabel="recall", ylabel="precision")


def _by_class(model: Any, X: Any, y: Any) -> list[tuple[int, Any, Any, Any]]:
    """For each class that has a curve: its number, its label, which rows are of it, and its probabilities."""
    shares, classes = probabilities_of(model, X)
    of_class = np.asarray(y)[:, None] == classes
    shown = [k for k in range(len(classes)) if of_class[:, k].any() and not of_class[:, k].all()]
    if not shown:
        raise ValueError("y has rows of one class alone; give rows of several.")
    if len(classes) == 2:
        shown = [int(of_class.sum(axis=0).argmin())]
    return [(k, classes[k], of_class[:, k], shares[:, k]) for k in shown]


def _finished(ax: Any, **names: str) -> Any:
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), **names)
    lines_above(ax)
    bare(ax)
    return ax
