"""What a page needs to predict for rows by itself: rules, votes, columns to fill in, and some rows to start with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier

from rulecover.data.columns import Levels, values_of
from rulecover.data.frames import MISSING, UNSEEN, ZERO
from rulecover.data.inputs import Coded, Input, Level
from rulecover.exceptions import RulecoverError
from rulecover.export.conditions import Condition, Script, conditions_of
from rulecover.export.exported import vote_of
from rulecover.rules.ruleset import RuleSet
from rulecover.show.numbers import short_number
from rulecover.show.text import printable
from rulecover.typing import Array, Floats, Ints
from rulecover.voting.answers import LARGEST_LOG_ODDS, Classes
from rulecover.voting.fallback import in_words
from rulecover.voting.vote import Vote

#: The most values of held-out rows that go into a page, and the most rows.
_MOST_VALUES = 6000
_MOST_ROWS = 200

#: In place of a text that no rule names.
_OTHER = 0


@dataclass(frozen=True, eq=False)
class Trial:
    """A model as plain data, for a page that predicts as `predict` does.

    Parameters
    ----------
    data
        What the page reads, as JSON can hold it.
    """

    data: dict[str, Any] = field(repr=False)

    @property
    def columns(self) -> list[dict[str, Any]]:
        """The columns that can be filled in."""
        columns: list[dict[str, Any]] = self.data["columns"]
        return columns

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Rows to start with."""
        rows: list[dict[str, Any]] = self.data["rows"]
        return rows

    def json(self) -> str:
        """The data as JSON that is safe inside a ``<script>`` element, whatever names and texts hold."""
        text = json.dumps(self.data, allow_nan=False, separators=(",", ":"))
        return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@dataclass(frozen=True, eq=False)
class PredictedRows:
    """Held-out rows as the rules see them, with truth and prediction.

    Parameters
    ----------
    X
        Rows x features, as the model gives them to its rules.
    truth, predicted
        The truth and the model's prediction for each row.
    missed
        Which of them no rule covers.
    """

    X: Any
    truth: Array
    predicted: Array
    missed: Array


def trial_of(model: Any, shown: RuleSet, rows: PredictedRows, *, missing: bool) -> Trial | None:
    """The model as a page can run it; ``None`` where it needs more than a page has.

    Parameters
    ----------
    model
        A fitted model of rules, or `Vote`.
    shown
        The rules with the names of the user's columns.
    rows
        Rows to offer.
    missing
        Whether the model takes missing values.
    """
    found = _exported_vote(model) if len(shown) else None
    if found is None:
        return None
    scored, has_fallback = found
    scored = _with_levels(scored, shown.columns.levels)
    script, answer = Script(scored), scored.answer
    columns = [_column(name, mine, scored.rules, rows.X, missing) for name, mine in _columns(scored).items()]
    centre, unit = script.scale or (0.0, 1.0)
    data = {
        "columns": columns,
        "rules": _rules(scored.rules),
        "votes": script.votes,
        "base": script.base,
        "totals": script.totals,
        "fallback": fallback_name(model),
        "fallback_in_words": in_words(fallback_name(model)),
        "has_fallback": has_fallback,
        "labels": [printable(name) for name in answer.votes] if isinstance(answer, Classes) else None,
        "centre": centre,
        "unit": unit,
        "nearest": script.nearest,
        "log_odds": script.log_odds,
        "largest_log_odds": LARGEST_LOG_ODDS,
        "fallback_adds_to_base": script.fallback_adds_to_base,
        "adds": scored.adds_up,
        "fallback_votes": None if scored.fallback_votes is None else script.fallback_votes,
        "constant": script.constant,
        "closest": script.answered_by == "closest",
        "paths": _paths(script),
        "votes_each": script.votes_each if script.answered_by == "all" else None,
        "rows": _rows(columns, rows),
    }
    return Trial(data)


def fallback_name(model: Any) -> str:
    """What predicts for missed rows, by name."""
    fallback = getattr(model, "fallback", "default")
    return str(getattr(fallback, "name", fallback))


def _exported_vote(model: Any) -> tuple[Vote, bool] | None:
    """The neutral form of a model, and whether it has the model's fallback."""
    with suppress(RulecoverError, ValueError):
        return vote_of(model), True
    if not isinstance(model, BaseEstimator):
        return None
    # A fallback that needs more than the rules, which predict for all other rows.
    plain = "majority" if is_classifier(model) else "mean"
    with suppress(RulecoverError, ValueError):
        return vote_of(copy(model).set_params(fallback=plain)), False
    return None


# Rules ---------------------------------------------------------------------------------------------------------------


def _rules(rules: RuleSet) -> list[dict[str, Any]]:
    asked = conditions_of(rules.clauses)
    return [
        {
            "clauses": [
                _clause(each) | {"text": printable(str(clause))}
                for each, clause in zip(asked[j], rule.clauses, strict=True)
            ]
        }
        for j, rule in enumerate(rules)
    ]


def _paths(script: Script) -> list[list[dict[str, Any]]] | None:
    """What is counted for missed rows, where it is not the clauses of the rules."""
    if script.by_rules is None or not script.by_rules.along_paths:
        return None
    return [[_clause(each) for each in rule] for rule in script.conditions]


def _clause(condition: Condition) -> dict[str, Any]:
    """A clause as plain data; what it does not need is left out, as there may be thousands of clauses."""
    return {name: value for name, value in asdict(condition).items() if value is not None and value is not False}


# Columns -------------------------------------------------------------------------------------------------------------


