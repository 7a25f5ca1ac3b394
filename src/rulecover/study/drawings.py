"""The paper's two explanatory figures: rules as rectangles, and RCBoost as a flowchart."""

from __future__ import annotations

from typing import Any

import numpy as np

from rulecover import MIRCOClassifier, RuleSet, plot
from rulecover.study.figures import new_axes


def toy_rules() -> tuple[Any, Any, RuleSet]:
    """Rows with two features and three classes, and rules that cover them all.

    Two of the rules overlap, and a part of the plane is not covered: a new row there would be missed.
    """
    seed = np.random.default_rng(4)
    boxes = [
        {0: (0.0, 0.45), 1: (0.35, 1.0)},
        {0: (0.3, 1.0), 1: (0.65, 1.0)},
        {0: (0.1, 0.65), 1: (0.0, 0.35)},
        {0: (0.65, 1.0), 1: (0.0, 0.4)},
    ]
    inside = {0: (0.05, 0.28, 0.52, 0.93), 1: (0.5, 0.95, 0.7, 0.95), 2: (0.15, 0.6, 0.05, 0.3)}
    X, y = [], []
    for label, (left, right, low, high) in inside.items():
        X.append(np.column_stack([seed.uniform(left, right, 12), seed.uniform(low, high, 12)]))
        y.append(np.full(12, label))
    X.append(np.column_stack([seed.uniform(0.7, 0.95, 6), seed.uniform(0.05, 0.35, 6)]))
    y.append(np.full(6, 1))
    X.append(np.array([[0.38, 0.72], [0.41, 0.86], [0.35, 0.93]]))
    y.append(np.array([0, 1, 0]))
    rows, labels = np.concatenate(X), np.array(["class 1", "class 2", "class 3"])[np.concatenate(y)]
    rules = RuleSet.of_intervals(boxes, ["feature 1", "feature 2"])
    return rows, labels, MIRCOClassifier.as_in_paper(rules).fit(rows, labels).rules_


def rectangles_plot(ax: Any = None) -> Any:
    """A toy example with two features and three classes: rules as rectangles that overlap and leave a gap."""
    ax = new_axes(5.2, 4.6) if ax is None else ax
    X, y, rules = toy_rules()
    plot.rectangles(rules, X, y, features=(0, 1), ax=ax)
    note = {"fontsize": 9, "bbox": {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 2}}
    ax.annotate("no rule:\na new row here is missed", (0.72, 0.53), ha="center", va="center", style="italic", **note)
    ax.annotate("overlap:\nboth rules vote", (0.4, 0.67), (0.1, 0.4), arrowprops={"arrowstyle": "->"}, **note)
    ax.set(xlim=(0, 1), ylim=(0, 1))
    return ax


_STEPS = (
    ("start", 0.26, 0.90, "train a decision tree on the data"),
    ("pool", 0.26, 0.70, "its leaves are the first\nrules of the pool $\\mathcal{J}_0$"),
    ("rmp", 0.26, 0.47, "solve the restricted master problem\nover the pool $\\mathcal{J}_t$: duals $\\lambda^t$"),
    ("weights", 0.26, 0.24, "add the duals to the\nweights of the samples"),
    ("tree", 0.74, 0.24, "train a decision tree\non the weighted samples"),
    ("price", 0.74, 0.47, "any leaf with negative\nreduced cost?"),
    ("stop", 0.74, 0.90, "all rules of the pool vote"),
)


_ARROWS = (
    ("start", "pool", ""),
    ("pool", "rmp", ""),
    ("rmp", "weights", ""),
    ("weights", "tree", ""),
    ("tree", "price", ""),
    ("price", "stop", "no, or the bound on\nRMP calls is reached"),
    ("price", "rmp", "yes: these rules\nenter the pool"),
)


def flowchart(ax: Any = None) -> Any:
    """RCBoost (Algorithm 2 of the paper) as a flowchart."""
    ax = new_axes(7.6, 4.6) if ax is None else ax
    boxes = {key: _box(ax, x, y, text, question=key == "price") for key, x, y, text in _STEPS}
    for source, target, text in _ARROWS:
        _arrow(ax, boxes[source], boxes[target], text)
    ax.set(xlim=(0.03, 0.97), ylim=(0.15, 0.97))
    ax.axis("off")
    return ax


def _box(ax: Any, x: float, y: float, text: str, *, question: bool) -> Any:
    edge, face, shape = ("#E69F00", "#FFF4DC", "round4") if question else ("#0072B2", "#EAF3FA", "round")
    style = {"boxstyle": f"{shape},pad=0.6", "facecolor": face, "edgecolor": edge}
    return ax.text(x, y, text, ha="center", va="center", fontsize=10, bbox=style)


def _arrow(ax: Any, source: Any, target: Any, text: str) -> None:
    """From the edge of one box to the edge of another."""
    (x0, y0), (x1, y1) = source.get_position(), target.get_position()
    edges = {"patchA": source.get_bbox_patch(), "patchB": target.get_bbox_patch(), "shrinkA": 1, "shrinkB": 1}
    ax.annotate("", (x1, y1), (x0, y0), arrowprops={"arrowstyle": "-|>", "color": "0.25", **edges})
    if x0 == x1:
        ax.text(x0 + 0.02, (y0 + y1) / 2, text, va="center", fontsize=9, style="italic")
    else:
        ax.text(0.535, y0 + 0.02, text, ha="center", va="bottom", fontsize=9, style="italic")
