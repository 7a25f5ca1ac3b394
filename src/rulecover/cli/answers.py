"""Answers for the rows of a table, as columns, and where they are written to."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rulecover.cli.chunks import PARQUET, parquet
from rulecover.cli.model_file import Model
from rulecover.export.conditions import Script
from rulecover.export.model import Classes
from rulecover.files import whole_file

#: What a spreadsheet takes for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

Writer = Callable[[Any], None]


def answers(model: Model, table: Any, *, keep: Sequence[str], first: int) -> Any:
    """The columns to keep, beside the prediction, its probabilities, the rules that fired, and who decided."""
    rules = model.rules
    X = model.rows(table, first)
    tally, missed = rules.tally(X)
    values = [rules.answer.decided(tally)]
    if isinstance(rules.answer, Classes):
        values += list((tally / rules.answer.say(tally)[:, None]).T)
    values += [fired_texts(rules.apply(X)), np.where(missed, rules.fallback, "rules")]
    named = dict(zip(Script(rules).outputs, values, strict=True))
    return pd.DataFrame({name: table[name].to_numpy() for name in keep} | named)


def fired_texts(covered: Any) -> Any:
    """The numbers of the rules that cover each row, such as ``0,3``; each combination is written once."""
    packed = np.packbits(covered.toarray(), axis=1)
    distinct, which = np.unique(packed, axis=0, return_inverse=True)
    bits = np.unpackbits(distinct, axis=1, count=covered.shape[1])
    texts = np.array([",".join(map(str, np.flatnonzero(row))) for row in bits], dtype=object)
    return texts[which.ravel()]


@contextmanager
def written_to(out: Path, *, exact: bool) -> Iterator[Writer]:
    """A function that writes one part of the answers after the other; a file is there whole or not at all."""
    if out.suffix.lower() in PARQUET:
        with whole_file(out, binary=True) as file, _parquet_writer(file) as writer:
            yield writer
    elif str(out) == "-":
        yield _csv_writer(sys.stdout, exact=exact)
        sys.stdout.flush()
    else:
        with whole_file(out) as file:
            yield _csv_writer(file, exact=exact)


def _csv_writer(file: Any, *, exact: bool) -> Writer:
    started = False

    def write(part: Any) -> None:
        nonlocal started
        shown = part if exact else harmless(part)
        shown.to_csv(file, index=False, header=not started, lineterminator="\n")
        started = True

    return write


@contextmanager
def _parquet_writer(file: Any) -> Iterator[Writer]:
    import pyarrow

    pq = parquet()
    writer: Any = None

    def write(part: Any) -> None:
        nonlocal writer
        table = pyarrow.Table.from_pandas(part, preserve_index=False)
        writer = writer or pq.ParquetWriter(file, table.schema)
        writer.write_table(table.cast(writer.schema))

    yield write
    if writer is not None:
        writer.close()


def harmless(table: Any) -> Any:
    """The table with an apostrophe before every text that a spreadsheet would run as a formula."""
    made = {name: table[name] if pd.api.types.is_numeric_dtype(table[name]) else _marked(table[name]) for name in table}
    return pd.DataFrame({marked(str(name)): column for name, column in made.items()})


def _marked(column: Any) -> Any:
    codes, known = pd.factorize(column)  # each text is looked at once, however often it occurs
    return np.array([*(marked(text) for text in known), None], dtype=object)[codes]


def marked(text: Any) -> Any:
    """The text, after an apostrophe if it is a formula; a number below zero is none."""
    if not isinstance(text, str) or not text.startswith(_FORMULA):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text
