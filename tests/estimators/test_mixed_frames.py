"""Models of rules, fitted to tables with texts, categories, truth values, dates and gaps."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from catboost import CatBoostClassifier
from hypothesis import given, settings
from hypothesis import strategies as st
from lightgbm import LGBMClassifier, LGBMRegressor
from mixed_tables import mixed_table, odd_rows
from sklearn.base import clone, is_regressor
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

from rulecover import (
    MIRCOClassifier,
    MIRCORegressor,
    RCBoostClassifier,
    RCBoostRegressor,
    RulecoverWarning,
    RulePathClassifier,
    RulePathRegressor,
    RuleSet,
    TableEncoder,
    explain,
    read_trees,
)
from rulecover.data.fingerprint import row_hashes
from rulecover.export import from_json, to_json, to_python
from rulecover.readers.sklearn.models import best_of

CLASSIFIERS = [
    MIRCOClassifier(RandomForestClassifier(5, max_depth=4), random_state=0),
    RCBoostClassifier(max_rmp_calls=1, random_state=0),
    RulePathClassifier(RandomForestClassifier(10), max_rules=5, choose="last", random_state=0),
]
REGRESSORS = [
    MIRCORegressor(random_state=0),
    RCBoostRegressor(max_rmp_calls=1, random_state=0),
    RulePathRegressor(max_rules=5, choose="last", random_state=0),
]


@pytest.mark.slow
@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 1000))
def test_rules_are_about_the_columns_of_the_table(model, seed):
    table, y = mixed_table(80, seed)
    rows = pd.concat([table, odd_rows(table)], ignore_index=True)

    model.fit(table, y)

    assert model.feature_names_in_.tolist() == table.columns.tolist()
    # By the names of the columns alone, without the encoder:
    assert (model.rules_.apply(rows).toarray() == model.apply(rows).toarray()).all()
    assert (model.vote_.predict(rows) == model.predict(rows)).all()
    assert (model.predict(pl.from_pandas(table)) == model.predict(table)).all()


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 1000))
def test_rules_of_a_boosting_cover_what_they_cover_on_encoded_columns(seed):
    table, y = mixed_table(60, seed)
    rows = pd.concat([table, odd_rows(table)], ignore_index=True)
    encoder = TableEncoder().fit(table)
    settings = {"max_rmp_calls": 2, "random_state": seed}

    on_table = RCBoostClassifier(**settings).fit(table, y)
    on_numbers = RCBoostClassifier(**settings).fit(encoder.transform(table), y)

    assert (on_table.apply(rows) != on_numbers.apply(encoder.transform(rows))).nnz == 0
    assert [rule.support for rule in on_table.rules_] == [rule.support for rule in on_numbers.rules_]


@pytest.mark.slow
@pytest.mark.parametrize("model", REGRESSORS, ids=lambda model: type(model).__name__)
def test_numbers_far_from_zero_are_predicted_from_a_table(model):
    table, y = mixed_table(100, 7)
    number = np.where(y == "yes", 3.0, 0.0) + table["children"] + 1e8
    rows = pd.concat([table, odd_rows(table)], ignore_index=True)

    model.fit(table, number)

    assert model.score(table, number) > 0.5
    assert model.fidelity(table) > 0.3
    assert (model.vote_.predict(rows) == model.predict(rows)).all()


def test_categories_are_left_to_a_model_that_knows_them():
    table, y = mixed_table(80, 3)
    known = table[["age", "income", "size", "grade"]]

    native = MIRCOClassifier(HistGradientBoostingClassifier(max_iter=2), random_state=0).fit(known, y)
    encoded = MIRCOClassifier(HistGradientBoostingClassifier(max_iter=2), random_state=0).fit(table, y)

    assert isinstance(native.estimator_, HistGradientBoostingClassifier)
    assert isinstance(encoded.estimator_, Pipeline)


_EAGER = {"min_child_samples": 2, "min_data_per_group": 1, "cat_smooth": 1.0, "verbose": -1}
NATIVE = {
    "histograms": HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=3),
    "histograms of numbers": HistGradientBoostingRegressor(max_iter=4, min_samples_leaf=3),
    "XGBoost, sets": XGBClassifier(n_estimators=4, enable_categorical=True, max_cat_to_onehot=1),
    "XGBoost, one level": XGBClassifier(n_estimators=4, enable_categorical=True, max_cat_to_onehot=99),
    "LightGBM, sets": LGBMClassifier(n_estimators=4, max_cat_to_onehot=1, **_EAGER),
    "LightGBM, one level": LGBMClassifier(n_estimators=4, max_cat_to_onehot=99, **_EAGER),
    "LightGBM of numbers": LGBMRegressor(n_estimators=4, **_EAGER),
    "a search": GridSearchCV(LGBMClassifier(n_estimators=2, **_EAGER), {"max_depth": [2, 3]}, cv=2),
}


def covered_by(source, table, y):
    """A cover of a model of this kind, and the pipeline that it was trained in."""
    number = is_regressor(source)
    target = np.where(y == "yes", 3.0, 0.0) + table["children"].to_numpy() if number else y
    model = (MIRCORegressor if number else MIRCOClassifier)(source, random_state=0).fit(table, target)
    pipeline = model.estimator_
    return model, pipeline if isinstance(pipeline, Pipeline) else pipeline.estimator


@pytest.mark.slow
@pytest.mark.parametrize("name", NATIVE)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 1000))
def test_trees_that_know_categories_are_given_texts_as_such(name, seed):
    table, y = mixed_table(120, seed)
    rows = pd.concat([table, odd_rows(table)], ignore_index=True)

    model, pipeline = covered_by(NATIVE[name], table, y)

    encoder, trees = pipeline[0], best_of(pipeline[-1])
    frame = encoder.transform(rows)
    assert encoder.native_categories and (frame.dtypes == "category").any()
    # The leaves of the model itself, by its own code:
    if "histograms" in name:
        read = read_trees(pipeline)
        leaves = [tree.apply(read.matrix(rows)) for tree in read.trees]
        added = sum(tree.value[leaf, 0] for tree, leaf in zip(read.trees, leaves, strict=True))
        np.testing.assert_allclose(added + trees._baseline_prediction.item(), trees._raw_predict(frame).ravel())
    else:
        own = trees.apply(frame) if "XGBoost" in name else trees.predict(frame, pred_leaf=True)
        read = read_trees(pipeline)
        for tree, of_model in zip(read.trees, np.asarray(own).T, strict=True):
            mine = tree.apply(read.matrix(rows))
            assert len({*zip(mine, of_model, strict=True)}) == len(set(mine)) == len(set(of_model))
    # Rules speak of the table, wherever they are:
    assert model.feature_names_in_.tolist() == table.columns.tolist()
    for other in (model.vote_, from_json(to_json(model)), pickle.loads(pickle.dumps(model))):
        assert (other.predict(rows) == model.predict(rows)).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["histograms", "XGBoost, sets", "LightGBM, sets"])
def test_texts_in_trees_that_know_categories_are_said_as_sets(name):
    rng = np.random.default_rng(0)
    months = np.array(["jan", "feb", "mar", "apr", "may", "jun", None], dtype=object)
    table = pd.DataFrame({"month": months[rng.integers(0, 7, 400)], "x, y": rng.normal(size=400)})
    y = np.isin(table["month"].astype(str), ["feb", "mar", "jun"]) ^ (rng.random(400) < 0.05)

    model, _ = covered_by(NATIVE[name], table, np.where(y, "yes", "no"))

    assert any("month in {feb, jun, mar}" in rule.text or "month not in" in rule.text for rule in model.rules_)
    code: dict[str, Any] = {}
    exec(to_python(model), code)
    rows = pd.concat([table, pd.DataFrame({"month": ["dec", None], "x, y": [0.0, np.nan]})], ignore_index=True)
    records = rows.astype(object).where(rows.notna(), None).to_dict("records")
    assert [code["predict"](row)["prediction"] for row in records] == model.predict(rows).tolist()


def texts_and_dates(gaps: bool) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    months = np.array(["jan", "feb", "mar", None if gaps else "apr"], dtype=object)
    table = pd.DataFrame({"month": months[rng.integers(0, 4, 200)], "x": rng.normal(size=200)})
    y = np.isin(table["month"].astype(str), ["feb", "mar"]) ^ (rng.random(200) < 0.05)
    days = pd.to_timedelta(rng.integers(0, 900, 200), "D")
    return table.assign(hired=pd.Timestamp("2020-01-01") + days) if gaps else table, np.where(y, "yes", "no")


@pytest.mark.parametrize("listed", [["month"], [0], [True, False, False]], ids=["name", "place", "mask"])
@pytest.mark.parametrize("gaps", [False, True])
def test_columns_that_are_listed_as_categories_may_be_texts(listed, gaps):
    table, y = texts_and_dates(gaps)
    listed = listed[: table.shape[1]]
    model = MIRCOClassifier(HistGradientBoostingClassifier(max_iter=3, categorical_features=listed)).fit(table, y)

    assert model.score(table, y) > 0.9 and "month" in str(model.rules_)
    with pytest.raises(ValueError, match=r"names column 'x', which holds numbers.*astype\({'x': 'category'}\)"):
        MIRCOClassifier(HistGradientBoostingClassifier(categorical_features=["x"])).fit(table, y)


def test_catboost_is_asked_about_texts_by_the_names_of_their_columns() -> None:
    table = pd.DataFrame({"size": np.arange(60.0), "colour": np.tile(["red", "green", "blue"], 20)})
    settings = {"iterations": 3, "cat_features": ["colour"], "one_hot_max_size": 10, "allow_writing_files": False}
    trained = CatBoostClassifier(**settings, verbose=False, random_seed=0).fit(table, (table["size"] > 20).astype(int))
    few = explain(trained, table, trained.predict(table), method="cover", max_rules=1, fallback="model")
    assert few.missed(table).any()

    turned = table[["colour", "size"]]

    np.testing.assert_array_equal(few.predict_proba(turned), few.predict_proba(table))
    assert few.fidelity(turned) == few.fidelity(table)


def test_a_threshold_is_chosen_in_folds_for_catboost_with_its_columns_of_categories() -> None:
    table = pd.DataFrame({"size": np.arange(60.0), "colour": np.tile(["red", "green", "blue"], 20)})
    settings = {"iterations": 3, "cat_features": ["colour"], "one_hot_max_size": 10, "allow_writing_files": False}
    source = CatBoostClassifier(**settings, verbose=False, random_seed=0)
    y = np.where(table["size"] % 7 > 4, "late", "early")
    tuned = MIRCOClassifier(source, random_state=0).fit(table, y).tuned(table, y, recall=0.8, cv=3, label="late")

    assert set(tuned.predict(table)) <= {"late", "early"}


def test_lightgbm_is_asked_about_columns_in_another_order_whose_names_have_blanks() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"net weight": rng.normal(size=90), "size": 9 * rng.normal(size=90)})
    table["shape"] = pd.Categorical(rng.choice(["flat", "round"], 90))
    trained = LGBMClassifier(n_estimators=3, min_child_samples=5, verbose=-1).fit(table, table["net weight"] > 0.3)
    few = explain(trained, table, trained.predict(table), method="cover", max_rules=1, fallback="model")
    assert few.missed(table).any()

    turned = table[["shape", "size", "net weight"]]

    np.testing.assert_array_equal(few.predict_proba(turned), few.predict_proba(table))


@pytest.mark.slow
@pytest.mark.parametrize("gaps", [False, True])
def test_catboost_takes_texts_itself_unless_they_have_gaps(gaps):
    table, y = texts_and_dates(gaps)
    settings = {"iterations": 5, "depth": 3, "verbose": 0, "allow_writing_files": False, "one_hot_max_size": 9}
    model = MIRCOClassifier(CatBoostClassifier(cat_features=["month"], **settings)).fit(table, y)

    assert isinstance(model.estimator_, Pipeline) == gaps
    assert model.score(table, y) > 0.9 and "month" in str(model.rules_)


@pytest.mark.parametrize("kind", [MIRCOClassifier, RCBoostClassifier])
def test_days_that_are_all_different_are_not_taken_for_ids(kind):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"hired": pd.date_range("2015-01-01", periods=600, freq="3D"), "x": rng.normal(size=600)})
    y = (table["hired"] > "2017-04-17") ^ (rng.random(600) < 0.1)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = kind(random_state=0).fit(table, y)

    assert "hired >= 2017" in str(model.rules_)
    assert not [each for each in caught if "looks like an id" in str(each.message)]


def test_boosting_grows_its_trees_on_encoded_columns_whatever_the_encoder_says():
    table, y = mixed_table(80, 4)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    given = [make_pipeline(TableEncoder(native_categories=native), tree) for native in (False, True)]

    plain, native = (RCBoostClassifier(each, max_rmp_calls=1, random_state=0).fit(table, y) for each in given)

    assert plain.rules_ == native.rules_


def test_a_search_is_trained_behind_the_encoder():
    table, y = mixed_table(80, 4)
    search = GridSearchCV(RandomForestClassifier(3, random_state=0), {"max_depth": [1, 2]}, cv=2)

    model = MIRCOClassifier(search).fit(table, y)

    assert set(model.predict(table)) <= {"yes", "no"}
    assert explain(model.estimator_, table, y, method="cover").rules_ == model.rules_


def test_rules_of_rules_are_about_the_table_too():
    table, y = mixed_table(80, 2)
    rows = pd.concat([table, odd_rows(table)], ignore_index=True)

    model = MIRCOClassifier(RCBoostClassifier(max_rmp_calls=1, random_state=0)).fit(table, y)

    assert isinstance(model.estimator_, RCBoostClassifier)
    assert (model.vote_.predict(rows) == model.predict(rows)).all()


def test_gaps_that_the_trees_have_no_route_for_are_named():
    table, y = mixed_table(80, 4)

    with pytest.raises(ValueError, match="contains NaN"):
        MIRCOClassifier(GradientBoostingClassifier(n_estimators=2)).fit(table, y)


@pytest.mark.slow
def test_rules_that_are_to_stay_in_name_levels_of_the_table():
    table, y = mixed_table(80, 5)
    keep = RuleSet.from_text(["colour in {red} and over, time = Yes"], table.columns.tolist())

    model = RulePathClassifier(keep=keep, max_rules=4, choose="last", random_state=0).fit(table, y)

    covered = (table["colour"] == "red") & (table["over, time"] == "Yes")
    assert (model.apply(table)[:, [0]].toarray().ravel() == covered).all()


def test_a_hidden_column_is_not_in_any_rule():
    table, y = mixed_table(80, 6)

    model = RulePathClassifier(forbidden=["over, time"], max_rules=4, choose="last", random_state=0).fit(table, y)

    assert "over, time" not in {clause.name for rule in model.rules_ for clause in rule.clauses}


@pytest.mark.parametrize("source", [None, XGBClassifier(n_estimators=3)], ids=["forest", "XGBoost"])
@pytest.mark.parametrize("hidden", ["over, time", "age"])
def test_nothing_is_said_of_the_values_of_a_hidden_column(hidden, source):
    table, y = mixed_table(80, 6)
    table["same"] = "all"

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        RulePathClassifier(source, forbidden=[hidden], max_rules=4, choose="last", random_state=0).fit(table, y)

    said = [str(warning.message) for warning in caught]
    assert "column 'same' left out: every value is the same." in said
    assert not [sentence for sentence in said if repr(hidden) in sentence]


@pytest.mark.slow
def test_a_boosting_goes_on_where_it_stopped():
    table, y = mixed_table(80, 8)

    warm = RCBoostClassifier(max_rmp_calls=1, warm_start=True, random_state=0).fit(table, y)
    warm.set_params(max_rmp_calls=2).fit(table, y)
    whole = RCBoostClassifier(max_rmp_calls=2, random_state=0).fit(table, y)

    assert warm.rules_ == whole.rules_
    assert (explain(warm, table, y).predict(table) == explain(whole, table, y).predict(table)).all()
    assert [len(each) for each in warm.staged_predict(table)] == [80] * 3


@pytest.mark.parametrize(
    ("columns", "weights", "early_stopping"),
    [
        (["age", "colour"], [1.0, 1.0, 1.0], True),
        (["age", "colour"], [1.0, 0.0, 0.7], True),
        (["age", "colour"], [1.0, 2.0, 3.0], False),
        (["children", "income"], [1.0, 2.0, 3.0], False),
    ],
)
def test_a_boosting_knows_the_rows_that_it_learned_from(columns, weights, early_stopping):
    table, y = mixed_table(60, 0)
    table, weight = table[columns], np.tile(weights, 20)
    model = RCBoostClassifier(max_rmp_calls=1, early_stopping=early_stopping, random_state=0)

    seen = model.fit(table, y, sample_weight=weight).provenance_.data

    counted = weight > 0
    assert seen.rows == counted.sum() * (0.9 if early_stopping else 1.0)
    names = list(seen.columns)
    places = [columns.index(name) for name in names]
    hashes = row_hashes(model._check_rows(table[counted]), places, names, y[counted])
    assert seen.is_of(hashes) != early_stopping


@pytest.mark.slow
@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_what_was_made_of_the_columns_is_said_once(model):
    table, y = mixed_table(80, 0)
    table["note"] = [f"note {row}" for row in range(80)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(table, y)

    said = [str(each.message) for each in caught if issubclass(each.category, RulecoverWarning)]
    assert len([sentence for sentence in said if sentence.startswith("column 'note' left out: ")]) == 1


@pytest.mark.slow
@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_an_id_next_to_texts_is_left_out_with_a_warning(model):
    table, y = mixed_table(80, 0)
    table["customer_id"] = 5000 + np.arange(80)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(table, y)

    said = [str(each.message) for each in caught if issubclass(each.category, RulecoverWarning)]
    assert len([sentence for sentence in said if sentence.startswith("column 'customer_id' left out: ")]) == 1
    assert "customer_id" not in str(model.rules_)


def _many_towns() -> tuple[pd.DataFrame, np.ndarray]:
    """A table in which towns that are rare decide, and there are too many to tell apart."""
    rng = np.random.default_rng(0)
    frequent = [f"town {k:02}" for k in range(49) for _ in range(8)]
    towns = np.array([*frequent, *(f"village {k:02}" for k in range(200))])
    X = pd.DataFrame({"town": towns, "size": rng.normal(size=len(towns))})
    return X, np.where(np.char.startswith(towns, "village"), "yes", "no")


@pytest.mark.slow
def test_the_group_of_rare_levels_is_printed_without_their_names():
    X, y = _many_towns()
    model = MIRCOClassifier(RandomForestClassifier(5, max_features=None, random_state=0), random_state=0).fit(X, y)
    again = from_json(to_json(model)).rules

    for rules in (model.rules_, again):
        texts = {rule.text for rule in rules}
        assert texts == {"town is none of the 49 most frequent", "town is one of the 49 most frequent"}
        assert "If town is none of the 49 most frequent, then" in str(rules.sentences())
        assert all("town 48" in text for text in rules.to_text())
        assert RuleSet.from_text(rules.to_text(), rules.feature_names, categories={"town": X["town"].unique()})
    assert (model.predict(X) == y).all()


@pytest.mark.parametrize("text", ["colour = red", "size > 0.5 and colour = red"])
def test_rules_to_keep_may_be_on_columns_that_the_rules_they_are_kept_with_do_not_use(text: str) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.normal(size=90), "rate": 5 + rng.normal(size=90)})
    table = table.assign(colour=rng.choice(["red", "green"], 90))
    y = ((table["size"] > 0.5) & (table["colour"] == "red")).to_numpy()
    rules = RuleSet.from_text([text, "size <= 0"], list(table), categories={"colour": ["green", "red"]})
    keep = RuleSet.of_intervals([{1: (-np.inf, 5.0)}], list(table))
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    sources = (rules, MIRCOClassifier(tree, random_state=0).fit(table, y))
    for source in sources:
        path = explain(source, table, y, keep=keep, max_rules=3, choose="last")

        assert path.rules_[0].text == "rate <= 5" and path.rules_[0].support == (table["rate"] <= 5).sum()
        np.testing.assert_array_equal(path.apply(table).toarray()[:, 0], table["rate"] <= 5)


def test_rules_to_keep_on_a_table_with_dates_are_exported_with_the_others() -> None:
    rng = np.random.default_rng(0)
    hired = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, 120), "D")
    table = pd.DataFrame({"size": rng.normal(size=120), "hired": hired})
    y = ((table["hired"].dt.month > 6) | (table["size"] > 1)).to_numpy()
    keep = RuleSet.from_text(["size > 0.5"], list(table))

    path = RulePathClassifier(keep=keep, max_rules=4, choose="last", random_state=0).fit(table, y)

    assert path.rules_[0].text == "size > 0.5" and any("hired (month)" in rule.text for rule in path.rules_)
    np.testing.assert_array_equal(from_json(to_json(path)).predict(table), path.predict(table))


# Folds of a table: a column is of the same kind in each ------------------------------------------------------------

#: Texts that are of another kind without the last cell.
KINDS = {
    "dates but for one": [*(f"2024-01-{1 + k % 20:02d}" for k in range(59)), "unknown"],
    "dates that one tells from others": [*(f"0{1 + k % 9}/0{1 + k % 7}/2024" for k in range(59)), "31/12/2024"],
    "shares but for one": [*(f"{k % 20}%" for k in range(59)), "unknown"],
    "shares and a dash": [*(f"{k % 20}%" for k in range(59)), "-"],
    "names of rows but for one": [*(f"2024-{1 + k // 28:02d}-{1 + k % 28:02d}" for k in range(59)), "unknown"],
}


@pytest.mark.parametrize("texts", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_a_fold_without_the_odd_cell_reads_it_all_the_same(texts, frame):
    table, y = frame({"odd": texts, "size": np.arange(60.0) % 11}), np.arange(60) % 20 > 9
    forest = RandomForestClassifier(5, max_depth=3, random_state=0)

    path = RulePathClassifier(forest, max_rules=3, cv=3, random_state=0).fit(table, y)
    MIRCOClassifier(forest, prune="held-out", random_state=0).fit(table, y)
    path.tuned(table, y, recall=0.9, cv=3)

    assert np.isfinite(path.path_["cv_score"]).all()


def test_folds_of_a_table_without_odd_cells_are_those_of_its_numbers():
    """Notations and formats that any part of the rows shows."""
    n = np.arange(60)
    written = {
        "share": [f"{k % 20}.5%" for k in n],
        "when": [f"{20 + k % 9}/01/2024" for k in n],
        "class": [f"c{k % 3}" for k in n],
    }
    plain = {
        "share": [k % 20 + 0.5 for k in n],
        "when": pd.to_datetime([f"2024-01-{20 + k % 9}" for k in n]),
        "class": np.array(list("abc"))[n % 3],
    }
    forest = RandomForestClassifier(5, max_depth=3, random_state=0)
    path = RulePathClassifier(forest, max_rules=3, cv=3, random_state=0)

    scores = [clone(path).fit(pd.DataFrame(each), n % 20 > 9).path_ for each in (written, plain)]

    pd.testing.assert_frame_equal(*scores)


def test_rules_to_keep_name_levels_as_they_are_in_folds_too():
    bands = ["10-20", "20-30", "30-40", "unknown"]
    table = pd.DataFrame({"band": np.array(bands)[np.arange(60) % 4], "size": np.arange(60.0) % 11})
    kept = RuleSet.from_text(['band = "20-30" and size > 4'], ["band", "size"], categories={"band": bands})
    forest = RandomForestClassifier(5, max_depth=3, random_state=0)

    path = RulePathClassifier(forest, max_rules=3, keep=kept, cv=3, random_state=0).fit(table, np.arange(60) % 20 > 9)

    assert path.rules_[0].text == 'band = "20-30" and size >= 5'


@pytest.mark.parametrize("n_classes", [1, 2])
def test_a_table_without_rows_is_refused_in_whole_even_where_rules_use_none_of_its_columns(n_classes: int) -> None:
    table = pd.DataFrame({"colour": list("abab") * 10, "size": range(40), "weight": range(40, 0, -1)})
    cover = MIRCOClassifier(random_state=0).fit(table, np.arange(40) % 2 * (n_classes - 1))

    with pytest.raises(ValueError, match=r"0 sample\(s\) \(shape=\(0, 3\)\)"):
        cover.predict(table.iloc[:0])
