"""Freed memory on a worker: kept while its parts live, returned afterwards."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from typing import Any

import distributed
import numpy as np
import pytest
from parts_on_workers import Toy

from rulecover.partitions.dask import DaskParts
from rulecover.partitions.freed_memory import VARIABLE

#: The pages that are cleared for 100 arrays of 1 MB, one after another: at first, kept, and returned again.
FAULTS = """
import resource
import numpy as np
from rulecover.partitions.freed_memory import FREED_MEMORY

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        np.full(1_000_000, 1, dtype=np.uint8)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

print(faults())
FREED_MEMORY.keep(), FREED_MEMORY.keep()
print(faults())
FREED_MEMORY.give_back()
print(faults())
FREED_MEMORY.give_back()
print(faults())
"""


of_the_gnu_c_library = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="the variable is one of the GNU C library"
)


def faults_in_a_process(**variables: str) -> list[int]:
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE} | variables
    ran = subprocess.run([sys.executable, "-c", FAULTS], env=environment, capture_output=True, text=True, check=True)
    return list(map(int, ran.stdout.split()))


@of_the_gnu_c_library
def test_pages_are_not_cleared_again_and_again_while_freed_memory_is_kept():
    at_first, kept, kept_by_one, returned = faults_in_a_process(**{VARIABLE: "65536"})
    assert at_first > 10_000
    assert kept < 1_000
    assert kept_by_one < 1_000
    assert returned > 10_000


@of_the_gnu_c_library
def test_nothing_is_set_where_dask_has_set_nothing():
    assert max(faults_in_a_process()[1:]) < 1_000


@pytest.mark.slow
def test_a_worker_keeps_freed_memory_as_long_as_its_parts_live():
    settings = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        parts = DaskParts(client, [client.submit(np.arange, k, pure=False) for k in range(3)], Toy)
        list(parts.map("add", 1))
        assert keeping(client) == 1
        parts.close()
        until = time.monotonic() + 30
        while keeping(client) and time.monotonic() < until:
            time.sleep(0.05)
        assert keeping(client) == 0


def keeping(client: Any) -> int:
    def on_worker() -> int:
        from rulecover.partitions.freed_memory import FREED_MEMORY  # that of the worker, which does not travel

        return FREED_MEMORY.n_keeping

    (found,) = client.run(on_worker).values()
    return int(found)
