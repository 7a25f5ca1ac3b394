"""Values of options that are more than a number or a name."""

from __future__ import annotations

import typer

#: The word for no limit, no penalty: an option that is not given is ``None`` already.
NONE = "none"


def whole_or_none(text: str) -> int | str:
    """A whole number from 1 on, or none."""
    return NONE if text == NONE else _whole(text, f"a whole number from 1 on, or {NONE}")


def number_or_none(text: str) -> float | str:
    """A number, or none."""
    return NONE if text == NONE else _number(text, f"a number, or {NONE}")


def class_demand(text: str) -> int | tuple[str, int]:
    """A whole number for all classes, or for one."""
    name, equals, value = text.rpartition("=")
    number = _whole(value, "a whole number from 1 on, or CLASS=N", text)
    return (name, number) if equals else number


def class_weight(text: str) -> str | tuple[str, float]:
    """The word balanced, or a number for one class."""
    name, equals, value = text.rpartition("=")
    if text == "balanced":
        return text
    if not equals:
        raise typer.BadParameter(f"{text!r} is neither balanced nor CLASS=X, such as yes=2.")
    return name, _number(value, "balanced, or CLASS=X with a number", text)


def _whole(text: str, wanted: str, given: str = "") -> int:
    if not text.strip().isdecimal() or int(text) < 1:
        raise typer.BadParameter(f"{given or text!r} is not {wanted}.")
    return int(text)


def _number(text: str, wanted: str, given: str = "") -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise typer.BadParameter(f"{given or text!r} is not {wanted}, at least 0.")
    return number
