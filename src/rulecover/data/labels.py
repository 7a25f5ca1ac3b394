"""Class labels as plain values that every format can hold."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np

from rulecover.exceptions import ExportError
from rulecover.typing import Array

Label: TypeAlias = str | int | float | bool


def plain_labels(labels: Array | Iterable[Any]) -> list[Label]:
    """The labels as strings, whole numbers, floats or truth values."""
    return [_plain(label) for label in (labels.tolist() if isinstance(labels, np.ndarray) else labels)]


def _plain(label: Any) -> Label:
    if isinstance(label, (str, bool, int)) or (isinstance(label, float) and math.isfinite(label)):
        return label
    raise ExportError(
        f"the class {label!r} is of type {type(label).__name__}, which no format but pickle can hold; "
        "train with labels that are text or numbers."
    )
