"""Numbers as people write them are read back exactly, and what several notations read differently is said."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from random import Random

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from rulecover.data import written_numbers
from rulecover.data.written_numbers import THOUSANDS, Mixed, Notation, Undecided, is_code, marks_among, recognise

MARKS = [(".", ","), (".", " "), (".", "'"), (".", ""), (",", "."), (",", " "), (",", "'"), (",", "")]
UNITS = ["", "%", "$", "€", "£", "EUR", "CHF", "US$", "kr"]

NUMBERS = st.lists(
    st.decimals(-(10**8), 10**8, places=2, allow_nan=False).map(lambda number: number + 0), min_size=1, max_size=8
)


@dataclass(frozen=True)
class Style:
    """How somebody writes numbers."""

    marks: tuple[str, str]
    unit: str = ""
    before: bool = False
    brackets: bool = False
    blank: str = ""

    def write(self, number: Decimal) -> str:
        """The number, by nothing but Python's own formatting."""
        decimal, thousands = self.marks
        digits = f"{abs(number):,.2f}" if thousands else f"{abs(number):.2f}"
        digits = digits.translate(str.maketrans({",": thousands, ".": decimal}))
        parts = [self.unit, digits] if self.before else [digits, self.unit]
        text = self.blank.join(parts) if self.unit else digits
        if number >= 0:
            return text
        return f"({text})" if self.brackets else f"-{text}"


STYLES = st.builds(
    Style,
    st.sampled_from(MARKS),
    st.sampled_from(UNITS),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["", " ", "\xa0"]),
)


@given(NUMBERS, STYLES)
def test_numbers_in_any_notation_are_read_back_exactly(numbers: list[Decimal], style: Style) -> None:
    texts = [style.write(each) for each in numbers]
    assume(not all(text.startswith("(") for text in texts))

    notation = recognise(texts)

    assert isinstance(notation, Notation)  # two decimals show which mark is the decimal one
    assert notation.decimal == style.marks[0] and notation.thousands in ("", style.marks[1])
    assert notation.unit == style.unit
    np.testing.assert_array_equal(notation.read(texts), [float(each) for each in numbers])


DIGITS = st.text(st.sampled_from("0123456789.,"), min_size=1, max_size=9)


def readings(texts: list[str], decimal: str, thousands: str) -> list[float] | None:
    """What marks read, by a plain loop over characters; ``None`` if they do not fit."""
    values = []
    for text in texts:
        whole, _, fraction = text.partition(decimal)
        groups = whole.split(thousands)
        digits = "".join(groups)
        if not (digits + fraction).isdigit() or not _well_grouped(groups):
            return None
        values.append(float(f"{digits or 0}.{fraction or 0}"))
    return values


def _well_grouped(groups: list[str]) -> bool:
    first, *others = groups
    if not others:
        return not (len(first) > 2 and first.startswith("0"))  # or it is a code
    return 1 <= len(first) <= 3 and first[0] != "0" and all(len(each) == 3 for each in others)


@given(st.lists(DIGITS, min_size=1, max_size=4))
def test_a_column_is_decided_just_where_all_notations_that_fit_it_agree(texts: list[str]) -> None:
    fits = {marks: values for marks in [(".", ","), (",", ".")] if (values := readings(texts, *marks)) is not None}

    found = recognise(texts)

    if not fits:
        assert found is None
    elif len(set(map(tuple, fits.values()))) > 1:
        assert isinstance(found, Undecided) and found.text in texts and len(set(found.values)) == 2
    else:
        assert isinstance(found, Notation)
        np.testing.assert_array_equal(found.read(texts), next(iter(fits.values())))


@given(st.lists(DIGITS, min_size=1, max_size=4), st.sampled_from([".", ","]))
def test_a_decimal_mark_that_is_named_decides(texts: list[str], decimal: str) -> None:
    values = readings(texts, decimal, "," if decimal == "." else ".")

    found = recognise(texts, decimal=decimal)

    assert not isinstance(found, Undecided)
    assert (found is None) == (values is None)
    if isinstance(found, Notation):
        assert found.decimal == decimal
        np.testing.assert_array_equal(found.read(texts), values)


