"""All that a fitted model says of itself and of rows: files of text by name."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from record_data import Data
from record_names import accepted
from record_text import error_text, in_json, masked

from rulecover import Summary, export, read_trees, write_report

View = Callable[[Any, Data], str]

DIALECTS = ("postgres", "sqlite", "duckdb", "bigquery", "snowflake", "spark", "tsql")

#: What fitted models know, where they do.
_FITTED = (
    "classes_",
    "n_features_in_",
    "feature_names_in_",
    "n_candidate_rules_",
    "n_rules_",
    "n_rmp_calls_",
    "min_samples_",
    "model_score_",
    "pruned_",
    "uncovered_",
    "z_",
    "path_",
    "history_",
)


def write_views(model: Any, data: Data, folder: Path, scratch: Path) -> None:
    """Writes each view to a file of its name; one that fails, as its error. Warnings come last."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        for name, view in views_of(model, scratch).items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(_said(view, model, data).replace(str(scratch), "FOLDER"), encoding="utf-8")
    said = sorted({f"{warning.category.__name__}: {warning.message}" for warning in heard})
    (folder / "warnings.txt").write_text(masked("\n".join(said)), encoding="utf-8")


def _said(view: View, model: Any, data: Data) -> str:
    try:
        return view(model, data)
    except Exception as error:  # whatever is raised is what is to be compared
        return error_text(error)


def views_of(model: Any, scratch: Path) -> dict[str, View]:
    """The views that there are of this model; a folder takes what must be a file first."""
    if not hasattr(model, "rules_"):
        return LINEAR_VIEWS
    found = RULE_VIEWS | {"report.html": partial(report, folder=scratch)}
    return found | {"problem.json": problem} if hasattr(model, "covering_problem") else found


# What it knows and answers ----------------------------------------------------------------------------------------


def fitted(model: Any, data: Data) -> str:
    known = {name: getattr(model, name) for name in _FITTED if hasattr(model, name)}
    certificate = getattr(model, "certificate_", None)
    if certificate is not None:
        known |= {"certificate": str(certificate), "certificate_": vars(certificate)}
    return in_json(known)


def answers(model: Any, data: Data) -> str:
    """Predictions and all that goes with them, for the rows to ask about and for a part of the path or the pool."""
    said: dict[str, Any] = {"predict": model.predict(data.asked), "score": model.score(data.asked, data.truth)}
    for name in ("predict_proba", "predict_interval", "missed", "fidelity", "staged_predict", "decision_function"):
        if hasattr(model, name):
            said[name] = _result(getattr(model, name), data.asked)
    if hasattr(model, "at"):
        said["at 1"] = _result(lambda rows: model.at(1).predict(rows), data.asked)
    return in_json(said)


def _result(method: Callable[[Any], Any], rows: Any) -> Any:
    try:
        result = method(rows)
        return list(result) if hasattr(result, "__next__") else result
    except Exception as error:  # recorded, as the other answers are
        return error_text(error)


def covered(model: Any, data: Data) -> str:
    """Which rule covers which row."""
    where = model.apply(data.asked).tocoo()
    return in_json({"kind": str(where.dtype), "shape": where.shape, "pairs": _pairs(where)})


def _pairs(where: Any) -> list[str]:
    """The rules of each row that has any."""
    rows: dict[int, list[int]] = {}
    for row, rule in sorted(zip(where.row.tolist(), where.col.tolist(), strict=True)):
        rows.setdefault(row, []).append(rule)
    return [f"{row}: {rules}" for row, rules in rows.items()]


def why(model: Any, data: Data) -> str:
    return in_json(model.why(data.asked))


def problem(model: Any, data: Data) -> str:
    """The covering problem of its rules."""
    given = {} if data.weight is None else {"sample_weight": data.weight}
    asked = model.covering_problem(data.X, data.y, **given)
    return in_json({"cost": np.asarray(asked.cost), "demand": np.asarray(asked.demand)})


# What is printed ------------------------------------------------------------------------------------------------


