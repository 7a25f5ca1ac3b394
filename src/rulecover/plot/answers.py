"""How good probabilities are, and why a row gets its prediction."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from rulecover.plot.canvas import (
    COLOURS,
    QUIET,
    axes_or_new,
    bare,
    colour,
    inches_of,
    label_bars,
    legend_above,
    panel,
    plain,
    probabilities_of,
    rule_label,
    stack_bars,
)

_VOTES = "votes_"


def reliability(model: Any, X: Any, y: Any, *, n_bins: int = 10, ax: Any = None) -> Any:
    """How often the model is right where it predicts this probability; on the diagonal it is calibrated.

    For two classes the probability of the second is shown, for more the probability of the predicted class. A panel
    below shows how many rows have which probability.

    Parameters
    ----------
    model
        A fitted classifier with probabilities.
    X, y
        Rows and their classes, preferably held out.
    n_bins
        The number of bins of equal width that rows are grouped into by probability.
    ax
        Where to draw; the panel below takes its room from these axes. A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulecover import MIRCOClassifier, plot
    >>> X, y = load_iris(return_X_y=True)
    >>> plot.reliability(MIRCOClassifier(random_state=0).fit(X[::2], y[::2]), X[1::2], y[1::2]).get_ylabel()
    'share of correct predictions'
    """
    from sklearn.calibration import calibration_curve

    shares, classes = probabilities_of(model, X)
    two = len(classes) == 2
    probability = shares[:, 1] if two else shares.max(axis=1)
    came_true = np.asarray(y) == (classes[1] if two else classes[shares.argmax(axis=1)])
    observed, predicted = calibration_curve(came_true, probability, n_bins=n_bins, pos_label=True)
    ax = axes_or_new(ax, 5.4, 5.6)
    ax.plot([0, 1], [0, 1], color="0.8", linewidth=1, zorder=0)
    ax.plot(predicted, observed, color=COLOURS[0], marker="o", markersize=5)
    ax.set(xlim=(0, 1), ylim=(-0.02, 1.02))
    ax.set_ylabel(plain(f"share of {classes[1]}", 40) if two else "share of correct predictions")
    ax.tick_params(labelbottom=False)
    rows = panel(ax, "bottom", "28%")
    rows.hist(probability, bins=np.linspace(0, 1, n_bins + 1), color=QUIET, rwidth=0.9)
    rows.set_xlabel(plain(f"probability of {classes[1]}", 40) if two else "probability of the prediction")
    rows.set_ylabel("rows")
    for each in (ax, rows):
        bare(each)
    return ax


def explanation(model: Any, X: Any, row: int = 0, *, ax: Any = None) -> Any:
    """The rules that decided for one row, and the votes of each of them.

    Votes for classes are stacked; votes that are added to a default are bars to the right where they are for the
    prediction and to the left where they are against it; numbers are drawn as they are.

    Parameters
    ----------
    model
        A fitted model of rules, or anything else with a method `why`.
    X
        Rows x columns.
    row
        The place of the row in X.
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
    >>> plot.explanation(MIRCOClassifier(random_state=0).fit(X, y), X).get_title(loc="left")
    'prediction: 0, by rules'
    """
    reasons = reasons_of(model, X, row)
    labels = labels_of(reasons)
    ax = axes_or_new(ax, 8.0, 1.6 + inches_of(labels))
    for_classes = [name for name in reasons.columns if name.startswith(_VOTES)]
    if for_classes and (reasons[for_classes].to_numpy() >= 0).all():
        lines = _stacked(ax, reasons, for_classes)
    else:
        lines = 0
        column, name = votes_in(reasons)
        _signed(ax, reasons[column].to_numpy(dtype=np.float64))
        ax.set_xlabel(plain(_X_LABELS[column] if name is None else f"votes for {name}", 60))
    label_bars(ax, labels)
    ax.set_title(headline(reasons), loc="left", pad=8 + 16 * lines)  # above the lines of the legend
    bare(ax)
    return ax


_X_LABELS = {"vote": "adds to the prediction", "adds": "adds to the prediction", "value": "mean of the rule"}


def reasons_of(model: Any, X: Any, row: int) -> Any:
    """What `why` says of one row."""
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)  # a sparse array has no length
    if not -n_rows <= row < n_rows:
        raise IndexError(f"there is no row {row}: X has {n_rows} rows, counted from 0.")
    return model.why(X[row:][:1])


def votes_in(reasons: Any) -> tuple[str, str | None]:
    """The column with the votes for the prediction, and the class that they are for, if they are for one."""
    answer = reasons["prediction"].iloc[0]
    if f"{_VOTES}{answer}" in reasons:
        return f"{_VOTES}{answer}", str(answer)
    return next(column for column in ("vote", "adds", "value") if column in reasons), None


def labels_of(reasons: Any) -> list[str]:
    """The rules that voted, as the labels of their bars."""
    who = zip(reasons["rule"].tolist(), reasons["text"].tolist(), strict=True)
    return [rule_label(text or "all training rows", j) for j, text in who]


def headline(reasons: Any) -> str:
    """The prediction for a row, and what it was decided by."""
    answer = reasons["prediction"].iloc[0]
    by = f", by {reasons['decided_by'].iloc[0]}" if "decided_by" in reasons else ""
    shown = f"{answer:.6g}" if isinstance(answer, float) else answer
    return "\n".join(textwrap.wrap(plain(f"prediction: {shown}{by}", 80), 36))


def _stacked(ax: Any, reasons: Any, columns: list[str]) -> int:
    """Draws the votes for each class; returns the lines of the legend."""
    stack_bars(ax, [reasons[name].to_numpy(dtype=np.float64) for name in columns])
    ax.set_xlabel("votes")
    return legend_above(ax, [name.removeprefix(_VOTES) for name in columns], [colour(k) for k in range(len(columns))])


def _signed(ax: Any, votes: Any) -> None:
    bars = ax.barh(np.arange(len(votes)), votes, height=0.7, color=np.where(votes < 0, COLOURS[5], COLOURS[0]))
    ax.bar_label(bars, fmt="%+.3g", padding=3)
    ax.axvline(0, color="0.4", linewidth=0.8)
    ax.margins(x=0.2)
