"""Exported code takes rows as they come, and refuses what it cannot hold; that it answers alike is a contract."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from exported import hostile_case, named_case, text_case, truth_case
from running import by_onnx, executed
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from rulecover import MIRCOClassifier, RulePathClassifier, RulePathRegressor, RuleSet, explain
from rulecover.exceptions import ExportError, MismatchedDataError, MissingExtraError, UnreadableModelError
from rulecover.export import (
    from_json,
    to_javascript,
    to_json,
    to_onnx,
    to_pandas,
    to_pmml,
    to_polars,
    to_python,
    vote_of,
)
from rulecover.voting.fallback import CLOSEST, ByRules


@pytest.mark.parametrize("name", ["f(); import os", "class", "", "_met", "VOTES", "größe", "a b"])
@pytest.mark.parametrize("export", [to_python, to_pandas])
def test_a_function_has_a_plain_name(export: Any, name: str) -> None:
    with pytest.raises(ExportError, match="not a valid"):
        export(hostile_case("x").model, name=name)


@pytest.mark.parametrize("name", ["f(); alert(1)", "", "a-b", "größe"])
def test_a_javascript_function_has_a_plain_name(name: str) -> None:
    with pytest.raises(ExportError, match="not a valid"):
        to_javascript(hostile_case("x").model, name=name)


def test_exported_python_needs_no_package_at_all(tmp_path: Path) -> None:
    (tmp_path / "rules.py").write_text(to_python(hostile_case("age").model))
    ask = "import sys; sys.path.insert(0, sys.argv[1]); import rules; print(rules.predict({'age': 1, 'other': 2.5}))"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", ask, tmp_path], capture_output=True, text=True, check=True)

    assert "'decided_by': 'rules'" in done.stdout


def test_none_is_missing_and_text_is_no_number_in_python() -> None:
    case = hostile_case("age")
    predict = executed(to_python(case.model))["predict"]

    assert predict({"age": None, "other": 2.5}) == predict({"age": float("nan"), "other": 2.5})
    with pytest.raises(TypeError, match="column 'age' is '12'"):
        predict({"age": "12", "other": 2.5})
    with pytest.raises(KeyError, match="age"):
        predict({"other": 2.5})


def test_null_is_missing_in_data_frames() -> None:
    case = hostile_case("age")
    known = {"age": [1.0, None, 0.5], "other": [2.5, 2.5, None]}
    meant = case.model.predict_proba([[1.0, 2.5], [np.nan, 2.5], [0.5, np.nan]])
    by_pandas = executed(to_pandas(case.model))["predict"](pd.DataFrame(known, dtype="Float64"))
    by_polars = pl.DataFrame(known).lazy().select(to_polars(case.model)).unnest("answer").collect()

    assert by_pandas.iloc[:, 1:3].to_numpy().tolist() == meant.tolist()
    assert by_polars[:, 1:3].to_numpy().tolist() == meant.tolist()


@pytest.mark.parametrize("made", [text_case, named_case, truth_case])
def test_levels_and_categories_are_read_from_the_text(made: Any) -> None:
    case, raw = made()
    predict = executed(to_python(case.model))["predict"]
    by_pandas = executed(to_pandas(case.model))["predict"](pd.DataFrame(raw))
    by_polars = pl.DataFrame(raw).select(to_polars(case.model)).unnest("answer")

    assert [tuple(predict(row)["probabilities"]) for row in raw] == [row[1:3] for row in case.table()]
    assert case.model.predict_proba(pd.DataFrame(raw)).tolist() == case.probabilities
    assert case.model.predict_proba(pl.DataFrame(raw)).tolist() == case.probabilities
    assert list(by_pandas.itertuples(index=False, name=None)) == case.table()
    assert by_polars.rows() == case.table()


DATES = {
    "dates": pd.to_datetime(["2020-01-01", None]),
    "dates of nanoseconds": pd.to_datetime(["2020-01-01", None]).as_unit("ns"),
    "dates of a time zone": pd.to_datetime(["2020-01-01", None]).tz_localize("UTC"),
    "durations": pd.to_timedelta(["1 days", None]),
    "periods": pd.PeriodIndex(["2020-01-01", None], freq="D"),
    "timestamps": np.array([pd.Timestamp("2020-01-01"), None], dtype=object),
    "days": np.array([date(2020, 1, 1), None], dtype=object),
    "texts": np.array(["2020-01-01", None], dtype=object),
    "complex numbers": np.array([1 + 2j, 3]),
}


@pytest.mark.parametrize("kind", DATES)
def test_dates_are_no_numbers_wherever_they_are_read(kind: str) -> None:
    """Numpy makes nanoseconds of dates, and of a missing one the smallest number there is."""
    model = hostile_case("age").model
    frame = pd.DataFrame({"age": pd.Series(DATES[kind]), "other": [2.5, 2.5]})
    predict = executed(to_pandas(model))["predict"]

    with pytest.raises(TypeError if frame["age"].dtype.kind in "mMc" else (TypeError, ValueError)):
        predict(frame)
    for read in (model.predict, model.apply, model.rules.apply, from_json(to_json(model)).predict_proba, model.why):
        with pytest.raises(MismatchedDataError, match="age"):
            read(frame)


@pytest.mark.parametrize("kind", [kind for kind in DATES if kind not in ("periods", "complex numbers")])
def test_dates_are_no_numbers_in_polars(kind: str) -> None:
    model = hostile_case("age").model
    frame = pl.DataFrame(
        {"age": list(pd.Series(DATES[kind]).astype(object).where(lambda x: x.notna(), None)), "other": [2.5, 2.5]}
    )

    with pytest.raises(pl.exceptions.PolarsError, match="not allowed"):
        frame.lazy().select(to_polars(model)).collect()
    for read in (model.predict, model.rules.apply):
        with pytest.raises(MismatchedDataError, match="age"):
            read(frame)


def test_an_array_of_dates_is_refused(mirco: MIRCOClassifier) -> None:
    rows = np.full((2, 4), np.datetime64("2020-01-01", "ns"))
    frame = pd.DataFrame(rows, columns=mirco.feature_names_in_)
    predict = executed(to_python(hostile_case("age").model))["predict"]

    for read in (vote_of(mirco).predict, mirco.rules_.apply):
        for X in (rows, rows.astype(complex), frame):
            with pytest.raises(MismatchedDataError, match="numbers"):
                read(X)
    for value in (rows[0, 0], np.timedelta64(1, "ns"), np.complex128(1), pd.Timestamp("2020-01-01"), pd.NaT):
        with pytest.raises(TypeError):
            predict({"age": value, "other": 2.5})


def test_a_date_is_the_level_that_its_text_is() -> None:
    case, _ = text_case()
    frame = pd.DataFrame({"age": [50.0, 50.0], "colour": pd.to_datetime(["2020-01-01", None])})
    texts = frame.assign(colour=np.array(["2020-01-01", None], dtype=object))
    by_pandas = executed(to_pandas(case.model))["predict"](frame)

    assert case.model.predict_proba(frame).tolist() == case.model.predict_proba(texts).tolist()
    assert by_pandas.iloc[:, 1:3].to_numpy().tolist() == case.model.predict_proba(texts).tolist()
    assert case.model.apply(texts).toarray()[0, 6]


# What is exported ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mirco() -> MIRCOClassifier:
    return MIRCOClassifier(random_state=0).fit(*load_iris(return_X_y=True, as_frame=True))


def test_zeros_that_are_missing_are_so_in_onnx() -> None:
    case, _ = named_case()

    assert by_onnx(case) == case.table()


def test_a_bare_rule_set_votes_by_counts() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    mirco = MIRCOClassifier.as_in_paper(random_state=0).fit(X, y)

    assert (vote_of(mirco.rules_).predict_proba(X) == mirco.predict_proba(X)).all()


def test_a_vote_takes_lists_arrays_frames_and_sparse_rows(mirco: MIRCOClassifier) -> None:
    from scipy.sparse import csr_array

    X, _ = load_iris(return_X_y=True, as_frame=True)
    model, meant = vote_of(mirco), mirco.predict(X).tolist()

    for rows in (X, X.to_numpy(), X.to_numpy().tolist(), X.astype("Float64"), pl.DataFrame(X.to_dict("list"))):
        assert model.predict(rows).tolist() == meant
    assert model.predict(csr_array(X.to_numpy())).tolist() == meant
    assert not model.missed(X).any()


@pytest.mark.slow
def test_what_cannot_be_exported_is_refused_with_a_way_out(mirco: MIRCOClassifier) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ExportError, match=r"fallback 'model'.*set_params"):
        to_python(MIRCOClassifier(fallback="model", random_state=0).fit(X, y))
    with pytest.raises(ExportError, match=r"fallback 'closest'.*object of your own"):
        to_python(MIRCOClassifier(fallback=_Mine(**vars(CLOSEST)), random_state=0).fit(X, y))
    with pytest.raises(NotFittedError):
        to_python(MIRCOClassifier())
    with pytest.raises(UnreadableModelError, match="LogisticRegression cannot be exported"):
        to_python(LogisticRegression())
    with pytest.raises(ExportError, match="no evidence"):
        to_python(RuleSet.of_intervals([{0: (0, 1)}], ["a"]))
    with pytest.raises(ExportError, match="several types"):
        to_onnx(mixed_labels())
    with pytest.raises(ExportError, match="several types"):
        to_pmml(mixed_labels())
    with pytest.raises(ExportError, match="no XML file"):
        to_pmml(hostile_case("bell \a").model)


@pytest.mark.slow
def test_any_size_of_a_path_is_exported_and_none_as_a_rule_that_always_holds() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    path = RulePathClassifier(max_rules=3, choose="last", random_state=0).fit(X, y)
    of_numbers = RulePathRegressor(max_rules=3, choose="last", random_state=0).fit(X, X.iloc[:, 3] + 5)

    for size in (2, 0):
        read = from_json(to_json(path.at(size)))
        assert read.predict_proba(X).tolist() == path.at(size).predict_proba(X).tolist()
        assert from_json(to_json(of_numbers.at(size))).predict(X).tolist() == of_numbers.at(size).predict(X).tolist()
    assert [rule.text for rule in read.rules] == ["always"]


class _Mine(ByRules):
    """A fallback of somebody's own, under a name that is known."""


