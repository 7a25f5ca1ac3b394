"""Models that are trained in time: on all rows, or on as many as there is time for."""

from __future__ import annotations

import time
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from rulecover import (
    MIRCOClassifier,
    MIRCORegressor,
    RCBoostClassifier,
    RCBoostRegressor,
    RulePathClassifier,
    RulePathRegressor,
    read_trees,
)
from rulecover.estimators.in_time import SamplingOrder, sampling_order, trained_in_time
from rulecover.exceptions import CutShortWarning
from rulecover.setcover import Status

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
    from sklearn.base import clone

    model = clone(model).set_params(time_limit=time_limit)
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

    order = SamplingOrder(np.arange(1_000_000), 1000)
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
