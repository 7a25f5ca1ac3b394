"""A model file's fields, read by name and type: an error says which field is not as it should be."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulecover.exceptions import DamagedModelError
from rulecover.typing import Array, Floats, Ints


@dataclass(frozen=True)
class Field:
    """A value of a JSON document and the path to it."""

    value: Any
    where: str

    @classmethod
    def of_json(cls, text: str, name: str) -> Field:
        try:
            return cls(json.loads(text), name)
        except (ValueError, RecursionError) as error:
            raise DamagedModelError(f"{name} is not a complete JSON document: {error}; save the model again.") from None

    def wrong(self, wanted: str) -> DamagedModelError:
        """The error for a value that is not what is wanted here."""
        shown = repr(self.value)
        shown = shown if len(shown) <= 40 else f"{shown[:40]}…"
        return DamagedModelError(
            f"{self.where} is {shown}, but must be {wanted}; the model file is damaged: save it again."
        )

    def __getitem__(self, name: str) -> Field:
        found = self.get(name)
        if found is None:
            raise DamagedModelError(f"{self.where} has no {name!r}; the model file is damaged: save it again.")
        return found

    def get(self, name: str) -> Field | None:
        if not isinstance(self.value, dict):
            raise self.wrong("an object")
        return Field(self.value[name], f"{self.where}.{name}") if name in self.value else None

    def __iter__(self) -> Iterator[Field]:
        if not isinstance(self.value, list):
            raise self.wrong("a list")
        return (Field(item, f"{self.where}[{k}]") for k, item in enumerate(self.value))

    def __len__(self) -> int:
        if not isinstance(self.value, list):
            raise self.wrong("a list")
        return len(self.value)

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.wrong("text")
        return self.value

    def whole(self, at_least: int = 0, at_most: int = 2**31 - 1) -> int:
        """A whole number, written as a number or as text."""
        value = self.value
        if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= 10:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not at_least <= value <= at_most:
            raise self.wrong(f"a whole number from {at_least} to {at_most}")
        return value

    def number(self) -> float:
        value = self.value
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= sys.float_info.max:
            raise self.wrong("a finite number")
        return float(value)

    def ints(self, length: int | None = None) -> Ints:
        return self._array("biu", "whole numbers", length).astype(np.intp)

    def floats(self, length: int | None = None) -> Floats:
        """Numbers, including NaN and infinities: callers that need finite ones check them."""
        return self._array("iuf", "numbers", length).astype(np.float64)

    def texts(self, length: int | None = None) -> tuple[str, ...]:
        found = tuple(item.text() for item in self)
        if length is not None and len(found) != length:
            raise self.wrong(f"a list of {length} texts, not {len(found)}")
        return found

    def _array(self, kinds: str, what: str, length: int | None) -> Array:
        if length is not None and len(self) != length:
            raise self.wrong(f"a list of {length} {what}, not {len(self)}")
        if not len(self):
            return np.zeros(0)
        if not {*map(type, self.value)} <= {int, float, bool}:  # numpy would give each entry the room of a long text
            raise self.wrong(f"a list of {what}")
        try:
            array = np.array(self.value)
        except OverflowError:
            raise self.wrong(f"a list of {what}") from None
        if array.dtype.kind not in kinds:
            raise self.wrong(f"a list of {what}")
        return array
