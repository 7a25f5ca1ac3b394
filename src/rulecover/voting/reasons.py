"""Which rules decided, as a data frame that prints row by row."""

from __future__ import annotations

from typing import Any

import pandas as pd

from rulecover.show.text import aligned, printable

#: The most rows that are printed.
_ROWS = 20


class Reasons(pd.DataFrame):
    """One line for each row and rule that voted; printed, it says for each row what was predicted and by which votes.

    All that pandas does with it gives plain data frames.

    >>> frame = {"row": [0, 0], "prediction": ["no", "no"], "rule": [-1, 3], "text": ["by default", "age > 30"]}
    >>> print(Reasons(frame | {"votes_no": [0.5, 1.25], "votes_yes": [-0.5, -1.25]}))
    row 0: no
    rule     no    yes  if
           +0.5   -0.5  by default
       3  +1.25  -1.25  age > 30
    """

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame

    def __str__(self) -> str:
        if not {"row", "prediction", "rule", "text"} <= set(self.columns):  # a part of it, by assignment
            return str(super().__str__())
        groups = list(self.groupby("row", sort=False))
        blocks = [_block(row, lines) for row, lines in groups[:_ROWS]]
        more = [f"and {len(groups) - _ROWS} more rows"] if len(groups) > _ROWS else []
        return "\n\n".join([*blocks, *more]) or "no rows"


def _block(row: Any, lines: pd.DataFrame) -> str:
    """What was predicted for a row, and the votes."""
    first = lines.iloc[0]
    by = first.get("decided_by", "rules")
    how = "" if by == "rules" else f" (no rule covers it; decided by: {printable(str(by))})"
    votes = [
        name for name in lines.columns if name.startswith("votes_") or name in ("vote", "adds", "value", "mean_weight")
    ]
    if "weight" in lines and (lines["weight"] != 1).any():
        votes.append("weight")
    signed = bool((lines[votes] < 0).any(axis=None))
    head = ("rule", *(printable(name.removeprefix("votes_")) for name in votes), "if")
    cells = [
        (
            str(line["rule"]) if line["rule"] >= 0 else "",
            *(_number(line[name], signed=signed and name not in ("value", "mean_weight", "weight")) for name in votes),
            printable(str(line["text"])),
        )
        for _, line in lines.iterrows()
    ]
    table = aligned([head, *cells], right=(True, *[True] * len(votes), False))
    return f"row {row}: {_answer(first['prediction'])}{how}\n{table}"


def _number(value: float, *, signed: bool) -> str:
    return f"{value:+.3g}" if signed else f"{value:.4g}"


def _answer(prediction: Any) -> str:
    return f"{prediction:.6g}" if isinstance(prediction, float) else printable(str(prediction))