def printed(model: Any, data: Data) -> str:
    """The rules in every form for people, one after the other."""
    rules = model.rules_
    forms: dict[str, Callable[[], Any]] = {
        "print": lambda: rules,
        "repr": lambda: repr(rules),
        "markdown": rules.to_markdown,
        "latex": rules.to_latex,
        "csv": rules.to_csv,
        "text": lambda: "\n".join(rules.to_text()),
        "sentences": lambda: "\n".join(rules.sentences()),
        "by class": rules.by_class,
        "by class, markdown": lambda: rules.by_class().to_markdown(),
        "by class, sentences": lambda: sentences_by_class(rules),
        "rules": lambda: "\n".join(f"{rule} | {rule.text}" for rule in rules),
        "first": lambda: rules[:2],
    }
    if hasattr(model, "path_"):
        forms["votes"] = lambda: model.vote_
    return "".join(f"--- {name}\n{_result(lambda _, form=form: str(form()), None)}\n" for name, form in forms.items())


def sentences_by_class(rules: Any) -> tuple[tuple[str, ...], ...]:
    """The sentences of each class; they were an attribute before they were a method."""
    told = rules.by_class().sentences
    return tuple(map(tuple, told() if callable(told) else told))


def frame(model: Any, data: Data) -> str:
    return in_json(model.rules_.to_frame())


def html(model: Any, data: Data) -> str:
    return str(model.rules_._repr_html_())


def summary(model: Any, data: Data) -> str:
    """The plain figures of a summary."""
    summed = _summary(model, data)
    names = (
        "title",
        "scores",
        "missed",
        "fidelity",
        "fallback",
        "n_candidates",
        "n_held_out",
        "notes",
        "votes",
        "path",
    )
    return in_json({name: getattr(summed, name) for name in names} | {"scores": [vars(s) for s in summed.scores]})


def report(model: Any, data: Data, folder: Path) -> str:
    return write_report(_summary(model, data), folder / "report.html").read_text(encoding="utf-8")


def _summary(model: Any, data: Data) -> Summary:
    others = {"the same again": model}
    compared = {accepted(Summary.of, "compare_with", "beside"): others}
    return Summary.of(model, data.asked, data.truth, title="Recorded <data>", notes=["A note."], **compared)


def trees(model: Any, data: Data) -> str:
    """The leaves of the source model's trees as rules."""
    return "\n".join(read_trees(model.estimator_).rules().to_text()) + "\n"


# What is shipped ------------------------------------------------------------------------------------------------


def exported(name: str, model: Any, data: Data) -> str:
    return str(getattr(export, name)(model))


def polars(model: Any, data: Data) -> str:
    return str(export.to_polars(model).meta.serialize(format="json"))


def sql(dialect: str, model: Any, data: Data) -> str:
    query = export.to_sql(model, ("schema", "table"), dialect=dialect, keep=["id"])
    return f"{query}\n\n{export.to_sql_expression(model, 'table', dialect=dialect)}\n"


def loaded(model: Any, data: Data) -> str:
    """What a model says that was read from its JSON, and whether it would be written as before."""
    text = export.to_json(model)
    read = export.from_json(text)
    said = {name: _result(getattr(read, name), data.asked) for name in ("predict", "predict_proba", "missed", "why")}
    return in_json(said | {"same text": export.to_json(read) == text})


_CODE = {
    "model.json": "to_json",
    "model.py": "to_python",
    "model.pandas.py": "to_pandas",
    "model.js": "to_javascript",
    "model.pmml": "to_pmml",
    "model.onnx.txt": "to_onnx",
}

RULE_VIEWS: dict[str, View] = {
    "fitted.json": fitted,
    "answers.json": answers,
    "covered.json": covered,
    "why.json": why,
    "rules.txt": printed,
    "rules.frame.json": frame,
    "rules.html": html,
    "summary.json": summary,
    "trees.txt": trees,
    "loaded.json": loaded,
    **{f"export/{file}": partial(exported, name) for file, name in _CODE.items()},
    "export/model.polars.json": polars,
    **{f"export/model.{dialect}.sql": partial(sql, dialect) for dialect in DIALECTS},
}


def weights(model: Any, data: Data) -> str:
    """What the rules weigh in a linear model."""
    last = model[-1]
    return in_json(
        {"coef_": last.coef_, "intercept_": last.intercept_, "names": list(model[:-1].get_feature_names_out())}
    )


def columns(model: Any, data: Data) -> str:
    return in_json(model[:-1].transform(data.asked).toarray())


LINEAR_VIEWS: dict[str, View] = {"answers.json": answers, "weights.json": weights, "columns.json": columns}
