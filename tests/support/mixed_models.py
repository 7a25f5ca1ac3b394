"""Random models of tables with texts, truth values, categories and dates, rows to ask them about, and their answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import pandas as pd
from exported import ASKED, same_probabilities
from mixed_tables import mixed_table, odd_rows
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from rulecover import MIRCOClassifier, MIRCORegressor, RCBoostClassifier, RulePathClassifier, RulePathRegressor
from rulecover.data.dates import ISO, moments
from rulecover.export.exported import vote_of
from rulecover.voting.answers import Classes, LogOddsClasses
from rulecover.voting.vote import Vote

N_MIXED_MODELS = int(ASKED or 18)

#: How the dates of a table are written in turn, ``None`` for dates as such.
WRITTEN = (None, "%Y-%m-%d", None, "%d.%m.%Y", None, "%Y-%m-%dT%H:%M:%S", "%m/%d/%Y")


@dataclass(frozen=True, eq=False)
class MixedModel:
    """A model that was fitted to a table, and rows of it, odd ones among them."""

    model: Any
    rows: pd.DataFrame

    @cached_property
    def vote(self) -> Vote:
        return vote_of(self.model)

    @cached_property
    def prediction(self) -> list[Any]:
        return self.model.predict(self.rows).tolist()

    @cached_property
    def fired(self) -> list[list[int]]:
        return [np.flatnonzero(row).tolist() for row in self.model.apply(self.rows).toarray()]

    @cached_property
    def probabilities(self) -> list[list[float]] | None:
        if not isinstance(self.vote.answer, Classes):
            return None
        return self.model.predict_proba(self.rows).tolist()

    def has_probabilities(self, shares: list[list[float]]) -> bool:
        """Whether probabilities are the same; those from log-odds but for the last digits of exp."""
        if isinstance(self.vote.answer, LogOddsClasses):
            return same_probabilities(self.probabilities, shares)
        return shares == self.probabilities

    @property
    def dates_are_texts(self) -> bool:
        return self.rows["hired"].dtype.kind != "M"

    @property
    def moments(self) -> list[pd.Timestamp | None]:
        """The dates, however they are written."""
        written = next((part.written for part in self.vote.rules.columns.parts.values()), ISO)
        known = pd.Series(moments(self.rows["hired"], written, "hired"))
        return known.astype(object).where(known.notna(), None).tolist()

    def plain(self, rows: pd.DataFrame) -> list[dict[str, Any]]:
        """Rows as other languages take them."""
        texts = rows.astype(object).where(rows.notna(), None)
        return [{name: _plain(value) for name, value in row.items()} for row in texts.to_dict("records")]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


@cache
def mixed_models() -> list[MixedModel]:
    return [_mixed_model(seed) for seed in range(N_MIXED_MODELS)]


def _mixed_model(seed: int) -> MixedModel:
    rng = np.random.default_rng([seed, 7])
    table, y = mixed_table(int(rng.integers(90, 260)), seed)
    towns = [f"town {k}" for k in range(70)]
    table["town"] = rng.choice(towns, len(table), p=np.arange(1, 71) / np.arange(1, 71).sum())
    if seed % 2:
        table["hired"] += pd.to_timedelta(rng.integers(0, 86400, len(table)), unit="s")
    if seed % 5 == 4:
        table["hired"] -= pd.Timedelta(days=50 * 366)  # some before 1970, some after
    model = _model(rng, seed)
    weekend = table["hired"].dt.day_of_week.to_numpy() >= 5
    y = np.where(weekend & (rng.random(len(table)) < 0.8), "no", y)
    if isinstance(model, (MIRCORegressor, RulePathRegressor)):
        y = (y == "yes") * 2.5 + table["children"].to_numpy() + rng.normal(0, 0.3, len(table))
        y += 3 * (table["hired"] > table["hired"].median()).to_numpy() + 2 * weekend
    elif seed % 3 == 1:
        y = np.where(y == "yes", rng.choice(["yes", 'it\'s "so"'], len(table)), "no")
    rows = pd.concat([table, odd_rows(table)], ignore_index=True)
    rows["grade"] = rows["grade"].where(rows["grade"] != "never seen", 9).astype("Int64")
    written = WRITTEN[seed % len(WRITTEN)]
    if written is not None:
        for each in (table, rows):
            each["hired"] = each["hired"].dt.strftime(written).astype(object).where(each["hired"].notna(), None)
    return MixedModel(model.fit(table, y), rows)


def _model(rng: np.random.Generator, seed: int) -> Any:
    depth, trees = int(rng.integers(2, 7)), int(rng.integers(4, 12))
    forest = RandomForestClassifier(trees, max_depth=depth, random_state=seed)
    numbers = RandomForestRegressor(trees, max_depth=depth, random_state=seed)
    vote, size = str(rng.choice(["counts", "shares", "log-odds"])), int(rng.integers(3, 12))
    return [
        MIRCOClassifier(forest, vote=vote, random_state=seed),
        MIRCOClassifier(forest, vote=vote, max_rules=size, fallback=str(rng.choice(["closest", "majority", "all"]))),
        RCBoostClassifier(max_rmp_calls=2, random_state=seed),
        RulePathClassifier(forest, max_rules=size, choose="last", vote=str(rng.choice(["log-odds", "fitted"]))),
        RulePathRegressor(numbers, max_rules=size, choose="last", random_state=seed),
        MIRCORegressor(numbers, max_rules=size, random_state=seed),
    ][seed % 6]
