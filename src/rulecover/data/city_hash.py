"""The number that CatBoost uses for a category: the lower half of CityHash64, version 1.0, of its text.

A model holds only these numbers, so a category can be recognised but not spelled out.
"""

from __future__ import annotations

from struct import unpack_from

_ALL = (1 << 64) - 1
_K0, _K1, _K2, _K3 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F, 0xC949D7C7509E6557
_PAIR = 0x9DDFEA08EB382D69


def category_hash(text: str) -> int:
    """CatBoost's number for a category, a signed integer of 32 bits.

    >>> category_hash("r"), category_hash("10")
    (511999110, -1337848602)
    """
    low = _city_hash(text.encode("utf-8", "surrogatepass")) & 0xFFFFFFFF
    return low - (1 << 32) if low >> 31 else low


def _city_hash(s: bytes) -> int:
    if len(s) <= 16:
        return _up_to_16(s)
    if len(s) <= 32:
        return _up_to_32(s)
    return _up_to_64(s) if len(s) <= 64 else _longer(s)


def _word(s: bytes, at: int) -> int:
    """Eight bytes as a number; a negative place counts from the end."""
    number: int = unpack_from("<Q", s, at)[0]
    return number


def _rotated(x: int, by: int) -> int:
    x &= _ALL
    return (x >> by | x << (64 - by)) & _ALL if by else x


def _mixed(x: int) -> int:
    x &= _ALL
    return x ^ x >> 47


def _paired(low: int, high: int) -> int:
    a = _mixed(((low ^ high) & _ALL) * _PAIR)
    return _mixed((high ^ a) * _PAIR) * _PAIR & _ALL


def _up_to_16(s: bytes) -> int:
    n = len(s)
    if n > 8:
        last = _word(s, n - 8)
        return _paired(_word(s, 0), _rotated(last + n, n)) ^ last
    if n >= 4:
        first, last = unpack_from("<I", s, 0)[0], unpack_from("<I", s, n - 4)[0]
        return _paired(n + (first << 3), last)
    if n:
        return _mixed((s[0] + (s[n >> 1] << 8)) * _K2 ^ (n + (s[-1] << 2)) * _K3) * _K2 & _ALL
    return _K2


def _up_to_32(s: bytes) -> int:
    n = len(s)
    a, b = _word(s, 0) * _K1, _word(s, 8)
    c, d = _word(s, n - 8) * _K2, _word(s, n - 16) * _K0
    low = _rotated(a - b, 43) + _rotated(c, 30) + d
    high = a + _rotated(b ^ _K3, 20) - c + n
    return _paired(low & _ALL, high & _ALL)


def _folded(a: int, words: tuple[int, int, int]) -> tuple[int, int]:
    """Two numbers from a start and three words, the last of which is added on both sides."""
    one, two, z = words
    b, c = _rotated(a + z, 52), _rotated(a, 37)
    a += one
    c += _rotated(a, 7)
    a += two
    return (a + z) & _ALL, (b + _rotated(a, 31) + c) & _ALL


def _up_to_64(s: bytes) -> int:
    n = len(s)
    v = _folded(_word(s, 0) + (n + _word(s, n - 16)) * _K0, (_word(s, 8), _word(s, 16), _word(s, 24)))
    w = _folded(_word(s, 16) + _word(s, n - 32), (_word(s, n - 24), _word(s, n - 16), _word(s, n - 8)))
    r = _mixed((v[0] + w[1]) * _K2 + (w[0] + v[1]) * _K0)
    return _mixed(r * _K0 + v[1]) * _K2 & _ALL


def _weak(s: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    """32 bytes and two seeds folded into two numbers."""
    w, x, y, z = unpack_from("<4Q", s, at)
    a += w
    b = _rotated(b + a + z, 21)
    c = a
    a += x + y
    b += _rotated(a, 44)
    return (a + z) & _ALL, (b + c) & _ALL


def _longer(s: bytes) -> int:
    n = len(s)
    x, y, z = _word(s, 0), _word(s, n - 16) ^ _K1, _word(s, n - 56) ^ _K0
    v, w = _weak(s, n - 64, n, y), _weak(s, n - 32, n * _K1, _K0)
    z += _mixed(v[1]) * _K1
    x, y = _rotated(z + x, 39) * _K1, _rotated(y, 33) * _K1
    for at in range(0, (n - 1) & ~63, 64):
        x = _rotated(x + y + v[0] + _word(s, at + 16), 37) * _K1 ^ w[1]
        y = _rotated(y + v[1] + _word(s, at + 48), 42) * _K1 ^ v[0]
        z = _rotated(z ^ w[0], 33)
        v = _weak(s, at, v[1] * _K1, x + w[0])
        w = _weak(s, at + 32, z + w[1], y)
        x, z = z, x
    return _paired((_paired(v[0], w[0]) + _mixed(y) * _K1 + z) & _ALL, (_paired(v[1], w[1]) + x) & _ALL)
