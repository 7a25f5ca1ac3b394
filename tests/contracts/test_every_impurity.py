"""What every impurity promises: 0 for a pure rule, more for a mixed one, and for each rule the same in any company.

Impurities are found by their names.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

from rulecover import MIRCOClassifier
from rulecover.targets.classes.impurity import CRITERIA, Gini
from rulecover.targets.impurity import Impurity, Price
from rulecover.targets.numbers.impurity import NUMERIC_CRITERIA

WEIGHTS = np.random.default_rng(0).uniform(0.01, 100.0, size=(40, 3))


def pure(name: str) -> np.ndarray:
    """The sums of rules whose samples are all of one class, or all have the same number."""
    if name in CRITERIA:
        return np.where(np.arange(3) == np.arange(40)[:, None] % 3, WEIGHTS, 0.0)
    weight, z = WEIGHTS[:, 0], np.linspace(-3, 3, 40)
    return np.column_stack([weight, weight * z, weight * z**2])


def mixed(name: str) -> np.ndarray:
    """The sums of rules with samples of three classes, or with three numbers."""
    return WEIGHTS if name in CRITERIA else WEIGHTS @ np.vander([-2.0, 0.5, 1.0], 3, increasing=True)


every_impurity = pytest.mark.parametrize(
    ("name", "impurity"), [*CRITERIA.items(), *NUMERIC_CRITERIA.items()], ids=[*CRITERIA, *NUMERIC_CRITERIA]
)


@every_impurity
def test_a_pure_rule_has_impurity_zero_and_a_mixed_one_more(name: str, impurity: Impurity) -> None:
    assert (impurity(pure(name)) == 0).all()  # not nearly: rounding would break ties between pure rules
    assert (impurity(mixed(name)) > 0).all()


@every_impurity
def test_impurity_is_a_number_for_each_rule_whatever_the_others_and_the_unit_of_weight(
    name: str, impurity: Impurity
) -> None:
    sums = np.vstack([pure(name), mixed(name)])

    assert impurity(sums).shape == (len(sums),) and impurity(sums).dtype == np.float64
    assert np.concatenate([impurity(each[None]) for each in sums]).tolist() == impurity(sums).tolist()
    np.testing.assert_allclose(impurity(1000 * sums), impurity(sums), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", CRITERIA)
def test_the_order_of_the_classes_does_not_matter(name: str) -> None:
    np.testing.assert_allclose(CRITERIA[name](WEIGHTS[:, ::-1]), CRITERIA[name](WEIGHTS), rtol=1e-12)


@pytest.mark.parametrize("name", [name for name, each in CRITERIA.items() if Price(each).is_at_least_gini])
def test_what_claims_to_be_at_least_gini_is(name: str) -> None:
    sums = np.vstack([WEIGHTS, pure(name), WEIGHTS**3])

    assert (CRITERIA[name](sums) >= Gini()(sums) - 1e-12).all()


@pytest.mark.parametrize("returned", [lambda sums: sums, lambda sums: 0.5, lambda sums: sums.sum(axis=0)])
def test_an_impurity_of_ones_own_that_does_not_return_one_number_per_rule_is_named(
    returned: Callable[[np.ndarray], object],
) -> None:
    X, y = load_iris(return_X_y=True)

    with pytest.raises(ValueError, match=r"criterion <function .*rules; it must return one number per rule"):
        MIRCOClassifier(RandomForestClassifier(3, random_state=0), criterion=returned).fit(X, y)
