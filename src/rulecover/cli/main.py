"""The command ``rulecover``: help comes quickly, and errors are reported in one line."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from rulecover import __version__
from rulecover.cli.commands import COMMANDS, Command
from rulecover.cli.errors import in_one_line
from rulecover.cli.options.checks import check
from rulecover.cli.options.option import signature
from rulecover.cli.provenance import remember
from rulecover.cli.tables.reading import with_reading

#: Shows what ``--help`` leaves out.
HELP_ALL = "--help-all"


class GroupedCommand(TyperCommand):
    """A command that lists its options under the headings of their groups, as readable in a file as on a terminal.

    Where some of its options are common, ``--help`` lists these alone, and ``--help-all`` all of them.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Reads the arguments; ``--help-all`` is ``--help`` that hides nothing."""
        before = args[: args.index("--")] if "--" in args else args
        if self._common and HELP_ALL in before:
            ctx.meta[HELP_ALL] = True
            args = ["--help"]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Writes the options in the order of the table, one heading per group."""
        shown = [param for param in self.get_params(ctx) if HELP_ALL in ctx.meta or self._is_common(param)]
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in shown:
            record = param.get_help_record(ctx)
            if record is not None:
                kind = "Arguments" if param.param_type_name == "argument" else "Options"
                heading = getattr(param, "rich_help_panel", None) or kind
                groups.setdefault(heading, []).append(record)
        if self._common:
            others = len(self.get_params(ctx)) - len(shown)
            text = "Show all options and exit." + (f" There are {others} more." if others else "")
            groups.setdefault("Options", []).append((HELP_ALL, text))
        for heading, records in groups.items():
            with formatter.section(heading):
                formatter.write_dl(records)

    @property
    def _common(self) -> tuple[str, ...]:
        return COMMANDS[str(self.name)].common

    def _is_common(self, param: Any) -> bool:
        return not self._common or param.name in {*self._common, "help"}


class OneLineGroup(TyperGroup):
    """Commands; a mistake in the arguments ends with one line and exit code 2."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes the first sentence of the help of each command, folded and never cut."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.help.splitlines()[0]) for name, command in COMMANDS.items()])

    def main(self, *args: Any, **settings: Any) -> Any:
        """Runs the command that the arguments name."""
        if not settings.pop("standalone_mode", True):
            return self._run(*args, **settings)
        try:
            code = self._run(*args, **settings)
            if not code:
                sys.stdout.flush()
        except (typer.Abort, BrokenPipeError):
            code = 1
        except OSError as error:  # of help and version; commands report their own
            typer.echo(f"error: {in_one_line(error)}", err=True)
            code = 1
        except Exception as error:
            if not hasattr(error, "format_message"):  # not a mistake in the arguments
                raise
            code = _report_usage_error(error)
        sys.exit(code if isinstance(code, int) else 0)

    def _run(self, *args: Any, **settings: Any) -> Any:
        words = list(args[0] if args else settings.get("args") or sys.argv[1:])
        if words and words[0] in self.commands and {"-h", "--help", HELP_ALL} & set(words):
            # Options of the group itself would be read first, for which typer imports more than help can wait for.
            return self.commands[words[0]].main(
                args=words[1:], prog_name=f"{self.name} {words[0]}", standalone_mode=False
            )
        return super().main(*args, **settings | {"standalone_mode": False})


def _report_usage_error(error: Any) -> int:
    """Prints what is wrong with the arguments; returns the exit code."""
    message = _message(error)
    context = getattr(error, "ctx", None)
    if context is None and "\n" not in message:  # an option without its value
        typer.echo(f"error: {message}.", err=True)
    elif context is None or ("\n" in message and isinstance(context.command, TyperGroup)):  # help, without arguments
        error.show()
    else:
        text = " ".join(message.split())
        see = f"see {context.command_path} --help."
        typer.echo(f"error: {text} {see.capitalize()}" if text.endswith("?") else f"error: {text}; {see}", err=True)
    return int(error.exit_code)


def _message(error: Any) -> str:
    """What is wrong, and the word that was probably meant, as a part of a sentence."""
    close = getattr(error, "possibilities", None)
    if close:
        return f"there is no option {error.option_name}; did you mean {' or '.join(close[:2])}?"
    message: str = error.format_message().removesuffix(".").replace("Value error, ", "")
    return message


def one_line_errors(command: Callable[..., None]) -> Callable[..., None]:
    """The same command, which ends with one line and exit code 1 on an error unless ``debug`` is set."""

    @functools.wraps(command)
    def guarded(*, debug: bool = False, **typed: Any) -> None:
        try:
            command(**typed)
        except (typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except Exception as error:
            if debug:
                raise
            typer.echo(f"error: {in_one_line(error)}", err=True)
            raise typer.Exit(1) from None

    return guarded


def _callback(name: str, command: Command) -> Callable[..., None]:
    """What typer calls: checks what was typed, imports the file of the command, and runs it."""

    def run(**typed: Any) -> None:
        check(command.options, typed)
        remember(name, command.options, typed)
        getattr(import_module(f"rulecover.cli.commands.{name}"), name)(**with_reading(typed))

    guarded = one_line_errors(run)
    guarded.__name__ = name
    guarded.__signature__ = signature(command.options)  # type: ignore[attr-defined] # which typer reads
    return guarded


app = typer.Typer(
    name="rulecover",
    cls=OneLineGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for name, command in COMMANDS.items():
    app.command(name, cls=GroupedCommand, help=command.help)(_callback(name, command))


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"rulecover {__version__}")
        raise typer.Exit


@app.callback(
    epilog="Start with: rulecover demo, or rulecover example > penguins.csv. Each command has its own --help."
)
def rulecover(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    """A few rules of a tree ensemble that people can read, with a proof of how few they could be."""


def main() -> None:
    """The entry point of the installed command."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a console that lacks a letter shows its code instead of failing
            stream.reconfigure(errors="backslashreplace")
    app()
