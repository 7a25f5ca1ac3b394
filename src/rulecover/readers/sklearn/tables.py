"""What a `TableEncoder` makes of columns, so that trees behind it can be rewritten on the columns in front of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulecover.data.dates import DatePart
from rulecover.data.encoder import EncodedDates, EncodedLevels, EncodedNumbers, TableEncoder
from rulecover.data.frames import missing_values
from rulecover.readers.sklearn.origins import CategoryOrigin, NumberOrigin, Origin
from rulecover.typing import Floats


def table_origins(encoder: TableEncoder) -> list[Origin]:
    """The origin of each encoded column; parts of dates have none."""
    out: list[Origin] = []
    for f, each in enumerate(encoder.columns_):
        if isinstance(each, EncodedNumbers):
            out.append(NumberOrigin(f, gaps=(np.nan,) * len(missing_values())))
        elif isinstance(each, EncodedLevels):
            out += _levels(f, each)
        else:
            out += [None] * len(each.made_names)
    return out


def _levels(f: int, encoded: EncodedLevels) -> list[Origin]:
    *_, unseen, missing = encoded.place.tolist()
    of_labels = encoded.place[:-2]
    return [
        CategoryOrigin(
            f,
            encoded.labels,
            (of_labels == k).astype(np.float64),
            (float(missing == k),) * len(missing_values()),
            float(unseen == k),
            named=True,
        )
        for k in range(len(encoded.made_names))
    ]


def date_parts(encoder: TableEncoder) -> dict[int, DatePart]:
    """The encoded columns that are made of dates, by number."""
    parts: dict[int, DatePart] = {}
    first = 0
    for each in encoder.columns_:
        if isinstance(each, EncodedDates):
            parts |= {first + k: part for k, part in enumerate(each.made)}
        first += len(each.made_names)
    return parts


@dataclass(frozen=True, eq=False)
class EncodedAgain:
    """From rows as rules see them, categories as codes and made columns last, to the rows that the trees were grown on.

    Parameters
    ----------
    encoder
        The fitted encoder.
    made
        The encoded columns that are made of dates and in use, in the order in which they follow the given columns.
    prepare
        What the model does with encoded rows first.
    """

    encoder: TableEncoder
    made: Sequence[int]
    prepare: Callable[[Any], Any]

    def __call__(self, X: Floats) -> Any:
        """The encoded rows; those parts of dates that no tree uses are 0."""
        n_given, parts, first = len(self.encoder.columns_), [], 0
        place = {k: n_given + j for j, k in enumerate(self.made)}
        for f, each in enumerate(self.encoder.columns_):
            if isinstance(each, EncodedNumbers):
                parts.append(X[:, [f]])
            elif isinstance(each, EncodedLevels):
                parts.append(each.of_codes(X[:, f]))
            else:
                used = [place.get(first + k) for k in range(len(each.made_names))]
                parts += [np.zeros((len(X), 1)) if k is None else X[:, [k]] for k in used]
            first += len(each.made_names)
        return self.prepare(np.hstack(parts))
