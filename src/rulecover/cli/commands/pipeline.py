"""The main job: split, train, choose rules, and measure them on rows that nobody has seen."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import rulecover
from rulecover.cli.errors import CommandError
from rulecover.cli.options.choices import Method, Task
from rulecover.cli.options.settings import settings_of
from rulecover.cli.printing import Printer
from rulecover.cli.tables.labelled import Table
from rulecover.estimators.centred import CentredRegressor
from rulecover.estimators.checks import sample_weights
from rulecover.report.summary import Summary
from rulecover.rules.levels import readable
from rulecover.targets.numbers.samples import far_centre

#: The forest is trained in this many parts where a bar is shown, so that the bar can move.
_PARTS = 20


@dataclass(frozen=True)
class Forest:
    """How the forest is trained."""

    trees: int = 100
    depth: int = 10
    seed: int = 0
    jobs: int | None = None
    class_weight: Any = None


#: From a trained forest, rows and labels to a few rules.
RulesOf = Callable[[Any, Any, Any], Any]


def covered(forest: Forest, *, task: Task = Task.CLASSES, **options: Any) -> RulesOf:
    """Rules that cover every training row; the options are those of `rulecover.explain`."""
    if task == Task.NUMBERS and "vote" in options:
        options["ridge"] = None  # a weighted mean in place of fitted values
    return partial(rulecover.explain, random_state=forest.seed, n_jobs=forest.jobs, **options)


def followed(forest: Forest, *, task: Task = Task.CLASSES, **options: Any) -> RulesOf:
    """Rules that are as accurate as so many can be; cross-validation says how many are worth it."""
    kind = rulecover.RulePathClassifier if task == Task.CLASSES else rulecover.RulePathRegressor

    def rules_of(model: Any, X: Any, y: Any) -> Any:
        path = kind(FrozenEstimator(model), random_state=forest.seed, n_jobs=forest.jobs, **options)
        return path.fit(X, y)

    return rules_of


def chosen_by(method: Method, forest: Forest, table: Table, options: Mapping[str, Any]) -> RulesOf:
    """Rules chosen by a method with options as they were typed."""
    classes, by_path = table.task == Task.CLASSES, method is Method.PATH
    covers = rulecover.MIRCOClassifier if classes else rulecover.MIRCORegressor
    paths = rulecover.RulePathClassifier if classes else rulecover.RulePathRegressor
    settings = settings_of(paths if by_path else covers, options, table)
    return (followed if by_path else covered)(forest, task=table.task, **settings)


def explained(table: Table, forest: Forest, rules_of: RulesOf, *, test_size: float, printer: Printer) -> Summary:
    """What a few rules of a forest on the table are worth, beside the forest and a single decision tree."""
    split, notes = _split(table, test_size, forest.seed)
    X_train, X_test, y_train, y_test = split
    printer.notes((*table.notes, *notes))
    with printer.bars() as bars:
        model = trained_forest(forest, X_train, y_train, bars, table.task)
        with bars.spinning("Choosing rules"), warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", UserWarning)
            few = rules_of(model, X_train, y_train)
        with bars.spinning("Comparing"):
            tree = _beside(table.task, forest, len(few.rules_)).fit(X_train, y_train)
            summary = Summary.of(
                few,
                X_test,
                y_test,
                title=table.name,
                beside={"random forest": model, "decision tree": tree},
                notes=(*table.notes, *notes),
                shown=readable(few.rules_, table.levels),
            )
    printer.notes(str(warning.message) for warning in said)
    return summary


def _beside(task: Task, forest: Forest, n_rules: int) -> Any:
    """The tree to compare with: as deep as the forest, or with as many leaves as there are rules for numbers."""
    if task == Task.CLASSES:
        return DecisionTreeClassifier(max_depth=forest.depth, random_state=forest.seed)
    return DecisionTreeRegressor(max_leaf_nodes=max(2, n_rules), random_state=forest.seed)


def trained_forest(settings: Forest, X: Any, y: Any, bars: Any, task: Task = Task.CLASSES) -> Any:
    """The forest; where a bar is shown it grows part by part, tree for tree the same."""
    shared = {"max_depth": settings.depth, "random_state": settings.seed, "n_jobs": settings.jobs}
    if task == Task.CLASSES:
        forest = RandomForestClassifier(settings.trees, **shared)
    else:
        forest = RandomForestRegressor(settings.trees, max_features=1 / 3, **shared)
    weight = sample_weights(X, y, None, settings.class_weight)
    centre = 0.0 if task == Task.CLASSES else far_centre(np.asarray(y, dtype=np.float64), weight)
    grown = _grown(forest, settings, X, y - centre if centre else y, weight=weight, bars=bars)
    return CentredRegressor(grown, centre) if centre else grown


def _grown(forest: Any, settings: Forest, X: Any, y: Any, *, weight: Any, bars: Any) -> Any:
    if not bars.shown:
        return forest.fit(X, y, sample_weight=weight)
    forest.set_params(warm_start=True)
    sizes = np.unique(np.linspace(1, settings.trees, _PARTS).round().astype(int))
    for size in bars.over(sizes.tolist(), "Training the forest"):
        forest.set_params(n_estimators=size).fit(X, y, sample_weight=weight)
    return forest.set_params(warm_start=False)


def _split(table: Table, test_size: float, seed: int) -> tuple[list[Any], list[str]]:
    """Rows to learn from and rows to check on, classes in equal shares where they have rows enough."""
    if not 0 < test_size < 1:
        raise CommandError(f"--test-size is {test_size:g}; it is a share of the rows, between 0 and 1.")
    held_out = int(np.ceil(test_size * len(table.y)))
    if not 1 <= held_out < len(table.y):
        raise CommandError(
            f"--test-size {test_size:g} of {len(table.y)} rows leaves none to learn from; choose a smaller share."
        )
    if table.task == Task.NUMBERS:
        return train_test_split(table.X, table.y, test_size=test_size, random_state=seed), []
    classes, sizes = np.unique(table.y, return_counts=True)
    stratify = table.y if sizes.min() > 1 and len(classes) <= min(held_out, len(table.y) - held_out) else None
    notes = [] if stratify is not None else [_rare(classes, sizes)]
    if len(classes) == 1:
        notes.append(f"every row is of class {str(classes[0])!r}: one rule says it all.")
    return train_test_split(table.X, table.y, test_size=test_size, random_state=seed, stratify=stratify), notes


def _rare(classes: Any, sizes: Any) -> str:
    rarest = str(classes[sizes.argmin()])
    return (
        f"held-out rows were drawn without regard to class: class {rarest!r} has too few rows ({sizes.min()}) "
        "to be in both parts."
    )


def breast_cancer() -> Table:
    """The data of the demonstration; they come with scikit-learn."""
    data = load_breast_cancer(as_frame=True)
    return Table("Breast cancer biopsies", data.data, data.target_names[data.target], {})
