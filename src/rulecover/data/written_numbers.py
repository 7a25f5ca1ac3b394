"""Numbers as people write them: ``23.2%``, ``$1,188``, ``1.234,50 €``, ``(12)``.

How the cells of a column are written is recognised by all of them together: a notation must fit every cell, and where
several fit, they must read the same numbers. What was recognised is kept with the column, so that new cells are read
in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice, product

import numpy as np

from rulecover.typing import Floats

#: Decimal marks, and marks between groups of three digits, as regular expressions.
DECIMALS = {".": r"\.", ",": ","}
THOUSANDS = {",": ",", ".": r"\.", " ": "[ \u00a0\u2009\u202f]", "'": "['\u2019]"}

_SYMBOLS = "$€£¥₹₽₩₺₪₫฿₴₦₱"
_CODES = (
    *("EUR", "USD", "GBP", "CHF", "JPY", "CNY", "INR", "AUD", "CAD", "NZD", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF"),
    *("RON", "BRL", "MXN", "ZAR", "TRY", "RUB", "KRW", "SGD", "HKD"),
)
_WORDS = ("US$", "R$", "C$", "A$", "HK$", "NZ$", "S$", "kr", "kr.", "zł", "Kč", "Ft", "Fr.")
_UNIT = "|".join([*map(re.escape, sorted((*_WORDS, *_CODES), key=len, reverse=True)), f"[{re.escape(_SYMBOLS)}]", "%"])

#: A cell: sign or parentheses, the unit on one side, and digits with marks. Possessive quantifiers: a long row of
#: blanks could be shared among the places for them in very many ways, and none is tried again.
_CELL = re.compile(
    rf"(?P<open>\()?\s*+(?P<sign>[-+\u2212])?\s*+(?P<before>{_UNIT})?\s*+(?P<inner>[-+\u2212])?\s*+"
    rf"(?P<digits>[\d.,](?:[\d.,'\u2019 \u00a0\u2009\u202f]*[\d.,])?(?:[eE][-+]?\d+)?)"
    rf"\s*+(?P<after>{_UNIT})?\s*+(?P<close>\))?"
)

#: What people write in a column of numbers where one is missing; signs such as + may be levels, and are left out.
_MARK = re.compile(r"[-\u2010-\u2015\u2212]{1,3}|[.\u00b7*:/_]{1,3}|\u2026")


#: Fewer texts of one shape are read one by one.
_MANY = 16
#: All digits but zero are alike where only the shape of a text matters.
_ONES = str.maketrans("23456789", "11111111")


@dataclass(frozen=True)
class Notation:
    """How the numbers of a column are written.

    Parameters
    ----------
    decimal
        The decimal mark.
    thousands
        The mark between groups of three digits; "" where no cell has one.
    unit
        The percent sign or the currency that cells have; it is dropped: ``23.2%`` is 23.2.
    missing
        What cells have where there is no number, such as ``-``.

    Examples
    --------
    >>> Notation(",", unit="€").read(["1.234,50 €", "7", "$7"])
    array([1234.5,    7. ,     nan])
    """

    decimal: str = "."
    thousands: str = ""
    unit: str = ""
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.decimal not in DECIMALS or self.thousands not in ("", *THOUSANDS) or self.thousands == self.decimal:
            raise ValueError(
                f"numbers cannot be written with {self.decimal!r} as decimal mark and {self.thousands!r} between "
                "thousands; choose marks of decimals and thousands that differ."
            )

    def with_marks(self, decimal: str | None, thousands: str | None) -> Notation:
        """The same unit with other marks, where they are given."""
        decimal = decimal or ({",": ".", ".": ","}[self.decimal] if thousands == self.decimal else self.decimal)
        kept = "" if self.thousands == decimal else self.thousands
        return replace(self, decimal=decimal, thousands=thousands or kept)

    def __str__(self) -> str:
        words = f"with a decimal {'point' if self.decimal == '.' else 'comma'}"
        return f"{words} and {self.unit}" if self.unit else words

    def is_missing(self, text: str) -> bool:
        """Whether a text means that a number is missing."""
        return text.strip() in self.missing

    def read(self, texts: Iterable[str]) -> Floats:
        """The numbers; NaN where a text is none in this notation. Units and marks of thousands may be absent."""
        texts = list(texts)
        out = np.empty(len(texts))
        by_shape: dict[tuple[str, int], list[int]] = {}
        for place, text in enumerate(texts):
            by_shape.setdefault(_shape(text), []).append(place)
        for places in by_shape.values():
            out[places] = self._read_alike([texts[place] for place in places])
        return out

    def _read_alike(self, texts: list[str]) -> Floats:
        """The numbers of texts of one shape: in each of them the same characters make the number."""
        first = self._number(texts[0])
        if np.isnan(first):
            return np.full(len(texts), np.nan)
        text = texts[0].strip()
        found, mark = _CELL.fullmatch(text), self._mark(_parsed(text))
        assert found is not None and mark is not None
        if len(texts) < _MANY or not found["digits"].isascii():  # or digits of other scripts
            return np.array([self._number(each) for each in texts])
        begin = texts[0].index(text) + found.start("digits")
        kept = [begin + k for k, each in enumerate(found["digits"]) if not re.fullmatch(THOUSANDS[mark], each)]
        characters = np.array(texts).view(np.uint32).reshape(len(texts), -1)[:, kept]
        characters[characters == ord(self.decimal)] = ord(".")
        with np.errstate(over="ignore"):  # numbers beyond all are infinite, as in Python
            numbers: Floats = np.ascontiguousarray(characters).view(f"U{len(kept)}")[:, 0].astype(np.float64)
        return -numbers if np.signbit(first) else numbers

    def _number(self, text: str) -> float:
        cell = _parsed(text)
        mark = self._mark(cell)
        value = None if cell is None or mark is None else _value(cell, self.decimal, mark)
        return np.nan if value is None else value

    def _mark(self, cell: _WrittenNumber | None) -> str | None:
        """The mark between thousands by which a cell can be read."""
        if cell is None or cell.unit not in ("", self.unit):
            return None
        marks = [self.thousands] if self.thousands else [mark for mark in THOUSANDS if mark != self.decimal]
        return next((mark for mark in marks if _value(cell, self.decimal, mark) is not None), None)


@dataclass(frozen=True)
class Undecided:
    """A text that several notations read, each as another number.

    Parameters
    ----------
    text, values
        The text, and the numbers.
    likely
        The notation with marks between thousands, where the column looks like this: three digits after each mark, and
        a currency, or numbers below a thousand that have no mark.
    """

    text: str
    values: tuple[float, ...]
    likely: Notation | None = field(default=None, compare=False)

    @property
    def unlikely_value(self) -> float:
        """What the text is if the mark is a decimal mark."""
        return min(self.values, key=abs)


@dataclass(frozen=True)
class Mixed:
    """Two texts of one column that have different units."""

    text: str
    other: str


@dataclass(frozen=True)
class _WrittenNumber:
    digits: str
    unit: str
    negative: bool
    in_parentheses: bool


def recognise(
    texts: Sequence[str], *, decimal: str | None = None, thousands: str | None = None
) -> Notation | Undecided | Mixed | None:
    """How the numbers of a column are written; ``None`` if some text is not a number.

    Parameters
    ----------
    texts
        The different cells of a column.
    decimal, thousands
        The marks, where they are known.

    Examples
    --------
    >>> recognise(["1.234,50 €", "7,5 €"])
    Notation(decimal=',', thousands='.', unit='€', missing=())
    >>> recognise(["1,234", "5,678"])
    Undecided(text='1,234', values=(1234.0, 1.234), likely=None)
    >>> recognise(["1,234", "5,678,000"])
    Notation(decimal='.', thousands=',', unit='', missing=())
    >>> recognise(["01234", "90210"]) is None  # codes, not numbers
    True
    """
    texts = list(of_each_shape(texts))
    cells = _all(_parsed, texts)
    if all(cell.in_parentheses for cell in cells):  # these number something, or there are none at all
        return None
    unit = _shared_unit(texts, cells)
    if isinstance(unit, Mixed):
        return unit
    fits = list(_fits(cells, decimal, thousands))
    if not fits:
        return None
    (chosen, values), *others = fits
    for _, other in others:
        differ = [place for place, (a, b) in enumerate(zip(values, other, strict=True)) if a != b]
        if differ:
            likely = _likely([marks for marks, _ in fits], cells, unit)
            return Undecided(texts[differ[0]], (values[differ[0]], other[differ[0]]), likely)
    used = [marks for marks, _ in fits if _has_group(cells, marks)]
    return Notation(*(used[0] if used else (chosen[0], "")), unit)


def _likely(fits: Sequence[tuple[str, str]], cells: Sequence[_WrittenNumber], unit: str) -> Notation | None:
    """The notation with marks between thousands, if this is how the cells look.

    Every cell with a mark has three digits behind it, or there were no doubt. Fixed decimals would leave no cell
    without a mark, and numbers that are grouped are grouped from a thousand on.
    """
    decimal, thousands = next(marks for marks in fits if _has_group(cells, marks))
    unmarked = [cell.digits for cell in cells if not re.search(THOUSANDS[thousands], cell.digits)]
    small = bool(unmarked) and all(re.fullmatch(r"\d{1,3}", digits) for digits in unmarked)
    return Notation(decimal, thousands, unit) if small or unit not in ("", "%") else None


def marks_among(texts: Iterable[str]) -> tuple[str, ...]:
    """The texts of nothing but dashes, dots and the like, where at least two others may be numbers.

    A column of numbers has such marks where there is no number; `recognise` reads the other texts.

    >>> marks_among(["5", "7", "-", " - ", "n.a."]), marks_among(["+", "-"])
    (('-',), ())
    """
    cells = {text.strip() for text in texts}
    marks = {cell for cell in cells if _MARK.fullmatch(cell)}
    numbers = (cell for cell in cells - marks if _parsed(cell) is not None) if marks else iter(())
    return tuple(sorted(marks)) if len(list(islice(numbers, 2))) == 2 else ()


def odd_one_out(texts: Sequence[str]) -> str | None:
    """The first text that is not a number, where most are numbers, some of them not as programs write them.

    >>> odd_one_out(["$5", "$7", "$8", "$9", "unknown"])
    'unknown'
    >>> odd_one_out(["red", "5", "blue"]) is None
    True
    """
    cells = [_parsed(text) for text in texts]
    odd = [text for text, cell in zip(texts, cells, strict=True) if cell is None]
    marked = any(cell is not None and (cell.unit or "," in cell.digits) for cell in cells)
    return odd[0] if odd and marked and 4 * len(odd) <= len(texts) - len(odd) else None


def of_each_shape(texts: Iterable[str]) -> Iterator[str]:
    """The first text of each shape: texts that differ in digits alone are numbers in the same notations.

    Whether the first digits are zeros is a part of the shape: codes such as zip codes begin with one.

    >>> list(of_each_shape(["$1,188", "$2,345", "$12", "$02", "free", "$13"]))
    ['$1,188', '$12', '$02', 'free']
    """
    seen = set()
    for text in texts:
        shape = _shape(text)
        if shape not in seen:
            seen.add(shape)
            yield text


def _shape(text: str) -> tuple[str, int]:
    """A text with zeros for all digits, and where the first is that is not a zero."""
    flat = text.translate(_ONES)
    return flat.replace("1", "0"), flat.find("1")


def is_code(text: str) -> bool:
    """Whether digits are a code, such as a zip code: they begin with a zero, and are at least three."""
    return re.fullmatch(r"0\d\d+", text.strip()) is not None


def _parsed(text: str) -> _WrittenNumber | None:
    found = _CELL.fullmatch(text.strip())
    if found is None:
        return None
    part = found.groupdict(default="")
    signs, units = part["sign"] + part["inner"], [each for each in (part["before"], part["after"]) if each]
    if len(signs) + len(part["open"]) > 1 or len(units) > 1 or bool(part["open"]) != bool(part["close"]):
        return None
    return _WrittenNumber(
        part["digits"], "".join(units), bool(part["open"]) or signs in ("-", "\u2212"), bool(part["open"])
    )


def _all(read: Callable[[str], _WrittenNumber | None], texts: Iterable[str]) -> list[_WrittenNumber]:
    """What each text is read as; nothing as soon as one cannot be read."""
    cells: list[_WrittenNumber] = []
    for text in texts:
        cell = read(text)
        if cell is None:
            return []
        cells.append(cell)
    return cells


def _shared_unit(texts: Sequence[str], cells: Sequence[_WrittenNumber]) -> str | Mixed:
    """The unit of all cells; a zero may be without."""
    first: dict[str, str] = {}
    for text, cell in zip(texts, cells, strict=True):
        if cell.unit or cell.digits.strip("0.,"):
            first.setdefault(cell.unit, text)
    units = list(first)
    return Mixed(first[units[0]], first[units[1]]) if len(units) > 1 else "".join(units)


def _fits(
    cells: Sequence[_WrittenNumber], decimal: str | None, thousands: str | None
) -> Iterator[tuple[tuple[str, str], list[float]]]:
    """The marks that fit every cell, and what they read."""
    for marks in product(DECIMALS if decimal is None else [decimal], THOUSANDS if thousands is None else [thousands]):
        if marks[0] != marks[1]:
            values: list[float] = []
            for cell in cells:
                value = _value(cell, *marks)
                if value is None:
                    break
                values.append(value)
            else:
                yield marks, values


def _value(cell: _WrittenNumber, decimal: str, thousands: str) -> float | None:
    if not _pattern(decimal, thousands).fullmatch(cell.digits):
        return None
    number = float(re.sub(THOUSANDS[thousands], "", cell.digits).replace(decimal, "."))
    return -number if cell.negative else number


def _has_group(cells: Sequence[_WrittenNumber], marks: tuple[str, str]) -> bool:
    return any(re.search(THOUSANDS[marks[1]], cell.digits) for cell in cells)


@cache
def _pattern(decimal: str, thousands: str) -> re.Pattern[str]:
    """Digits with these marks; a group is never led by a zero, and digits of a code are not a number."""
    mark, group = DECIMALS[decimal], THOUSANDS[thousands]
    grouped = rf"[1-9]\d{{0,2}}(?:{group}\d{{3}})+(?:{mark}\d*)?"
    return re.compile(rf"{grouped}|(?!0\d\d)\d+(?:{mark}\d*)?(?:[eE][-+]?\d+)?|{mark}\d+(?:[eE][-+]?\d+)?")
