"""A saved model for people: its rules in a table, or as sentences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rulecover.cli.options.choices import Format
from rulecover.rules.levels import readable
from rulecover.show.printed import Printed
from rulecover.voting.vote import Vote

#: How rules are written.
WRITTEN: dict[Format, Callable[[Printed], str]] = {
    Format.TEXT: lambda rules: f"{rules}\n",
    Format.MARKDOWN: Printed.to_markdown,
    Format.LATEX: Printed.to_latex,
    Format.SENTENCES: lambda rules: "".join(f"{sentence}\n" for sentence in rules.sentences()),
}


def for_people(model: Vote, to: Format) -> str:
    """The rules in the words of the table that they were trained on; with their votes where these were fitted."""
    rules = readable(model.rules, dict(model.rules.columns.levels))
    return WRITTEN[to](replace(model, rules=rules))
