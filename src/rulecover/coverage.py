"""Which rule covers which sample, and sums over it: the sets I(j) and J(i) of the paper."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from rulecover.typing import Array, Bools, Floats, Ints, UInts

#: More rules than this, given one by one, are kept as one sparse block: a dense one each would be slow.
MANY_MASKS = 64

#: More than rounding errors can change in a sum.
_ABOVE = 1 + 2.0**-20


def smallest_uint(largest: int) -> type[np.unsignedinteger[Any]]:
    """The narrowest unsigned type that holds `largest`: one or two bytes per sample in nearly every tree."""
    if largest <= np.iinfo(np.uint8).max:
        return np.uint8
    return np.uint16 if largest <= np.iinfo(np.uint16).max else np.uint32


def addable(values: Floats, times: Floats | float = 1.0) -> Floats:
    """Values rounded so finely that no sum of some of them is rounded again: a tie is a tie in whatever order.

    Whole numbers stay as they are; others keep about 50 bits of the sum of all. What is not zero stays nonzero. A value
    may be added up to `times` times.

    >>> float(addable(np.array([0.1, 0.2, 0.3]))[:2].sum() - addable(np.array([0.1, 0.2, 0.3]))[2])
    0.0
    """
    return multiples_of(values, exact_unit(float((np.abs(values) * times).sum())))


def exact_unit(total: float) -> float:
    """The unit of numbers whose sums are exact, given the sum of their sizes.

    Sums near a power of two have the unit of larger ones: a total that is rounded in another order gives the same unit.
    """
    return 2.0 ** (np.ceil(np.log2(total * _ABOVE)) - 50) if total > 0 else 1.0


def multiples_of(values: Floats, unit: float) -> Floats:
    """Values rounded to multiples of a unit; what is not zero stays nonzero."""
    rounded: Floats = np.rint(values / unit) * unit
    lost = (rounded == 0) & (values != 0)
    if lost.any():
        rounded = np.where(lost, np.copysign(unit, values), rounded)
    return rounded


def fit_float32(values: Floats) -> bool:
    """Whether sums of some of these values, each at most once, are exact in float32 as well.

    All are then whole multiples of the last bit of any of them, and no sum is 2^24 times that bit or more.

    >>> fit_float32(np.array([0.5, 1e6])), fit_float32(np.array([0.1, 1e6]))
    (True, False)
    """
    mantissa, exponent = np.frexp(values[values != 0])
    digits = np.ldexp(mantissa, 53).astype(np.int64)
    last_bit = float(np.ldexp((digits & -digits).astype(np.float64), exponent - 53).min(initial=1.0))
    return bool(np.abs(values).sum() < 2.0**24 * last_bit and last_bit > 2.0**-100)


class _Placed:
    """Rules with their places among all rules."""

    rules: Ints

    @cached_property
    def where(self) -> slice | Ints:
        """The places of the block's rules, as a slice if they follow each other: no copies in sums over blocks."""
        first, size = int(self.rules[0]) if len(self.rules) else 0, len(self.rules)
        return slice(first, first + size) if (np.diff(self.rules) == 1).all() else self.rules


@dataclass(frozen=True, eq=False)
class Block(_Placed):
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

    @property
    def overlap(self) -> int:
        """At most this many of the rules cover one sample."""
        return 1

    @cached_property
    def whole(self) -> bool:
        """Whether the block covers every sample, as a tree does."""
        return bool(self.ids.min(initial=np.iinfo(self.ids.dtype).max) > 0)

    def lookup(self, values: Array) -> Array:
        """Per sample the value of the rule that covers it, 0 where none does."""
        table: Array = np.concatenate([np.zeros(1, dtype=values.dtype), values[self.where]])
        return table[self.ids]

    def sums(self, values: Floats | None = None, among: Ints | None = None) -> Array:
        """Per rule of the block the sum of `values` (ones by default) over the samples it covers (of `among`)."""
        ids = self.ids if among is None else self.ids[among]
        return np.bincount(ids, weights=values, minlength=len(self.rules) + 1)[1:]

    def degrees(self) -> Array:
        """How many of the rules cover each sample."""
        covered: Array = self.ids != 0
        return covered

    def samples_of(self, number: int) -> Ints:
        return np.flatnonzero(self.ids == number)

    def by_rule(self, samples: Ints) -> tuple[Ints, Ints]:
        """These samples sorted by rule, and where those of each number (0 for none) begin; more are no harm."""
        ids = self.ids[samples]
        starts = np.concatenate([[0], np.cumsum(np.bincount(ids, minlength=len(self.rules) + 1))])
        return samples[np.argsort(ids, kind="stable")], starts

    def take(self, kept: Ints, rules: Ints) -> Block:
        """Those of the rules at the places `kept` in the block, now at the places `rules` among all."""
        number = np.zeros(len(self.rules) + 1, dtype=smallest_uint(kept.size))
        number[kept + 1] = np.arange(1, kept.size + 1)
        return Block(number[self.ids], rules)

    def among(self, samples: Ints | Bools) -> Block:
        return Block(self.ids[samples], self.rules)

    def moved(self, by: int) -> Block:
        """The same rules, further back among all."""
        return Block(self.ids, self.rules + by)

    def alike(self, others: Ints) -> Bools:
        """Whether each sample is covered as the other one is."""
        same: Bools = self.ids == self.ids[others]
        return same

    def entries(self) -> tuple[Ints, Ints]:
        """The (sample, rule) pairs."""
        covered = np.flatnonzero(self.ids)
        return covered, self.rules[self.ids[covered].astype(np.intp) - 1]


