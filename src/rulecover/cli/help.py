"""Plain help with its options in groups: light to import, and as readable in a file as on a terminal."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand


class GroupedCommand(TyperCommand):
    """A command that lists its options under the headings of their ``rich_help_panel``."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Writes the options, a heading a group, in the order of the signature."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                kind = "Arguments" if param.param_type_name == "argument" else "Options"
                heading = getattr(param, "rich_help_panel", None) or kind
                groups.setdefault(heading, []).append(record)
        for heading, records in groups.items():
            with formatter.section(heading):
                formatter.write_dl(records)
