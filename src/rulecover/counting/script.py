"""What is counted of a model: its rules as conditions, the columns they need, and a bit for each."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from rulecover.data.dates import DatePart
from rulecover.exceptions import MismatchedDataError
from rulecover.export.conditions import Script
from rulecover.export.exported import vote_of

#: Rules per whole number: engines that divide whole numbers as floats are exact up to 2**53.
BITS = 50


def rules_alone(model: Any) -> Script:
    """The rules of a model as conditions, without the comparisons of their trees that a fallback may need."""
    vote = vote_of(model)
    return Script(replace(vote, rules=replace(vote.rules, paths=None)))


def words(n_rules: int) -> dict[str, range]:
    """The whole numbers that hold a bit for each rule, by name, and the rules of each."""
    return {f"word_{k}": range(k * BITS, min(k * BITS + BITS, n_rules)) for k in range(-(-n_rules // BITS))}


def check_columns(
    needed: Iterable[str],
    there: Iterable[str],
    known_as: Callable[[str], Hashable] = str,
    parts: Mapping[str, DatePart] = MappingProxyType({}),
) -> None:
    """Raises if a table does not have a column; some are made of dates, and the error says so."""
    there = list(there)
    known = {known_as(name) for name in there}
    for name in needed:
        if known_as(name) not in known:
            some = ", ".join(there[:5]) + ("…" if len(there) > 5 else "")
            made = f"; add it, the {parts[name].part} of {parts[name].name!r}" if name in parts else ""
            raise MismatchedDataError(f"the table has no column {name!r}{made}; it has {some}.")
