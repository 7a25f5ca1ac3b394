"""What a page needs to answer for rows by itself: rules, votes, columns to fill in, and some rows to begin with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator

from rulecover.exceptions import RulecoverError
from rulecover.export.adapters import scored_rules
from rulecover.export.conditions import Condition, Script, conditions_of
from rulecover.export.inputs import UNSEEN, ZERO, Coded, Input, Level
from rulecover.export.model import EXPORTED_FALLBACKS, Classes, Mean, ScoredRules
from rulecover.fallback import comparisons
from rulecover.means import FittedVote, NumericVote
from rulecover.rules import RuleSet
from rulecover.typing import Array, Floats, Ints
from rulecover.view.numbers import short_number
from rulecover.view.text import printable

#: As many values of held-out rows go into a page at most, and as many rows.
_MOST_VALUES = 6000
_MOST_ROWS = 200

#: In place of a text that no rule names.
_OTHER = 0


@dataclass(frozen=True, eq=False)
class Trial:
    """A model as plain data, for a page that answers as `predict` does.

    Parameters
    ----------
    data
        What the page reads, as JSON can hold it.
    """

    data: dict[str, Any] = field(repr=False)

    @property
    def columns(self) -> list[dict[str, Any]]:
        """What can be filled in."""
        columns: list[dict[str, Any]] = self.data["columns"]
        return columns

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Rows to begin with."""
        rows: list[dict[str, Any]] = self.data["rows"]
        return rows

    def json(self) -> str:
        """The data as JSON that is safe inside a ``<script>`` element, whatever names and texts hold."""
        text = json.dumps(self.data, allow_nan=False, separators=(",", ":"))
        return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@dataclass(frozen=True, eq=False)
class AnsweredRows:
    """Held-out rows as the rules see them, and what is known of each.

    Parameters
    ----------
    X
        Rows x features, as the model gives them to its rules.
    truth, said
        What is true of each row, and what the model answers.
    missed
        Which of them no rule covers.
    """

    X: Any
    truth: Array
    said: Array
    missed: Array


def trial_of(model: Any, shown: RuleSet, rows: AnsweredRows, *, missing: bool) -> Trial | None:
    """The model as a page can run it; ``None`` where it needs more than a page has.

    Parameters
    ----------
    model
        A fitted model of rules, or `ScoredRules`.
    shown
        The rules with the names that people know.
    rows
        Rows to offer.
    missing
        Whether the model takes missing values.
    """
    found = _played(model)
    if found is None:
        return None
    scored = replace(found.scored, rules=replace(found.scored.rules, levels=shown.levels))
    script, answer = Script(scored), scored.answer
    columns = [_column(name, mine, scored.rules, rows.X, missing) for name, mine in _columns(scored).items()]
    data = {
        "columns": columns,
        "rules": _rules(scored.rules),
        "votes": script.votes,
        "base": script.base,
        "totals": script.totals,
        "fallback": found.fallback,
        "labels": [printable(name) for name in answer.votes] if isinstance(answer, Classes) else None,
        "nearest": script.nearest,
        "adds": scored.adds_up,
        "rows": _rows(columns, rows),
        **_from_afar(scored, found),
    }
    return Trial(data)


@dataclass(frozen=True, eq=False)
class _Played:
    """The neutral form of a model, who answers for missed rows, and what rules say there, if not what they else say."""

    scored: ScoredRules
    fallback: str
    afar: Floats | None = None


def _played(model: Any) -> _Played | None:
    with suppress(RulecoverError, ValueError):
        scored = scored_rules(model)
        return _Played(scored, scored.fallback)
    if isinstance(getattr(model, "vote_", None), NumericVote):
        return _of_numbers(model.vote_, model._fallback().name)
    if not isinstance(model, BaseEstimator):
        return None
    with suppress(RulecoverError, ValueError):  # a fallback that asks for more than the rules; they answer the rest
        return _Played(scored_rules(copy(model).set_params(fallback="majority")), "model")
    return None


def _of_numbers(vote: NumericVote, fallback: str) -> _Played | None:
    """Means as sums of weighted values over sums of weights; what is added to a default as such a mean of weight 1."""
    seen, rules = vote.evidence, vote.rules
    plain = vote.plain if isinstance(vote, FittedVote) else vote
    says = plain.votes[:, 0]
    means = np.column_stack([says * seen.centre + seen.unit * plain.votes[:, 1], says])
    votes, base, totals = means, np.zeros(2), np.array([seen.of_all[0], 1.0])
    if isinstance(vote, FittedVote):
        votes = np.column_stack([seen.unit * vote.votes[:, 1], np.zeros(len(rules))])
        base = totals = np.array([seen.centre + seen.unit * vote.default, 1.0])
    named = {"mean": "default" if isinstance(vote, FittedVote) else "majority"}.get(fallback, fallback)
    scored = ScoredRules(
        rules,
        votes,
        Mean(),
        totals,
        fallback=named if named in EXPORTED_FALLBACKS else "majority",
        base=base,
        categories={f: tuple(rules.categories[f]) for f in rules.matcher.columns.tolist() if f in rules.categories},
        zero_missing=frozenset(rules.zero_missing),
    )
    return _Played(scored, named if named in EXPORTED_FALLBACKS else "model", means)


