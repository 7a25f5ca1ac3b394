"""What all plots share: axes, panels next to them, colours, and escaped names."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rulecover.exceptions import MissingExtraError
from rulecover.rules.ruleset import RuleSet
from rulecover.show.text import cut_to, printable

#: Colours that colour-blind readers can distinguish, one per class; classes beyond these share the last.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C6D31", "#999999")
MARKS = "os^DvPX*"
QUIET = "0.55"


def axes_or_new(ax: Any, width: float = 6.4, height: float = 4.8) -> Any:
    """The axes that were given, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingExtraError(
            "plots need matplotlib, which is not installed; run: pip install 'rulecover[plot]'."
        ) from error
    return pyplot.subplots(figsize=(width, height), layout="tight")[1]


def needs(model: Any, attribute: str, models: str) -> Any:
    """What the plot draws, or an error that says which models have it."""
    try:
        return getattr(model, attribute)
    except AttributeError as error:
        raise TypeError(
            f"{type(model).__name__} has no {attribute}; this plot is for {models}, once they are fitted."
        ) from error


def check_rules(rules: Any) -> None:
    """Raises for a model where its rules are meant."""
    if not isinstance(rules, RuleSet):
        way = "give its rules_" if hasattr(rules, "rules_") else "give a RuleSet, such as the rules_ of a fitted model"
        raise TypeError(f"rules is of type {type(rules).__name__}, but this plot is of rules alone; {way}.")


def panel(ax: Any, side: str, size: str, pad: float = 0.12) -> Any:
    """New axes next to the given ones, which make room: below them with the same x, or left with the same y."""
    from mpl_toolkits.axes_grid1 import make_axes_locatable

    shared = {"sharex": ax} if side in ("top", "bottom") else {"sharey": ax}
    divider = getattr(ax, "_rulecover_divider", None) or make_axes_locatable(ax)
    ax._rulecover_divider = divider  # a second panel goes next to the first, not over it
    return divider.append_axes(side, size=size, pad=pad, **shared)


def colour(k: int) -> str:
    """The colour of class number k."""
    return COLOURS[min(k, len(COLOURS) - 1)]


def plain(text: object, longest: int = 60) -> str:
    r"""A name as plain text: without formulas, hidden labels and line ends, and at most this long.

    >>> plain("$x$"), plain("_y"), plain("size", 3)
    ('\\$x\\$', ' _y', 'si…')
    """
    shown = cut_to(longest, printable(str(text)))
    return (" " if shown.startswith("_") else "") + shown.replace("$", r"\$")


def rule_label(text: str, j: int, width: int = 44) -> str:
    """The number of a rule (none below 0) and its whole text, on as many lines as needed."""
    lines = textwrap.wrap(printable(text), width, break_long_words=True)
    shown = "\n".join(plain(line, width) for line in lines)
    return shown if j < 0 else f"{j}   {shown}"


def inches_of(labels: Sequence[str]) -> float:
    """The height of bars with these labels such that no label touches the next."""
    return len(labels) * (0.16 + 0.14 * max((label.count("\n") + 1 for label in labels), default=1))


def label_bars(ax: Any, labels: Sequence[str]) -> None:
    """Labels horizontal bars from top to bottom, in a font that is small enough for the height of the axes."""
    room = 72 * inches_of_axes(ax)[1] / max(1, len(labels))
    lines = max((label.count("\n") + 1 for label in labels), default=1)
    ax.set_yticks(range(len(labels)), labels=labels)
    ax.tick_params(axis="y", labelsize=min(8.3, room / (1.3 * lines)), length=0)
    ax.set_ylim(len(labels) - 0.5, -0.5)


def inches_of_axes(ax: Any) -> tuple[float, float]:
    """The width and the height of the axes as they will be drawn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about an unfinished figure
        ax.figure.canvas.figure.draw_without_rendering()
    size = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
    return float(size.width), float(size.height)


def legend_above(ax: Any, names: Sequence[str], colours: Sequence[str]) -> int:
    """Names and colours above the axes, as many per line as there is room for; returns the number of lines."""
    from matplotlib.patches import Patch

    shown = [plain(name, 24) for name in names]
    widest = 0.09 * max(map(len, shown)) + 0.65  # in inches
    columns = int(min(4, max(1, inches_of_axes(ax)[0] // widest)))
    handles = [Patch(color=each, label=name) for name, each in zip(shown, colours, strict=True)]
    _above(ax, handles, columns, loc="lower right", bbox_to_anchor=(1, 1.0))
    return -(-len(shown) // columns)


def lines_above(ax: Any) -> None:
    """The names of the lines above the axes, where no line runs through them."""
    handles, names = ax.get_legend_handles_labels()
    columns = 2 if inches_of_axes(ax)[0] > 0.18 * max(map(len, names)) + 1.3 else 1
    _above(ax, handles, columns, loc="lower left", bbox_to_anchor=(0, 1.0))


def _above(ax: Any, handles: Sequence[Any], columns: int, **place: Any) -> None:
    ax.legend(handles=handles, ncols=columns, frameon=False, borderaxespad=0.2, **place)


def bare(ax: Any, *sides: str) -> None:
    """Removes the frame, on these sides or above and on the right."""
    ax.spines[list(sides or ("top", "right"))].set_visible(False)


def stack_bars(ax: Any, columns: Iterable[Any]) -> None:
    """Horizontal bars, one per row, with a part for each column in the colour of its number."""
    left = 0.0
    for k, widths in enumerate(columns):
        ax.barh(range(len(widths)), widths, left=left, height=0.7, color=colour(k))
        left = left + widths


def probabilities_of(model: Any, X: Any) -> tuple[Any, Any]:
    """The probabilities of a classifier, rows x classes, and its classes."""
    return np.asarray(needs(model, "predict_proba", "models of classes")(X)), np.asarray(model.classes_)


def classes_of(rules: RuleSet) -> Any:
    """The classes in the evidence of the rules, ``None`` if there are none."""
    return getattr(rules.evidence, "classes", None)


def class_names(classes: Any) -> tuple[list[str], list[str]]:
    """The names of the classes and their colours; those that share the last colour share a name, too."""
    names = [str(label) for label in classes.tolist()]
    kept = names[: len(COLOURS)] if len(names) <= len(COLOURS) else [*names[: len(COLOURS) - 1], "others"]
    return kept, [colour(k) for k in range(len(kept))]
