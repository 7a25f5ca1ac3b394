"""The one door to jinja2: autoescape is on."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from rulecover.view.numbers import amount
from rulecover.view.text import percent, printable


@cache
def environment() -> Environment:
    """Templates of this package, with everything escaped unless it is marked as safe."""
    made = Environment(
        loader=PackageLoader("rulecover.view", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {"number": amount, "percent": percent, "printable": printable}
    return made
