"""Rules as HTML: every name that a user supplies is escaped."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rulecover.rules import RuleSet

_TABLE = """\
<table class="rulecover">
<thead><tr><th>rule</th><th style="text-align:left">if</th>
{%- for column in columns %}<th{% if not column.right %} style="text-align:left"{% endif %}>{{ column.name }}</th>
{%- endfor %}</tr></thead>
<tbody>
{% for rule in rules %}
<tr><td>{{ loop.index0 }}</td><td style="text-align:left">{{ rule.text | printable }}</td>
{%- for column in columns %}
<td{% if not column.right %} style="text-align:left"{% endif %}>{{ column.cell(rule) }}</td>
{%- endfor %}
</tr>
{% endfor %}
</tbody>
</table>"""


def rule_table_html(rules: RuleSet) -> str:
    """An HTML table, one row a rule."""
    from rulecover.view.rendering import environment

    template = environment().from_string(_TABLE)
    return template.render(rules=list(rules), columns=rules.evidence.view.columns if rules.evidence else ())
