"""Rules applied to rows, as many as there is time for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse

from rulecover.clock import is_late
from rulecover.rules.ruleset import RuleSet

#: Rules that are applied at a time where there may be no time for all.
_AT_A_TIME = 128


def applied_in_time(rules: RuleSet, X: Any, deadline: float | None) -> Iterator[scipy.sparse.csr_array]:
    """Which rule covers which row, some rules at a time: the first ones, if there is no time to apply them all.

    By the deadline, by `time.perf_counter`, rules are applied until one of them covers a row. Without a deadline all
    rules are applied at once.

    Examples
    --------
    >>> rules = RuleSet.of_intervals([{0: (0.0, np.inf)}] * 200, ["a"])
    >>> [part.shape for part in applied_in_time(rules, [[1.0], [2.0]], None)]
    [(2, 200)]
    >>> [part.shape for part in applied_in_time(rules, [[1.0], [2.0]], 0.0)]
    [(2, 128)]
    """
    step = max(1, len(rules)) if deadline is None else _AT_A_TIME
    some_covered = False
    for first in range(0, max(1, len(rules)), step):
        if some_covered and is_late(deadline):
            return
        part = rules.take(np.arange(first, min(first + step, len(rules)))).apply(X)
        some_covered = some_covered or part.nnz > 0
        yield part
