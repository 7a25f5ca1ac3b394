"""Rows in groups that the same rules cover: all that is fetched of a table to know its rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from rulecover.counting.certificate import ROWS, TARGET, TableCertificate, plain_label
from rulecover.counting.script import words
from rulecover.exceptions import MismatchedDataError
from rulecover.rules.ruleset import RuleSet
from rulecover.setcover import CoveringProblem, Greedy
from rulecover.setcover.greedy import without_redundant
from rulecover.typing import Array, Bools, Floats, Ints

#: The most groups that are fetched.
MOST_GROUPS = 2_000_000


@dataclass(frozen=True, eq=False)
class RowGroups:
    """The rows of a table that have the same label and are covered by the same rules.

    Parameters
    ----------
    covered
        Which rule covers the rows of which group, groups x rules.
    labels
        The label of each group.
    n_rows
        How many rows each group has.
    """

    covered: Bools
    labels: tuple[Any, ...]
    n_rows: Ints

    @classmethod
    def from_rows(cls, n_rules: int, rows: Sequence[Mapping[str, Any]]) -> RowGroups:
        """The groups, from rows in which the rules are bits of whole numbers."""
        if len(rows) > MOST_GROUPS:
            raise MismatchedDataError(
                f"the rules overlap in more than {MOST_GROUPS:,} ways, too many to fetch; choose fewer rules."
            )
        covered = np.zeros((len(rows), n_rules), dtype=bool)
        for word, rules in words(n_rules).items():
            packed = np.array([int(row[word]) for row in rows], dtype=np.int64)
            covered[:, rules.start : rules.stop] = (packed[:, None] >> np.arange(len(rules))) & 1
        labels = tuple(plain_label(row.get(TARGET)) for row in rows)
        return cls(covered, labels, np.array([int(row[ROWS]) for row in rows], dtype=np.int64))

    @cached_property
    def _pairs(self) -> scipy.sparse.csr_array:
        """The same as `covered`: most rules cover few of the groups."""
        return scipy.sparse.csr_array(self.covered)

    def take(self, rules: Ints) -> RowGroups:
        """The same rows and some of the rules; groups that only the others told apart stay apart."""
        return replace(self, covered=self.covered[:, rules])

    def places(self, classes: Array) -> Ints:
        """The class of each group, by number."""
        known = {label: place for place, label in enumerate(classes.tolist())}
        for label in self.labels:
            if label not in known:
                raise MismatchedDataError(
                    f"the target is {label!r} in some rows of the table, which is not a class of the model: "
                    f"{', '.join(map(repr, known))}; leave these rows out, by a filter or a view."
                )
        return np.array([known[label] for label in self.labels], dtype=np.intp)

    def class_sums(self, classes: Array) -> Floats:
        """How many rows of each class each rule covers, rules x classes."""
        by_class = np.eye(len(classes))[self.places(classes)] * self.n_rows[:, None]
        return np.asarray(self._pairs.T.astype(np.float64) @ by_class)

    def needed(self, cost: Floats) -> Ints:
        """A cheap choice of the rules that covers what all of them cover, and none of which is redundant."""
        _, first = np.unique(np.packbits(self.covered, axis=1), axis=0, return_index=True)
        patterns = self._pairs[first[self.covered[first].any(axis=1)]]
        problem = CoveringProblem.from_sparse(patterns, cost)
        choices = [without_redundant(problem, rules) for rules in (np.arange(len(cost)), Greedy()(problem).rules)]
        return np.sort(min(choices, key=lambda rules: float(cost[rules].sum())))

    def certificate(self, rules: RuleSet) -> TableCertificate:
        """What the rules cover."""
        labels = tuple(dict.fromkeys(self.labels))
        known = {label: k for k, label in enumerate(labels)}
        place = np.array([known[label] for label in self.labels], dtype=np.intp)
        each = np.eye(len(labels), dtype=np.int64)[place] * self.n_rows[:, None]
        times, covers = self.covered.sum(axis=1), self._pairs.T.astype(np.int64)
        missed, alone = (each * (times == k)[:, None] for k in (0, 1))
        return TableCertificate(
            rules, labels, each.sum(axis=0), missed.sum(axis=0), np.asarray(covers @ each), np.asarray(covers @ alone)
        )
