"""Rules with additive votes as a table of cells, and as sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulecover.rules.sentences import listed, rule_sentence
from rulecover.show.grid import Grid
from rulecover.show.numbers import amount
from rulecover.show.text import printable

if TYPE_CHECKING:
    from rulecover.rulepath.family import AdditiveVote


def vote_grid(vote: AdditiveVote) -> Grid:
    """One row a vote, the default first, if there is one, and conditions last, where their length does no harm."""
    header, rows = _cells(vote)
    return Grid(header, rows, (*[True] * (len(header) - 1), False))


def vote_sentences(vote: AdditiveVote) -> list[str]:
    """The default vote, if there is one, then one sentence a rule."""
    return [
        *([f"By default {_said(vote, vote.default.tolist())}."] if vote.default.any() else []),
        *(rule_sentence(rule, _said(vote, vote.votes[j].tolist())) for j, rule in enumerate(vote.rules)),
    ]


def _said(vote: AdditiveVote, votes: list[float]) -> str:
    if len(votes) == 1:
        return _signed(votes)[0]
    return listed(
        [f"{said} for {printable(str(label))}" for said, label in zip(_signed(votes), vote.answers, strict=True)]
    )


def _cells(vote: AdditiveVote) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    names = [printable(str(answer)) for answer in vote.answers]
    rows = [("", "", *_signed(vote.default.tolist()), "by default")] if vote.default.any() else []
    for j, rule in enumerate(vote.rules):
        cells = _signed(vote.votes[j].tolist())
        rows.append((str(j), amount(float(vote.samples[j])), *cells, printable(rule.text)))
    return ("rule", "samples", *names, "if"), rows


def _signed(votes: list[float]) -> list[str]:
    return [f"{value:+.3g}" for value in votes]
