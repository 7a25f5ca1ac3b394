"""The restricted master problem of rows in many places: the LP is here, the rows are asked which of them are short."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse

from rulecover.coverage import Coverage
from rulecover.exceptions import SolverError, UncoveredSamplesError
from rulecover.partitions.boost_part import ShortGroups, SplitGroups
from rulecover.partitions.parts import Parts
from rulecover.setcover.master import ENTERING, WATCHED, Relaxation
from rulecover.typing import Floats, Ints, UInts

if TYPE_CHECKING:
    from rulecover.setcover.highs import CoveringLP


class _Short(NamedTuple):
    """Short groups of all parts, the worst first, and the rules of those that may enter."""

    signature: UInts
    rules: scipy.sparse.csr_array


@dataclass(frozen=True, eq=False)
class CoverageInParts(Coverage):
    """Which rule covers which row is known to the parts; here is only where each rule comes from.

    Parameters
    ----------
    tree, node
        The tree of each rule among those that the parts followed, and its node there.
    """

    tree: Ints
    node: Ints

    @classmethod
    def of_nodes(cls, tree: Ints, node: Ints, n_samples: int) -> CoverageInParts:
        return cls((), n_samples, len(node), tree, node)

    def take(self, rules: Ints) -> CoverageInParts:
        return self.of_nodes(self.tree[rules], self.node[rules], self.n_samples)

    def join(self, other: Coverage) -> CoverageInParts:
        """These rules followed by others."""
        assert isinstance(other, CoverageInParts)
        tree, node = np.concatenate([self.tree, other.tree]), np.concatenate([self.node, other.node])
        return self.of_nodes(tree, node, self.n_samples)


class MasterOfParts:
    """`Master` where the samples are in many places: it knows groups of samples by their signatures alone.

    Its rules are numbered as they entered, and its samples enter the LP in the same order as in one process: shares and
    prices are the same. Groups are told apart by 64-bit signatures without a further check.

    Parameters
    ----------
    parts
        Those of `BoostPart`.
    n_samples
        The number of rows of all parts.
    coverage, cost
        The first rules.
    """

    def __init__(self, parts: Parts, n_samples: int, coverage: Coverage, cost: Floats) -> None:
        self._parts, self._n_samples = parts, n_samples
        self._lp: CoveringLP | None = None
        self._inside: UInts = np.zeros(0, dtype=np.uint64)
        self._watched: UInts = np.zeros(0, dtype=np.uint64)
        self._rules = scipy.sparse.csr_array((0, 0), dtype=bool)
        self.cost: Floats = np.zeros(0)
        list(parts.map("start_pool"))
        self.add(coverage, cost)

    def add(self, coverage: Coverage, cost: Floats) -> None:
        """More rules."""
        assert isinstance(coverage, CoverageInParts)
        answers = list(self._parts.map("enter", coverage.tree, coverage.node, self._inside))
        _check_missed(sum(missed for missed, _ in answers), "are covered by no rule of the first pool")
        self._watched = self._watched[:0]
        self.cost = np.concatenate([self.cost, cost])
        new = self._hand_over([groups for _, groups in answers], len(cost))
        self._rules = scipy.sparse.csr_array(scipy.sparse.hstack([self._rules, new], format="csr"))
        if self._lp is not None:
            self._lp.add(_sorted_csc(new), cost)

    def _hand_over(self, of_parts: list[SplitGroups], n_new: int) -> scipy.sparse.csr_array:
        """The places of groups in the LP go to those of their samples that new rules cover least, of all parts.

        Returns which of the new rules cover them.
        """
        if not len(self._inside):
            return scipy.sparse.csr_array((0, n_new), dtype=bool)
        place, times, signature = (
            np.concatenate([getattr(groups, name) for groups in of_parts]) for name in ("place", "times", "signature")
        )
        rules = scipy.sparse.vstack([groups.rules for groups in of_parts], format="csr")
        order = np.lexsort((signature, times, place))
        _, first = np.unique(place[order], return_index=True)
        self._inside = signature[order[first]]
        return scipy.sparse.csr_array(rules[order[first]])

    def remove(self, rules: Ints) -> None:
        """Takes out rules that the others can do without."""
        kept = np.delete(np.arange(len(self.cost)), rules)
        answers = list(self._parts.map("leave", kept, self._inside))
        _check_missed(sum(missed for missed, _ in answers), "are covered by no other rule")
        self.cost, self._rules = self.cost[kept], self._rules[:, kept]
        self._inside = np.maximum.reduce([new for _, new in answers])
        self._watched = self._watched[:0]
        if self._lp is not None:
            stay = self._lp.keep(kept)
            self._inside, self._rules = self._inside[stay], self._rules[stay]

    def solve(self, *, deadline: float | None = None) -> Relaxation:
        """The optimum over all samples; the duals are left to the parts, see `spread`."""
        if self._lp is None:
            first = max(ENTERING, len(self.cost))
            self._enter(self._looked_up(None, None, first), first)
        while True:
            assert self._lp is not None
            solution = self._lp.solve(deadline=deadline)
            if not solution.finished and deadline is not None:
                raise TimeoutError("the restricted master problem was not solved in time.")
            if not solution.finished:
                raise SolverError("the restricted master problem was not solved to the end.")
            short = self._short(solution.shares)
            if not len(short.signature):
                break
            self._enter(short, ENTERING)
        self._prices = prices = solution.duals
        priced = prices > 0
        reduced = self.cost - self._rules[priced].T @ prices[priced]
        return Relaxation(solution.shares, np.zeros(0), float(prices.sum()), reduced, len(self._inside))

    def optimum(self, *, deadline: float | None = None) -> Relaxation:
        """The same."""
        return self.solve(deadline=deadline)

    def spread(self, step: float) -> None:
        """The prices of the last optimum go to the rows of their groups, and `step` times these to their weights."""
        priced = self._prices > 0
        signatures = self._inside[priced]
        weight: Floats = self._parts.reduced(np.add, "group_weights", signatures)
        list(self._parts.map("set_duals", signatures, self._prices[priced] / weight, step))

    def _short(self, shares: Floats) -> _Short:
        if self._watched.size and self._n_samples > WATCHED:
            short = self._looked_up(shares, self._watched, ENTERING)
            if len(short.signature):
                return short
        short = self._looked_up(shares, None, ENTERING)
        self._watched = np.concatenate([short.signature[ENTERING:], self._watched])[:WATCHED]
        return short

    def _looked_up(self, shares: Floats | None, among: UInts | None, first: int) -> _Short:
        """Groups of all parts that these shares cover too little, the worst first."""
        answers = list(self._parts.map("short", shares, self._inside, among, first))
        return _merged([groups for _, groups in answers], sum(n for n, _ in answers))

    def _enter(self, short: _Short, first: int) -> None:
        from rulecover.setcover.highs import CoveringLP  # highspy is slow to load

        rules = short.rules[:first]
        if self._lp is None:
            self._lp = CoveringLP(_sorted_csc(rules), self.cost, np.ones(rules.shape[0], dtype=np.intp))
        else:
            self._lp.add_samples(rules)
        self._inside = np.concatenate([self._inside, short.signature[:first]])
        self._rules = scipy.sparse.csr_array(scipy.sparse.vstack([self._rules, rules], format="csr"))


def _merged(of_parts: list[ShortGroups], n_short: int) -> _Short:
    """The groups of all parts, each once; of very many rows those that are covered least, as in one process."""
    signature, covered, count = (
        np.concatenate([getattr(groups, name) for groups in of_parts]) for name in ("signature", "covered", "n_rows")
    )
    if n_short > WATCHED:
        order = np.argsort(covered, kind="stable")
        worst = covered[order[np.searchsorted(np.cumsum(count[order]), WATCHED, side="right")]]
        kept = covered <= worst
    else:
        kept = np.ones(len(signature), dtype=bool)
    # Parts return the rules of their first groups; the first of all are among these.
    has_rules = np.concatenate([np.arange(len(groups.signature)) < groups.rules.shape[0] for groups in of_parts])
    row = np.cumsum(has_rules) - 1
    places = np.flatnonzero(kept)
    places = places[np.lexsort((~has_rules[places], signature[places]))]
    _, one = np.unique(signature[places], return_index=True)
    places = places[one]
    places = places[np.lexsort((signature[places], np.round(covered[places], 9)))]
    with_rules = places[: np.argmin(np.append(has_rules[places], False))]
    rules: Any = scipy.sparse.vstack([groups.rules for groups in of_parts], format="csr")
    return _Short(signature[places], scipy.sparse.csr_array(rules[row[with_rules]]))


def _sorted_csc(matrix: scipy.sparse.csr_array) -> scipy.sparse.csc_array:
    columns = scipy.sparse.csc_array(matrix)
    columns.sort_indices()
    return columns


def _check_missed(n_missed: int, why: str) -> None:
    if n_missed:
        raise UncoveredSamplesError(f"{n_missed} samples {why}.")
