"""From the content of a JSON file to the model that it describes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from rulecover.data.categories import CategorySet
from rulecover.data.columns import Columns
from rulecover.data.dates import ISO, DatePart
from rulecover.data.fingerprint import Fingerprint
from rulecover.data.provenance import Provenance
from rulecover.data.written_numbers import Notation
from rulecover.export.exported import checked
from rulecover.export.json_schema import Json
from rulecover.rules.clauses import Clauses, numbered, offsets
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.classes.evidence import ClassEvidence
from rulecover.targets.numbers.evidence import NumberEvidence
from rulecover.typing import Array, Floats, Ints
from rulecover.voting.answers import AddedClasses, Classes, LogOddsClasses, Mean
from rulecover.voting.fallback import EXPORTED_FALLBACKS
from rulecover.voting.vote import Vote

#: The name of each way to make predictions of votes for classes.
KINDS: dict[str, type[Classes]] = {"classes": Classes, "added classes": AddedClasses, "log-odds": LogOddsClasses}

#: Labels are objects where one is longer, or all would take more letters if each were as long as the longest, as they
#: are in other arrays of texts.
_LONG, _MANY = 1_000, 1_000_000

#: Log-odds up to here can be added up without rounding, and are large enough for any probability.
_LARGEST_LOG_ODDS = 1_000_000

#: So many samples can be added up and squared; they are sums of weights.
_MOST_SAMPLES = 1e100


def model_of(written: Json) -> Vote:
    """The model of a file that matches the schema; a ValueError says what else is wrong with it."""
    answer = _answer(written["answer"])
    votes = np.array([_numbers(rule["votes"], len(answer.votes)) for rule in written["rules"]])
    totals = _numbers(written["totals"], len(answer.votes))
    base = _numbers(written.get("base", [0.0] * len(answer.votes)), len(answer.votes))
    rules = _rules(written, answer, totals)
    afar = _for_each(written["rules"], "afar", lambda votes: _numbers(votes, len(answer.votes)))
    largest = max(np.abs(votes).max(), np.abs(base).max())
    if isinstance(answer, LogOddsClasses) and largest > _LARGEST_LOG_ODDS:
        raise ValueError(
            f"a vote is {largest:g}; log-odds must be between -{_LARGEST_LOG_ODDS} and {_LARGEST_LOG_ODDS}."
        )
    if isinstance(answer, Mean) and answer.squares and rules.evidence is None:
        raise ValueError("rules with squares must have 'numbers'.")
    return checked(
        Vote(
            rules,
            votes,
            answer,
            totals,
            fallback=EXPORTED_FALLBACKS[written["fallback"]],
            base=base,
            fallback_votes=None if afar is None else np.array(afar),
            provenance=_provenance(written.get("provenance")),
        )
    )


def _provenance(written: Json | None) -> Provenance | None:
    if written is None:
        return None
    data = written["data"]
    print_of_rows = Fingerprint(data["rows"], tuple(data["columns"]), data["digest"], tuple(data["sample"]))
    known: Json = {"seed": None} | written | {"data": print_of_rows}
    return Provenance(**known)


def _answer(written: Json) -> Classes | Mean:
    if written["kind"] == "mean":
        return Mean(written.get("centre", 0.0), written.get("unit", 1.0), squares="squares" in written)
    labels = written["labels"]
    name = _label_type(labels, written["type"])
    array = np.array(labels, dtype=name)
    if list(map(type, array.tolist())) != list(map(type, labels)) or array.tolist() != labels:
        raise ValueError(f"the labels {labels[:10]} are not of type {name}.")
    return KINDS[written["kind"]](array)


def _label_type(labels: list[Any], name: str) -> str:
    """The type of the array of labels: of texts only where a long one cannot take the memory."""
    longest = max((len(label) for label in labels if isinstance(label, str)), default=0)
    return "object" if name == "str" and (longest > _LONG or longest * len(labels) > _MANY) else name


def _numbers(values: list[float], length: int) -> Floats:
    if len(values) != length:
        raise ValueError(f"{values[:10]} has {len(values)} numbers where {length} are needed.")
    return np.array(values, dtype=np.float64)


def _rules(written: Json, answer: Classes | Mean, totals: Floats) -> RuleSet:
    each = written["rules"]
    columns = _columns(written)
    clauses = _clauses([rule["clauses"] for rule in each], len(columns))
    shown = _shown(clauses, [clause.get("shown", {}) for rule in each for clause in rule["clauses"]])
    return RuleSet(clauses, columns, _paths(each, len(columns)), shown, _evidence(written, answer, totals))


def _clauses(rules: list[list[Json]], n_columns: int) -> Clauses:
    clauses = [clause for rule in rules for clause in rule]
    lower, upper = _bounds(clauses)
    category, sets = numbered(list(map(_category_set, clauses)))
    return Clauses(
        offset=offsets([len(rule) for rule in rules]),
        feature=_places(clauses, n_columns),
        lower=lower,
        upper=upper,
        missing=np.array(["missing" in clause for clause in clauses], dtype=bool),
        category=category,
        category_sets=sets,
    )


def _shown(meant: Clauses, printed: list[Json]) -> Clauses:
    def either(key: str, bounds: Array) -> Array:
        return np.array([each.get(key, b) for each, b in zip(printed, bounds, strict=True)], dtype=bounds.dtype)

    return replace(
        meant,
        lower=either("above", meant.lower),
        upper=either("up_to", meant.upper),
        missing=either("missing", meant.missing),
    )


def _places(clauses: list[Json], n_columns: int) -> Ints:
    places = [int(clause["column"]) for clause in clauses]
    if any(place >= n_columns for place in places):
        raise ValueError(f"a clause uses column {max(places)}, but there are {n_columns}, numbered from 0.")
    return np.array(places, dtype=np.intp)


def _distinct_places(what: str, entries: list[Json], n_columns: int) -> list[int]:
    """The columns of entries, which must be distinct."""
    places: list[int] = _places(entries, n_columns).tolist()
    twice = [place for place, times in Counter(places).items() if times > 1]
    if twice:
        raise ValueError(f"column {twice[0]} has two entries in {what}; leave one out.")
    return places


def _bounds(clauses: list[Json]) -> tuple[Floats, Floats]:
    only = np.array(["only_missing" in clause for clause in clauses], dtype=bool)
    above = np.array([clause.get("above", -np.inf) for clause in clauses], dtype=np.float64)
    upper = np.array([clause.get("up_to", np.inf) for clause in clauses], dtype=np.float64)
    # A path may go both ways at one threshold and leave nothing but missing values.
    empty = np.flatnonzero(~(above < upper) & np.array(["missing" not in clause for clause in clauses], dtype=bool))
    if empty.size:
        raise ValueError(f"no value is above {above[empty[0]]} and not above {upper[empty[0]]}.")
    return np.where(only, np.inf, above), upper


def _category_set(clause: Json) -> CategorySet | None:
    key = next((key for key in ("in", "not_in") if key in clause), None)
    if key is None:
        return None
    return CategorySet(tuple(sorted({float(code) for code in clause[key]})), others=key == "not_in")


def _columns(written: Json) -> Columns:
    names = tuple(written["columns"])

    def by_column(key: str) -> dict[int, Json]:
        each = written.get(key, [])
        return dict(zip(_distinct_places(key, each, len(names)), each, strict=True))

    levels, categories, dates = by_column("levels"), by_column("categories"), by_column("dates")
    for f in levels.keys() & categories.keys():
        raise ValueError(f"column {f} has entries in levels and in categories; leave one out.")
    notations = by_column("notations")
    zeros = [{"column": f} for f in written.get("zero_missing", [])]
    return Columns(
        names,
        {f: tuple(each["labels"]) for f, each in categories.items()},
        {f: (each["name"], each["level"]) for f, each in levels.items()},
        tuple(_distinct_places("zero_missing", zeros, len(names))),
        {f: DatePart(each["name"], each["part"], each.get("written", ISO)) for f, each in dates.items()},
        {f: _notation(each) for f, each in notations.items()},
        {f: (float(each["from"]), float(each["to"])) for f, each in by_column("whole").items()},
        {f: int(each["number"]) for f, each in by_column("frequent").items()},
        tuple(written.get("missing_values", [])),
    )


def _notation(written: Json) -> Notation:
    return Notation(written["decimal"], written["thousands"], written["unit"], tuple(written.get("missing", [])))


def _paths(rules: list[Json], n_columns: int) -> Clauses | None:
    along = _for_each(rules, "path", list)
    return None if along is None else _clauses(along, n_columns)


def _for_each(rules: list[Json], key: str, read: Callable[[Any], Any]) -> list[Any] | None:
    """Something of every rule, or of none."""
    if not any(key in rule for rule in rules):
        return None
    if not all(key in rule for rule in rules):
        raise ValueError(f"some rules have {key!r} and others have none.")
    return [read(rule[key]) for rule in rules]


def _class_weights(answer: Json, n_classes: int) -> Floats | None:
    return _numbers(answer["class_weights"], n_classes) if "class_weights" in answer else None


def _evidence(written: Json, answer: Classes | Mean, totals: Floats) -> ClassEvidence | NumberEvidence | None:
    rules = written["rules"]
    if not isinstance(answer, Classes):
        return _numeric_evidence(rules, written["numbers"]) if "numbers" in written else None
    if not all("seen" in rule for rule in rules):
        raise ValueError("rules that vote for classes must have 'seen'.")
    seen = [rule["seen"] for rule in rules]
    sums = np.array([_numbers(entry["sums"], len(answer.labels)) for entry in seen])
    weight = _class_weights(written["answer"], len(answer.labels))
    with np.errstate(over="ignore"):
        most = (np.vstack([sums, totals]) / (1.0 if weight is None else weight)).max()
    if most > _MOST_SAMPLES:
        raise ValueError(f"there are {most:g} samples of a class; there must be no more than {_MOST_SAMPLES:g}.")
    if not ((sums >= 0).all() and (sums.sum(axis=1) > 0).all()):
        raise ValueError("a rule must have seen some samples, and none a negative number of times.")
    return ClassEvidence(
        classes=answer.labels,
        class_weight=weight,
        sums=sums,
        impurity=np.array([entry["impurity"] for entry in seen], dtype=np.float64),
        cost=np.array([entry["cost"] for entry in seen], dtype=np.float64),
        totals=totals,
    )


def _numeric_evidence(rules: list[Json], numbers: Json) -> NumberEvidence:
    seen = _for_each(rules, "seen", dict)
    if seen is None:
        raise ValueError("rules that vote on a number must have 'seen'.")
    totals = _numbers(numbers["totals"], 3)
    sums = np.array([_numbers(entry["sums"], 3) for entry in seen])
    if not ((sums[:, 0] > 0).all() and totals[0] > 0):
        raise ValueError("rules must have seen some samples.")
    adds = _for_each(seen, "adds", float)
    return NumberEvidence(
        sums=sums,
        impurity=np.array([entry["impurity"] for entry in seen], dtype=np.float64),
        cost=np.array([entry["cost"] for entry in seen], dtype=np.float64),
        totals=totals,
        centre=float(numbers["centre"]),
        unit=float(numbers["unit"]),
        adds=None if adds is None else np.array(adds),
        default=numbers.get("default"),
    )
