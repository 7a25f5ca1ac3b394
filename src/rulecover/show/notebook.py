"""The table of rules in a notebook, with the looks of the report; styles stay inside it, and names are escaped."""

from __future__ import annotations

from collections.abc import Sequence

from rulecover.show.cells import RuleCells

#: The most rules that are shown in a notebook.
_MOST_RULES = 60


def notebook_table(cells: RuleCells, before: Sequence[str] = ()) -> str:
    """The table as HTML, after some sentences; a very long one is cut off, with a note."""
    from rulecover.show.html import environment

    given = {"heads": cells.heads, "rows": cells.rows[:_MOST_RULES], "more": len(cells.rows[_MOST_RULES:])}
    return environment("rulecover.show").get_template("notebook.html").render(before=before, **given)
