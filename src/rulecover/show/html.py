"""The only module that imports jinja2: autoescape is on."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from rulecover.show.numbers import format_number
from rulecover.show.text import printable, score


@cache
def environment(package: str | None = None) -> Environment:
    """The templates of a package, or templates given as text; everything is escaped unless it is marked as safe."""
    made = Environment(
        loader=None if package is None else PackageLoader(package, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {"printable": printable, "format_number": format_number, "nobreak": nobreak, "score": score}
    return made


def nobreak(text: str) -> str:
    """The text with its per cent signs kept on the line of their numbers."""
    return text.replace(" %", "\u00a0%")
