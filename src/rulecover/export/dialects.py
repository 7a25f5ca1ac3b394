"""What SQL dialects differ in beyond what sqlglot knows: numbers, missing values, and names."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from sqlglot import exp

from rulecover.data.dates import ISO, LOOSE_ISO, PARTS, DatePart
from rulecover.exceptions import ExportError
from rulecover.export.conditions import LONGEST_NAME
from rulecover.export.date_texts import date_text

#: SQLite reads decimals of this many digits correctly on every machine, if they are exactly the number meant.
_SAFE_DIGITS = 15

_LARGEST_POWER = 2**62

_MOST_ARGUMENTS = 50

#: What dates are taken apart by: fields of EXTRACT, all of them in some dialects, formats of strftime in SQLite.
_EXTRACTING = ("postgres", "duckdb")
#: Where texts such as 31.12.2024 are put in order.
_REORDERING = ("postgres", "duckdb", "sqlite")
*_, _DAYS = PARTS
_EXTRACTED = dict(zip(PARTS, ("YEAR", "MONTH", "ISODOW", "EPOCH"), strict=True))
_FORMATTED = dict(zip(PARTS, ("%Y", "%m", "%w", "%s"), strict=True))
_DAY = 86400.0
_MONDAY = "0001-01-01"


@dataclass(frozen=True)
class Dialect:
    """One database's SQL.

    Parameters
    ----------
    name
        As sqlglot calls it.
    nan
        How NaN is found: "equals" where NaN equals itself, "is_nan" by a function, "" where there is no NaN.
    reads_decimals
        Whether the database reads every decimal number as the float nearest to it.
    known_as
        How the database normalises a quoted name: names with the same result are the same to it.
    longest_name
        The most characters that a name may have.
    collation
        The order of texts in which only the same texts are equal, whatever the column's own collation; where there is
        none, bytes are compared.
    fence
        What keeps the planner from writing out a step's expressions wherever they are used, which would make a query
        of millions of terms: "offset" for ``OFFSET 0``, "materialized", or "" where nothing is needed.
    """

    name: str
    nan: str = "equals"
    reads_decimals: bool = True
    known_as: Callable[[str], Hashable] = str.casefold
    longest_name: int | None = None
    collation: str = ""
    fence: str = ""

    def text(self, expression: exp.Expression) -> str:
        return expression.sql(dialect=self.name, pretty=True, max_text_width=120, copy=False)

    def number(self, value: float) -> exp.Expression:
        """A 64-bit float, however the database reads decimals."""
        if value == 0:
            return double(_digits("0"))
        if self.reads_decimals or _is_plain(value):
            return double(_digits(_decimal(abs(value))), negative=value < 0)
        return _quotient(value)

    def known(self, column: exp.Expression) -> exp.Expression:
        """A column as a float, NULL where it is missing or NaN."""
        if self.name == "sqlite":
            return _number_or_null(column)
        value = double(column)
        if self.nan == "equals":
            return exp.Nullif(this=value, expression=double(exp.Literal.string("NaN")))
        if self.nan == "is_nan":
            return case((exp.IsNan(this=value), exp.null()), default=value.copy())
        return value

    def takes_apart(self, part: DatePart) -> bool:
        """Whether a part of a date can be had from a date, or from a text that writes it as in training."""
        return part.written == ISO or (part.written != LOOSE_ISO and self.name in _REORDERING)

    def part_of_date(self, given: exp.Expression, part: DatePart) -> exp.Expression:
        """A part of a date as a float, NULL where there is no date."""
        written = given if part.written == ISO else self._in_iso_order(given, part.written)
        if self.name == "sqlite":
            return self._part_by_format(written, part.part)
        moment = exp.cast(written, exp.DataType.Type.TIMESTAMPNTZ)
        if part.part == _DAYS:
            return exp.Div(this=self._seconds(moment), expression=self.number(_DAY))
        if part.part == "weekday" and self.name not in _EXTRACTING:
            days = exp.Paren(this=_days_between(_MONDAY, moment))
            return double(exp.Add(this=exp.Mod(this=days, expression=whole(7)), expression=whole(1)))
        return double(_extracted(_EXTRACTED[part.part], moment))

    def _seconds(self, moment: exp.Expression) -> exp.Expression:
        """The seconds since 1970-01-01, without their fractions."""
        if self.name in _EXTRACTING:
            return exp.Floor(this=double(_extracted("EPOCH", moment)))
        days = double(_days_between("1970-01-01", moment))
        terms: list[exp.Expression] = [exp.Mul(this=days, expression=self.number(_DAY))]
        for field, seconds in (("HOUR", 3600), ("MINUTE", 60)):
            terms.append(exp.Mul(this=_extracted(field, moment.copy()), expression=whole(seconds)))
        terms.append(exp.Floor(this=_extracted("SECOND", moment.copy())))
        return exp.Paren(this=joined(exp.Add, terms))

    def _part_by_format(self, given: exp.Expression, part: str) -> exp.Expression:
        found = double(exp.Anonymous(this="STRFTIME", expressions=[text(_FORMATTED[part]), given]))
        if part == _DAYS:
            made: exp.Expression = exp.Div(this=found, expression=self.number(_DAY))
        elif part == "weekday":  # Sunday is 0 there
            is_sunday = exp.EQ(this=found.copy(), expression=whole(0))
            made = case((is_sunday, self.number(7.0)), default=found)
        else:
            made = found
        # It takes numbers for days, times for dates, and 2023-02-30 for 2023-03-02, unless it is made to count.
        day = _piece(given.copy(), whole(1), whole(10))
        is_date = exp.EQ(this=exp.Anonymous(this="DATE", expressions=[day, text("+0 days")]), expression=day.copy())
        return case((is_date, made), default=exp.null())

    def _in_iso_order(self, given: exp.Expression, written: str) -> exp.Expression:
        """A text with year, month and day in another order as ISO 8601 has it; dates, as texts, have that order."""
        pattern, (year, month, day) = date_text(written)
        if self.name == "sqlite":
            pieces = _split(exp.Trim(this=given), written[2])
            ordered = _printed("%s-%02d-%02d", *(pieces[k - 1] for k in (year, month, day)))
            return case((exp.Like(this=given.copy(), expression=text("____-__-__%")), given.copy()), default=ordered)
        as_text = exp.cast(given, exp.DataType.Type.TEXT)
        ordered = _replaced(as_text, f"^{pattern}$", f"\\{year}-\\{month}-\\{day}")
        # Databases would read other texts in an order of their own.
        return _replaced(ordered, "^([^-]{0,3}(-.*)?|[^-]{4}|[^-]{5}.*)$", "not as in training: \\1")

    def greatest(self, terms: Sequence[exp.Expression]) -> exp.Expression:
        """The largest of the terms, none of which is NULL: databases limit how many arguments a function may have."""
        if len(terms) == 1:
            return terms[0]
        if len(terms) > _MOST_ARGUMENTS:
            groups = [terms[start : start + _MOST_ARGUMENTS] for start in range(0, len(terms), _MOST_ARGUMENTS)]
            return self.greatest([self.greatest(group) for group in groups])
        if self.name == "sqlite":  # older versions of sqlglot write GREATEST, which SQLite does not know
            return exp.Anonymous(this="MAX", expressions=list(terms))
        # Left alone, sqlglot adds a check for NULL where a database would skip it.
        return exp.Greatest(this=terms[0], expressions=list(terms[1:]), ignore_nulls=self.name == "duckdb")

    def string(self, text: str) -> exp.Expression:
        if "\0" in text:
            raise ExportError(f"{text!r} has a character that databases do not accept (NUL); rename it.")
        plain = text.isascii() or self.name != "tsql"
        return exp.Literal.string(text) if plain else exp.National(this=text)

    def same_text(self, given: exp.Expression, wanted: str) -> exp.Expression:
        """Whether a value that is not NULL is this very text: neither case nor blanks at the end are overlooked."""
        return exp.EQ(this=self.comparable(given), expression=self.comparable_text(wanted))

    def comparable(self, given: exp.Expression) -> exp.Expression:
        """A value that is not NULL as something that is equal to a `comparable_text` only if it is this very text."""
        if self.name == "tsql":  # it overlooks blanks at the end in every collation
            return self._collated(_concat(given, text("|")))
        # A cast of PostgreSQL's would cut such blanks off.
        known = _concat(given) if self.name == "postgres" else exp.cast(given, exp.DataType.Type.TEXT)
        return self._collated(known) if self.collation else exp.cast(known, exp.DataType.Type.VARBINARY)

    def comparable_text(self, wanted: str) -> exp.Expression:
        """A text, to be compared with what is `comparable`."""
        if self.name == "tsql":
            return self.string(f"{wanted}|")
        return self.string(wanted) if self.collation else exp.cast(self.string(wanted), exp.DataType.Type.VARBINARY)

    def _collated(self, known: exp.Expression) -> exp.Expression:
        if self.name == "snowflake":
            return exp.Anonymous(this="COLLATE", expressions=[known, text(self.collation)])
        quoted = self.name in ("postgres", "duckdb")
        return exp.Collate(this=known, expression=exp.Identifier(this=self.collation, quoted=quoted))

    def truth(self, value: bool) -> exp.Expression:
        if self.name != "tsql":
            return exp.Boolean(this=value)
        return exp.Cast(this=_digits(str(int(value))), to=exp.DataType(this=exp.DataType.Type.BIT))

    def check_names(self, names: Sequence[str]) -> None:
        """Raises if the columns cannot be columns of one table there."""
        for name in names:
            if "\0" in name or not name:
                raise ExportError(f"databases cannot have a column named {name!r}; rename it and train again.")
            if self.longest_name is not None and len(name) > self.longest_name:
                raise ExportError(
                    f"the column {name[:40]!r}… has a name of {len(name)} characters, and {self.name} allows at most "
                    f"{self.longest_name}; rename it and train again."
                )
        seen: dict[Hashable, str] = {}
        for name in names:
            other = seen.setdefault(self.known_as(name), name)
            if other != name:
                raise ExportError(
                    f"{self.name} does not distinguish the columns {other!r} and {name!r}; rename one of them."
                )


def _cut(name: str) -> bytes:
    """PostgreSQL truncates names, between two characters, with only a notice."""
    return name.encode(errors="replace")[:LONGEST_NAME].decode(errors="ignore").encode()


def _lower_ascii(name: str) -> bytes:
    return name.encode(errors="replace").lower()


DIALECTS = {
    dialect.name: dialect
    for dialect in (
        Dialect("postgres", known_as=_cut, collation="C", fence="offset"),
        Dialect(
            "sqlite", nan="", reads_decimals=False, known_as=_lower_ascii, collation="BINARY", fence="materialized"
        ),
        Dialect("duckdb", known_as=_lower_ascii, collation="C"),
        Dialect("bigquery", nan="is_nan", longest_name=300),
        Dialect("snowflake", known_as=str, longest_name=255, collation="utf8"),
        Dialect("spark"),
        Dialect("tsql", nan="", longest_name=128, collation="Latin1_General_100_BIN2"),
    )
}


def dialect_named(name: str) -> Dialect:
    if name not in DIALECTS:
        raise ExportError(f"there is no SQL dialect {name!r} here; choose one of {', '.join(map(repr, DIALECTS))}.")
    return DIALECTS[name]


# Pieces of SQL ----------------------------------------------------------------------------------------------------


def name(text: str) -> exp.Identifier:
    return exp.Identifier(this=text, quoted=True)


def column(text: str, *, of: exp.Identifier | None = None) -> exp.Column:
    return exp.Column(this=name(text), table=of)


def text(value: str) -> exp.Expression:
    """A word of our own, safe in every dialect."""
    return exp.Literal.string(value)


def whole(value: int) -> exp.Expression:
    return exp.Paren(this=exp.Neg(this=_digits(str(-value)))) if value < 0 else _digits(str(value))


def large(value: int) -> exp.Expression:
    """A whole number of 64 bits."""
    return exp.Cast(this=_digits(str(value)), to=exp.DataType(this=exp.DataType.Type.BIGINT))


def double(value: exp.Expression, *, negative: bool = False) -> exp.Expression:
    number = exp.Cast(this=value, to=exp.DataType(this=exp.DataType.Type.DOUBLE))
    return exp.Paren(this=exp.Neg(this=number)) if negative else number


def case(*branches: tuple[exp.Expression, exp.Expression], default: exp.Expression) -> exp.Case:
    return exp.Case(ifs=[exp.If(this=condition, true=value) for condition, value in branches], default=default)


def joined(operation: type[exp.Expression], terms: Sequence[exp.Expression]) -> exp.Expression:
    """Terms under an operation, half and half: databases limit how deep an expression may be."""
    if len(terms) == 1:
        return terms[0]
    half = len(terms) // 2
    sides = [joined(operation, part) for part in (terms[:half], terms[half:])]
    left, right = (exp.Paren(this=side) if isinstance(side, operation) else side for side in sides)
    return operation(this=left, expression=right)


def _digits(text: str) -> exp.Literal:
    return exp.Literal(this=text, is_string=False)


# Numbers ----------------------------------------------------------------------------------------------------------


def _decimal(value: float) -> str:
    """The shortest decimal that is read as this float, with an exponent: without one, some databases read a decimal."""
    if value.is_integer() and value < 2**53:
        return str(int(value))
    text = repr(value)
    return text if "e" in text else f"{text}e0"


def _is_plain(value: float) -> bool:
    """Whether the shortest decimal is exactly the float, and short: no way of reading it can be wrong."""
    decimal = Decimal(repr(value))
    digits = len(decimal.as_tuple().digits)
    return decimal == Decimal(value) and digits <= _SAFE_DIGITS and 1e-15 < abs(value) < 1e15


def _quotient(value: float) -> exp.Expression:
    """The float as whole numbers divided by or multiplied with powers of two, all of them exact."""
    ratio = Fraction(abs(value))
    top, bottom = ratio.numerator, ratio.denominator
    times = 0
    while top >= 2**53:
        top //= 2
        times += 1
    made = double(_digits(str(top)))
    for power in _powers(2**times):
        made = exp.Mul(this=made, expression=power)
    for power in _powers(bottom):
        made = exp.Div(this=made, expression=power)
    made = exp.Paren(this=made)
    return exp.Paren(this=exp.Neg(this=made)) if value < 0 else made


def _powers(product: int) -> list[exp.Expression]:
    powers = []
    while product > 1:
        power = min(product, _LARGEST_POWER)
        powers.append(double(_digits(str(power))))
        product //= power
    return powers


def _number_or_null(column: exp.Expression) -> exp.Expression:
    """In SQLite any cell may hold text: text that is not a number is missing, and would be 0 by a plain cast.

    Compared with a number, text that is one as a whole becomes a number; all other text is above every number.
    """
    is_number = exp.LTE(this=column, expression=double(_digits("9e999")))
    return case((is_number, double(column.copy())), default=exp.null())


# Texts and dates --------------------------------------------------------------------------------------------------


def _replaced(given: exp.Expression, pattern: str, by: str) -> exp.Expression:
    return exp.Anonymous(this="REGEXP_REPLACE", expressions=[given, text(pattern), text(by)])


def _split(given: exp.Expression, mark: str) -> list[exp.Expression]:
    """The three pieces of a text in SQLite, by way of a list in JSON."""
    commas = exp.Anonymous(this="REPLACE", expressions=[given, text(mark), text('","')])
    return [
        exp.Anonymous(this="JSON_EXTRACT", expressions=[_printed('["%s"]', commas), text(f"$[{k}]")]) for k in range(3)
    ]


def _printed(pattern: str, *values: exp.Expression) -> exp.Expression:
    """A text in SQLite, whose parser cannot go as deep as sums of many texts would be nested."""
    return exp.Anonymous(this="PRINTF", expressions=[text(pattern), *(value.copy() for value in values)])


def _piece(given: exp.Expression, *place: exp.Expression) -> exp.Expression:
    return exp.Anonymous(this="SUBSTR", expressions=[given, *place])


def _extracted(field: str, moment: exp.Expression) -> exp.Expression:
    return exp.Extract(this=exp.var(field), expression=moment)


def _days_between(date: str, moment: exp.Expression) -> exp.Expression:
    kind = exp.DataType.Type.DATE
    return exp.DateDiff(this=exp.cast(moment.copy(), kind), expression=exp.cast(text(date), kind), unit=exp.var("DAY"))


def _concat(*parts: exp.Expression) -> exp.Expression:
    return exp.Anonymous(this="CONCAT", expressions=list(parts))
