"""Rules as JSON and back: documented by the schemas next to this file, loaded without running any code."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

import numpy as np

import rulecover
from rulecover.data.labels import plain_labels
from rulecover.data.provenance import Provenance
from rulecover.data.written_numbers import Notation
from rulecover.exceptions import InvalidModelFileError
from rulecover.export.exported import vote_of
from rulecover.export.json_model import KINDS, model_of
from rulecover.export.json_schema import Check, Json, SchemaMismatch, checker
from rulecover.rules.clauses import Clauses
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.classes.evidence import ClassEvidence
from rulecover.targets.numbers.evidence import NumberEvidence
from rulecover.typing import Ints
from rulecover.voting.answers import Classes, Mean
from rulecover.voting.vote import Vote

FORMAT, VERSION = "rulecover rules", 2

#: How a file of an older version becomes one of the next: ``UPGRADES[1]`` takes version 1 to version 2, which has
#: votes in log-odds and means the same by everything else.
UPGRADES: dict[int, Callable[[Json], Json]] = {1: lambda written: written | {"version": 2}}

#: The default limit on the size of a file, in bytes or characters.
MAX_SIZE = 100_000_000


@cache
def schema(version: int = VERSION) -> Json:
    """The JSON Schema of a version of the format.

    Parameters
    ----------
    version
        Of the format; the newest by default.

    Returns
    -------
    dict
        The schema.

    Raises
    ------
    FileNotFoundError
        If there is no such version.

    Examples
    --------
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

    Returns
    -------
    str
        With a checksum, by which damage is found.

    Raises
    ------
    UnreadableModelError
        If the model is not one of rules.
    ExportError
        If it cannot be written.

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
        **_written_columns(rules),
        "fallback": exported.fallback.name,
        "totals": exported.totals.tolist(),
        "base": exported.base.tolist(),
        **_written_forms(rules),
    }
    if isinstance(rules.evidence, NumberEvidence):
        head["numbers"] = _written_numbers(rules.evidence)
    if exported.provenance is not None:
        head["provenance"] = _written_provenance(exported.provenance)
    each = _written_rules(exported)
    head["checksum"] = _checksum(head | {"rules": each})
    lines = [f"{_text(key)}: {_text(value)}" for key, value in head.items()]
    lines.append('"rules": [\n' + ",\n".join(map(_text, each)) + "\n]")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _written_columns(rules: RuleSet) -> Json:
    """The columns, and what is known of them in every file."""
    columns = rules.columns
    used = [f for f in rules.clauses.columns.tolist() if f in columns.categories]
    return {
        "columns": list(columns.names),
        "levels": [{"column": f, "name": name, "level": level} for f, (name, level) in sorted(columns.levels.items())],
        "categories": [{"column": f, "labels": plain_labels(columns.categories[f])} for f in used],
        "zero_missing": sorted(columns.zero_missing),
    }


def _written_forms(rules: RuleSet) -> Json:
    """How columns are written in the user's table, where there is something to say."""
    columns = rules.columns
    frequent = {f: n for f, n in sorted(columns.frequent.items()) if f in rules.clauses.columns}
    known = {
        "notations": [{"column": f} | _given(each) for f, each in sorted(columns.notations.items())],
        "dates": [
            {"column": f, "name": part.name, "part": part.part, "written": part.written}
            for f, part in sorted(columns.parts.items())
        ],
        "whole": [{"column": f, "from": a, "to": b} for f, (a, b) in sorted(columns.whole.items())],
        "frequent": [{"column": f, "number": n} for f, n in frequent.items()],
        "missing_values": list(columns.missing_values),
    }
    return {name: each for name, each in known.items() if each}


def _given(notation: Notation) -> Json:
    """A notation as JSON, without marks for missing values if it has none."""
    written = asdict(notation)
    return written if written["missing"] else {name: each for name, each in written.items() if name != "missing"}


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
    kind = next(kind for kind, each in KINDS.items() if each is type(model.answer))
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

    Returns
    -------
    Vote
        The rules and how they vote; it predicts without the model that they came from.

    Raises
    ------
    InvalidModelFileError
        If the text is too large, damaged, edited by hand, or not a file of rules.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulecover import MIRCOClassifier
    >>> from rulecover.export import from_json, to_json
    >>> mirco = MIRCOClassifier(random_state=0).fit(*load_iris(return_X_y=True))
    >>> from_json(to_json(mirco)).predict([[5.0, 3.4, 1.5, 0.2]])
    array([0])
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
        return model_of(written)
    except (ValueError, OverflowError) as error:
        raise InvalidModelFileError(f"this is not a valid file of rules: {error}") from error


def _parsed(text: str | bytes) -> Any:
    try:
        return json.loads(
            text, parse_constant=_refused, parse_float=_finite, parse_int=_finite_whole, object_pairs_hook=_distinct
        )
    except InvalidModelFileError:
        raise
    except (ValueError, RecursionError) as error:
        raise InvalidModelFileError(
            f"this is not JSON, or only a part of it ({error}); write the file again with to_json."
        ) from error


def _refused(name: str) -> None:
    raise ValueError(f"{name} is not a number in JSON")


def _finite(written: str) -> float:
    number = float(written)
    if math.isinf(number):
        raise InvalidModelFileError(
            f"this is not a valid file of rules: {written[:20]} is too large for a number; write the file again."
        )
    return number


def _finite_whole(written: str) -> int:
    _finite(written)
    return int(written)


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
