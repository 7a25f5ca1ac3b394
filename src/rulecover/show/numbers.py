"""Numbers as short as they can be."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

#: Digits after the point that are tried before a bound is shown in full.
MOST_DECIMALS = 20


def short_number(value: float) -> str:
    """The shortest text that reads back as the same number: ``3``, ``0.1``, ``1e-07``, ``inf``.

    >>> short_number(3.0), short_number(0.1), short_number(1e22)
    ('3', '0.1', '1e+22')
    """
    value = float(value)
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value)


def amount(value: float) -> str:
    """A support: whole numbers as they are, sums of weights to six digits.

    >>> amount(1234567.0), amount(4.999999999999998)
    ('1234567', '5')
    """
    return short_number(value if float(value).is_integer() else float(f"{value:.6g}"))


def format_number(number: float) -> str:
    """A number for people: four digits, or all before the point.

    >>> format_number(152.13348), format_number(-0.00012), format_number(25.0), format_number(1234567.8)
    ('152.1', '-0.00012', '25', '1234568')
    """
    return amount(round(number)) if 1000 <= abs(number) < 1e15 else f"{number:.4g}"


def format_signed(number: float) -> str:
    """The same with its sign.

    >>> format_signed(3.14159), format_signed(-2.0)
    ('+3.142', '-2')
    """
    return f"{'' if number < 0 else '+'}{format_number(number)}"


def shortest_in(low: float, high: float, near: float, first: int = 0) -> float:
    """The number with the fewest decimals in ``low <= number < high``, of those the one nearest to `near`.

    No number with fewer than `first` decimals is tried.

    >>> shortest_in(2.4, 3.1, 2.75), shortest_in(2.41, 2.49, 2.45), shortest_in(0.1, 0.2, 0.15)
    (3.0, 2.45, 0.1)
    """
    return _fewest_digits(low, high, near, first)


def roundest_in(low: float, high: float, near: float) -> float:
    """The same, and of whole numbers the one with most zeros at its end.

    >>> roundest_in(2.4, 3.1, 2.75), roundest_in(1234.5, 1311.0, 1270.0)
    (3.0, 1300.0)
    """
    largest = max(abs(low), abs(high))
    return _fewest_digits(low, high, near, -math.ceil(math.log10(largest)) if 1.0 < largest < math.inf else 0)


def _fewest_digits(low: float, high: float, near: float, first: int) -> float:
    """The number with the fewest digits after the point, from `first` on, which may be negative."""
    reach = abs(near) + 1.0
    lowest = Decimal(low if math.isfinite(low) else near - reach)
    highest = Decimal(high if math.isfinite(high) else near + reach)
    target = Decimal(near)
    if highest - lowest > Decimal("1e-300"):
        for digits in range(first, MOST_DECIMALS):
            unit = Decimal(1).scaleb(-digits)
            for rounding in (ROUND_HALF_EVEN, ROUND_FLOOR, ROUND_CEILING):
                number = float((target / unit).to_integral_value(rounding) * unit)
                if lowest <= Decimal(number) < highest:
                    return number + 0.0  # avoids a negative zero
    return float(near)


def bound_text(value: float, signs: tuple[str, str]) -> tuple[str, str]:
    """The sign and the text of a bound, or those of the double after it, where that is much shorter."""
    text, following = short_number(value), short_number(math.nextafter(value, math.inf))
    return (signs[1], following) if len(following) + 4 <= len(text) else (signs[0], text)
