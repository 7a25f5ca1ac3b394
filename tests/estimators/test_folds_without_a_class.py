"""Folds that lack a class which the whole data have: every library trains, and settings by label stay as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from record_sources import TRAINABLE
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier

from rulecover import MIRCOClassifier, RCBoostClassifier, RulePathClassifier, RulePathRegressor, RuleSet, explain
from rulecover.exceptions import UncoveredSamplesError

#: Those of them that say how likely a class is, as a path asks.
WITH_SHARES = [name for name in TRAINABLE if name not in ("default", "voting")]
every_library = pytest.mark.parametrize("name", WITH_SHARES)

#: Rules that cover one row of the numbers from 0 to 59.
ONE_ROW = RuleSet.of_intervals([{0: (58.5, np.inf)}], ["x0"])


def rows(name: str = "") -> Any:
    """Sixty rows of numbers, for models on texts of words, too."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    if name not in ("one-hot pipeline", "ordinal pipeline", "catboost with texts"):
        return X
    words = {"colour": rng.choice(["red", "blue"], 60), "shape": rng.choice(["flat", "long"], 60)}
    return pd.DataFrame(X, columns=list("abcd")).assign(**{key: each.astype(object) for key, each in words.items()})


def labels(rare: int = 0) -> np.ndarray:
    """Three classes, one of them with a single row: the fold that holds it out lacks its class."""
    of = (rows()[:, 0] > 0).astype(int)
    others = np.setdiff1d([0, 1, 2], rare)
    y = others[of]
    y[0] = rare
    return np.asarray(y)


def xgb() -> XGBClassifier:
    return XGBClassifier(n_estimators=3, n_jobs=1)


@pytest.mark.slow
@every_library
def test_every_library_trains_in_folds_that_lack_a_class(name: str) -> None:
    X, y, model = rows(name), labels(), TRAINABLE[name].make("classes", 0)

    path = RulePathClassifier(model, max_rules=3, cv=3, random_state=0).fit(X, y)
    cover = MIRCOClassifier(model, prune="held-out", random_state=0).fit(X, y)

    assert path.classes_.tolist() == cover.classes_.tolist() == [0, 1, 2]


@pytest.mark.slow
@every_library
def test_every_library_does_without_folds_of_one_class(name: str) -> None:
    X, y = rows(name), np.arange(60) > 0

    cover = MIRCOClassifier(TRAINABLE[name].make("classes", 0), prune="held-out", random_state=0).fit(X, y.astype(int))

    assert cover.classes_.tolist() == [0, 1]


@pytest.mark.slow
@pytest.mark.parametrize("rare", [0, 1, 2])
def test_xgboost_forgets_its_objective_for_many_classes_where_a_fold_has_two(rare: int) -> None:
    X, y = rows(), labels(rare)
    trained = xgb().fit(X, y)

    frozen = RulePathClassifier(FrozenEstimator(trained), max_rules=3, cv=3, random_state=0).fit(X, y)

    assert len(frozen.rules_) and frozen.estimator_ is trained
    assert len(explain(trained, X, y, choose="best", train_in_folds=True).rules_)
    assert trained.objective == "multi:softprob"


@pytest.mark.parametrize(
    "model",
    [xgb(), make_pipeline(StandardScaler(), xgb()), GridSearchCV(xgb(), {"max_depth": [1, 2]}, cv=2)],
    ids=lambda model: type(model).__name__,
)
def test_xgboost_is_trained_on_labels_of_any_kind(model: Any) -> None:
    X, y = rows(), np.array(["yes", "no"])[(rows()[:, 0] > 0).astype(int)]

    cover = MIRCOClassifier(model, fallback="model", random_state=0).fit(X, y)

    assert cover.classes_.tolist() == ["no", "yes"] and cover.score(X, y) > 0.9
    assert cover.estimator_.predict(X).tolist() == y.tolist()
    assert cover.estimator_.predict_proba(X).shape == (60, 2)
    assert len(RulePathClassifier(model, max_rules=3, cv=3, random_state=0).fit(X, y).rules_)


def test_demand_may_name_a_class_that_a_fold_lacks() -> None:
    X, y = rows(), labels()

    cover = MIRCOClassifier(RandomForestClassifier(5), demand={0: 2}, prune="held-out", random_state=0).fit(X, y)

    assert cover.demand == {0: 2} and len(cover.rules_)
    with pytest.raises(ValueError, match=r"demand names 3, but the labels are \[0, 1, 2\]"):
        MIRCOClassifier(RandomForestClassifier(5), demand={3: 2}, prune="held-out", random_state=0).fit(X, y)


@pytest.mark.parametrize(
    "source",
    [
        MIRCOClassifier(RandomForestClassifier(5, random_state=0), demand={0: 2}, class_weight={0: 3}),
        RCBoostClassifier(max_rmp_calls=2, class_weight={0: 3}),
        RandomForestClassifier(5, class_weight={0: 3}, random_state=0),
    ],
    ids=lambda source: type(source).__name__,
)
def test_settings_by_label_of_a_source_may_name_a_class_that_a_fold_lacks(source: Any) -> None:
    X, y = rows(), labels()

    assert RulePathClassifier(source, max_rules=3, cv=3, random_state=0).fit(X, y).classes_.tolist() == [0, 1, 2]
    assert source.class_weight == {0: 3}


def test_a_threshold_is_tuned_in_folds_by_models_with_settings_by_label() -> None:
    X, y = rows(), (rows()[:, 0] > 1.6).astype(int)
    folds = StratifiedKFold(3).split(X, y)
    only_ones = (np.flatnonzero(y == 0), np.flatnonzero(y == 1))
    cover = MIRCOClassifier(xgb(), demand={1: 2}, class_weight={1: 3}, random_state=0).fit(X, y)

    tuned = cover.tuned(X, y, recall=0.9, label=1, cv=[*folds, only_ones])

    assert tuned.classes_.tolist() == [0, 1]


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in TRAINABLE if name != "default"])
def test_every_library_does_without_folds_of_one_number(name: str) -> None:
    X, y = rows(name), (np.arange(60) == 0).astype(float)

    path = RulePathRegressor(TRAINABLE[name].make("numbers", 0), max_rules=3, cv=3, random_state=0).fit(X, y)

    assert np.isfinite(path.predict(X)).all()


@pytest.mark.parametrize("name", ["gradient boosting", "hist gradient boosting", "lightgbm"])
def test_a_class_whose_rows_in_a_fold_count_nothing_is_not_there(name: str) -> None:
    """Two rows of a class count, and so one or none of them in the rows that pruning is tried on."""
    y = np.array(["a", "b"])[(np.arange(60) < 4).astype(int)]
    weight = np.where((y == "a") | (np.arange(60) == 0), 1.0, 0.0)
    model = TRAINABLE[name].make("classes", 0)

    cover = MIRCOClassifier(model, prune="held-out", random_state=0).fit(rows(), y, weight)

    assert len(cover.rules_) > 0


@pytest.mark.parametrize(
    "model",
    [RulePathClassifier(MIRCOClassifier(ONE_ROW), cv=5), MIRCOClassifier(MIRCOClassifier(ONE_ROW), prune="held-out")],
    ids=str,
)
def test_a_fold_in_which_no_row_is_covered_is_told_from_all_rows(model: Any) -> None:
    X, y = np.arange(60.0)[:, None], np.arange(60) % 2
    with pytest.raises(
        UncoveredSamplesError, match=r"in a fold, which has some of the rows, none of the (48|40) samples"
    ):
        model.set_params(random_state=0).fit(X, y)
