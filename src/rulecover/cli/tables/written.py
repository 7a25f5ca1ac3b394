"""Columns of a file that hold numbers as people write them, made numbers; and codes that only look like numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from rulecover.cli.errors import CommandError
from rulecover.cli.tables.reading import Reading, naming_missing
from rulecover.data.columns import Columns
from rulecover.data.written_numbers import Mixed, Notation, Undecided, is_code, marks_among, odd_one_out, recognise
from rulecover.voting.vote import Vote

#: The columns of these names, with their cells as texts.
TextsOf = Callable[[Sequence[str]], Any]


@dataclass(frozen=True, eq=False)
class ReadFrame:
    """A data frame that was read from a file.

    Parameters
    ----------
    frame
        Its columns.
    notations
        How numbers are written, in columns where they are not written as programs write them.
    notes
        What was recognised, in sentences.
    """

    frame: Any
    notations: Mapping[str, Notation]
    notes: tuple[str, ...]


def with_numbers(frame: Any, target: str, reading: Reading, texts_of: TextsOf | None = None) -> ReadFrame:
    """The frame with numbers in place of the texts that are numbers to people.

    Parameters
    ----------
    frame
        As pandas reads a file.
    target
        The column that is to be predicted, which must be clear.
    reading
        The marks of numbers, as far as they were named.
    texts_of
        Reads columns again, as texts; without it, columns that pandas has taken for numbers stay what they are.
    """
    texts = {str(name): _distinct(frame[name]) for name in frame.columns if _may_be_written(frame[name])}
    marks = {name: (() if name == target else marks_among(cells)) for name, cells in texts.items()}
    marks = {name: (*mine, *{*texts[name]}.intersection(reading.missing_values)) for name, mine in marks.items()}
    texts = {name: [text for text in cells if text.strip() not in marks[name]] for name, cells in texts.items()}
    found = {name: _recognised(cells, reading) for name, cells in texts.items()}
    floats = [str(name) for name in frame.columns if pd.api.types.is_float_dtype(frame[name])]
    decimal = reading.decimal or _decimal_of_others(texts, found)
    undecided = [name for name, each in found.items() if isinstance(each, Undecided)]
    if decimal is None and undecided and texts_of is not None and _shows_point(texts_of(floats)):
        decimal = "."
    clear = replace(reading, decimal=decimal) if decimal != reading.thousands else reading
    found |= {name: _recognised(texts[name], clear) for name in undecided}
    if decimal == "," and texts_of is not None:
        again = texts_of(floats)
        grouped = {name: _recognised(cells, clear) for name, cells in _columns(again).items()}
        grouped = {name: each for name, each in grouped.items() if isinstance(each, Notation) and each.thousands}
        frame, found = _replaced(frame, {name: again[name] for name in grouped}), found | grouped
    doubts = {name: each for name, each in found.items() if isinstance(each, Undecided) and each.likely is not None}
    found |= {name: each.likely for name, each in doubts.items()}
    numbers = {name: each for name, each in found.items() if name in marks and isinstance(each, Notation)}
    found |= {name: replace(each, missing=marks[name]) for name, each in numbers.items()}
    read = _converted(frame, found, target, doubts)
    gaps = {name: [mark for mark in marks[name] if mark not in reading.missing_values] for name in numbers}
    return replace(read, notes=(*read.notes, *(_marked(frame[name], mine) for name, mine in gaps.items() if mine)))


def _recognised(cells: Sequence[str], reading: Reading) -> Notation | Undecided | Mixed | None:
    return recognise(cells, decimal=reading.decimal, thousands=reading.thousands)


def with_codes(frame: Any, texts_of: TextsOf) -> ReadFrame:
    """The frame with texts in place of numbers that are codes, such as zip codes: some begin with a zero."""
    numeric = [str(name) for name in frame.columns if pd.api.types.is_numeric_dtype(frame[name])]
    again = texts_of([name for name in numeric if not pd.api.types.is_bool_dtype(frame[name])])
    first = {name: next(filter(is_code, cells), None) for name, cells in _columns(again).items()}
    codes = {name: code for name, code in first.items() if code is not None}
    why = "begins with a zero, as codes do"
    notes = [f"column {name!r} is taken as text: {code!r} {why}." for name, code in codes.items()]
    return ReadFrame(_replaced(frame, {name: again[name] for name in codes}), {}, tuple(notes))


def as_numbers(column: Any, reading: Reading) -> Any:
    """A column in which numbers are expected; as numbers if it holds some as people write them."""
    if not _may_be_written(column):
        return column
    found = _recognised(_distinct(column), reading)
    found = found.likely or found if isinstance(found, Undecided) else found
    if isinstance(found, (Undecided, Mixed)):
        raise CommandError(f"column {column.name!r} cannot be read as numbers: {_reason(found)}.")
    return column if found is None else _numbers(column, found)[0].rename(column.name)


def _replaced(frame: Any, columns: Mapping[str, Any]) -> Any:
    frame = frame.copy(deep=False)
    for name, column in columns.items():
        frame[name] = column
    return frame


def _converted(frame: Any, found: Mapping[str, Any], target: str, doubts: Mapping[str, Undecided]) -> ReadFrame:
    """The frame with the numbers that were found; in some columns they are likely, and in doubt."""
    numbers, notations, notes = {}, {}, []
    for name, each in found.items():
        if isinstance(each, Notation) and not _is_plain(frame[name], each):
            numbers[name], example = _numbers(frame[name], each)
            notations[name] = each
            notes += [f"column {name!r} is read as numbers: {example}{_otherwise(doubts.get(name))}."] * bool(example)
            continue
        reason = _doubt(frame[name], each)
        if reason and name == target:
            raise CommandError(f"the target {name!r} cannot be read as numbers: {reason}.")
        if reason:
            notes.append(f"column {name!r} is taken as text: {reason}.")
    return ReadFrame(_replaced(frame, numbers), notations, tuple(notes))


def _is_plain(column: Any, notation: Notation) -> bool:
    """Whether texts are numbers as programs write them: whoever stores them as texts has a reason."""
    return not notation.missing and _are_plain(_distinct(column), notation)


def _are_plain(cells: Sequence[str], notation: Notation) -> bool:
    plain = pd.to_numeric(pd.Series(cells, dtype=object), errors="coerce").to_numpy(dtype="float64")
    return bool((plain == notation.read(cells)).all())


def _doubt(column: Any, found: Notation | Undecided | Mixed | None) -> str:
    """Why a column of texts is not read as numbers, although it looks so; empty if it does not."""
    if isinstance(found, Notation):
        return ""
    if found is not None:
        return _reason(found)
    cells = _distinct(column)
    odd = odd_one_out(cells)
    if odd is None:
        return ""
    number = next(text for text in cells if recognise([text]) is not None)
    row = int((column == odd).to_numpy().argmax()) + 1
    return (
        f"it holds numbers such as {number!r}, but {odd[:40]!r} in data row {row}; correct the cell, or leave it empty "
        f"or add {naming_missing([odd])} if nothing is known"
    )


def _reason(doubt: Undecided | Mixed) -> str:
    if isinstance(doubt, Mixed):
        return f"{doubt.text!r} and {doubt.other!r} are in different units; write all cells alike"
    values = " or ".join(f"{value:.12g}" for value in doubt.values)
    return f"{doubt.text!r} may be {values}; --decimal . or --decimal , decides"


def _otherwise(doubt: Undecided | None) -> str:
    """What a column of likely numbers may be as well, to be put behind what it is."""
    if doubt is None or doubt.likely is None:
        return ""
    mark = doubt.likely.thousands
    other = f"--decimal {mark} reads {doubt.text!r} as {doubt.unlikely_value:.12g}"
    return f", so {mark!r} is taken to separate thousands; {other}"


def _marked(column: Any, marks: Sequence[str]) -> str:
    """What stands for a missing value in a column, in a sentence."""
    cells = int(column.dropna().astype(str).str.strip().isin(marks).sum())
    shown = f"{' or '.join(map(repr, marks))} is taken as missing ({cells:,} cell{'s' * (cells > 1)})"
    return f"column {column.name!r} is read as numbers: {shown}; write 0 there if it means that."


def _numbers(column: Any, notation: Notation) -> tuple[Any, str]:
    """The numbers of a column, and how one that is not plain is read, in words; empty if all are plain."""
    which, texts = pd.factorize(column)
    values = notation.read([_shown(text) for text in texts])
    known = [place for place, text in enumerate(texts) if not notation.is_missing(str(text))]
    example = max(known, key=lambda place: (len(str(texts[place]).strip("0123456789")), -place))
    numbers = pd.Series([*values, float("nan")], dtype="float64").to_numpy()[which]
    plain = _are_plain([text for text in map(str, texts[known]) if text != "None"], notation)
    return pd.Series(numbers, index=column.index), "" if plain else f"{texts[example]!r} is {values[example]:.12g}"


def _shown(text: Any) -> str:
    return "" if text == "None" else str(text)


def _may_be_written(column: Any) -> bool:
    """Whether a column holds texts."""
    return pd.api.types.infer_dtype(column, skipna=True) == "string" and not isinstance(
        column.dtype, pd.CategoricalDtype
    )


def _distinct(column: Any) -> list[str]:
    """The different cells; None is what Python writes for missing values."""
    return [text for text in column.dropna().unique().tolist() if text != "None"]


def _columns(frame: Any) -> dict[str, list[str]]:
    return {str(name): _distinct(frame[name]) for name in frame.columns}


def _decimal_of_others(texts: Mapping[str, list[str]], found: Mapping[str, Any]) -> str | None:
    """The decimal mark of the columns in which it is clear, if they agree."""
    marks = {
        each.decimal
        for name, each in found.items()
        if isinstance(each, Notation) and (each.decimal == "," or recognise(texts[name], decimal=",") is None)
    }
    return marks.pop() if len(marks) == 1 else None


def _shows_point(frame: Any) -> bool:
    """Whether some column of numbers can only be written with a decimal point."""
    return any(recognise(cells, decimal=",") is None for cells in _columns(frame).values() if cells)


def without_missing(frame: Any, texts: Collection[str]) -> Any:
    """A frame of a file with types, without the values that are written as one of these texts."""
    numbers = pd.to_numeric(pd.Series([*texts], dtype=object), errors="coerce").dropna().tolist()
    for name in frame.columns if texts else ():
        column = frame[name]
        of_numbers = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
        unknown = column.isin(numbers if of_numbers else list(texts))
        frame[name] = column.mask(unknown) if unknown.any() else column
    return frame


def noted(vote: Vote, table: Columns, notations: Mapping[str, Notation], missing_values: tuple[str, ...]) -> Vote:
    """The model, with how dates and numbers are written in the table, and what stands for missing values."""
    columns = vote.rules.columns
    dates = {part.name: part.written for part in table.parts.values()}
    parts = {f: replace(part, written=dates.get(part.name, part.written)) for f, part in columns.parts.items()}
    numbers = {**{table.names[f]: notation for f, notation in table.notations.items()}, **notations}
    known = {f: numbers[name] for f, name in enumerate(columns.names) if name in numbers}
    columns = replace(columns, parts=parts, notations=known, missing_values=missing_values)
    return replace(vote, rules=replace(vote.rules, columns=columns))