def mixed_labels() -> Any:
    from dataclasses import replace

    from rulecover.voting.answers import Classes

    return replace(hostile_case("x").model, answer=Classes(np.array(["text", 1], dtype=object)))


def test_a_label_that_no_format_holds_is_named() -> None:
    from dataclasses import replace

    from rulecover.voting.answers import Classes

    labels = np.array([pd.Timestamp("2020-01-01"), pd.Timestamp("2021-01-01")], dtype=object)
    with pytest.raises(ExportError, match="type Timestamp"):
        to_python(replace(hostile_case("x").model, answer=Classes(labels)))


def test_a_missing_package_is_named_with_the_extra_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import rulecover.export

    monkeypatch.delattr(rulecover.export, "to_sql", raising=False)
    monkeypatch.setattr(rulecover.export, "find_spec", lambda package: None)
    with pytest.raises(MissingExtraError, match=r"to_sql needs the package sqlglot.*rulecover\[sql\]"):
        _ = rulecover.export.to_sql


def test_a_booster_of_categories_is_exported_by_their_names() -> None:
    rng = np.random.default_rng(0)
    colours = pd.Categorical(rng.choice(["red", "it's", "b"], 300))
    frame = pd.DataFrame({"age": rng.normal(40, 10, 300), "colour": colours})
    y = np.where((frame["age"] > 40) ^ (frame["colour"] == "red"), "yes", "no")
    booster = HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=4, categorical_features="from_dtype")
    few = explain(booster.fit(frame, y), frame, y, method="cover")
    assert (few.rules_.clauses.category >= 0).any()
    predict = executed(to_python(few))["predict"]
    said = [predict(row)["prediction"] for row in frame.to_dict("records")]
    assert said == few.predict(frame).tolist() == from_json(to_json(few)).predict(frame).tolist()


def test_polars_finds_rules_that_are_equally_close() -> None:
    names = [f"x{k}" for k in range(15)]
    rules = RuleSet.from_text([" and ".join(f"{name} > 0" for name in names[:size]) for size in (5, 15)], names)
    X = np.vstack([np.ones(15), [*[1] * 5, *[0] * 10], [1, 1, 1, 0, 0, *[1] * 6, 0, 0, 0, 0]])
    model = MIRCOClassifier(rules, demand=2, vote="counts", fallback="closest").fit(X[:2], ["a", "b"])
    assert len(model.rules_) == 2  # of which the last row meets 3 of 5 conditions, and 9 of 15
    answers = pl.DataFrame(X, schema=names).select(to_polars(model)).unnest("answer")

    assert answers["decided_by"][2] == "closest"
    assert answers.select("probability_a", "probability_b").rows() == [*map(tuple, model.predict_proba(X))]
