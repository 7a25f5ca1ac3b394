"""The one file that imports highspy: the covering LP in its dual form, and the MIP."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
import scipy.sparse

from rulecover.exceptions import SolverError
from rulecover.typing import Floats, Ints, UInts

_OPTIMAL = (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kModelEmpty)
_STOPPED = (
    highspy.HighsModelStatus.kTimeLimit,
    highspy.HighsModelStatus.kIterationLimit,
    highspy.HighsModelStatus.kSolutionLimit,
    highspy.HighsModelStatus.kObjectiveBound,
    highspy.HighsModelStatus.kObjectiveTarget,
    highspy.HighsModelStatus.kInterrupt,
)
# The start comes from a better search than HiGHS has; without its heuristics proofs take half of the time.
_PROVE_ONLY: dict[str, Any] = {
    "mip_heuristic_effort": 0.0,
    "mip_heuristic_run_root_reduced_cost": False,
    "mip_heuristic_run_rens": False,
    "mip_heuristic_run_rins": False,
    "mip_heuristic_run_feasibility_jump": False,
}
_INFEASIBLE = (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible)

_DUAL, _PRIMAL = 1, 4  # HiGHS's numbers of the two simplex methods

#: Costs above this are divided by a power of two: HiGHS compares with fixed tolerances, and takes a bounded LP whose
#: costs are 1e10 for unbounded.
_LARGE = 1024.0


@dataclass(frozen=True, eq=False)
class LinearSolution:
    """Prices of the rows and shares of the columns; at the time limit, those reached so far."""

    objective: float
    duals: Floats
    count_price: float
    shares: Floats
    finished: bool


class CoveringLP:
    """The LP of a covering problem, posed as its dual: its rows are our rules, its columns our samples.

    max Σ dᵢλᵢ + k·p - Σ μⱼ subject to Σ λᵢ (i in I(j)) + p - μⱼ <= cⱼ, λ and μ >= 0: μ is the price of z <= 1, p that
    of a limit k on the number of rules. The basis has one row per rule, and rules are far fewer than binding samples;
    rules that come later are rows, which the warm simplex method is made for. With a demand of 1 and no limit k, z
    <= 1 holds by itself and μ is left out.
    """

    def __init__(self, matrix: scipy.sparse.csc_array, cost: Floats, demand: Ints) -> None:
        self._n_samples, n_rules = matrix.shape
        self._n_rules = 0
        self._cost: Floats = np.zeros(0)
        self._unit = 1.0
        self._price: int | None = None
        self._highs = _quiet_highs()
        _valid(cost, demand.astype(np.float64))
        self._highs.changeObjectiveSense(highspy.ObjSense.kMaximize)
        _add_columns(self._highs, demand.astype(np.float64), highspy.kHighsInf)
        self._with_mu = False
        self.add(matrix, cost)
        if n_rules and demand.max(initial=1) > 1:
            self._cap()

    def add(self, matrix: scipy.sparse.csc_array, cost: Floats) -> None:
        """More rules over the same samples."""
        _valid(cost)
        if (unit := _unit(cost)) > self._unit:
            self._set_cost(self._cost, unit)
        self._cost = np.concatenate([self._cost, cost])
        n_new = matrix.shape[1]
        _call(
            self._highs,
            "addRows",
            n_new,
            np.full(n_new, -highspy.kHighsInf),
            cost / self._unit,
            matrix.nnz,
            matrix.indptr[:-1].astype(np.int32),
            matrix.indices.astype(np.int32),
            np.ones(matrix.nnz),
        )
        _call(self._highs, "setOptionValue", "simplex_strategy", _DUAL)
        first, self._n_rules = self._n_rules, self._n_rules + n_new
        if self._price is not None:
            for row in range(first, self._n_rules):
                _call(self._highs, "changeCoeff", row, self._price, 1.0)
        if self._with_mu:
            self._add_mu(np.arange(first, self._n_rules))

    def add_samples(self, matrix: scipy.sparse.csr_array) -> None:
        """More samples of demand 1, each a row of `matrix` over the rules there are."""
        _add_columns(self._highs, np.ones(matrix.shape[0]), highspy.kHighsInf, matrix.indptr[:-1], matrix.indices)
        self._n_samples += matrix.shape[0]
        # The basis stays primal feasible under new columns, and dual feasible under new rows.
        _call(self._highs, "setOptionValue", "simplex_strategy", _PRIMAL)

    def keep(self, rules: Ints) -> Ints:
        """Only these rules stay, with the samples in the basis, whose places are returned: the basis stays too.

        Rules that have no share are rows with slack, which is in the basis: without both it is a basis still.
        """
        assert self._price is None and not self._with_mu, "rules leave an LP of plain covers only"
        basis, basic = self._highs.getBasis(), highspy.HighsBasisStatus.kBasic
        gone = np.setdiff1d(np.arange(self._n_rules), rules)
        samples = np.flatnonzero([status == basic for status in basis.col_status])
        _delete(self._highs, "deleteRows", gone)
        _delete(self._highs, "deleteCols", np.setdiff1d(np.arange(self._n_samples), samples))
        self._n_rules, self._n_samples, self._cost = len(rules), len(samples), self._cost[rules]
        if basis.valid and all(basis.row_status[j] == basic for j in gone):
            basis.row_status = [basis.row_status[j] for j in rules]
            basis.col_status = [basic] * len(samples)
            _call(self._highs, "setBasis", basis)
        return samples

    def reprice(self, cost: Floats) -> None:
        """Other costs of the rules; the basis stays."""
        _valid(cost)
        self._set_cost(cost, _unit(cost))

    def _set_cost(self, cost: Floats, unit: float) -> None:
        self._cost, self._unit = cost, unit
        _bound_rows(self._highs, cost / unit)

    def basis(self) -> object:
        return self._highs.getBasis()

    def set_basis(self, basis: object) -> None:
        """Goes back to an earlier basis; one of another size (rules came since) is left alone."""
        if len(getattr(basis, "row_status", ())) == self._n_rules:
            self._highs.setBasis(basis)

    def basis_codes(self) -> tuple[UInts, UInts]:
        """The basis as numbers, HiGHS's own for the state of a sample and of a rule, to be kept in a file."""
        basis = self._highs.getBasis()
        samples, rules = (
            np.array(list(map(int, each)), dtype=np.uint8) for each in (basis.col_status, basis.row_status)
        )
        return samples, rules

    def set_basis_codes(self, samples: UInts, rules: UInts) -> None:
        """Begins with a basis that was kept."""
        basis, state = highspy.HighsBasis(), highspy.HighsBasisStatus
        basis.col_status, basis.row_status = list(map(state, samples.tolist())), list(map(state, rules.tolist()))
        basis.valid = True
        _call(self._highs, "setBasis", basis)

    def solve(self, *, count: int = 0, side: int = 0, deadline: float | None = None) -> LinearSolution:
        """The LP of all covers (side 0), of those with at most (-1) or at least (+1) `count` rules.

        Raises
        ------
        SolverError
            If HiGHS ends without a solution; running out of time is not an error: any prices >= 0 still prove a bound.
        """
        if side and not self._with_mu:
            self._cap()
        if side and self._price is None:
            self._price = self._highs.getNumCol()
            _add_columns(self._highs, np.zeros(1), 0.0, [0], np.arange(self._n_rules))
        if self._price is not None:
            lower, upper = (-highspy.kHighsInf if side < 0 else 0.0), (highspy.kHighsInf if side > 0 else 0.0)
            _call(self._highs, "changeColBounds", self._price, lower, upper)
            _call(self._highs, "changeColCost", self._price, float(count))
        status = self._run_guarded(deadline)
        if status not in _OPTIMAL and status not in _STOPPED:
            raise SolverError(f"the covering LP ended as {self._highs.modelStatusToString(status)!r}.")
        return self._current_solution(status in _OPTIMAL)

    def _run_guarded(self, deadline: float | None) -> Any:
        """Solves from the last basis, which on degenerate problems can take far longer than to start again.

        So it is given a number of iterations, not of seconds: what comes out must not depend on the clock.
        """
        enough = 2000 + 3 * (self._n_rules + self._n_samples)
        _call(self._highs, "setOptionValue", "simplex_iteration_limit", enough)
        status = _run(self._highs, deadline)
        if status == highspy.HighsModelStatus.kIterationLimit:
            _call(self._highs, "clearSolver")
            _call(self._highs, "setOptionValue", "simplex_strategy", _DUAL)
            _call(self._highs, "setOptionValue", "simplex_iteration_limit", highspy.kHighsIInf)
            status = _run(self._highs, deadline)
        return status

    def _current_solution(self, finished: bool) -> LinearSolution:
        solution = self._highs.getSolution()
        value = np.asarray(solution.col_value, dtype=np.float64)
        if len(value) < self._n_samples or not np.isfinite(value).all():
            value = np.zeros(self._highs.getNumCol())
        shares = np.abs(np.asarray(solution.row_dual, dtype=np.float64))
        if len(shares) != self._n_rules or not np.isfinite(shares).all():
            shares = np.zeros(self._n_rules)
        return LinearSolution(
            objective=self._unit * float(self._highs.getInfo().objective_function_value),
            duals=self._unit * np.maximum(value[: self._n_samples], 0.0),
            count_price=self._unit * float(value[self._price]) if self._price is not None else 0.0,
            shares=np.minimum(shares, 1.0),
            finished=finished,
        )

    def _cap(self) -> None:
        self._with_mu = True
        self._add_mu(np.arange(self._n_rules))

    def _add_mu(self, rules: Ints) -> None:
        cost = np.full(len(rules), -1.0)
        _add_columns(self._highs, cost, highspy.kHighsInf, np.arange(len(rules)), rules, value=-1.0)


