"""How numbers are written for trees to be trained on, where trees could not tell them apart as they are."""

from __future__ import annotations

from typing import NamedTuple

from rulecover.typing import Floats


class Origin(NamedTuple):
    """Where zero is and what counts as one, a power of two by which nothing is rounded.

    >>> import numpy as np
    >>> origin = Origin(centre=1e8, unit=0.5)
    >>> origin.written(np.array([1e8, 1e8 + 2])).tolist(), origin.read(np.array([0.0, 4.0])).tolist()
    ([0.0, 4.0], [100000000.0, 100000002.0])
    """

    centre: float = 0.0
    unit: float = 1.0

    def written(self, numbers: Floats) -> Floats:
        """Numbers, from here, in units."""
        return (numbers - self.centre) / self.unit

    def read(self, written: Floats) -> Floats:
        """The numbers that were written so."""
        return written * self.unit + self.centre
