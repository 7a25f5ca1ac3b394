"""Hundreds of classes under a time limit: fewer trees, and paths that are followed on some of the rows."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier, HistGradientBoostingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

from rulecover import MIRCOClassifier, RulePathClassifier, read_trees
from rulecover.estimators import in_time
from rulecover.estimators.fewer_trees import has_trees_to_spare, trained_with_fewer_trees, with_share_of_trees
from rulecover.estimators.in_time import rows_to_follow
from rulecover.exceptions import CutShortWarning, UnreadableModelError
from rulecover.export.json_file import to_json
from rulecover.targets.classes.samples import ClassSamples

CLASSES = 60
NO_TIME = 1e-3


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

    assert "the model was trained with 2 % of its trees" in cut
    assert ("the model was trained on 1,000 of 1,200 rows" in cut) == (rows_per_class == 20)
    assert len(read_trees(model.estimator_).trees) == 1
    assert model.classes_.tolist() == list(range(CLASSES))
    assert not model.missed(X).any()


def test_time_for_some_trees_is_used() -> None:
    shares = []

    def train(share: float) -> float:
        shares.append(share)
        time.sleep(0.01)
        return share

    few = trained_with_fewer_trees(train, time.perf_counter() + 0.2)

    assert few is not None and few.model == few.share == shares[-1]
    assert len(shares) == 2 and 0.1 < few.share < 0.5


def test_an_error_of_a_library_with_few_rows_is_left_to_more_rows_and_one_of_ours_is_raised() -> None:
    def too_few(share: float) -> None:
        raise ValueError("rows are few")

    def unreadable(share: float) -> None:
        raise UnreadableModelError("no trees")

    assert trained_with_fewer_trees(too_few, 0.0) is None
    with pytest.raises(UnreadableModelError, match="no trees"):
        trained_with_fewer_trees(unreadable, 0.0)


@pytest.mark.parametrize(
    ("source", "trees", "said"),
    [
        (forest().set_params(n_estimators=np.int64(10)), 1, "10 % of its trees"),
        (BaggingClassifier(forest(), n_estimators=10, random_state=0), 10, "2 % of its trees"),
    ],
    ids=["few trees", "forests in a bag"],
)
def test_the_share_of_the_trees_that_is_said_is_that_of_the_model(source: Any, trees: int, said: str) -> None:
    model, cut = fitted(MIRCOClassifier(source, time_limit=NO_TIME), *many_classes())

    assert said in cut
    assert len(read_trees(model.estimator_).trees) == trees


def test_time_is_judged_by_the_trees_that_were_trained() -> None:
    def train(share: float) -> float:
        time.sleep(0.05)
        return share

    assert trained_with_fewer_trees(train, time.perf_counter() + 0.6, lambda share: max(0.1, share)) is None


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

    said = "rules were chosen on 1,000 of 2,400 rows"
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
        in_time.sampling_order(samples.y, None, classes=True).rows[:1000].tolist()
    )
    assert len(rows_to_follow(samples, 10**4, 1, time.perf_counter() + 2.0)) == 1000
    assert 1000 < len(rows_to_follow(samples, 10**4, 0, time.perf_counter() + 2.3)) < 1200


def test_rows_that_are_the_fewest_for_their_classes_are_all_followed() -> None:
    X, y = many_classes(2)
    samples = ClassSamples.of(X, y, np.arange(CLASSES), None, None)

    assert rows_to_follow(samples, 10**6, 100, time.perf_counter()) is None


def test_a_model_with_columns_of_categories_is_copied_as_well() -> None:
    X, y = many_classes()
    table = pd.DataFrame(X, columns=list("abcd")).assign(colour=np.where(X[:, 0] > 0, "red", "blue"))
    source = CatBoostClassifier(
        iterations=60, depth=2, cat_features=["colour"], verbose=False, allow_writing_files=False
    )
    model, cut = fitted(MIRCOClassifier(source, time_limit=NO_TIME, random_state=0), table, y)

    assert "the model was trained with 2 % of its trees" in cut
    assert not model.missed(table).any()
