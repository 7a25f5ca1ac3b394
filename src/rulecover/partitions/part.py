"""One partition of the rows: what a worker keeps of them, and the sums that leave it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from rulecover.coverage import multiples_of, smallest_uint
from rulecover.data.columns import values_of
from rulecover.data.fingerprint import Fingerprint, row_hashes
from rulecover.partitions.patterns import PatternSums, patterns_of
from rulecover.partitions.store import IdStore, InMemory
from rulecover.pool import neighbours
from rulecover.rules.ruleset import RuleSet
from rulecover.setcover.greedy import Gains
from rulecover.show.short_bounds import gaps
from rulecover.targets.samples import Samples
from rulecover.trees.tree import Leaves, TreeEnsemble
from rulecover.typing import Array, Bools, Floats, Ints, UInts

#: (row, tree) pairs that are counted at a time.
_PAIRS = 1 << 20
#: A method is timed with one row in this many, but with no fewer, and no more, than these, if there are as many.
_ONE_IN, _FEWEST, _MOST = 16, 1000, 10_000
#: For how many rows, times rules, it is found out in a second which rules cover them, roughly.
_COVERED = 1e8
#: The rank of leaves that are not among the candidates that are picked.
NO_RANK = np.int32(np.iinfo(np.int32).max)
#: What `Part.seen` returns.
Seen = tuple[dict[int, Floats], Fingerprint]


class LeafNumbers:
    """The leaves of all trees in one list: trees in their order, leaves by node number."""

    def __init__(self, ensemble: TreeEnsemble) -> None:
        self.nodes = [tree.leaves for tree in ensemble.trees]
        self.sizes = np.array([len(nodes) for nodes in self.nodes], dtype=np.intp)
        self.first = np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.intp)
        self.type = smallest_uint(int(self.sizes.max(initial=1)) - 1)

    def __len__(self) -> int:
        return int(self.first[-1])

    @property
    def tree(self) -> Ints:
        """The tree of each leaf."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @staticmethod
    def places(leaves: Leaves) -> Ints:
        """The places of some leaves among all leaves of their trees."""
        rank = [np.cumsum(tree.left < 0) - 1 for tree in leaves.trees]
        first = np.concatenate([[0], np.cumsum([len(tree.leaves) for tree in leaves.trees])]).astype(np.intp)
        nodes = np.concatenate([[0], np.cumsum([len(each) for each in rank])]).astype(np.intp)
        return np.asarray(first[leaves.tree] + np.concatenate(rank)[nodes[leaves.tree] + leaves.node], dtype=np.intp)

    def home(self, leaf: int) -> tuple[int, int]:
        """The tree of a leaf, and its number there, from 0."""
        tree = int(np.searchsorted(self.first, leaf, side="right")) - 1
        return tree, leaf - int(self.first[tree])


