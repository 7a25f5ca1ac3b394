"""``rulecover fit``: from a table to rules, and into a file."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.validation import check_is_fitted

import rulecover
from rulecover.cli.advice import not_ours, warnings_on, warnings_on_rules
from rulecover.cli.cross_validated import cross_validated, folds_of_table
from rulecover.cli.errors import CommandError
from rulecover.cli.options.checks import given_settings
from rulecover.cli.options.choices import MethodName, Preset, TaskName
from rulecover.cli.options.parsers import NONE
from rulecover.cli.options.settings import class_weight, settings_of, spelled, with_preset
from rulecover.cli.options.table import FIT
from rulecover.cli.printing import Bars, Printer, is_stdout
from rulecover.cli.provenance import with_command
from rulecover.cli.tables.encoding import booster_columns, for_forests
from rulecover.cli.tables.labelled import Table, count, labelled_table
from rulecover.cli.tables.reading import Reading
from rulecover.cli.tables.written import noted
from rulecover.cli.threshold import with_threshold
from rulecover.clock import check_in_time, late
from rulecover.data.encoder import TableEncoder, id_columns
from rulecover.estimators.binned import BinnedTrees
from rulecover.estimators.checks import sample_weights
from rulecover.estimators.explain import small_path
from rulecover.estimators.other_target import CentredRegressor, on_table
from rulecover.export.exported import vote_of
from rulecover.export.json_file import to_json
from rulecover.files import whole_file
from rulecover.report.words import score_table
from rulecover.targets.numbers.samples import origin_of
from rulecover.voting.vote import Vote

#: From a trained model, rows and labels to a few rules.
RulesOf = Callable[[Any, Any, Any], Any]

#: The forest is trained in this many parts where a bar is shown, so that the bar can move.
_PARTS = 20


def fit(
    data: Path,
    *,
    target: str | None,
    task: TaskName | None,
    model: Path | None,
    method: MethodName,
    drop: Sequence[str] | None,
    keep_ids: bool,
    max_levels: int,
    reading: Reading,
    seed: int,
    jobs: int,
    folds: int,
    out: Path,
    quiet: bool,
    **typed: Any,
) -> None:
    """Writes rules learnt from all rows of a table to a file, and shows them with cross-validated figures."""
    printer = Printer(quiet=quiet or is_stdout(out))
    columns = for_forests(max_levels) if model is None else booster_columns(model)
    keep_ids = keep_ids or model is not None  # a trained model needs its columns
    table = labelled_table(
        data, target, drop=drop or [], columns=columns, reading=reading, task=task, keep_ids=keep_ids
    )
    training = Training(method, given_settings(FIT, typed), seed=seed, jobs=jobs)
    begin = time.perf_counter()
    fitted = train_on_all(table, training, model, printer)
    left = TimeLeft.of(training.time_limit, begin=begin)
    write_model(fitted, out)
    if not is_stdout(out):
        votes = fitted.votes.tolist() if fitted.has_own_votes else ()
        printer.rules(fitted.rules, votes)
        if not quiet:
            _print_figures(table, training, model, folds=folds, printer=printer, left=left)
        printer.say(f"\n{count(len(fitted.rules), 'rule')} written to {out}.")


@dataclass(frozen=True)
class Training:
    """How rules are trained.

    Parameters
    ----------
    method
        How rules are chosen.
    options
        The settings that were given, by the names of their options.
    seed, jobs
        The seed of all random choices, and the number of threads.
    """

    method: MethodName = MethodName.PATH
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    jobs: int | None = None

    @property
    def trees(self) -> int:
        """The trees of the forest."""
        return int(self.options.get("trees", 100))

    @property
    def depth(self) -> int:
        """The depth of its trees."""
        return int(self.options.get("depth", 10))

    @property
    def trains_forest(self) -> bool:
        """Whether a forest is trained before rules are chosen; others train their trees themselves."""
        return self.method is not MethodName.BOOST and "pool" not in self.options

    @property
    def time_limit(self) -> float | None:
        """The seconds there are for everything once the table is read, if any are given."""
        return self.options.get("time_limit")

    def within(self, seconds: float) -> Training:
        """The same in fewer seconds."""
        return replace(self, options={**self.options, "time_limit": seconds})

    def settings_of(self, kind: type, table: Table) -> dict[str, Any]:
        """The settings that were given for an estimator, and those that every estimator takes."""
        return settings_of(kind, self.options, table) | {"random_state": self.seed, "n_jobs": self.jobs}


class TimeLeft(NamedTuple):
    """When time is up, by `time.perf_counter`, and the seconds that the rules of all rows took."""

    deadline: float | None
    seconds: float

    @classmethod
    def of(cls, time_limit: float | None, *, begin: float) -> TimeLeft:
        """What is left, once rules are there."""
        return cls(late(begin, time_limit or 0.0) if time_limit else None, time.perf_counter() - begin)

    def each_of(self, folds: Iterable[Any], n_folds: int) -> Iterator[Any]:
        """The folds one by one, as long as there is time for those that are left; a TimeoutError if there is not."""
        for done, fold in enumerate(folds):
            check_in_time(late(self.deadline, -self.seconds * (n_folds - done)))
            yield fold


# Rules ----------------------------------------------------------------------------------------------------------------


def train_on_all(table: Table, training: Training, source: Path | None, printer: Printer) -> Vote:
    """Rules learnt from all rows of a table."""
    printer.notes(table.notes)
    with printer.bars() as bars, warnings.catch_warnings(record=True) as caught, naming_options(training):
        warnings.simplefilter("always", UserWarning)
        choose = rule_chooser(training, table)
        if source is None and training.trains_forest:
            source = forest_for(training, table, table.X, table.y, bars=bars)
        with bars.spinning("Boosting" if training.method is MethodName.BOOST else "Choosing rules"):
            model = choose(source, table.X, table.y)
    printer.notes(dict.fromkeys([*not_ours(caught), *size_notes(model)]))
    known = warnings_on(table, weighted="class_weight" in training.options)
    printer.warnings([*known, *warnings_on_rules(model.rules_)])
    return as_saved(model, table)


def as_saved(model: Any, table: Table) -> Vote:
    """What is written to a file: the rules of a fitted model, where they come from, and how cells are read."""
    return noted(with_command(vote_of(model)), table.columns, table.notations, table.missing_values)


def size_notes(model: Any) -> list[str]:
    """Why a path has as many rules as it has, where a size was chosen and no warning has said it."""
    reason: str = getattr(model, "size_reason_", "")
    was_said = not reason or reason.startswith(("no set", "the largest"))
    return [] if was_said else [f"{reason}."]


@contextmanager
def naming_options(training: Training) -> Iterator[None]:
    """Errors about a setting name the option that it came from."""
    try:
        yield
    except (ValueError, TypeError) as error:
        name, _, rest = str(error).partition(" ")
        if not rest.startswith(("is ", "names ")) or name not in {*training.options, "monotone"}:
            raise
        rest = rest.replace("is None;", "is none;")
        for python in (" or give an object", ", 'model'"):  # which are not for the command line
            rest = rest.replace(python, "")
        raise CommandError(f"{spelled(name)} {rest}") from error


def rule_chooser(training: Training, table: Table) -> RulesOf:
    """How the rules of a trained model are chosen; what some options mean depends on the table."""
    asked, limit = training.options.get("threshold"), training.time_limit
    if asked is None:
        return _CHOOSERS[training.method](training, table)
    # Models are trained for a threshold as well, in the other half of the time.
    choose = _CHOOSERS[training.method](training if limit is None else training.within(limit / 2), table)
    if table.task == TaskName.NUMBERS:
        raise CommandError("--threshold is for classes, but the target is predicted as a number; leave it out.")

    def choose_and_tune(model: Any, X: Any, y: Any) -> Any:
        few, said = with_threshold(
            choose(model, X, y),
            X,
            y,
            asked,
            seed=training.seed,
            train_again=not isinstance(model, Path),
            time_limit=None if limit is None else limit / 2,
        )
        warnings.warn(said, UserWarning, stacklevel=2)  # printed as a note
        return few

    return choose_and_tune


def _cover_chooser(training: Training, table: Table) -> RulesOf:
    kind = rulecover.MIRCOClassifier if table.task == TaskName.CLASSES else rulecover.MIRCORegressor
    settings = training.settings_of(kind, table)
    if table.task == TaskName.NUMBERS and "vote" in settings:
        settings = {"ridge": None} | settings  # a weighted mean in place of fitted values
    preset = training.options.get("preset")
    make = with_preset(kind, preset)

    def rules_of(model: Any, X: Any, y: Any) -> Any:
        if is_to_be_trained(model):
            return make(estimator=model, **settings).fit(X, y)
        return rulecover.explain(model, X, y, method="cover", preset=preset, **settings)

    return rules_of


def _boosting_chooser(training: Training, table: Table) -> RulesOf:
    kind = rulecover.RCBoostClassifier if table.task == TaskName.CLASSES else rulecover.RCBoostRegressor
    options = dict(training.options)
    limit = {} if options.get("max_rules", NONE) == NONE else {"max_rules": options["max_rules"]}
    options.pop("max_rules", None)
    preset = options.get("preset", Preset.FEW_RULES if limit else None)
    make = with_preset(kind, preset)
    settings = replace(training, options=options).settings_of(kind, table) | limit
    if "depth" in options or table.encoder is not None:
        tree = kind()._default_estimator()
        settings["estimator"] = table.encoded(tree.set_params(max_depth=options.get("depth", tree.max_depth)))

    def rules_of(model: Any, X: Any, y: Any) -> Any:
        if isinstance(model, Path):
            return rulecover.explain(model, X, y, method="boost", preset=preset, **settings)
        return make(**settings).fit(X, y)

    return rules_of


def _path_chooser(training: Training, table: Table) -> RulesOf:
    kind = rulecover.RulePathClassifier if table.task == TaskName.CLASSES else rulecover.RulePathRegressor
    settings = training.settings_of(kind, table)
    if training.trains_forest:
        settings.pop("n_bins", None)  # of the forest
    elif table.encoder is not None and table.encoder.max_levels != TableEncoder().max_levels:
        raise CommandError(
            "--max-levels and --pool exclude each other: a pool has an encoder of its own; leave one out."
        )
    elif table.encoder is not None and id_columns(table.X):
        raise CommandError("--keep-ids and --pool exclude each other: a pool leaves ids out itself; leave one out.")

    def rules_of(model: Any, X: Any, y: Any) -> Any:
        if isinstance(model, Path):
            return rulecover.explain(model, X, y, **settings)
        few = small_path(settings, y, numbers=table.task == TaskName.NUMBERS)
        return kind(model if is_to_be_trained(model) else FrozenEstimator(model), **few).fit(X, y)

    return rules_of


_CHOOSERS: dict[MethodName, Callable[[Training, Table], RulesOf]] = {
    MethodName.PATH: _path_chooser,
    MethodName.COVER: _cover_chooser,
    MethodName.BOOST: _boosting_chooser,
}


# The forest -----------------------------------------------------------------------------------------------------------


def forest_for(training: Training, table: Table, X: Any, y: Any, *, bars: Bars) -> Any:
    """A forest that is trained on rows of the table; under a time limit one that is trained when rules are chosen.

    A checkpoint is the same with a limit and without.
    """
    if training.time_limit is None or "checkpoint" in training.options:
        return trained_forest(training, table, X, y, bars=bars)
    return table.encoded(_forest(training, table))


def is_to_be_trained(model: Any) -> bool:
    """Whether rules come from a model that is trained when they are chosen."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        return True
    except TypeError:  # a file, or no model at all
        return model is None
    return False