@given(NUMBERS, STYLES)
def test_what_was_recognised_reads_the_unit_and_no_other(numbers: list[Decimal], style: Style) -> None:
    texts = [style.write(each) for each in numbers]
    assume(not all(text.startswith("(") for text in texts))
    bare = [replace(style, unit="").write(each) for each in numbers]
    notation = recognise(texts)
    assert isinstance(notation, Notation)

    np.testing.assert_array_equal(notation.read(bare), notation.read(texts))
    assert np.isnan(notation.read(replace(style, unit="₽").write(each) for each in numbers)).all()


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["23.2%", "7 %", "0"], [23.2, 7, 0]),
        (["$188", "$ 1,200.50", "-$3", "($4)", "$(5)"], None),
        (["$188", "$ 1,200.50", "-$3", "($4)"], [188, 1200.5, -3, -4]),
        (["1.234,50 €", "€ 12", "-3,5 €"], [1234.5, 12, -3.5]),
        (["188,48", "7"], [188.48, 7]),
        (["1 234,5", "12\u202f345,0"], [1234.5, 12345]),
        (["1'234.50", "12’345"], [1234.5, 12345]),
        (["1.234.567", "12"], [1234567, 12]),
        (["1,234", "0,5"], [1.234, 0.5]),
        (["1e5%", "2.5E-3%"], [1e5, 2.5e-3]),
        (["+5", "\u22125"], [5, -5]),
        (["1.2.3"], None),
        (["12,34,567"], None),
        (["01.02.2020"], None),
        (["192.168.0.1"], None),
        (["1-2"], None),
        (["12-"], None),
        (["%"], None),
        (["$"], None),
        ([""], None),
        (["--5"], None),
        (["(5"], None),
        (["5)"], None),
        (["(-5)"], None),
        (["(1)", "(2)"], None),  # which count something
        (["(1)", "2"], [-1, 2]),
        (["$5€"], None),
        (["5 kg"], None),
        (["01234"], None),
        (["007"], None),
        (["03", "12"], [3, 12]),
        (["0.5", "0"], [0.5, 0]),
    ],
)
def test_cells_are_read_as_a_person_would_read_them(texts: list[str], values: list[float] | None) -> None:
    found = recognise(texts)

    assert (None if not isinstance(found, Notation) else found.read(texts).tolist()) == values


def test_what_cannot_be_decided_names_the_cell_and_both_numbers() -> None:
    assert recognise(["12", "1,234"]) == Undecided("1,234", (1234.0, 1.234))
    assert recognise(["12 €", "1.234 €"]) == Undecided("1.234 €", (1.234, 1234.0))
    assert recognise(["1,234"], thousands=",") == Notation(".", ",")


@pytest.mark.parametrize(
    ("texts", "likely"),
    [
        (["$1,545", "$3,479"], Notation(".", ",", "$")),
        (["1.545 €", "12 €"], Notation(",", ".", "€")),
        (["1,545", "77", "912"], Notation(".", ",")),
        (["1,545", "3,479"], None),  # may be three decimals
        (["1,545", "3479"], None),  # thousands would have a mark
        (["1,545%", "3,479%"], None),
    ],
)
def test_marks_are_likely_between_thousands_where_cells_look_like_it(texts: list[str], likely: Notation | None) -> None:
    found = recognise(texts)

    assert isinstance(found, Undecided) and found.likely == likely


def test_units_that_differ_are_no_numbers_of_one_column() -> None:
    assert recognise(["5 %", "0.05"]) == Mixed("5 %", "0.05")
    assert recognise(["$5", "€5"]) == Mixed("$5", "€5")


@pytest.mark.parametrize("begin", ["(", "-", "$", "1", "(-$", "1 1"])
def test_a_cell_of_many_blanks_takes_no_longer_than_another(begin: str) -> None:
    assert recognise([f"{begin}{' ' * 100_000}x"]) is None
    assert Notation(unit="$").read([f"({' ' * 100_000}$ 7)"]).tolist() == [-7.0]