class Part:
    """One partition of the rows: the leaf of each row in each tree, and the rows that are still open.

    A part knows nothing of files, clusters or other parts. Its state changes only by calls of its methods, which take
    and return small values, so that a part that is lost can be made again from its rows and the same calls.

    Parameters
    ----------
    ensemble
        The trees.
    load
        Returns the samples of this part, with numbers for X, each time it is called: they may be read again rather
        than kept.
    store
        Where leaf ids are kept: in memory by default, or in files.
    """

    #: Calls that need not be repeated when a part is made again: they change nothing.
    passing = frozenset(
        {
            *("n_capped", "most_demanded", "gains_in_turn", "needs", "rule_patterns", "clause_patterns", "seen"),
            *("n_rows", "pace", "seconds_to_group"),
        }
    )
    #: Whether rows are kept in an order in which neighbours share leaves.
    _sorts_rows = True

    def __init__(self, ensemble: TreeEnsemble, load: Callable[[], Samples], store: IdStore | None = None) -> None:
        self.ensemble, self.load = ensemble, load
        self._store: IdStore = InMemory() if store is None else store
        self._leaves = LeafNumbers(ensemble)
        self._weight: Floats | None = None
        self._y: Any = None

    # Time -------------------------------------------------------------------------------------------------------

    def pace(self, method: str, *arguments: Any) -> Floats:
        """The seconds in which rows are loaded, and those in which a method is done, judged by some of the rows."""
        begin = time.perf_counter()
        samples = self.load()
        loaded, n_rows = time.perf_counter(), len(samples.y)
        n_few = min(n_rows, max(_FEWEST, min(_MOST, n_rows // _ONE_IN)))
        few = samples.among(np.linspace(0, n_rows, n_few, endpoint=False).astype(np.intp))
        begun = time.perf_counter()
        getattr(type(self)(self.ensemble, lambda: few), method)(*arguments)
        return np.array([loaded - begin, (time.perf_counter() - begun) * n_rows / max(1, n_few)])

    def seconds_to_group(self, n_rules: int) -> float:
        """The seconds it takes to find out which of the rules cover which rows, roughly."""
        return n_rules * self.n_rows() / _COVERED

    # Leaves -----------------------------------------------------------------------------------------------------

    def keep_trees(self, n_trees: int) -> None:
        """Leaves all trees but the first out, before they are read."""
        self.ensemble = self.ensemble.take(np.arange(n_trees))
        self._leaves = LeafNumbers(self.ensemble)

    def leaf_sums(self) -> Floats:
        """Sends the rows through the trees and keeps their leaves; returns the sums per leaf of all trees.

        The columns are those of `Samples.sums`. Rows are kept in an order in which neighbours share leaves: they take
        much the same way through every tree, and are mostly settled together.
        """
        samples = self.load()
        n_rows = len(samples.y)
        out = np.zeros((len(self._leaves), len(samples.totals)))
        X: Any = self.ensemble.prepare(samples.X) if n_rows else None
        order = neighbours(self.ensemble, X) if n_rows and self._sorts_rows else None
        if order is not None:
            samples, X = samples.among(order), X[order]
        self._y, self._weight = samples.y, samples.weight
        self._ids = self._store.allocated((len(self.ensemble.trees), n_rows), self._leaves.type)
        with self._ids.opened(write=True) as ids:
            for t, route in enumerate(self.ensemble.routes if n_rows else ()):
                out[self._of_tree(t)] = self._follow(route(X), t, samples, ids)
        return out

    def n_rows(self) -> int:
        """How many rows there are."""
        return self._ids.shape[1]

    def _follow(self, node: Ints, t: int, samples: Samples, ids: UInts) -> Floats:
        """One tree: the number of each row's leaf goes to `ids`; returns the sums per leaf."""
        leaves, n_nodes = self._leaves.nodes[t], len(self.ensemble.trees[t].left)
        number = np.zeros(n_nodes, dtype=ids.dtype)
        number[leaves] = np.arange(len(leaves))
        ids[t] = number[node]
        sums = samples.sums(node, *samples.summands())
        padded = np.zeros((n_nodes, sums.shape[1]))
        padded[: len(sums)] = sums
        return padded[leaves]

    def _of_tree(self, t: int) -> slice:
        return slice(int(self._leaves.first[t]), int(self._leaves.first[t + 1]))

    # Covering: Algorithm S.1 ------------------------------------------------------------------------------------

    def start_cover(self, leaves: Ints, demand: Ints, unit: float | None = None) -> Gains:
        """All rows are open; returns what each candidate covers of them.

        Parameters
        ----------
        leaves
            The leaf of each candidate among the leaves of all trees, in increasing order.
        demand
            How many rules must cover each row: one number for all, or one for each class, in the order of classes. It
            is capped by the number of candidates that cover the row.
        unit
            Weights are rounded to multiples of this; ``None`` where rows have no weights.
        """
        self._candidates = np.asarray(leaves, dtype=np.intp)
        self._gain = None if self._weight is None or unit is None else multiples_of(self._weight, unit)
        self._demand = self._capped(np.asarray(demand))
        every = _numbers(self._ids.shape[1])
        self._open = _StillOpen(self._ids, every, self._demand.copy())
        return self._gains_of(self._ids, every, every)

    def n_capped(self, demand: Ints) -> int:
        """How many rows are covered by fewer candidates than they demand."""
        return int((self._demand < self._wanted(np.asarray(demand))).sum())

    def most_demanded(self) -> int:
        """The largest number of rules that a row demands."""
        return int(self._demand.max(initial=0))

    def gains_in_turn(self, candidates: Ints) -> Gains:
        """What each of these candidates would gain if those before it were picked; nothing is picked."""
        count, gain = np.zeros(len(candidates), dtype=np.intp), np.zeros(len(candidates))
        with self._open.ids.opened() as ids:
            for places, first in self._open.takers(self._ranked(ids, candidates)):
                weight = None if self._gain is None else self._gain[self._open.rows[places]]
                count += np.bincount(first, minlength=len(count))
                gain += 0.0 if weight is None else np.bincount(first, weight, minlength=len(count))
        return Gains(0, 0.0, count, None if self._gain is None else gain)

    def cover(self, candidates: Ints) -> Gains:
        """Picks candidates: rows need one rule less of each. Returns those that need none any more, the settled."""
        with self._open.ids.opened() as ids:
            if len(candidates) == 1:
                tree, number = self._leaves.home(int(self._candidates[candidates[0]]))
                taken = [self._open.covered(ids[tree], number)]
            else:
                taken = [places for places, _ in self._open.takers(self._ranked(ids, candidates))]
        places = self._open.settled_by(taken)
        gains = self._gains_of(self._open.ids, places, self._open.rows[places])
        self._open = self._open.without_settled(self._store)
        return gains

    def _ranked(self, ids: UInts, candidates: Ints) -> list[tuple[Array, Array]]:
        """For each tree of these candidates the leaves of rows, and the rank of the candidate at each leaf."""
        leaves = self._candidates[candidates]
        rank = np.full(len(self._leaves), NO_RANK, dtype=np.int32)
        rank[leaves] = np.arange(len(leaves))
        trees = np.unique(np.searchsorted(self._leaves.first, leaves, side="right") - 1)
        return [(ids[t], rank[self._of_tree(t)]) for t in trees.tolist()]

    def needs(self, candidate: int, others: Ints) -> bool:
        """Whether a row of this candidate would be covered less often than it demands by the others alone."""
        tree, number = self._leaves.home(int(self._candidates[candidate]))
        chosen = np.zeros(len(self._leaves), dtype=bool)
        chosen[self._candidates[others]] = True
        with self._ids.opened() as ids:
            rows = np.flatnonzero(ids[tree] == number)
            times = np.zeros(len(rows), dtype=np.intp)
            for t in np.unique(self._leaves.tree[self._candidates[others]]) if len(rows) else ():
                times += chosen[self._of_tree(t)][ids[t][rows]]
        return bool((times < self._demand[rows]).any())

    # Rules ------------------------------------------------------------------------------------------------------

    def rule_patterns(self, rules: RuleSet) -> PatternSums:
        """The rows by the rules that cover them."""
        samples = self.load()
        chunks = rules.clauses.covered_chunks(samples.X, rules.columns.zero_missing)
        return patterns_of(chunks if len(samples.y) else iter(()), samples, len(rules))

    def clause_patterns(self, rules: RuleSet) -> list[PatternSums]:
        """For each rule the rows by the clauses of it that they satisfy."""
        samples = self.load()
        each = [(rules[j : j + 1], int(n)) for j, n in enumerate(rules.lengths)]
        return [patterns_of(self._clause_chunks(rule, samples), samples, n) for rule, n in each]

    def seen(self, rules: RuleSet) -> Seen:
        """What is shown of rules: a few values of each column near their bounds, and the fingerprint of the rows.

        The values are the neighbours of each bound, the least and the largest, NaN if one is missing, and one with a
        fraction if there is one.
        """
        samples, used = self.load(), rules.clauses.columns
        names = [rules.feature_names[f] for f in used.tolist()]
        values = {f: values_near_bounds(rules, f, samples.X) for f in used.tolist()}
        return values, Fingerprint.of(row_hashes(samples.X, used, names, samples.labels), names)

    # In detail --------------------------------------------------------------------------------------------------

    def _clause_chunks(self, rule: RuleSet, samples: Samples) -> Iterator[tuple[int, Bools]]:
        """Which rows satisfy which clause of a single rule, in chunks of rows."""
        one_by_one = replace(rule.clauses, offset=np.arange(len(rule.clauses.feature) + 1))
        chunks = one_by_one.covered_chunks(samples.X, rule.columns.zero_missing)
        return chunks if len(samples.y) else iter(())

    def _capped(self, demand: Ints) -> UInts:
        wanted = self._wanted(demand)
        if wanted.max(initial=0) > 1:
            np.minimum(wanted, self._degrees(), out=wanted)
        return wanted.astype(smallest_uint(int(wanted.max(initial=0))))

    def _wanted(self, demand: Ints) -> Ints:
        return np.full(self._ids.shape[1], demand) if demand.ndim == 0 else np.asarray(demand, dtype=np.intp)[self._y]

    def _degrees(self) -> Ints:
        """How many candidates cover each row."""
        is_candidate = np.zeros(len(self._leaves), dtype=bool)
        is_candidate[self._candidates] = True
        out = np.zeros(self._ids.shape[1], dtype=np.intp)
        with self._ids.opened() as ids:
            for t in range(len(ids)):
                mine = is_candidate[self._of_tree(t)]
                out += 1 if mine.all() else mine[ids[t]]
        return out

    def _gains_of(self, kept: Any, places: Ints, rows: Ints) -> Gains:
        """What each candidate covers of some rows, found at these places of the kept ids."""
        weight = None if self._gain is None else self._gain[rows]
        demand = self._demand[rows]
        demanded = float(demand.sum(dtype=np.intp) if weight is None else demand @ weight)
        with kept.opened() as ids:
            count, gain = self._counted(ids, places, weight)
        return Gains(len(rows), demanded, count[self._candidates], None if gain is None else gain[self._candidates])

    def _counted(self, ids: UInts, places: Ints, weight: Floats | None) -> tuple[Ints, Floats | None]:
        """The number and the weight of some rows at each leaf."""
        if len(places) * len(ids) <= _PAIRS:
            key = (ids[:, places] + self._leaves.first[:-1, None]).ravel()
            several = None if weight is None else np.tile(weight, len(ids))
            by_weight: Any = None if several is None else np.bincount(key, several, minlength=len(self._leaves))
            return np.bincount(key, minlength=len(self._leaves)), by_weight
        count = np.empty(len(self._leaves), dtype=np.intp)
        gain = None if weight is None else np.empty(len(self._leaves))
        whole = len(places) == ids.shape[1]
        for t, size in enumerate(self._leaves.sizes):
            mine = ids[t] if whole else ids[t][places]
            count[self._of_tree(t)] = np.bincount(mine, minlength=size)
            if gain is not None:
                gain[self._of_tree(t)] = np.bincount(mine, weight, minlength=size)
        return count, gain


def seen_together(one: Seen, other: Seen) -> Seen:
    """What is shown of rules for the rows of both."""
    (mine, rows), (theirs, more) = one, other
    return {f: np.unique(np.concatenate([mine[f], theirs[f]])) for f in mine}, rows.with_rows_of(more)


def values_near_bounds(rules: RuleSet, f: int, X: Any) -> Floats:
    """A few values of a column by which rules are printed as for all of them; see `RuleSet.shown_for`."""
    values = values_of(X, f)
    mine = rules.clauses.feature == f
    bounds = np.concatenate([rules.clauses.lower[mine], rules.clauses.upper[mine]])
    present = values[~np.isnan(values)]
    if not len(present):
        return values[:1]
    known = np.unique(bounds[np.isfinite(bounds)])
    near = np.concatenate([*gaps(present, known), [present.min(), present.max()]])
    fraction = present[np.flatnonzero(present != np.floor(present))[:1]]
    missing = np.full(int(len(present) < len(values)), np.nan)
    return np.unique(np.concatenate([near[np.isfinite(near)], fraction, missing]))


def _numbers(n: int) -> Ints:
    """The numbers from 0, in four bytes each where that is enough: there is one for every row."""
    return np.arange(n, dtype=np.int32 if n < 2**31 else np.intp)


class _StillOpen:
    """The rows that still need rules: their numbers, and their leaves side by side once most others are settled."""

    def __init__(self, ids: Any, rows: Ints, need: UInts) -> None:
        self.ids, self.rows, self._need = ids, rows, need
        self._places = _numbers(len(rows))  # of open rows, among `rows`

    def covered(self, ids: UInts, number: int) -> Ints:
        """The places of open rows at this leaf."""
        mine = ids if len(self._places) == len(ids) else ids[self._places]
        return self._places[np.flatnonzero(mine == number)]

    def takers(self, ranked: list[tuple[Array, Array]]) -> Iterator[tuple[Array, Array]]:
        """The open rows that candidates take if they are picked in turn, and the rank of the candidate that takes each.

        A row comes once in each pair of arrays, and in as many pairs as it needs candidates, if there are so many.
        """
        places, last = self._places, np.full(len(self._places), -1, dtype=np.int32)
        need = self._need[places]
        while len(places):
            first = np.full(len(places), NO_RANK, dtype=np.int32)
            for ids, rank in ranked:
                mine = rank[ids if len(places) == len(ids) else ids[places]]
                np.minimum(first, np.where(mine > last, mine, NO_RANK), out=first)
            taken = first < NO_RANK
            yield places[taken], first[taken]
            more = taken & (need > 1)
            places, last, need = places[more], first[more], need[more] - 1

    def settled_by(self, taken: list[Ints]) -> Ints:
        """These rows need one rule less each time that they are taken; returns the places of those that need none."""
        for places in taken:
            self._need[places] -= 1
        settled: Ints = taken[0][self._need[taken[0]] == 0] if taken else _numbers(0)
        if len(settled):
            self._places = self._places[self._need[self._places] > 0]
        return settled

    def without_settled(self, store: IdStore) -> _StillOpen:
        """The same, the leaves of open rows copied together once half of the rows are settled."""
        if 2 * len(self._places) > len(self.rows) or not len(self.rows):
            return self
        smaller = store.allocated((self.ids.shape[0], len(self._places)), self.ids.dtype)
        with self.ids.opened() as before, smaller.opened(write=True) as after:
            for t in range(len(before)):
                np.take(before[t], self._places, out=after[t])
        return _StillOpen(smaller, self.rows[self._places], self._need[self._places])