def _columns(scored: Vote) -> dict[str, list[tuple[int, Input]]]:
    """For each column of the user's table: the features made from it, and how."""
    columns: dict[str, list[tuple[int, Input]]] = {}
    for f, each in scored.inputs.items():
        columns.setdefault(each.name, []).append((f, each))
    return columns


def _column(name: str, inputs: Sequence[tuple[int, Input]], rules: RuleSet, X: Any, missing: bool) -> dict[str, Any]:
    features, (_, first) = [f for f, _ in inputs], inputs[0]
    missing = missing and _may_be_missing(rules, features[0], X)
    common: dict[str, Any] = {"name": printable(name), "features": features}
    if isinstance(first, Level):
        level_of = {f: each.level for f, each in inputs if isinstance(each, Level)}
        level_of |= _other_levels(rules, name, features)
        common["features"], levels = list(level_of), list(level_of.values())
        values = [*levels, _OTHER]
        names = ["missing" if level is None else printable(level) for level in levels]
        return common | {
            "kind": "levels",
            "levels": levels,
            "values": values,
            "names": [*names, "another"],
            "usual": values[0],
        }
    if isinstance(first, Coded):
        labels = [printable(_label(label)) for label, _ in first.codes]
        codes = [code for _, code in first.codes]
        choice = {
            "values": [*codes, UNSEEN, *[None] * missing],
            "names": [*labels, "another", *["missing"] * missing],
            "usual": codes[0] if codes else UNSEEN,
        }
        return common | choice | {"kind": "codes"}
    known = values_of(X, features[0])
    known = known[np.isfinite(known)]
    date = rules.columns.dated.get(features[0])
    return common | {
        "name": printable(name if date is None else date),
        "date": date is not None,
        "kind": "number",
        "zero": ZERO if first.zero_missing else 0,
        "missing": missing,
        "near": _bounds(rules, features[0]),
        "scale": _scale(known),
        "whole": features[0] in rules.columns.whole,
        "usual": float(np.sort(known)[len(known) // 2]) if len(known) else 0.0,
    }


def _may_be_missing(rules: RuleSet, f: int, X: Any) -> bool:
    """Whether a value of the column was missing in training, according to the shown rules, or is in a row."""
    shown = rules.clauses if rules.shown is None else rules.shown
    shown_missing = bool(shown.missing[shown.feature == f].any())
    return f in rules.columns.zero_missing or shown_missing or bool(np.isnan(values_of(X, f)).any())


def _other_levels(rules: RuleSet, name: str, used: Sequence[int]) -> dict[int, str | None]:
    """The levels of a text column that no rule uses: a row with one of them does not have an unknown level."""
    known = sorted(rules.columns.levels.items())
    levels = {f: level for f, (column, level) in known if column == name and f not in used}
    return {f: None if level == MISSING else level for f, level in levels.items()}


def _with_levels(scored: Vote, levels: Levels) -> Vote:
    columns = replace(scored.rules.columns, levels=levels)
    return replace(scored, rules=replace(scored.rules, columns=columns))


def _bounds(rules: RuleSet, f: int) -> list[float]:
    """Where predictions may change: the bounds of the rules, and the numbers that they name."""
    clauses = rules.clauses
    mine = np.flatnonzero(clauses.feature == f)
    sets = [held for held in map(clauses.set_of, mine.tolist()) if held is not None]
    named = [code for held in sets for code in held.codes]
    bounds = np.concatenate([clauses.lower[mine], clauses.upper[mine], named])
    found: list[float] = np.unique(bounds[np.isfinite(bounds)]).tolist()
    return found


def _label(label: Any) -> str:
    return short_number(label) if isinstance(label, float) else str(label)


def _scale(values: Floats) -> float:
    """The unit of changes of a column: its interquartile range, or else its standard deviation."""
    if not len(values):
        return 1.0
    low, high = np.quantile(values, [0.25, 0.75])
    return float(high - low) or float(np.std(values)) or 1.0


# Rows ----------------------------------------------------------------------------------------------------------------


def _rows(columns: list[dict[str, Any]], rows: PredictedRows) -> list[dict[str, Any]]:
    places = _chosen(rows, len(columns))
    values = [_values(column, rows.X, places) for column in columns]
    return [
        {
            "number": int(place),
            "values": [mine[k] for mine in values],
            "truth": _answer(rows.truth[place]),
            "predicted": _answer(rows.predicted[place]),
            "missed": bool(rows.missed[place]),
        }
        for k, place in enumerate(places)
    ]


def _answer(answer: Any) -> str:
    return f"{answer:.6g}" if isinstance(answer, (float, np.floating)) else printable(str(answer))


def _chosen(rows: PredictedRows, n_columns: int) -> Ints:
    """The rows to offer: as many as there is room for; wrong and missed ones first, in the order of the data."""
    room = int(np.clip(_MOST_VALUES // max(n_columns, 1), 10, _MOST_ROWS))
    odd = np.asarray(rows.missed, dtype=bool) | (rows.truth != rows.predicted)
    return np.sort(np.argsort(~odd, kind="stable")[:room])


def _values(column: dict[str, Any], X: Any, places: Ints) -> list[Any]:
    features = [values_of(X, f)[places] for f in column["features"]]
    if column["kind"] == "levels":
        stacked = np.column_stack(features) > 0.5
        which = np.where(stacked.any(axis=1), stacked.argmax(axis=1), len(column["levels"]))
        return [column["values"][k] for k in which.tolist()]
    numbers = features[0].tolist()
    if column["kind"] == "codes":
        return [None if value != value else value if value in column["values"] else UNSEEN for value in numbers]  # noqa: PLR0124
    return [None if value != value else value for value in numbers]  # noqa: PLR0124  # NaN alone differs from itself
