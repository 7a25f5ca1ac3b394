"""Every plot of a fitted model, drawn without a screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import numpy as np
from soak_cases import Fitted

from rulecover import plot

mpl.use("Agg")


def _bars_of_rules(f: Fitted) -> None:
    ax = plot.rules(f.model.rules_)
    assert len(ax.get_yticklabels()) == min(25, len(f.model.rules_))


def _features(f: Fitted) -> None:
    assert plot.features(f.model.rules_).get_figure() is not None


def _overlap(f: Fitted) -> None:
    rows = f.model._check_rows(f.data.asked)
    ax = plot.overlap(f.model.rules_, rows, max_sets=1000)
    if len(f.model.rules_) <= 20:
        assert sum(bar.get_height() for bar in ax.patches) == rows.shape[0]


def _rectangles(f: Fitted) -> None:
    rules = f.model.rules_
    if not rules.columns.categories and rules.n_features > 1:
        plot.rectangles(rules, f.model._check_rows(f.data.asked), f.data.truth)


def _coverage(f: Fitted) -> None:
    plot.coverage(f.model, f.data.X, f.data.y)


def _path(f: Fitted) -> None:
    if hasattr(f.model, "path_"):
        plot.path(f.model)


def _history(f: Fitted) -> None:
    if hasattr(f.model, "history_"):
        plot.history(f.model)


def _explanation(f: Fitted) -> None:
    plot.explanation(f.model, f.data.asked, row=f.case.seed % len(f.case.asked))


def _waterfall(f: Fitted) -> None:
    if hasattr(f.model, "path_"):
        plot.waterfall(f.model, f.data.asked, row=f.case.seed % len(f.case.asked))


def _of_classes(draw: Callable[..., Any]) -> Callable[[Fitted], None]:
    def drawn(f: Fitted) -> None:
        if f.case.target == "classes":
            draw(f.model, f.data.X, f.data.y)

    return drawn


#: One for each function of `rulecover.plot`.
DRAWINGS: dict[str, Callable[[Fitted], None]] = {
    "rules": _bars_of_rules,
    "features": _features,
    "overlap": _overlap,
    "rectangles": _rectangles,
    "coverage": _coverage,
    "path": _path,
    "history": _history,
    "explanation": _explanation,
    "waterfall": _waterfall,
    "reliability": _of_classes(plot.reliability),
    "roc": _of_classes(plot.roc),
    "precision_recall": _of_classes(plot.precision_recall),
}


def plots_can_be_drawn(f: Fitted) -> None:
    """Three of the plots, down to their pixels."""
    from matplotlib import pyplot

    if len(f.model.rules_) == 0 or f.model.rules_.evidence is None:
        return
    names = np.random.default_rng(f.case.seed).permutation(list(DRAWINGS))[:3]
    try:
        for name in names.tolist():
            DRAWINGS[name](f)
            for number in pyplot.get_fignums():
                pyplot.figure(number).canvas.draw()
            pyplot.close("all")
    finally:
        pyplot.close("all")
