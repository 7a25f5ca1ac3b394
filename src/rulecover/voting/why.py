"""Which rules decided for a row, and how a fallback did."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from rulecover.typing import Array, Bools, Floats, Ints
from rulecover.voting.answers import Classes, LogOddsClasses, Mean
from rulecover.voting.fallback import Default, SourceModel
from rulecover.voting.grid import vote_columns
from rulecover.voting.reasons import Reasons
from rulecover.voting.vote import Tally, Vote


def why(vote: Vote, X: Any, tally: Tally) -> pd.DataFrame:
    """One line for each row and rule that voted; see `MIRCOClassifier.why` and `RulePathClassifier.why`."""
    adds_up = isinstance(vote.fallback, Default)
    return Reasons(_what_adds_up(vote, X, tally) if adds_up else _who_decided(vote, X, tally))


def _what_adds_up(vote: Vote, X: Any, tally: Tally) -> pd.DataFrame:
    """The base and the votes of all covering rules, which add up to the prediction."""
    covered, by = vote.rules.hits(X)
    row = np.concatenate([np.arange(X.shape[0]), covered])
    rule = np.concatenate([np.full(X.shape[0], -1), by])
    order = np.lexsort((rule, row))
    row, rule = row[order], rule[order]
    votes = np.vstack([vote.votes, vote.base])[rule, : len(vote.names)]
    text = np.array([*(each.text for each in vote.rules), "by default"], dtype=object)
    columns: dict[str, Any] = {"row": row, "prediction": vote.decided(tally)[row], "rule": rule, "text": text[rule]}
    return pd.DataFrame(columns | dict(zip(vote_columns(vote.names), votes.T, strict=True)))


def _who_decided(vote: Vote, X: Any, tally: Tally) -> pd.DataFrame:
    row, rule, weight = _voters(vote, X, tally.missed)
    by_rule = _votes_of(vote, rule, weight, tally.missed[row])
    votes = np.where((rule >= 0)[:, None], by_rule, _as_one(vote, tally.sums)[row])
    other = "the source model" if isinstance(vote.fallback, SourceModel) else ""
    text = np.array([*(each.text for each in vote.rules), other], dtype=object)
    frame = pd.DataFrame(
        {
            "row": row,
            "prediction": vote.decided(tally)[row],
            "decided_by": np.where(tally.missed[row], vote.fallback.name, "rules"),
            "rule": rule,
            "text": text[rule],
            "weight": weight,
            **_columns(vote, votes),
        }
    )
    return _with_base(vote, frame) if isinstance(vote.answer, LogOddsClasses) else frame


def _with_base(vote: Vote, voters: pd.DataFrame) -> pd.DataFrame:
    """The same lines, and before those of each row one for the base, which they are added to."""
    votes = dict(zip(vote_columns(vote.names), vote.base, strict=True))
    unnamed = (voters["rule"] < 0) & (voters["text"] == "")
    voters["text"] = voters["text"].mask(unnamed, "all training rows")
    base = voters.drop_duplicates("row").assign(rule=-1, text="by default", weight=1.0, **votes)
    return pd.concat([base, voters]).sort_values("row", kind="stable", ignore_index=True)


def _voters(vote: Vote, X: Any, missed: Bools) -> tuple[Ints, Ints, Floats]:
    """Rows, rules (-1 where no rule voted) and weights, row by row, the largest weight first."""
    fired, by = vote.rules.hits(X)
    rows, rules, weights = [fired], [by], [np.ones(len(fired))]
    lost = np.flatnonzero(missed)
    if lost.size:
        weighed = vote.fallback.weights(vote, X[lost])
        who, rule = np.nonzero(weighed)
        nobody = lost[~weighed.any(axis=1)]
        rows += [lost[who], nobody]
        rules += [rule, np.full(len(nobody), -1)]
        weights += [weighed[who, rule], np.ones(len(nobody))]
    row, rule, weight = np.concatenate(rows), np.concatenate(rules), np.concatenate(weights)
    order = np.lexsort((rule, -weight, row))
    return row[order], rule[order], weight[order]


def _votes_of(vote: Vote, rule: Ints, weight: Floats, missed: Bools) -> Floats:
    """The votes of single rules; for rows that they do not cover, those at a distance."""
    votes = np.asarray(vote.votes[rule] * weight[:, None])
    if vote.fallback_votes is not None:
        distant = vote.fallback_votes[rule[missed]]
        votes[missed, 0] = distant[:, 0] / distant[:, 1] - vote.base[0]
    return votes


def _as_one(vote: Vote, sums: Floats) -> Floats:
    """All votes for a row, as if they came from one rule."""
    return sums - vote.base if vote.adds_up else sums


def _columns(vote: Vote, votes: Floats) -> dict[str, Array]:
    """Votes as columns with names."""
    if isinstance(vote.answer, Classes):
        return dict(zip(vote_columns(vote.names), votes.T, strict=True))
    assert isinstance(vote.answer, Mean)
    if vote.adds_up:
        return {"adds": vote.answer.unit * votes[:, 0]}
    return {"value": vote.answer.decided(votes), "mean_weight": votes[:, 1]}
