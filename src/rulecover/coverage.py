"""Which rule covers which sample, and sums over it: the sets I(j) and J(i) of the paper."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from rulecover.typing import Array, Bools, Floats, Ints, UInts


def smallest_uint(largest: int) -> type[np.unsignedinteger[Any]]:
    """The narrowest unsigned type that holds `largest`: one or two bytes a sample in nearly every tree."""
    if largest <= np.iinfo(np.uint8).max:
        return np.uint8
    return np.uint16 if largest <= np.iinfo(np.uint16).max else np.uint32


def addable(values: Floats, times: Floats | float = 1.0) -> Floats:
    """Values rounded so finely that no sum of some of them is rounded again: a tie is a tie in whatever order.

    Whole numbers stay as they are; others keep about 50 bits of the sum of all. What is not zero stays so. A value may
    be added up to `times` times.

    >>> float(addable(np.array([0.1, 0.2, 0.3]))[:2].sum() - addable(np.array([0.1, 0.2, 0.3]))[2])
    0.0
    """
    largest = float((np.abs(values) * times).sum())
    unit = 2.0 ** (np.ceil(np.log2(largest)) - 50) if largest > 0 else 1.0
    rounded = np.round(values / unit) * unit
    return np.asarray(np.where((rounded == 0) & (values != 0), np.copysign(unit, values), rounded))


@dataclass(frozen=True, eq=False)
class Block:
    """Rules of which no two cover the same sample: the leaves of one tree, or one rule made by hand.

    Parameters
    ----------
    ids
        For each sample the number, from 1, of the block's rule that covers it; 0 where none does.
    rules
        The place of each of the block's rules among all rules.
    """

    ids: UInts
    rules: Ints

    @cached_property
    def whole(self) -> bool:
        """Whether the block covers every sample, as a tree does."""
        return bool(self.ids.min(initial=np.iinfo(self.ids.dtype).max) > 0)

    @cached_property
    def where(self) -> slice | Ints:
        """The places of the block's rules, as a slice if they follow each other: no copies in sums over blocks."""
        first, size = int(self.rules[0]) if len(self.rules) else 0, len(self.rules)
        return slice(first, first + size) if (np.diff(self.rules) == 1).all() else self.rules

    def lookup(self, values: Array) -> Array:
        """Per sample the value of the rule that covers it, 0 where none does."""
        table: Array = np.concatenate([np.zeros(1, dtype=values.dtype), values[self.where]])
        return table[self.ids]

    def sums(self, values: Floats | None = None, among: Ints | None = None) -> Array:
        """Per rule of the block the sum of `values` (ones by default) over the samples it covers (of `among`)."""
        ids = self.ids if among is None else self.ids[among]
        return np.bincount(ids, weights=values, minlength=len(self.rules) + 1)[1:]


