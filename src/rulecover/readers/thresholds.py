"""Foreign comparisons rewritten as ours: ``x <= threshold`` in float64."""

import numpy as np

from rulecover.typing import Array, Floats


def from_float32(threshold: Array) -> Floats:
    """The float64 t for which ``x <= t`` says the same as ``float32(x) <= threshold``, for every double x.

    A double is rounded to the nearest float32, ties to even. With f the largest float32 that is not above the
    threshold, all doubles below the middle between f and its successor round to f or lower; the middle itself does
    if f is the even one of the two.

    >>> t = from_float32(np.array([0.1]))[0]
    >>> float(np.float32(t)) <= 0.1, float(np.float32(np.nextafter(t, 1))) <= 0.1
    (True, False)
    """
    with np.errstate(over="ignore"):
        wanted = np.asarray(threshold, dtype=np.float64)
        f = wanted.astype(np.float32)
        f = np.where(f > wanted, np.nextafter(f, np.float32(-np.inf)), f)
        following = np.nextafter(f, np.float32(np.inf))
        # Past the largest float32 a double becomes infinite, which no model takes: f itself will do there.
        middle = np.where(np.isinf(following), f.astype(np.float64), (f.astype(np.float64) + following) / 2)
        rounds_down = middle.astype(np.float32) <= f
        return np.where(rounds_down, middle, np.nextafter(middle, -np.inf))


def below_float32(threshold: Array) -> Floats:
    """The largest float64 t for which ``x <= t`` says the same as ``float32(x) < threshold``, for every double x.

    >>> t = below_float32(np.array([0.5]))[0]
    >>> bool(np.float32(t) < 0.5), bool(np.float32(np.nextafter(t, 1)) < 0.5)
    (True, False)
    """
    wanted = np.asarray(threshold, dtype=np.float64)
    f = wanted.astype(np.float32)
    f = np.where(f < wanted, np.nextafter(f, np.float32(np.inf)), f)
    return from_float32(np.nextafter(f, np.float32(-np.inf)))