@dataclass(frozen=True, eq=False)
class IntegerSolution:
    """The best choice of columns found, if any, and the least that any choice can cost."""

    columns: Ints | None
    bound: float
    finished: bool


def solve_mip(
    matrix: scipy.sparse.csc_array,
    cost: Floats,
    demand: Ints,
    *,
    count: tuple[float, float] = (0.0, np.inf),
    start: Ints | None = None,
    below: float = np.inf,
    heuristics: bool = False,
    deadline: float | None = None,
) -> IntegerSolution:
    """Columns of least cost that meet every demand, with a number of them within `count`, from a cover `start`.

    It has one thread and no gap, and looks for covers by `heuristics` of its own if asked to, and only for those that
    cost less than `below`. At the deadline, or on Ctrl-C, it returns the best found and the bound proved so far.
    ``finished`` without columns means that there are none. Costs beyond 1e20 are infinite to HiGHS, which may then know
    neither columns nor a bound.

    Raises
    ------
    SolverError
        If HiGHS ends with an error.
    """
    if not matrix.shape[1]:
        return IntegerSolution(np.zeros(0, dtype=np.intp), 0.0, finished=True)
    _valid(cost, demand.astype(np.float64))
    highs = _mip_solver(below, heuristics=heuristics)
    _call(highs, "passModel", _mip_of(matrix, cost, demand, count))
    if start is not None:
        _call(highs, "setSolution", _starting_at(start, matrix.shape[1]))
    with contextlib.suppress(KeyboardInterrupt):  # what was found until then is kept
        _run(highs, deadline)
    return _found_by(highs)


