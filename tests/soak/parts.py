"""What a fitted model is made of: stages, intervals, scores, some of its rules, and columns made of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import sqlglot
from comparing import assert_close, has_evidence, is_exported
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import accuracy_score, r2_score
from soak_cases import Fitted

from rulecover import RuleTransformer
from rulecover.export import from_json, to_json, to_sql
from rulecover.voting.answers import LogOddsClasses

#: The databases that queries are written for, and that are not at hand.
_ELSEWHERE = ("postgres", "bigquery", "snowflake", "spark", "tsql")


def stages_lead_to_the_answer(f: Fitted) -> None:
    """One for each call and the first tree, and the last is what the model answers."""
    if not hasattr(f.model, "staged_predict"):
        return
    try:
        stages = list(f.model.staged_predict(f.data.asked))
    except ValueError as error:
        assert isinstance(f.model.vote_.answer, LogOddsClasses) and "there are none for earlier calls" in str(error)
        return
    assert len(stages) == f.model.n_rmp_calls_ + 1 == len(f.model._stages)
    np.testing.assert_array_equal(stages[-1], f.model.predict(f.data.asked))
    if f.case.target == "classes":
        *_, last = f.model.staged_predict_proba(f.data.asked)
        np.testing.assert_array_equal(last, f.model.predict_proba(f.data.asked))


def intervals_are_around_the_answer(f: Fitted) -> None:
    """The wider, the more numbers they are to hold; of a model file, too."""
    if not hasattr(f.model, "predict_interval") or not has_evidence(f):
        return
    middle = f.model.predict(f.data.asked)
    narrow, wide = (f.model.predict_interval(f.data.asked, coverage=share) for share in (0.5, 0.95))
    spread = float(np.abs(f.case.y).max())
    assert_close(narrow.mean(axis=1), middle, spread=spread)
    assert (wide[:, 0] <= narrow[:, 0]).all() and (narrow[:, 1] <= wide[:, 1]).all()
    assert (narrow[:, 0] <= narrow[:, 1]).all()
    if is_exported(f):
        again = from_json(to_json(f.model)).predict_interval(f.data.asked, coverage=0.5)
        assert_close(again, narrow, spread=spread)


def a_score_is_that_of_scikit_learn(f: Fitted) -> None:
    weight = np.arange(1, 1 + len(f.data.truth)) / 4
    score = accuracy_score if f.case.target == "classes" else r2_score
    found = f.model.score(f.data.asked, f.data.truth, sample_weight=weight)
    told = score(f.data.truth, f.model.predict(f.data.asked), sample_weight=weight)
    np.testing.assert_allclose(found, told, rtol=1e-12)


def some_of_the_rules_are_rules(f: Fitted) -> None:
    """In another order, joined, one by one, and by their votes."""
    rules, rows = f.model.rules_, f.model._check_rows(f.data.asked)
    covered = f.model.apply(f.data.asked).toarray()
    order = np.random.default_rng(f.case.seed).permutation(len(rules))
    turned = rules[order]
    np.testing.assert_array_equal(turned.apply(rows).toarray(), covered[:, order])
    assert [rule.text for rule in turned] == [rules[int(j)].text for j in order]
    assert turned == rules.take(order) and rules[:1] == rules.take(np.arange(len(rules))[:1])
    joined = rules[:1].join(rules[1:])
    assert joined == rules
    np.testing.assert_array_equal(joined.apply(rows).toarray(), covered)
    pairs = set(zip(*(each.tolist() for each in rules.hits(rows)), strict=True))
    assert pairs == set(zip(*(each.tolist() for each in np.nonzero(covered)), strict=True))
    np.testing.assert_array_equal(rules.accepted(rows) == 1, covered)
    if len(rules):
        some = order[: max(1, len(order) // 2)]
        part = f.model.vote_.take(some)
        np.testing.assert_array_equal(part.apply(rows).toarray(), covered[:, some])
        np.testing.assert_array_equal(part.votes, f.model.vote_.votes[some])


def rules_are_named_columns(f: Fitted) -> None:
    """Of pandas, under the index of the rows, and of polars."""
    rows, rules = f.data.asked, f.model.rules_
    if isinstance(rows, pd.DataFrame):
        rows = rows.set_axis(np.arange(len(rows)) * 2 + 5)
    columns = RuleTransformer(FrozenEstimator(f.model)).fit(f.data.X, f.data.y)
    if len({rule.text for rule in rules}) < len(rules):
        return
    made = columns.set_output(transform="pandas").transform(rows)
    np.testing.assert_array_equal(made.to_numpy(), f.model.apply(f.data.asked).toarray())
    assert list(made.columns) == [rule.text for rule in rules]
    assert not isinstance(rows, pd.DataFrame) or made.index.equals(rows.index)


def queries_are_written_for_databases_elsewhere(f: Fitted) -> None:
    """And are read as queries with these columns."""
    if not is_exported(f):
        return
    dialect = _ELSEWHERE[f.case.seed % len(_ELSEWHERE)]
    query = sqlglot.parse_one(to_sql(f.model, "asked", dialect=dialect), read=dialect)
    names = query.named_selects
    labels = f.model.classes_.tolist() if f.case.target == "classes" else []
    assert names[0] == "prediction" and names[-2:] == ["rules", "decided_by"], names
    assert len(names) == 3 + len(labels)
