"""Array aliases, so that signatures read as words."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.intp]
Bools: TypeAlias = NDArray[np.bool_]
UInts: TypeAlias = NDArray[np.unsignedinteger[Any]]
Array: TypeAlias = NDArray[Any]
