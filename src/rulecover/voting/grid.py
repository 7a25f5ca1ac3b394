"""Rules with their votes as a table of cells, as sentences, and as a data frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from rulecover.rules.sentences import join_words, rule_sentence
from rulecover.show.grid import Grid
from rulecover.show.numbers import amount
from rulecover.show.text import printable
from rulecover.voting.answers import LogOddsClasses
from rulecover.voting.vote import Vote


def vote_grid(vote: Vote) -> Grid:
    """One row per vote, the base first, if there is one, and clauses last, where their length does no harm."""
    names, (base, *votes) = _columns(vote)
    rows = [("", "", *_signed(base), "by default")] if any(base) else []
    for j, rule in enumerate(vote.rules):
        rows.append((str(j), amount(float(vote.support[j])), *_signed(votes[j]), printable(rule.text)))
    header = ("rule", "support", *names, "if")
    return Grid(header, rows, (*[True] * (len(header) - 1), False))


def _columns(vote: Vote) -> tuple[list[str], list[list[float]]]:
    """Names and columns of the votes; the log-odds of one of two classes are those against the other."""
    names = [printable(name) for name in vote.names]
    if isinstance(vote.answer, LogOddsClasses) and len(names) == 2:
        return [f"log-odds of {names[1]}"], vote.shown_votes[:, 1:].tolist()
    return names, vote.shown_votes.tolist()


def vote_sentences(vote: Vote) -> list[str]:
    """The base, if there is one, then one sentence per rule."""
    base, *votes = vote.shown_votes.tolist()
    return [
        *([f"By default {_in_words(vote, base)}."] if any(base) else []),
        *(rule_sentence(rule, _in_words(vote, votes[j])) for j, rule in enumerate(vote.rules)),
    ]


def vote_frame(vote: Vote) -> pd.DataFrame:
    """One row per vote: its rule's text, clauses and support, and what it adds; the base first."""
    columns: dict[str, Any] = {
        "rule": ["(default)", *(rule.text for rule in vote.rules)],
        "clauses": [0, *vote.rules.lengths.tolist()],
        "support": [np.nan, *vote.support.tolist()],
    }
    columns |= dict(zip(vote_columns(vote.names), vote.shown_votes.T, strict=True))
    return pd.DataFrame(columns, index=pd.RangeIndex(-1, len(vote)))


def _in_words(vote: Vote, votes: list[float]) -> str:
    if len(votes) == 1:
        return _signed(votes)[0]
    each = [f"{value} for {printable(name)}" for value, name in zip(_signed(votes), vote.names, strict=True)]
    if not isinstance(vote.answer, LogOddsClasses):
        return join_words(each)
    return f"log-odds {join_words(each[1:] if len(each) == 2 else each)}"


def _signed(votes: list[float]) -> list[str]:
    return [f"{value:+.3g}" for value in votes]


def vote_columns(names: tuple[str, ...]) -> list[str]:
    """The name of the column of each vote: "vote" where there is one, ``votes_…`` for each of several."""
    return ["vote"] if len(names) == 1 else [f"votes_{name}" for name in names]
