"""The command itself: quick to help, and what is mistyped is told in one line, too."""

from __future__ import annotations

import sys
from typing import Any

import typer
from typer.core import TyperGroup

from rulecover.cli.errors import in_one_line


class OneLineGroup(TyperGroup):
    """Commands; a mistake in their words ends with one line and exit code 2."""

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
        except OSError as error:  # of help and version; commands tell their own
            typer.echo(f"error: {in_one_line(error)}", err=True)
            code = 1
        except Exception as error:
            if not hasattr(error, "format_message"):  # no mistake in the words of the command
                raise
            code = _told(error)
        sys.exit(code if isinstance(code, int) else 0)

    def _run(self, *args: Any, **settings: Any) -> Any:
        words = list(args[0] if args else settings.get("args") or sys.argv[1:])
        if words and words[0] in self.commands and {"-h", "--help"} & set(words):
            # Options of the group itself would be read first, for which typer imports more than help can wait for.
            return self.commands[words[0]].main(
                args=words[1:], prog_name=f"{self.name} {words[0]}", standalone_mode=False
            )
        return super().main(*args, **settings | {"standalone_mode": False})


def _told(error: Any) -> int:
    """Says what is mistyped; returns the exit code."""
    message = error.format_message().removesuffix(".").replace("Value error, ", "")
    context = getattr(error, "ctx", None)
    if context is None or ("\n" in message and isinstance(context.command, TyperGroup)):  # help, without any words
        error.show()
    else:
        typer.echo(f"error: {' '.join(message.split())}; see {context.command_path} --help.", err=True)
    return int(error.exit_code)
