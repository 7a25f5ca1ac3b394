"""Rows on a GPU by the rules, or clauses, that cover them: rows of one pattern are counted together."""

from __future__ import annotations

from typing import Any

import numpy as np

from rulecover.gpu.launch import DeviceRows, in_order, kernel, not_above
from rulecover.gpu.trees import class_sums
from rulecover.partitions.patterns import PatternSums
from rulecover.rules.clauses import Clauses

#: Patterns of up to this many bits are counted in a table; others are sorted.
_TABLE = 12


def tests_of(clauses: Clauses, kind: Any) -> tuple[Any, ...]:
    """Clauses as kernels take them, for rows of this type of float."""
    import cupy as cp

    column = np.searchsorted(clauses.columns, clauses.feature).astype(np.int32)
    lower, upper = (in_order(not_above(bounds, kind)) for bounds in (clauses.lower, clauses.upper))
    lower[np.isneginf(clauses.lower)] = np.iinfo(lower.dtype).min  # which every value is above
    tests = clauses.offset.astype(np.int32), column, lower, upper, clauses.missing.astype(np.uint8)
    return *map(cp.asarray, tests), np.int32(len(clauses))


def patterns_of(words: Any, width: int, y: Any, n_classes: int, weight: Any = None) -> PatternSums:
    """The patterns of rows, given in words (see `covering_words`), with counts and weights by class."""
    if width <= _TABLE:
        code = (words[0] >> np.uint64(64 - width) if width else words[0]).astype(np.uint16)
        n_codes, bits = 2**width, _in_bytes(np.arange(2**width, dtype=np.uint64)[None] << np.uint64(64 - max(1, width)))
    else:
        code, distinct = _numbered(words)
        n_codes, bits = distinct.shape[1], _in_bytes(distinct)
    counts = class_sums(code[None], [0, n_codes], y, n_classes)
    sums = counts if weight is None else class_sums(code[None], [0, n_codes], y, n_classes, weight)
    found = counts.any(axis=1)
    return PatternSums(bits[found, : -(-width // 8)], sums[found], counts[found], width)


def covering_words(X: Any, clauses: Clauses, zero_missing: tuple[int, ...]) -> Any:
    """The rules that cover each row, 64 of them in a word, the first in its highest bit; words x rows."""
    import cupy as cp

    words = cp.zeros((max(1, -(-len(clauses) // 64)), len(X)), dtype=np.uint64)
    if len(X) and len(clauses):
        rows = DeviceRows(X, clauses.columns, zero_missing)
        arguments = *rows.arguments, *tests_of(clauses, X.dtype), words
        kernel("covering_words", Value=X.dtype)((rows.blocks,), (rows.threads,), arguments, shared_mem=rows.tile)
    return words


def _numbered(words: Any) -> tuple[Any, Any]:
    """The place of each row's pattern among the distinct ones, which come in the order of their bits."""
    import cupy as cp

    code = cp.zeros(words.shape[1], dtype=np.int64)
    for word in words:
        known, mine = cp.unique(word, return_inverse=True)
        _, code = cp.unique(code * len(known) + mine, return_inverse=True)
    first = cp.zeros(int(code.max()) + 1 if len(code) else 0, dtype=np.int64)
    first[code] = cp.arange(len(code))  # any row of the pattern
    return code.astype(np.uint32), words[:, first].get()


def _in_bytes(words: Any) -> Any:
    """Words of 64 bits, words x patterns, as the bytes of each pattern."""
    return np.ascontiguousarray(words.T).astype(">u8").view(np.uint8).reshape(words.shape[1], -1)
