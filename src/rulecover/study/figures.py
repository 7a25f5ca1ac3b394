"""The paper's figures of results, drawn from the cells of a study. Each takes an axis, or makes one, and returns it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rulecover.exceptions import StudyError
from rulecover.study.paper import in_order, means, of_one_seed

#: Colours that colour-blind readers can distinguish, and markers that are distinct in print.
COLOURS = {"RF": "#0072B2", "DT": "#E69F00", "MIRCO": "#009E73", "RCB": "#009E73", "iniDT": "#E69F00"}
_MORE = ("#CC79A7", "#56B4E9", "#D55E00", "#999999")
_MARKS = "osD^vPX*"


def new_axes(width: float = 9.0, height: float = 3.6) -> Any:
    """An axis of a new figure, without a window."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise StudyError("figures need matplotlib: pip install 'rulecover[plot]'.") from error
    return Figure(figsize=(width, height), layout="constrained").subplots()


def accuracy_plot(frame: Any, models: Sequence[str] = ("RF", "DT", "MIRCO"), ax: Any = None) -> Any:
    """Mean accuracies with their standard deviations, a group of marks for each data set."""
    ax = new_axes() if ax is None else ax
    mean, std, _ = means(of_one_seed(frame), "accuracy")
    shown = [model for model in models if model in mean.columns]
    names = in_order(mean.index)
    at = np.arange(len(names))
    for k, model in enumerate(shown):
        shift = 0.14 * (k - (len(shown) - 1) / 2)
        ax.errorbar(
            at + shift,
            mean.loc[names, model],
            std.loc[names, model],
            fmt=_MARKS[k],
            color=_colour(model, k),
            markersize=5,
            linewidth=1,
            label=model,
        )
    for left in at[:-1]:
        ax.axvline(left + 0.5, color="0.9", linewidth=0.8, zorder=0)
    ax.set_ylabel("accuracy")
    ax.set_yticks([tick for tick in ax.get_yticks() if tick <= 1])
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=len(shown), frameon=False, borderaxespad=0.2)
    return _name_data_sets(ax, names)


def missed_plot(frame: Any, ax: Any = None) -> Any:
    """The percentage of test rows that no rule of MIRCO covers."""
    ax = new_axes(6.5, 3.2) if ax is None else ax
    missed, _, _ = means(of_one_seed(frame), "missed")
    names = in_order(missed.index)
    bars = ax.bar(names, 100 * missed.loc[names, "MIRCO"], color=COLOURS["MIRCO"], width=0.65)
    ax.bar_label(bars, fmt="%.1f", fontsize=8, padding=1)
    ax.set_ylabel("missed by MIRCO (%)")
    return _name_data_sets(ax, names)


def rules_plot(frame: Any, models: Sequence[str] = ("RF", "DT", "MIRCO"), ax: Any = None) -> Any:
    """The mean number of rules in logarithmic scale."""
    ax = new_axes(6.5, 3.6) if ax is None else ax
    rules, _, _ = means(of_one_seed(frame), "rules")
    names = in_order(rules.index)
    shown = [model for model in models if model in rules.columns]
    width = 0.8 / len(shown)
    for k, model in enumerate(shown):
        at = np.arange(len(names)) + width * (k - (len(shown) - 1) / 2)
        ax.bar(at, rules.loc[names, model], width, color=_colour(model, k), label=model)
    ax.set_yscale("log")
    ax.set_ylabel("rules")
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=len(shown), frameon=False, borderaxespad=0.2)
    return _name_data_sets(ax, names)


def rcboost_plot(frame: Any, models: Sequence[str] = ("RF", "ADA", "GB", "iniDT", "RCB"), ax: Any = None) -> Any:
    """Mean accuracies of boosting methods; above each data set the mean number of RMP calls that RCBoost made."""
    ax = accuracy_plot(frame, models, ax)
    calls, _, _ = means(of_one_seed(frame), "calls")
    ax.margins(y=0.12)
    for place, label in enumerate(ax.get_xticklabels()):
        name = label.get_text()
        if "RCB" in calls and np.isfinite(calls["RCB"].get(name, np.nan)):
            ax.annotate(
                f"({calls.loc[name, 'RCB']:.1f})",
                (place, 0.99),
                xycoords=("data", "axes fraction"),
                ha="center",
                va="top",
                fontsize=8,
            )
    return ax


def _colour(model: str, k: int) -> str:
    return COLOURS.get(model, _MORE[k % len(_MORE)])


def _name_data_sets(ax: Any, names: Sequence[str]) -> Any:
    ax.set_xticks(range(len(names)), labels=names, rotation=40, ha="right", rotation_mode="anchor")
    ax.set_xlim(-0.6, len(names) - 0.4)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
