"""The checker: a cover is counted again, and a bound recomputed from its proof, in code of our own."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from rulecover.exceptions import InvalidCertificateError
from rulecover.setcover.problem import TOLERANCE, Branch, Certificate, Cover, CoveringProblem, Status
from rulecover.typing import Ints

if TYPE_CHECKING:
    from rulecover.setcover.bounds import Bound

#: The one source of bounds that cannot be recomputed: they are taken from the MIP solver.
BRANCH_AND_BOUND = "branch and bound"


def certified(
    problem: CoveringProblem,
    rules: Ints,
    status: Status,
    *,
    source: str,
    seconds: float,
    proof: tuple[Branch, ...] = (),
    proved: float | None = None,
    bound: float | None = None,
    count_proof: Branch | None = None,
    max_rules: int | None = None,
    left_out: str = "",
) -> Cover:
    """A cover with its certificate: every number in it is counted here, from the problem.

    The bound is the better of what `proof` proves (recomputed here, unless `proved` says it) and `bound`, which a
    branch-and-bound code reports. A cover whose cost meets its bound is called optimal. Only one that has all the rules
    it may have, `max_rules`, may fall short of a demand; it is called limited.
    """
    rules = np.asarray(rules, dtype=np.intp)
    if proved is None:
        proved = min((branch.bound(problem) for branch in proof), default=0.0)
    if bound is not None and bound > proved:
        proved, proof = bound, ()
    short = len(problem.shortfall(rules))
    if short and (max_rules is None or len(rules) < max_rules):
        raise InvalidCertificateError(f"{len(rules)} rules leave {short} samples covered less often than demanded.")
    certificate = certificate_of(
        math.fsum(problem.cost[rules]),
        problem.round_up(proved),
        status,
        source=source,
        n_rules=len(rules),
        seconds=seconds,
        min_rules=_fewest(problem, count_proof),
        n_uncovered=short,
        n_capped=problem.n_capped,
        proof=proof,
        count_proof=count_proof,
        left_out=left_out,
    )
    return Cover(rules, certificate)


def certificate_of(objective: float, proved: float, status: Status = Status.FEASIBLE, **counted: Any) -> Certificate:
    """The certificate of a cover of which everything has been counted; it is optimal where its cost meets its bound."""
    if counted["n_uncovered"]:
        status = Status.LIMITED
    else:
        proved = min(proved, objective)
        if objective - proved <= TOLERANCE * max(1.0, objective):
            status = Status.OPTIMAL
    return Certificate(objective=objective, bound=max(0.0, proved), status=status, **counted)


def certified_by(
    bound: Bound,
    problem: CoveringProblem,
    rules: Ints,
    *,
    begin: float,
    status: Status = Status.FEASIBLE,
    max_rules: int | None = None,
) -> Cover:
    """A cover with the certificate that a bound gives; the solver began at `begin`, by `time.perf_counter`."""
    return certified(
        problem,
        rules,
        status,
        source=bound.source,
        seconds=time.perf_counter() - begin,
        proof=bound.proof,
        proved=bound.value,
        count_proof=bound.count_proof,
        max_rules=max_rules,
        left_out=bound.left_out,
    )


def _fewest(problem: CoveringProblem, count_proof: Branch | None) -> int:
    least = int(problem.demand.max(initial=0))
    if count_proof is None:
        return least
    proved = count_proof.bound(problem, np.ones(problem.n_rules))
    return max(least, math.ceil(proved - TOLERANCE * max(1.0, proved)))


def verify(problem: CoveringProblem, cover: Cover) -> Certificate:
    """Checks a cover and its certificate against the problem; returns the certificate or raises.

    Demands are counted, costs added up and the bounds recomputed from the dual prices in the proof. A bound without
    a proof (branch and bound) cannot be recomputed; it is checked not to exceed the objective.

    Parameters
    ----------
    problem
        The covering problem.
    cover
        What a solver returned for it.

    Returns
    -------
    Certificate
        That of the cover.

    Raises
    ------
    InvalidCertificateError
        With what is wrong.

    Examples
    --------
    >>> from rulecover.coverage import Coverage
    >>> from rulecover.setcover import CoveringProblem, Greedy, verify
    >>> problem = CoveringProblem(Coverage.of_masks([[1, 1], [0, 1]]), cost=[1.0, 1.0])
    >>> print(verify(problem, Greedy()(problem)))
    1 rule, total cost 1.000: optimal (within a relative 1e-06)
    no cover costs less than 1.000 (dual fitting): gap 0.0 %
    """
    claimed = cover.certificate
    rules = cover.rules
    if len(np.unique(rules)) != len(rules) or (len(rules) and not (0 <= rules.min() <= rules.max() < problem.n_rules)):
        raise InvalidCertificateError(f"the cover names a rule twice, or one beyond the {problem.n_rules} rules.")
    slack = TOLERANCE * max(1.0, claimed.objective)
    objective = math.fsum(problem.cost[rules])
    if not math.isclose(objective, claimed.objective, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
        raise InvalidCertificateError(f"the rules cost {objective}, but the certificate says {claimed.objective}.")
    if (claimed.n_rules, claimed.n_capped) != (len(rules), problem.n_capped):
        raise InvalidCertificateError(
            f"{len(rules)} rules and {problem.n_capped} capped demands, but the certificate says {claimed.n_rules} and "
            f"{claimed.n_capped}."
        )
    short = problem.shortfall(rules)
    if len(short) != claimed.n_uncovered or bool(len(short)) != (claimed.status == Status.LIMITED):
        raise InvalidCertificateError(
            f"{len(short)} samples are covered less often than demanded (the certificate says {claimed.n_uncovered})"
            + (f", the first is sample {short[0]}." if len(short) else ".")
        )
    _verify_bounds(problem, claimed, slack)
    return claimed


def _verify_bounds(problem: CoveringProblem, claimed: Certificate, slack: float) -> None:
    for branch in (*claimed.proof, *([claimed.count_proof] if claimed.count_proof else [])):
        # Infinite prices would prove a bound that is not a number, and so not less than anything.
        if branch.duals.shape != (problem.n_samples,) or not ((branch.duals >= 0) & np.isfinite(branch.duals)).all():
            raise InvalidCertificateError(
                "the proof must have one finite dual price per sample, none of them negative."
            )
        if not math.isfinite(branch.count_price):
            raise InvalidCertificateError(f"the price of the count is {branch.count_price}, but must be finite.")
    if claimed.count_proof and claimed.count_proof.count_price:
        raise InvalidCertificateError("the proof of the number of rules must hold for all covers.")
    if not math.isfinite(claimed.bound):
        raise InvalidCertificateError(f"the bound is {claimed.bound}, but must be finite.")
    if not claimed.proof and claimed.bound > 0 and claimed.source != BRANCH_AND_BOUND:
        raise InvalidCertificateError(f"the bound {claimed.bound} by {claimed.source!r} comes without a proof.")
    _verify_branches(claimed.proof, _fewest(problem, claimed.count_proof))
    proved = problem.round_up(min((branch.bound(problem) for branch in claimed.proof), default=claimed.bound))
    if proved < claimed.bound - slack:
        raise InvalidCertificateError(f"the proof gives a bound of {proved}, but the certificate says {claimed.bound}.")
    if claimed.status != Status.LIMITED and claimed.bound > claimed.objective + slack:
        raise InvalidCertificateError(f"the bound {claimed.bound} exceeds the objective {claimed.objective}.")
    if claimed.status == Status.OPTIMAL and claimed.objective - claimed.bound > slack:
        raise InvalidCertificateError(f"called optimal with objective {claimed.objective} and bound {claimed.bound}.")
    if claimed.min_rules > _fewest(problem, claimed.count_proof):
        raise InvalidCertificateError(f"'no cover has fewer than {claimed.min_rules} rules' is not proved.")


def _verify_branches(proof: tuple[Branch, ...], fewest: int) -> None:
    """A branch that holds for all covers, or branches that leave no number of rules out: at most k, at least k + 1."""
    at_most = max([fewest - 1, *(branch.count for branch in proof if branch.count_price < 0)])
    at_least = min((branch.count for branch in proof if branch.count_price > 0), default=None)
    holds_for_all = any(branch.count_price == 0 for branch in proof)
    if proof and not holds_for_all and (at_least is None or at_least > at_most + 1):
        raise InvalidCertificateError("the branches of the proof leave some number of rules out.")
