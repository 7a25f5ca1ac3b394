"""An option of a command as one value, from which typer's parameter and the checks are made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from inspect import Parameter, Signature
from typing import Any, Literal

import typer

from rulecover.cli.options.choices import MethodName
from rulecover.cli.options.parsers import Parser

#: What a value is parsed as: a type, one of some words, or what a parser returns.
Kind = type | tuple[str, ...] | Parser

#: What a command does with the file that an option names, which is checked before any work is done.
File = Literal["", "read", "written"]

#: Stands in place of a default: the option must be given.
REQUIRED: Any = ...

_ONE_OF: Any = Literal


@dataclass(frozen=True)
class Argument:
    """A positional argument of a command.

    Parameters
    ----------
    name
        Its name as a parameter of the command.
    metavar, text
        What stands for it in the help, and what it is.
    kind
        What it is parsed as.
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
        Its name as a parameter of the command.
    kind
        What its value is parsed as; a flag is ``bool``.
    text
        Its help.
    default
        Its value where it is not given.
    group
        The heading under which it is listed in the help.
    shown
        The default in words, where it depends on the method.
    typed
        How it is typed, where that is not its name with dashes.
    metavar
        What stands for its value in the help, where that does not follow from the kind.
    many
        Whether it may be repeated.
    methods
        The methods that it applies to, if it is a setting of methods; see `checks`.
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
    methods: tuple[MethodName, ...] = ()
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
        """Whether this value was given."""
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
