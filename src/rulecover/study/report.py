"""Writes every table and figure that the results at hand allow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from rulecover.exceptions import StudyError
from rulecover.study.comparison import side_by_side
from rulecover.study.datasets import DATASETS, Data
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
        The names of the files, and what could not be made for want of a package, in sentences.
    """
    frame = as_frame(file.done().values())
    notes: list[str] = []
    sheets = [*_sheets(frame, data), *_failures(file)]
    try:
        sheets.append(signed_ranks(frame))
    except StudyError as missing:
        notes.append(str(missing))
    for old in folder.glob("failures.*"):
        old.unlink()
    for sheet in sheets:
        sheet.write(folder)
    try:
        drawn = _draw(frame, folder)
    except StudyError as missing:
        drawn = []
        notes.append(str(missing))
    return [f"{sheet.name}.md" for sheet in sheets] + drawn, notes


def _sheets(frame: Any, data: Mapping[str, Data] | None) -> Iterator[Sheet]:
    models = set(frame["model"])
    if data:
        yield table_s1(data)
    if models & {"DT", "MIRCO"}:
        yield table_s2(frame)
    if models & {"ADA", "GB", "RCB"}:
        yield table_s3(frame)
    if (several := seeds_table(frame)) is not None:
        yield several
    imbalanced = [name for name, entry in DATASETS.items() if entry.imbalanced]
    if set(frame["dataset"]) & set(imbalanced):
        title = "Balanced accuracy on the imbalanced data sets"
        yield table_of(frame, "balanced_accuracy", name="balanced", title=title, only=imbalanced)
    yield table_of(frame, "rules", name="rules", title="Number of rules (or leaves)", digits=1)
    yield sentences(frame)
    yield mean_ranks(frame)
    yield side_by_side(frame)


def _failures(file: ResultsFile) -> Iterator[Sheet]:
    failed = [[str(cell), outcome.error] for cell, outcome in sorted(file.failed().items())]
    if failed:
        head = ["cell", "error"]
        yield Sheet("failures", "Cells that failed", head, failed, pd.DataFrame(failed, columns=head))


def _draw(frame: Any, folder: Path) -> list[str]:
    from rulecover.study import drawings, figures

    axes = {"rcboost_flowchart": drawings.flowchart(), "rectangles": drawings.rectangles_plot()}
    models = set(frame["model"])
    if {"RF", "DT", "MIRCO"} <= models:
        axes |= {
            "mirco_accuracy": figures.accuracy_plot(frame),
            "mirco_missed": figures.missed_plot(frame),
            "mirco_rules": figures.rules_plot(frame),
        }
    if {"RCB", "iniDT"} <= models:
        axes["rcboost_accuracy"] = figures.rcboost_plot(frame)
    for name, ax in axes.items():
        ax.figure.savefig(folder / f"{name}.png", dpi=150)
    return [f"{name}.png" for name in axes]
