"""Values as text that is the same for the same bits, and without what differs from run to run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

#: What may differ between two runs of the same program, or between two places of the same class: addresses of objects,
#: clocks, and the modules of classes.
_PASSING = (
    (re.compile(r"\b0x[0-9a-f]{6,}\b"), "0x…"),
    (re.compile(r"\brulecover\.(\w+\.)+(?=[A-Z])"), "rulecover.…."),
    (re.compile(r"(\b\d+|-):(\d\d|--):(\d\d\b|--)"), "H:MM:SS"),
    (re.compile(r"\b\d+(\.\d+)? ?(s|seconds)\b"), "… s"),
)


def masked(text: str, folder: Path | None = None) -> str:
    """The text without addresses, times, modules and the name of the folder that was made for the run."""
    text = text if folder is None else text.replace(str(folder), "FOLDER")
    for pattern, stand_in in _PASSING:
        text = pattern.sub(stand_in, text)
    return text


def timeless(value: Any) -> Any:
    """Nested dictionaries without what is counted in seconds."""
    if isinstance(value, dict):
        return {name: timeless(inner) for name, inner in value.items() if "seconds" not in str(name)}
    return value


def in_json(value: Any) -> str:
    """A value as JSON, numbers to the last bit, one entry per line at the top."""
    return json.dumps(_plain(timeless(value)), indent=1, ensure_ascii=False) + "\n"


def _plain(value: Any) -> Any:
    """Arrays and frames with their types, numbers as `repr` writes them; rows of numbers stand in one line."""
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        kinds = {str(name): str(kind) for name, kind in value.dtypes.items() if "seconds" not in str(name)}
        return {"kinds": kinds, "index": repr(value.index.tolist()), "rows": _lines(value[list(kinds)])}
    if isinstance(value, np.ndarray):
        return {"kind": str(value.dtype), "shape": list(value.shape), "values": list(map(repr, value.tolist()))}
    if isinstance(value, dict):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value if isinstance(value, str | int | None) else repr(value)


def _lines(frame: Any) -> list[str]:
    return [
        repr([cell.item() if isinstance(cell, np.generic) else cell for cell in row]) for row in frame.to_numpy(object)
    ]


def error_text(error: BaseException, folder: Path | None = None) -> str:
    """An error as its type and message."""
    return masked(f"{type(error).__name__}: {error}\n", folder)
