"""The estimators keep scikit-learn's contract."""

from __future__ import annotations

from typing import Any

from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from rulecover import MIRCOClassifier, MIRCORegressor, RCBoostClassifier, RCBoostRegressor

# What scikit-learn lists as expected failures of its own forests, for the same reason: a bootstrap draws other rows
# when rows are weighted, repeated or left out.
OF_THE_FOREST = {
    "check_sample_weight_equivalence_on_dense_data": "sample_weight is not equivalent to repeating under bootstrap",
    "check_sample_weight_equivalence_on_sparse_data": "sample_weight is not equivalent to repeating under bootstrap",
}


def expected_failures(estimator: Any) -> dict[str, str]:
    inside = estimator.estimator
    bootstraps = (inside is None and isinstance(estimator, (MIRCOClassifier, MIRCORegressor))) or (
        isinstance(inside, (RandomForestClassifier, RandomForestRegressor)) and inside.bootstrap
    )
    return OF_THE_FOREST if bootstraps else {}


@parametrize_with_checks(
    [
        MIRCOClassifier(),
        RCBoostClassifier(max_rmp_calls=5),
        # As the check of class weights itself sets it: a tree grown until every leaf is pure takes no notice of them.
        MIRCOClassifier(DecisionTreeClassifier(min_weight_fraction_leaf=0.01)),
        MIRCOClassifier(DecisionTreeClassifier(min_weight_fraction_leaf=0.01), demand=2, vote="shares", fallback="all"),
        MIRCOClassifier(DecisionTreeClassifier(min_weight_fraction_leaf=0.01), prune=True, vote="fitted"),
        MIRCORegressor(),
        MIRCORegressor(DecisionTreeRegressor(max_depth=4), min_samples=3),
        MIRCORegressor.as_in_paper(DecisionTreeRegressor(max_depth=4), demand=2, vote="support", fallback="all"),
        RCBoostRegressor(max_rmp_calls=5),
    ],
    expected_failed_checks=expected_failures,
)
def test_the_checks_of_scikit_learn_pass(estimator: Any, check: Any) -> None:
    check(estimator)