def trained_forest(training: Training, table: Table, X: Any, y: Any, *, bars: Bars) -> Any:
    """A forest on rows of the table; where a bar is shown it grows part by part, tree for tree the same."""
    forest = _forest(training, table)
    weight = sample_weights(X, y, None, class_weight(training.options.get("class_weight"), table))
    encoder = None if table.encoder is None else clone(table.encoder).fit(X)
    rows = X if encoder is None else encoder.transform(X)
    origin = None if table.task == TaskName.CLASSES else origin_of(np.asarray(y, dtype=np.float64), weight)
    grown = _grow(forest, rows, y if origin is None else origin.written(y), weight=weight, bars=bars)
    model = grown if origin is None else CentredRegressor(grown, *origin)
    return model if encoder is None else on_table(encoder, model)


def _forest(training: Training, table: Table) -> Any:
    shared = {"max_depth": training.depth, "random_state": training.seed, "n_jobs": training.jobs}
    if table.task == TaskName.CLASSES:
        forest = RandomForestClassifier(training.trees, **shared)
    else:
        forest = RandomForestRegressor(training.trees, max_features=1 / 3, **shared)
    return BinnedTrees(forest, training.options["n_bins"]) if "n_bins" in training.options else forest


def _grow(forest: Any, X: Any, y: Any, *, weight: Any, bars: Bars) -> Any:
    if not bars.shown or isinstance(forest, BinnedTrees):
        return forest.fit(X, y, sample_weight=weight)
    sizes = np.unique(np.linspace(1, forest.n_estimators, _PARTS).round().astype(int))
    forest.set_params(warm_start=True)
    for size in bars.over(sizes.tolist(), "Training the forest"):
        forest.set_params(n_estimators=size).fit(X, y, sample_weight=weight)
    return forest.set_params(warm_start=False)


