"""Memory that arrays on a Dask worker free: kept for the next ones while rows are fitted there.

Dask starts its workers with ``MALLOC_TRIM_THRESHOLD_`` set, so that freed memory goes back to the operating system.
Once it is set, the GNU C library no longer adapts: every array of more than 128 kB is mapped for itself, and all its
pages are cleared as they are first written. Sums over rows make many such arrays, and take up to four times as long.
"""

from __future__ import annotations

import ctypes
import os
import platform
import threading

#: The variable that the GNU C library reads at the start of a process.
VARIABLE = "MALLOC_TRIM_THRESHOLD_"
#: Names of `mallopt`, in malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
#: From how many bytes on arrays are mapped one by one: at first, and once the library has adapted as far as it does.
_FIRST, _LARGEST = 128 * 2**10, 32 * 2**20


class FreedMemory:
    """What becomes of freed memory: it is kept, as it is by default, as long as somebody wants that."""

    def __init__(self) -> None:
        self.n_keeping = 0
        self._lock = threading.RLock()  # of one thread too: objects are collected at any moment

    def keep(self) -> None:
        """Freed memory is kept, until `give_back` has been called as often."""
        with self._lock:
            self.n_keeping += 1
            if self.n_keeping == 1:
                _set_thresholds(trim=2 * _LARGEST, mapped=_LARGEST)

    def give_back(self) -> None:
        """Freed memory goes back to the operating system, as it did before."""
        with self._lock:
            self.n_keeping -= 1
            if self.n_keeping == 0:
                _set_thresholds(trim=int(os.environ.get(VARIABLE, "0")), mapped=_FIRST)


def _set_thresholds(*, trim: int, mapped: int) -> None:
    """Sets both thresholds where one of them is set already; what is free goes back."""
    if VARIABLE not in os.environ or platform.libc_ver()[0] != "glibc":
        return
    library = ctypes.CDLL(None)
    library.mallopt(_TRIM_THRESHOLD, trim)
    library.mallopt(_MMAP_THRESHOLD, mapped)
    library.malloc_trim(ctypes.c_size_t(0))


#: That of this process.
FREED_MEMORY = FreedMemory()
