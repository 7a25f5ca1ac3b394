"""Warnings of `fit`: what is cheap to find out about the training data and the rules."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.sparse import issparse

from rulecover.data.advice import (
    FEWEST_ROWS,
    Advice,
    balanced_accuracy,
    constants,
    duplicates,
    few_rows,
    given_away,
    guessing,
    ids,
    unbalanced,
)
from rulecover.estimators.prepare import encoder_of
from rulecover.exceptions import AdviceWarning
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.classes.samples import ClassSamples
from rulecover.targets.samples import Samples
from rulecover.typing import Array, Ints
from rulecover.voting.vote import Vote

#: Predictions are looked at for this many training rows.
_ROWS = 2000

#: What it takes to predict these by one more clause, in seconds, roughly; and the seconds, or the share of a time
#: limit, that all clauses may take.
_OF_A_CLAUSE, _SECONDS, _SHARE = 1e-5, 0.2, 0.02

#: Below this score of the rules no single column can give the answer away.
_SUSPICIOUS = 0.97


def warn_of(
    vote: Vote,
    samples: Samples,
    source: Any,
    *,
    weighted: bool = False,
    all_read: bool = True,
    time_limit: float | None = None,
) -> None:
    """Warns of what people should know of the rules and of the data that they were fitted to.

    What was made of the columns of a table in front of the source model comes first.

    Columns are looked at only if a rule uses them; whether one gives the answer away is tried only if the rules are
    nearly always right. How often very many rules are right is not asked where time is limited. Constant columns, which
    no tree uses, are reported where all columns were read.
    """
    found = advice_on(vote, samples, weighted=weighted, all_read=all_read, time_limit=time_limit)
    advice = [each.python for each in found]
    for sentence in (*_notes_on_columns(source), *advice):
        warnings.warn(sentence, AdviceWarning, stacklevel=4)


def _notes_on_columns(source: Any) -> list[str]:
    """What an encoder in front of the model left out, grouped or recognised."""
    encoder = encoder_of(source)
    return [] if encoder is None else encoder.notes_


def advice_on(
    vote: Vote, samples: Samples, *, weighted: bool, all_read: bool, time_limit: float | None
) -> list[Advice]:
    """What `warn_of` says; `weighted` is whether classes have weights."""
    if len(samples.y) < FEWEST_ROWS:
        return []
    classes = isinstance(samples, ClassSamples)
    found = [] if issparse(samples.X) else _on_columns(vote.rules, samples.X, all_read=all_read)
    right, guessed = _scores(vote, samples) if _is_soon_scored(vote.rules, time_limit) else (0.0, None)
    if right >= _SUSPICIOUS and not issparse(samples.X):
        sources = _sources(vote.rules)
        found += given_away(samples.X, samples.labels, sources, classes=classes)
    if classes and not weighted:
        found += unbalanced(samples.labels)
    if guessed is not None:
        found += guessing({"balanced accuracy" if classes else "R²": (right, guessed)}, "better on the training rows")
    return found + ([] if vote.rules.evidence is None else few_rows(vote.rules.evidence.samples))


def _on_columns(rules: RuleSet, X: Any, *, all_read: bool) -> list[Advice]:
    used = rules.clauses.columns.tolist()
    numbers = [f for f in used if f not in rules.columns.categories and f not in rules.columns.parts]
    same = constants(X, rules.feature_names) if all_read else []
    return [*ids(X, rules.feature_names, numbers), *same, *duplicates(X, rules.feature_names, used)]


def _is_soon_scored(rules: RuleSet, time_limit: float | None) -> bool:
    seconds = len(rules.clauses.feature) * _OF_A_CLAUSE
    return time_limit is None or seconds <= max(_SECONDS, _SHARE * time_limit)


def _sources(rules: RuleSet) -> dict[str, list[int]]:
    """The columns that rules use, those of one text column together."""
    sources: dict[str, list[int]] = {}
    used = {rules.columns.levels.get(f, (rules.feature_names[f], ""))[0] for f in rules.clauses.columns.tolist()}
    for f, name in enumerate(rules.feature_names):
        source = rules.columns.levels.get(f, (name, ""))[0]
        if source in used:
            sources.setdefault(source, []).append(f)
    return sources


def _scores(vote: Vote, samples: Samples) -> tuple[float, float | None]:
    """The score of the rules on some training rows, and that of guessing; the latter only where it is meant."""
    rows = _some(len(samples.y))
    tally = vote.added(samples.X[rows])
    seen = ~tally.missed | vote.adds_up
    truth, predicted = samples.labels[rows][seen], vote.decided(tally)[seen]
    if not len(truth):
        return 0.0, None
    if isinstance(samples, ClassSamples):
        n_classes = len(np.unique(truth))
        return balanced_accuracy(truth, predicted), 1.0 / n_classes if n_classes > 1 else None
    largest = float(np.abs(truth).max()) or 1.0  # in units of which squares do not overflow
    truth, predicted = truth / largest, predicted / largest
    spread = float(np.var(truth))
    return (1.0 - _error(truth, predicted) / spread, 0.0) if spread > 0 else (0.0, None)


def _error(truth: Array, predicted: Array) -> float:
    return float(np.mean(np.square(truth - predicted)))


def _some(n: int) -> Ints:
    return np.unique(np.linspace(0, n - 1, min(n, _ROWS)).astype(np.intp))