# The file -------------------------------------------------------------------------------------------------------------


def write_model(model: Vote, out: Path) -> None:
    """Writes the model as JSON, whole or not at all; - is standard output."""
    if is_stdout(out):
        sys.stdout.write(to_json(model))
        return
    with whole_file(out) as file:
        file.write(to_json(model))


# Figures --------------------------------------------------------------------------------------------------------------


def tree_to_compare(task: TaskName, training: Training, n_rules: int) -> Any:
    """The tree to compare with: as deep as the forest, or with as many leaves as there are rules for numbers."""
    if task == TaskName.CLASSES:
        return DecisionTreeClassifier(max_depth=training.depth, random_state=training.seed)
    return DecisionTreeRegressor(max_leaf_nodes=max(2, n_rules), random_state=training.seed)


def _to_compare(table: Table, training: Training, X: Any, y: Any, n_rules: int) -> dict[str, Any]:
    """A tree, unless it would meet texts, and one answer for all rows."""
    classes = table.task == TaskName.CLASSES
    simple = DummyClassifier(strategy="prior") if classes else DummyRegressor()
    naive = {"most frequent class" if classes else "mean of all rows": simple.fit(np.zeros((len(y), 1)), y)}
    if table.encoder is None and table.texts:  # a booster's own columns of categories
        return naive
    return {"decision tree": table.encoded(tree_to_compare(table.task, training, n_rules)).fit(X, y)} | naive


