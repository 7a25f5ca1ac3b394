"""The kernels, compiled when they are first used, and rows as they take them."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from rulecover.data.frames import ZERO
from rulecover.typing import Array, Floats, Ints

#: Threads of a block; each looks at one row at a time.
THREADS = 512
#: Bytes of shared memory for a block, where the device has that many: two of them fit on a multiprocessor of today.
_SHARED = 96 * 1024

_C_NAMES = {
    "float32": "float",
    "float64": "double",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
    "uint64": "unsigned long long",
}
#: What a kernel uses of these it is asked for by name.
_USUAL = {"Value": "float32", "Index": "uint16", "Leaf": "uint16", "Class": "uint8", "Sum": "uint32", "Total": "uint64"}


def is_on_device(X: Any) -> bool:
    """Whether an array is in the memory of a GPU."""
    return hasattr(X, "__cuda_array_interface__")


def kernel(name: str, *, votes: int = 1, **types: Any) -> Any:
    """A kernel for these types, compiled the first time that it is asked for."""
    known = _USUAL | {each: np.dtype(kind).name for each, kind in types.items()}
    return _compiled(name, votes, tuple(known.items()))


@cache
def _compiled(name: str, votes: int, types: tuple[tuple[str, str], ...]) -> Any:
    import cupy as cp

    names = "".join(f"typedef {_C_NAMES[kind]} {each};\n" for each, kind in types)
    order, least = ("int", "0x80000000") if dict(types)["Value"] == "float32" else ("long long", "0x8000000000000000")
    names += f"typedef {order} Order;\n#define MISSING ((Order){least})\n"
    source = (resources.files("rulecover.gpu") / "kernels.cu").read_text(encoding="utf-8")
    code = f"{names}#define VOTES {votes}\n#define ZERO {ZERO!r}\n{source}"
    compiled = cp.RawModule(code=code, options=("--std=c++17",)).get_function(name)
    compiled.max_dynamic_shared_size_bytes = shared_bytes()
    return compiled


@cache
def shared_bytes() -> int:
    """The bytes of shared memory that a block may use."""
    import cupy as cp

    return min(_SHARED, int(cp.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"]))


def blocks_for(n: int, threads: int = THREADS) -> int:
    """The number of blocks that share n pieces of work: enough to keep every multiprocessor busy, and no more."""
    import cupy as cp

    busy = 16 * int(cp.cuda.Device().attributes["MultiProcessorCount"])
    return max(1, min(-(-n // threads), busy))


def not_above(bounds: Floats, kind: Any) -> Array:
    """For each bound the largest number of this type that is not above it: ``x <= bound`` holds for the same x.

    >>> float(not_above(np.array([0.1]), np.float32)[0]) <= 0.1
    True
    """
    with np.errstate(over="ignore"):
        near = bounds.astype(kind)
        return np.where(near > bounds, np.nextafter(near, np.asarray(-np.inf, dtype=kind)), near)


def in_order(values: Array) -> Array:
    """Floats as whole numbers in the same order, as the kernels compare them; 0 and -0 are one.

    >>> in_order(np.array([-np.inf, -1.0, -0.0, 0.0, 1e-45, np.inf], dtype=np.float32))
    array([-2139095040, -1065353216,           0,           0,           1,
            2139095040], dtype=int32)
    """
    bits: Ints = values.view(np.int32 if values.dtype == np.float32 else np.int64)
    return np.asarray(np.where(bits < 0, np.iinfo(bits.dtype).min - bits, bits))


class DeviceRows:
    """Rows on the device as kernels take them: the columns in use, and the tile of rows that a block keeps.

    Parameters
    ----------
    X
        Rows x columns, of float32 or float64, in any order of memory.
    columns
        The columns in use; kernels know them by their places here.
    zero_missing
        The columns in which 0 counts as missing.
    """

    def __init__(self, X: Any, columns: Ints, zero_missing: tuple[int, ...] = ()) -> None:
        import cupy as cp

        self.X = X
        self._columns = cp.asarray(columns.astype(np.int32))
        self._zero_missing = cp.asarray(np.isin(columns, zero_missing).astype(np.uint8))
        size = max(1, len(columns)) * X.dtype.itemsize
        fitting = [
            threads for threads in (THREADS, THREADS // 2, THREADS // 4) if threads * size <= shared_bytes() // 2
        ]
        self.threads = fitting[0] if fitting else THREADS // 2
        self.tile = -(-self.threads * size // 16) * 16 if fitting else 0
        self.blocks = blocks_for(len(X), self.threads)

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The rows as kernels take them."""
        rows, columns = (step // self.X.dtype.itemsize for step in self.X.strides)
        sizes = np.int64(len(self.X)), np.int64(rows), np.int64(columns)
        width, tiled = np.int32(len(self._columns)), np.int32(self.tile > 0)
        return self.X, *sizes, self._columns, self._zero_missing, width, tiled
