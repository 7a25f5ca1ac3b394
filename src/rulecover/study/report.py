"""Writes every table and figure that the results so far allow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from rulecover.exceptions import StudyError
from rulecover.files import whole_file
from rulecover.study.comparison import side_by_side
from rulecover.study.datasets import DATASETS, Data
from rulecover.study.paper import of_one_seed, shown_seed
from rulecover.study.ranks import mean_ranks, signed_ranks
from rulecover.study.results import ResultsFile, as_frame
from rulecover.study.sentences import sentences
from rulecover.study.sheets import Sheet
from rulecover.study.tables import seeds_table, table_of, table_s1, table_s2, table_s3


def write_tables(
    file: ResultsFile, folder: Path, data: Mapping[str, Data] | None = None
) -> tuple[list[str], list[str]]:
    """Tables and figures, in Markdown, CSV, LaTeX and PNG.

    Parameters
    ----------
    file
        The results.
    folder
        Where to write.
    data
        The data sets, for Table S.1; without them it is left as it is.

    Returns
    -------
    tuple
        The names of the files, and what could not be made because a package is missing, in sentences.
    """
    failed = _failures(file)
    for kind in (".md", ".csv", ".tex"):
        (folder / f"failures{kind}").unlink(missing_ok=True)
    for sheet in failed:  # first, for they are there even if no cell has succeeded
        sheet.write(folder)
    done = file.done()
    if not done and failed:
        (cell, error), *_ = failed[0].rows
        raise StudyError(
            f"all {len(failed[0].rows)} cells failed, so there is no table to make; the first, {cell}, with: {error} "
            f"All are in {folder / 'failures.md'}."
        )
    frame = as_frame(done.values())
    notes: list[str] = []
    sheets = [*_sheets(frame, data, folder)]
    try:
        sheets.append(_of_seed(frame, signed_ranks(frame)))
    except StudyError as missing:
        notes.append(str(missing))
    for sheet in sheets:
        sheet.write(folder)
    try:
        drawn = _draw(frame, folder)
    except StudyError as missing:
        drawn = []
        notes.append(str(missing))
    return [f"{sheet.name}.md" for sheet in [*sheets, *failed]] + drawn, notes


def _sheets(frame: Any, data: Mapping[str, Data] | None, folder: Path) -> Iterator[Sheet]:
    if data:
        yield table_s1(data, _lines_before(folder / "table_s1.csv", set(frame["dataset"])))
    if (others := seeds_table(frame)) is not None:
        yield others
    for sheet in _of_cells(frame):
        yield _of_seed(frame, sheet)


def _of_cells(frame: Any) -> Iterator[Sheet]:
    models = set(of_one_seed(frame)["model"])
    if models & {"DT", "MIRCO"}:
        yield table_s2(frame)
    if models & {"ADA", "GB", "RCB"}:
        yield table_s3(frame)
    imbalanced = [name for name, entry in DATASETS.items() if entry.imbalanced]
    if set(of_one_seed(frame)["dataset"]) & set(imbalanced):
        title = "Balanced accuracy on the imbalanced data sets"
        yield table_of(frame, "balanced_accuracy", name="balanced", title=title, only=imbalanced)
    yield table_of(frame, "rules", name="rules", title="Number of rules (or leaves)", digits=1)
    yield sentences(frame)
    yield mean_ranks(frame)
    yield side_by_side(frame)


def _of_seed(frame: Any, sheet: Sheet) -> Sheet:
    """The same; where there are several seeds, it says which one it shows."""
    if frame["seed"].nunique() == 1:
        return sheet
    return replace(sheet, notes=[*sheet.notes, f"Cells of seed {shown_seed(frame)}; seeds.md has all seeds."])


def _lines_before(path: Path, names: set[str]) -> Any:
    """The lines of an earlier table on data sets that have results; none if the file was changed."""
    try:
        before = pd.read_csv(path, dtype={"dataset": str})
    except (OSError, ValueError):  # absent, or not a table
        return None
    whole = {"dataset", "features", "classes", "samples", "note"} <= set(before.columns)
    return before[before["dataset"].isin(names)] if whole else None


def _failures(file: ResultsFile) -> list[Sheet]:
    head, rows = ["cell", "error"], [[str(cell), outcome.error] for cell, outcome in sorted(file.failed().items())]
    return [Sheet("failures", "Cells that failed", head, rows, pd.DataFrame(rows, columns=head))] if rows else []


def _draw(frame: Any, folder: Path) -> list[str]:
    from rulecover.study import drawings, figures

    axes = {"rcboost_flowchart": drawings.flowchart(), "rectangles": drawings.rectangles_plot()}
    models = set(of_one_seed(frame)["model"])
    if {"RF", "DT", "MIRCO"} <= models:
        axes |= {
            "mirco_accuracy": figures.accuracy_plot(frame),
            "mirco_missed": figures.missed_plot(frame),
            "mirco_rules": figures.rules_plot(frame),
        }
    if {"RCB", "iniDT"} <= models:
        axes["rcboost_accuracy"] = figures.rcboost_plot(frame)
    for name, ax in axes.items():
        with whole_file(folder / f"{name}.png", binary=True) as image:
            ax.figure.savefig(image, dpi=150, format="png")
    return [f"{name}.png" for name in axes]
