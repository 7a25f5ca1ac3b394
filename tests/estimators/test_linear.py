"""Rules as features."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier

from rulecover import MIRCOClassifier, RCBoostClassifier, RuleTransformer, linear_rules


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
