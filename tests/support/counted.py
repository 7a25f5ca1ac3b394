"""Plain counts of what rules cover, row by row, to compare with."""

from __future__ import annotations

from typing import Any

import pandas as pd
from exported import Case

from rulecover.counting.certificate import TableCertificate

#: For each label: its rows, those that no rule covers, those that each rule covers, and those that it alone covers.
Plain = dict[Any, tuple[int, int, list[int], list[int]]]


def plain_counts(case: Case, labels: list[Any]) -> Plain:
    found: Plain = {}
    for label, fired in zip(labels, case.fired, strict=True):
        rows, missed, each, alone = found.get(label, (0, 0, [0] * len(case.rules), [0] * len(case.rules)))
        each = [count + (j in fired) for j, count in enumerate(each)]
        alone = [count + ([j] == fired) for j, count in enumerate(alone)]
        found[label] = rows + 1, missed + (not fired), each, alone
    return found


def as_plain(certificate: TableCertificate) -> Plain:
    """The same of a certificate."""
    rows, missed = certificate.n_rows.tolist(), certificate.n_missed.tolist()
    columns = rows, missed, certificate.counts.T.tolist(), certificate.alone.T.tolist()
    return dict(zip(certificate.labels, zip(*columns, strict=True), strict=True))


def frame_of(case: Case) -> pd.DataFrame:
    """The rows of a case under the names of their columns."""
    return pd.DataFrame(case.X, columns=list(case.rules.rules.feature_names))
