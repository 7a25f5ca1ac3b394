"""Models that are trained in time: on all rows, or on as many as there is time for."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.feature_selection import SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from rulecover import (
    MIRCOClassifier,
    MIRCORegressor,
    RCBoostClassifier,
    RCBoostRegressor,
    RulePathClassifier,
    RulePathRegressor,
    read_trees,
)
from rulecover.estimators import mirco, prepare, rcboost, rulepath
from rulecover.estimators.in_time import SamplingOrder, in_time, sampling_order, trained_in_time, votes_deadline
from rulecover.estimators.prepare import fresh
from rulecover.exceptions import CutShortWarning, UnreadableModelError
from rulecover.export.json_file import to_json
from rulecover.setcover import Greedy, Status

ROWS = 3000
ENDLESS, NO_TIME = 600.0, 1e-3


def numbers_and_classes(n_rows: int = ROWS) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4)).round(2)
    return X, np.where(X[:, 0] * X[:, 1] > 0.2, "yes", "no")


def forest() -> RandomForestClassifier:
    return RandomForestClassifier(5, max_depth=4, random_state=0)


CLASSIFIERS = [
    MIRCOClassifier(forest(), random_state=0),
    RulePathClassifier(forest(), max_rules=5, random_state=0),
    RCBoostClassifier(max_rmp_calls=2, pricing="tree", random_state=0),
    RCBoostClassifier(max_rmp_calls=2, pricing="tree", early_stopping=True, random_state=0),
]
REGRESSORS = [
    MIRCORegressor(RandomForestRegressor(5, max_depth=4, random_state=0), random_state=0),
    RulePathRegressor(RandomForestRegressor(5, max_depth=4, random_state=0), max_rules=5, random_state=0),
    RCBoostRegressor(max_rmp_calls=2, pricing="tree", random_state=0),
]


def fitted(model, X, y, time_limit, **weights):
    """A fitted copy under a limit, and what it says was cut."""
    model = fresh(model).set_params(time_limit=time_limit)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y, **weights)
    return model, " ".join(str(each.message) for each in caught if each.category is CutShortWarning)


@pytest.mark.slow
@pytest.mark.parametrize("model", [*CLASSIFIERS, *REGRESSORS], ids=lambda model: type(model).__name__)
def test_with_time_to_spare_the_model_is_the_one_without_a_limit(model):
    X, y = numbers_and_classes()
    y = y if model in CLASSIFIERS else X[:, 0] * X[:, 1]
    plain, _ = fitted(model, X, y, None)
    limited, cut = fitted(model, X, y, ENDLESS)
    assert cut == ""
    assert str(limited.rules_) == str(plain.rules_)
    assert np.array_equal(limited.predict(X), plain.predict(X))


@pytest.mark.slow
@pytest.mark.parametrize("model", [*CLASSIFIERS[:3], *REGRESSORS], ids=lambda model: type(model).__name__)
def test_a_limit_is_any_kind_of_number(model):
    X, y = numbers_and_classes(300)
    y = y if model in CLASSIFIERS else X[:, 0] * X[:, 1]
    limited, cut = fitted(model, X, y, np.float16(ENDLESS))
    assert cut == "" and str(limited.rules_) == str(fitted(model, X, y, None)[0].rules_)


@pytest.mark.parametrize("model", [*CLASSIFIERS, *REGRESSORS], ids=lambda model: type(model).__name__)
def test_without_time_the_model_is_trained_on_some_rows_and_says_so(model):
    X, y = numbers_and_classes()
    y = y if model in CLASSIFIERS else X[:, 0] * X[:, 1]
    limited, cut = fitted(model, X, y, NO_TIME)
    learned = 2700 if getattr(model, "early_stopping", False) else ROWS  # a tenth is watched
    assert f"the model was trained on 1,000 of {learned:,} rows" in cut
    assert sum(int(tree.left[0] != 0) for tree in read_trees(limited.estimator_).trees)  # it was trained all the same
    assert limited.predict(X).shape == (ROWS,)


def test_a_cover_of_a_model_of_some_rows_covers_all_rows():
    X, y = numbers_and_classes()
    cover, _ = fitted(CLASSIFIERS[0], X, y, NO_TIME)
    assert not cover.missed(X).any()
    assert cover.certificate_.status == Status.TIME_LIMIT


def test_a_path_without_time_says_so_in_the_reason_of_its_size():
    X, y = numbers_and_classes()
    path, _ = fitted(CLASSIFIERS[1], X, y, NO_TIME)
    assert "the model was trained on 1,000 of 3,000 rows" in path.size_reason_
    assert "0 of 5 folds" in path.size_reason_


def test_with_a_checkpoint_the_model_is_trained_on_all_rows(tmp_path):
    X, y = numbers_and_classes()
    kept = RCBoostClassifier(max_rmp_calls=2, pricing="tree", random_state=0, checkpoint=tmp_path / "kept.npz")
    _, cut = fitted(kept, X, y, NO_TIME)
    assert "trained on" not in cut


def test_of_many_columns_fewer_rows_are_trained_on_first():
    X = np.random.default_rng(0).normal(size=(800, 400))
    cover, cut = fitted(MIRCOClassifier(forest(), random_state=0), X, X[:, 0] > 0, NO_TIME)
    assert "the model was trained on 250 of 800 rows" in cut and not cover.missed(X).any()


def test_every_class_is_known_to_a_model_of_some_rows():
    X, _ = numbers_and_classes()
    y = np.full(ROWS, "common", dtype=object)
    y[[17, 1234, 2999]] = "rare"
    y[5] = "once"
    cover, cut = fitted(CLASSIFIERS[0], X, y, NO_TIME)
    assert "1,000 of 3,000" in cut
    assert cover.estimator_.classes_.tolist() == ["common", "once", "rare"]


def test_texts_that_few_rows_have_are_not_new_to_a_pipeline_trained_on_some_rows():
    X, y = numbers_and_classes()
    table = pd.DataFrame({"town": np.where(X[:, 0] > 0, "a", "b"), "size": X[:, 1]})
    table.loc[7, "town"] = "only here"
    strict = make_pipeline(OneHotEncoder(handle_unknown="error"), forest())
    table["size"] = table["size"].round(0).astype(str)
    cover, cut = fitted(MIRCOClassifier(strict, random_state=0), table, y, NO_TIME)
    assert "1,000 of 3,000" in cut
    assert not cover.missed(table).any()


def test_rows_of_no_weight_are_not_trained_on_for_lack_of_time():
    X, y = numbers_and_classes()
    weight = np.ones(ROWS)
    weight[500:] = 0.0
    wrong = np.where(weight > 0, y, "wrong")
    cover, cut = fitted(CLASSIFIERS[0], X, wrong, NO_TIME, sample_weight=weight)
    assert "trained on" not in cut  # 500 rows are few
    assert set(cover.predict(X)) <= {"yes", "no"}


@pytest.mark.parametrize("model", [CLASSIFIERS[0], CLASSIFIERS[1], CLASSIFIERS[3]], ids=["cover", "path", "boosting"])
def test_a_class_whose_rows_all_have_no_weight_is_known_to_a_model_of_some_rows(model):
    X, y = numbers_and_classes()
    y[::50] = "nil"
    limited, cut = fitted(model, X, y, NO_TIME, sample_weight=(y != "nil").astype(float))
    assert "the model was trained on 1,000 of" in cut
    assert limited.classes_.tolist() == ["nil", "no", "yes"]
    assert set(limited.predict(X)) <= {"yes", "no"}


def test_texts_as_labels_of_a_library_that_takes_numbers():
    xgboost = pytest.importorskip("xgboost")
    X, y = numbers_and_classes()
    cover, cut = fitted(MIRCOClassifier(xgboost.XGBClassifier(n_estimators=3)), X, y, NO_TIME)
    assert "1,000 of 3,000" in cut
    assert set(cover.predict(X)) <= {"yes", "no"}


def test_a_path_of_boosted_trees_without_time():
    X, y = numbers_and_classes()
    path, cut = fitted(RulePathClassifier(GradientBoostingClassifier(n_estimators=5), random_state=0), X, y, NO_TIME)
    assert "1,000 of 3,000" in cut
    assert path.predict_proba(X).shape == (ROWS, 2)


def test_more_rows_are_taken_while_there_is_time():
    """A training that takes a microsecond per row, by a clock of its own."""
    sizes: list[int] = []

    def train(rows):
        sizes.append(len(rows))
        begin = time.perf_counter()
        while time.perf_counter() < begin + 1e-6 * len(rows):
            pass
        return len(rows)

    order = SamplingOrder(np.arange(1_000_000), 1000, 1000)
    model, size = trained_in_time(train, order, time.perf_counter() + 0.1)
    assert model == size == sizes[-1]
    assert 10_000 < size <= 110_000
    assert sizes == sorted(sizes)


def test_two_rows_of_each_class_come_first_and_no_row_comes_twice():
    y = np.repeat(np.arange(700), [1] * 300 + [10] * 400)
    order = sampling_order(y, None, classes=True)
    assert order.least == 300 + 2 * 400
    assert sorted(order.rows.tolist()) == list(range(len(y)))
    assert np.bincount(y[order.rows[: order.least]]).tolist() == [1] * 300 + [2] * 400


# Models that are not trained on every 1,000 rows --------------------------------------------------------------------


def many_classes() -> np.ndarray:
    """More classes than a tenth of 1,000 rows can have a row of."""
    return (np.arange(ROWS) % 110).astype(str)


@pytest.mark.parametrize("nothing", ["passthrough", None])
def test_a_step_of_a_pipeline_that_does_nothing_is_no_step_to_copy(nothing):
    X, y = numbers_and_classes()
    behind = Pipeline([("scale", nothing), ("trees", forest())])
    _, cut = fitted(MIRCOClassifier(behind, random_state=0), X, y, NO_TIME)
    assert "1,000 of 3,000" in cut


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingClassifier(n_estimators=1, max_depth=1, n_iter_no_change=1),
        GridSearchCV(DecisionTreeClassifier(max_depth=2), {"min_samples_leaf": [1, 2]}, cv=20),
    ],
    ids=["rows set aside by class", "folds by class"],
)
@pytest.mark.slow
def test_more_rows_are_taken_where_1000_have_too_few_of_each_class(model):
    X, _ = numbers_and_classes()
    cover, _ = fitted(MIRCOClassifier(model, random_state=0), X, many_classes(), NO_TIME)
    assert len(cover.classes_) == len(cover.estimator_.classes_) == 110


def test_rows_are_doubled_until_there_is_no_error_and_that_of_all_rows_is_told():
    sizes: list[int] = []

    def train(rows):
        sizes.append(len(rows))
        if len(rows) < least:
            raise ValueError(f"{len(rows)} rows are too few")
        return len(rows)

    order, least = SamplingOrder(np.arange(10_000), 1000, 1000), 3000
    assert trained_in_time(train, order, time.perf_counter()) == (4000, 4000)
    assert sizes == [1000, 2000, 4000]
    least = 20_000
    with pytest.raises(ValueError, match="10000 rows are too few"):
        trained_in_time(train, order, time.perf_counter())


def test_a_model_that_cannot_be_read_is_told_at_once():
    X, y = numbers_and_classes()
    search = GridSearchCV(forest(), {"max_depth": [1, 2]}, refit=False, cv=2)
    with pytest.raises(UnreadableModelError, match="refit=False"):
        MIRCOClassifier(search, time_limit=NO_TIME).fit(X, y)


@pytest.mark.parametrize(
    "model",
    [
        GridSearchCV(make_pipeline(StandardScaler(), forest()), {"standardscaler__with_mean": [True, False]}, cv=2),
        VotingClassifier([("scaled", make_pipeline(StandardScaler(), forest())), ("plain", forest())], voting="soft"),
        make_pipeline(SelectFromModel(forest()), forest()),
    ],
    ids=["a search over a pipeline", "a vote of a pipeline", "columns chosen by a forest"],
)
def test_models_around_pipelines_are_trained_on_some_rows(model):
    X, y = numbers_and_classes()
    cover, cut = fitted(MIRCOClassifier(model, random_state=0), X, y, NO_TIME)
    assert "1,000 of 3,000" in cut
    assert not cover.missed(X).any()


def test_a_forest_that_chooses_columns_is_not_trained_on_all_rows(monkeypatch):
    X, y = numbers_and_classes()
    most, fit = [0], RandomForestClassifier.fit

    def counted(self, X, y, **weights):
        most[0] = max(most[0], len(X))
        return fit(self, X, y, **weights)

    monkeypatch.setattr(RandomForestClassifier, "fit", counted)
    fitted(MIRCOClassifier(make_pipeline(SelectFromModel(forest()), forest()), random_state=0), X, y, NO_TIME)
    assert most == [1000]


def test_values_that_are_new_to_an_encoder_inside_a_search_ask_for_more_rows():
    X, y = numbers_and_classes()
    codes = X.round(0)
    codes[7, 0] = 99.0  # which few samples have
    strict = make_pipeline(OneHotEncoder(handle_unknown="error", sparse_output=False), forest())
    search = GridSearchCV(strict, {"randomforestclassifier__max_depth": [2]}, cv=[(np.arange(10), np.arange(10))])
    cover, _ = fitted(MIRCOClassifier(search, random_state=0), codes, y, NO_TIME)
    assert not cover.missed(codes).any()


def table_of_categories() -> tuple[pd.DataFrame, np.ndarray]:
    X, y = numbers_and_classes()
    table = pd.DataFrame({"town": np.where(X[:, 0] > 0, "a", "b"), "size": X[:, 1]})
    table.loc[7, "town"] = "only here"
    return table.astype({"town": "category"}), y


@pytest.mark.parametrize("library", ["xgboost", "lightgbm", "catboost", "sklearn"])
def test_models_that_know_categories_are_trained_on_some_rows(library):
    pytest.importorskip(library)
    table, y = table_of_categories()
    cover, cut = fitted(MIRCOClassifier(knows_categories(library), random_state=0), table, y, NO_TIME)
    assert "1,000 of 3,000" in cut
    assert not cover.missed(table).any()
    assert "only here" in set(table["town"])
    assert cover.predict(table).shape == (ROWS,)


def knows_categories(library):
    if library == "xgboost":
        from xgboost import XGBClassifier

        return XGBClassifier(n_estimators=2, enable_categorical=True, n_jobs=1)
    if library == "lightgbm":
        from lightgbm import LGBMClassifier

        return LGBMClassifier(n_estimators=2, verbose=-1, n_jobs=1)
    if library == "catboost":
        from catboost import CatBoostClassifier

        settings = {"one_hot_max_size": 10, "verbose": 0, "allow_writing_files": False}
        return CatBoostClassifier(iterations=2, cat_features=["town"], **settings)
    return HistGradientBoostingClassifier(max_iter=2)


# Models of ours inside, and models that are trained again ------------------------------------------------------------


def test_a_model_of_ours_keeps_the_limit_itself_and_its_settings():
    X, y = numbers_and_classes()
    path, cut = fitted(RulePathClassifier(CLASSIFIERS[2], max_rules=5, random_state=0), X, y, NO_TIME)
    assert "its RCBoostClassifier was cut short" in cut
    assert path.estimator_.time_limit is None


@pytest.mark.slow
def test_a_model_of_ours_with_time_to_spare_is_the_one_without_a_limit():
    X, y = numbers_and_classes()
    path = RulePathClassifier(CLASSIFIERS[2], max_rules=3, cv=2, random_state=0)
    plain, _ = fitted(path, X, y, None)
    limited, cut = fitted(path, X, y, ENDLESS)
    assert cut == ""
    assert limited.rules_ == plain.rules_
    assert limited.size_reason_ == plain.size_reason_


@pytest.mark.parametrize("kind", [RCBoostClassifier, RCBoostRegressor])
def test_few_rules_of_a_boosting_keep_one_limit_for_boosting_and_path(kind):
    assert kind.few_rules(5, time_limit=7).time_limit == 7
    X, y = numbers_and_classes()
    few, cut = fitted(kind.few_rules(5, random_state=0), X, y == "yes", NO_TIME)
    assert "was cut short" in cut
    assert "the path ends at" in cut
    assert few.predict(X).shape == (ROWS,)


def test_models_that_are_trained_in_folds_alone_end_in_time_as_well(monkeypatch):
    """A frozen forest says nothing of what its training takes: a fold gives up once time is up."""
    X, y = numbers_and_classes()
    sizes, fit = [], RandomForestClassifier.fit

    def slow(self, X, y, **weights):
        sizes.append(len(X))
        time.sleep(len(X) / 1000)
        return fit(self, X, y, **weights)

    trained = forest().fit(X, y)
    monkeypatch.setattr(RandomForestClassifier, "fit", slow)
    begin = time.perf_counter()
    path, cut = fitted(RulePathClassifier(FrozenEstimator(trained), max_rules=2, random_state=0), X, y, 1.5)
    assert sizes == [1000]
    assert time.perf_counter() - begin < 3.5
    assert "its size was chosen in 0 of 5 folds" in cut
    assert len(path.rules_) == 2


def test_boosting_that_is_watched_trains_its_first_tree_once_if_time_is_short(monkeypatch):
    X, y = numbers_and_classes()
    sizes, fit = [], DecisionTreeClassifier.fit

    def counted(self, X, y, sample_weight=None):
        sizes.append(len(X))
        return fit(self, X, y, sample_weight)

    monkeypatch.setattr(DecisionTreeClassifier, "fit", counted)
    _, cut = fitted(RCBoostClassifier(max_rmp_calls=0, pricing="tree", early_stopping=True), X, y, ENDLESS)
    assert cut == ""
    assert sizes == [1000, 1000, 2700]


def test_a_warm_start_trains_its_first_tree_again_if_it_was_one_of_some_rows():
    X, y = numbers_and_classes()
    warm = RCBoostClassifier(max_rmp_calls=2, pricing="tree", warm_start=True, random_state=0)
    with pytest.warns(CutShortWarning, match="1,000 of 3,000"):
        warm.set_params(time_limit=NO_TIME).fit(X, y)
    warm.set_params(time_limit=None).fit(X, y)
    plain, _ = fitted(CLASSIFIERS[2], X, y, None)
    assert warm.rules_ == plain.rules_


def test_a_warm_start_begins_no_call_that_would_end_late():
    X, y = numbers_and_classes()
    warm = RCBoostClassifier(max_rmp_calls=1, pricing="tree", warm_start=True, random_state=0).fit(X, y)
    with pytest.warns(CutShortWarning, match="1 of up to 3 calls were made"):
        warm.set_params(max_rmp_calls=3, time_limit=NO_TIME).fit(X, y)
    assert warm.n_rmp_calls_ == 1


# What comes after the training ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        MIRCOClassifier(forest(), vote="log-odds", random_state=0),
        MIRCOClassifier(forest(), vote="fitted", random_state=0),
        MIRCORegressor(RandomForestRegressor(5, max_depth=4, random_state=0), ridge=0.5, random_state=0),
    ],
    ids=["log-odds", "fitted", "values"],
)
def test_votes_that_would_take_too_long_are_fitted_to_some_rows(model, monkeypatch):
    X, y = numbers_and_classes()
    y = y if isinstance(model, MIRCOClassifier) else X[:, 0] * X[:, 1]
    monkeypatch.setattr(mirco, "votes_deadline", lambda end: end - 100.0)
    cover, cut = fitted(model, X, y, 50.0)
    assert (
        cut
        == "time_limit is 50 s: votes were fitted to 1,000 of 3,000 rows; give more time, or a model of fewer trees."
    )
    assert cover.certificate_.status != Status.TIME_LIMIT  # the choice was not cut
    assert not cover.missed(X).any()


def test_votes_have_half_a_second_however_late_it_is():
    now = time.perf_counter()
    assert 0.4 < votes_deadline(now - 60.0) - now < 0.6
    assert votes_deadline(now + 60.0) == now + 61.0


def test_a_boosting_fits_its_votes_in_time(monkeypatch):
    X, y = numbers_and_classes()
    monkeypatch.setattr(rcboost, "votes_deadline", lambda end: end - 100.0)
    model = RCBoostClassifier(max_rmp_calls=1, pricing="tree", vote="log-odds", random_state=0)
    boosted, cut = fitted(model, X, y, 50.0)
    assert (
        cut == "time_limit is 50 s: votes were fitted to 1,000 of 3,000 rows; give more time, or a sample of the rows."
    )
    assert boosted.score(X, y) > 0.8


@pytest.mark.parametrize(
    ("model", "module"),
    [
        (RCBoostClassifier(max_rmp_calls=1, pricing="tree", vote="log-odds", random_state=0), rcboost),
        (MIRCOClassifier(forest(), solver="exact", vote="log-odds", random_state=0), mirco),
    ],
    ids=["RCBoost", "MIRCO"],
)
def test_a_checkpoint_stays_until_votes_are_fitted_to_all_rows(model, module, monkeypatch, tmp_path):
    X, y = numbers_and_classes()
    model = clone(model).set_params(checkpoint=tmp_path / "work.npz")
    with monkeypatch.context() as patched:
        patched.setattr(module, "votes_deadline", lambda end: end - 100.0)
        cut = fitted(model, X, y, 50.0)[1]
    assert "votes were fitted to 1,000 of 3,000 rows" in cut and model.checkpoint.exists()

    whole = clone(model).set_params(checkpoint=tmp_path / "other.npz").fit(X, y)
    assert to_json(clone(model).fit(X, y)) == to_json(whole) and not model.checkpoint.exists()


def test_a_model_that_is_slow_to_ask_is_not_asked_about_all_rows():
    asked: list[int] = []

    def slow(rows):
        asked.append(len(rows))
        time.sleep(len(rows) * 1e-5)
        return len(rows)

    rows = np.arange(100_000)  # one second
    with pytest.raises(TimeoutError):
        in_time(slow, rows, time.perf_counter() + 0.5)
    assert asked == [1000]
    assert in_time(slow, rows, None) == 100_000
    assert in_time(slow, rows[:1599], time.perf_counter() + 60) == 1599
    assert asked == [1000, 100_000, 1599]


@pytest.mark.parametrize("again", [True, False], ids=["trained again in folds", "kept in folds"])
def test_a_path_whose_model_is_slow_to_ask_does_without_it(again, monkeypatch):
    X, y = numbers_and_classes(20_000)
    trained = ExtraTreesClassifier(5, max_depth=4, random_state=0).fit(X, y)  # which has no out-of-bag predictions
    ask, begin = ExtraTreesClassifier.predict_proba, time.perf_counter()

    def slow(self, X):
        time.sleep(len(X) / 1000)
        return ask(self, X)

    monkeypatch.setattr(ExtraTreesClassifier, "predict_proba", slow)
    path = RulePathClassifier(FrozenEstimator(trained), max_rules=2, model_share=0.0, train_in_folds=again, cv=2)
    path, cut = fitted(path, X, y, 4.0)
    assert time.perf_counter() - begin < 4.0 + 2.0
    assert "its size was chosen in 0 of 2 folds" in cut
    assert "the model itself was not scored on the training rows" in cut


@pytest.mark.parametrize(("model", "unknown"), [(forest(), False), (MIRCOClassifier(), True)])
def test_it_is_known_which_rows_were_drawn_by_fewer_trees_of_all_rows(model, unknown):
    found = prepare.Prepared(None, np.arange(3), prepare.Source(model), "the model was trained with 3 % of its trees")
    assert rulepath._is_unknown(found) == unknown
    assert not rulepath._is_unknown(replace(found, trained_on=np.arange(2)))
    assert not rulepath._is_unknown(replace(found, cut=""))


def test_a_first_tree_on_bins_is_grown_on_some_rows_and_no_call_is_made():
    pytest.importorskip("xgboost")
    X, y = numbers_and_classes()
    model = RCBoostClassifier(pricing="binned", random_state=0)
    boosted, cut = fitted(model, X, y, NO_TIME)
    assert "the model was trained on 1,000 of 3,000 rows" in cut
    assert "0 of up to" in cut
    assert boosted.score(X, y) > 0.8
    assert not boosted.missed(X).any()
    limited, cut = fitted(RCBoostClassifier(pricing="binned", max_rmp_calls=2, random_state=0), X, y, ENDLESS)
    plain, _ = fitted(RCBoostClassifier(pricing="binned", max_rmp_calls=2, random_state=0), X, y, None)
    assert cut == ""
    assert limited.rules_ == plain.rules_


@pytest.mark.parametrize("pricing", ["tree", "forest"])
def test_the_trees_of_a_trained_model_are_not_said_to_be_trained_on_some_rows(pricing):
    X, y = numbers_and_classes()
    source = FrozenEstimator(forest().fit(X, y))
    _, cut = fitted(RCBoostClassifier(source, pricing=pricing, random_state=0), X, y, NO_TIME)
    assert "trained on" not in cut


def test_a_forest_of_some_rows_predicts_the_rows_that_it_drew_out_of_bag(monkeypatch):
    X, y = numbers_and_classes()
    asked, ask = [], rulepath.RulePath._honest_model

    def known(path, X, prepared):
        asked.append(ask(path, X, prepared))
        return asked[-1]

    monkeypatch.setattr(rulepath.RulePath, "_honest_model", known)
    monkeypatch.setattr(rulepath, "training_deadline", lambda begin, limit: begin)
    whole = RandomForestClassifier(40, random_state=0, oob_score=True)
    fitted(RulePathClassifier(whole, max_rules=1, choose="last", random_state=0), X, y, ENDLESS)
    honest = asked[-1]  # of all rows; a few were asked about before
    drawn = np.flatnonzero(honest.places < 1000)
    assert len(drawn) == 1000
    assert (np.delete(honest.places, drawn) == 1000).all()
    forest = honest.source.model
    np.testing.assert_allclose(honest.predict_proba(X)[drawn], forest.oob_decision_function_)
    np.testing.assert_allclose(
        np.delete(honest.predict_proba(X) - forest.predict_proba(X), drawn, axis=0), 0, atol=1e-9
    )


def test_a_vote_without_probabilities_of_some_rows_is_asked_as_one_of_all_rows(monkeypatch):
    X, y = numbers_and_classes()
    vote = VotingClassifier([("one", forest()), ("other", forest())])
    path = RulePathClassifier(vote, max_rules=2, choose="last", model_share=0.5, random_state=0)
    monkeypatch.setattr(rulepath, "training_deadline", lambda begin, limit: begin)
    path, cut = fitted(path, X, y, ENDLESS)
    assert "1,000 of 3,000" in cut
    assert path.score(X, y) > 0.6


def test_a_cover_whose_solver_knows_no_limit_is_made_of_some_rows_inside_a_path():
    X, y = numbers_and_classes()

    def greedy(problem, *, max_rules=None):
        return Greedy()(problem, max_rules=max_rules)

    cover = MIRCOClassifier(forest(), solver=greedy, random_state=0)
    path, cut = fitted(RulePathClassifier(cover, max_rules=2, choose="last", random_state=0), X, y, NO_TIME)
    assert "the model was trained on 1,000 of 3,000 rows" in cut
    assert len(path.rules_) >= 1


def test_what_else_a_model_that_keeps_its_limit_warns_of_is_passed_on():
    model = MIRCOClassifier(forest(), time_limit=9.0)
    limits = []

    def train():
        limits.append(model.time_limit)
        warnings.warn("odd rows", RuntimeWarning, stacklevel=1)
        warnings.warn("cut", CutShortWarning, stacklevel=1)
        return model

    with pytest.warns(RuntimeWarning, match="odd rows") as caught:
        trained, cut, *_ = prepare._within_limit(model, time.perf_counter() + 3.0, train)

    assert len(caught) == 1
    assert cut == "its MIRCOClassifier was cut short"
    assert limits[0] == pytest.approx(3.0, abs=0.5)
    assert trained is model
    assert model.time_limit == 9.0


@pytest.mark.parametrize("model", [MIRCOClassifier(), RulePathClassifier(), RCBoostClassifier()], ids=repr)
def test_lists_of_rows_are_rows_with_a_limit_too(model: Any) -> None:
    X, y = load_iris(return_X_y=True)
    limited = clone(model).set_params(time_limit=60, random_state=0).fit(X.tolist(), y.tolist())

    assert to_json(limited.vote_) == to_json(clone(model).set_params(random_state=0).fit(X, y).vote_)
