"""The checker rejects every kind of wrong answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rulecover.coverage import Coverage
from rulecover.exceptions import InvalidCertificateError
from rulecover.setcover import Branch, Certificate, Cover, CoveringProblem, Greedy, Status, verify
from rulecover.setcover.certificate import certified


@pytest.fixture
def problem() -> CoveringProblem:
    """A triangle: any two of three rules cover it, the LP would take half of each."""
    return CoveringProblem(Coverage.of_masks([[1, 1, 0], [0, 1, 1], [1, 0, 1]]), cost=[1.0, 1.25, 1.5])


@pytest.fixture
def cover(problem) -> Cover:
    return Greedy(bound="lp")(problem)


def test_an_honest_certificate_passes(problem, cover):
    assert verify(problem, cover) is cover.certificate


BY_SEARCH = {"source": "branch and bound"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"objective": 1.0}, "the rules cost"),
        ({"objective": 3.0}, "the rules cost"),
        ({"bound": 2.24, "proof": (Branch(np.array([0.1, 0.1, 0.1])),)}, "the proof gives a bound"),
        ({"bound": 5.0, "proof": (), **BY_SEARCH}, "exceeds the objective"),
        ({"bound": 1.0, "proof": (), "status": Status.OPTIMAL, **BY_SEARCH}, "called optimal"),
        ({"min_rules": 3}, "is not proved"),
        ({"min_rules": 2, "count_proof": None, "proof": (), "bound": 2.25, **BY_SEARCH}, "is not proved"),
        ({"min_rules": 4, "count_proof": Branch(np.zeros(3), 1.0, 4)}, "hold for all covers"),
        ({"n_rules": 1}, "the certificate says 1"),
        ({"n_capped": 2}, "the certificate says 2 and 2"),
        ({"status": Status.LIMITED}, "0 samples are covered less often"),
        ({"bound": np.nan, "proof": (), "status": Status.OPTIMAL}, "must be finite"),
        ({"proof": (Branch(np.array([np.inf, 1.0, 1.0])),)}, "one finite dual price"),
        ({"proof": (Branch(np.ones(3), np.inf, 2),)}, "must be finite"),
        ({"n_uncovered": 1}, "covered less often"),
        ({"proof": (Branch(np.array([-1.0, 5.0, 1.0])),)}, "none of them negative"),
        ({"proof": (Branch(np.array([1.0, 1.0])),)}, "one finite dual price per sample"),
        ({"count_proof": Branch(np.array([np.nan, 1.0, 1.0]))}, "none of them negative"),
        ({"proof": (Branch(np.ones(3), 0.1, 5),), "bound": 1.0}, "leave some number of rules out"),
        ({"proof": (Branch(np.ones(3), -0.1, 2),), "bound": 1.0}, "leave some number of rules out"),
        ({"proof": (Branch(np.ones(3), -0.1, 2), Branch(np.ones(3), 0.1, 4)), "bound": 1.0}, "leave some number"),
    ],
)
def test_a_tampered_certificate_is_rejected(problem, cover, change, message):
    forged = Cover(cover.rules, replace(cover.certificate, **change))
    with pytest.raises(InvalidCertificateError, match=message):
        verify(problem, forged)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ([0], "the rules cost"),
        ([0, 0], "twice, or one beyond"),
        ([0, 3], "twice, or one beyond"),
        ([-1, 0], "twice, or one beyond"),
    ],
)
def test_other_rules_than_certified_are_rejected(problem, cover, rules, message):
    with pytest.raises(InvalidCertificateError, match=message):
        verify(problem, Cover(np.array(rules, dtype=np.intp), cover.certificate))


def test_a_cover_that_misses_a_sample_is_rejected(problem, cover):
    forged = Cover(np.array([2], dtype=np.intp), replace(cover.certificate, objective=1.5, n_rules=1))
    with pytest.raises(InvalidCertificateError, match="covered less often than demanded"):
        verify(problem, forged)


def test_a_bound_without_proof_is_taken_from_branch_and_bound_alone():
    problem = CoveringProblem(Coverage.of_masks([[1, 1], [0, 1], [1, 0]]), cost=[1.0, 1.0, 1.0])
    dear = Certificate(2.0, 2.0, "LP", Status.OPTIMAL, 2, 0.0)
    with pytest.raises(InvalidCertificateError, match="without a proof"):
        verify(problem, Cover(np.array([1, 2]), dear))


def test_a_bound_above_the_objective_is_cut_to_it(problem):
    said = certified(
        problem, np.array([0, 1]), Status.FEASIBLE, source="branch and bound", seconds=0.0, bound=2.25 + 1e-9
    ).certificate
    assert (said.objective, said.bound, said.gap, said.status) == (2.25, 2.25, 0.0, Status.OPTIMAL)


def test_a_bound_below_the_objective_stays(problem):
    said = certified(problem, np.array([0, 1]), Status.FEASIBLE, source="branch and bound", seconds=0.0, bound=2.0)
    assert (said.bound, said.status) == (2.0, Status.FEASIBLE)


def test_the_bound_of_a_limited_cover_may_exceed_its_objective(problem):
    said = certified(
        problem, np.array([0]), Status.FEASIBLE, source="branch and bound", seconds=0.0, bound=2.25, max_rules=1
    )
    assert (said.objective, said.bound, said.status) == (1.0, 2.25, Status.LIMITED)


@pytest.mark.parametrize(("bound", "status"), [(2.25 * (1 - 9e-7), "optimal"), (2.25 * (1 - 2e-6), "feasible")])
def test_optimal_is_within_a_relative_millionth_and_says_so(problem, bound, status):
    cover = certified(problem, np.array([0, 1]), Status.FEASIBLE, source="branch and bound", seconds=0.0, bound=bound)
    assert cover.status == status
    assert ("optimal (within a relative 1e-06)" in str(cover.certificate)) == (status == "optimal")


def test_bounds_are_rounded_up_where_costs_are_whole_numbers():
    triangle = CoveringProblem(Coverage.of_masks([[1, 1, 0], [0, 1, 1], [1, 0, 1]]), cost=[1, 1, 1])
    cover = Greedy(bound="lp")(triangle)
    assert (cover.bound, cover.status) == (2.0, Status.OPTIMAL)
    verify(triangle, cover)
    with pytest.raises(InvalidCertificateError, match="the proof gives a bound"):
        verify(triangle, Cover(cover.rules, replace(cover.certificate, proof=(Branch(np.full(3, 0.3)),))))


def test_a_certificate_is_printed_line_by_line() -> None:
    proved = Certificate(3.0, 3.0, "LP", Status.OPTIMAL, n_rules=1, seconds=0.5)
    near = Certificate(4.0, 3.99951, "dual fitting", Status.FEASIBLE, n_rules=3, seconds=0.5, min_rules=2, n_capped=5)
    limited = Certificate(2.0, 3.5, "LP and count", Status.LIMITED, 2, 0.5, min_rules=3, n_uncovered=7, n_left_out=4)

    assert str(proved).split("\n") == [
        "1 rule, total cost 3.000: optimal (within a relative 1e-06)",
        "no cover costs less than 3.000 (LP): gap 0.0 %",
    ]
    assert str(near).split("\n") == [
        "3 rules, total cost 4.000: feasible",
        "no cover costs less than 3.999 (dual fitting): gap 0.0 %; no cover has fewer than 2 rules",
        "5 samples are covered by fewer rules than demanded, by all there are",
    ]
    assert str(limited).split("\n") == [
        "2 rules, total cost 2.000: limited",
        "7 samples are covered less often than demanded (limit on the rules)",
        "no cover of all samples costs less than 3.500 (LP and count); no cover has fewer than 3 rules",
        "4 samples are covered by no rule at all and were left out",
    ]
    assert limited.gap == 0.0 and near.gap == pytest.approx(0.0001225)
    assert Certificate(0.0, 0.0, "LP", Status.OPTIMAL, 0, 0.1).gap == 0.0
    assert proved.without_proof().proof == ()
