"""A table of cells as text, Markdown, LaTeX and HTML; names are escaped in each of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rulecover.show.text import aligned

_HTML = """\
<table class="rulecover">
<thead><tr>
{%- for cell, right in head %}<th style="text-align:{{ "right" if right else "left" }}">{{ cell }}</th>{% endfor -%}
</tr></thead>
<tbody>
{% for row in rows %}
<tr>
{%- for cell, right in row %}<td style="text-align:{{ "right" if right else "left" }}">{{ cell }}</td>{% endfor -%}
</tr>
{% endfor %}
</tbody>
</table>
{%- if more %}<p>… and {{ more }} more</p>{% endif %}"""

#: The most rows that are shown in a notebook.
_MOST_ROWS = 60


@dataclass(frozen=True)
class Grid:
    """The cells of a table.

    Parameters
    ----------
    head
        The heading of each column.
    rows
        The cells, printable text.
    right
        Which columns are aligned to the right.
    """

    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    right: tuple[bool, ...]

    def text(self) -> str:
        """In aligned columns."""
        return aligned([self.head, *self.rows], right=self.right) if self.rows else "no rules"

    def markdown(self) -> str:
        """As GitHub and most other tools expect it."""
        marks = ["---:" if right else "---" for right in self.right]
        cells = [[markdown_escaped(cell) for cell in row] for row in (self.head, *self.rows)]
        return "\n".join(map(markdown_row, [cells[0], marks, *cells[1:]])) + "\n"

    def latex(self) -> str:
        """A tabular in the style of the booktabs package, with room for long rules in the last column."""
        return latex_tabular([self])

    def html(self) -> str:
        """A table element for a notebook: very long ones are cut off, with a note."""
        from rulecover.show.html import environment

        head, *rows = [list(zip(row, self.right, strict=True)) for row in (self.head, *self.rows[:_MOST_ROWS])]
        return environment().from_string(_HTML).render(head=head, rows=rows, more=len(self.rows[_MOST_ROWS:]))


def markdown_row(cells: Sequence[str]) -> str:
    """Cells that are Markdown already, as a row of a table."""
    return "| " + " | ".join(cells) + " |"


# Marks anywhere, an underscore except inside a word, and what would begin a tag or an entity.
_MARKED = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])|<(?=[A-Za-z/!?])|&(?=#?\w+;)")


def markdown_escaped(text: str) -> str:
    r"""The text as Markdown that shows it as it is.

    >>> print(markdown_escaped("<b>x</b> <= 3 | petal_width *"))
    \<b>x\</b> <= 3 \| petal_width \*
    """
    return _MARKED.sub(lambda mark: "\\" + mark.group(), text)


_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": "$<$",
    ">": "$>$",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "±": r"$\pm$",
    "–": "--",
    "−": "$-$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≠": r"$\neq$",
    "²": r"\textsuperscript{2}",
    "…": r"\ldots{}",
}


def latex_escaped(text: str) -> str:
    r"""The text as LaTeX that shows it as it is.

    >>> print(latex_escaped("petal_width <= 3 & 5 %"))
    petal\_width $\leq$ 3 \& 5 \%
    """
    short = text.replace("<=", "≤").replace(">=", "≥")
    return "".join(_LATEX.get(letter, letter) for letter in short)


def latex_tabular(parts: Sequence[Grid], titles: Sequence[str] = ()) -> str:
    """One tabular for several tables with the same columns, each under its title, if they have titles."""
    head, right = parts[0].head, parts[0].right
    columns = "".join("r" if each else "l" for each in right[:-1]) + r"p{0.6\linewidth}"
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"  \toprule", _latex_row(head)]
    for place, part in enumerate(parts):
        lines.append(r"  \midrule")
        if titles:
            lines.append(rf"  \multicolumn{{{len(head)}}}{{l}}{{\textbf{{{latex_escaped(titles[place])}}}}} \\")
        lines += map(_latex_row, part.rows)
    return "\n".join([*lines, r"  \bottomrule", r"\end{tabular}", ""])


def _latex_row(cells: Sequence[str]) -> str:
    return "  " + " & ".join(map(latex_escaped, cells)) + r" \\"


@dataclass(frozen=True)
class Groups:
    """Tables with the same columns, each under a title.

    Parameters
    ----------
    titles
        One per table.
    tables
        The tables; rows keep their numbers in the whole list.
    rows_in_words
        For each table its rows as sentences.
    """

    titles: tuple[str, ...]
    tables: tuple[Grid, ...]
    rows_in_words: tuple[tuple[str, ...], ...]

    def sentences(self) -> list[list[str]]:
        """The rules in plain English: for each title a list of sentences."""
        return list(map(list, self.rows_in_words))

    def __str__(self) -> str:
        return "\n\n".join(f"{title}\n{part.text()}" for title, part in zip(self.titles, self.tables, strict=True))

    def to_markdown(self) -> str:
        """A table under each title."""
        parts = zip(self.titles, self.tables, strict=True)
        return "\n".join(f"**{markdown_escaped(title)}**\n\n{part.markdown()}" for title, part in parts)

    def to_latex(self) -> str:
        """One tabular, with the titles between its parts."""
        return latex_tabular(self.tables, self.titles)

    def _repr_html_(self) -> str:
        from markupsafe import escape

        parts = zip(self.titles, self.tables, strict=True)
        return "\n".join(f"<p><strong>{escape(title)}</strong></p>\n{part.html()}" for title, part in parts)
