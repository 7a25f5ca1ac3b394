"""Kinds of missing values: None, NaN, pandas' NA and NaT are all the same to a rule, but not to every transformer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from rulecover.data.columns import Gaps
from rulecover.data.frames import UNSEEN, missing_values
from rulecover.readers.sklearn.encoders import unknown_label
from rulecover.readers.sklearn.origins import CategoryOrigin, NumberOrigin, Origin

#: The values of a transformed column for each kind of missing value, and for a label that was never seen.
_Values = tuple[float | None, ...]


def distinguish_missing(
    origins: Sequence[Origin], used: Iterable[int], takes_missing: bool
) -> tuple[list[Origin], dict[int, Gaps]]:
    """The origins, and how each kind of missing value is written in their columns: see `Columns`.

    The kind for which fewest columns are lost counts as missing; another kind is equivalent to it, or to a label that
    was never seen, or refused. Transformed columns for which none of this holds lose their origin, as no clause on the
    original column is equivalent.

    Parameters
    ----------
    origins
        One for each transformed column.
    used
        The transformed columns that matter.
    takes_missing
        Whether the trees have a route for NaN.
    """
    out = list(origins)
    of_feature: dict[int, dict[int, NumberOrigin | CategoryOrigin]] = defaultdict(dict)
    for k in used:
        if (origin := origins[k]) is not None:
            of_feature[origin.feature][k] = origin
    gaps: dict[int, Gaps] = {}
    for f, columns in of_feature.items():
        values = {k: _values(origin, takes_missing) for k, origin in columns.items()}
        choices = [_choice(values, missing, _unseen_code(columns.values())) for missing in range(len(missing_values()))]
        missing, (lost, gaps[f]) = min(enumerate(choices), key=lambda choice: len(choice[1][0]))
        for k, origin in columns.items():
            out[k] = None if k in lost else origin.with_missing_kind(missing)
    return out, gaps


def _values(origin: NumberOrigin | CategoryOrigin, takes_missing: bool) -> _Values:
    unseen = origin.unseen if isinstance(origin, CategoryOrigin) else None
    found = [*(origin.of_missing(kind) for kind in range(len(origin.gaps))), unseen]
    nowhere = origin.sparse or not takes_missing
    return tuple(None if value is None or (nowhere and np.isnan(value)) else value for value in found)


def _unseen_code(origins: Collection[NumberOrigin | CategoryOrigin]) -> float | None:
    """How a label that was never seen is written; ``None`` where the column is one of numbers."""
    known = [origin for origin in origins if isinstance(origin, CategoryOrigin)]
    if len(known) < len(origins):
        return None
    return float(unknown_label(known[0].labels)) if known[0].by_number else UNSEEN


def _choice(values: dict[int, _Values], missing: int, unseen_code: float | None) -> tuple[set[int], Gaps]:
    """If that kind counts as missing: the columns that are lost, and the code of each kind."""
    lost: set[int] = set()
    codes: list[float | None] = []
    n_kinds = len(missing_values())
    refused = [any(each[kind] is None for each in values.values()) for kind in range(n_kinds)]
    for kind in range(n_kinds):
        if refused[kind]:
            codes.append(np.nan if all(refused) else None)
            continue
        codes_that_may_do = [(missing, np.nan)] + ([] if unseen_code is None else [(n_kinds, unseen_code)])
        wrong = [{k for k, each in values.items() if not _same(each[kind], each[as_])} for as_, _ in codes_that_may_do]
        best = min(range(len(wrong)), key=lambda each: len(wrong[each]))
        lost |= wrong[best]
        codes.append(codes_that_may_do[best][1])
    return lost, tuple(codes)


def _same(one: float | None, two: float | None) -> bool:
    return one is not None and two is not None and (one == two or bool(np.isnan(one) and np.isnan(two)))
