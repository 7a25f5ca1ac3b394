"""How the votes of rules add up to a prediction."""

from __future__ import annotations

from typing import Any

import numpy as np

from rulecover.plot.answers import headline, labels_of, reasons_of, votes_in
from rulecover.plot.canvas import COLOURS, axes_or_new, bare, inches_of, label_bars, plain


def waterfall(model: Any, X: Any, row: int = 0, *, ax: Any = None) -> Any:
    """How the votes of the rules that cover a row add up, one after another, from the default to the prediction.

    For classes the votes are those for the predicted class; a dotted line is where they end.

    Parameters
    ----------
    model
        A fitted model whose votes are added, such as a path, or anything else with a method `why`.
    X
        Rows x columns.
    row
        The place of the row in X.
    ax
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError
        If the votes of the model are not added.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulecover import RulePathClassifier, plot
    >>> X, y = load_iris(return_X_y=True)
    >>> path = RulePathClassifier(max_rules=3, choose="last", random_state=0).fit(X, y)
    >>> plot.waterfall(path, X).get_xlabel()
    'sum of the votes for 0'
    """
    reasons = reasons_of(model, X, row)
    column, name = votes_in(reasons)
    if column == "value":
        raise TypeError(
            f"the rules of this {type(model).__name__} are averaged, not added up; plot.explanation shows them."
        )
    votes = reasons[column].to_numpy(dtype=np.float64)
    # What is added to a number is added to a base that has no line of its own.
    start = float(reasons["prediction"].iloc[0]) - votes.sum() if column == "adds" else 0.0
    ends = start + np.cumsum(votes)
    labels = labels_of(reasons)
    ax = axes_or_new(ax, 8.0, 1.6 + inches_of(labels))
    _steps(ax, votes, ends)
    ax.set_xlabel(plain("prediction" if name is None else f"sum of the votes for {name}", 60))
    label_bars(ax, labels)
    ax.set_title(headline(reasons), loc="left")
    bare(ax)
    return ax


def _steps(ax: Any, votes: Any, ends: Any) -> None:
    """A bar for each vote, from where the votes before it end to where it ends."""
    places = np.arange(len(votes))
    colours = np.where(votes < 0, COLOURS[5], COLOURS[0])
    bars = ax.barh(places, votes, left=ends - votes, height=0.7, color=colours)
    ax.bar_label(bars, fmt="%+.3g", padding=3)
    ax.vlines(ends[:-1], places[:-1] - 0.35, places[1:] + 0.35, color="0.6", linewidth=0.8)
    ax.axvline(ends[-1], color="0.2", linestyle=":", linewidth=1)
    ax.margins(x=0.2)
