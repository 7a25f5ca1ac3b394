"""Which rules cover the same rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rulecover.plot.canvas import COLOURS, QUIET, axes_or_new, bare, check_rules, panel, plain
from rulecover.rules.overlaps import Overlaps
from rulecover.typing import Bools, Ints

if TYPE_CHECKING:
    from rulecover.rules.ruleset import RuleSet


def overlap(rules: RuleSet, X: Any, *, max_sets: int = 25, max_rules: int = 20, ax: Any = None) -> Any:
    """How many rows each combination of rules covers: a bar for each combination that occurs, its rules dotted below.

    A row counts once, under all rules that cover it. The column without a dot is for rows that no rule covers.

    Parameters
    ----------
    rules
        Any rules.
    X
        Rows x columns.
    max_sets
        The largest this many combinations are shown.
    max_rules
        The combinations are those of the rules that cover most rows, at most this many rules.
    ax
        Where to draw the bars; the dots are in a panel that takes its space from these axes. A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np
    >>> from rulecover import RuleSet, plot
    >>> ax = plot.overlap(RuleSet.from_text(["x > 1", "x > 2"], ["x"]), np.array([[0.0], [1.5], [3.0], [4.0]]))
    >>> [int(bar.get_height()) for bar in ax.patches]
    [2, 1, 1]
    """
    check_rules(rules)
    found = Overlaps.of(rules.apply(X), max_sets=max_sets, max_rules=max_rules)
    n_sets, n_rules = found.members.shape
    ax = axes_or_new(ax, 3.4 + 0.3 * n_sets, 2.6 + 0.26 * n_rules)
    _bars(ax, found.members, found.sizes)
    dots = panel(ax, "bottom", f"{100 * n_rules / 8:.0f}%", pad=0.08)
    _dots(dots, found.members, [plain(f"{j}   {rules[int(j)].text}", 48) for j in found.rules])
    return ax


def _bars(ax: Any, members: Bools, sizes: Ints) -> None:
    at = np.arange(len(sizes))
    colours = np.where(members.any(axis=1), COLOURS[0], QUIET)
    bars = ax.bar(at, sizes, width=0.7, color=colours)
    ax.bar_label(bars, padding=2, fontsize=8, rotation=90 if sizes.max(initial=0) > 999 else 0)
    ax.set_ylabel("rows")
    ax.margins(y=0.15)
    ax.tick_params(axis="x", bottom=False, labelbottom=False)
    bare(ax)


def _dots(ax: Any, members: Bools, names: list[str]) -> None:
    for row in range(0, len(names), 2):
        ax.axhspan(row - 0.5, row + 0.5, color="0.95", zorder=0)
    everywhere = np.indices(members.shape).reshape(2, -1)
    ax.scatter(*everywhere, s=18, color="0.85", zorder=1)
    ax.scatter(*np.nonzero(members), s=28, color=COLOURS[0], zorder=3)
    for place, mine in enumerate(members):
        dotted = np.flatnonzero(mine)
        if dotted.size > 1:
            ax.plot([place, place], [dotted[0], dotted[-1]], color=COLOURS[0], linewidth=1.6, zorder=2)
    ax.set_yticks(range(len(names)), labels=names)
    ax.set_ylim(max(len(names), 1) - 0.5, -0.5)
    ax.tick_params(axis="both", length=0, labelbottom=False)
    bare(ax, "top", "right", "bottom", "left")
