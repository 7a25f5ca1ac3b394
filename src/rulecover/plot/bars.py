"""Rules and features as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rulecover.plot.canvas import (
    COLOURS,
    axes_or_new,
    bare,
    check_rules,
    class_names,
    classes_of,
    inches_of,
    inches_of_axes,
    label_bars,
    legend_above,
    plain,
    rule_label,
    stack_bars,
)
from rulecover.rules.features import feature_use
from rulecover.show.numbers import amount
from rulecover.show.text import percent
from rulecover.targets.classes.evidence import ClassEvidence

if TYPE_CHECKING:
    from rulecover.rules.ruleset import RuleSet


def rules(rules: RuleSet, *, max_rules: int = 25, ax: Any = None) -> Any:
    """The support of each rule and its classes, as stacked bars; for regression its mean and spread.

    Parameters
    ----------
    rules
        Rules with evidence: the ``rules_`` of a fitted model.
    max_rules
        The first this many are shown.
    ax
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If the rules have no evidence.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulecover import MIRCOClassifier, plot
    >>> mirco = MIRCOClassifier(random_state=0).fit(*load_iris(return_X_y=True))
    >>> plot.rules(mirco.rules_).get_xlabel()
    'support (training rows)'
    """
    check_rules(rules)
    seen = rules.evidence
    if seen is None:
        raise ValueError("the rules have no evidence, so their support is not known; use those of a fitted model.")
    shown = rules[:max_rules]
    labels = [rule_label(rule.text, j) for j, rule in enumerate(shown)]
    ax = axes_or_new(ax, 8.0, 1.3 + inches_of(labels))
    support = seen.samples[: len(shown)]
    classes = classes_of(rules)
    if isinstance(seen, ClassEvidence) and classes is not None:
        stack_bars(ax, seen.counts[: len(shown)].T)
        legend_above(ax, *class_names(classes))
        notes = [percent(rule.purity or 0.0) for rule in shown]
    else:
        ax.barh(range(len(shown)), support, height=0.7, color=COLOURS[0])
        notes = [f"{float(rule.prediction):.4g} ± {rule.spread or 0.0:.2g}" for rule in shown]
    ax.set(xlabel="support (training rows)")
    label_bars(ax, labels)
    _write_after(ax, support, [f"{amount(width)}, {note}" for width, note in zip(support.tolist(), notes, strict=True)])
    bare(ax)
    return ax


def _write_after(ax: Any, ends: Any, notes: list[str]) -> None:
    """A note after each bar, and an axis that is long enough for all of them."""
    whole, longest = 72 * inches_of_axes(ax)[0], ends.max(initial=1.0)
    for place, (end, note) in enumerate(zip(ends.tolist(), notes, strict=True)):
        text = ax.annotate(note, (end, place), (4, 0), textcoords="offset points", va="center")
        room = whole - 72 / ax.figure.dpi * text.get_window_extent().width - 12
        longest = max(longest, end * whole / max(room, whole / 4))
    ax.set_xlim(0, 1.05 * longest)


def features(rules: RuleSet, *, max_features: int = 20, ax: Any = None) -> Any:
    """How many rules use each feature, most used first.

    Parameters
    ----------
    rules
        Any rules.
    max_features
        At most this many features are shown.
    ax
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from rulecover import RuleSet, plot
    >>> ax = plot.features(RuleSet.from_text(["age > 30 and size <= 9", "age <= 30"], ["age", "size"]))
    >>> [int(bar.get_width()) for bar in ax.patches]
    [2, 1]
    """
    check_rules(rules)
    use = feature_use(rules)[:max_features]
    ax = axes_or_new(ax, 6.4, 1.1 + 0.3 * len(use))
    bars = ax.barh(np.arange(len(use)), [times for _, times in use], height=0.7, color=COLOURS[0])
    ax.bar_label(bars, padding=3)
    ax.set_yticks(np.arange(len(use)), labels=[plain(name, 40) for name, _ in use])
    ax.set_xlabel(f"rules, of {len(rules)}")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0)
    bare(ax)
    return ax
