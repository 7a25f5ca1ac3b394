"""A failing case made small, and written as a test that can be pasted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from soak_cases import SOURCES, Case

from rulecover import RuleSet

Fails = Callable[[Case], bool]

#: Settings of models that make them smaller, in whatever step of a pipeline they are.
_SIZES = ("n_estimators", "max_iter", "iterations", "max_depth", "depth", "num_leaves")


def shrunk(case: Case, fails: Fails, *, seconds: float = 60.0) -> Case:
    """A smaller case that fails in the same way: fewer settings, rows, columns and trees, and plainer values."""
    end = time.monotonic() + seconds
    again = True
    while again:
        again = False
        for smaller in _smaller(case):
            if time.monotonic() > end:
                return case
            if fails(smaller):
                case, again = smaller, True
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    """What may be left out, the most first; no class goes, since data of fewer classes are other data."""
    yield from (case.take(rows) for rows in _fewer(len(case.y)) if len(rows) and _keeps_classes(case, rows))
    if case.weight is not None:
        yield replace(case, weight=None)
        if (case.weight != 1).any():
            yield replace(case, weight=np.where(case.weight > 0, 1.0, 0.0))
    if case.groups is not None:
        yield replace(case, groups=None)
    for kept in _fewer(len(case.settings)):
        pairs = list(case.settings.items())
        yield replace(case, settings=dict(pairs[k] for k in kept))
    for name in case.encoder or {}:
        yield replace(case, encoder={kept: value for kept, value in (case.encoder or {}).items() if kept != name})
    for name in case.table.columns:
        if case.table.shape[1] > 1:
            yield replace(case, table=case.table.drop(columns=name), asked=case.asked.drop(columns=name))
    for size, value in _sizes(case):
        yield replace(case, sizes={**case.sizes, size: value})
    for rows in _fewer(len(case.asked)):
        if len(rows):
            yield replace(case, asked=case.asked.iloc[rows].reset_index(drop=True))
    yield from _plainer_values(case)


def _keeps_classes(case: Case, rows: np.ndarray) -> bool:
    """Whether every class has a row that counts, if it had one."""
    counts = np.ones(len(case.y), dtype=bool) if case.weight is None else case.weight > 0
    of_rows = (set(case.y[kept].tolist()) for kept in (rows, rows[counts[rows]]))
    return case.target == "numbers" or [*of_rows] == [set(case.y.tolist()), set(case.y[counts].tolist())]


def _fewer(n: int) -> Iterator[np.ndarray]:
    """The places of what is kept without a half, a quarter, …, one of n things."""
    step = max(n // 2, 1)
    while step and n:
        for start in range(0, n, step):
            yield np.r_[0:start, min(start + step, n) : n].astype(int)
        step //= 2


def _sizes(case: Case) -> Iterator[tuple[str, int]]:
    model = SOURCES[case.source].make(case.target, case.seed)
    params = {} if model is None else model.get_params(deep=True)
    for name, value in (params | case.sizes).items():
        if name.rpartition("__")[2] in _SIZES and isinstance(value, int) and value > 1:
            yield name, max(value // 2, 1)


def _plainer_values(case: Case) -> Iterator[Case]:
    """Numbers by their rank, one column after the other."""
    for name in case.table.select_dtypes("number"):
        both = pd.concat([case.table[name], case.asked[name]], ignore_index=True)
        ranked = both.rank(method="dense")
        if not ranked.equals(both.astype(float)):
            table, asked = ranked[: len(case.table)], ranked[len(case.table) :]
            yield replace(
                case,
                table=case.table.assign(**{name: table.to_numpy()}),
                asked=case.asked.assign(**{name: asked.to_numpy()}),
            )


# As a test ------------------------------------------------------------------------------------------------------


def as_test(case: Case, promise: str, what: str) -> str:
    """A test of the case, to be pasted."""
    said = what.replace("\\", "/").replace('"""', "'''")
    fields = [
        f"method={case.method!r}",
        f"target={case.target!r}",
        f"source={case.source!r}",
        f"kind={case.kind!r}",
        f"table={written(case.table)}",
        f"y={written(case.y)}",
        f"asked={written(case.asked)}",
        f"weight={written(case.weight)}",
        f"settings={written(case.settings)}",
        f"sizes={written(case.sizes)}",
        f"seed={case.seed}",
        f"groups={written(case.groups)}",
        f"encoder={written(case.encoder)}",
    ]
    lines = ",\n        ".join(fields)
    return f'''"""{said}
"""

import numpy as np
import pandas as pd
from families import keeps
from numpy import inf, nan
from sklearn.model_selection import KFold
from soak_cases import Case

from rulecover import RuleSet
from rulecover.mirco.forward import Forward
from rulecover.rcboost.admission import Negative
from rulecover.rcboost.pricing.binned import BinnedPricing
from rulecover.rcboost.pricing.oracles import ForestPricing
from rulecover.rcboost.removal import Stale
from rulecover.setcover import Exact, Greedy, Search
from rulecover.targets.classes.impurity import Entropy
from rulecover.targets.numbers.impurity import SquaredError


def test_what_soak_found():
    case = Case(
        {lines},
    )
    keeps(case, {promise!r})
'''


def written(value: Any) -> str:
    """A value as Python."""
    if isinstance(value, pd.DataFrame):
        columns = ", ".join(f"{name!r}: {written(value[name].to_numpy())}" for name in value)
        return f"pd.DataFrame({{{columns}}})"
    if isinstance(value, np.ndarray) and value.dtype.kind == "M":
        return f"np.array({value.astype('datetime64[us]').astype(str).tolist()!r}, dtype='datetime64[us]')"
    if isinstance(value, np.ndarray):
        kind = "object" if value.dtype.kind == "O" else f"{value.dtype.str!r}"
        return f"np.array({value.tolist()!r}, dtype={kind})"
    if isinstance(value, RuleSet):
        return f"RuleSet.from_text({value.to_text()!r}, {list(value.feature_names)!r})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {written(inner)}" for key, inner in value.items()) + "}"
    return repr(value)
