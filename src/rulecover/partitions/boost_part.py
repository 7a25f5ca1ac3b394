"""One partition of the rows in RCBoost: their coverage by the pool, their duals, and their share in growing a tree."""

from __future__ import annotations

import ctypes
import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, NamedTuple, cast

import numpy as np
import scipy.sparse

from rulecover.coverage import Block, Coverage, smallest_uint
from rulecover.partitions.part import Part, Seen, seen_together
from rulecover.partitions.patterns import PatternSums
from rulecover.rcboost.pricing.binned import leaves_of, parse_tree, xgboost_module
from rulecover.rules.ruleset import RuleSet
from rulecover.setcover.master import FEASIBLE, WATCHED, Packs, Signatures
from rulecover.targets.samples import Samples
from rulecover.trees.tree import Tree, TreeEnsemble
from rulecover.typing import Floats, Ints, UInts

#: Seconds that the parts wait for each other while a tree is grown.
_TOGETHER = 300


class BoostRows(NamedTuple):
    """The rows of a part, and what it must know of all rows.

    Parameters
    ----------
    blocks
        The rows, in one or several blocks, which are not joined: that would take as much memory again.
    reference
        The rows that bins are made from, the same for every part.
    number, n_samples
        The number of the part, and the number of rows of all parts.
    """

    blocks: Sequence[Samples]
    reference: Floats
    number: int
    n_samples: int


def joined_samples(samples: Sequence[Samples]) -> Samples:
    """Samples of one kind as one."""
    if len(samples) == 1:
        return samples[0]
    first: Any = samples[0]
    weight = None if first.weight is None else np.concatenate([each.count for each in samples])
    X, y = np.concatenate([each.X for each in samples]), np.concatenate([each.y for each in samples])
    joined: Samples = replace(first, X=X, y=y, weight=weight)
    return joined


class ShortGroups(NamedTuple):
    """Groups of rows that are covered by the same rules.

    Parameters
    ----------
    signature
        By which the groups of several parts are known to be the same.
    covered
        How much of a row the shares of its rules cover.
    n_rows
        How many rows each has.
    rules
        The rules of the first groups, groups x rules.
    """

    signature: UInts
    covered: Floats
    n_rows: Ints
    rules: scipy.sparse.csr_array


class SplitGroups(NamedTuple):
    """For each group that new rules split, the rows that they cover least.

    Parameters
    ----------
    place
        The place of the group among those asked for.
    times, signature
        By how many new rules such a row is covered, and its signature with them.
    rules
        By which, groups x new rules.
    """

    place: Ints
    times: Ints
    signature: UInts
    rules: scipy.sparse.csr_array


