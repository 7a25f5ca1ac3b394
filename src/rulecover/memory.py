"""Memory limits: numbers of bytes, or texts such as "4GB"."""

from __future__ import annotations

import math
import re

import numpy as np

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


def bytes_of(memory_limit: int | str) -> int:
    """A number of bytes.

    Raises
    ------
    ValueError
        If the limit is not at least one byte, or a text that has no unit of memory.

    Examples
    --------
    >>> bytes_of("4GB"), bytes_of("1.5 MiB"), bytes_of(1000)
    (4000000000, 1572864, 1000)
    """
    size: float = 0
    if isinstance(memory_limit, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", memory_limit)
        if found and found[2].upper() in _UNITS:
            size = float(found[1]) * _UNITS[found[2].upper()]
    elif not isinstance(memory_limit, bool) and isinstance(memory_limit, (int, np.integer)):
        size = int(memory_limit)
    if not 1 <= size < math.inf:
        raise ValueError(
            f"memory_limit is {memory_limit!r}; give a number of bytes, or a text such as '4GB' or '500MiB'."
        )
    return int(size)
