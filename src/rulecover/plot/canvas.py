"""What all plots share: axes, panels beside them, colours, and names that are nothing but names."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rulecover.exceptions import MissingExtraError
from rulecover.show.text import printable

if TYPE_CHECKING:
    from rulecover.rules.ruleset import RuleSet

#: Colours that stay apart for colour-blind eyes, one a class; classes beyond these share the last.
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
            "plots need matplotlib, which is not installed; pip install 'rulecover[plot]' brings it."
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


def panel(ax: Any, side: str, size: str, pad: float = 0.12) -> Any:
    """New axes beside the given ones, whose room they share: below them with the same x, or left with the same y."""
    from mpl_toolkits.axes_grid1 import make_axes_locatable

    shared = {"sharex": ax} if side in ("top", "bottom") else {"sharey": ax}
    divider = getattr(ax, "_rulecover_divider", None) or make_axes_locatable(ax)
    ax._rulecover_divider = divider  # a second panel goes beside the first, not over it
    return divider.append_axes(side, size=size, pad=pad, **shared)


def colour(k: int) -> str:
    """The colour of class number k."""
    return COLOURS[min(k, len(COLOURS) - 1)]


def plain(text: object, longest: int = 60) -> str:
    r"""A name as it is: no formula, no hidden label, no line end, and not longer than this.

    >>> plain("$x$"), plain("_y"), plain("size", 3)
    ('\\$x\\$', ' _y', 'si…')
    """
    shown = printable(str(text))
    shown = shown if len(shown) <= longest else shown[: longest - 1] + "…"
    return (" " if shown.startswith("_") else "") + shown.replace("$", r"\$")


def rule_label(text: str, j: int, width: int = 44) -> str:
    """The number of a rule (none below 0) and its condition, on two lines at most."""
    lines = textwrap.wrap(printable(text), width, break_long_words=True)
    shown = "\n".join(plain(line, width) for line in lines[:2]) + ("…" if len(lines) > 2 else "")
    return shown if j < 0 else f"{j}   {shown}"


def legend_above(ax: Any, names: Sequence[str], colours: Sequence[str]) -> None:
    """Names and colours in a line above the axes."""
    from matplotlib.patches import Patch

    handles = [Patch(color=each, label=plain(name, 24)) for name, each in zip(names, colours, strict=True)]
    ax.legend(handles=handles, loc="lower right", bbox_to_anchor=(1, 1.0), ncols=4, frameon=False, borderaxespad=0.2)


def bare(ax: Any, *sides: str) -> None:
    """Takes away the frame, on these sides or above and on the right."""
    ax.spines[list(sides or ("top", "right"))].set_visible(False)


def classes_of(rules: RuleSet) -> Any:
    """The classes that the rules met, ``None`` if they met none."""
    return getattr(rules.evidence, "classes", None)


def class_names(classes: Any) -> tuple[list[str], list[str]]:
    """The names of the classes and their colours; those that share the last colour share a name, too."""
    names = [str(label) for label in classes.tolist()]
    kept = names[: len(COLOURS)] if len(names) <= len(COLOURS) else [*names[: len(COLOURS) - 1], "others"]
    return kept, [colour(k) for k in range(len(kept))]