def _mip_solver(below: float, *, heuristics: bool) -> Any:
    """HiGHS with its settings; the cover is proved without a gap."""
    highs = _quiet_highs()
    _call(highs, "setOptionValue", "mip_rel_gap", 0.0)
    _call(highs, "setOptionValue", "mip_abs_gap", 1e-7)
    if np.isfinite(below):
        _call(highs, "setOptionValue", "objective_bound", float(below))
    for name, setting in () if heuristics else _PROVE_ONLY.items():
        highs.setOptionValue(name, setting)  # older releases do not know some of these, and do without
    return highs


def _mip_of(matrix: scipy.sparse.csc_array, cost: Floats, demand: Ints, count: tuple[float, float]) -> Any:
    """The model: one row per demand, and a last one for the number of columns."""
    n_rows, n_columns = matrix.shape
    by_row = matrix.tocsr()
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = n_columns, n_rows + 1
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, np.zeros(n_columns), np.ones(n_columns)
    lp.row_lower_ = np.append(demand.astype(np.float64), count[0])
    lp.row_upper_ = np.append(np.full(n_rows, highspy.kHighsInf), min(count[1], highspy.kHighsInf))
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.append(by_row.indptr, by_row.nnz + n_columns).astype(np.int32)
    lp.a_matrix_.index_ = np.append(by_row.indices, np.arange(n_columns)).astype(np.int32)
    lp.a_matrix_.value_ = np.ones(by_row.nnz + n_columns)
    lp.integrality_ = [highspy.HighsVarType.kInteger] * n_columns
    return lp


