"""Checks of parsed JSON, compiled from a JSON Schema: the keywords that our schemas use, and no others.

A schema is compiled once into plain functions, which take a tenth of the time of a validator that interprets it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]
Check: TypeAlias = Callable[[Any], None]

#: Keywords that explain a schema and check nothing.
_WORDS = {"$schema", "$defs", "title", "description", "then", "else"}

_TYPES: dict[str, tuple[type, ...]] = {
    "array": (list,),
    "boolean": (bool,),
    "number": (int, float),
    "object": (dict,),
    "string": (str,),
}


class SchemaMismatch(ValueError):
    """A value that a schema does not allow, and where it stands: keys and places from the outermost on."""

    def __init__(self, message: str, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(message)
        self.path = path

    def within(self, step: str | int) -> SchemaMismatch:
        """The same, seen from the container."""
        return SchemaMismatch(str(self), (step, *self.path))


def checker(schema: Json) -> Check:
    """A function that raises `SchemaMismatch` for what the schema does not allow.

    >>> check = checker({"type": "array", "items": {"type": "number"}, "minItems": 1})
    >>> check([1, 2.5])
    >>> check([1, "a"])
    Traceback (most recent call last):
    rulecover.export.json_schema.SchemaMismatch: "a" is not of type number
    """

    @cache
    def defined(pointer: str) -> Check:
        return compiled(schema["$defs"][pointer.removeprefix("#/$defs/")])

    def compiled(part: Json | bool) -> Check:
        if isinstance(part, bool):
            return _allowed if part else _forbidden
        unknown = part.keys() - _WORDS - _KEYWORDS.keys() - {"$ref"}
        if unknown:
            raise NotImplementedError(f"the schema has keywords that are not checked here: {sorted(unknown)}.")
        checks = [defined(part["$ref"])] if "$ref" in part else []
        checks += [_KEYWORDS[word](part, compiled) for word in part if word in _KEYWORDS]
        return checks[0] if len(checks) == 1 else _all_of(checks)

    return compiled(schema)


def _allowed(value: Any) -> None:
    """Anything goes."""


def _forbidden(value: Any) -> None:
    raise SchemaMismatch("this is not allowed here")


def _all_of(checks: list[Check]) -> Check:
    def check(value: Any) -> None:
        for each in checks:
            each(value)

    return check


def _shown(value: Any) -> str:
    import json

    try:
        text = json.dumps(value)
    except RecursionError:  # it is nested as deeply as can be read
        return "…"
    return text if len(text) <= 100 else f"{text[:99]}…"


# Keywords: each makes a check of its part of a schema ---------------------------------------------------------------

Compile: TypeAlias = Callable[[Any], Check]


def _type(part: Json, compiled: Compile) -> Check:
    names = [part["type"]] if isinstance(part["type"], str) else part["type"]
    if names == ["integer"]:
        return _integer
    known = frozenset(kind for name in names for kind in _TYPES[name])

    def check(value: Any) -> None:
        if type(value) not in known:
            raise SchemaMismatch(f"{_shown(value)} is not of type {' or '.join(names)}")

    return check


def _integer(value: Any) -> None:
    if type(value) is not int and not (type(value) is float and value.is_integer()):
        raise SchemaMismatch(f"{_shown(value)} is not of type integer")


def _enum(part: Json, compiled: Compile) -> Check:
    known = part["enum"] if "enum" in part else [part["const"]]

    def check(value: Any) -> None:
        if not any(value == each and (type(value) is bool) == (type(each) is bool) for each in known):
            raise SchemaMismatch(f"{_shown(value)} is not {' or '.join(map(_shown, known))}")

    return check


def _minimum(part: Json, compiled: Compile) -> Check:
    least = part["minimum"]

    def check(value: Any) -> None:
        if type(value) in (int, float) and value < least:
            raise SchemaMismatch(f"{_shown(value)} is less than the minimum of {least}")

    return check


def _exclusive_minimum(part: Json, compiled: Compile) -> Check:
    bound = part["exclusiveMinimum"]

    def check(value: Any) -> None:
        if type(value) in (int, float) and value <= bound:
            raise SchemaMismatch(f"{_shown(value)} is not above {bound}")

    return check


def _min_items(part: Json, compiled: Compile) -> Check:
    least = part["minItems"]

    def check(value: Any) -> None:
        if type(value) is list and len(value) < least:
            raise SchemaMismatch(f"{_shown(value)} has fewer than {least} entries")

    return check


def _unique_items(part: Json, compiled: Compile) -> Check:
    """Numbers, texts and truth values alone: no schema of ours asks it of others."""

    def check(value: Any) -> None:
        if type(value) is not list:
            return
        plain = [(type(each) is bool, each) for each in value if type(each) not in (list, dict)]
        if len(set(plain)) < len(plain):
            raise SchemaMismatch(f"{_shown(value)} has an entry twice")

    return check


def _items(part: Json, compiled: Compile) -> Check:
    inner = compiled(part["items"])
    only_numbers = part["items"] == {"type": "number"}

    def check(value: Any) -> None:
        if type(value) is not list or (only_numbers and set(map(type, value)) <= {int, float}):
            return
        place = 0
        try:
            for place, each in enumerate(value):  # noqa: B007 - the place of the mistake
                inner(each)
        except SchemaMismatch as error:
            raise error.within(place) from None

    return check


def _properties(part: Json, compiled: Compile) -> Check:
    known = {name: compiled(inner) for name, inner in part["properties"].items()}

    def check(value: Any) -> None:
        if type(value) is not dict:
            return
        name = ""
        try:
            for name, each in value.items():
                if name in known:
                    known[name](each)
        except SchemaMismatch as error:
            raise error.within(name) from None

    return check


def _additional_properties(part: Json, compiled: Compile) -> Check:
    if part["additionalProperties"] is not False:
        raise NotImplementedError("additionalProperties other than false are not checked here.")
    known = frozenset(part["properties"])

    def check(value: Any) -> None:
        if type(value) is dict and not value.keys() <= known:
            raise SchemaMismatch(f"{_shown(min(value.keys() - known))} is not known here")

    return check


def _required(part: Json, compiled: Compile) -> Check:
    needed = frozenset(part["required"])

    def check(value: Any) -> None:
        if type(value) is dict and not needed <= value.keys():
            raise SchemaMismatch(f"{_shown(min(needed - value.keys()))} is missing")

    return check


def _if(part: Json, compiled: Compile) -> Check:
    condition, then, otherwise = (compiled(part.get(word, True)) for word in ("if", "then", "else"))

    def check(value: Any) -> None:
        try:
            condition(value)
        except SchemaMismatch:
            otherwise(value)
        else:
            then(value)

    return check


def _dependent_schemas(part: Json, compiled: Compile) -> Check:
    dependent = {name: compiled(inner) for name, inner in part["dependentSchemas"].items()}

    def check(value: Any) -> None:
        if type(value) is dict:
            for name in dependent.keys() & value.keys():
                dependent[name](value)

    return check


_KEYWORDS: dict[str, Callable[[Json, Compile], Check]] = {
    "additionalProperties": _additional_properties,
    "const": _enum,
    "dependentSchemas": _dependent_schemas,
    "enum": _enum,
    "exclusiveMinimum": _exclusive_minimum,
    "if": _if,
    "items": _items,
    "minItems": _min_items,
    "minimum": _minimum,
    "properties": _properties,
    "required": _required,
    "type": _type,
    "uniqueItems": _unique_items,
}
