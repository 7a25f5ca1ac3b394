"""Another threshold than one half: the same predictions in the model, its file and its exports."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import precision_score, recall_score
from sklearn.model_selection import KFold

from rulecover import MIRCOClassifier, RCBoostClassifier, RulePathClassifier
from rulecover.exceptions import AdviceWarning
from rulecover.export import from_json, to_json, to_python
from rulecover.voting.threshold import threshold_for

X, Y = load_breast_cancer(return_X_y=True)
Y = np.array(["ill", "well"])[Y]
TRAIN, TEST = slice(None, None, 2), slice(1, None, 2)


def forest() -> RandomForestClassifier:
    return RandomForestClassifier(5, max_depth=3, random_state=0)


MODELS: dict[str, Any] = {
    "cover": MIRCOClassifier(forest(), random_state=0),
    "cover, few rules": MIRCOClassifier(forest(), max_rules=2, random_state=0),
    "cover, all": MIRCOClassifier(forest(), max_rules=2, fallback="all", random_state=0),
    "cover, majority": MIRCOClassifier(forest(), max_rules=2, fallback="majority", random_state=0),
    "cover, shares": MIRCOClassifier(forest(), max_rules=2, vote="shares", random_state=0),
    "cover, log-odds": MIRCOClassifier(forest(), max_rules=2, vote="log-odds", random_state=0),
    "cover, log-odds, majority": MIRCOClassifier(
        forest(), max_rules=2, vote="log-odds", fallback="majority", random_state=0
    ),
    "boosting": RCBoostClassifier(max_rmp_calls=2, random_state=0),
    "path": RulePathClassifier(forest(), max_rules=4, choose="last", random_state=0),
    "path, fitted": RulePathClassifier(forest(), max_rules=4, choose="last", vote="fitted", random_state=0),
    "path, balanced": RulePathClassifier(forest(), max_rules=4, choose="last", class_weight="balanced", random_state=0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("threshold", [0.05, 0.3, 0.77])
def test_a_class_is_predicted_above_the_threshold(name: str, threshold: float) -> None:
    model = MODELS[name].fit(X[TRAIN], Y[TRAIN])
    for place, label in enumerate(model.classes_):
        share, moved = model.predict_proba(X)[:, place], model.at_threshold(threshold, label)
        clear = np.abs(share - threshold) > 1e-9
        assert ((moved.predict(X) == label) == (share > threshold))[clear].all()
        assert ((moved.predict_proba(X)[:, place] > 0.5) == (share > threshold))[clear].all()
    assert (model.predict(X) == model.classes_[model.predict_proba(X).argmax(axis=1)]).all()  # it is as it was


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_files_and_code_predict_the_same(name: str) -> None:
    moved = MODELS[name].fit(X[TRAIN], Y[TRAIN]).at_threshold(0.3)
    scope: dict[str, Any] = {}
    exec(to_python(moved), scope)
    names = moved.rules_.feature_names

    assert (from_json(to_json(moved)).predict(X) == moved.predict(X)).all()
    rows = [dict(zip(names, row, strict=True)) for row in X[:60].tolist()]
    assert [scope["predict"](row)["prediction"] for row in rows] == moved.predict(X[:60]).tolist()


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 6), st.sampled_from([0.2, 0.5, 0.9, 1.0]))
def test_the_threshold_is_the_best_that_does_what_is_asked_for(seed: int, n: int, levels: int, asked: float) -> None:
    rng = np.random.default_rng(seed)
    positive, share = np.r_[True, rng.random(n) < 0.4], rng.integers(1, levels + 1, n + 1) / (levels + 1)

    def counts(threshold: float) -> tuple[int, int]:
        said = share > threshold
        return int((said & positive).sum()), int((said & ~positive).sum())

    every = [counts(each) for each in np.r_[-1.0, np.unique(share)] if counts(each) != (0, 0)]
    found, alarms = counts(threshold_for(positive, share, recall=asked))
    assert found >= asked * positive.sum() - 1e-9
    assert alarms == min(b for a, b in every if a >= asked * positive.sum() - 1e-9)
    found, alarms = counts(threshold_for(positive, share, cost=10 * asked))
    assert 10 * asked * (positive.sum() - found) + alarms == pytest.approx(
        min(10 * asked * (positive.sum() - a) + b for a, b in every)
    )
    if any(a >= asked * (a + b) - 1e-9 for a, b in every):
        found, alarms = counts(threshold_for(positive, share, precision=asked))
        assert found >= asked * (found + alarms) - 1e-9
        assert found == max(a for a, b in every if a >= asked * (a + b) - 1e-9)
    else:
        with pytest.raises(ValueError, match="no threshold has more than"):
            threshold_for(positive, share, precision=asked)


def test_rows_without_any_probability_are_never_found() -> None:
    positive, share = np.array([True, True, False]), np.array([0.0, 0.6, 0.2])

    assert threshold_for(positive, share, recall=0.5) == pytest.approx(0.4)
    with pytest.raises(ValueError, match=r"recall is 1.0, but 0.500 is the most"):
        threshold_for(positive, share, recall=1.0)
    with pytest.raises(ValueError, match="every probability of the class is 0"):
        threshold_for(positive, np.zeros(3), cost=2)


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e-7, 1e-11])
def test_rows_of_hardly_any_probability_are_found(scale: float) -> None:
    """As of a class whose rows count next to nothing."""
    share, positive = scale * np.array([0.9, 0.7, 0.4, 0.2]), np.array([False, True, True, False])

    assert (share > threshold_for(positive, share, recall=1.0)).tolist() == [True, True, True, False]


def test_a_threshold_is_below_one_even_next_to_a_probability_of_one() -> None:
    share, positive = np.array([1.0, 1.0 - 1.5e-12]), np.array([True, False])

    assert threshold_for(positive, share, precision=1.0) < 1.0


def test_a_model_is_tuned_on_training_rows_or_in_folds() -> None:
    model = RulePathClassifier(forest(), max_rules=3, choose="last", random_state=0).fit(X[TRAIN], Y[TRAIN])

    found = recall_score(Y[TRAIN], model.tuned(X[TRAIN], Y[TRAIN], recall=0.98).predict(X[TRAIN]), pos_label="ill")
    assert found >= 0.98 > recall_score(Y[TRAIN], model.predict(X[TRAIN]), pos_label="ill")
    precise = model.tuned(X[TRAIN], Y[TRAIN], precision=0.99, label="well").predict(X[TRAIN])
    assert precision_score(Y[TRAIN], precise, pos_label="well") >= 0.99
    in_folds = model.tuned(X[TRAIN], Y[TRAIN], recall=0.98, cv=3)
    assert recall_score(Y[TEST], in_folds.predict(X[TEST]), pos_label="ill") > 0.9


def test_models_in_folds_are_trained_on_the_labels_that_settings_and_warnings_name() -> None:
    rare = np.r_[np.flatnonzero(Y == "well"), np.flatnonzero(Y == "ill")[:12]]
    path = {"max_rules": 2, "choose": "last", "random_state": 0}
    plain = RulePathClassifier(forest(), **path)
    weighted = RulePathClassifier(forest(), class_weight={"ill": 5, "well": 1}, **path).fit(X[rare], Y[rare])

    with pytest.warns(AdviceWarning, match="'ill'") as warned:
        plain.fit(X[rare], Y[rare]).tuned(X[rare], Y[rare], recall=0.9, cv=2)
    assert not any("'1'" in str(each.message) or "'0'" in str(each.message) for each in warned)
    found = weighted.tuned(X[rare], Y[rare], recall=0.9, cv=2).predict(X[rare])
    assert recall_score(Y[rare], found, pos_label="ill") > 0.8


def test_every_size_of_a_path_has_its_threshold() -> None:
    path = RulePathClassifier(forest(), max_rules=3, choose="last", random_state=0).fit(X[TRAIN], Y[TRAIN])
    moved = path.at_threshold(0.2, "ill")

    for size in range(4):
        ill = list(path.classes_).index("ill")
        above = path.at(size).predict_proba(X[TEST])[:, ill] > 0.2
        assert ((moved.at(size).predict(X[TEST]) == "ill") == above).all()
    assert (moved.predict_proba(X[TEST]) == moved.at(3).predict_proba(X[TEST])).all()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "give one of recall, precision and cost"),
        ({"recall": 0.5, "cost": 2}, "give one of recall, precision and cost"),
        ({"recall": 80}, "recall is 80; it is a share"),
        ({"recall": -0.5}, "recall is -0.5; it must be finite and above 0"),
        ({"precision": float("nan")}, "precision is nan; it must be finite and above 0"),
        ({"cost": float("inf")}, "cost is inf; it must be finite and above 0"),
        ({"cost": "much"}, "cost is 'much'; it must be a number"),
        ({"recall": 0.5, "label": "dead"}, "label is 'dead', but the classes are"),
    ],
)
def test_what_makes_no_sense_is_refused(asked: dict[str, Any], said: str) -> None:
    model = MODELS["cover"].fit(X[TRAIN], Y[TRAIN])

    with pytest.raises((TypeError, ValueError), match=said):
        model.tuned(X[TRAIN], Y[TRAIN], **asked)


def test_rows_of_the_other_class_alone_are_not_enough() -> None:
    model = MODELS["cover"].fit(X[TRAIN], Y[TRAIN])
    others = Y[TRAIN] == "well"

    with pytest.raises(ValueError, match="no row is of the class that the threshold is for; give rows of both classes"):
        model.tuned(X[TRAIN][others], Y[TRAIN][others], recall=0.5, label="ill")


def test_folds_that_all_lack_a_class_are_named() -> None:
    rows = np.sort(np.concatenate([np.flatnonzero(label == Y)[:4] for label in ("ill", "well")]))
    rows = rows[np.argsort(Y[rows], kind="stable")]
    model = MODELS["cover"].fit(X[TRAIN], Y[TRAIN])

    with pytest.raises(ValueError, match=r"cv is KFold\(n_splits=2.*no row of class 'ill' is held out from a fold"):
        model.tuned(X[rows], Y[rows], cost=3.0, label="ill", cv=KFold(2))


def test_thresholds_are_for_two_classes_and_for_rules_that_decide() -> None:
    with pytest.raises(ValueError, match="a threshold is for two classes"):
        MIRCOClassifier(forest()).fit(*load_iris(return_X_y=True)).at_threshold(0.3)
    asking = MIRCOClassifier(forest(), max_rules=1, fallback="model").fit(X[TRAIN], Y[TRAIN])
    with pytest.raises(ValueError, match="the fallback 'model' predicts"):
        asking.at_threshold(0.3)
    with pytest.raises(ValueError, match="threshold is 1"):
        MODELS["cover"].fit(X[TRAIN], Y[TRAIN]).at_threshold(1)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "give one of recall, precision and cost, above 0."),
        ({"recall": 0.5, "cost": 1.0}, "give one of recall, precision and cost, above 0."),
        ({"recall": 1.5}, "recall is 1.5; it is a share, at most 1."),
        ({"precision": 2.0}, "precision is 2.0; it is a share, at most 1."),
        ({"recall": 1.0}, "recall is 1.0, but 0.667 is the most; the other rows have probability 0."),
        ({"precision": 0.9}, "precision is 0.9, but no threshold has more than 0.667; ask for less."),
    ],
)
def test_what_no_threshold_does_is_refused_with_the_most_there_is(asked: dict[str, float], message: str) -> None:
    share, positive = np.array([0.9, 0.7, 0.4, 0.0]), np.array([False, True, True, True])

    with pytest.raises(ValueError) as raised:
        threshold_for(positive, share, **asked)

    assert str(raised.value) == message


def test_a_threshold_needs_rows_of_the_class_and_probabilities_above_zero() -> None:
    share = np.array([0.9, 0.1])
    with pytest.raises(ValueError, match="no row is of the class that the threshold is for; give rows of both classes"):
        threshold_for(np.zeros(2, dtype=bool), share, recall=0.5)
    with pytest.raises(ValueError, match="every probability of the class is 0; no threshold finds any row"):
        threshold_for(np.ones(2, dtype=bool), 0 * share, recall=0.5)


@pytest.mark.parametrize("asked", [{"recall": 0.5}, {"precision": 0.5}, {"cost": 3.0}])
def test_probabilities_that_differ_by_rounding_are_on_one_side_of_the_threshold(asked: dict[str, float]) -> None:
    low = 0.10291439591686569
    share = np.array([0.6, low + 5e-16, low, low + 2e-16, 0.05])
    positive = np.array([False, True, True, False, False])

    threshold = threshold_for(positive, share, **asked)

    assert threshold == pytest.approx((low + 0.05) / 2)
