"""Many classes and many trees under a time limit: fewer trees, rows of some classes, paths followed on some rows."""

from __future__ import annotations

import pickle
import time
import warnings
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, HistGradientBoostingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 - without it there is no HalvingRandomSearchCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, HalvingRandomSearchCV, KFold, LeaveOneOut, RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

from rulecover import MIRCOClassifier, RCBoostClassifier, RulePathClassifier, read_trees
from rulecover.estimators import fewer_trees, in_time
from rulecover.estimators.fewer_trees import (
    FewTrees,
    has_trees_to_spare,
    share_left,
    trained_with_fewer_trees,
    trees_in_words,
    with_share_of_trees,
)
from rulecover.estimators.in_time import SamplingOrder, rows_to_follow, sampling_order
from rulecover.estimators.other_target import knows_all_classes
from rulecover.exceptions import CutShortWarning, UnreadableModelError
from rulecover.export.json_file import to_json
from rulecover.targets.classes.samples import ClassSamples

CLASSES = 60
NO_TIME = 1e-3
FEW_ROWS = SamplingOrder(np.arange(5000), least=1000, fewest=1000)
ALL_TREES = FewTrees(None, 1.0, 1000)


@pytest.fixture(autouse=True)
def no_time_in_any_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fewer_trees, "_AT_LEAST", 0.0)


def many_classes(rows_per_class: int = 20) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(CLASSES), rows_per_class)
    return (rng.normal(size=(CLASSES, 4))[y] * 4 + rng.normal(size=(len(y), 4))).round(2), y


def forest(**settings: Any) -> RandomForestClassifier:
    return RandomForestClassifier(50, max_depth=6, random_state=0, **settings)


