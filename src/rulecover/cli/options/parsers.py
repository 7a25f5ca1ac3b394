"""What the words of options mean: numbers within bounds, none, and numbers for classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

#: The word for no limit, no penalty: an option that is not given is ``None`` already.
NONE = "none"

#: What numpy's generators take.
LARGEST_SEED = 2**32 - 1


def whole_from(least: int) -> Callable[[Any], int]:
    """Reads whole numbers that are large enough."""
    return lambda text: _whole(text, least, f"a whole number from {least} on")


def seed(text: Any) -> int:
    """A whole number that seeds."""
    wanted = f"a whole number from 0 to {LARGEST_SEED}"
    number = _whole(text, 0, wanted)
    if number > LARGEST_SEED:
        raise _refused(text, wanted)
    return number


def number_from(least: float, most: float | None = None) -> Callable[[Any], float]:
    """Reads finite numbers within bounds."""
    bounds = f"of at least {least:g}" if most is None else f"from {least:g} to {most:g}"
    return lambda text: _number(text, least, most, f"a number {bounds}")


def whole_or_none(text: Any) -> int | str:
    """A whole number from 1 on, or none."""
    return NONE if text == NONE else _whole(text, 1, f"a whole number from 1 on, or {NONE}")


def number_or_none(text: Any) -> float | str:
    """A number, or none."""
    return NONE if text == NONE else _number(text, 0.0, None, f"a number of at least 0, or {NONE}")


def class_demand(text: str) -> int | tuple[str, int]:
    """A whole number for all classes, or for one."""
    name, equals, value = text.rpartition("=")
    number = _whole(value, 1, "a whole number from 1 on, or CLASS=N with one", text)
    return (name, number) if equals else number


def class_weight(text: str) -> str | tuple[str, float]:
    """The word balanced, or a number for one class."""
    name, equals, value = text.rpartition("=")
    if text == "balanced":
        return text
    return name, _number(value if equals else "", 0.0, None, "balanced, or CLASS=X with a number, such as yes=2", text)


def _whole(text: Any, least: int, wanted: str, given: str = "") -> int:
    try:
        number = int(text)
    except ValueError:
        raise _refused(given or text, wanted) from None
    if number < least:
        raise _refused(given or text, wanted)
    return number


def _number(text: Any, least: float, most: float | None, wanted: str, given: str = "") -> float:
    try:
        number = float(text)
    except ValueError:
        raise _refused(given or text, wanted) from None
    if not least <= number <= (most if most is not None else number) or number == float("inf"):
        raise _refused(given or text, wanted)
    return number


def _refused(text: Any, wanted: str) -> typer.BadParameter:
    return typer.BadParameter(f"{str(text)!r} is not {wanted}.")
