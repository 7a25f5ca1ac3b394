"""What rules cover in a table, and what is proved by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rulecover.rules.ruleset import RuleSet
from rulecover.targets.classes.evidence import ClassEvidence
from rulecover.typing import Array, Bools, Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

#: The names of the columns that counting gives, in frames and in SQL; then ``rule_0``, ``rule_1`` and so on, and
#: ``sum_0``, ``sum_1`` and so on where the target is a number.
TARGET, ROWS, MISSED, SUM = "target", "rows", "missed", "sum"


@dataclass(frozen=True, eq=False)
class TableCertificate:
    """How many rows of a table each rule covers, and how many rows no rule covers.

    Certificates of parts of a table add up to that of the table.

    Parameters
    ----------
    rules
        The rules.
    labels
        The values of the target in the table, ``None`` for a missing one; ``(None,)`` if there is no target, or it is a
        number.
    n_rows, n_missed
        The rows with each of these labels, and those of them that no rule covers.
    counts
        The rows that each rule covers, rules x labels.
    sums
        For a target of numbers: their sum over the rows of each rule, and last over all rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulecover import MIRCOClassifier, certify
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> mirco = MIRCOClassifier(random_state=0).fit(X, y)
    >>> certificate = certify(mirco, X.assign(species=y), target="species")
    >>> print(certificate)
    Every one of 150 rows is covered by a rule.
    >>> certificate.is_cover, int(certificate.support[0]) == int(mirco.rules_[0].support)
    (True, True)
    """

    rules: RuleSet
    labels: tuple[Any, ...]
    n_rows: Ints
    n_missed: Ints
    counts: Ints
    sums: Floats | None = None

    @classmethod
    def from_rows(cls, rules: RuleSet, rows: Sequence[Mapping[str, Any]]) -> Self:
        """The certificate that counted rows amount to: one per label, with the columns of `counting_query`."""
        n_rules = len(rules)
        keys = [f"rule_{j}" for j in range(n_rules)]
        counts = np.array([[int(row[key] or 0) for key in keys] for row in rows], dtype=np.int64)
        sums = None
        if rows and SUM in rows[0]:
            sums = np.array([float(rows[0][key] or 0.0) for key in (*(f"sum_{j}" for j in range(n_rules)), SUM)])
        return cls(
            rules,
            tuple(_label(row.get(TARGET)) for row in rows),
            np.array([int(row[ROWS] or 0) for row in rows], dtype=np.int64),
            np.array([int(row[MISSED] or 0) for row in rows], dtype=np.int64),
            counts.reshape(len(rows), n_rules).T,
            sums,
        )

    @classmethod
    def from_coverage(
        cls,
        rules: RuleSet,
        covered: Any,
        truth: Array | None = None,
        known: Bools | None = None,
        *,
        numbers: bool = False,
    ) -> Self:
        """The certificate of rows in memory.

        Parameters
        ----------
        rules
            The rules.
        covered
            Which rule covers which row, a sparse boolean matrix of rows x rules, as `RuleSet.apply` returns it.
        truth, known
            The true label or number of each row, if there are any, and whether it is known.
        numbers
            Whether they are numbers.
        """
        missed = np.asarray(covered.sum(axis=1)).ravel() == 0
        labels: list[Any] = [None]
        place = np.zeros(covered.shape[0], dtype=np.intp)
        sums = None
        if truth is not None and numbers:
            total = np.append(covered.T.astype(np.float64) @ truth, truth.sum())
            sums = np.asarray(total)
        elif truth is not None:
            found, place = np.unique(truth, return_inverse=True)
            labels = [*found.tolist(), None]
            place = place if known is None else np.where(known, place, len(found))
        each = np.eye(len(labels), dtype=np.int64)[place]
        there = each.sum(axis=0) > 0 if len(place) else np.ones(len(labels), dtype=bool)
        counts = covered.T.astype(np.int64) @ each
        return cls(
            rules,
            tuple(label for label, some in zip(labels, there, strict=True) if some),
            each.sum(axis=0)[there],
            (missed.astype(np.int64) @ each)[there],
            np.asarray(counts)[:, there],
            sums,
        )

    def __add__(self, other: Self) -> Self:
        labels = tuple(dict.fromkeys((*self.labels, *other.labels)))
        parts = [part.sums for part in (self, other) if part.sums is not None]
        sums = sum(parts[1:], parts[0]) if parts else None
        mine, theirs = self._on(labels), other._on(labels)
        added = [ours + more for ours, more in zip(mine, theirs, strict=True)]
        return replace(self, labels=labels, n_rows=added[0], n_missed=added[1], counts=added[2], sums=sums)

    def _on(self, labels: tuple[Any, ...]) -> tuple[Ints, Ints, Ints]:
        place = [labels.index(label) for label in self.labels]
        spread = np.zeros((len(self.labels), len(labels)), dtype=np.int64)
        spread[np.arange(len(place)), place] = 1
        return self.n_rows @ spread, self.n_missed @ spread, self.counts @ spread

    # What was counted -------------------------------------------------------------------------------------------

    @property
    def is_cover(self) -> bool:
        """Whether every row is covered by a rule."""
        return not self.n_missed.any()

    @property
    def support(self) -> Ints:
        """The rows that each rule covers."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def precision(self) -> Floats:
        """The share of each rule's rows that are of its class; NaN where it covers none, or there is no target."""
        seen = self.rules.evidence
        if not isinstance(seen, ClassEvidence) or self.labels == (None,):
            return np.full(len(self.rules), np.nan)
        predicted = seen.classes[seen.best].tolist()
        place = {label: k for k, label in enumerate(self.labels)}
        right = [self.counts[j, place[label]] if label in place else 0 for j, label in enumerate(predicted)]
        with np.errstate(invalid="ignore"):
            return np.asarray(right, dtype=np.float64) / self.support

    @property
    def means(self) -> Floats | None:
        """For a target of numbers: their mean over the rows of each rule, NaN where it covers none."""
        if self.sums is None:
            return None
        with np.errstate(invalid="ignore"):
            return np.asarray(self.sums[:-1] / self.support)

    def to_frame(self) -> pd.DataFrame:
        """One row per rule: its text, its support here and in training, and its precision, counts or mean here."""
        import pandas as pd

        seen = self.rules.evidence
        columns: dict[str, Any] = {"rule": [rule.text for rule in self.rules], "support": self.support}
        if seen is not None:
            whole = (seen.samples % 1 == 0).all()
            columns["training_support"] = seen.samples.astype(np.int64) if whole else seen.samples
        if self.means is not None:
            columns["mean"] = self.means
        elif self.labels != (None,):
            columns["precision"] = self.precision
            if isinstance(seen, ClassEvidence):
                columns["training_purity"] = seen.purity
            columns |= {f"count_{label}": self.counts[:, k] for k, label in enumerate(self.labels)}
        return pd.DataFrame(columns)

    def __str__(self) -> str:
        rows, missed = int(self.n_rows.sum()), int(self.n_missed.sum())
        if not rows:
            return "The table has no rows."
        if self.is_cover:
            return f"Every one of {rows:,} rows is covered by a rule."
        return f"{missed:,} of {rows:,} rows ({100 * missed / rows:.2g} %) are not covered by any rule."


def _label(value: Any) -> Any:
    """A label as plain Python has it; ``None`` for every kind of missing value."""
    import pandas as pd

    value = value.item() if isinstance(value, np.generic) else value
    return None if value is not None and pd.api.types.is_scalar(value) and pd.isna(value) else value
