"""Rules with additive votes as plain text and as HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulecover.view.numbers import amount
from rulecover.view.text import aligned, printable

if TYPE_CHECKING:
    from rulecover.frontier.family import AdditiveVote

_TABLE = """\
<table class="rulecover">
<thead><tr>
{%- for cell in header %}<th{% if loop.last %} style="text-align:left"{% endif %}>{{ cell }}</th>{% endfor -%}
</tr></thead>
<tbody>
{% for row in rows %}
<tr>
{%- for cell in row %}<td{% if loop.last %} style="text-align:left"{% endif %}>{{ cell }}</td>{% endfor -%}
</tr>
{% endfor %}
</tbody>
</table>"""


def vote_table(vote: AdditiveVote) -> str:
    """An aligned table, one line a vote, the default first and conditions last, where their length does no harm."""
    header, rows = _cells(vote)
    return aligned([header, *rows], right=(*[True] * (len(header) - 1), False))


def vote_table_html(vote: AdditiveVote) -> str:
    """An HTML table, one row a vote."""
    from rulecover.view.rendering import environment

    header, rows = _cells(vote)
    return environment().from_string(_TABLE).render(header=header, rows=rows)


def _cells(vote: AdditiveVote) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    names = [printable(str(answer)) for answer in vote.answers]
    rows = [("", "", *_signed(vote.default.tolist()), "by default")]
    for j, rule in enumerate(vote.rules):
        cells = _signed(vote.votes[j].tolist())
        rows.append((str(j), amount(float(vote.samples[j])), *cells, printable(rule.text)))
    return ("rule", "samples", *names, "if"), rows


def _signed(votes: list[float]) -> list[str]:
    return [f"{value:+.3g}" for value in votes]
