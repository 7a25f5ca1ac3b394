"""Rules on encoded text columns in fewer words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from rulecover.data.columns import Levels
from rulecover.rules.clauses import Clauses, offsets
from rulecover.rules.ruleset import RuleSet

#: The columns that one text column was encoded as, by its name.
Siblings = dict[str, set[int]]


def readable(rules: RuleSet, levels: Levels) -> RuleSet:
    """The same rules, for print, with the 0/1 columns shown as the levels they stand for.

    A row has exactly one level of a text column. So ``colour = red`` makes ``colour ≠ blue`` redundant, and where all
    levels but one are excluded, that one is left. The new rules cover the same encoded rows as the old ones.
    """
    siblings: Siblings = {}
    for column, (name, _) in levels.items():
        siblings.setdefault(name, set()).add(column)
    lengths, kept, column_of, left_over = [], [], [], []
    for first, last in pairwise(rules.clauses.offset.tolist()):
        needed = list(_needed(rules.clauses, range(first, last), levels, siblings))
        lengths.append(len(needed))
        kept += [clause for clause, _ in needed]
        column_of += [rules.clauses.feature[clause] if column is None else column for clause, column in needed]
        left_over += [column is not None for _, column in needed]
    places, says_equal = np.array(kept, dtype=np.intp), np.array(left_over, dtype=bool)

    def reworded(clauses: Clauses) -> Clauses:
        chosen = clauses.at(places, offsets(lengths))
        return replace(
            chosen,
            feature=np.array(column_of, dtype=np.intp),
            lower=np.where(says_equal, 0.5, chosen.lower),
            upper=np.where(says_equal, np.inf, chosen.upper),
        )

    shown = rules.clauses if rules.shown is None else rules.shown
    columns = replace(rules.columns, levels=levels)
    return RuleSet(reworded(rules.clauses), columns, shown=reworded(shown), evidence=rules.evidence)


def _needed(clauses: Clauses, owned: range, levels: Levels, siblings: Siblings) -> Iterator[tuple[int, int | None]]:
    """The clauses of one rule that are not redundant, each with the one level that the exclusions leave, if they do."""
    groups: dict[str | int, list[int]] = {}
    for clause in owned:
        column = int(clauses.feature[clause])
        groups.setdefault(levels[column][0] if column in levels else column, []).append(clause)
    for group, mine in groups.items():
        if isinstance(group, int):
            yield mine[0], None
            continue
        equal = [clause for clause in mine if clauses.lower[clause] > -np.inf]
        rest = siblings[group] - {int(clauses.feature[clause]) for clause in mine}
        if equal:
            yield equal[0], None
        elif len(rest) == 1 and len(siblings[group]) > 1:
            yield mine[0], rest.pop()
        else:
            yield from ((clause, None) for clause in mine)
