"""An option of a command as one value: what typer is told, and what is checked, is made from it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from inspect import Parameter, Signature
from typing import Any, Literal

import typer

from rulecover.cli.options.choices import Method
from rulecover.cli.options.parsers import Parser

#: What a word is read as: a type, one of some words, or what a function makes of it.
Kind = type | tuple[str, ...] | Parser

#: What a command does with the file of this name: it is looked at before any work is done.
File = Literal["", "read", "written"]

#: Stands in place of a default: the option must be given.
REQUIRED: Any = ...

_ONE_OF: Any = Literal


@dataclass(frozen=True)
class Argument:
    """A word that a command asks for by its place.

    Parameters
    ----------
    name
        How the command calls it.
    metavar, text
        What stands for it in the help, and what it is.
    kind
        What it is read as.
    file
        What happens to the file that it names.
    """

    name: str
    metavar: str
    text: str
    kind: type = str
    file: File = ""

    @property
    def spelled(self) -> str:
        return self.metavar

    @property
    def parameter(self) -> Parameter:
        """What typer reads."""
        shown = typer.Argument(metavar=self.metavar, help=self.text, show_default=False)
        return Parameter(self.name, Parameter.KEYWORD_ONLY, default=shown, annotation=self.kind)


@dataclass(frozen=True)
class Option:
    """A line of the table.

    Parameters
    ----------
    name
        How the command calls it.
    kind
        What its word is read as; a flag is ``bool``.
    text
        Its help.
    default
        Its value where it is not given.
    group
        The heading under which it is listed in the help.
    shown
        The default in words, where the method decides.
    typed
        How it is typed, where that is not its name with dashes.
    metavar
        What stands for its word in the help, where that is not plain from the kind.
    many
        Whether it may be repeated.
    methods
        The methods for which it counts, if it is a setting of methods; see `checks`.
    setting
        The parameter of the estimator that it sets, where that has another name; "" if it sets none.
    file
        What happens to the file that it names.
    """

    name: str
    kind: Kind
    text: str
    default: Any = None
    _: KW_ONLY
    group: str = ""
    shown: str = ""
    typed: tuple[str, ...] = ()
    metavar: str = ""
    many: bool = False
    methods: tuple[Method, ...] = ()
    setting: str | None = None
    file: File = ""

    @property
    def spelled(self) -> str:
        """The option as it is typed."""
        return self.typed[0] if self.typed else f"--{self.name.replace('_', '-')}"

    @property
    def sets(self) -> str:
        """The parameter of the estimator that it sets."""
        return self.name if self.setting is None else self.setting

    def is_given(self, value: Any) -> bool:
        """Whether this value was asked for."""
        return value is not False and value not in (None, [], ()) and value != self.default

    @property
    def parameter(self) -> Parameter:
        """What typer reads."""
        parser = self.kind if isinstance(self.kind, Parser) else None
        shown = typer.Option(
            self.default,
            *(self.typed or (self.spelled,)),
            help=self.text,
            rich_help_panel=self.group or None,
            show_default=self.shown or self.default not in (None, REQUIRED),
            parser=parser.read if parser else None,
            autocompletion=parser.complete if parser else None,
            metavar=self.metavar or (parser.metavar if parser else None),
        )
        return Parameter(self.name, Parameter.KEYWORD_ONLY, default=shown, annotation=self._annotation)

    @property
    def _annotation(self) -> Any:
        one: Any = Any if isinstance(self.kind, Parser) else self.kind
        one = _ONE_OF[one] if isinstance(one, tuple) else one
        if self.many:
            return list[one] | None
        return one | None if self.default is None and one is not Any else one


def signature(options: Iterable[Argument | Option]) -> Signature:
    """The signature of a command that has these options."""
    return Signature([option.parameter for option in options])