@dataclass(frozen=True, eq=False)
class SparseBlock(_Placed):
    """Rules that overlap as they like, kept as the list of the samples of each: the same verbs as a `Block`.

    Parameters
    ----------
    matrix
        Samples by rules of the block, booleans, all of them true; rows sorted within each column.
    rules
        The place of each of the block's rules among all rules.
    """

    matrix: scipy.sparse.csc_array
    rules: Ints

    @property
    def overlap(self) -> int:
        return len(self.rules)

    @property
    def whole(self) -> bool:
        return False

    @cached_property
    def _by_sample(self) -> scipy.sparse.csr_array:
        return self.matrix.tocsr()

    def lookup(self, values: Array) -> Array:
        """Per sample the sum of the values of the rules that cover it."""
        out: Array = self._by_sample @ values[self.where]
        return out

    def sums(self, values: Floats | None = None, among: Ints | None = None) -> Array:
        if among is None:
            return np.diff(self.matrix.indptr) if values is None else self.matrix.T @ values
        some = self._by_sample[among]
        weights = None if values is None else np.repeat(values, np.diff(some.indptr))
        return np.bincount(some.indices, weights=weights, minlength=len(self.rules))

    def degrees(self) -> Array:
        return np.diff(self._by_sample.indptr)

    def samples_of(self, number: int) -> Ints:
        first, last = self.matrix.indptr[number - 1 : number + 1]
        samples: Ints = self.matrix.indices[first:last].astype(np.intp)
        return samples

    def by_rule(self, samples: Ints) -> tuple[Ints, Ints]:
        return self.matrix.indices, np.concatenate([[0], self.matrix.indptr])

    def take(self, kept: Ints, rules: Ints) -> SparseBlock:
        return SparseBlock(self.matrix[:, kept], rules)

    def among(self, samples: Ints | Bools) -> SparseBlock:
        matrix = self._by_sample[samples].tocsc()
        matrix.sort_indices()
        return SparseBlock(matrix, self.rules)

    def moved(self, by: int) -> SparseBlock:
        return SparseBlock(self.matrix, self.rules + by)

    def alike(self, others: Ints, samples: Ints | None = None) -> Bools:
        """Whether each sample (of `samples`) is covered as the other one is."""
        ours = self._by_sample if samples is None else self._by_sample[samples]
        differs = scipy.sparse.csr_array(ours != self._by_sample[others])
        return np.asarray(differs.sum(axis=1) == 0)

    def entries(self) -> tuple[Ints, Ints]:
        return self.matrix.indices.astype(np.intp), np.repeat(self.rules, np.diff(self.matrix.indptr))


@dataclass(frozen=True, eq=False)
class Coverage:
    """The 0/1 matrix of samples by rules: one small integer per sample and tree, and lists for other rules.

    Parameters
    ----------
    blocks
        Sets of rules that do not overlap, or sparse ones of rules that do; together they hold every rule once.
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

    blocks: tuple[Block | SparseBlock, ...]
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
        if len(masks) > MANY_MASKS:
            return cls.of_sparse(scipy.sparse.csc_array(masks.T))
        return cls.of_ids(masks.astype(np.uint8), [1] * len(masks), masks.shape[1])

    @classmethod
    def of_sparse(cls, matrix: Any) -> Coverage:
        """The coverage of rules given as a sparse matrix of samples by rules; whatever is not 0 is covered."""
        matrix = scipy.sparse.csc_array(matrix)
        matrix.sum_duplicates()
        matrix = matrix.astype(bool)
        matrix.eliminate_zeros()
        n_samples, n_rules = matrix.shape
        return cls((SparseBlock(matrix, np.arange(n_rules)),), n_samples, n_rules)

    @property
    def is_sparse(self) -> bool:
        """Whether some rules come from no tree."""
        return any(isinstance(block, SparseBlock) for block in self.blocks)

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
                out += block.degrees()
        return out

    def missed(self) -> Ints:
        """The samples that no rule covers."""
        if any(block.whole for block in self.blocks):
            return np.zeros(0, dtype=np.intp)
        return np.flatnonzero(self.degrees == 0)

    def times_covered(self, rules: Ints) -> Ints:
        """How many of these rules cover each sample."""
        chosen = np.zeros(self.n_rules, dtype=smallest_uint(max(256, len(rules))))
        chosen[rules] = 1
        most = sum(block.overlap for block in self.blocks)
        out = np.zeros(self.n_samples, dtype=smallest_uint(min(most, len(rules))))
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
        return self.blocks[block].samples_of(number)

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
            blocks.append(block.take(kept, place[block.rules[kept]]))
        return Coverage(tuple(blocks), self.n_samples, len(rules))

    def join(self, other: Coverage) -> Coverage:
        """The coverage of these rules followed by those of `other`, on the same samples."""
        moved = tuple(block.moved(self.n_rules) for block in other.blocks)
        return Coverage(self.blocks + moved, self.n_samples, self.n_rules + other.n_rules)

    def among(self, samples: Ints | Bools) -> Coverage:
        """The coverage of some of the samples by the same rules."""
        blocks = tuple(block.among(samples) for block in self.blocks)
        n_samples = int(np.count_nonzero(samples)) if samples.dtype == bool else len(samples)
        return Coverage(blocks, n_samples, self.n_rules)

    def to_sparse(self) -> scipy.sparse.csc_array:
        """The matrix of samples by rules as a sparse array of booleans, rows sorted within each column."""
        rows, columns = [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.intp)]
        for block in self.blocks:
            row, column = block.entries()
            rows.append(row)
            columns.append(column)
        row, column = np.concatenate(rows), np.concatenate(columns)
        matrix = scipy.sparse.csc_array(
            (np.ones(len(row), dtype=bool), (row, column)), shape=(self.n_samples, self.n_rules)
        )
        matrix.sort_indices()
        return matrix
