"""Figures of rules in cross-validation: everything is trained again in each fold, and checked on the rows left out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rulecover.cli.options.choices import TaskName
from rulecover.cli.tables.labelled import Table
from rulecover.estimators.held_out import folds_of
from rulecover.report.figures import ClassFigures, NumberFigures
from rulecover.report.summary import Score
from rulecover.typing import Array, Floats, Ints

#: From rows and labels to trained models by name.
Train = Callable[[Any, Array], dict[str, Any]]


def folds_of_table(table: Table, n_folds: int, seed: int) -> list[tuple[Ints, Ints]]:
    """Rows to learn from and rows to check on; none where there are too few rows."""
    if n_folds < 2:
        return []
    classes = table.task == TaskName.CLASSES
    return folds_of(n_folds, table.X, np.asarray(table.y), classes=classes, random_state=seed)


def cross_validated(table: Table, train: Train, folds: Iterable[tuple[Ints, Ints]]) -> list[Score]:
    """The figures of each model by predictions for every row, each made by a model that was not trained on it."""
    y = np.asarray(table.y)
    X = table.rows_for_parts
    classes = np.unique(y) if table.task == TaskName.CLASSES else np.zeros(0)
    found: dict[str, _CrossPredicted] = {}
    for learn, check in folds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # said once, of the rules of all rows
            models = train(X.iloc[learn], y[learn])
        for name, model in models.items():
            found.setdefault(name, _CrossPredicted(y, classes)).take(model, X.iloc[check], check)
    return [predicted.score(name) for name, predicted in found.items()]


@dataclass(eq=False)
class _CrossPredicted:
    """What the models of one kind predict for the rows that each has not seen."""

    truth: Array
    classes: Array
    values: Array = field(init=False)
    shares: Floats | None = field(init=False)
    rules: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.values = np.empty_like(self.truth, dtype=self.truth.dtype if len(self.classes) else np.float64)
        self.shares = np.zeros((len(self.truth), len(self.classes))) if len(self.classes) else None

    def take(self, model: Any, X: Any, rows: Ints) -> None:
        self.values[rows] = np.asarray(model.predict(X)).ravel()
        if self.shares is not None and hasattr(model, "predict_proba"):
            places = np.searchsorted(self.classes, model.classes_)
            self.shares[np.ix_(rows, places)] = model.predict_proba(X)
        self.rules += [model.rules_] if hasattr(model, "rules_") else []

    def score(self, name: str) -> Score:
        figures = self._figures()
        return Score(name, figures[0].value, _mean_size(self.rules), figures)

    def _figures(self) -> Any:
        if self.shares is None:
            return NumberFigures(np.asarray(self.truth, dtype=np.float64)).of(self.values)
        counts = np.array([(self.truth == label).sum() for label in self.classes], dtype=np.float64)
        return ClassFigures(self.truth, self.classes, counts).of(self.values, self.shares)


def _mean_size(rules: Sequence[Any]) -> str:
    """The mean number of rules, and of their clauses, over the folds."""
    if not rules:
        return ""
    number, clauses = sum(map(len, rules)), sum(int(each.lengths.sum()) for each in rules)
    return f"{number / len(rules):.1f} rules, {clauses / max(1, number):.1f} clauses each on average"
