"""``rulecover explain``: from a table to rules, their scores next to the forest's, and a certificate in words."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

import rulecover
from rulecover.cli.advice import not_ours, warnings_on, warnings_on_parts, warnings_on_rules
from rulecover.cli.commands.fit import (
    Training,
    as_saved,
    naming_options,
    rule_chooser,
    size_notes,
    train_on_all,
    trained_forest,
    tree_to_compare,
    write_model,
)
from rulecover.cli.errors import CommandError
from rulecover.cli.options.checks import given_settings
from rulecover.cli.options.choices import MethodName, TaskName
from rulecover.cli.options.table import EXPLAIN
from rulecover.cli.printing import Printer
from rulecover.cli.tables.encoding import for_forests
from rulecover.cli.tables.labelled import Table, count, labelled_table
from rulecover.cli.tables.reading import Reading
from rulecover.report.summary import Summary


def explain(
    data: Path,
    *,
    target: str | None,
    task: TaskName | None,
    method: MethodName,
    drop: Sequence[str] | None,
    keep_ids: bool,
    test_size: float,
    max_levels: int,
    reading: Reading,
    seed: int,
    jobs: int,
    report: Path | None,
    save: Path | None,
    refit: bool,
    quiet: bool,
    **typed: Any,
) -> None:
    """Prints rules learnt from a part of the rows, and their scores on the others; they can be saved."""
    printer, given = Printer(quiet=quiet), given_settings(EXPLAIN, typed)
    columns = for_forests(max_levels)
    table = labelled_table(
        data, target, drop=drop or [], columns=columns, reading=reading, task=task, keep_ids=keep_ids
    )
    training = Training(method, given, seed=seed, jobs=jobs)
    summary, few = explain_table(table, training, test_size=test_size, printer=printer)
    printer.summary(summary)
    if report is not None:
        printer.report(summary, report)
    if save is not None:
        _save(few, table, training, save, refit=refit, printer=printer)


def _save(few: Any, table: Table, training: Training, out: Path, *, refit: bool, printer: Printer) -> None:
    """Writes the rules that were checked, or rules of all rows."""
    vote = train_on_all(table, training, None, printer) if refit else as_saved(few, table)
    write_model(vote, out)
    rules = count(len(vote.rules), "rule")
    if refit:
        printer.say(f"\n{rules} trained on all {len(table.y):,} rows written to {out}: other rules than those above.")
    else:
        printer.say(f"\nThe {rules} above, as they were checked, written to {out}.")


def explain_table(table: Table, training: Training, *, test_size: float, printer: Printer) -> tuple[Summary, Any]:
    """A few rules of a forest on the table, compared with other models on held-out rows; and the fitted rules."""
    rules_of = rule_chooser(training, table)
    split, notes = _split(table, test_size, training.seed)
    X_train, X_test, y_train, y_test = split
    printer.notes((*table.notes, *notes))
    known = [*warnings_on(table, weighted="class_weight" in training.options), *warnings_on_parts(table, *split)]
    with printer.bars() as bars:
        forest = trained_forest(training, table, X_train, y_train, bars=bars)
        with (
            bars.spinning("Choosing rules"),
            warnings.catch_warnings(record=True) as caught,
            naming_options(training),
        ):
            warnings.simplefilter("always", UserWarning)
            few = rules_of(forest, X_train, y_train)
        with bars.spinning("Comparing"):
            tree = table.encoded(tree_to_compare(table.task, training, len(few.rules_))).fit(X_train, y_train)
            others = _other_rules(training, forest, X_train, y_train)
            summary = Summary.of(
                few,
                X_test,
                y_test,
                title=table.name,
                compare_with={**others, "random forest": forest, "decision tree": tree},
                notes=(*table.notes, *notes),
                warnings=(*known, *warnings_on_rules(few.rules_)),
            )
    printer.notes([*not_ours(caught), *size_notes(few)])
    printer.warnings(summary.warnings)
    boosted = training.method is MethodName.BOOST  # whose certificate is about an LP, not about these rules
    return (replace(summary, certificate=None) if boosted else summary), few


def _other_rules(training: Training, forest: Any, X: Any, y: Any) -> dict[str, Any]:
    """The rules that the methods which were not chosen find in the same forest, by default."""
    settings = {"random_state": training.seed, "n_jobs": training.jobs}
    others = {
        MethodName.PATH: partial(rulecover.explain, method="path", **settings),
        MethodName.COVER: partial(rulecover.explain, method="cover", **settings),
    }
    others.pop(training.method, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about rules that are not shown
        return {f"a {method}": rules_of(forest, X, y) for method, rules_of in others.items()}


def _split(table: Table, test_size: float, seed: int) -> tuple[list[Any], list[str]]:
    """Rows to learn from and rows to check on, stratified by class where every class has enough rows."""
    if not 0 < test_size < 1:
        raise CommandError(f"--test-size is {test_size:g}; it is a share of the rows, between 0 and 1.")
    held_out = int(np.ceil(test_size * len(table.y)))
    if not 1 <= held_out < len(table.y):
        raise CommandError(
            f"--test-size {test_size:g} of {len(table.y)} rows leaves none to learn from; choose a smaller share."
        )
    if table.task == TaskName.NUMBERS:
        return train_test_split(table.X, table.y, test_size=test_size, random_state=seed), []
    classes, sizes = np.unique(table.y, return_counts=True)
    stratify = table.y if sizes.min() > 1 and len(classes) <= min(held_out, len(table.y) - held_out) else None
    notes = [] if stratify is not None else [_rare_class_note(classes, sizes)]
    if len(classes) == 1:
        notes.append(f"every row is of class {str(classes[0])!r}: there is nothing to tell apart.")
    return train_test_split(table.X, table.y, test_size=test_size, random_state=seed, stratify=stratify), notes


def _rare_class_note(classes: Any, sizes: Any) -> str:
    rarest = str(classes[sizes.argmin()])
    return (
        f"held-out rows were drawn without regard to class: class {rarest!r} has too few rows ({sizes.min()}) "
        "to be in both parts."
    )
