"""Which rules cover the same rows, for every view of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rulecover.typing import Bools, Ints


@dataclass(frozen=True, eq=False)
class Overlaps:
    """The combinations of rules that cover rows, the most frequent first.

    Parameters
    ----------
    rules
        The numbers of the rules that are distinguished, in ascending order.
    members
        Which of them a combination holds, combinations x rules; the empty one is for rows that none of them covers.
    sizes
        How many rows are covered by exactly these rules.
    n_rows
        The number of all rows, including those of combinations that were left out.
    """

    rules: Ints
    members: Bools
    sizes: Ints
    n_rows: int

    @classmethod
    def of(cls, covered: Any, *, max_sets: int, max_rules: int) -> Overlaps:
        """From a sparse matrix, rows x rules; only the rules that cover most rows are distinguished."""
        n_rows = covered.shape[0]
        support = np.asarray(covered.sum(axis=0)).ravel()
        rules = np.sort(np.argsort(-support, kind="stable")[:max_rules])
        mine = covered[:, rules].toarray().astype(bool)
        _, first, sizes = np.unique(np.packbits(mine, axis=1), axis=0, return_index=True, return_counts=True)
        order = np.lexsort((first, -sizes))[:max_sets]
        return cls(rules, mine[first[order]], sizes[order], n_rows)
