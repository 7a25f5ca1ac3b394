"""Exported models, executed: each function gives the answers for the rows of a case as a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pandas as pd
import polars as pl
from databases import Database
from exported import Case

from rulecover.export import (
    from_json,
    to_json,
    to_onnx,
    to_pandas,
    to_polars,
    to_python,
    to_sql,
    to_sql_expression,
)
from rulecover.export.conditions import Script


def executed(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(source, "exported", "exec"), names)
    return names


def by_python(case: Case) -> list[tuple[Any, ...]]:
    predict = executed(to_python(case.model))["predict"]
    answers = [predict(row) for row in case.rows()]
    return [
        (each["prediction"], *each.get("probabilities", ()), ",".join(map(str, each["rules"])), each["decided_by"])
        for each in answers
    ]


def by_pandas(case: Case) -> list[tuple[Any, ...]]:
    frame = pd.DataFrame(case.X, columns=list(case.rules.rules.feature_names), index=np.arange(len(case.X)) * 3)
    answers = executed(to_pandas(case.model))["predict"](frame)
    assert answers.index.equals(frame.index)
    return list(answers.itertuples(index=False, name=None))


def by_polars(case: Case) -> list[tuple[Any, ...]]:
    frame = pl.DataFrame(case.X, schema=list(case.rules.rules.feature_names))
    return frame.select(to_polars(case.model)).unnest("answer").rows()


def by_onnx(case: Case) -> list[tuple[Any, ...]]:
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(to_onnx(case.model).SerializeToString(), settings)
    outputs = dict(
        zip([output.name for output in session.get_outputs()], session.run(None, {"X": case.X}), strict=True)
    )
    shares = outputs.get("probabilities", np.zeros((len(case.X), 0))).tolist()
    texts = [",".join(map(str, np.flatnonzero(row))) for row in outputs["rules"]]
    by = np.where(outputs["missed"], case.rules.fallback.name, "rules").tolist()
    answers = outputs["prediction"].tolist()
    return [(answer, *each, text, b) for answer, each, text, b in zip(answers, shares, texts, by, strict=True)]


def by_json(case: Case) -> list[tuple[Any, ...]]:
    loaded = from_json(to_json(case.model))
    return Case(loaded, loaded, case.X).table()


def by_query(case: Case, kind: type[Database], *, null: bool = False) -> list[tuple[Any, ...]]:
    database = kind()  # type: ignore[call-arg]  # each connects by itself
    query = to_sql(case.model, "data", dialect=database.dialect, keep=["id"])
    return database.answers(query, "data", case, null=null)


def by_expression(case: Case, kind: type[Database]) -> list[tuple[Any, ...]]:
    """Each column of the answers by an expression of its own, two of them in a query."""
    database = kind()  # type: ignore[call-arg]
    columns = Script(case.rules).outputs
    each = [to_sql_expression(case.model, "t", dialect=database.dialect, column=column) for column in columns]
    # The planner of a database keeps all expressions of a query in memory: those of hundreds of rules take gigabytes.
    pairs = [each[start : start + 2] for start in range(0, len(each), 2)]
    found = [database.answers(f"SELECT t.id, {', '.join(pair)} FROM data AS t", "data", case) for pair in pairs]
    return [tuple(cell for part in row for cell in part) for row in zip(*found, strict=True)]