def _from_afar(scored: ScoredRules, found: _Played) -> dict[str, Any]:
    """What the rules say of rows that they do not cover, where that differs from what they say of others."""
    afar = None if found.afar is None else found.afar.tolist()
    if found.fallback != "all":
        return {"afar": afar, "paths": None, "votes_each": None}
    script = Script(scored)
    each = script.votes_each
    if found.afar is not None:
        each = (found.afar / np.maximum(comparisons(scored.rules), 1)[:, None]).tolist()
    return {"afar": afar, "paths": [[_clause(c) for c in rule] for rule in script.conditions], "votes_each": each}


# Rules ---------------------------------------------------------------------------------------------------------------


def _rules(rules: RuleSet) -> list[dict[str, Any]]:
    asked = conditions_of(rules.matcher)
    return [
        {
            "clauses": [
                _clause(each) | {"text": printable(str(clause))}
                for each, clause in zip(asked[j], rule.clauses, strict=True)
            ]
        }
        for j, rule in enumerate(rules)
    ]


def _clause(condition: Condition) -> dict[str, Any]:
    """What a clause asks; what it does not ask is left out, as there may be thousands of clauses."""
    return {name: value for name, value in asdict(condition).items() if value is not None and value is not False}


# Columns -------------------------------------------------------------------------------------------------------------


def _columns(scored: ScoredRules) -> dict[str, list[tuple[int, Input]]]:
    """For each column that people know: the features that it gives, and how."""
    columns: dict[str, list[tuple[int, Input]]] = {}
    for f, each in scored.inputs.items():
        columns.setdefault(each.name, []).append((f, each))
    return columns


def _column(name: str, inputs: Sequence[tuple[int, Input]], rules: RuleSet, X: Any, missing: bool) -> dict[str, Any]:
    features, (_, first) = [f for f, _ in inputs], inputs[0]
    common = {"name": printable(name), "features": features}
    if isinstance(first, Level):
        levels = [each.level for _, each in inputs if isinstance(each, Level)]
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
    known = _feature(X, features[0])
    known = known[np.isfinite(known)]
    return common | {
        "kind": "number",
        "zero": ZERO if first.zero_missing else 0,
        "missing": missing,
        "near": _bounds(rules, features[0]),
        "scale": _scale(known),
        "usual": float(np.sort(known)[len(known) // 2]) if len(known) else 0.0,
    }


def _bounds(rules: RuleSet, f: int) -> list[float]:
    """Where answers may change: the bounds of the rules, and the numbers that they name."""
    mine = np.flatnonzero(rules.feature == f)
    named = [code for c in mine if rules.category[c] >= 0 for code in rules.category_sets[rules.category[c]].codes]
    bounds = np.concatenate([rules.lower[mine], rules.upper[mine], named])
    found: list[float] = np.unique(bounds[np.isfinite(bounds)]).tolist()
    return found


def _label(label: Any) -> str:
    return short_number(label) if isinstance(label, float) else str(label)


def _scale(values: Floats) -> float:
    """What a change of a column is measured in: the distance between its quarters, or else its spread."""
    if not len(values):
        return 1.0
    low, high = np.quantile(values, [0.25, 0.75])
    return float(high - low) or float(np.std(values)) or 1.0


def _feature(X: Any, f: int) -> Floats:
    column = X[:, [f]].toarray().ravel() if scipy.sparse.issparse(X) else X[:, f]
    return np.asarray(column, dtype=np.float64)


# Rows ----------------------------------------------------------------------------------------------------------------


def _rows(columns: list[dict[str, Any]], rows: AnsweredRows) -> list[dict[str, Any]]:
    places = _chosen(rows, len(columns))
    values = [_values(column, rows.X, places) for column in columns]
    return [
        {
            "number": int(place),
            "values": [mine[k] for mine in values],
            "truth": _answer(rows.truth[place]),
            "said": _answer(rows.said[place]),
            "missed": bool(rows.missed[place]),
        }
        for k, place in enumerate(places)
    ]


def _answer(answer: Any) -> str:
    return f"{answer:.6g}" if isinstance(answer, (float, np.floating)) else printable(str(answer))


def _chosen(rows: AnsweredRows, n_columns: int) -> Ints:
    """The rows to offer: as many as there is room for; wrong and missed ones first, in the order of the data."""
    room = int(np.clip(_MOST_VALUES // max(n_columns, 1), 10, _MOST_ROWS))
    odd = np.asarray(rows.missed, dtype=bool) | (rows.truth != rows.said)
    return np.sort(np.argsort(~odd, kind="stable")[:room])


def _values(column: dict[str, Any], X: Any, places: Ints) -> list[Any]:
    features = [_feature(X, f)[places] for f in column["features"]]
    if column["kind"] == "levels":
        stacked = np.column_stack(features) > 0.5
        which = np.where(stacked.any(axis=1), stacked.argmax(axis=1), len(column["levels"]))
        return [column["values"][k] for k in which.tolist()]
    numbers = features[0].tolist()
    if column["kind"] == "codes":
        return [None if value != value else value if value in column["values"] else UNSEEN for value in numbers]  # noqa: PLR0124
    return [None if value != value else value for value in numbers]  # noqa: PLR0124  # NaN alone differs from itself
