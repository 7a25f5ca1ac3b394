"""The greedy cover (Algorithm S.1) of rows in many places."""

from __future__ import annotations

import math
import time
from operator import add
from typing import Any

import numpy as np

from rulecover.clock import is_late
from rulecover.coverage import exact_unit
from rulecover.partitions.parts import Parts
from rulecover.setcover.certificate import certificate_of
from rulecover.setcover.greedy import Gains, Greedy, Remaining, dual_fitting, picks_from
from rulecover.setcover.problem import Cover, Status, round_up
from rulecover.typing import Floats, Ints


class SamplesInParts:
    """The open rows of all parts, as the greedy algorithm sees them.

    Parameters
    ----------
    parts
        The rows.
    leaves
        The leaf of each candidate among the leaves of all trees, in increasing order.
    demand
        How many rules must cover each row: one number, or one for each class.
    total_weight
        The weights of all rows added up; ``None`` where rows have no weights.
    """

    def __init__(self, parts: Parts, leaves: Ints, demand: Ints, total_weight: float | None = None) -> None:
        self._parts, self._leaves, self._demand = parts, leaves, demand
        self._unit = None if total_weight is None else exact_unit(total_weight)

    def gains(self) -> Gains:
        return self._added("start_cover", self._leaves, self._demand, self._unit)

    def gains_in_turn(self, rules: Ints) -> Gains:
        return self._added("gains_in_turn", rules)

    def cover(self, rules: Ints) -> Gains:
        return self._added("cover", rules)

    def _added(self, method: str, *arguments: Any) -> Gains:
        gains: Gains = self._parts.reduced(add, method, *arguments)
        return gains


def greedy_cover(
    parts: Parts,
    cost: Floats,
    leaves: Ints,
    demand: Ints,
    *,
    total_weight: float | None = None,
    solver: Greedy | None = None,
    max_rules: int | None = None,
    deadline: float | None = None,
) -> Cover:
    """The cover that `Greedy` chooses, with its certificate but for the proof, whatever parts the rows are in.

    Parameters
    ----------
    parts
        The rows; `leaf_sums` has been called.
    cost
        The price of each candidate.
    leaves, demand, total_weight
        As in `SamplesInParts`.
    solver
        Its settings; the bound is by dual fitting.
    max_rules
        A hard limit on the number of rules.
    deadline
        When rules must be picked, by `time.perf_counter`: those that are still needed then are picked in haste.
    """
    start = time.perf_counter()
    solver = Greedy() if solver is None else solver
    remaining = Remaining(cost, SamplesInParts(parts, leaves, demand, total_weight))
    picks = picks_from(remaining, at_most=max_rules, slack=solver.slack, deadline=deadline)
    n_uncovered = remaining.n_open
    picks = np.append(picks, picks_from(remaining, slack=solver.slack, deadline=deadline))
    rules = picks if remaining.apart else cleared(parts, cost, picks, solver, deadline)
    status = Status.TIME_LIMIT if is_late(deadline) else Status.FEASIBLE
    if max_rules is not None and len(rules) > max_rules:
        rules = picks[:max_rules]  # as they were picked: under limits that bind, rule sets are nested
    else:
        n_uncovered = 0
    whole_costs = bool((cost % 1 == 0).all())
    _, bound = dual_fitting(remaining)
    certificate = certificate_of(
        math.fsum(cost[rules]),
        round_up(bound) if whole_costs else bound,
        status,
        source="dual fitting",
        n_rules=len(rules),
        seconds=time.perf_counter() - start,
        min_rules=parts.reduced(max, "most_demanded"),
        n_uncovered=n_uncovered,
        n_capped=parts.reduced(add, "n_capped", demand),
    )
    return Cover(rules, certificate)


def cleared(parts: Parts, cost: Floats, picks: Ints, solver: Greedy, deadline: float | None = None) -> Ints:
    """The picked rules without those that the solver removes as redundant, as far as there is time."""
    keep = np.ones(len(picks), dtype=bool)
    for place in np.argsort(cost[picks], kind="stable")[::-1]:
        if is_late(deadline):
            break
        keep[place] = False
        if any(parts.map("needs", int(picks[place]), picks[keep])):
            keep[place] = True
            if solver.redundancy == "prefix":
                break
    return picks[keep]
