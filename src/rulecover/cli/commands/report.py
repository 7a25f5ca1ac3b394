"""``rulecover report``: how well a saved model predicts labelled rows, as one HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rulecover.cli.errors import CommandError
from rulecover.cli.printing import Printer, is_stdout
from rulecover.cli.tables.chunks import chunks
from rulecover.cli.tables.header import TableFile, quoted_names
from rulecover.cli.tables.labelled import count
from rulecover.cli.tables.model_file import Model, load, numbers
from rulecover.cli.tables.reading import Reading
from rulecover.cli.tables.written import as_numbers
from rulecover.data.labels import Label, plain_labels
from rulecover.report.summary import Summary
from rulecover.rules.levels import readable
from rulecover.typing import Array
from rulecover.voting.answers import Classes


def report(
    model: Path,
    data: Path,
    *,
    target: str | None,
    reading: Reading,
    out: Path,
    quiet: bool,
    edited: bool,
    max_model_size: float,
) -> None:
    """Prints the figures of a model, and writes the report."""
    summary = summary_of(load(model, edited=edited, max_megabytes=max_model_size), TableFile(data, reading), target)
    printer = Printer(quiet=quiet or is_stdout(out))
    printer.notes(summary.notes)
    printer.warnings(summary.warnings)
    printer.figures(summary)
    printer.report(summary, out)


def summary_of(model: Model, file: TableFile, target: str | None) -> Summary:
    """The figures of a model on the labelled rows of a table."""
    if target is None:
        raise CommandError("name the column with the true values with --target.")
    parts, labels, first = [], [], 0
    for part in chunks(file, model, also=[target]):
        known = part[target].notna().to_numpy()
        parts.append(model.rows_with_levels(part, first)[known])
        labels.append(part[target])
        first += len(part)
    X, column = np.concatenate(parts), pd.concat(labels, ignore_index=True)
    left_out = int(column.isna().sum())
    if not len(X):
        raise CommandError(f"{file.source} has no row with a value of {target!r}; there is nothing to report on.")
    y = true_labels(model, as_trained(model, column, file.reading), 0)[column.notna().to_numpy()]
    left = [f"{count(left_out, 'row')} without a value of {target!r} left out."] if left_out else []
    notes = [*file.found.notes, *left]
    rules = model.rules.rules
    shown = readable(rules, dict(rules.columns.levels))
    return Summary.of(model.rules, X, y, title=file.source.name, notes=notes, shown=shown)


def as_trained(model: Model, column: Any, reading: Reading) -> Any:
    """The target as numbers, if the model was trained on numbers and they are written as people write them."""
    answer = model.rules.answer
    texts = isinstance(answer, Classes) and any(isinstance(each, (str, bool)) for each in plain_labels(answer.labels))
    return column if texts else as_numbers(column, reading)


def true_labels(model: Model, column: Any, first: int) -> Array:
    """The labels of a part of a table, as the model has them; anything where the cell is empty."""
    answer = model.rules.answer
    if not isinstance(answer, Classes):
        return np.asarray(numbers(column, first))
    known = plain_labels(answer.labels)
    which, cells = pd.factorize(column)
    places = np.array([_place(cell, known) for cell in cells.tolist()] + [0], dtype=np.intp)
    wrong = np.flatnonzero(places[which] < 0)
    if wrong.size:
        raise CommandError(
            f"column {column.name!r} has {str(column.iloc[wrong[0]])[:40]!r} in data row {first + int(wrong[0]) + 1}, "
            f"which is not a class of the model; its classes are {quoted_names(list(map(str, known)))}."
        )
    return np.asarray(answer.labels[places[which]])


def _place(cell: Any, labels: Sequence[Label]) -> int:
    """The place of the label that a cell stands for, -1 if there is none."""
    for place, label in enumerate(labels):
        if str(cell) == str(label) or (isinstance(label, bool) and str(cell).lower() == str(label).lower()):
            return place
    try:
        number = float(cell)
    except ValueError:
        return -1
    return next((k for k, label in enumerate(labels) if not isinstance(label, str) and label == number), -1)
