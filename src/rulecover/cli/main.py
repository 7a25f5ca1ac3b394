"""The command ``rulecover``: one file a command, and heavy imports only inside the commands."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from rulecover import __version__
from rulecover.cli.commands.demo import demo
from rulecover.cli.commands.explain import explain
from rulecover.cli.commands.export import export
from rulecover.cli.commands.fit import fit
from rulecover.cli.commands.predict import predict
from rulecover.cli.commands.report import report
from rulecover.cli.commands.study import study
from rulecover.cli.commands.why import why
from rulecover.cli.group import OneLineGroup
from rulecover.cli.help import GroupedCommand

app = typer.Typer(
    name="rulecover",
    cls=OneLineGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (demo, explain, fit, predict, why, report, export, study):
    app.command(cls=GroupedCommand)(command)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"rulecover {__version__}")
        raise typer.Exit


@app.callback(epilog="Start with: rulecover demo. Each command has its own --help.")
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
