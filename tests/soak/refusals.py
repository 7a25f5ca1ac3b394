"""The errors by which a model may be refused: each is a sentence that was thought of, and any other is a fault."""

from __future__ import annotations

import re

#: Parts of the sentences, and why such a case can come up.
EXPECTED: dict[str, str] = {
    r"^ValueError: no rule of up to \d+ uses .*, which is required: there is no allowed node": "a column at random",
    r"^CatBoostError: .*All train targets are equal": "numbers that are rounded to one",
}


def refusal(error: Exception) -> str | None:
    """Which of the expected sentences an error has; ``None`` if it has none of them, and so is a fault."""
    said = f"{type(error).__name__}: {error}"
    return next((pattern for pattern in EXPECTED if re.search(pattern, said)), None)
