"""Foreign comparisons rewritten as ours: ``x <= threshold`` in float64."""

import numpy as np

from rulecover.typing import Array, Floats


def from_float32(threshold: Array) -> Floats:
    """The float64 t for which ``x <= t`` is equivalent to ``float32(x) <= threshold``, for every double x.

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
        middle = np.where(f == np.inf, np.inf, (_bounded(f) + _bounded(following)) / 2)
        rounds_down = middle.astype(np.float32) <= f
        return np.where(rounds_down, middle, np.nextafter(middle, -np.inf))


def _bounded(f: Array) -> Floats:
    """In float64, infinities as the number that would follow the largest: doubles half way to it become infinite."""
    return np.clip(f.astype(np.float64), -(2.0**128), 2.0**128)


def below_float32(threshold: Array) -> Floats:
    """The largest float64 t for which ``x <= t`` is equivalent to ``float32(x) < threshold``, for every double x.

    >>> t = below_float32(np.array([0.5]))[0]
    >>> bool(np.float32(t) < 0.5), bool(np.float32(np.nextafter(t, 1)) < 0.5)
    (True, False)
    """
    wanted = np.asarray(threshold, dtype=np.float64)
    f = wanted.astype(np.float32)
    f = np.where(f < wanted, np.nextafter(f, np.float32(np.inf)), f)
    return from_float32(np.nextafter(f, np.float32(-np.inf)))