def _starting_at(columns: Ints, n_columns: int) -> Any:
    """A solution to start from."""
    solution = highspy.HighsSolution()
    value = np.zeros(n_columns)
    value[columns] = 1.0
    solution.col_value = value
    return solution


def _found_by(highs: Any) -> IntegerSolution:
    """What HiGHS has found and proved."""
    status = highs.getModelStatus()
    info = highs.getInfo()
    if status in _INFEASIBLE:
        return IntegerSolution(None, np.inf, finished=True)
    if status == highspy.HighsModelStatus.kUnknown:
        return IntegerSolution(None, -np.inf, finished=False)
    if status not in _OPTIMAL and status not in _STOPPED:
        raise SolverError(f"the covering MIP ended as {highs.modelStatusToString(status)!r}.")
    columns = None
    if info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
        columns = np.flatnonzero(np.asarray(highs.getSolution().col_value) > 0.5)
    bound = float(info.mip_dual_bound)
    return IntegerSolution(columns, bound if np.isfinite(bound) else -np.inf, finished=status in _OPTIMAL)


def _quiet_highs() -> Any:
    highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    _call(highs, "setOptionValue", "output_flag", False)
    _call(highs, "setOptionValue", "threads", 1)
    highs.HandleUserInterrupt = True  # once: each time adds another call to every iteration
    return highs


def _run(highs: Any, deadline: float | None) -> Any:
    """Solves, with what is left until the deadline, whatever an earlier one was; the clock is never set back."""
    left = highspy.kHighsInf if deadline is None else max(0.0, deadline - time.perf_counter())
    _call(highs, "setOptionValue", "time_limit", highs.getRunTime() + left)
    # A thread of its own, because Python sees Ctrl-C only between two of its own instructions; and an event, because
    # a `join` that Ctrl-C ends takes the thread for dead.
    done = threading.Event()

    def work() -> None:
        try:
            highs.run()
        finally:
            done.set()

    threading.Thread(target=work, daemon=True).start()
    interrupted = False
    while not done.is_set():
        try:
            done.wait(0.1)
        except KeyboardInterrupt:
            interrupted = True
            highs.cancelSolve()
    if interrupted:
        raise KeyboardInterrupt
    return highs.getModelStatus()


def _add_columns(
    highs: Any, cost: Floats, upper: float, starts: Any = (), rows: Any = (), *, value: float = 1.0
) -> None:
    """Columns from 0 to `upper`, with equal entries in the rows given."""
    n = len(cost)
    starts = np.asarray(starts, dtype=np.int32) if len(starts) else np.zeros(n, dtype=np.int32)
    rows = np.asarray(rows, dtype=np.int32)
    entries = np.full(len(rows), value)
    _call(highs, "addCols", n, cost, np.zeros(n), np.full(n, upper), len(rows), starts, rows, entries)


def _bound_rows(highs: Any, upper: Floats) -> None:
    """Other upper bounds of all rows, which have no lower ones."""
    n = len(upper)
    if hasattr(highs, "changeRowsBounds"):  # since 1.13
        lower, rows = np.full(n, -highspy.kHighsInf), np.arange(n, dtype=np.int32)
        _call(highs, "changeRowsBounds", n, rows, lower, upper)
        return
    for row, most in enumerate(upper.tolist()):
        _call(highs, "changeRowBounds", row, -highspy.kHighsInf, most)


def _delete(highs: Any, what: str, places: Ints) -> None:
    if len(places):
        _call(highs, what, len(places), places.astype(np.int32))


def _unit(cost: Floats) -> float:
    """The power of two to divide these costs by, so that none is large; 1 for costs of ordinary size."""
    largest = float(cost.max(initial=0.0))
    return 1.0 if largest <= _LARGE else 2.0 ** math.ceil(math.log2(largest / _LARGE))


def _valid(*arrays: Floats) -> None:
    # HiGHS takes a cost that is not a number and calls the solution optimal.
    for array in arrays:
        if not np.isfinite(array).all():
            raise SolverError("the covering LP has a cost or demand that is not a finite number.")


def _call(highs: Any, method: str, *given: Any) -> None:
    """Calls a method of HiGHS that says whether it did as it was told."""
    if getattr(highs, method)(*given) == highspy.HighsStatus.kError:
        what = given[0] if method == "setOptionValue" else method
        raise SolverError(f"HiGHS refused {what!r}.")
