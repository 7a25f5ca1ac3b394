"""Where rows are: in memory, or elsewhere."""

from __future__ import annotations

from typing import Any

from rulecover.estimators.elsewhere import RowsElsewhere
from rulecover.estimators.on_dask import RowsOnWorkers
from rulecover.estimators.on_device import RowsOnDevice
from rulecover.estimators.on_tables import RowsOfTable
from rulecover.gpu.launch import is_on_device
from rulecover.partitions.dask_rows import dask_rows, is_dask
from rulecover.partitions.table import TableInBlocks


def rows_elsewhere(X: Any, y: Any, sample_weight: Any) -> RowsElsewhere | None:
    """The rows that stay where they are, with labels and weights; ``None`` for rows in memory."""
    if isinstance(X, (RowsOfTable, RowsOnWorkers, RowsOnDevice)):
        return X
    if isinstance(X, TableInBlocks):
        return RowsOfTable.of(X, y, sample_weight)
    if is_dask(X):
        return RowsOnWorkers(dask_rows(X, y, sample_weight))
    return RowsOnDevice(X, y, sample_weight) if is_on_device(X) else None