@dataclass(frozen=True, eq=False)
class Coverage:
    """The 0/1 matrix of samples by rules, kept as one small integer a sample and block.

    Parameters
    ----------
    blocks
        Sets of rules that do not overlap; together they hold every rule once.
    n_samples, n_rules
        The shape of the matrix.

    Examples
    --------
    >>> coverage = Coverage.of_masks([[True, True, False], [False, True, True]])
    >>> coverage.per_rule(np.array([1.0, 10.0, 100.0]))
    array([ 11., 110.])
    >>> coverage.per_sample(np.array([0.5, 2.0]))
    array([0.5, 2.5, 2. ])
    """

    blocks: tuple[Block, ...]
    n_samples: int
    n_rules: int

    @classmethod
    def of_ids(cls, ids: Iterable[UInts], sizes: Iterable[int], n_samples: int) -> Coverage:
        """The coverage of whole trees: block after block, each with its own rules from 1 to its size."""
        blocks, first = [], 0
        for block, size in zip(ids, sizes, strict=True):
            blocks.append(Block(block, np.arange(first, first + size)))
            first += size
        return cls(tuple(blocks), n_samples, first)

    @classmethod
    def of_masks(cls, masks: Any) -> Coverage:
        """The coverage of rules given one by one, each as a mask over the samples (rules x samples)."""
        masks = np.asarray(masks, dtype=bool)
        return cls.of_ids(masks.astype(np.uint8), [1] * len(masks), masks.shape[1])

    def per_rule(self, values: Floats) -> Floats:
        """Σ values[i] over the samples i in I(j), for every rule j."""
        out = np.empty(self.n_rules)
        for block in self.blocks:
            out[block.where] = block.sums(values)
        return out

    def per_sample(self, values: Floats) -> Floats:
        """Σ values[j] over the rules j in J(i), for every sample i."""
        out = np.zeros(self.n_samples)
        for block in self.blocks:
            out += block.lookup(values)
        return out

    @cached_property
    def sizes(self) -> Ints:
        """|I(j)|: how many samples each rule covers."""
        out = np.empty(self.n_rules, dtype=np.intp)
        for block in self.blocks:
            out[block.where] = block.sums()
        return out

    @cached_property
    def degrees(self) -> Ints:
        """|J(i)|: how many rules cover each sample."""
        out = np.full(self.n_samples, sum(block.whole for block in self.blocks), dtype=np.intp)
        for block in self.blocks:
            if not block.whole:
                out += block.ids != 0
        return out

    def missed(self) -> Ints:
        """The samples that no rule covers."""
        return np.flatnonzero(self.degrees == 0)

    def times_covered(self, rules: Ints) -> Ints:
        """How many of these rules cover each sample."""
        chosen = np.zeros(self.n_rules, dtype=np.uint16)
        chosen[rules] = 1
        out = np.zeros(self.n_samples, dtype=smallest_uint(len(self.blocks)))
        for block in self.blocks:
            if chosen[block.where].any():
                out += block.lookup(chosen).astype(out.dtype, copy=False)
        return out.astype(np.intp)

    @cached_property
    def _homes(self) -> tuple[Ints, Ints]:
        """The block of each rule, and its number there."""
        block_of, number_of = np.empty(self.n_rules, dtype=np.intp), np.empty(self.n_rules, dtype=np.intp)
        for b, block in enumerate(self.blocks):
            block_of[block.rules] = b
            number_of[block.rules] = np.arange(1, len(block.rules) + 1)
        return block_of, number_of

    def home(self, rule: int) -> tuple[int, int]:
        """The block that a rule is in, and its number there."""
        block_of, number_of = self._homes
        return int(block_of[rule]), int(number_of[rule])

    def samples_of(self, rule: int) -> Ints:
        """I(j): the samples that a rule covers."""
        block, number = self.home(rule)
        return np.flatnonzero(self.blocks[block].ids == number)

    def take(self, rules: Ints) -> Coverage:
        """The coverage of some of the rules, in the order given."""
        rules = np.asarray(rules, dtype=np.intp)
        place = np.full(self.n_rules, -1, dtype=np.intp)
        place[rules] = np.arange(len(rules))
        blocks = []
        for block in self.blocks:
            kept = np.flatnonzero(place[block.rules] >= 0)
            if not kept.size:
                continue
            number = np.zeros(len(block.rules) + 1, dtype=smallest_uint(kept.size))
            number[kept + 1] = np.arange(1, kept.size + 1)
            blocks.append(Block(number[block.ids], place[block.rules[kept]]))
        return Coverage(tuple(blocks), self.n_samples, len(rules))

    def join(self, other: Coverage) -> Coverage:
        """The coverage of these rules followed by those of `other`, on the same samples."""
        moved = tuple(Block(block.ids, block.rules + self.n_rules) for block in other.blocks)
        return Coverage(self.blocks + moved, self.n_samples, self.n_rules + other.n_rules)

    def among(self, samples: Ints | Bools) -> Coverage:
        """The coverage of some of the samples by the same rules."""
        blocks = tuple(Block(block.ids[samples], block.rules) for block in self.blocks)
        n_samples = len(blocks[0].ids) if blocks else len(np.arange(self.n_samples)[samples])
        return Coverage(blocks, n_samples, self.n_rules)

    def to_sparse(self) -> scipy.sparse.csc_array:
        """The matrix of samples by rules as a sparse array of booleans, rows sorted within each column."""
        rows, columns = [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.intp)]
        for block in self.blocks:
            covered = np.flatnonzero(block.ids)
            rows.append(covered)
            columns.append(block.rules[block.ids[covered].astype(np.intp) - 1])
        row, column = np.concatenate(rows), np.concatenate(columns)
        matrix = scipy.sparse.csc_array(
            (np.ones(len(row), dtype=bool), (row, column)), shape=(self.n_samples, self.n_rules)
        )
        matrix.sort_indices()
        return matrix
