"""The weighted set covering problem (model (1) of the paper) and its solutions."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike

from rulecover.coverage import Coverage, addable
from rulecover.exceptions import UncoveredSamplesError
from rulecover.typing import Floats, Ints

#: Relative slack for sums of floats, and for what an LP code calls feasible; within it a cover is called optimal.
TOLERANCE = 1e-6


class Status(enum.StrEnum):
    """What is known of a cover."""

    FEASIBLE = "feasible"  #: covers every sample; the gap says how far it may be from the best
    OPTIMAL = "optimal"  #: proved: no cover is cheaper by more than a relative 1e-6
    TIME_LIMIT = "time limit"  #: the best cover found when the time was up
    LIMITED = "limited"  #: a limit on the number of rules leaves some samples uncovered


@dataclass(frozen=True, eq=False)
class CoveringProblem:
    """Choose rules of least total cost so that each sample is covered as often as it demands.

    A problem that exists can be solved: a sample that no rule covers raises at once.

    Parameters
    ----------
    coverage
        Which rule covers which sample.
    cost
        The price of each rule, positive; the paper's is ``1 + impurity``.
    demand
        How many rules must cover a sample, one number or one per sample. It is capped by the number of rules that cover
        the sample at all; `n_capped` says how many samples that concerns.
    weight
        What a sample counts in the gain of the greedy choice, positive; 1 by default.

    Examples
    --------
    >>> problem = CoveringProblem(Coverage.of_masks([[1, 1, 0], [0, 1, 1]]), cost=[1.0, 1.5], demand=2)
    >>> problem.demand, problem.n_capped
    (array([1, 2, 1]), 2)
    """

    coverage: Coverage
    cost: Floats
    demand: Ints = field(default=1)  # type: ignore[arg-type]  # a plain number is spread over the samples
    weight: Floats | None = None
    n_capped: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        cost = np.asarray(self.cost, dtype=np.float64)
        if cost.shape != (self.coverage.n_rules,):
            raise ValueError(
                f"cost has shape {cost.shape}, but there are {self.coverage.n_rules} rules; give one each."
            )
        if not (np.isfinite(cost).all() and (cost > 0).all()):
            wrong = int(np.flatnonzero(~(np.isfinite(cost) & (cost > 0)))[0])
            raise ValueError(f"rule {wrong} costs {cost[wrong]}; costs must be positive and finite.")
        if (missed := self.coverage.missed()).size:
            raise UncoveredSamplesError(
                f"{missed.size} samples are covered by no rule, the first is sample {missed[0]}; "
                "add rules that cover them or leave these samples out."
            )
        wanted = np.broadcast_to(np.asarray(self.demand, dtype=np.intp), (self.coverage.n_samples,))
        if wanted.size and wanted.min() < 1:
            raise ValueError(f"demand must be at least 1, but {wanted.min()} was asked for; leave such samples out.")
        demand = np.minimum(wanted, self.coverage.degrees)
        object.__setattr__(self, "cost", cost)
        object.__setattr__(self, "demand", demand)
        object.__setattr__(self, "n_capped", int((demand < wanted).sum()))
        if self.weight is not None:
            weight = np.asarray(self.weight, dtype=np.float64)
            if weight.shape != (self.coverage.n_samples,) or not (np.isfinite(weight).all() and (weight > 0).all()):
                raise ValueError("weights must be positive and finite, one per sample; leave samples of weight 0 out.")
            # Gains are kept by subtraction; sums that are never rounded keep ties, and gains above zero.
            object.__setattr__(self, "weight", addable(weight))

    @classmethod
    def from_sparse(
        cls, matrix: Any, cost: ArrayLike, demand: ArrayLike = 1, weight: ArrayLike | None = None
    ) -> CoveringProblem:
        """The problem of any 0/1 matrix, whatever its columns stand for: every solver takes it.

        Parameters
        ----------
        matrix
            Rows by rules, a SciPy sparse array or matrix: 1 where the rule covers the row, and no other entries.
        cost
            The price of each rule, positive.
        demand, weight
            As for the class.

        Returns
        -------
        CoveringProblem
            Rows are its samples, columns its rules.

        Raises
        ------
        ValueError
            If the matrix is not sparse or has other entries than 0 and 1, or a cost is not positive.
        UncoveredSamplesError
            If a row is not covered by any rule.

        Examples
        --------
        >>> import scipy.sparse
        >>> from rulecover.setcover import CoveringProblem, Exact
        >>> matrix = scipy.sparse.csr_array([[1, 0, 1], [1, 1, 0], [0, 1, 1]])
        >>> cover = Exact()(CoveringProblem.from_sparse(matrix, cost=[1.0, 2.0, 1.5]))
        >>> cover.rules.tolist(), cover.objective
        ([0, 2], 2.5)
        """
        if not scipy.sparse.issparse(matrix) or matrix.ndim != 2:
            shape = getattr(matrix, "shape", None)
            raise ValueError(
                f"matrix is a {type(matrix).__name__}{f' of shape {shape}' if shape else ''}; give a two-dimensional "
                "SciPy sparse array of rows by rules, such as scipy.sparse.csr_array(matrix)."
            )
        entries = matrix.tocoo()
        if (wrong := np.flatnonzero((entries.data != 0) & (entries.data != 1))).size:
            row, rule = entries.row[wrong[0]], entries.col[wrong[0]]
            raise ValueError(
                f"the entry of row {row} and rule {rule} is {entries.data[wrong[0]]}; entries must be 0 or 1."
            )
        return cls(Coverage.of_sparse(matrix), cost, demand, weight)  # type: ignore[arg-type]  # converted there

    @property
    def n_samples(self) -> int:
        return self.coverage.n_samples

    @property
    def n_rules(self) -> int:
        return self.coverage.n_rules

    @cached_property
    def whole_costs(self) -> bool:
        """Whether every cost is a whole number, so that the cost of any cover is one."""
        return bool((self.cost % 1 == 0).all())

    def round_up(self, bound: float) -> float:
        """The bound on the cost of any cover, rounded up to a whole number where all costs are whole.

        Parameters
        ----------
        bound
            No cover costs less than this.

        Returns
        -------
        float
            No cover costs less than this, either.
        """
        return round_up(bound) if self.whole_costs else bound

    def times_covered(self, rules: Ints) -> Ints:
        """How many of these rules cover each sample, counted exactly.

        Parameters
        ----------
        rules
            Their numbers.

        Returns
        -------
        numpy.ndarray
            One whole number per sample.
        """
        return self.coverage.times_covered(rules)

    def shortfall(self, rules: Ints) -> Ints:
        """The samples that these rules cover less often than demanded.

        Parameters
        ----------
        rules
            Their numbers.

        Returns
        -------
        numpy.ndarray
            The numbers of the samples.
        """
        return np.flatnonzero(self.times_covered(rules) < self.demand)

    def restricted_to(self, rules: Ints) -> CoveringProblem:
        """The same samples and demands with some of the rules only; they must be able to meet them.

        Parameters
        ----------
        rules
            Their numbers.

        Returns
        -------
        CoveringProblem
            Its rules are numbered again, in the order given.

        Raises
        ------
        UncoveredSamplesError
            If these rules leave a sample uncovered.
        """
        return CoveringProblem(self.coverage.take(rules), self.cost[rules], self.demand, self.weight)


def round_up(bound: float) -> float:
    """A bound on a whole number, rounded up to one."""
    return max(bound, float(math.ceil(bound - TOLERANCE * max(1.0, abs(bound))))) if math.isfinite(bound) else bound


@dataclass(frozen=True, eq=False)
class Branch:
    """Dual prices that prove a lower bound on every cover whose number of rules lies on one side of a count.

    With ``count_price`` 0 it holds for all covers; with a positive price for those with at least ``count`` rules, with
    a negative one for those with at most ``count``.

    Parameters
    ----------
    duals
        A price for each sample, at least 0.
    count_price
        The price of the number of rules.
    count
        The number that the price is for.
    """

    duals: Floats
    count_price: float = 0.0
    count: int = 0

    def bound(self, problem: CoveringProblem, cost: Floats | None = None) -> float:
        """The Lagrangian bound: Σ dᵢλᵢ + price · count + Σ min(0, reduced cost), valid for any λ >= 0.

        Parameters
        ----------
        problem
            The covering problem that the prices are for.
        cost
            Other costs in place of the problem's.

        Returns
        -------
        float
            No cover of the branch costs less.
        """
        cost = problem.cost if cost is None else cost
        reduced = cost - problem.coverage.per_rule(self.duals) - self.count_price
        priced = float(problem.demand @ self.duals) + self.count_price * self.count
        return priced + float(np.minimum(reduced, 0.0).sum())


@dataclass(frozen=True, eq=False)
class Certificate:
    """What is proved of a cover.

    Parameters
    ----------
    objective
        The total cost of the chosen rules.
    bound
        No cover that meets every demand costs less.
    source
        Where the bound comes from: "dual fitting" (prices of the greedy choice, scaled), "LP", "LP and count"
        (the LP on both sides of a number of rules), or "branch and bound".
    status
        "optimal" only where it is proved: objective and bound differ by no more than a relative 1e-6.
    n_rules, min_rules
        How many rules were chosen; no cover has fewer than `min_rules`.
    n_uncovered
        Samples covered less often than demanded, because the number of rules was limited.
    n_capped
        Samples whose demand was lowered to the number of rules that cover them at all.
    n_left_out
        Samples that no rule covers at all; nothing is proved of them.
    seconds
        Wall-clock time of the solver.
    proof
        Dual prices from which `bound` can be recomputed: the least of its branches' bounds. Empty where the bound
        is reported by the branch-and-bound code.
    count_proof
        Dual prices from which `min_rules` can be recomputed, with every rule at cost 1.
    left_out
        What a memory limit left out, in words, such as "the LP"; empty if nothing.
    """

    objective: float
    bound: float
    source: str
    status: Status
    n_rules: int
    seconds: float
    min_rules: int = 1
    n_uncovered: int = 0
    n_capped: int = 0
    n_left_out: int = 0
    proof: tuple[Branch, ...] = ()
    count_proof: Branch | None = None
    left_out: str = ""

    @property
    def gap(self) -> float:
        """The share of the objective that is not yet proved necessary, 0 for an optimal cover."""
        return max(0.0, (self.objective - self.bound) / self.objective) if self.objective else 0.0

    def without_proof(self) -> Certificate:
        """The statement alone: small enough to keep, but no longer to be recomputed.

        Returns
        -------
        Certificate
            A copy.
        """
        return replace(self, proof=(), count_proof=None)

    def __str__(self) -> str:
        # Rounded up it would promise too much; where it is the optimum, both are rounded alike.
        bound = self.objective if self.status == Status.OPTIMAL else math.floor(1000 * self.bound) / 1000
        few = f"; no cover has fewer than {self.min_rules} rules" if self.min_rules > 1 else ""
        status = f"{self.status} (within a relative {TOLERANCE:.0e})" if self.status == Status.OPTIMAL else self.status
        lines = [f"{self.n_rules} rule{'s' * (self.n_rules != 1)}, total cost {self.objective:.3f}: {status}"]
        if self.n_uncovered:
            lines.append(f"{self.n_uncovered} samples are covered less often than demanded (limit on the rules)")
            lines.append(f"no cover of all samples costs less than {bound:.3f} ({self.source}){few}")
        else:
            lines.append(f"no cover costs less than {bound:.3f} ({self.source}): gap {100 * self.gap:.1f} %{few}")
        if self.n_capped:
            lines.append(f"{self.n_capped} samples are covered by fewer rules than demanded, by all there are")
        if self.n_left_out:
            lines.append(f"{self.n_left_out} samples are covered by no rule at all and were left out")
        if self.left_out:
            lines.append(f"the memory limit left out {self.left_out}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Cover:
    """The chosen rules, best buy first, and what is proved of them.

    Parameters
    ----------
    rules
        Indices of the chosen rules in the order in which the greedy algorithm would pick them.
    certificate
        Objective, bound, gap and status.
    """

    rules: Ints
    certificate: Certificate

    @property
    def objective(self) -> float:
        return self.certificate.objective

    @property
    def bound(self) -> float:
        return self.certificate.bound

    @property
    def status(self) -> Status:
        return self.certificate.status

    def __len__(self) -> int:
        return len(self.rules)
