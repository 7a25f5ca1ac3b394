"""Votes of two or three rules, worked out by hand: what they add up to, and how they are shown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from strategies import DIGITS, rule_sets, tables

from rulecover import MIRCOClassifier, MIRCORegressor, RuleSet
from rulecover.coverage import addable
from rulecover.pool import rule_pool
from rulecover.targets.classes.impurity import Gini
from rulecover.targets.classes.samples import ClassSamples
from rulecover.targets.classes.target import ClassTarget
from rulecover.targets.impurity import Price
from rulecover.targets.numbers.impurity import SquaredError
from rulecover.targets.numbers.samples import NumberSamples
from rulecover.targets.numbers.target import NumberTarget
from rulecover.voting import vote as vote_module
from rulecover.voting.answers import AddedClasses, Classes, LogOddsClasses, Mean
from rulecover.voting.classes import added_class_votes, class_votes, fitted_class_votes, log_odds_class_votes
from rulecover.voting.fallback import CLOSEST, FALLBACKS, Default, sums_at_distance
from rulecover.voting.logistic import logistic_votes
from rulecover.voting.numbers import added_values, fitted_values, mean_votes
from rulecover.voting.ridge import GrowingRidge, ridge_towards
from rulecover.voting.vote import Vote

#: The first covers small ages, the second large ones of small size; between 30 and 40 nothing is covered.
RULES = RuleSet.of_intervals([{0: (-np.inf, 30.0)}, {0: (40.0, np.inf), 1: (-np.inf, 5.0)}], ["age", "size"])
ROWS = np.array([[20.0, 1.0], [50.0, 1.0], [35.0, 9.0], [50.0, 9.0]])
LABELS = np.array(["no", "yes"])
ADDED = np.array([[0.25, 0.75], [0.5, -0.5], [-0.125, 0.125]])


def with_classes(y: list[int], weight: list[float] | None = None) -> RuleSet:
    data = ClassSamples(ROWS, np.array(y), LABELS, None if weight is None else np.array(weight))
    return rule_pool(data, RULES, Price(Gini())).rules


def with_numbers(y: list[float]) -> tuple[RuleSet, NumberSamples]:
    data = NumberSamples.of(ROWS, np.array(y))
    return rule_pool(data, RULES, Price(SquaredError())).rules, data


def class_target() -> ClassTarget:
    return replace(ClassTarget(), classes=LABELS)


# Sums -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(
    st.sampled_from([1, 16, 100]),
    rule_sets("abc", numbers=DIGITS, max_rules=8),
    tables(3, min_rows=17),
    st.booleans(),
)
def test_votes_of_rows_are_the_same_in_blocks_of_any_size(floats: int, rules: RuleSet, X: Any, whole: bool) -> None:
    votes = np.arange(2.0 * len(rules)).reshape(-1, 2) * (1.0 if whole else 0.1)
    vote = Vote(rules, addable(votes), Classes(LABELS), np.array([3.0, 2.0]), base=np.array([0.5, 1.0]))
    covered = rules.apply(X).toarray()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(vote_module, "_FLOATS", floats)
        tally = vote.added(X)

    np.testing.assert_array_equal(tally.sums, covered @ vote.votes + vote.base)
    np.testing.assert_array_equal(tally.fired, covered.sum(axis=1))
    np.testing.assert_array_equal(tally.missed, ~covered.any(axis=1))


def test_some_of_the_rules_keep_their_votes_for_rows_at_a_distance() -> None:
    votes, distant = np.array([[1.0, 0.0, 0.5], [2.0, 0.0, 0.25]]), np.array([[5.0, 1.0, 30.0], [7.0, 1.0, 50.0]])
    base = np.array([0.5, 1.0, 0.0])
    vote = Vote(RULES, votes, Mean(squares=True), np.array([0.5, 1.0, 0.1]), base=base, fallback_votes=distant)

    second = vote.take(np.array([1]))

    np.testing.assert_array_equal(second.votes, votes[1:])
    np.testing.assert_array_equal(second.votes_at_distance, distant[1:])
    np.testing.assert_array_equal(vote.votes_at_distance, distant)
    np.testing.assert_array_equal(replace(vote, fallback_votes=None).votes_at_distance, votes)
    np.testing.assert_array_equal(vote.times(np.array([2.0, 3.0])).votes, votes * [[2], [3]])
    # The second row is covered: the base and 2; for the others the rule that is left votes at a distance.
    np.testing.assert_allclose(second.predict(ROWS), [7.0, 2.5, 7.0, 7.0])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"votes": np.zeros((2, 3))}, r"votes has shape \(2, 3\); give finite numbers of shape \(2, 2\)\."),
        ({"votes": np.full((2, 2), np.nan)}, r"votes has shape \(2, 2\); give finite numbers of shape \(2, 2\)\."),
        ({"totals": np.zeros(3)}, r"totals has shape \(3,\); give finite numbers of shape \(2,\)\."),
        ({"base": np.zeros(1)}, r"base has shape \(1,\); give finite numbers of shape \(2,\)\."),
        ({"fallback_votes": np.zeros((1, 2))}, r"fallback_votes has shape \(1, 2\); give .* of shape \(2, 2\)\."),
    ],
)
def test_votes_of_another_shape_are_refused(changed: dict[str, Any], message: str) -> None:
    vote = Vote(RULES, np.ones((2, 2)), Classes(LABELS), np.ones(2))

    with pytest.raises(ValueError, match=f"^{message}$"):
        replace(vote, **changed)


def test_classes_have_no_spread_and_numbers_no_probabilities() -> None:
    classes = Vote(RULES, np.ones((2, 2)), Classes(LABELS), np.ones(2))
    numbers = Vote(RULES, np.ones((2, 2)), Mean(), np.ones(2))

    for vote in (classes, numbers):
        with pytest.raises(AttributeError, match=r"^no spread is stored for these rules; use predict\.$"):
            vote.predict_interval(ROWS)
    with pytest.raises(AttributeError, match="these rules predict a number and have no probabilities; use predict"):
        numbers.predict_proba(ROWS)


@pytest.mark.parametrize("coverage", [0.0, 1.0])
def test_the_ends_of_the_range_of_a_coverage_are_refused(coverage: float) -> None:
    vote = Vote(RULES, np.ones((2, 3)), Mean(squares=True), np.ones(3))

    said = f"^coverage is {coverage}; it is a probability, above 0 and below 1, such as 0.9.$"
    with pytest.raises(ValueError, match=said):
        vote.predict_interval(ROWS, coverage)


# Fitted to rows ---------------------------------------------------------------------------------------------------


def test_values_that_are_added_have_a_default_and_evidence() -> None:
    rules, _ = with_numbers([1.0, 5.0, 2.0, 8.0])
    votes = np.array([[2.0], [-1.0], [4.0]])

    for some in (rules, RULES):
        vote = added_values(some, votes, NumberTarget())

        assert vote.adds_up and vote.shows_votes and isinstance(vote.fallback, Default)
        np.testing.assert_array_equal(vote.predict(ROWS), [1.0, 6.0, 2.0, 2.0])
    seen = added_values(rules, votes, NumberTarget()).rules.evidence
    assert seen.adds.tolist() == [-1.0, 4.0] and seen.default == 2.0


@pytest.mark.parametrize("unit", [1.0, 2.0**-10, 2.0**10])
def test_rules_at_a_distance_give_the_mean_and_spread_of_their_means_in_any_unit_of_weight(unit: float) -> None:
    rules, data = with_numbers([1.0, 5.0, 2.0, 8.0])
    vote = fitted_values(mean_votes(rules), rules.apply(ROWS), data, ridge=1.0)
    weights, means = np.array([1.0, 3.0]), np.array([2.0, 6.0])
    sums = unit * np.array([[weights @ means, weights.sum(), weights @ means**2], [0.0, 0.0, 0.0]])

    assert sums_at_distance(vote, sums).tolist() == [[5.0, 1.0, 3.0], [0.0, 0.0, 0.0]]


@pytest.mark.parametrize("weight", [None, [1.0, 2.0, 1.0, 1.0]])
def test_class_votes_that_are_added_begin_with_the_base(weight: list[float] | None) -> None:
    rules = with_classes([0, 1, 1, 1], weight)

    added = added_class_votes(rules, ADDED, class_target())
    bare = added_class_votes(RULES, ADDED, class_target())

    assert isinstance(added.answer, AddedClasses) and isinstance(added.fallback, Default) and added.adds_up
    assert added.totals.tolist() == ([1.0, 3.0] if weight is None else [1.0, 4.0])
    assert bare.totals.tolist() == [0.25, 0.75]
    for vote in (added, bare):
        expected = [[0.75, 0.25], [0.125, 0.875], [0.25, 0.75], [0.25, 0.75]]
        np.testing.assert_array_equal(vote.tally(ROWS).sums, expected)
        np.testing.assert_allclose(vote.predict_proba(ROWS), expected)
        assert vote.predict(ROWS).tolist() == ["no", "yes", "yes", "yes"]


def test_log_odds_that_are_added_begin_with_the_base() -> None:
    votes = np.array([[-1.0, 1.0], [2.0, -2.0], [-0.5, 0.5]])
    rules = with_classes([0, 1, 1, 1])

    added, bare = (log_odds_class_votes(some, votes, class_target()) for some in (rules, RULES))

    assert isinstance(added.answer, LogOddsClasses) and isinstance(added.fallback, Default)
    assert added.totals.tolist() == [1.0, 3.0]
    np.testing.assert_allclose(bare.totals, expit([-1.0, 1.0]))
    for vote in (added, bare):
        np.testing.assert_allclose(vote.predict_proba(ROWS)[:, 1], expit([-1.0, 1.5, 1.0, 1.0]))


def test_a_cover_that_votes_by_log_odds_is_a_logistic_regression_on_its_rules() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(80, 2))
    y = (X[:, 0] + rng.normal(0, 0.3, 80) > 0.5).astype(int)
    rules = RuleSet.of_intervals([{0: (0.5, np.inf)}, {0: (-np.inf, 0.6)}], ["a", "b"])

    vote = MIRCOClassifier(rules, vote="log-odds").fit(X, y).vote_

    assert isinstance(vote.answer, LogOddsClasses) and vote.fallback == CLOSEST
    covered = vote.rules.apply(X)
    fitted = logistic_votes(covered, np.eye(2)[y], strength=2.0)
    np.testing.assert_array_equal(np.vstack([vote.base, vote.votes]), fitted)
    np.testing.assert_allclose(vote.predict_proba(X)[:, 1], expit(fitted[0, 1] + covered @ fitted[1:, 1]))


COVERED = st.lists(st.tuples(*[st.booleans()] * 3), min_size=3, max_size=12).map(np.array)


@pytest.mark.slow
@given(COVERED, st.floats(0.1, 10), st.data())
def test_a_ridge_that_grows_is_the_ridge_on_all_columns_and_the_solution_of_its_equations(
    covered: np.ndarray, strength: float, data: Any
) -> None:
    n = len(covered)
    target = np.array(data.draw(st.lists(st.tuples(*[st.integers(-3, 3)] * 2), min_size=n, max_size=n)), dtype=float)
    weight = np.array(data.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)), dtype=float)
    columns = np.column_stack([np.ones(n), covered])
    gram = columns.T @ (columns * weight[:, None])
    penalty = strength * np.diag([0.0, 1.0, 1.0, 1.0])

    whole = GrowingRidge.on(scipy.sparse.csr_array(covered), target, weight, strength=strength)
    grown = GrowingRidge(
        total=weight.sum(), sums=weight @ target, squares=float(weight @ (target**2).sum(axis=1)), strength=strength
    )
    for j in range(1, 4):
        grown.add(gram[j, :j], size=gram[j, j], sums=columns[:, j] @ (weight[:, None] * target))

    best = np.linalg.solve(gram + penalty, columns.T @ (weight[:, None] * target))
    left = target - columns @ best
    loss = float(weight @ (left**2).sum(axis=1) + np.trace(best.T @ penalty @ best))
    for ridge in (whole, grown):
        np.testing.assert_allclose(ridge.votes(), best, atol=1e-8)
        np.testing.assert_allclose(ridge.loss(), loss, atol=1e-8)


@pytest.mark.slow
@given(COVERED, st.floats(0.1, 10), st.sampled_from([0.0, 0.01, 0.5]), st.data())
def test_nothing_near_the_votes_drawn_towards_others_is_better(
    covered: np.ndarray, strength: float, floor: float, data: Any
) -> None:
    n = len(covered)
    target = np.array(data.draw(st.lists(st.tuples(*[st.integers(-3, 3)] * 2), min_size=n, max_size=n)), dtype=float)
    weight = np.array(data.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)), dtype=float)
    prior = np.array([[1.0, 2.0], [0.5, 0.0], [3.0, 0.25]])

    found = ridge_towards(prior, scipy.sparse.csr_array(covered), target, weight, strength=strength, floor=floor)

    def loss(votes: np.ndarray) -> float:
        return float(weight @ ((target - covered @ votes) ** 2).sum(axis=1) + strength * ((votes - prior) ** 2).sum())

    assert (found >= floor * prior - 1e-12).all()
    for step in 1e-3 * np.eye(found.size).reshape(-1, *found.shape):
        for near in (found + step, np.maximum(found - step, floor * prior)):
            assert loss(near) >= loss(found) - 1e-9


def test_fitted_class_votes_are_drawn_to_the_shares_by_twenty_rows_and_keep_a_hundredth() -> None:
    y = np.array([0, 1, 1, 1])
    plain = class_votes(with_classes(y.tolist()), "shares")
    covered = np.array([[1, 0], [0, 1], [1, 1], [0, 0]], dtype=bool)

    vote = fitted_class_votes(plain, covered, y, np.array([1.0, 2.0, 1.0, 1.0]))

    # Of the weight 4 that is covered, 1 is covered twice: rules have 1 / (5 / 4) of their shares as their prior.
    weight = np.array([1.0, 2.0, 1.0, 1.0])
    prior = plain.votes * 4 / 5
    expected = ridge_towards(prior, scipy.sparse.csr_array(covered), np.eye(2)[y], weight, strength=20.0, floor=0.01)
    np.testing.assert_allclose(vote.votes, expected, atol=1e-9)
    unweighted = fitted_class_votes(plain, covered, y).votes
    np.testing.assert_allclose(unweighted, fitted_class_votes(plain, covered, y, np.ones(4)).votes)


def test_errors_of_fitted_values_are_those_on_the_rows_made_a_little_larger() -> None:
    y = np.array([1.0, 5.0, 2.0, 8.0])
    rules, data = with_numbers(y.tolist())
    plain = mean_votes(rules)

    vote = fitted_values(plain, rules.apply(ROWS), data, ridge=2.0)

    covered = rules.apply(ROWS).toarray()
    given = (vote.predict(ROWS[:2]) - vote.answer.centre) / vote.answer.unit
    np.testing.assert_allclose(given, vote.base[0] + covered[:2] @ vote.votes[:, 0])
    left = (data.z - vote.base[0] - covered @ vote.votes[:, 0]) ** 2 * 4  # 1 / (1 - 1/2)²
    np.testing.assert_allclose(vote.votes[:, 2], (left[:2] + 5 * left.mean()) / (1 + 5))
    np.testing.assert_allclose(vote.totals, [vote.base[0], 1.0, left.mean()])
    assert vote.votes[:, 1].tolist() == [0.0, 0.0] and vote.base[1:].tolist() == [1.0, 0.0]
    np.testing.assert_array_equal(vote.votes_at_distance, plain.votes)
    assert vote.adds_up and not vote.shows_votes


def test_more_rows_than_parameters_make_errors_less_larger() -> None:
    X = np.tile(ROWS, (10, 1))
    data = NumberSamples.of(X, np.arange(40.0))
    rules = rule_pool(data, RULES, Price(SquaredError())).rules

    vote = fitted_values(mean_votes(rules), rules.apply(X), data, ridge=2.0)

    left = (data.z - vote.base[0] - rules.apply(X).toarray() @ vote.votes[:, 0]) ** 2 / (1 - 7 / 40) ** 2
    np.testing.assert_allclose(vote.totals[2], left.mean())


# Shown ------------------------------------------------------------------------------------------------------------


def test_votes_that_are_added_are_printed_with_the_default_first() -> None:
    vote = added_class_votes(with_classes([0, 1, 1, 1]), ADDED, class_target())

    assert str(vote).splitlines() == [
        "rule  support      no     yes  if",
        "                +0.25   +0.75  by default",
        "   0        1    +0.5    -0.5  age <= 30",
        "   1        1  -0.125  +0.125  age > 40 and size <= 5",
    ]
    assert vote.sentences() == [
        "By default +0.25 for no and +0.75 for yes.",
        "If age is at most 30, then +0.5 for no and -0.5 for yes.",
        "If age is above 40 and size at most 5, then -0.125 for no and +0.125 for yes.",
    ]
    assert repr(vote) == "<Vote: 2 rules>" and repr(vote.take(np.array([0]))) == "<Vote: 1 rule>"
    without = replace(vote, base=np.zeros(2))
    assert "by default" not in str(without) and len(without.sentences()) == len(str(without).splitlines()) - 1 == 2


def test_values_that_are_added_are_printed_in_one_column() -> None:
    vote = added_values(with_numbers([1.0, 5.0, 2.0, 8.0])[0], np.array([[2.0], [-1.0], [4.0]]), NumberTarget())

    assert str(vote).splitlines() == [
        "rule  support  value  if",
        "                  +2  by default",
        "   0        1     -1  age <= 30",
        "   1        1     +4  age > 40 and size <= 5",
    ]
    assert vote.sentences()[0] == "By default +2."
    assert vote.sentences()[1] == "If age is at most 30, then -1."


def test_a_frame_of_votes_begins_with_the_default() -> None:
    frame = added_class_votes(with_classes([0, 1, 1, 1]), ADDED, class_target()).to_frame()

    assert frame.index.tolist() == [-1, 0, 1]
    assert list(frame.columns) == ["rule", "clauses", "support", "votes_no", "votes_yes"]
    assert frame["rule"].tolist() == ["(default)", "age <= 30", "age > 40 and size <= 5"]
    assert frame["clauses"].tolist() == [0, 1, 2]
    assert np.isnan(frame["support"][-1]) and frame["support"].tolist()[1:] == [1.0, 1.0]
    assert frame[["votes_no", "votes_yes"]].to_numpy().tolist() == ADDED.tolist()
    assert np.isnan(added_class_votes(RULES, ADDED, class_target()).support).all()


def test_a_frame_of_votes_for_numbers_has_one_column_of_votes() -> None:
    frame = Vote(RULES, np.array([[3.0, 1.0], [-1.0, 1.0]]), Mean(), np.array([3.0, 1.0])).to_frame()

    assert list(frame.columns) == ["rule", "clauses", "support", "vote"]


def test_a_notebook_shows_what_rules_add_and_where_it_begins() -> None:
    rules = with_classes([0, 1, 1, 1])
    vote = added_class_votes(rules, ADDED, class_target())

    shown = vote._repr_html_()

    assert shown != rules._repr_html_() and "the default vote, +0.25 for no, +0.75 for yes" in shown
    assert all(text in shown for text in ("age &lt;= 30", "size &lt;= 5", "no +0.5", "yes +0.12"))
    assert class_votes(rules)._repr_html_() == rules._repr_html_()
    assert added_class_votes(RULES, ADDED, class_target())._repr_html_() == RULES._repr_html_()


# Why --------------------------------------------------------------------------------------------------------------


def test_why_a_cover_decided_is_listed_rule_by_rule() -> None:
    vote = Vote(RULES, np.array([[3.0, 1.0], [0.0, 4.0]]), Classes(LABELS), np.array([6.0, 5.0]))

    reasons = vote.why(ROWS)

    assert reasons.to_dict("list") == {
        "row": [0, 1, 2, 2, 3],
        "prediction": ["no", "yes", "yes", "yes", "yes"],
        "decided_by": ["rules", "rules", "closest", "closest", "closest"],
        "rule": [0, 1, 0, 1, 1],
        "text": ["age <= 30", "age > 40 and size <= 5", "age <= 30", *["age > 40 and size <= 5"] * 2],
        "weight": [1.0] * 5,
        "votes_no": [3.0, 0.0, 3.0, 0.0, 0.0],
        "votes_yes": [1.0, 4.0, 1.0, 4.0, 4.0],
    }


def test_why_lists_rules_by_the_weight_that_the_fallback_gives_them() -> None:
    rules = RuleSet.of_intervals([{0: (40.0, np.inf), 1: (-np.inf, 5.0)}, {0: (60.0, 70.0)}], ["age", "size"])
    vote = Vote(rules, np.array([[3.0, 1.0], [0.0, 4.0]]), Classes(LABELS), np.array([6.0, 5.0]), FALLBACKS["all"])

    reasons = vote.why(np.array([[50.0, 9.0], [20.0, 9.0]]))

    assert reasons[["row", "rule", "weight", "votes_no", "votes_yes"]].to_numpy().tolist() == [
        [0, 0, 0.5, 1.5, 0.5],
        [1, -1, 1.0, 6.0, 5.0],
    ]
    assert reasons["text"].tolist() == ["age > 40 and size <= 5", ""]
    assert str(reasons).splitlines() == [
        "row 0: no (no rule covers it; decided by: all)",
        "rule   no  yes  weight  if",
        "   0  1.5  0.5     0.5  age > 40 and size <= 5",
        "",
        "row 1: no (no rule covers it; decided by: all)",
        "rule  no  yes  if",
        "       6    5",
    ]


def test_why_begins_with_the_base_where_votes_are_log_odds() -> None:
    votes, base = np.array([[2.0, -2.0], [-0.5, 0.5]]), np.array([-1.0, 1.0])
    vote = Vote(RULES, votes, LogOddsClasses(LABELS), np.array([1.0, 3.0]), FALLBACKS["majority"], base)

    reasons = vote.why(ROWS[:3])

    assert reasons["row"].tolist() == [0, 0, 1, 1, 2, 2]
    assert reasons["rule"].tolist() == [-1, 0, -1, 1, -1, -1]
    assert reasons["text"].tolist() == [
        "by default",
        "age <= 30",
        "by default",
        "age > 40 and size <= 5",
        "by default",
        "all training rows",
    ]
    assert reasons["weight"].tolist() == [1.0] * 6 and reasons["votes_yes"].tolist()[:5] == [1.0, -2.0, 1.0, 0.5, 1.0]
    assert reasons.groupby("row")[["votes_no", "votes_yes"]].sum().iloc[2].round(5).tolist() == [
        round(-np.log(3), 5),
        round(np.log(3), 5),
    ]


def test_why_of_added_votes_lists_the_base_first_and_each_rule_that_covers() -> None:
    vote = added_class_votes(with_classes([0, 1, 1, 1]), ADDED, class_target())

    reasons = vote.why(ROWS[:3])

    assert reasons.to_dict("list") == {
        "row": [0, 0, 1, 1, 2],
        "prediction": ["no", "no", "yes", "yes", "yes"],
        "rule": [-1, 0, -1, 1, -1],
        "text": ["by default", "age <= 30", "by default", "age > 40 and size <= 5", "by default"],
        "votes_no": [0.25, 0.5, 0.25, -0.125, 0.25],
        "votes_yes": [0.75, -0.5, 0.75, 0.125, 0.75],
    }
    assert str(reasons).splitlines()[:4] == [
        "row 0: no",
        "rule     no    yes  if",
        "      +0.25  +0.75  by default",
        "   0   +0.5   -0.5  age <= 30",
    ]


def test_why_a_number_was_predicted_is_printed_without_signs_of_values() -> None:
    rules, _ = with_numbers([-1.0, 5.0, 2.0, 8.0])
    plain = mean_votes(rules, "support")
    fitted = MIRCORegressor(RULES, ridge=1.0).fit(ROWS, [-1.0, 5.0, 2.0, 8.0]).vote_

    assert str(plain.why(ROWS[:1])).splitlines() == [
        "row 0: -1",
        "rule  value  mean_weight  if",
        "   0     -1            1  age <= 30",
    ]
    both = RuleSet.of_intervals([{0: (-np.inf, 30.0)}, {0: (-np.inf, 60.0)}], ["age", "size"])
    data = NumberSamples.of(ROWS, np.array([-1.0, 5.0, 2.0, 8.0]))
    several = mean_votes(rule_pool(data, both, Price(SquaredError())).rules, "support")
    assert str(several.why(ROWS[:1])).splitlines()[2:] == [
        "   0     -1            1  age <= 30",
        "   1    3.5            4  age <= 60",
    ]
    assert str(plain.why(ROWS[:0])) == "no rows"
    head, names, line = str(fitted.why(ROWS[:1])).splitlines()
    assert head == f"row 0: {fitted.predict(ROWS[:1])[0]:.6g}" and names.split() == ["rule", "adds", "if"]
    adds = fitted.votes[int(line.split()[0]), 0] * fitted.answer.unit
    assert line.split()[1:] == [f"{adds:+.3g}", "age", "<=", "30"]
