"""Rules as JSON and back: documented by the schemas next to this file, loaded without running any code."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

import numpy as np

import rulecover
from rulecover.data.categories import CategorySet
from rulecover.data.columns import Columns
from rulecover.data.dates import ISO, DatePart
from rulecover.data.fingerprint import Fingerprint
from rulecover.data.labels import plain_labels
from rulecover.data.provenance import Provenance
from rulecover.data.written_numbers import Notation
from rulecover.exceptions import InvalidModelFileError
from rulecover.export.exported import EXPORTED_FALLBACKS, checked, vote_of
from rulecover.export.json_schema import Check, Json, SchemaMismatch, checker
from rulecover.rules.clauses import Clauses, numbered, offsets
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.classes.evidence import ClassEvidence
from rulecover.targets.numbers.evidence import NumberEvidence
from rulecover.typing import Array, Floats, Ints
from rulecover.voting.answers import AddedClasses, Classes, LogOddsClasses, Mean
from rulecover.voting.vote import Vote

FORMAT, VERSION = "rulecover rules", 2

#: How a file of an older version becomes one of the next: ``UPGRADES[1]`` takes version 1 to version 2, which has
#: votes in log-odds and means the same by everything else.
UPGRADES: dict[int, Callable[[Json], Json]] = {1: lambda written: written | {"version": 2}}

#: The name of each way to make predictions of votes for classes.
_KINDS: dict[str, type[Classes]] = {"classes": Classes, "added classes": AddedClasses, "log-odds": LogOddsClasses}

#: Log-odds up to here can be added up without rounding, and are large enough for any probability.
_LARGEST_LOG_ODDS = 1_000_000

#: The default limit on the size of a file, in bytes or characters.
MAX_SIZE = 100_000_000


@cache
def schema(version: int = VERSION) -> Json:
    """The JSON Schema of a version of the format.

    >>> schema()["title"]
    'Rules that vote, version 2'
    """
    text = files("rulecover.export").joinpath("schemas", f"version-{version}.json").read_text(encoding="utf-8")
    loaded: Json = json.loads(text)
    return loaded


# Writing ----------------------------------------------------------------------------------------------------------


def to_json(model: Any) -> str:
    """A fitted model as JSON text, one rule per line; `from_json` reads it back with bit-identical predictions.

    Parameters
    ----------
    model
        A fitted model of this package, a `RuleSet` with evidence, or a `Vote`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulecover import MIRCOClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> mirco = MIRCOClassifier(random_state=0).fit(X, y)
    >>> bool((from_json(to_json(mirco)).predict(X) == mirco.predict(X)).all())
    True
    """
    exported = vote_of(model)
    rules = exported.rules
    head: Json = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"rulecover {rulecover.__version__}",
        "answer": _written_answer(exported),
        "columns": list(rules.feature_names),
        "levels": [
            {"column": f, "name": name, "level": level} for f, (name, level) in sorted(rules.columns.levels.items())
        ],
        "categories": [
            {"column": f, "labels": plain_labels(rules.columns.categories[f])}
            for f in rules.clauses.columns.tolist()
            if f in rules.columns.categories
        ],
        "zero_missing": sorted(rules.columns.zero_missing),
        "fallback": exported.fallback.name,
        "totals": exported.totals.tolist(),
        "base": exported.base.tolist(),
    }
    if rules.columns.notations:
        head["notations"] = [{"column": f} | asdict(each) for f, each in sorted(rules.columns.notations.items())]
    if rules.columns.parts:
        head["dates"] = [
            {"column": f, "name": part.name, "part": part.part, "written": part.written}
            for f, part in sorted(rules.columns.parts.items())
        ]
    if rules.columns.whole:
        head["whole"] = [{"column": f, "from": a, "to": b} for f, (a, b) in sorted(rules.columns.whole.items())]
    if isinstance(rules.evidence, NumberEvidence):
        head["numbers"] = _written_numbers(rules.evidence)
    if exported.provenance is not None:
        head["provenance"] = _written_provenance(exported.provenance)
    each = _written_rules(exported)
    head["checksum"] = _checksum(head | {"rules": each})
    lines = [f"{_text(key)}: {_text(value)}" for key, value in head.items()]
    lines.append('"rules": [\n' + ",\n".join(map(_text, each)) + "\n]")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _text(value: Any) -> str:
    return json.dumps(value, allow_nan=False)


def _checksum(content: Json) -> str:
    """A digest of the content of a file; order and spaces do not matter."""
    known = {key: value for key, value in content.items() if key != "checksum"}
    canonical = json.dumps(known, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(canonical.encode()).hexdigest()}"


def _written_answer(model: Vote) -> Json:
    if isinstance(model.answer, Mean):
        answer: Json = {"kind": "mean", "centre": float(model.answer.centre), "unit": float(model.answer.unit)}
        return answer | ({"squares": True} if model.answer.squares else {})
    assert isinstance(model.answer, Classes)
    labels = model.answer.labels
    name = {"U": "str", "O": "object"}.get(labels.dtype.kind, labels.dtype.name)
    kind = next(kind for kind, each in _KINDS.items() if each is type(model.answer))
    answer = {"kind": kind, "labels": plain_labels(labels), "type": name}
    seen = model.rules.evidence
    if isinstance(seen, ClassEvidence) and seen.class_weight is not None:
        answer["class_weights"] = seen.class_weight.tolist()
    return answer


def _written_rules(model: Vote) -> list[Json]:
    rules, seen = model.rules, model.rules.evidence
    each = range(len(rules.clauses.feature))
    clauses = _per_rule(
        rules.clauses.offset, [_written_clause(rules.clauses, c) | _written_shown(rules, c) for c in each]
    )
    written = [{"clauses": mine, "votes": votes} for mine, votes in zip(clauses, model.votes.tolist(), strict=True)]
    if rules.paths is not None:
        along = [_written_clause(rules.paths, c) for c in range(len(rules.paths.feature))]
        for rule, mine in zip(written, _per_rule(rules.paths.offset, along), strict=True):
            rule["path"] = mine
    if seen is not None:
        entries = zip(seen.sums.tolist(), seen.impurity.tolist(), seen.cost.tolist(), strict=True)
        for rule, (sums, impurity, cost) in zip(written, entries, strict=True):
            rule["seen"] = {"sums": sums, "impurity": impurity, "cost": cost}
    if isinstance(seen, NumberEvidence) and seen.adds is not None:
        for rule, adds in zip(written, seen.adds.tolist(), strict=True):
            rule["seen"]["adds"] = adds
    if model.fallback_votes is not None:
        for rule, afar in zip(written, model.fallback_votes.tolist(), strict=True):
            rule["afar"] = afar
    return written


def _written_provenance(provenance: Provenance) -> Json:
    written: Json = json.loads(json.dumps(asdict(provenance)))  # tuples as lists
    return {key: value for key, value in written.items() if value is not None}


def _provenance(written: Json | None) -> Provenance | None:
    if written is None:
        return None
    data = written["data"]
    print_of_rows = Fingerprint(data["rows"], tuple(data["columns"]), data["digest"], tuple(data["sample"]))
    known: Json = {"seed": None} | written | {"data": print_of_rows}
    return Provenance(**known)


def _written_numbers(seen: NumberEvidence) -> Json:
    numbers: Json = {"totals": seen.totals.tolist(), "centre": float(seen.centre), "unit": float(seen.unit)}
    return numbers if seen.default is None else numbers | {"default": float(seen.default)}


def _per_rule(offset: Ints, each: list[Json]) -> list[list[Json]]:
    return [each[a:b] for a, b in pairwise(offset)]


def _written_clause(clauses: Clauses, c: int) -> Json:
    written: Json = {"column": int(clauses.feature[c])}
    held = clauses.set_of(c)
    if held is not None:
        written["not_in" if held.others else "in"] = list(held.codes)
    else:
        written |= _written_bounds(float(clauses.lower[c]), float(clauses.upper[c]))
    return written | {"missing": True} if clauses.missing[c] else written


def _written_bounds(lower: float, upper: float) -> Json:
    written: Json = {"only_missing": True} if lower == np.inf else {}
    if np.isfinite(lower):
        written["above"] = lower
    if np.isfinite(upper):
        written["up_to"] = upper
    return written


def _written_shown(rules: RuleSet, c: int) -> Json:
    """The parts of a clause that are printed differently."""
    meant = rules.clauses
    printed = meant if rules.shown is None else rules.shown
    pairs = (
        ("above", printed.lower, meant.lower),
        ("up_to", printed.upper, meant.upper),
        ("missing", printed.missing, meant.missing),
    )
    shown = {key: mine[c].item() for key, mine, other in pairs if mine[c] != other[c]}
    return {"shown": shown} if shown else {}


# Reading ----------------------------------------------------------------------------------------------------------


def from_json(text: str | bytes, *, edited: bool = False, max_size: int | None = MAX_SIZE) -> Vote:
    """The model that `to_json` wrote, or an error that explains what is wrong with the text.

    Every version of the format that was ever written can be read.

    Parameters
    ----------
    text
        What `to_json` gave.
    edited
        Whether to accept a file that does not match its checksum because it was edited by hand; a file without a
        checksum is always accepted.
    max_size
        The largest size to read, in bytes or characters; ``None`` for no limit.
    """
    if max_size is not None and len(text) > max_size:
        raise InvalidModelFileError(
            f"the file is larger than {max_size / 1e6:g} MB, the limit; pass max_size to from_json, or "
            "--max-model-size on the command line, to read it."
        )
    written = _checked(_parsed(text))
    if not edited and "checksum" in written and written["checksum"] != _checksum(written):
        raise InvalidModelFileError(
            "the file does not match its checksum: it is damaged, or was edited by hand. Write it again; or, if the "
            'edit was meant, delete its "checksum", or pass edited=True to from_json, --edited on the command line.'
        )
    for version in range(written["version"], VERSION):
        written = UPGRADES[version](written)
    try:
        return _model(written)
    except (ValueError, OverflowError) as error:
        raise InvalidModelFileError(f"this is not a valid file of rules: {error}") from error


def _parsed(text: str | bytes) -> Any:
    try:
        return json.loads(text, parse_constant=_refused, object_pairs_hook=_distinct)
    except (ValueError, RecursionError) as error:
        raise InvalidModelFileError(
            f"this is not JSON, or only a part of it ({error}); write the file again with to_json."
        ) from error


def _refused(name: str) -> None:
    raise ValueError(f"{name} is not a number in JSON")


def _distinct(pairs: list[tuple[str, Any]]) -> Json:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"a name occurs twice among {[name for name, _ in pairs][:10]}")
    return found


@cache
def _check(version: int) -> Check:
    return checker(schema(version))


def _checked(written: Any) -> Json:
    """The parsed file, if it matches the schema of its version."""
    if not isinstance(written, dict) or written.get("format") != FORMAT:
        raise InvalidModelFileError(f'this is not a file of rules: it does not have "format": "{FORMAT}".')
    version = written.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= VERSION:
        raise InvalidModelFileError(
            f"the file is of version {version!r}, and this rulecover reads versions 1 to {VERSION}; "
            "update rulecover to read a newer one."
        )
    try:
        _check(version)(written)
    except SchemaMismatch as error:
        where = "/".join(map(str, error.path)) or "the file"
        raise InvalidModelFileError(f"this is not a valid file of rules: in {where}, {error}.") from error
    return written


def _model(written: Json) -> Vote:
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


def _answer(written: Json) -> Classes | Mean:
    if written["kind"] == "mean":
        unit = written.get("unit", 1.0)
        if not unit > 0:
            raise ValueError(f"the unit is {unit}; it must be above 0.")
        return Mean(written.get("centre", 0.0), unit, squares="squares" in written)
    labels, name = written["labels"], written["type"]
    array = np.array(labels, dtype=name)
    if list(map(type, array.tolist())) != list(map(type, labels)) or array.tolist() != labels:
        raise ValueError(f"the labels {labels[:10]} are not of type {name}.")
    return _KINDS[written["kind"]](array)


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
    codes = tuple(sorted({float(code) for code in clause[key]}))
    if not np.isfinite(codes).all():
        raise ValueError("a category code must be finite.")
    return CategorySet(codes, others=key == "not_in")


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
        {f: Notation(each["decimal"], each["thousands"], each["unit"]) for f, each in notations.items()},
        {f: (float(each["from"]), float(each["to"])) for f, each in by_column("whole").items()},
    )


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
    if not (np.isfinite(sums).all() and (sums >= 0).all() and (sums.sum(axis=1) > 0).all()):
        raise ValueError("a rule must have seen some samples, and none a negative number of times.")
    return ClassEvidence(
        classes=answer.labels,
        class_weight=_class_weights(written["answer"], len(answer.labels)),
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
    if not (np.isfinite(sums).all() and (sums[:, 0] > 0).all() and totals[0] > 0 and numbers["unit"] > 0):
        raise ValueError("rules must have seen some samples, in a unit above 0.")
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
