"""Covers by Lagrangian relaxation: greedy choices under prices that are made again for what is left to cover.

After Caprara, Fischetti and Toth, "A heuristic method for the set covering problem", Operations Research 47 (1999).
"""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse

from rulecover.setcover.local import EPSILON, Choice, LocalSearch
from rulecover.typing import Floats, Ints

#: Steps of the subgradient method for the open part of a cover; the last ones are each followed by a greedy choice.
STEPS, GREEDY_STEPS = 80, 25
#: The length of a step, relative to the distance from the bound to the best cover; it is halved after
#: `PATIENCE` steps that did not raise the bound by the share `RISE`.
STEP_LENGTH, PATIENCE, RISE = 0.1, 10, 1e-3
#: The share of the rows whose columns stay: at first, how it grows while nothing better is found, and at most.
KEEP_FIRST, KEEP_GROWTH, KEEP_LAST = 0.3, 1.15, 0.9
#: Each stage of a round settles one in `SETTLED` picks of the best greedy choice, and makes new prices for the rest.
STAGES, SETTLED = 6, 4
#: Greedy choices that cost at most this many times as much as the best cover are looked at: without needless columns
#: they may be best.
WITHIN = 1.05


class OpenSubproblem:
    """The rows that are open, what they need, and the columns that could cover them."""

    def __init__(self, matrix: scipy.sparse.csc_array, cost: Floats, need: Ints) -> None:
        self.matrix, self.cost, self.need = matrix, cost, need
        self.by_row = matrix.tocsr()
        self._by_column = matrix.T
        self._sizes = np.diff(matrix.indptr).astype(np.float64)
        self._row_starts, self._column_starts = self.by_row.indptr.tolist(), matrix.indptr.tolist()

    def bound(self, prices: Floats) -> tuple[float, Floats]:
        """A lower bound on any choice of columns, and the reduced costs behind it."""
        reduced: Floats = self.cost - self._by_column @ prices
        return float(self.need @ prices) + float(np.minimum(reduced, 0.0).sum()), reduced

    def slack(self, reduced: Floats) -> Floats:
        """What the columns of negative reduced cost leave open, per row: the subgradient."""
        out: Floats = self.need - self.by_row @ (reduced < 0).astype(np.float64)
        return out

    def greedy(self, prices: Floats, reduced: Floats, below: float) -> list[int]:
        """Columns of least reduced cost per open row until none is open; no columns if they would cost too much."""
        reduced, gain, need = reduced.copy(), self._sizes.copy(), self.need.copy()
        score = _score(reduced, gain)
        n_open, spent = len(need), 0.0
        chosen: list[int] = []
        while n_open:
            column = int(np.argmin(score))
            spent += float(self.cost[column])
            if spent >= below:
                return []
            chosen.append(column)
            reduced[column] = score[column] = np.inf
            rows = self.matrix.indices[self._column_starts[column] : self._column_starts[column + 1]]
            rows = rows[need[rows] > 0]
            need[rows] -= 1
            settled = rows[need[rows] == 0].tolist()
            if settled:
                n_open -= len(settled)
                self._settle(settled, prices, reduced, gain, score)
        return chosen

    def _settle(self, rows: list[int], prices: Floats, reduced: Floats, gain: Floats, score: Floats) -> None:
        """Takes rows that need no more out of the scores of their columns; no other score changes."""
        columns = [self.by_row.indices[self._row_starts[row] : self._row_starts[row + 1]] for row in rows]
        where = np.concatenate(columns)
        np.add.at(reduced, where, np.repeat(prices[rows], [len(some) for some in columns]))
        np.subtract.at(gain, where, 1.0)
        score[where] = _score(reduced[where], gain[where])


def _score(reduced: Floats, gain: Floats) -> Floats:
    score: Floats = np.where(reduced > 0, reduced / gain, reduced * gain)
    score[gain == 0] = np.inf
    return score


