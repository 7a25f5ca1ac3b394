"""Encoders of tables that look at some of the rows, where there is no time for all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from rulecover.clock import is_late
from rulecover.data.encoder import ID, Encoded, EncodedLevels, LeftOut, TableEncoder, notes_on
from rulecover.data.kinds import why_unusable
from rulecover.typing import Ints

#: Why a column of which all rows must be read is left out.
UNREAD = "there was no time to read all of its cells"
#: What it takes to read a cell that is a number or a date in words, and to know how it is written, in seconds, roughly.
_OF_A_CELL = 1e-6


def fitted_to_some(encoder: TableEncoder, X: Any, rows: Ints) -> TableEncoder:
    """An encoder that has looked at some rows of a table.

    Levels in other rows alone are as levels that were never seen. What would have to be known of all rows, such as how
    numbers are written in texts, is left out.

    Parameters
    ----------
    encoder
        Its settings are taken; it is not fitted.
    X
        The table.
    rows
        The numbers of the rows.
    """
    fitted: TableEncoder = clone(encoder)
    table, ids = fitted._begin(X)
    some = (table if table.index.dtype.kind in "iu" else table.set_axis(range(len(table)))).iloc[np.sort(rows)]
    found = fitted._of_columns(some, ids)
    for f, (each, _) in enumerate(found):
        column = table.iloc[:, f]
        if column.dtype == object and (reason := why_unusable(column)):
            found[f] = LeftOut(each.name, reason), ""
        elif isinstance(each, LeftOut) and each.reason != ID and _is_soon_read(column.dtype):
            found[f] = fitted._of_column(each.name, column)
        elif not _holds_for_all(each, column.dtype):
            found[f] = LeftOut(each.name, UNREAD), ""
    fitted._take(found)
    fitted.notes_.insert(
        0, f"levels of texts and parts of dates were looked for in {len(rows):,} of {len(table):,} rows."
    )
    return fitted


def _is_soon_read(kind: Any) -> bool:
    """Whether columns of a type are of numbers, or coded as such."""
    return bool(
        pd.api.types.is_numeric_dtype(kind)
        or pd.api.types.is_datetime64_any_dtype(kind)
        or isinstance(kind, (pd.CategoricalDtype, pd.PeriodDtype))
    )


def _holds_for_all(encoded: Encoded, kind: Any) -> bool:
    """Whether what was found in some rows of a column holds for all of them."""
    if isinstance(encoded, LeftOut):
        return encoded.reason == ID
    return isinstance(encoded, EncodedLevels) or _is_soon_read(kind)


def with_rest(encoder: TableEncoder, X: Any, deadline: float) -> TableEncoder:
    """The encoder, with columns that were left out because all their rows must be read, as many as there is time for.

    Parameters
    ----------
    encoder
        As `fitted_to_some` returns it.
    X
        The table.
    deadline
        When they must be read, by `time.perf_counter`. Until some column is left, they are read in any case.
    """
    table, columns = encoder._table(X, reset=False), list(encoder.columns_)
    for f, each in enumerate(columns):
        if isinstance(each, LeftOut) and each.reason == UNREAD:
            if is_late(deadline, len(table) * _OF_A_CELL) and any(encoded.made_names for encoded in columns):
                break
            found = encoder._of_column(each.name, table.iloc[:, f])
            columns[f] = found[0]
            encoder.notes_.remove(each.note)
            encoder.notes_ += notes_on(*found)
    encoder.columns_ = tuple(columns)
    return encoder
