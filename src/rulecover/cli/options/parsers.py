"""How the values of options are parsed: numbers within bounds, none, and numbers for classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import typer

from rulecover.cli.options.choices import MethodName

#: The word for no limit, no penalty: an option that is not given is ``None`` already.
NONE = "none"

#: What numpy's generators take.
LARGEST_SEED = 2**32 - 1

#: Earlier names of methods in `rulecover fit`.
_OLD_METHODS = {"mirco": MethodName.COVER, "rcboost": MethodName.BOOST}


@dataclass(frozen=True)
class Parser:
    """How the value of an option is parsed, what stands for it in the help, and how the shell may complete it."""

    read: Callable[[Any], Any]
    metavar: str
    complete: Callable[[], list[str]] | None = None


def whole_from(least: int) -> Parser:
    """Reads whole numbers that are large enough."""
    return Parser(lambda text: _whole(text, least, f"a whole number of at least {least}"), "N")


def number_from(least: float, most: float | None = None, metavar: str = "X") -> Parser:
    """Reads finite numbers within bounds."""
    bounds = f"of at least {least:g}" if most is None else f"from {least:g} to {most:g}"
    return Parser(lambda text: _number(text, least, most, f"a number {bounds}"), metavar)


def workers(noun: str) -> Parser:
    """Reads how many threads or processes work."""

    def read(text: Any) -> int:
        number = _whole(text, -1, "a whole number of at least -1")
        if number == 0:
            raise typer.BadParameter(f"0 {noun} do no work; give 1 or more, or -1 for every core.")
        return number

    return Parser(read, "N")


def _seed(text: Any) -> int:
    wanted = f"a whole number from 0 to {LARGEST_SEED}"
    number = _whole(text, 0, wanted)
    if number > LARGEST_SEED:
        raise _bad_value(text, wanted)
    return number


def _whole_or_none(text: Any) -> int | str:
    return NONE if text == NONE else _whole(text, 1, f"a whole number of at least 1, or {NONE}")


def _number_or_none(text: Any) -> float | str:
    return NONE if text == NONE else _number(text, 0.0, None, f"a number of at least 0, or {NONE}")


def _class_demand(text: str) -> int | tuple[str, int]:
    """A whole number for all classes, or for one."""
    name, equals, value = text.rpartition("=")
    number = _whole(value, 1, "a whole number of at least 1, or CLASS=N with one", text)
    return (name, number) if equals else number


def _class_weight(text: str) -> str | tuple[str, float]:
    """The word balanced, or a number for one class."""
    name, equals, value = text.rpartition("=")
    if text == "balanced":
        return text
    return name, _number(value if equals else "", 0.0, None, "balanced, or CLASS=X with a number, such as yes=2", text)


def _threshold(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    wanted = "recall=X, precision=X or cost=X, such as recall=0.8"
    if name not in ("recall", "precision", "cost"):
        raise _bad_value(text, wanted)
    number = _number(value, 0.0, None if name == "cost" else 1.0, wanted, text)
    if not number:
        raise _bad_value(text, f"{wanted}, above 0")
    return name, number


def _method(text: str) -> MethodName:
    """A method by its name; an earlier name raises an error with the new one."""
    if text in _OLD_METHODS:
        raise typer.BadParameter(f"{text!r} is called {_OLD_METHODS[text].value!r} now.")
    if text not in [*MethodName]:
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(repr(each.value) for each in MethodName)}.")
    return MethodName(text)


SEED = Parser(_seed, "N")
WHOLE_OR_NONE = Parser(_whole_or_none, f"N|{NONE}")
NUMBER_OR_NONE = Parser(_number_or_none, f"X|{NONE}")
CLASS_DEMAND = Parser(_class_demand, "N|CLASS=N")
THRESHOLD = Parser(_threshold, "recall|precision|cost=X")
CLASS_WEIGHT = Parser(_class_weight, "balanced|CLASS=X")
METHOD = Parser(_method, f"<{'|'.join(MethodName)}>", lambda: [*MethodName])


def _whole(text: Any, least: int, wanted: str, given: str = "") -> int:
    try:
        number = int(text)
    except ValueError:
        raise _bad_value(given or text, wanted) from None
    if number < least:
        raise _bad_value(given or text, wanted)
    return number


def _number(text: Any, least: float, most: float | None, wanted: str, given: str = "") -> float:
    try:
        number = float(text)
    except ValueError:
        raise _bad_value(given or text, wanted) from None
    if not least <= number <= (most if most is not None else number) or number == float("inf"):
        raise _bad_value(given or text, wanted)
    return number


def _bad_value(text: Any, wanted: str) -> typer.BadParameter:
    return typer.BadParameter(f"{str(text)!r} is not {wanted}.")