class Refinement:
    """Keeps the columns of the best cover that its prices justify most, and chooses the others again.

    Parameters
    ----------
    search
        The search that has the best cover; better ones are recorded there.
    goal
        A cover of this cost is known to be the best.
    """

    def __init__(self, search: LocalSearch, goal: float) -> None:
        self.search, self.core, self.goal = search, search.core, goal
        self.matrix = self.core.matrix.astype(np.float64)
        self.reduced: Floats = self.core.cost[:-1] - self.matrix.T @ self.core.duals
        # Where every cost is a whole number, a better cover is better by 1 at least.
        self.unit = 1.0 - EPSILON if (self.core.cost[:-1] % 1 == 0).all() else EPSILON

    def run(self, rounds: int) -> None:
        """Each round keeps a little more, until it finds a better cover or has kept nearly all."""
        keep = KEEP_FIRST
        for _ in range(rounds):
            before = self.search.best_cost
            self._choose_anew(self._columns_to_keep(keep))
            if self.search.out_of_time() or self.search.best_cost <= self.goal:
                return
            keep = (
                KEEP_FIRST if self.search.best_cost < before or keep * KEEP_GROWTH > KEEP_LAST else keep * KEEP_GROWTH
            )

    def _columns_to_keep(self, keep: float) -> list[int]:
        """Columns of the best cover, those that add least to its distance from the bound, for a share of the rows."""
        core, choice = self.core, Choice(self.core, self.search.best)
        surplus = core.duals * (choice.times - core.demand) / choice.times
        chosen = np.array(choice.chosen)
        waste = np.maximum(self.reduced[chosen], 0.0) + choice.per_chosen(surplus, np.add)
        order = chosen[np.argsort(waste * self.search.noise.uniform(0.5, 1.5, len(waste)), kind="stable")]
        covered = np.zeros(core.n_rows, dtype=bool)
        kept: list[int] = []
        for column in order.tolist():
            if np.count_nonzero(covered) >= keep * core.n_rows:
                break
            covered[core.rows[column]] = True
            kept.append(column)
        return kept

    def _choose_anew(self, kept: list[int]) -> None:
        """Stage by stage, prices for the open rows, greedy choices by them, and a few columns more that stay."""
        core = self.core
        prices = core.duals * self.search.noise.uniform(0.9, 1.1, core.n_rows)
        for _ in range(STAGES):
            choice = Choice(core, kept)
            rows = choice.open_rows()
            if not len(rows):
                return
            open_rows = self.matrix[rows]
            columns = np.flatnonzero((np.diff(open_rows.indptr) > 0) & ~choice.taken[:-1])
            part = OpenSubproblem(open_rows[:, columns], core.cost[columns], (core.demand - choice.times)[rows])
            prices[rows], picks = self._prices_and_picks(part, prices[rows], kept, columns)
            if not picks:
                return
            kept = kept + columns[picks[: max(1, len(picks) // SETTLED)]].tolist()

    def _prices_and_picks(
        self, part: OpenSubproblem, prices: Floats, kept: list[int], columns: Ints
    ) -> tuple[Floats, list[int]]:
        """Prices of the open rows, and the picks of the cheapest greedy choice: none where no better cover is left."""
        search, spent = self.search, self.core.total(kept)
        best_bound, best_prices, length, since = -math.inf, prices, STEP_LENGTH, 0
        least, best_picks = math.inf, []
        for step in range(STEPS):
            bound, reduced = part.bound(prices)
            room = search.best_cost - spent
            if bound > room - self.unit or search.out_of_time():
                return best_prices, []
            since = 0 if bound > best_bound + RISE * abs(best_bound) else since + 1
            if bound > best_bound:
                best_bound, best_prices = bound, prices
            if step >= STEPS - GREEDY_STEPS and (picks := part.greedy(prices, reduced, WITHIN * room)):
                cost = self._record(kept + columns[picks].tolist())
                if cost < least:
                    least, best_picks = cost, picks
            if since > PATIENCE:
                prices, length, since = best_prices, length / 2, 0
                continue
            slack = part.slack(reduced)
            if not (norm := float(slack @ slack)):
                break
            prices = np.maximum(prices + length * (WITHIN * room - bound) / norm * slack, 0.0)
        return best_prices, best_picks

    def _record(self, chosen: list[int]) -> float:
        """The cost of a cover without its needless columns, which is recorded in the search."""
        choice = Choice(self.core, chosen)
        choice.drop_redundant()
        self.search.record(choice.chosen)
        return self.core.total(choice.chosen)
