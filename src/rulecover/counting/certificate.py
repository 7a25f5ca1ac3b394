"""What rules cover in a table, and what is proved by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd

from rulecover.rules.ruleset import RuleSet
from rulecover.targets.classes.evidence import ClassEvidence
from rulecover.typing import Array, Bools, Floats, Ints

#: The names of the columns that counting gives, in frames and in SQL.
TARGET, ROWS, MISSED, SUM, KNOWN = "target", "rows", "missed", "sum", "known"

#: What a column is called that has, with the number of a rule, the same for the rows of this rule.
TITLES = {ROWS: "rule", SUM: "sum", KNOWN: "known"}


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
    counts, alone
        The rows that each rule covers, and those that it alone covers, rules x labels.
    sums, n_known
        For a target of numbers: their sum over the rows of each rule, and last over all rows; and how many they are.

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
    alone: Ints
    sums: Floats | None = None
    n_known: Ints | None = None

    @classmethod
    def from_rows(cls, rules: RuleSet, rows: Sequence[Mapping[str, Any]]) -> Self:
        """The certificate that counted rows amount to: one per label, with the columns of `counting_query`."""
        n_rules = len(rules)

        def whole(title: str) -> Ints:
            return np.array([int(row[title] or 0) for row in rows], dtype=np.int64)

        def per_rule(title: str) -> Ints:
            return np.array([whole(f"{title}_{j}") for j in range(n_rules)], dtype=np.int64).reshape(n_rules, len(rows))

        sums = n_known = None
        if rows and SUM in rows[0]:
            sums = np.array([float(rows[0][key] or 0.0) for key in (*(f"sum_{j}" for j in range(n_rules)), SUM)])
            n_known = np.append(per_rule(KNOWN)[:, 0], whole(KNOWN))
        labels = tuple(plain_label(row.get(TARGET)) for row in rows)
        return cls(rules, labels, whole(ROWS), whole(MISSED), per_rule("rule"), per_rule("alone"), sums, n_known)

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
        times = np.asarray(covered.sum(axis=1)).ravel()
        labels: list[Any] = [None]
        place = np.zeros(covered.shape[0], dtype=np.intp)
        sums = n_known = None
        if truth is not None and numbers:
            there = ~np.isnan(truth)
            both = np.column_stack([np.where(there, truth, 0.0), there])
            both = np.vstack([covered.T.astype(np.float64) @ both, both.sum(axis=0)])
            sums, n_known = both[:, 0], both[:, 1].astype(np.int64)
        elif truth is not None:
            found, place = np.unique(truth, return_inverse=True)
            labels = [*found.tolist(), None]
            place = place if known is None else np.where(known, place, len(found))
        each = np.eye(len(labels), dtype=np.int64)[place]
        some = each.sum(axis=0) > 0 if len(place) else np.ones(len(labels), dtype=bool)
        each = each[:, some]
        by_rule = covered.T.astype(np.int64)
        return cls(
            rules,
            tuple(label for label, kept in zip(labels, some, strict=True) if kept),
            each.sum(axis=0),
            (times == 0).astype(np.int64) @ each,
            np.asarray(by_rule @ each),
            np.asarray(by_rule @ (each * (times == 1)[:, None])),
            sums,
            n_known,
        )

    def __add__(self, other: Self) -> Self:
        labels = tuple(dict.fromkeys((*self.labels, *other.labels)))
        each: dict[str, Any] = {
            name: self._on(labels, getattr(self, name)) + other._on(labels, getattr(other, name))
            for name in ("n_rows", "n_missed", "counts", "alone")
        }
        numbers: dict[str, Any] = {
            name: _added(getattr(self, name), getattr(other, name)) for name in ("sums", "n_known")
        }
        return replace(self, labels=labels, **each, **numbers)

    def _on(self, labels: tuple[Any, ...], counts: Ints) -> Ints:
        """Counts by label, in the order of other labels."""
        spread = np.zeros((len(self.labels), len(labels)), dtype=np.int64)
        spread[np.arange(len(self.labels)), [labels.index(label) for label in self.labels]] = 1
        return np.asarray(counts @ spread)

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
        if self.sums is None or self.n_known is None:
            return None
        with np.errstate(invalid="ignore"):
            return np.asarray(self.sums[:-1] / self.n_known[:-1])

    def to_frame(self) -> pd.DataFrame:
        """One row per rule: its text, its support here and in training, and its precision, counts or mean here."""
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
        are = "is" if missed == 1 else "are"
        return f"{missed:,} of {rows:,} rows ({100 * missed / rows:.3g} %) {are} not covered by any rule."


def _added(one: Array | None, other: Array | None) -> Array | None:
    return other if one is None else one if other is None else one + other


def plain_label(value: Any) -> Any:
    """A label as plain Python has it; ``None`` for every kind of missing value."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if value is not None and pd.api.types.is_scalar(value) and pd.isna(value) else value
