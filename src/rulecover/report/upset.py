"""The overlap of rules as a drawing: where everything goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rulecover.rules.overlaps import Overlaps
from rulecover.rules.sentences import join_words
from rulecover.show.text import cut_to, percent, printable

if TYPE_CHECKING:
    from rulecover.rules.ruleset import RuleSet

#: The numbers of the rules are on the left of the columns, where a phone shows them, their texts on the right.
_NUMBERS, _NAMES, _COLUMN, _LINE, _BARS, _TOP = 36, 312, 30, 24, 90, 18

#: Longer rules are cut off.
_LETTERS = 42


def upset(overlaps: Overlaps, rules: RuleSet) -> dict[str, Any]:
    """Bars over dots: a column for each combination of rules, a line for each rule."""
    n_sets, n_rules = overlaps.members.shape
    floor = _TOP + _BARS
    levels = [floor + 8 + _LINE * k + _LINE // 2 for k in range(n_rules)]
    most = int(overlaps.sizes.max(initial=1))
    columns = [
        {
            "x": _NUMBERS + _COLUMN * k + _COLUMN // 2,
            "top": round(floor - _BARS * int(size) / most, 1),
            "size": int(size),
            "dots": [levels[j] for j in np.flatnonzero(mine)],
        }
        for k, (mine, size) in enumerate(zip(overlaps.members, overlaps.sizes, strict=True))
    ]
    sentences = _in_words(overlaps)
    texts = _NUMBERS + _COLUMN * n_sets + 8
    return {
        "width": texts + _NAMES,
        "texts": texts,
        "height": floor + 8 + _LINE * n_rules + 4,
        "step": _LINE,
        "floor": floor,
        "levels": levels,
        "stripes": [{"y": y - _LINE // 2} for y in levels[::2]],
        "columns": columns,
        "lines": [
            {"y": y, "rule": int(j), "text": _name(rules, int(j))} for y, j in zip(levels, overlaps.rules, strict=True)
        ],
        "words": _left_out(overlaps, rules),
        "label": "Combinations of rules: " + " ".join(sentences[:3]),
        "sentences": sentences,
    }


def _name(rules: RuleSet, j: int) -> str:
    return cut_to(_LETTERS, printable(rules[j].text))


def _left_out(overlaps: Overlaps, rules: RuleSet) -> str:
    """What is not shown, if anything is not."""
    shown = int(overlaps.sizes.sum())
    words = []
    if len(overlaps.rules) < len(rules):
        words.append(f"Only the {len(overlaps.rules)} rules that cover most rows are distinguished.")
    if shown < overlaps.n_rows:
        share = percent(shown / overlaps.n_rows)
        words.append(f"The {len(overlaps.sizes)} most frequent combinations are shown, {share} of the rows.")
    return " ".join(words)


def _in_words(overlaps: Overlaps) -> list[str]:
    sentences = []
    for mine, size in zip(overlaps.members, overlaps.sizes.tolist(), strict=True):
        names = join_words([str(j) for j in overlaps.rules[mine].tolist()])
        which = {0: "none of these rules", 1: f"rule {names} alone"}.get(int(mine.sum()), f"rules {names}")
        sentences.append(f"{size:,} {'row is' if size == 1 else 'rows are'} covered by {which}.")
    return sentences