def test_codes_begin_with_zero_and_have_three_digits() -> None:
    assert [is_code(text) for text in ("01234", "007", "00", "0", "10", "0.5", "0x1")] == [True, True, *[False] * 5]


@pytest.mark.parametrize("marks", [("x", ""), (".", "."), (",", "x")])
def test_a_notation_of_odd_marks_is_refused(marks: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match="choose marks"):
        Notation(*marks)


@given(st.floats(allow_nan=False, allow_infinity=False, width=64))
def test_plain_numbers_are_read_as_python_reads_them(number: float) -> None:
    text = repr(number)
    assume("e" not in text or "." in text or "e-" in text)

    assert Notation().read([text])[0] == number


@pytest.mark.parametrize("mark", ["-", "--", "---", "\u2013", "\u2014", ".", "..", "...", "\u2026", ":", "*", "/", "_"])
def test_a_mark_among_numbers_is_found(mark: str) -> None:
    assert marks_among(["5", f" {mark} ", "$7.50", mark]) == (mark,)


@pytest.mark.parametrize("texts", ["+ -", "5 -", "red blue -", "5 7 +", "5 7 n.a.", ""])
def test_where_others_are_not_numbers_or_it_may_be_a_level_there_is_no_mark(texts: str) -> None:
    assert marks_among(texts.split()) == ()


def test_a_mark_is_a_missing_number_in_its_notation() -> None:
    notation = Notation(unit="%", missing=("-",))

    assert np.isnan(notation.read(["-"])).all() and notation.is_missing(" - ")
    assert not notation.is_missing("--") and not Notation().is_missing("-")


CELLS = st.from_regex(
    r"[-(]?[$€]? ?[0-9]{0,4}([.,' ]?[0-9]{1,3}){0,3}[.,]?[0-9]{0,2} ?[%$€]?\)?(e[0-9])?", fullmatch=True
)


def of_other_digits(text: str, digits: Random) -> str:
    """A text that differs in its digits, zeros among them."""
    return re.sub("[0-9]", lambda _: digits.choice("0001259"), text)


@given(
    st.lists(CELLS | st.sampled_from(["0", "$0", "0.00 €", "123", "٣", "-", "x"]), min_size=1, max_size=4),
    st.randoms(use_true_random=False),
)
@example(["$5", "$0", "€0"], Random(0))  # a zero needs no unit
@example(["1,234", "0,000"], Random(0))  # groups do not begin with zeros
@example(["123", "045"], Random(0))  # a code
def test_a_text_of_each_shape_says_how_all_are_written(texts: list[str], digits: Random) -> None:
    texts = [*texts, *(of_other_digits(text, digits) for text in texts)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(written_numbers, "of_each_shape", iter)  # each text by itself
        expected = recognise(texts)

    assert recognise(texts) == expected
    assert not isinstance(expected, Undecided) or recognise(texts).text == expected.text


@given(
    texts=st.lists(CELLS | st.sampled_from(["٣٤", "1\u00a0234", "-0", "x", "-"]), min_size=1, max_size=8),
    decimal=st.sampled_from(".,"),
    thousands=st.sampled_from(["", *THOUSANDS]),
    unit=st.sampled_from(["", "$", "€", "%"]),
    digits=st.randoms(use_true_random=False),
)
@example(["123"], ".", ",", "", Random(0))
def test_many_texts_of_one_shape_are_read_as_each_by_itself(texts, decimal, thousands, unit, digits: Random) -> None:
    assume(thousands != decimal)
    notation = Notation(decimal, thousands, unit, missing=("-",))
    many = [of_other_digits(text, digits) for text in texts for _ in range(80)]

    read = notation.read(many)

    one_by_one = [notation.read([text])[0] for text in many]
    np.testing.assert_array_equal(read, one_by_one)
    np.testing.assert_array_equal(np.signbit(read), np.signbit(one_by_one))


def test_many_numbers_beyond_all_are_infinite_as_one_is() -> None:
    assert Notation().read(["1.5e327"] * 50).tolist() == [float("inf")] * 50
