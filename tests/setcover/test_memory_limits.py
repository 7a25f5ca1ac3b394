"""Memory limits of solvers: what they leave out, what the certificate says of it, and how much memory is taken."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from strategies import as_sparse, random_coverage

from rulecover.exceptions import MemoryLimitError
from rulecover.setcover import CoveringProblem, Exact, Greedy, Search, lp_bound, verify
from rulecover.setcover.bounds import BYTES_PER_ENTRY
from rulecover.setcover.dominance import n_bytes
from rulecover.setcover.reduce import reduced

NO_TABLE = "the memory limit left out the reductions, the LP and the search"
LIMITED = (Greedy(bound="lp"), Search(effort=0.02), Exact(effort=0.02))


def drawn(n_samples: int = 60, n_rules: int = 80) -> CoveringProblem:
    rng = np.random.default_rng(0)
    return CoveringProblem(random_coverage(rng, n_samples, n_rules), 1 + rng.random(n_rules))


@pytest.mark.parametrize("solver", LIMITED, ids=repr)
def test_a_limit_with_room_for_everything_changes_nothing(solver: Any) -> None:
    problem = drawn()
    cover, plain = replace(solver, memory_limit="4GB")(problem), solver(problem)

    assert cover.rules.tolist() == plain.rules.tolist()
    assert str(cover.certificate) == str(plain.certificate) and not cover.certificate.left_out


@pytest.mark.parametrize("kind", [lambda problem: problem, as_sparse], ids=["trees", "sparse"])
@pytest.mark.parametrize("solver", LIMITED[1:], ids=repr)
def test_without_room_for_the_table_the_cover_is_greedy(solver: Any, kind: Any) -> None:
    problem = kind(drawn())
    cover = replace(solver, memory_limit=1000)(problem)

    verify(problem, cover)
    assert cover.status == "feasible" and cover.certificate.source == "dual fitting"
    assert NO_TABLE in str(cover.certificate)
    assert cover.objective == min(Greedy(removal)(problem).objective for removal in ("prefix", "strong"))


@pytest.mark.parametrize("solver", LIMITED, ids=repr)
def test_without_room_for_the_lp_the_bound_is_that_of_dual_fitting(solver: Any) -> None:
    problem = drawn()
    room = int(n_bytes(problem.coverage, problem.n_samples))
    assert reduced(problem).matrix.nnz * BYTES_PER_ENTRY > room
    cover = replace(solver, memory_limit=room)(problem)

    verify(problem, cover)
    assert cover.certificate.source == "dual fitting"
    said = "the LP and branch and bound" if isinstance(solver, Exact) else "the LP"
    assert cover.certificate.left_out == said and str(cover.certificate).endswith(f"the memory limit left out {said}")


def test_a_bound_alone_keeps_a_limit_as_well() -> None:
    problem = drawn()

    assert lp_bound(problem, memory_limit="1KB").source == "dual fitting"
    assert lp_bound(problem, memory_limit="1GB").value == lp_bound(problem).value
    with pytest.raises(MemoryLimitError, match="takes more than 10 bytes; raise memory_limit"):
        reduced(problem, memory=10)


def test_a_proof_that_was_left_out_is_not_kept(tmp_path: Path) -> None:
    problem, file = drawn(), tmp_path / "work.npz"
    room = int(n_bytes(problem.coverage, problem.n_samples))
    for limit in (1000, room):
        cover = Exact(effort=0.02, checkpoint=file, memory_limit=limit)(problem)
        assert cover.certificate.left_out and not file.exists()


@pytest.mark.parametrize("solver", LIMITED, ids=repr)
def test_a_memory_limit_is_bytes(solver: Any) -> None:
    for limit in ("much", 0, True, 1.5):
        with pytest.raises(ValueError, match=f"memory_limit is {limit!r}; give a number of bytes, or a text such as"):
            replace(solver, memory_limit=limit)


MEASURED = """
import numpy as np
import highspy
from rulecover.coverage import Coverage
from rulecover.setcover import CoveringProblem, Exact, Search

def memory(what):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(what))

rng = np.random.default_rng(0)
X = rng.normal(size=(200_000, 10))
ids = []
for _ in range(50):
    leaf = np.zeros(len(X), dtype=np.uint8)
    for _ in range(7):
        leaf = 2 * leaf + (X[:, rng.integers(10)] > rng.normal(scale=0.7))
    ids.append(np.unique(leaf, return_inverse=True)[1].astype(np.uint8) + 1)
coverage = Coverage.of_ids(ids, [int(each.max()) for each in ids], len(X))
problem = CoveringProblem(coverage, 1 + rng.random(coverage.n_rules))
for limit in ("100MB", "650MB"):
    for solver in (Search(time_limit=8, memory_limit=limit), Exact(time_limit=8, memory_limit=limit)):
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")  # the highest memory so far is that of now
        before = memory("VmRSS")
        cover = solver(problem)
        print(limit, (memory("VmHWM") - before) // 10**6, cover.certificate.left_out, sep=";")
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the highest memory is read from /proc")
def test_solvers_take_no_more_memory_than_the_limit() -> None:
    done = subprocess.run([sys.executable, "-c", MEASURED], capture_output=True, text=True, check=True, timeout=300)
    for line in done.stdout.splitlines():
        limit, taken, left_out = line.split(";")
        assert int(taken) < 1.1 * int(limit.removesuffix("MB")) + 100, line
        assert left_out.startswith("the LP" if limit == "650MB" else "the reductions"), line
    assert len(done.stdout.splitlines()) == 4
