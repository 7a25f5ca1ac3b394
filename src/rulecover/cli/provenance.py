"""The command that was typed, for the record."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rulecover.cli.options.option import Argument
from rulecover.cli.options.table import Options

if TYPE_CHECKING:
    from rulecover.report.summary import Summary
    from rulecover.voting.vote import Vote

#: What does not change the rules.
_NOT_SAID = {"out", "quiet", "jobs", "report", "debug", "save", "checkpoint", "folds"}

_TYPED: ContextVar[str] = ContextVar("typed", default="")


def remember(name: str, options: Options, typed: Mapping[str, Any]) -> None:
    """Keeps the command that begins to run."""
    _TYPED.set(typed_command(name, options, typed))


def with_command(vote: Vote) -> Vote:
    """The vote, made by the command that is running."""
    if vote.provenance is None or not _TYPED.get():
        return vote
    return replace(vote, provenance=replace(vote.provenance, made_by=_TYPED.get()))


def by_command(summary: Summary) -> Summary:
    """The summary of rules that the running command has made, with that command; others stay as they are."""
    if summary.provenance is None or not _TYPED.get().startswith("rulecover explain "):
        return summary
    return replace(summary, provenance=replace(summary.provenance, made_by=_TYPED.get()))


def typed_command(name: str, options: Options, typed: Mapping[str, Any]) -> str:
    """The command with its arguments and the options that were given, but for those that do not change the rules."""
    words = ["rulecover", name]
    for option in options:
        value = typed.get(option.name)
        if isinstance(option, Argument):
            words.append(str(value))
        elif option.name not in _NOT_SAID and _word(value) != _word(option.default):
            words += _spelled(option.spelled, value)
    return shlex.join(words)


def _spelled(option: str, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [option]
    values = value if isinstance(value, list) else [value]
    return [word for each in values for word in (option, _word(each))]


def _word(value: Any) -> str:
    if isinstance(value, tuple):  # as in recall=0.8
        return "=".join(map(_word, value))
    return "" if value is None or value is False or value == [] else str(getattr(value, "value", value))
