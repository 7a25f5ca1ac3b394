"""Rows on a GPU as one partition of a table: the same sums as `rulecover.partitions.part.Part` returns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from rulecover.coverage import multiples_of
from rulecover.data.fingerprint import Fingerprint
from rulecover.exceptions import MismatchedDataError
from rulecover.gpu.launch import THREADS, blocks_for, kernel
from rulecover.gpu.patterns import covering_words, patterns_of
from rulecover.gpu.seen import fingerprint, values_near_bounds
from rulecover.gpu.trees import PackedTrees, class_sums, leaves_of_rows, sums_per_block
from rulecover.partitions.part import NO_RANK
from rulecover.partitions.patterns import PatternSums
from rulecover.rules.clauses import Clauses
from rulecover.rules.ruleset import RuleSet
from rulecover.setcover.greedy import Gains
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Array, Floats, Ints

#: Fewer rows than this are counted without a list of sums per block.
_FEW = 4096
#: For how many rows, times rules, it is found out in a second which rules cover them, roughly.
_COVERED = 2e8


class DevicePart:
    """Rows on a GPU, their leaves, and which of them are still open.

    In addition to the rows it takes one or two bytes per row and tree, and nine bytes per row.

    Parameters
    ----------
    ensemble
        The trees.
    X
        Rows x columns of float32 or float64, on the device.
    y
        The class of each row, by number, on the device.
    classes
        The labels.
    weight
        The weight of each row, on the device; ``None`` counts each once.
    """

    def __init__(self, ensemble: TreeEnsemble, X: Any, y: Any, classes: Array, weight: Any = None) -> None:
        if len(X) >= 2**32:
            raise MismatchedDataError(f"X has {len(X)} rows; one GPU takes fewer than {2**32}.")
        self._ensemble, self._packed = ensemble, PackedTrees.of(ensemble, X.dtype)
        self._X, self._y, self._classes, self._weight = X, y, classes, weight
        self._n_trees, self._n_rows = len(ensemble.trees), len(X)

    def pace(self, method: str, *arguments: Any) -> Floats:
        """As if all were done at once: on a GPU a pass takes too little time to be cut."""
        return np.zeros(2)

    def seconds_to_group(self, n_rules: int) -> float:
        """As in `Part`."""
        return n_rules * self._n_rows / _COVERED

    def keep_trees(self, n_trees: int) -> None:
        """Leaves all trees but the first out, before they are read."""
        self._ensemble, self._n_trees = self._ensemble.take(np.arange(n_trees)), n_trees
        self._packed = PackedTrees.of(self._ensemble, self._X.dtype)

    # Leaves -----------------------------------------------------------------------------------------------------

    def leaf_sums(self) -> Floats:
        """Sends the rows through the trees and keeps their leaves; returns the sums per leaf of all trees."""
        import cupy as cp

        self._ids = leaves_of_rows(self._X, self._packed)
        self._first_leaf = cp.asarray(self._packed.first_leaf.astype(np.int32))
        return class_sums(self._ids, self._packed.first_leaf, self._y, len(self._classes), self._weight)

    def _home(self, candidate: int) -> tuple[int, int]:
        """The tree of a candidate, and the number of its leaf there."""
        leaf = int(self._candidates[candidate])
        tree = int(np.searchsorted(self._packed.first_leaf, leaf, side="right")) - 1
        return tree, leaf - int(self._packed.first_leaf[tree])

    # Covering: Algorithm S.1 ------------------------------------------------------------------------------------

    def start_cover(self, leaves: Ints, demand: Ints, unit: float | None = None) -> Gains:
        """All rows are open; returns what each candidate covers of them. See `Part.start_cover`."""
        import cupy as cp

        self._candidates = np.asarray(leaves, dtype=np.intp)
        self._gain = None if self._weight is None or unit is None else multiples_of(self._weight, unit)
        wanted, self._n_capped = self._wanted(demand), 0
        if np.max(demand) > 1:
            degrees = self._degrees()
            wanted, self._n_capped = cp.minimum(wanted, degrees), int((degrees < wanted).sum())
        self._demand = wanted.astype(np.uint8)
        self._need = self._demand.copy()
        self._settled = cp.empty(self._n_rows, dtype=np.uint32)
        return self._gains_of(cp.arange(self._n_rows, dtype=np.uint32))

    def n_capped(self, demand: Ints) -> int:
        """How many rows are covered by fewer candidates than they demand."""
        return self._n_capped

    def most_demanded(self) -> int:
        """The largest number of rules that a row demands."""
        return int(self._demand.max()) if self._n_rows else 0

    def gains_in_turn(self, candidates: Ints) -> Gains:
        """What each of these candidates would gain if those before it were picked; nothing is picked."""
        import cupy as cp

        count, gain = cp.zeros(len(candidates), dtype=np.uint32), cp.zeros(len(candidates))
        summed = self._need, np.intp(0) if self._gain is None else self._gain, count, gain
        arguments = *self._ranked(candidates), *summed
        kernel("gains_in_turn", Leaf=self._ids.dtype)((blocks_for(self._n_rows),), (THREADS,), arguments)
        return Gains(0, 0.0, count.get().astype(np.intp), None if self._gain is None else gain.get())

    def cover(self, candidates: Ints) -> Gains:
        """Picks candidates: rows need one rule less of each. Returns those that need none any more, the settled."""
        import cupy as cp

        n_settled = cp.zeros(1, dtype=np.uint32)
        if len(candidates) == 1:
            tree, number = self._home(int(candidates[0]))
            name, taken = "settle", (self._ids[tree], np.int64(self._n_rows), np.uint32(number))
        else:
            name, taken = "settle_in_turn", self._ranked(candidates)
        arguments = *taken, self._need, self._settled, n_settled
        kernel(name, Leaf=self._ids.dtype)((blocks_for(self._n_rows),), (THREADS,), arguments)
        return self._gains_of(self._settled[: int(n_settled[0])])

    def _ranked(self, candidates: Ints) -> tuple[Any, ...]:
        """The leaves of rows, and the rank that a candidate at a leaf has among these, as kernels take them."""
        import cupy as cp

        leaves = self._candidates[candidates]
        rank = np.full(int(self._packed.first_leaf[-1]), NO_RANK, dtype=np.int32)
        rank[leaves] = np.arange(len(leaves))
        trees = np.unique(np.searchsorted(self._packed.first_leaf, leaves, side="right") - 1).astype(np.int32)
        among = cp.asarray(trees), np.int32(len(trees)), self._first_leaf, cp.asarray(rank)
        return self._ids, np.int64(self._n_rows), *among

    def needs(self, candidate: int, others: Ints) -> bool:
        """Whether a row of this candidate would be covered less often than it demands by the others alone."""
        import cupy as cp

        tree, number = self._home(candidate)
        leaves = self._candidates[others]
        chosen = np.zeros(int(self._packed.first_leaf[-1]), dtype=np.uint8)
        chosen[leaves] = 1
        trees = np.unique(np.searchsorted(self._packed.first_leaf, leaves, side="right") - 1).astype(np.int32)
        needed = cp.zeros(1, dtype=np.uint32)
        row_of = self._ids, np.int64(self._n_rows), np.int32(tree), np.uint32(number)
        among = cp.asarray(trees), np.int32(len(trees)), self._first_leaf, cp.asarray(chosen), self._demand, needed
        kernel("is_needed", Leaf=self._ids.dtype)((blocks_for(self._n_rows),), (THREADS,), (*row_of, *among))
        return bool(needed[0])

    # Rules ------------------------------------------------------------------------------------------------------

    def rule_patterns(self, rules: RuleSet) -> PatternSums:
        """The rows by the rules that cover them."""
        return self._patterns(rules.clauses, rules)

    def clause_patterns(self, rules: RuleSet) -> list[PatternSums]:
        """For each rule the rows by the clauses of it that they satisfy."""
        each = (rules.clauses.take(np.array([j])) for j in range(len(rules)))
        return [self._patterns(replace(one, offset=np.arange(len(one.feature) + 1)), rules) for one in each]

    def _patterns(self, clauses: Clauses, rules: RuleSet) -> PatternSums:
        words = covering_words(self._X, clauses, tuple(rules.columns.zero_missing))
        return patterns_of(words, len(clauses), self._y, len(self._classes), self._weight)

    def seen(self, rules: RuleSet) -> tuple[dict[int, Floats], Fingerprint]:
        """What is shown of rules: a few values of each column near their bounds, and the rows' fingerprint."""
        clauses, X = rules.clauses, self._X
        columns = {f: rules.feature_names[f] for f in clauses.columns.tolist()}
        bounds = {f: np.append(clauses.lower, clauses.upper)[np.tile(clauses.feature == f, 2)] for f in columns}
        values = {f: values_near_bounds(X, f, mine) for f, mine in bounds.items()}
        return values, fingerprint(X, columns, self._y, self._classes)

    # In detail --------------------------------------------------------------------------------------------------

    def _wanted(self, demand: Ints) -> Any:
        """How many rules each row asks for."""
        import cupy as cp

        demand = np.asarray(demand)
        if demand.max(initial=0) > np.iinfo(np.uint8).max:
            raise MismatchedDataError(f"demand is {demand.max()}; on a GPU it is at most {np.iinfo(np.uint8).max}.")
        if demand.ndim == 0:
            return cp.full(self._n_rows, int(demand), dtype=np.int32)
        return cp.asarray(demand.astype(np.int32))[self._y]

    def _degrees(self) -> Any:
        """How many candidates cover each row."""
        import cupy as cp

        is_candidate = np.zeros(int(self._packed.first_leaf[-1]), dtype=np.int32)
        is_candidate[self._candidates] = 1
        out = cp.zeros(self._n_rows, dtype=np.int32)
        for t, (first, last) in enumerate(zip(self._packed.first_leaf[:-1], self._packed.first_leaf[1:], strict=True)):
            mine = is_candidate[first:last]
            out += 1 if mine.all() else cp.asarray(mine)[self._ids[t]]
        return out

    def _gains_of(self, rows: Any) -> Gains:
        """What each candidate covers of some rows."""
        demand = self._demand[rows]
        count = self._per_leaf(rows, None, "uint32")
        if self._gain is None:
            return Gains(len(rows), float(demand.sum(dtype=np.int64)), count[self._candidates].astype(np.intp))
        weight = self._per_leaf(rows, self._gain, "float64")[self._candidates]
        demanded = float((demand * self._gain[rows]).sum())
        return Gains(len(rows), demanded, count[self._candidates].astype(np.intp), weight)

    def _per_leaf(self, rows: Any, weight: Any, kind: str) -> Any:
        """The number or the weight of some rows at each leaf of every tree, in the memory of the CPU."""
        import cupy as cp

        lost = cp.zeros(int(self._packed.first_leaf[-1]), dtype=kind)
        if not len(rows):
            return lost.get()
        here, memory = sums_per_block(self._packed.most_leaves, kind) if len(rows) > _FEW else (np.int32(0), 0)
        grid = max(1, min(len(rows) // _FEW, 64)), self._n_trees
        given = rows, np.uint32(len(rows)), np.intp(0) if weight is None else weight
        arguments = self._ids, np.int64(self._n_rows), *given, self._first_leaf, here, lost
        kernel("losses", Leaf=self._ids.dtype, Sum=kind)(grid, (THREADS,), arguments, shared_mem=memory)
        return lost.get()
