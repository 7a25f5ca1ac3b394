"""Constraints on features, and how a size is chosen from scores in folds, worked out by hand and by plain loops."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student
from strategies import DIGITS, rule_sets

from rulecover import RuleSet
from rulecover.exceptions import MismatchedDataError, RulecoverWarning
from rulecover.rulepath.constraints import Constraints, column_numbers
from rulecover.rulepath.sizes import (
    HeldOut,
    SizeScores,
    best,
    chosen_size,
    one_standard_error,
    score_in_words,
    standard_errors,
    within,
)

NAMES = ("a", "b", "c")

# Constraints --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(
    rule_sets("abc", numbers=DIGITS, max_rules=6),
    st.sets(st.sampled_from("abc"), max_size=2),
    st.dictionaries(st.sampled_from("abc"), st.sampled_from([-1, 0, 1])),
    st.none() | st.integers(1, 3),
)
def test_rules_keep_to_constraints_clause_by_clause(
    rules: RuleSet, forbidden: set[str], monotone: dict[str, int], max_clauses: int | None
) -> None:
    limits = Constraints.of(NAMES, forbidden=forbidden, monotone=monotone, max_clauses=max_clauses)

    allowed, signs = limits.allows(rules), limits.signs(rules)

    for j, rule in enumerate(rules):
        asked = []
        for clause in rule.clauses:
            low, high = math.isfinite(clause.lower), math.isfinite(clause.upper)
            both = clause.categories is not None or (low and high)
            direction = monotone.get(clause.name, 0)
            asked += [direction] * (low or both) + [-direction] * (high or both)
        asked = [sign for sign in asked if sign]
        short = max_clauses is None or len(rule.clauses) <= max_clauses
        fine = short and len(set(asked)) < 2 and not any(clause.name in forbidden for clause in rule.clauses)
        assert allowed[j] == fine
        if fine:
            assert signs[j] == (asked[0] if asked else 0)


def test_columns_are_given_by_number_or_by_name() -> None:
    limits = Constraints.of(NAMES, forbidden=["b", np.int64(0)], required=[2, "c"], monotone={"c": -1, 0: 1})

    assert limits.forbidden.tolist() == [0, 1] and limits.required.tolist() == [2]
    assert limits.monotone.tolist() == [1, 0, -1] and limits.max_clauses is None
    assert Constraints.of(NAMES).forbidden.tolist() == column_numbers("forbidden", None, NAMES).tolist() == []


MANY = tuple(f"x{f}" for f in range(12))


@pytest.mark.parametrize(
    ("names", "settings", "error", "message"),
    [
        (NAMES, {"forbidden": "ab"}, TypeError, "forbidden is 'ab'; give a list of columns, such as ['ab']."),
        (NAMES, {"required": [1.5]}, TypeError, "required has 1.5; give columns by number or by name."),
        (NAMES, {"required": [True]}, TypeError, "required has True; give columns by number or by name."),
        (NAMES, {"forbidden": [3]}, ValueError, "forbidden has column 3, but there are 3, numbered from 0."),
        (NAMES, {"forbidden": [-1]}, ValueError, "forbidden has column -1, but there are 3, numbered from 0."),
        (
            NAMES,
            {"monotone": {"d": 1}},
            ValueError,
            "monotone names 'd', but there is no such column; there are 'a', 'b', 'c'.",
        ),
        (
            NAMES,
            {"monotone": {"a": 2}},
            ValueError,
            "monotone['a'] is 2; give 1 (never falls), -1 (never rises) or 0.",
        ),
        (
            NAMES,
            {"forbidden": [1], "required": ["b"]},
            ValueError,
            "column 'b' is both forbidden and required; choose one.",
        ),
        (
            MANY,
            {"forbidden": ["y"]},
            ValueError,
            "forbidden names 'y', but there is no such column; there are "
            + ", ".join(f"'x{f}'" for f in range(10))
            + " and 2 more.",
        ),
    ],
)
def test_a_mistake_in_a_constraint_is_named(names: tuple[str, ...], settings: Any, error: type, message: str) -> None:
    with pytest.raises(error) as raised:
        Constraints.of(names, **settings)

    assert str(raised.value) == message


def test_of_ten_columns_all_are_named() -> None:
    with pytest.raises(ValueError, match=r"there are 'x0', .*'x9'\.$"):
        Constraints.of(MANY[:10], forbidden=["y"])


def test_constraints_that_cannot_be_kept_are_named_with_the_way_out() -> None:
    limits = Constraints.of(NAMES, monotone={"a": 1}, max_clauses=1)
    limits.check_outputs(2)
    limits.check_met(np.zeros(0, dtype=np.intp), 3)
    limits.check_given(RuleSet.from_text(["a > 1", "b > 1"], NAMES), 2)
    Constraints.of(NAMES).check_outputs(3)

    with pytest.raises(ValueError) as raised:
        limits.check_outputs(3)
    assert str(raised.value) == (
        "monotone features need two classes or numbers, but there are 3 classes; leave monotone out, or ask for one "
        "class against the others."
    )
    with pytest.raises(ValueError) as raised:
        limits.check_met(np.array([0, 2]), 3)
    assert str(raised.value) == (
        "no rule of up to 3 uses 'a', 'c', which is required: there is no allowed node of the model with it that "
        "explains anything, or no room; raise max_rules or max_depth, or require less."
    )
    with pytest.raises(MismatchedDataError) as raised:
        limits.check_given(RuleSet.from_text(["a > 1"], ["a"]), 2)
    assert str(raised.value) == (
        "the rules to keep have the columns 'a', but the data have 'a', 'b', 'c'; give the same columns in the same "
        "order."
    )
    with pytest.raises(ValueError, match=r"^2 rules are to be kept, but max_rules is 1; raise it\.$"):
        limits.check_given(RuleSet.from_text(["a > 1", "b > 1"], NAMES), 1)
    with pytest.raises(ValueError) as raised:
        limits.check_given(RuleSet.from_text(["a > 1", "a > 1 and b > 1"], NAMES), 2)
    assert str(raised.value) == (
        "rule 1 of those to be kept, 'a > 1 and b > 1', breaks the constraints on forbidden or monotone features or "
        "on clauses; change one or the other."
    )


# Sizes --------------------------------------------------------------------------------------------------------------

SCORES = (
    st.integers(1, 6)
    .flatmap(
        lambda folds: st.lists(
            st.lists(st.integers(0, 20).map(lambda k: k / 20), min_size=9, max_size=9), min_size=folds, max_size=folds
        )
    )
    .map(np.array)
)


@pytest.mark.slow
@given(SCORES, st.integers(0, 3), st.sampled_from([0.0, 0.1, 0.5]))
def test_sizes_are_chosen_as_plain_loops_choose_them(scores: np.ndarray, least: int, margin: float) -> None:
    folds, n = scores.shape
    means = scores.mean(axis=0)
    top = min(k for k in range(least, n) if means[k] >= means[least:].max() - 1e-9)
    behind = scores[:, [top]] - scores

    def standard_error(values: np.ndarray) -> float:
        return float(values.std(ddof=1) / math.sqrt(folds)) if folds > 1 else 0.0

    few = next(
        k
        for k in range(least, n)
        if behind[:, k].mean() <= max(standard_error(behind[:, k]), 0.01 * behind[:, 0].mean()) + 1e-9
    )
    model = scores.max(axis=1)
    below = model[:, None] - scores
    factor = student.ppf(0.95, folds - 1) if folds > 1 else 0.0
    variance = below.var(axis=0, ddof=1) * (1 / folds + 1 / (folds - 1)) if folds > 1 else np.zeros(n)

    assert best(scores, least) == top
    assert one_standard_error(scores, least) == few
    np.testing.assert_allclose(standard_errors(scores), [standard_error(column) for column in scores.T])
    near = [below[:, k].mean() + factor * math.sqrt(variance[k]) <= margin + 1e-9 for k in range(n)]
    steady = [k for k in range(n) if all(near[k : k + 5])]
    assert within(scores, model, margin) == (steady[0] if steady else None)


def held_out(*chosen_by: list[float], model: float = 0.9) -> HeldOut:
    scores = np.array(chosen_by)
    others = np.full(len(scores), model)
    return HeldOut(scores, scores, scores, others, others)


FAMILY: Any = SimpleNamespace(largest=3, least=0)


def test_the_reason_for_a_size_is_said() -> None:
    clear = held_out([0.5, 0.6, 0.7, 0.9], [0.5, 0.6, 0.7, 0.9])
    first = held_out([0.5, 0.9, 0.8, 0.8], [0.5, 0.9, 0.8, 0.8])
    close = held_out([0.5, 0.85, 0.80, 0.8], [0.5, 0.86, 0.94, 0.8])
    next_to = held_out([0.5, 0.6, 0.85, 0.80], [0.5, 0.6, 0.86, 0.94])

    assert chosen_size(FAMILY, None, "best") == (3, "the largest set")
    assert chosen_size(SimpleNamespace(largest=0, least=0), clear, "best") == (0, "the largest set")
    assert chosen_size(FAMILY, clear, "one-se", by="accuracy") == (3, "3 rules have the best cross-validated accuracy")
    assert chosen_size(FAMILY, first, "best", by="roc_auc") == (1, "1 rule has the best cross-validated ROC AUC")
    assert chosen_size(FAMILY, close, "one-se") == (
        1,
        "2 rules have the best cross-validated score, and 1 is the fewest that is worse by at most one standard error, "
        "or next to nothing",
    )
    assert chosen_size(FAMILY, next_to, "one-se") == (
        2,
        "3 rules have the best cross-validated score, and 2 are the fewest that are worse by at most one standard "
        "error, or next to nothing",
    )
    assert chosen_size(SimpleNamespace(largest=3, least=2), first, "best").size == 2


def test_a_margin_is_taken_from_the_model_or_the_best_with_a_warning() -> None:
    scores = held_out([0.5, 0.6, 0.88, 0.89], [0.5, 0.6, 0.88, 0.89])

    assert chosen_size(FAMILY, scores, "best", 0.05) == (
        2,
        "2 rules are the fewest whose score is very likely within 0.05 of the model's",
    )
    with pytest.warns(RulecoverWarning) as warned:
        found = chosen_size(FAMILY, scores, "best", 0.001, by="neg_log_loss")
    reason = "no set of up to 3 rules is surely within 0.001 of the model by log loss"
    assert found == (3, f"{reason}, and 3 rules have the best")
    assert str(warned[0].message) == (
        f"{reason}; the best, 3 rules, is 0.01 below it in cross-validation and was taken. Raise max_rules or within."
    )


def test_folds_without_a_score_are_left_out_and_short_paths_are_extended() -> None:
    nan = math.nan
    some = held_out([0.5, nan], [0.6, 0.7], [nan, nan])

    assert some.where_defined("accuracy").chosen_by.tolist() == [[0.6, 0.7]]
    with pytest.raises(ValueError) as raised:
        held_out([nan, 0.5]).where_defined("ROC AUC")
    assert str(raised.value) == (
        "ROC AUC is not defined in any fold, perhaps because none has rows of every class, or more than one row; take "
        "fewer folds (cv), another scoring, or the largest set (choose='last')."
    )
    folds = [
        SizeScores(np.array([1.0, 2.0]), np.array([3.0, 4.0]), np.array([5.0, 6.0]), 7.0, 8.0),
        SizeScores(np.array([1.0]), np.array([2.0]), np.array([3.0]), 4.0, 5.0),
    ]
    extended = HeldOut.of(folds, 3)
    assert extended.score.tolist() == [[1, 2, 2], [1, 1, 1]] and extended.fidelity.tolist() == [[3, 4, 4], [2, 2, 2]]
    assert extended.chosen_by.tolist() == [[5, 6, 6], [3, 3, 3]]
    assert extended.model.tolist() == [7, 4] and extended.model_chosen_by.tolist() == [8, 5]


@pytest.mark.parametrize(
    ("scoring", "words"),
    [
        ("neg_brier_score", "Brier score"),
        ("roc_auc", "ROC AUC"),
        ("r2", "R²"),
        ("neg_mean_squared_error", "mean squared error"),
        ("neg_root_mean_squared_error", "root mean squared error"),
        ("neg_mean_absolute_error", "mean absolute error"),
        ("balanced_accuracy", "balanced accuracy"),
    ],
)
def test_scores_have_names_in_words(scoring: str, words: str) -> None:
    assert score_in_words(scoring) == words