def _print_figures(
    table: Table, training: Training, source: Path | None, *, folds: int, printer: Printer, left: TimeLeft
) -> None:
    """The figures of rules that are trained in the same way in each fold, next to those of simple models."""
    training = replace(training, options={k: v for k, v in training.options.items() if k != "checkpoint"})
    choose = rule_chooser(training, table)
    own_forest = source is None and training.trains_forest

    def train(X: Any, y: Any) -> dict[str, Any]:
        forest = forest_for(training, table, X, y, bars=Bars(None)) if own_forest else source
        few = choose(forest, X, y)
        trees = {}
        if own_forest:
            trees = {"random forest": few.estimator_}
        elif source is None and training.method is not MethodName.BOOST:
            trees = {"the model they come from": few.estimator_}
        return {"such rules": few} | trees | _to_compare(table, training, X, y, len(few.rules_))

    parts = folds_of_table(table, folds, training.seed)
    try:
        with printer.bars() as bars:
            scores = cross_validated(table, train, left.each_of(bars.over(parts, "Cross-validating"), len(parts)))
    except TimeoutError:
        printer.notes([f"there was no time for figures in {len(parts)} folds; give more (--time-limit)."])
        return
    if scores:
        printer.say(f"\nIn {len(parts)}-fold cross-validation", "bold")
        printer.say(score_table(scores))
        if source is not None:
            printer.say("The trees of the model stayed as they are: only the choice among their rules was made again.")
