"""``rulecover explain``: from a table to rules, their scores next to the forest's, and a certificate in words."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
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
    forest_for,
    is_to_be_trained,
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
from rulecover.cli.printing import Bars, Printer
from rulecover.cli.tables.encoding import for_forests
from rulecover.cli.tables.labelled import Table, count, labelled_table
from rulecover.cli.tables.reading import Reading
from rulecover.clock import check_in_time
from rulecover.estimators.in_time import sampling_order, trained_in_time
from rulecover.exceptions import CutShortWarning
from rulecover.report.summary import Summary
from rulecover.typing import Ints


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
    deadline = None if training.time_limit is None else time.perf_counter() + training.time_limit
    with printer.bars() as bars:
        # Under a time limit, a forest that no rules are chosen from comes last.
        later = training.time_limit is not None and not training.trains_forest
        forest = None if later else forest_for(training, table, X_train, y_train, bars=bars)
        with (
            bars.spinning("Choosing rules"),
            warnings.catch_warnings(record=True) as caught,
            naming_options(training),
        ):
            warnings.simplefilter("always", UserWarning)
            few = rules_of(forest, X_train, y_train)
        with bars.spinning("Comparing"):
            if forest is not None:
                forest = few.estimator_ if is_to_be_trained(forest) else forest
            others, no_time = OtherModels(table, training, X_train, y_train, deadline).models(forest, few)
            summary = Summary.of(
                few,
                X_test,
                y_test,
                title=table.name,
                compare_with=others,
                notes=(*table.notes, *notes),
                warnings=(*known, *warnings_on_rules(few.rules_)),
            )
    printer.notes([*not_ours(caught), *size_notes(few), *no_time])
    printer.warnings(summary.warnings)
    boosted = training.method is MethodName.BOOST  # whose certificate is about an LP, not about these rules
    return (replace(summary, certificate=None) if boosted else summary), few


@dataclass(frozen=True)
class OtherModels:
    """What rules are compared with.

    Parameters
    ----------
    table, training
        Where the rules come from.
    X, y
        The rows that they were trained on.
    deadline
        When time is up, by `time.perf_counter`.
    """

    table: Table
    training: Training
    X: Any
    y: Any
    deadline: float | None

    def models(self, forest: Any, few: Any) -> tuple[dict[str, Any], list[str]]:
        """The models to compare rules with, by name, and a note on those that there was no time for."""
        methods = [each for each in (MethodName.PATH, MethodName.COVER) if each is not self.training.method]
        makers: dict[str, Callable[[dict[str, Any]], Any]] = {
            "random forest": lambda _: self._in_time(self._forest) if forest is None else forest,
            **{f"a {method}": partial(self._rules, method) for method in methods},
            "decision tree": lambda _: self._in_time(partial(self._tree, len(few.rules_))),
        }
        found: dict[str, Any] = {}
        for name, make in makers.items():
            with suppress(TimeoutError, CutShortWarning):
                found[name] = make(found)
        shown = [*(f"a {method}" for method in methods), "random forest", "decision tree"]
        lacking = [name if name.startswith("a ") else f"a {name}" for name in shown if name not in found]
        models = {name: found[name] for name in shown if name in found}
        if not lacking:
            return models, []
        return models, [f"there was no time to compare with {listed(lacking)}; give more (--time-limit)."]

    def _rules(self, method: MethodName, found: dict[str, Any]) -> Any:
        """The rules that another method finds in the same forest, by default."""
        settings: dict[str, Any] = {"random_state": self.training.seed, "n_jobs": self.training.jobs}
        check_in_time(self.deadline)
        if "random forest" not in found:
            raise TimeoutError("there is no forest.")
        if self.deadline is not None:
            settings["time_limit"] = self.deadline - time.perf_counter()
        rules_of: Any = rulecover.explain
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # about rules that are not shown
            warnings.simplefilter("error", CutShortWarning)
            return rules_of(found["random forest"], self.X, self.y, method=method.value, **settings)

    def _forest(self, X: Any, y: Any) -> Any:
        return trained_forest(self.training, self.table, X, y, bars=Bars(None))

    def _tree(self, n_rules: int, X: Any, y: Any) -> Any:
        return self.table.encoded(tree_to_compare(self.table.task, self.training, n_rules)).fit(X, y)

    def _in_time(self, trained: Callable[[Any, Any], Any]) -> Any:
        """A model that is trained on all rows, or a TimeoutError."""
        y = np.asarray(self.y)
        if self.deadline is None:
            return trained(self.X, self.y)
        order = sampling_order(y, None, classes=self.table.task == TaskName.CLASSES)
        model, size = trained_in_time(self._on(trained), order, self.deadline)
        if size < len(y):
            raise TimeoutError
        return model

    def _on(self, trained: Callable[[Any, Any], Any]) -> Callable[[Ints], Any]:
        """From some of the rows, in whatever order, to what is trained on them in their order."""
        return lambda rows: trained(self.X.iloc[np.sort(rows)], np.asarray(self.y)[np.sort(rows)])


def listed(names: Sequence[str]) -> str:
    """Names in a sentence.

    >>> listed(["a path", "a cover", "a decision tree"]), listed(["a path"])
    ('a path, a cover and a decision tree', 'a path')
    """
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _split(table: Table, test_size: float, seed: int) -> tuple[list[Any], list[str]]:
    """Rows to learn from and rows to check on, stratified by class where every class has enough rows."""
    if not 0 < test_size < 1:
        raise CommandError(f"--test-size is {test_size:g}; it is a share of the rows, between 0 and 1.")
    held_out = int(np.ceil(test_size * len(table.y)))
    if not 1 <= held_out < len(table.y):
        raise CommandError(
            f"--test-size {test_size:g} of {len(table.y)} rows leaves none to learn from; choose a smaller share."
        )
    X = table.rows_for_parts
    if table.task == TaskName.NUMBERS:
        return train_test_split(X, table.y, test_size=test_size, random_state=seed), []
    classes, sizes = np.unique(table.y, return_counts=True)
    stratify = table.y if sizes.min() > 1 and len(classes) <= min(held_out, len(table.y) - held_out) else None
    notes = [] if stratify is not None else [_rare_class_note(classes, sizes)]
    if len(classes) == 1:
        notes.append(f"every row is of class {str(classes[0])!r}: there is nothing to tell apart.")
    return train_test_split(X, table.y, test_size=test_size, random_state=seed, stratify=stratify), notes


def _rare_class_note(classes: Any, sizes: Any) -> str:
    rarest = str(classes[sizes.argmin()])
    return (
        f"held-out rows were drawn without regard to class: class {rarest!r} has too few rows ({sizes.min()}) "
        "to be in both parts."
    )
