"""Plots of rules and predictions: each takes the axes to draw on, or makes them, and returns them.

They need matplotlib, which the extra ``plot`` installs.
"""

from rulecover.plot.answers import explanation, reliability
from rulecover.plot.bars import features, rules
from rulecover.plot.curves import coverage, history, path
from rulecover.plot.overlap import overlap
from rulecover.plot.rectangles import rectangles
from rulecover.plot.thresholds import precision_recall, roc
from rulecover.plot.waterfall import waterfall

__all__ = [
    "coverage",
    "explanation",
    "features",
    "history",
    "overlap",
    "path",
    "precision_recall",
    "rectangles",
    "reliability",
    "roc",
    "rules",
    "waterfall",
]