def fitted(model: Any, X: Any, y: Any) -> tuple[Any, str]:
    """The fitted model, and what it says was cut."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    return model, " ".join(str(each.message) for each in caught if each.category is CutShortWarning)


@pytest.mark.parametrize("rows_per_class", [20, 4])
@pytest.mark.parametrize("source", [forest(), make_pipeline(StandardScaler(), forest())], ids=["forest", "pipeline"])
def test_without_time_for_many_classes_a_cover_is_one_of_fewer_trees(source: Any, rows_per_class: int) -> None:
    X, y = many_classes(rows_per_class)
    model, cut = fitted(MIRCOClassifier(source, time_limit=NO_TIME), X, y)

    assert "with 2 % of its trees" in cut
    assert ("the model was trained on 1,000 of 1,200 rows" in cut) == (rows_per_class == 20)
    assert len(read_trees(model.estimator_).trees) == 1
    assert model.classes_.tolist() == list(range(CLASSES))
    assert not model.missed(X).any()


def test_time_for_some_trees_is_used() -> None:
    shares = []

    def train(rows: np.ndarray, share: float) -> float:
        shares.append(share)
        time.sleep(0.01 + 0.5 * share)
        return share

    few = trained_with_fewer_trees(train, FEW_ROWS, time.perf_counter() + 0.3, partial(max, 0.01))

    assert few.model == few.share == shares[-1] and few.n_rows == 1000
    assert shares == sorted(shares) and 3 <= len(shares) <= 6 and 0.1 < few.share < 0.6


def test_trees_have_half_a_second_in_any_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fewer_trees, "_AT_LEAST", 0.5)

    def train(rows: np.ndarray, share: float) -> float:
        time.sleep(0.3 * share)
        return share

    assert trained_with_fewer_trees(train, FEW_ROWS, time.perf_counter(), partial(max, 0.01)) == ALL_TREES


def test_of_many_classes_rows_of_all_are_trained_on_if_there_is_time() -> None:
    n_rows = []

    def train(rows: np.ndarray, share: float) -> int:
        n_rows.append(len(rows))
        time.sleep(0.05)
        return len(rows)

    order, half = SamplingOrder(np.arange(10_000), least=2000, fewest=1000), partial(max, 0.5)
    assert trained_with_fewer_trees(train, order, time.perf_counter() + 0.1, half) == FewTrees(1000, 0.5, 1000)
    assert n_rows == [1000]
    assert trained_with_fewer_trees(train, order, time.perf_counter() + 60, half) == FewTrees(None, 1.0, 2000)
    assert n_rows == [1000, 1000, 2000]


def test_of_many_classes_all_trees_are_trained_on_rows_of_some_if_there_is_time_for_no_more() -> None:
    seen = []

    def train(rows: np.ndarray, share: float) -> str:
        seen.append((len(rows), round(share, 3)))
        time.sleep(1e-4 * len(rows))
        return "a model"

    order, half = SamplingOrder(np.arange(10_000), least=5000, fewest=1000), partial(max, 0.5)
    few = trained_with_fewer_trees(train, order, time.perf_counter() + 0.6, half)
    assert few == FewTrees("a model", 1.0, 1000)
    assert seen == [(1000, 0.0), (1000, 1.0)]


def test_an_error_of_a_library_with_few_rows_is_left_to_more_rows_and_one_of_ours_is_raised() -> None:
    n_rows = []

    def too_few(rows: np.ndarray, share: float) -> None:
        n_rows.append(len(rows))
        raise ValueError("rows are few")

    def unreadable(rows: np.ndarray, share: float) -> None:
        raise UnreadableModelError("no trees")

    order = SamplingOrder(np.arange(5000), 2000, 1000)
    assert trained_with_fewer_trees(too_few, order, 0.0) == FewTrees(None, 1.0, 2000)
    assert n_rows == [1000, 2000, 4000, 5000]
    with pytest.raises(UnreadableModelError, match="no trees"):
        trained_with_fewer_trees(unreadable, FEW_ROWS, 0.0)


@pytest.mark.parametrize(
    ("source", "trees", "said"),
    [
        (forest().set_params(n_estimators=np.int64(10)), 1, "10 % of its trees"),
        (BaggingClassifier(forest(), n_estimators=10, random_state=0), 1, "0.2 % of its trees"),
    ],
    ids=["few trees", "forests in a bag"],
)
def test_the_share_of_the_trees_that_is_said_is_that_of_the_model(source: Any, trees: int, said: str) -> None:
    model, cut = fitted(MIRCOClassifier(source, time_limit=NO_TIME), *many_classes())

    assert said in cut
    assert len(read_trees(model.estimator_).trees) == trees


def test_time_is_judged_by_the_trees_that_were_trained() -> None:
    def train(rows: np.ndarray, share: float) -> float:
        time.sleep(0.05)
        return share

    assert trained_with_fewer_trees(train, FEW_ROWS, time.perf_counter() + 0.6, partial(max, 0.1)) == ALL_TREES


@pytest.mark.parametrize(
    "search",
    [
        GridSearchCV(forest(), {"max_depth": [2, 3], "n_estimators": [50, 60]}, cv=3),
        RandomizedSearchCV(forest(), {"max_depth": [2, 3, 4]}, n_iter=3, random_state=0),
        GridSearchCV(make_pipeline(StandardScaler(), forest()), {"randomforestclassifier__max_depth": [2, 3]}),
    ],
    ids=["grid", "at random", "pipeline"],
)
def test_a_search_without_time_is_left_out(search: Any) -> None:
    X, y = many_classes()
    model, cut = fitted(MIRCOClassifier(search, time_limit=NO_TIME, random_state=0), X, y)

    assert "the model was trained on 1,000 of 1,200 rows, without its search, with 2 % of its trees" in cut
    assert len(read_trees(model.estimator_).trees) == 1
    assert not model.missed(X).any()


def test_with_little_time_for_a_search_it_is_left_out_and_with_enough_it_is_made() -> None:
    for time_left, made in ((0.5, False), (60.0, True)):
        search = GridSearchCV(forest(), {"max_depth": [2, 3]}, cv=4)
        shares = []

        def train(rows: np.ndarray, share: float, search: Any = search, shares: list[float] = shares) -> None:
            shares.append(share_left(search, share))
            time.sleep(shares[-1])

        few = trained_with_fewer_trees(train, FEW_ROWS, time.perf_counter() + time_left, partial(share_left, search))
        assert (few == ALL_TREES) == made
        assert made or few.share == shares[-1] == 1 / 9


def test_a_search_is_made_in_whole_or_not_at_all() -> None:
    search = GridSearchCV(forest(), {"max_depth": [2, 3]}, cv=2)
    for share, trees in ((0.001, 1), (0.1, 25), (0.5, 50)):
        few = with_share_of_trees(clone(search), share)
        assert isinstance(few, RandomForestClassifier) and few.n_estimators == trees
        assert share_left(search, share) == pytest.approx(trees / 250)
    assert with_share_of_trees(search, 1.0) is search
    assert has_trees_to_spare(GridSearchCV(DecisionTreeClassifier(), {"max_depth": [2, 3]}, cv=LeaveOneOut()))


def test_searches_inside_others_are_left_out_and_folds_that_are_there_once_are_not_used_up() -> None:
    grid = {"n_estimators": [100, 300]}
    inside = VotingClassifier([("search", GridSearchCV(forest(), grid, cv=2)), ("tree", DecisionTreeClassifier())])
    assert share_left(inside, 0.0) == 1 / 1000
    assert trees_in_words(inside, share_left(inside, 0.0)) == "without its search, with 2 % of its trees"
    few = with_share_of_trees(inside, 0.01).get_params()["search"]
    assert isinstance(few, RandomForestClassifier) and few.n_estimators == 10
    X, y = many_classes()
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    search = GridSearchCV(forest(), {"max_depth": [2, 3]}, cv=iter(folds))
    model, cut = fitted(MIRCOClassifier(search, time_limit=600, random_state=0), X, y)
    assert cut == "" and model.estimator_.n_estimators == 50


def test_wrong_settings_of_a_search_are_left_to_the_search() -> None:
    for wrong in ({"param_grid": None}, {"param_grid": {"max_depth": [1]}, "cv": 1}):
        assert share_left(GridSearchCV(forest(), **wrong), 1.0) == 1.0
    assert share_left(RandomizedSearchCV(forest(), {"max_depth": [2]}, n_iter="x"), 1.0) == 1.0
    assert share_left(HalvingRandomSearchCV(forest(), {"max_depth": [2]}), 1.0) == 1.0


def test_frozen_parts_stay_as_they_are() -> None:
    X, y = many_classes()
    kept = forest().fit(X, y)
    vote = VotingClassifier([("kept", FrozenEstimator(kept)), ("other", forest())], voting="soft")
    model, cut = fitted(MIRCOClassifier(vote, time_limit=NO_TIME, random_state=0), X, y)
    assert "2 % of its trees" in cut
    assert kept.n_estimators == 50 and len(model.estimator_.estimators_[1].estimators_) == 1


def test_where_few_rows_are_an_error_more_are_taken_with_one_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = many_classes()
    source = CalibratedClassifierCV(forest(), cv=15)  # needs fifteen rows of each class
    model, cut = fitted(MIRCOClassifier(source, time_limit=NO_TIME, random_state=0), X, y)
    assert "with 2 % of its trees" in cut and len(read_trees(model.estimator_).trees) == 15


def test_a_forest_of_very_many_trees_is_one_of_few_of_them() -> None:
    X, y = many_classes()
    begin = time.perf_counter()
    source = RandomForestClassifier(10**6, max_depth=3, random_state=0)
    model, cut = fitted(MIRCOClassifier(source, time_limit=NO_TIME), X[:500], y[:500])

    assert "of its trees" in cut
    assert time.perf_counter() - begin < 30.0  # all of them would take ten minutes
    assert len(model.estimator_.estimators_) == 1
    assert not model.missed(X[:500]).any()


@pytest.mark.slow
@pytest.mark.parametrize("model", [MIRCOClassifier(forest()), RulePathClassifier(forest(), max_rules=3)], ids=repr)
def test_with_time_to_spare_many_classes_change_nothing(model: Any) -> None:
    X, y = many_classes()
    limited, cut = fitted(clone(model).set_params(random_state=0, time_limit=600), X, y)

    assert cut == ""
    assert to_json(limited.vote_) == to_json(clone(model).set_params(random_state=0).fit(X, y).vote_)


@pytest.mark.parametrize(
    ("model", "setting", "few"),
    [
        (forest(), "n_estimators", 10),
        (HistGradientBoostingClassifier(max_iter=30), "max_iter", 6),
        (LGBMClassifier(), "n_estimators", 20),
        (XGBClassifier(), "n_estimators", 20),
        (CatBoostClassifier(), "iterations", 200),
        (CatBoostClassifier(n_estimators=10), "n_estimators", 2),
        (CatBoostClassifier(num_trees=30), "num_trees", 6),
        (LGBMClassifier(num_iterations=30), "num_iterations", 6),
        (LGBMClassifier(num_round=30), "num_round", 6),
        (VotingClassifier([("a", forest()), ("b", DecisionTreeClassifier())]), "a__n_estimators", 10),
        (make_pipeline(StandardScaler(), forest()), "randomforestclassifier__n_estimators", 10),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_share_of_the_trees_of_every_library(model: Any, setting: str, few: int) -> None:
    assert has_trees_to_spare(model)
    assert with_share_of_trees(clone(model), 0.2).get_params()[setting] == few
    assert with_share_of_trees(clone(model), 0.001).get_params()[setting] == max(1, few // 200)
    assert with_share_of_trees(model, 1.0) is model


@pytest.mark.parametrize(
    "model", [DecisionTreeClassifier(), LogisticRegression(max_iter=500), forest().set_params(n_estimators=1)]
)
def test_models_without_trees_to_spare_stay_as_they_are(model: Any) -> None:
    assert not has_trees_to_spare(model)
    assert with_share_of_trees(clone(model), 0.1).get_params() == model.get_params()


def test_a_path_without_time_is_followed_on_some_rows_and_counted_on_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_time, "_RESPONSES", 1.0)
    X, y = many_classes(40)
    path, cut = fitted(RulePathClassifier(forest(), max_rules=5, random_state=0, time_limit=NO_TIME), X, y)

    said = "rules were chosen on 100 of 2,400 rows"
    assert said in cut
    assert said in path.size_reason_
    covered = path.rules_.apply(X).toarray().T
    counts = np.array([np.bincount(y[mask], minlength=CLASSES) for mask in covered])
    np.testing.assert_array_equal(path.rules_.evidence.sums, counts)
    assert path.predict_proba(X).shape == (len(y), CLASSES)
    assert path.provenance_.data is not None and path.provenance_.data.rows == len(y)


def test_all_rows_are_followed_where_there_is_time() -> None:
    X, y = many_classes()
    samples = ClassSamples.of(X, y, np.arange(CLASSES), None, None)

    assert rows_to_follow(samples, CLASSES, 100, None) is None
    assert rows_to_follow(samples, CLASSES, 100, time.perf_counter() + 60) is None
    assert rows_to_follow(samples, 10**6, 100, time.perf_counter()).tolist() == sorted(
        in_time.sampling_order(samples.y, None, classes=True).rows[:100].tolist()
    )
    assert 900 < len(rows_to_follow(samples, 10**4, 1, time.perf_counter() + 2.0)) < 1000
    assert 1000 < len(rows_to_follow(samples, 10**4, 0, time.perf_counter() + 2.3)) < 1200


def test_a_path_is_followed_on_a_hundred_rows_at_least() -> None:
    for rows_per_class, n_rows in ((2, 100), (1, None)):
        X, y = many_classes(rows_per_class)
        samples = ClassSamples.of(X, y, np.arange(CLASSES), None, None)
        some = rows_to_follow(samples, 10**6, 100, time.perf_counter())
        assert (None if some is None else len(some)) == n_rows


def test_a_model_with_columns_of_categories_is_copied_as_well() -> None:
    X, y = many_classes()
    table = pd.DataFrame(X, columns=list("abcd")).assign(colour=np.where(X[:, 0] > 0, "red", "blue"))
    source = CatBoostClassifier(
        iterations=60, depth=2, cat_features=["colour"], verbose=False, allow_writing_files=False
    )
    model, cut = fitted(MIRCOClassifier(source, time_limit=NO_TIME, random_state=0), table, y)

    assert "with 1.7 % of its trees" in cut
    assert not model.missed(table).any()


# Rows of some of the classes ------------------------------------------------------------------------------------------

HUNDREDS = 700


def hundreds_of_classes() -> tuple[pd.DataFrame, np.ndarray]:
    """Seven rows of each class, whose labels are texts."""
    rng = np.random.default_rng(0)
    code = np.tile(np.arange(HUNDREDS), 7)
    X = (rng.normal(size=(HUNDREDS, 4))[code] * 4 + rng.normal(size=(len(code), 4))).round(2)
    return pd.DataFrame(X, columns=list("abcd")), np.array([f"c{each:03d}" for each in code])


@pytest.mark.parametrize("weighted", [False, True])
def test_the_fewest_rows_are_two_of_each_of_their_classes(weighted: bool) -> None:
    rng = np.random.default_rng(1)
    y = rng.permutation(np.concatenate([np.repeat(np.arange(900), 3), np.arange(900, 1100)]))
    weight = rng.integers(0, 3, len(y)).astype(float) if weighted else None
    order = sampling_order(y, weight, classes=True)

    counted = np.ones(len(y), dtype=bool) if weight is None else weight > 0
    assert len(np.unique(order.rows)) == len(order.rows)
    assert set(y[order.rows[: order.least]]) == set(y)
    assert order.fewest <= 1000 < order.least
    labels, counts = np.unique(y[order.rows[: order.fewest]], return_counts=True)
    assert counts.tolist() == [max(1, min(2, int((counted & (y == label)).sum()))) for label in labels.tolist()]
    assert order.fewest >= 999


@pytest.mark.parametrize(
    "source",
    [
        RandomForestClassifier(5, max_depth=3, random_state=0),
        DecisionTreeClassifier(max_depth=3),
        make_pipeline(StandardScaler(), RandomForestClassifier(5, max_depth=3, random_state=0)),
        XGBClassifier(n_estimators=3, max_depth=2),
        LGBMClassifier(n_estimators=3, max_depth=2, min_child_samples=2, verbose=-1),
        CatBoostClassifier(iterations=3, depth=2, verbose=False, allow_writing_files=False),
    ],
    ids=lambda source: type(source).__name__,
)
def test_without_time_for_hundreds_of_classes_a_model_knows_some_of_them(source: Any) -> None:
    X, y = hundreds_of_classes()
    model, cut = fitted(MIRCOClassifier(source, fallback="model", time_limit=NO_TIME, random_state=0), X, y)

    labels = np.unique(y)
    assert "the model was trained on 1,000 of 4,900 rows" in cut
    assert model.classes_.tolist() == labels.tolist()
    assert not model.missed(X).any()
    inside = model.estimator_
    assert inside.classes_.tolist() == labels.tolist() and not knows_all_classes(inside)
    assert ", with 500 of 700 classes" in cut
    shares = inside.predict_proba(X)
    known = np.isin(labels, y[inside_rows(y)])
    assert shares.shape == (len(y), HUNDREDS) and not shares[:, ~known].any() and known.sum() == 500
    predicted = shares[np.arange(len(y)), np.searchsorted(labels, inside.predict(X))]
    np.testing.assert_allclose(predicted, shares.max(axis=1))  # CatBoost takes the last of those that are alike
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    again = MIRCOClassifier(FrozenEstimator(inside), random_state=0).fit(X, y)
    assert again.classes_.tolist() == labels.tolist() and not again.missed(X).any()
    far = pd.DataFrame(np.full((1, 4), 1e6), columns=X.columns)
    assert model.predict(far)[0] in labels


def inside_rows(y: np.ndarray) -> np.ndarray:
    order = sampling_order(y, None, classes=True, n_columns=4)
    return order.rows[: order.fewest]


def test_a_path_whose_model_knows_some_classes_does_not_ask_it(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = hundreds_of_classes()
    source = RandomForestClassifier(5, max_depth=3, random_state=0)
    path, cut = fitted(RulePathClassifier(source, max_rules=5, random_state=0, time_limit=NO_TIME), X, y)

    assert "rules were chosen by the labels alone" in cut
    assert path.classes_.tolist() == np.unique(y).tolist()
    covered = path.rules_.apply(X).toarray().T
    counts = np.array([(y[mask][:, None] == path.classes_).sum(axis=0) for mask in covered])
    np.testing.assert_array_equal(path.rules_.evidence.sums, counts)


def test_boosting_without_time_for_hundreds_of_classes() -> None:
    X, y = hundreds_of_classes()
    model, cut = fitted(RCBoostClassifier(random_state=0, time_limit=NO_TIME), X, y)

    assert "the model was trained on 1,000 of 4,900 rows" in cut
    assert model.classes_.tolist() == np.unique(y).tolist()
    assert model.predict_proba(X).shape == (len(y), HUNDREDS)


@pytest.mark.parametrize(
    "model",
    [
        MIRCOClassifier(forest(), vote="log-odds", random_state=0),
        RCBoostClassifier(vote="log-odds", max_rmp_calls=1, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_very_many_votes_are_not_fitted_without_time(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = many_classes()
    monkeypatch.setattr(in_time, "_FEW_VOTES", 0)
    monkeypatch.setattr(in_time, "_VOTES", 0)
    fit, cut = fitted(clone(model).set_params(time_limit=NO_TIME), X, y)

    assert "votes were not fitted" in cut
    np.testing.assert_allclose(fit.predict_proba(X).sum(axis=1), 1.0)
    assert fit.score(X, y) > 2 / CLASSES
    assert "votes were not fitted" not in fitted(clone(model), X, y)[1]


def test_a_path_on_few_rows_chooses_from_few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = many_classes()
    monkeypatch.setattr(in_time, "_RESPONSES", 1.0)
    source = FrozenEstimator(forest().fit(X, y))
    path, cut = fitted(RulePathClassifier(source, max_rules=3, random_state=0, time_limit=NO_TIME), X, y)

    assert "1 of 50 trees were read" in cut and "rules were chosen on 100 of 1,200 rows" in cut
    assert len(path.rules_) >= 1
