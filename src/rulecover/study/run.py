"""Runs the cells of a study: in parallel, each on its own, a failure recorded and the rest unharmed."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rulecover.exceptions import StudyError
from rulecover.parallel import Died, in_processes
from rulecover.study.datasets import DATASETS, Data, check_names, load
from rulecover.study.folds import OUTER, SEED, Fold, check_folds
from rulecover.study.methods import Method, methods_called
from rulecover.study.results import FILE, Cell, Outcome, ResultsFile
from rulecover.study.scores import figures_of


@dataclass(frozen=True, eq=False)
class StudyTask:
    """A cell with all that a worker needs for it."""

    cell: Cell
    data: Data
    method: Method

    @property
    def weight(self) -> int:
        """What it costs compared with others, roughly."""
        return len(self.data.y)


@dataclass(frozen=True, eq=False)
class Study:
    """Cells to run, and the file of those that are done.

    Parameters
    ----------
    tasks
        The cells that are not done yet, small data sets first.
    file
        Where outcomes go.
    data
        The data sets by name.
    """

    tasks: tuple[StudyTask, ...]
    file: ResultsFile
    data: Mapping[str, Data]

    def run(self, *, n_jobs: int = 1) -> Iterator[Outcome]:
        """Runs what is not done; each outcome is on disk when it is returned.

        Parameters
        ----------
        n_jobs
            Worker processes; -1 takes every core. Results do not depend on it.

        Returns
        -------
        iterator of Outcome
            It must be consumed: cells are run as outcomes are asked for.
        """
        return self.file.append(outcomes(self.tasks, n_jobs=n_jobs))


def study(
    methods: Sequence[str],
    *,
    out: Path,
    datasets: Sequence[str],
    folder: Path | None = None,
    cache: Path | None = None,
    seeds: Sequence[int] = (SEED,),
    resume: bool = False,
) -> Study:
    """Checks the request, loads the data and finds out what is left to do.

    Parameters
    ----------
    methods
        Names in `METHODS`.
    out
        The folder of the results file, made if it is not there.
    datasets, folder, cache
        As in `load`.
    seeds
        Each shuffles the folds and seeds the models; 25 is the paper's.
    resume
        Whether to continue an existing results file; failures are tried again.

    Returns
    -------
    Study
        Call its `run`.

    Raises
    ------
    StudyError
        If a method or a data set is not known, or results are there already: without `resume`, or of other data.
    """
    chosen = methods_called(methods)
    check_names(datasets, folder)
    file = ResultsFile(out / FILE)
    if file.path.exists() and not resume:
        raise StudyError(f"{str(file.path)!r} holds results; continue with --resume, or name another --out folder.")
    done = file.done()
    _check_own_models(done, chosen)
    data = {name: load(name, folder, cache=cache) for name in dict.fromkeys(datasets)}
    _check_same_data(done, data)
    for sentence in itertools.chain.from_iterable((*_gaps(each), *check_folds(each)) for each in data.values()):
        warnings.warn(sentence, UserWarning, stacklevel=2)
    tasks = [
        StudyTask(cell, data[name], method)
        for name, seed, method, fold in itertools.product(data, dict.fromkeys(seeds), chosen, range(OUTER))
        if (cell := Cell(name, method.name, seed, fold)) not in done
        and (len(data[name].classes) == 2 or not method.two_classes)
    ]
    _make(out)
    return Study(tuple(sorted(tasks, key=lambda task: task.weight)), file, data)


def _gaps(data: Data) -> list[str]:
    """A sentence on rows that were dropped; those of the paper's data are described in Table S.1."""
    gaps = data.read[0] - len(data.y)
    dropped = f"{gaps} of {data.read[0]} rows of {data.name!r} have gaps and are dropped."
    return [dropped] if gaps and data.name not in DATASETS else []


def _make(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StudyError(
            f"the folder {str(out)!r} cannot be made ({error.strerror}); name another --out folder."
        ) from error


def _check_own_models(done: Mapping[Cell, Outcome], methods: Sequence[Method]) -> None:
    """Raises where two methods have models of one name: their figures would be taken for those of one model."""
    owner = {model: cell.method for cell, outcome in done.items() for model in outcome.models}
    for method in methods:
        for model in method.models:
            if owner.setdefault(model, method.name) != method.name:
                raise StudyError(
                    f"the methods {owner[model]!r} and {method.name!r} both have a model {model!r}; give one of them "
                    "another name."
                )


def _check_same_data(done: Mapping[Cell, Outcome], data: Mapping[str, Data]) -> None:
    for cell, outcome in done.items():
        if cell.dataset in data and outcome.data != data[cell.dataset].checksum:
            raise StudyError(
                f"{cell} was run on other values of {cell.dataset!r} (checksum {outcome.data}, now "
                f"{data[cell.dataset].checksum}); name another --out folder."
            )


def outcomes(tasks: Sequence[StudyTask], *, n_jobs: int = 1) -> Iterator[Outcome]:
    """The outcome of each task, as they come; methods that run alone do not share a process with others."""
    groups: dict[str, list[StudyTask]] = {}
    for task in tasks:
        groups.setdefault(task.method.name if task.method.alone else "", []).append(task)
    for name, group in groups.items():
        for task, result in in_processes(outcome, group, n_jobs=n_jobs, apart=bool(name)):
            yield result if isinstance(result, Outcome) else _outcome_of_crash(task, result)


def outcome(task: StudyTask) -> Outcome:
    """Learns and scores; an error becomes part of the outcome."""
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the same warnings of libraries for each of a thousand folds
            fold = Fold.of(task.data, task.cell.fold, task.cell.seed)
            fitted = task.method.fit(fold)
            n_classes = len(task.data.classes)
            models = {name: figures_of(done, fold, n_classes) for name, done in fitted.items()}
            error = ""
    except (Exception, SystemExit) as failure:
        models, error = {}, f"{type(failure).__name__}: {' '.join(str(failure).split())}"
    return Outcome(task.cell, task.data.checksum, round(time.perf_counter() - start, 3), models, error)


def _outcome_of_crash(task: StudyTask, reason: Died) -> Outcome:
    return Outcome(task.cell, task.data.checksum, 0.0, {}, str(reason))
