"""Exact reductions: a smaller covering problem with the same least cost."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse

from rulecover.clock import is_late
from rulecover.coverage import Coverage
from rulecover.exceptions import MemoryLimitError
from rulecover.setcover.dominance import n_bytes, n_cells, table_of
from rulecover.setcover.problem import CoveringProblem
from rulecover.typing import Floats, Ints

#: The table of samples by blocks is four bytes per cell; beyond this many cells only equal samples are merged.
MAX_CELLS = 250_000_000
#: Cells that are compared in a second to find equal samples, and cells of the table that is then reduced, roughly.
COMPARED_PER_SECOND, CELLS_PER_SECOND = 100_000_000, 20_000_000
#: With no more cells than this nothing takes long.
FEW_CELLS = 1_000_000


@dataclass(frozen=True, eq=False)
class Reduced:
    """What is left of a covering problem, and the way back.

    Some best cover of the problem consists of the `forced` rules and of a best choice among `rules`.

    Parameters
    ----------
    problem
        The problem that was reduced.
    samples, rules
        Which samples and rules of the problem are left: the rows and columns of `matrix`.
    matrix
        Samples by rules, 0/1.
    cost, demand
        Costs of the rules and demands of the samples that are left; the demand is what the forced rules leave open.
    forced
        Rules that every cover of the reduced problem needs, because some sample has no choice.
    forcing
        Samples without choice, from which the need of the forced rules can be proved.
    memory
        The bytes that an LP of it may take, or branch and bound; no limit if ``None``.

    Examples
    --------
    >>> problem = CoveringProblem(Coverage.of_masks([[1, 1, 0], [0, 1, 0], [0, 0, 1]]), cost=[1.0, 1.5, 1.0])
    >>> left = reduced(problem)
    >>> left.rules.tolist(), left.forced.tolist()
    ([], [0, 2])
    """

    problem: CoveringProblem
    samples: Ints
    rules: Ints
    matrix: scipy.sparse.csc_array
    cost: Floats
    demand: Ints
    forced: Ints
    forcing: Ints
    memory: int | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.samples), len(self.rules)

    @property
    def forced_cost(self) -> float:
        return float(self.problem.cost[self.forced].sum())

    def lift(self, columns: Ints) -> Ints:
        """The rules of the problem that a choice of columns stands for, the forced ones with them."""
        return np.sort(np.concatenate([self.forced, self.rules[columns]])).astype(np.intp)

    def places(self, rules: Ints) -> Ints:
        """The columns that stand for those of the rules that are still there."""
        place = np.full(self.problem.n_rules, -1, dtype=np.intp)
        place[self.rules] = np.arange(len(self.rules))
        found = place[rules]
        return found[found >= 0]


def reduced(
    problem: CoveringProblem, *, rules: Ints | None = None, deadline: float | None = None, memory: int | None = None
) -> Reduced:
    """The problem after every reduction below, repeated until none applies.

    - Equal samples (the same rules cover them) are merged; the largest demand stays.
    - A rule goes if rules that cover all its samples at no higher cost are as many as its most demanding sample
      asks for. With a demand of 1 that is the dominance of one column by another; with more, one dominating rule is
      not enough, since each rule counts once and both may be needed.
    - A sample goes if another with as large a demand is covered by some of the same rules and no others.
    - The rules of a sample with no more rules than it demands are forced.

    Parameters
    ----------
    problem
        The covering problem.
    rules
        Only these rules may be chosen (all by default); they must be able to meet every demand.
    deadline
        When to stop, by `time.perf_counter`; what was found until then is valid all the same.
    memory
        The bytes that the table may take, and later the LP; if ``None``, the table may have `MAX_CELLS` cells.

    Raises
    ------
    TimeoutError
        If a large problem would take longer than there is time to begin with.
    MemoryLimitError
        If the table would take more than `memory`.

    Notes
    -----
    The work is about one comparison for each sample and block, and for each rule and block; the table has four bytes
    for each (merged) sample and block, and takes fifteen times as much while it shrinks. For rules that come from no
    tree it has one byte for each sample and rule. Where it would have more than `MAX_CELLS` cells, only equal samples
    are merged.
    """
    allowed = np.arange(problem.n_rules) if rules is None else np.sort(np.asarray(rules, dtype=np.intp))
    coverage = problem.coverage if rules is None else problem.coverage.take(allowed)
    _check_time_for(n_cells(coverage, problem.n_samples), COMPARED_PER_SECOND, deadline)
    samples = _distinct(coverage, problem.demand)
    _check_time_for(n_cells(coverage, len(samples)), CELLS_PER_SECOND, deadline)
    if memory is not None and n_bytes(coverage, len(samples)) > memory:
        raise MemoryLimitError(f"reducing the problem takes more than {memory:,} bytes; raise memory_limit.")
    if (memory is None and n_cells(coverage, len(samples)) > MAX_CELLS) or is_late(deadline):
        return replace(_merged(problem, samples, allowed, coverage), memory=memory)
    table = table_of(coverage.among(samples), problem.cost[allowed], problem.demand[samples], deadline)
    table.shrink()
    kept = np.flatnonzero(table.alive[:-1])
    return Reduced(
        problem=problem,
        samples=samples[table.rows],
        rules=allowed[kept],
        matrix=table.matrix()[:, kept],
        cost=problem.cost[allowed[kept]],
        demand=table.need,
        forced=allowed[np.array(sorted(table.forced), dtype=np.intp)],
        forcing=samples[np.array(table.forcing, dtype=np.intp)],
        memory=memory,
    )


def _check_time_for(cells: int, per_second: int, deadline: float | None) -> None:
    if cells > FEW_CELLS and is_late(deadline, seconds=cells / per_second):
        raise TimeoutError("there is no time to reduce the problem.")


def _merged(problem: CoveringProblem, samples: Ints, allowed: Ints, coverage: Coverage) -> Reduced:
    """The problem with equal samples merged, and nothing else."""
    none = np.zeros(0, dtype=np.intp)
    matrix = coverage.among(samples).to_sparse()
    kept = np.flatnonzero(np.diff(matrix.indptr))
    rules, demand = allowed[kept], problem.demand[samples]
    return Reduced(problem, samples, rules, matrix[:, kept], problem.cost[rules], demand, forced=none, forcing=none)


def _distinct(coverage: Coverage, demand: Ints) -> Ints:
    """One sample, of the largest demand, of each set of samples that the same rules cover.

    They come in the order of their hashes, which what covers them decides: so nothing that follows depends on the
    order of the rows.
    """
    rng = np.random.default_rng(0)
    keys = rng.integers(1, np.iinfo(np.uint64).max, size=coverage.n_rules, dtype=np.uint64)
    hashes = np.zeros(coverage.n_samples, dtype=np.uint64)
    for block in coverage.blocks:
        hashes += block.lookup(keys)
    order = np.lexsort((-demand, hashes))
    first = np.ones(len(order), dtype=bool)
    first[1:] = hashes[order[1:]] != hashes[order[:-1]]
    stands_for = np.empty_like(order)
    stands_for[order] = order[first][np.cumsum(first) - 1]
    # A collision of hashes is next to impossible, and a cover that misses a sample because of one must be so too.
    equal = np.ones(len(order), dtype=bool)
    for block in coverage.blocks:
        equal &= block.alike(stands_for)
    kept = (stands_for == np.arange(len(order))) | ~equal
    distinct: Ints = order[kept[order]]
    return distinct
