"""Wrong input gives one clear error of the kind that scikit-learn users expect, never a wrong answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier
from sklearn.utils._param_validation import InvalidParameterError

from rulecover import (
    MIRCOClassifier,
    MIRCORegressor,
    RCBoostClassifier,
    RCBoostRegressor,
    RulePathClassifier,
    RulePathRegressor,
    explain,
)
from rulecover.exceptions import MismatchedDataError, UncoveredSamplesError, UnreadableModelError
from rulecover.setcover import Greedy

X, Y = make_classification(100, 5, random_state=0)
FRAME = pd.DataFrame(X, columns=list("abcde"))
FOREST = RandomForestClassifier(n_estimators=5, max_depth=4, random_state=0)
TRAINED = RandomForestClassifier(n_estimators=5, max_depth=4, random_state=0).fit(FRAME, Y)
NUMBERS = RandomForestRegressor(n_estimators=5, max_depth=4, random_state=0)
ESTIMATORS = (
    MIRCOClassifier(FOREST),
    RCBoostClassifier(max_rmp_calls=1),
    RulePathClassifier(FOREST, max_rules=5, cv=2),
    MIRCORegressor(NUMBERS),
    RCBoostRegressor(max_rmp_calls=1),
    RulePathRegressor(NUMBERS, max_rules=5, cv=2),
)


class Unweighted(DecisionTreeClassifier):
    """A tree that is trained without weights."""

    def fit(self, X: Any, y: Any) -> Unweighted:
        return super().fit(X, y)


class WithoutShares(DecisionTreeClassifier):
    """A tree that gives no probabilities."""

    def __init__(self, max_depth: int = 3) -> None:
        super().__init__(max_depth=max_depth, random_state=0)

    @property
    def predict_proba(self) -> Any:
        raise AttributeError("there are no probabilities")


def infinite() -> np.ndarray:
    wrong = X.copy()
    wrong[3, 2] = np.inf
    return wrong


def test_an_unfitted_model_is_not_explained() -> None:
    with pytest.raises(NotFittedError):
        explain(FOREST, X, Y, method="cover")
    with pytest.raises(NotFittedError):
        MIRCOClassifier(FrozenEstimator(FOREST)).fit(X, Y)


@pytest.mark.parametrize(
    "model", [LogisticRegression(), GaussianNB(), "forest", 3, object()], ids=lambda m: type(m).__name__
)
def test_a_model_of_an_unknown_type_is_refused_before_it_is_trained(model: Any) -> None:
    with pytest.raises(UnreadableModelError, match=r"can be read: DecisionTree.*RandomForest"):
        MIRCOClassifier(model).fit(X, Y)


def test_a_regression_model_is_refused() -> None:
    regressor = RandomForestRegressor(n_estimators=3)
    with pytest.raises(TypeError, match="RandomForestRegressor is not a classifier"):
        MIRCOClassifier(regressor).fit(X, Y)


def test_data_with_other_columns_than_the_model_are_refused() -> None:
    with pytest.raises(MismatchedDataError, match="X has 4 features, but the model was trained on 5"):
        explain(TRAINED, X[:, :4], Y, method="cover")
    with pytest.raises(MismatchedDataError, match="column 1 of X is 'z', but the model was trained with 'b'"):
        explain(TRAINED, FRAME.rename(columns={"b": "z"}), Y, method="cover")
    mirco = explain(TRAINED, FRAME, Y, method="cover")
    with pytest.raises(ValueError, match="feature names"):
        mirco.predict(FRAME.rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match="4 features"):
        MIRCOClassifier(FOREST).fit(X, Y).predict(X[:, :4])


@pytest.mark.parametrize("empty", [X[:0], X[:, :0]], ids=["no rows", "no columns"])
def test_empty_data_are_refused(empty: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"0 (sample|feature)"):
        MIRCOClassifier(FOREST).fit(empty, Y[: len(empty)])


def test_nan_is_refused_where_the_model_has_no_route_for_it() -> None:
    wrong = X.copy()
    wrong[0, 0] = np.nan
    without_route = ExtraTreeClassifier(splitter="best").fit(X, Y)
    with pytest.raises(ValueError, match="NaN"):
        explain(without_route, wrong, Y, method="cover")
    with pytest.raises(ValueError, match="NaN"):
        explain(without_route, X, Y, method="cover").predict(wrong)
    with pytest.raises(ValueError, match="NaN"):
        MIRCOClassifier(FOREST).fit(scipy.sparse.csr_array(wrong), Y)


def test_infinities_and_what_float32_cannot_hold_are_refused() -> None:
    with pytest.raises(ValueError, match="infinity"):
        MIRCOClassifier(FOREST).fit(infinite(), Y)
    with pytest.raises(ValueError, match="infinity"):
        explain(TRAINED, FRAME, Y, method="cover").predict(pd.DataFrame(infinite(), columns=FRAME.columns))
    huge = FRAME.copy()
    huge.iloc[0, 0] = 1e300
    with pytest.raises(ValueError, match="too large for"):
        explain(TRAINED, huge, Y, method="cover")


def test_labels_that_the_model_never_saw_are_named() -> None:
    strange = Y.copy()
    strange[0] = 7
    with pytest.raises(MismatchedDataError, match=r"never saw: \[7\]; it knows \[0, 1\]"):
        explain(TRAINED, FRAME, strange, method="cover")


def test_targets_that_are_no_classes_are_refused() -> None:
    with pytest.raises(ValueError, match="Unknown label type"):
        MIRCOClassifier(FOREST).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="1d array"):
        MIRCOClassifier(FOREST).fit(X, np.column_stack([Y, Y]))
    with pytest.raises(ValueError, match="NaN"):
        MIRCOClassifier(FOREST).fit(X, np.where(Y, 1.0, np.nan))


@pytest.mark.parametrize(
    ("setting", "error", "message"),
    [
        ({"demand": 0}, ValueError, "demand is 0; it must be at least 1"),
        ({"demand": 1.5}, TypeError, "demand is 1.5; it must be a whole number"),
        ({"demand": True}, TypeError, "demand is True"),
        ({"max_rules": 0}, ValueError, "max_rules is 0; it must be at least 1"),
        ({"max_rules": "3"}, TypeError, "max_rules is '3'"),
        ({"impurity_weight": -1.0}, ValueError, "impurity_weight is -1.0; it must be finite and at least 0"),
        ({"length_weight": np.nan}, ValueError, "length_weight is nan"),
        ({"length_weight": "long"}, TypeError, "length_weight is 'long'; it must be a number"),
        ({"time_limit": 0}, ValueError, "time_limit is 0; it must be finite and above 0"),
        ({"time_limit": 10**400}, ValueError, r"time_limit is 10{400}; it must be finite and above 0"),
        ({"solver": "magic"}, ValueError, "solver is 'magic'; choose one of 'greedy', 'search', 'exact'"),
        ({"solver": 3}, TypeError, "solver is 3; give one of"),
        ({"solver": Greedy}, TypeError, "or an object to be called"),
        ({"fallback": print}, TypeError, "an object to be called with name, weights"),
        ({"class_weight": {0: -1, 1: 1}}, ValueError, "class weights must not be negative, but that of class '0'"),
        ({"criterion": "mse"}, ValueError, "criterion is 'mse'; choose one of 'gini', 'entropy', 'log_loss'"),
        ({"vote": "loud"}, ValueError, "vote is 'loud'; choose one of 'counts', 'shares'"),
        ({"fallback": "none"}, ValueError, "fallback is 'none'; choose one of 'closest', 'all', 'majority', 'model'"),
        ({"class_weight": "heavy"}, ValueError, "class_weight|heavy"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, dict) else None,
)
def test_settings_out_of_range_are_named_with_their_value(setting: dict, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        MIRCOClassifier(FOREST, **setting).fit(X, Y)


def test_negative_and_all_zero_weights_are_refused() -> None:
    with pytest.raises(ValueError, match="must not be negative, but sample 2 has weight -1"):
        MIRCOClassifier(FOREST).fit(X, Y, sample_weight=np.where(np.arange(100) == 2, -1.0, 1.0))
    with pytest.raises(ValueError, match="zero"):
        MIRCOClassifier(FOREST).fit(X, Y, sample_weight=np.zeros(100))
    with pytest.raises(ValueError, match="NaN"):
        MIRCOClassifier(FOREST).fit(X, Y, sample_weight=np.full(100, np.nan))
    with pytest.raises(ValueError, match="sample_weight"):
        MIRCOClassifier(FOREST).fit(X, Y, sample_weight=np.ones(99))
    with pytest.raises(ValueError, match="all sample weights are zero; at least one sample must count"):
        MIRCOClassifier(FOREST, class_weight={0: 0.0, 1: 0.0}).fit(X, Y)


def test_weights_are_refused_where_the_model_takes_none() -> None:
    weight = np.where(Y == 1, 2.5, 1.0)
    for model in (Unweighted(), make_pipeline(StandardScaler(), Unweighted())):
        with pytest.raises(ValueError, match="Unweighted takes no sample weights; leave weights out or choose another"):
            MIRCOClassifier(model).fit(X, Y, sample_weight=weight)
    with pytest.raises(UnreadableModelError, match=r"Unweighted takes no sample weights, by which RCBoost steers its"):
        RCBoostClassifier(Unweighted()).fit(X, Y)


@pytest.mark.slow
@pytest.mark.parametrize(("scoring", "words"), [("neg_log_loss", "log loss"), ("roc_auc", "AUC")])
def test_nothing_is_within_a_score_that_needs_probabilities_of_a_model_without(scoring: str, words: str) -> None:
    path = RulePathClassifier(WithoutShares(), max_rules=2, cv=2, model_share=0.0, scoring=scoring)

    assert path.fit(X, Y).model_score_ > 0.5  # the accuracy, which needs none
    with pytest.raises(
        ValueError, match=rf"within is 0.1, which is measured from the model's .*{words}.*, but the model"
    ):
        path.set_params(within=0.1).fit(X, Y)


def test_x_and_y_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        MIRCOClassifier(FOREST).fit(X, Y[:-1])


def test_column_names_that_repeat_or_are_no_strings_are_refused() -> None:
    twice = FRAME.rename(columns={"b": "a"})
    with pytest.raises(ValueError, match="names must differ, but 2 columns are named 'a'; rename all but one"):
        MIRCOClassifier(FOREST).fit(twice, Y)
    with pytest.raises(TypeError, match="column 0 is named 10"):
        MIRCOClassifier(FOREST).fit(FRAME.set_axis([10, 11, 12, 13, 14], axis=1), Y)
    with pytest.raises(TypeError, match="column 1 is named 7"):
        MIRCOClassifier(FOREST).fit(FRAME.rename(columns={"b": 7}), Y)
    with pytest.raises(TypeError, match="column 1 is named 7"):
        MIRCOClassifier(FOREST).fit(FRAME, Y).predict(FRAME.rename(columns={"b": 7}))


def test_an_infeasible_cover_names_a_sample() -> None:
    from rulecover.coverage import Coverage
    from rulecover.setcover import CoveringProblem

    with pytest.raises(UncoveredSamplesError, match="1 samples are covered by no rule, the first is sample 2"):
        CoveringProblem(Coverage.of_masks([[1, 0, 0], [1, 1, 0]]), cost=[1.0, 1.0])


@pytest.mark.slow
@pytest.mark.parametrize("value", ["red", pd.Timestamp("2020-01-01")], ids=["words", "dates"])
@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_columns_that_say_nothing_are_in_no_rule(model: Any, value: Any) -> None:
    odd = FRAME.assign(**{"when and what": value})
    fitted = clone(model).fit(odd, Y)
    assert "when and what" not in {clause.name for rule in fitted.rules_ for clause in rule.clauses}


def test_a_table_of_which_nothing_can_be_made_is_refused() -> None:
    times = pd.DataFrame({"a": DAYS - DAYS[0]})
    with pytest.raises(ValueError, match="no column is left to make rules of: column 'a' left out: it holds times"):
        MIRCOClassifier().fit(times, Y)


DAYS = pd.date_range("2020-02-27", periods=len(X))
NOT_NUMBERS = {
    "dates": DAYS,
    "dates of a zone": DAYS.tz_localize("UTC"),
    "times": DAYS - DAYS[0],
    "periods": DAYS.to_period("D"),
    "date objects": DAYS.date,
    "words": "red",
}


def fitted_on_a_tree(model: Any) -> Any:
    tree = (DecisionTreeClassifier if is_classifier(model) else DecisionTreeRegressor)(max_depth=3, random_state=0)
    return clone(model).set_params(estimator=tree).fit(FRAME, Y)


@pytest.mark.slow
@pytest.mark.parametrize("kind", NOT_NUMBERS)
@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_columns_of_rows_that_are_not_numbers_are_named(model: Any, kind: str) -> None:
    fitted = fitted_on_a_tree(model)
    odd = FRAME.assign(c=NOT_NUMBERS[kind])
    for answer in (fitted.predict, fitted.apply, fitted.missed, fitted.why, fitted.fidelity):
        with pytest.raises(MismatchedDataError, match="'c'"):
            answer(odd)
    with pytest.raises(MismatchedDataError, match="'c'"):
        answer(pl.from_pandas(FRAME).with_columns(c=pl.Series(np.asarray(DAYS))))


@pytest.mark.slow
@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_dates_are_not_taken_for_nanoseconds(model: Any) -> None:
    fitted = fitted_on_a_tree(model)
    days = pd.DataFrame(dict.fromkeys(FRAME.columns, DAYS))
    for given, what in ((days, "column 'a'"), (days.to_numpy(), "X"), (days - DAYS[0], "column 'a'")):
        with pytest.raises(MismatchedDataError, match=f"{what} holds values of type (datetime|timedelta)64"):
            fitted.predict(given)
    with pytest.raises(MismatchedDataError, match="X holds values of type datetime64"):
        clone(fitted).fit(days.to_numpy(), Y)


def test_other_columns_than_those_of_training_are_still_what_an_error_is_about() -> None:
    fitted = MIRCOClassifier(FOREST).fit(FRAME, Y)
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(FRAME.assign(colour="red"))


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_rows_without_a_label_are_named(model: Any) -> None:
    gap = np.where(np.arange(len(Y)) == 3, np.nan, Y)
    for y in (gap, pd.Series(gap).astype("Int64"), pd.Series(Y).astype(object).where(~np.isnan(gap), None)):
        with pytest.raises(ValueError, match="y contains NaN: row 3 has no label or number; leave such rows out"):
            model.fit(FRAME, y)
    with pytest.raises(ValueError, match=r"row 3 \(and 1 more\)"):
        model.fit(FRAME, np.where(np.arange(len(Y)) == 5, np.nan, gap))


@pytest.mark.parametrize("method", ["path", "cover", "boost"])
def test_rows_without_a_label_are_named_among_labels_of_text_by_explain(method: str) -> None:
    labels = np.array(["no", "yes"])[Y]
    forest = clone(FOREST).fit(X, labels)
    for gap in (None, np.nan, pd.NA):
        y = pd.Series(labels, dtype=object)
        y[3] = gap
        for given in (y, y.to_numpy()):
            with pytest.raises(ValueError, match="y contains NaN: row 3 has no label"):
                explain(forest, X, given, method=method)


def test_rows_of_one_class_alone_are_explained_by_every_method() -> None:
    forest = clone(FOREST).fit(X, Y)
    for how in ({}, {"method": "cover"}, {"method": "boost"}):
        assert (explain(forest, X[Y == 1], Y[Y == 1], **how).predict(X[Y == 1]) == 1).all()
    weights = Y.astype(float)
    assert (explain(forest, X, Y, sample_weight=weights).predict(X[Y == 1]) == 1).all()


def test_errors_that_have_nothing_to_do_with_columns_stay_as_they_are() -> None:
    words = FRAME.assign(what="red")
    encoded = make_pipeline(OneHotEncoder(handle_unknown="ignore"), RandomForestClassifier(3, max_depth=-1))
    for model in (encoded, RandomForestClassifier(3, max_depth=-1)):
        with pytest.raises(InvalidParameterError, match=r"^The 'max_depth' parameter"):
            MIRCOClassifier(model).fit(words, Y)


def test_a_frame_with_categories_must_have_the_columns_of_the_model() -> None:
    categories = FRAME.assign(what=pd.Categorical(np.where(Y, "a", "b")))
    trained = RandomForestClassifier(3, random_state=0).fit(np.column_stack([X, X]), Y)
    with pytest.raises(MismatchedDataError, match=f"X has {X.shape[1] + 1} features, but .* on {2 * X.shape[1]}"):
        explain(trained, categories, Y, method="cover")


def test_labels_of_several_kinds_are_named() -> None:
    with pytest.raises(ValueError, match=r"y holds .*True \(bool\)"):
        MIRCOClassifier().fit(FRAME, np.where(Y == 0, True, Y.astype(object)))
    mixed = np.where(Y == 0, "no", Y.astype(object))
    for model in ESTIMATORS[:3]:
        with pytest.raises(ValueError, match=r"y holds .*\(int\).*; give labels of one kind, such as y.astype\(str\)"):
            model.fit(FRAME, mixed)


def test_a_model_that_is_not_fitted_answers_nothing() -> None:
    for method in ("predict", "predict_proba", "apply", "missed", "why", "fidelity"):
        with pytest.raises(NotFittedError):
            getattr(MIRCOClassifier(), method)(X)


@pytest.mark.parametrize(("scoring", "labels"), [("r2", "text"), ("roc_auc", "numbers"), ("accuracy", "numbers")])
def test_a_score_of_the_other_kind_of_target_is_named(scoring: str, labels: str) -> None:
    classes = labels == "text"
    path = (RulePathClassifier if classes else RulePathRegressor)(max_rules=2, cv=2, scoring=scoring, random_state=0)
    what = "classes" if classes else "numbers"

    with pytest.raises(ValueError, match=rf"^scoring is '{scoring}', which does not score these {what} \(.*choose an"):
        path.fit(X, np.array(["no", "yes"])[Y] if classes else X[:, 0])


def test_some_column_must_be_allowed() -> None:
    for table in (FRAME, FRAME.assign(what=np.where(Y, "a", "b"))):
        with pytest.raises(ValueError, match="forbidden names every column"):
            RulePathClassifier(FOREST, forbidden=list(table), random_state=0).fit(table, Y)
