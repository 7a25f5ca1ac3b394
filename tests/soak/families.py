"""The families of random cases: models with all that they promise, readers, solvers, exports and names, from a seed.

A family is a function from a random generator to a `Trial`. A new reader, solver or export is in the list of its
contract, and so is tried here; a new promise of fitted models is a line in `promises`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import exported
import numpy as np
from command_lines import check_commands, drawn_table, words_of_fit
from hostile import ALL_PIECES
from names import export_takes_it_for_a_name, text_goes_there_and_back, views_keep_their_structure
from promises import EVERY, OF_TABLES, PROMISES, SOME
from soak_cases import Case, case_of, fitted
from soak_tables import Rng, one_of
from strategies import brute_force, fewest_rules, random_problem
from test_every_export import EXPORTS
from test_every_reader import READERS
from test_every_solver import SOLVERS
from test_readers_pipelines import accepted, assert_rules_are_leaves, random_frame, random_pipeline, trained
from test_readers_pipelines import probes as pipeline_probes

from rulecover import read_trees
from rulecover.setcover import Status, lp_bound, verify

_TINY = 1e-6


@dataclass(frozen=True, eq=False)
class Trial:
    """What is tried: its name, what raises if it fails and, for models, the case and its promises, to shrink it.

    Parameters
    ----------
    name
        What it is, in a few words.
    check
        Raises if something is wrong.
    case, promises
        Of a model.
    """

    name: str
    check: Callable[[], None]
    case: Case | None = None
    promises: tuple[str, ...] = ()


def models(rng: Rng) -> Trial:
    """A random model that keeps every cheap promise and two of the others."""
    case = case_of(rng)
    others = SOME | (OF_TABLES if case.is_mixed else {})
    chosen = rng.permutation(list(others))[:2].tolist()
    promises = (*EVERY, *chosen)
    name = f"{case.method}, {case.target}, {case.source}, {case.kind}"
    return Trial(name, lambda: keeps(case, *promises), case, promises)


def keeps(case: Case, *promises: str) -> None:
    """Fits the case and raises for the first of these promises that it breaks."""
    with tempfile.TemporaryDirectory() as folder:
        found = fitted(case, Path(folder))
        for promise in promises:
            try:
                PROMISES[promise](found)
            except Exception as error:
                raise BrokenPromise(promise, error) from error


class BrokenPromise(Exception):
    """A promise that a model does not keep, and how that showed."""

    def __init__(self, promise: str, error: Exception) -> None:
        super().__init__(f"{promise}: {type(error).__name__}: {error}")
        self.promise, self.error = promise, error


def readers(rng: Rng) -> Trial:
    """A random model of a library, next to the library's own leaves."""
    library = one_of(rng, list(READERS))
    kind, seed = one_of(rng, list(READERS[library])), int(rng.integers(2**31))

    def check() -> None:
        assert READERS[library][kind](seed) == 0, f"READERS[{library!r}][{kind!r}]({seed})"

    return Trial(f"{library}, {kind}", check)


def pipelines(rng: Rng) -> Trial:
    """A random pipeline in front of trees, next to its own leaves."""
    seed = int(rng.integers(2**31))

    def check() -> None:
        rng = np.random.default_rng(seed)
        X = random_frame(rng)
        y = (X["age"] + 10 * (X["colour"] == "red") + rng.normal(size=len(X)) > 42).to_numpy() + (X["rooms"] > 3)
        model = trained(random_pipeline(rng), X, y)
        ensemble = read_trees(model)
        for rows in (X, pipeline_probes(ensemble, accepted(ensemble, X), rng)):
            assert_rules_are_leaves(model, ensemble, accepted(ensemble, rows))

    return Trial(f"pipeline {seed}", check)


def solvers(rng: Rng) -> Trial:
    """A random covering problem, solved and verified, next to brute force."""
    problem = random_problem(rng, max_samples=14, max_rules=10, ties=bool(rng.random() < 0.5))
    solve, limit = one_of(rng, SOLVERS), one_of(rng, [None, None, 1, 3])

    def check() -> None:
        cover, best, bound = solve(problem, max_rules=limit), brute_force(problem), lp_bound(problem)
        verify(problem, cover)
        assert bound.value <= best + _TINY and bound.min_rules <= fewest_rules(problem)
        assert cover.bound <= best + _TINY
        assert cover.certificate.min_rules <= fewest_rules(problem)
        assert cover.status == Status.LIMITED or cover.objective >= best - _TINY
        assert cover.status != Status.OPTIMAL or cover.objective <= best + _TINY

    return Trial(f"{solve}, {problem.n_rules} rules, {problem.n_samples} samples", check)


def exports(rng: Rng) -> Trial:
    """Rules and votes made up of nothing but chance, exported and executed."""
    name = one_of(rng, list(EXPORTS))
    made = one_of(rng, [exported.random_rules, exported.random_log_odds])(rng)
    rows = exported.probes(made.rules, rng, 12)

    def check() -> None:
        case = exported.Case(made, made, rows)
        assert case.agrees_with(EXPORTS[name][1](case))

    return Trial(f"export to {name}", check)


def hostile_names(rng: Rng) -> Trial:
    """A name that tries to break out, through every view and two exports."""
    name = "".join(one_of(rng, ALL_PIECES) for _ in range(int(rng.integers(1, 5))))
    formats = rng.permutation(list(EXPORTS))[:2].tolist()

    def check() -> None:
        views_keep_their_structure(name)
        text_goes_there_and_back(name)
        for to in formats:
            export_takes_it_for_a_name(name, to)

    return Trial(f"the name {name!a}, {' and '.join(formats)}", check)


def commands(rng: Rng) -> Trial:
    """Rules fitted to a file by the command, and every other command on them."""
    target = one_of(rng, ["classes", "classes", "numbers"])
    table = drawn_table(rng, target)
    words, seed = words_of_fit(rng, target, table), int(rng.integers(2**31))
    return Trial(f"rulecover fit {' '.join(words)}", lambda: check_commands(table, words, seed))


#: Each with what share of the cases it has.
FAMILIES: dict[Callable[[Rng], Trial], float] = {
    models: 0.55,
    commands: 0.05,
    readers: 0.05,
    pipelines: 0.05,
    hostile_names: 0.05,
    solvers: 0.15,
    exports: 0.1,
}


def trial_of(seed: int, number: int) -> Trial:
    """The trial of a number under a seed, whatever else is tried."""
    rng = np.random.default_rng([seed, number])
    family: Any = rng.choice(np.array(list(FAMILIES), dtype=object), p=list(FAMILIES.values()))
    return family(rng)