class BoostPart:
    """One partition of the rows in RCBoost; its state changes only by calls, as that of `Part` does.

    Parameters
    ----------
    rows
        The rows.
    max_bin, n_threads
        The most bins per column, and the threads that grow a tree.
    """

    #: Calls that need not be repeated when a part is made again: their results are sent to all parts, or are sums.
    passing = frozenset({"begin_tree", "end_tree", "weights", "short", "group_weights", "seen", "rule_patterns"})

    def __init__(self, rows: BoostRows, *, max_bin: int = 256, n_threads: int = 1) -> None:
        self._rows = rows
        without_columns = [replace(each, X=each.X[:, :0]) for each in cast(Sequence[Any], rows.blocks)]
        self.samples = joined_samples(without_columns)
        self._max_bin, self._n_threads = max_bin, n_threads
        self._one_target = self.samples.outputs.shape[1] == 1
        self._nodes: list[UInts] = []
        self._accumulated = self.samples.count
        self._duals: Floats = np.zeros(len(self.samples.y))
        self._matrix: Any = None
        self._grown: tuple[Tree, Ints] | None = None
        self._growing, self._failed = threading.Thread(), "the part was made again while a tree was grown"
        self._error: Exception | None = None
        self._parts = [_part_of(each) for each in rows.blocks]
        self.start_pool()

    def weights(self) -> tuple[int, float, float, float]:
        """The number of rows, what they count together, and the accumulated weights: the least per row, and all."""
        count, weight = self.samples.count, self._accumulated
        least = float((weight / count).min(initial=np.inf))
        return len(count), float(count.sum()), least, float(weight.sum())

    def seen(self, rules: RuleSet) -> Seen:
        """As in `Part`."""
        return reduce(seen_together, (part.seen(rules) for part in self._parts))

    def rule_patterns(self, rules: RuleSet) -> PatternSums:
        """As in `Part`."""
        return PatternSums.merged(part.rule_patterns(rules) for part in self._parts)

    # Trees: line 6 ----------------------------------------------------------------------------------------------

    def begin_tree(self, settings: Mapping[str, Any], scale: float, link: Mapping[str, Any] | None) -> None:
        """Begins to grow a tree together with all other parts; returns at once, as each part waits for the others."""
        self._grown, self._failed, self._error = None, "", None
        xgboost_module()  # which raises where it is missing, before others wait for this part
        self._growing = threading.Thread(target=self._grow, args=(settings, scale, link), daemon=True)
        self._growing.start()

    def end_tree(self) -> Tree | str:
        """The tree, the same in every part; why there is none if a part was lost meanwhile."""
        if self._growing.ident is not None:
            self._growing.join()
        if self._error is not None:
            raise self._error
        return self._failed if self._grown is None else self._grown[0]

    def _grow(self, settings: Mapping[str, Any], scale: float, link: Mapping[str, Any] | None) -> None:
        try:
            self._grow_together(settings, scale, link)
        except Exception as error:  # of this thread, to be raised where the tree is asked for
            self._error = error

    def _grow_together(self, settings: Mapping[str, Any], scale: float, link: Mapping[str, Any] | None) -> None:
        xgboost = xgboost_module()
        if self._matrix is None:
            self._matrix = self._in_bins(xgboost)
        self._matrix.set_weight(self._accumulated * scale)
        try:
            if link is None:
                booster = self._one_tree(xgboost, settings)
            else:
                args = {**link, "dmlc_task_id": f"{self._rows.number:06}", "dmlc_timeout": _TOGETHER, "dmlc_retry": 1}
                xgboost.core._LIB.XGBRegisterLogCallback(_LOG)  # of this thread alone
                with xgboost.collective.CommunicatorContext(**args):
                    booster = self._one_tree(xgboost, settings)
        except xgboost.core.XGBoostError as error:
            self._failed = str(error) or "XGBoost failed"
            return
        tree, value = parse_tree(booster)
        X = [each.X for each in self._rows.blocks]
        leaf = leaves_of(booster, self._matrix, X, tree, value, one_target=self._one_target)
        self._grown = tree, leaf

    def _one_tree(self, xgboost: Any, settings: Mapping[str, Any]) -> Any:
        booster = xgboost.Booster({**settings, "nthread": self._n_threads}, [self._matrix])
        booster.update(self._matrix, 0)
        return booster

    def _in_bins(self, xgboost: Any) -> Any:
        shared = {"max_bin": self._max_bin, "nthread": self._n_threads}
        bins = xgboost.QuantileDMatrix(self._rows.reference, **shared)
        return xgboost.QuantileDMatrix(self._batches(xgboost), ref=bins, **shared)

    def _batches(self, xgboost: Any) -> Any:
        """The blocks as XGBoost reads them."""
        rows, one_target = self._rows, self._one_target

        class Batches(xgboost.DataIter):
            def reset(self) -> None:
                self._left = iter(rows.blocks)

            def next(self, input_data: Any) -> bool:
                for each in self._left:
                    outputs = each.outputs.astype(np.float32)
                    input_data(data=each.X, label=outputs.ravel() if one_target else outputs)
                    return True
                return False

        return Batches()

    def follow(self, tree: Tree) -> tuple[Floats, Floats]:
        """Sends the rows through a tree, the next in the list of trees: the sums at each node, and those of duals."""
        if self._grown is not None and _same_tree(self._grown[0], tree):
            node = self._grown[1]
        else:
            node = np.concatenate([tree.apply(each.X) for each in self._rows.blocks])
        self._grown = None
        n_nodes = len(tree.left)
        self._nodes.append(node.astype(smallest_uint(n_nodes)))
        sums = self.samples.sums(node, *self.samples.summands())
        padded = np.zeros((n_nodes, sums.shape[1]))
        padded[: len(sums)] = sums
        return padded, np.bincount(node, self._duals, minlength=n_nodes).astype(np.float64, copy=False)

    # The pool ---------------------------------------------------------------------------------------------------

    def start_pool(self) -> None:
        """No rule is in the pool."""
        n = len(self.samples.y)
        self._coverage = Coverage((), n, 0)
        self._signatures, self._packs = Signatures(n), Packs(n, n_looked_up=self._rows.n_samples)
        self._asked: tuple[UInts, tuple[Ints, Ints]] | None = None

    def enter(self, tree: Ints, node: Ints, inside: UInts) -> tuple[int, SplitGroups]:
        """Rules enter the pool, nodes of trees that were followed; `inside` are the signatures of groups in the LP.

        Returns the number of rows without a rule, and what the groups become.
        """
        rows, place = self._members(inside)
        new = self._coverage_of(tree, node)
        self._signatures.add(new)
        self._asked = None
        self._packs.add(new, self._coverage.n_rules)
        self._coverage = self._coverage.join(new)
        times = new.among(rows).times_covered(np.arange(new.n_rules))
        order = np.lexsort((self._signatures.value[rows], times, place))
        places, first = np.unique(place[order], return_index=True)
        least_covered = rows[order[first]]
        rules = new.among(least_covered).to_sparse().tocsr()
        missed = int(self._coverage.missed().size)
        return missed, SplitGroups(places, times[order[first]], self._signatures.value[least_covered], rules)

    def leave(self, kept: Ints, inside: UInts) -> tuple[int, UInts]:
        """All other rules leave the pool: the number of rows that are left without, and the new signatures of groups.

        They are 0 where the part has no row of the group.
        """
        rows, place = self._members(inside)
        n = len(self.samples.y)
        self._asked = None
        self._coverage = self._coverage.take(kept)
        self._signatures, self._packs = Signatures(n), Packs(n, n_looked_up=self._rows.n_samples)
        self._signatures.add(self._coverage)
        self._packs.add(self._coverage, 0)
        new: UInts = np.zeros(len(inside), dtype=np.uint64)
        new[place] = self._signatures.value[rows]
        return int(self._coverage.missed().size), new

    def _coverage_of(self, tree: Ints, node: Ints) -> Coverage:
        """Nodes of trees that were followed, as rules, those of one tree in one block."""
        blocks = []
        for t in np.unique(tree):
            rules = np.flatnonzero(tree == t)
            number: UInts = np.zeros(int(max(node[rules].max(), self._nodes[t].max(initial=0))) + 1, dtype=np.uint32)
            number[node[rules]] = np.arange(1, len(rules) + 1)
            blocks.append(Block(number.astype(smallest_uint(len(rules)))[self._nodes[t]], rules))
        return Coverage(tuple(blocks), len(self.samples.y), len(tree))

    # The master problem: line 4 ---------------------------------------------------------------------------------

    def short(self, shares: Floats | None, inside: UInts, among: UInts | None, first: int) -> tuple[int, ShortGroups]:
        """The groups that these shares of the rules cover too little, the worst first.

        Parameters
        ----------
        shares
            Of each rule; ``None`` for all groups, none of which is covered at all.
        inside
            The signatures of groups that are in the LP already.
        among
            Only groups with these signatures.
        first
            Of this many groups the rules are returned.

        Returns
        -------
        The number of rows in such groups, and the worst groups.
        """
        if shares is None:
            samples, covered = np.arange(len(self.samples.y)), np.zeros(len(self.samples.y))
        elif among is None:
            samples, covered = self._packs.below(shares, 1.0 - FEASIBLE)
        else:
            rows = np.sort(self._members(among)[0])
            covered = self._packs.per_sample(shares, rows)
            short = np.flatnonzero(covered < 1.0 - FEASIBLE)
            samples, covered = rows[short], covered[short]
        outside = ~np.isin(self._signatures.value[samples], inside)
        samples, covered = samples[outside], covered[outside]
        n_short = len(samples)
        if n_short > WATCHED:
            worst = np.partition(covered, WATCHED)[WATCHED]
            samples, covered = samples[covered <= worst], covered[covered <= worst]
        signature, one, count = np.unique(self._signatures.value[samples], return_index=True, return_counts=True)
        order = np.lexsort((signature, np.round(covered[one], 9)))
        rules = self._coverage.among(samples[one[order[:first]]]).to_sparse().tocsr()
        return n_short, ShortGroups(signature[order], covered[one[order]], count[order], rules)

    def group_weights(self, signatures: UInts) -> Floats:
        """What the rows of each of these groups count together."""
        rows, place = self._members(signatures)
        return np.bincount(place, self.samples.count[rows], minlength=len(signatures)).astype(np.float64, copy=False)

    def set_duals(self, signatures: UInts, share: Floats, step: float) -> None:
        """Line 5: the price of a row that counts 1 in each of these groups; times `step` they are accumulated."""
        rows, place = self._members(signatures)
        self._duals = np.zeros(len(self.samples.y))
        weight = self.samples.weight
        self._duals[rows] = share[place] if weight is None else share[place] * weight[rows]
        self._accumulated = self._accumulated + step * self._duals

    def _members(self, signatures: UInts) -> tuple[Ints, Ints]:
        """The rows of these groups, and the place of each row's group; those asked for last are known."""
        if self._asked is None or not np.array_equal(self._asked[0], signatures):
            self._asked = signatures, self._signatures.with_values(signatures)
        return self._asked[1]


def _part_of(samples: Samples) -> Part:
    """What is asked of any rules, whatever trees there are."""
    return Part(TreeEnsemble((), (), np.asarray, samples.X.shape[1]), lambda: samples)


def _log(message: bytes) -> None:
    """Logs what XGBoost says, but for the rank of each part, which it tells for every tree, whatever its verbosity."""
    text = message.decode(errors="replace")
    if " got rank " not in text:
        logging.getLogger(__name__).warning(text)


#: `_log` as a C function, which must outlive every thread that it is given to.
_LOG = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(_log)


def _same_tree(one: Tree, other: Tree) -> bool:
    return len(one.left) == len(other.left) and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ("feature", "threshold", "left", "right")
    )
