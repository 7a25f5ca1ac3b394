"""Rules as features."""

from __future__ import annotations

import time

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier

from rulecover import MIRCOClassifier, MIRCORegressor, RCBoostClassifier, RuleTransformer, linear_rules
from rulecover.estimators import linear
from rulecover.exceptions import CutShortWarning


def test_columns_say_which_rule_covers_a_row() -> None:
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = MIRCOClassifier(random_state=0).fit(X, y)
    transformer = RuleTransformer(FrozenEstimator(model)).set_output(transform="pandas").fit(X, y)
    columns = transformer.transform(X)
    np.testing.assert_array_equal(columns.to_numpy(), model.apply(X).toarray())
    assert list(columns.columns) == [rule.text for rule in model.rules_]
    sparse = RuleTransformer(FrozenEstimator(model), sparse_output=True).fit(X, y).transform(X)
    np.testing.assert_array_equal(sparse.toarray(), columns.to_numpy())


@pytest.mark.slow
def test_a_sparse_linear_model_keeps_fewer_rules_the_stronger_its_penalty() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    boosted = RCBoostClassifier(max_rmp_calls=8, random_state=0).fit(X, y)
    kept = [np.count_nonzero(linear_rules(boosted, X, y, C=C)[-1].coef_) for C in (0.01, 0.1, 1.0)]
    assert kept == sorted(kept) and kept[0] < kept[-1] <= len(boosted.rules_)
    assert linear_rules(boosted, X, y, sample_weight=np.ones(len(y))).score(X, y) > 0.95


def test_what_has_no_rules_is_refused() -> None:
    X, y = load_wine(return_X_y=True)
    with pytest.raises(TypeError, match="DecisionTreeClassifier has no rules"):
        RuleTransformer(DecisionTreeClassifier()).fit(X, y)
    with pytest.raises(ValueError, match="C is 0"):
        linear_rules(MIRCOClassifier(random_state=0).fit(X, y), X, y, C=0)


def drawn(n_rows: int = 3000) -> tuple[np.ndarray, np.ndarray, MIRCOClassifier]:
    """Rows of three classes, and rules that cover them."""
    X, y = make_classification(n_rows, 8, n_informative=6, n_classes=3, random_state=0)
    return X, y, MIRCOClassifier(random_state=0, demand=3).fit(X[:500], y[:500])


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
def test_with_time_to_spare_the_weights_are_those_of_no_limit(weighted: bool) -> None:
    X, y, model = drawn()
    weight = np.arange(len(y)) % 3.0 if weighted else None
    numbers, z = load_diabetes(return_X_y=True)
    means = MIRCORegressor(random_state=0).fit(numbers, z)
    for rules, rows, target, given in ((model, X, y, weight), (means, numbers, z, None)):
        plain = linear_rules(rules, rows, target, sample_weight=given)
        timed = linear_rules(rules, rows, target, sample_weight=given, time_limit=600)

        np.testing.assert_array_equal(timed[-1].coef_, plain[-1].coef_)
        np.testing.assert_array_equal(timed[-1].intercept_, plain[-1].intercept_)
        assert timed[-1].get_params() == plain[-1].get_params()
        np.testing.assert_array_equal(timed.predict(rows), plain.predict(rows))


@pytest.mark.slow
def test_weights_that_do_not_converge_in_time_are_said_to() -> None:
    X, y, model = drawn()

    with pytest.warns(CutShortWarning, match="time_limit is 1e-09 s: the weights are those of 1,000 of 3,000 rows and"):
        few = linear_rules(model, X, y, C=10.0, time_limit=1e-9)

    assert few.score(X, y) > 0.4 and few[-1].max_iter == 5000


def test_iterations_go_on_from_where_they_are_until_the_weights_converge() -> None:
    X, y, model = drawn(900)
    plain = linear_rules(model, X, y)
    weighing = linear._Weighing(plain[0].transform(X), y, None, linear._logistic(0.1))

    assert weighing.converges_by(time.perf_counter() + 600, seconds=100.0)  # three iterations, then as many as it takes

    assert 3 < weighing.regression.n_iter_[0] < plain[-1].n_iter_[0] + 30
    np.testing.assert_allclose(weighing.regression.coef_, plain[-1].coef_, atol=0.05)
    assert not linear._Weighing(*weighing).converges_by(time.perf_counter(), seconds=1.0)


def test_without_convergence_the_warning_is_that_of_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, model = drawn(900)
    short = linear._logistic(10.0).set_params(max_iter=12)
    monkeypatch.setattr(linear, "_logistic", lambda C: short)

    with pytest.warns(ConvergenceWarning, match="did not converge in 12 iterations"):
        linear_rules(model, X, y, time_limit=600)


def test_a_time_limit_of_nothing_is_refused() -> None:
    X, y, model = drawn(600)

    with pytest.raises(ValueError, match="time_limit is 0"):
        linear_rules(model, X, y, time_limit=0)
