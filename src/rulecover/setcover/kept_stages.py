"""The stages of an exact cover in a checkpoint, each of which is skipped when the same problem is solved again."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np

from rulecover.checkpoint import Checkpoint, Entry, fingerprint
from rulecover.setcover.bounds import Bound
from rulecover.setcover.problem import Branch, CoveringProblem
from rulecover.typing import Array, Ints

T = TypeVar("T")

WORK = "an exact cover"


class KeptStages:
    """What was found for a problem, stage by stage, in a checkpoint; without one, nothing is kept.

    Parameters
    ----------
    file
        A checkpoint that the caller removes, the path of one that is removed by `done`, or ``None``.
    problem
        The problem; a checkpoint of the caller may have the stages of several.
    settings
        On which the stages depend.
    """

    def __init__(
        self, file: Checkpoint | str | os.PathLike[str] | None, problem: CoveringProblem, settings: Mapping[str, object]
    ) -> None:
        self._own = isinstance(file, (str, os.PathLike))
        self._file: Checkpoint | None = None
        self._name = ""
        if file is not None:
            self._name = problem_fingerprint(problem, settings)
            self._file = file if isinstance(file, Checkpoint) else Checkpoint(file, WORK, self._name)
            self._file.unfinished.add(self._name)

    @property
    def is_used(self) -> bool:
        """Whether there is a checkpoint."""
        return self._file is not None

    def get(self, stage: str) -> Entry | None:
        """What was kept of a stage; ``None`` if nothing was."""
        return None if self._file is None else self._file.get(f"{self._name}/{stage}")

    def put(self, stage: str, entry: Entry) -> None:
        """Keeps a stage."""
        if self._file is not None:
            self._file.put({f"{self._name}/{stage}": entry})

    def flush(self) -> None:
        """Writes what is not yet in a file of its own."""
        if self._own and self._file is not None:
            self._file.flush()

    def rules(self, stage: str) -> Ints | None:
        """The rules of a stage, if it was kept."""
        return self._read(stage, lambda kept: kept["rules"])

    def part(self, stage: str) -> tuple[Ints, float] | None:
        """The rules and the bound of a part of a proof, if it was kept."""
        return self._read(stage, lambda kept: (kept["rules"], float(kept["bound"])))

    def bound(self) -> Bound | None:
        """The bound, if it was kept."""
        return self._read("bound", _bound)

    def _read(self, stage: str, read: Callable[[Entry], T]) -> T | None:
        kept = self.get(stage)
        if kept is None or self._file is None:
            return None
        with self._file.fitting():
            return read(kept)

    def put_bound(self, bound: Bound) -> None:
        """Keeps a bound."""
        if self._file is not None:
            self.put("bound", _written(bound))

    def done(self) -> None:
        """The work on the problem is done; removes the file, unless it is the caller's."""
        if self._file is not None:
            self._file.unfinished.discard(self._name)
            if self._own:
                self._file.remove()


def problem_fingerprint(problem: CoveringProblem, settings: Mapping[str, object]) -> str:
    """A digest of what covers what, of costs, demands and weights, and of settings."""
    keys = np.random.default_rng(0).integers(1, 2**63, size=problem.n_rules, dtype=np.uint64)
    covering = np.zeros(problem.n_samples, dtype=np.uint64)
    for block in problem.coverage.blocks:
        covering += block.lookup(keys)
    return fingerprint(settings, covering, problem.cost, problem.demand, problem.weight)


def _written(bound: Bound) -> dict[str, Array]:
    fewest = bound.count_proof
    return {
        "value": np.array([bound.value, bound.min_rules], dtype=np.float64),
        "source": np.array(bound.source),
        "prices": np.array([[branch.count_price, branch.count] for branch in bound.proof]).reshape(-1, 2),
        "proof": np.array([branch.duals for branch in bound.proof]),
        "fewest": np.zeros(0) if fewest is None else fewest.duals,
        "duals": bound.duals,
        "support": bound.support,
        "shares": bound.shares,
    }


def _bound(kept: Entry) -> Bound:
    branches = zip(kept["proof"], kept["prices"].tolist(), strict=True)
    return Bound(
        float(kept["value"][0]),
        str(kept["source"]),
        tuple(Branch(duals, price, int(count)) for duals, (price, count) in branches),
        Branch(kept["fewest"]) if len(kept["fewest"]) else None,
        int(kept["value"][1]),
        kept["duals"],
        support=kept["support"],
        shares=kept["shares"],
    )
