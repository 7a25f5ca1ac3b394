"""A table as Markdown, CSV and LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rulecover.files import whole_file
from rulecover.show.grid import latex_escaped, markdown_escaped, markdown_row
from rulecover.show.spreadsheet import csv_text
from rulecover.show.text import printable
from rulecover.study.pages import dated_line


@dataclass(frozen=True, eq=False)
class Sheet:
    """What a table shows and the numbers behind it.

    Parameters
    ----------
    name
        Of its files.
    title
        Its heading.
    head
        The heading of each column.
    rows
        The cells as text.
    numbers
        A data frame for the CSV file, unrounded.
    notes
        Sentences under the table.
    """

    name: str
    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Any
    notes: Sequence[str] = field(default_factory=tuple)

    def markdown(self) -> str:
        """With the notes below."""
        lines = [_line(self.head), markdown_row(["---"] * len(self.head)), *map(_line, self.rows)]
        notes = (part for note in self.notes for part in ("", _marked(note)))
        return "\n".join([f"# {_marked(self.title)}", "", *lines, *notes, ""])

    def latex(self) -> str:
        """A table in the style of the booktabs package, as the paper's."""
        body = [" & ".join(map(_escaped, row)) + r" \\" for row in self.rows]
        return "\n".join(
            [
                r"\begin{table}",
                rf"  \caption{{{_escaped(self.title)}}}",
                r"  \centering",
                rf"  \begin{{tabular}}{{l{'c' * (len(self.head) - 1)}}}",
                r"    \toprule",
                "    " + " & ".join(map(_escaped, self.head)) + r" \\",
                r"    \midrule",
                *(f"    {line}" for line in body),
                r"    \bottomrule",
                r"  \end{tabular}",
                *(rf"  \\ {_escaped(note)}" for note in self.notes),
                r"\end{table}",
                "",
            ]
        )

    def write(self, folder: Path) -> None:
        """Three files, one per format; the Markdown file ends with the day and the versions."""
        dated = f"{self.markdown()}\n{dated_line()}\n"
        for kind, text in (("md", dated), ("tex", self.latex()), ("csv", csv_text(self.numbers))):
            with whole_file(folder / f"{self.name}.{kind}") as file:
                file.write(text)


def _line(cells: Sequence[str]) -> str:
    return markdown_row(list(map(_marked, cells)))


def _marked(text: str) -> str:
    """The text as Markdown that shows it as it is."""
    return markdown_escaped(printable(text))


def _escaped(text: str) -> str:
    """The text as LaTeX, which takes a bracket or a star at the beginning of a row for an option of the row above."""
    escaped = latex_escaped(printable(text).replace("\\", "/").replace("`", ""))
    return f"{{}}{escaped}" if escaped.startswith(("[", "*")) else escaped
