"""Rules on encoded text columns in fewer words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from rulecover.rules.ruleset import RuleSet

#: The columns that one text column was encoded as, by its name.
Siblings = dict[str, set[int]]


def readable(rules: RuleSet, levels: dict[int, tuple[str, str]]) -> RuleSet:
    """The same rules, for print, with the 0/1 columns shown as the levels they stand for.

    A row has exactly one level of a text column. So ``colour = red`` makes ``colour ≠ blue`` needless, and where all
    levels but one are excluded, that one is left. Every encoded row meets the new rules as it met the old ones.
    """
    siblings: Siblings = {}
    for column, (name, _) in levels.items():
        siblings.setdefault(name, set()).add(column)
    lengths, kept, column_of, left_over = [], [], [], []
    for j in range(len(rules)):
        needed = list(_needed(rules, range(rules.offset[j], rules.offset[j + 1]), levels, siblings))
        lengths.append(len(needed))
        kept += [clause for clause, _ in needed]
        column_of += [rules.feature[clause] if column is None else column for clause, column in needed]
        left_over += [column is not None for _, column in needed]
    shown_lower = rules.lower if rules.shown_lower is None else rules.shown_lower
    shown_upper = rules.upper if rules.shown_upper is None else rules.shown_upper
    places, says_equal = np.array(kept, dtype=np.intp), np.array(left_over, dtype=bool)
    return replace(
        rules,
        offset=np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp),
        feature=np.array(column_of, dtype=np.intp),
        lower=np.where(says_equal, 0.5, rules.lower[places]),
        upper=np.where(says_equal, np.inf, rules.upper[places]),
        missing=rules.missing[places],
        category=rules.category[places],
        levels=levels,
        paths=None,
        shown_lower=np.where(says_equal, 0.5, shown_lower[places]),
        shown_upper=np.where(says_equal, np.inf, shown_upper[places]),
        shown_missing=None if rules.shown_missing is None else rules.shown_missing[places],
    )


def _needed(
    rules: RuleSet, clauses: range, levels: dict[int, tuple[str, str]], siblings: Siblings
) -> Iterator[tuple[int, int | None]]:
    """The clauses of one rule that say something new, each with the one level that the exclusions leave, if they do."""
    groups: dict[str | int, list[int]] = {}
    for clause in clauses:
        column = int(rules.feature[clause])
        groups.setdefault(levels[column][0] if column in levels else column, []).append(clause)
    for group, mine in groups.items():
        if isinstance(group, int):
            yield mine[0], None
            continue
        equal = [clause for clause in mine if rules.lower[clause] > -np.inf]
        rest = siblings[group] - {int(rules.feature[clause]) for clause in mine}
        if equal:
            yield equal[0], None
        elif len(rest) == 1 and len(siblings[group]) > 1:
            yield mine[0], rest.pop()
        else:
            yield from ((clause, None) for clause in mine)
