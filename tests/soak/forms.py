"""The same rows given in other forms: arrays in another order, frames of other libraries, tables in blocks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from comparing import answers, assert_close, assert_same
from soak_cases import OURS, Case, Fitted, estimator_of
from soak_tables import one_of

from rulecover import open_table
from rulecover.setcover import Greedy

#: For each kind of rows the forms in which the same rows can be given, too.
FORMS: dict[str, tuple[str, ...]] = {
    "array": (
        *("columns first", "every second row", "lists"),
        *("read only", "in a file", "in other byte order", "objects"),
    ),
    "float32": ("float32, columns first", "float32, in a file"),
    "gaps": ("gaps, columns first", "gaps, in a file"),
    "sparse": ("sparse columns", "sparse cells"),
    "frame": ("polars", "arrow", "nullable", "frame under another index"),
    "frame with gaps": (
        *("polars with gaps", "arrow with gaps", "nullable with gaps"),
        "frame with gaps under another index",
    ),
    "categories": ("categories under another index",),
    "polars": ("frame", "arrow"),
    "words": ("polars words", "arrow words", "nullable words", "words under another index"),
    "texts": ("polars texts", "arrow texts", "texts under another index"),
}


#: Their scaler adds up a column in the order of the memory, so that it may be trained to other last digits.
_SCALE = ("one-hot pipeline", "scaled pipeline")
#: Encoders of scikit-learn, which tell NaN, None and NA apart.
_ENCODE_WORDS = ("one-hot pipeline", "ordinal pipeline")


def the_same_rows_in_another_form_are_the_same_rows(f: Fitted) -> None:
    """To be asked about, and to be fitted to."""
    forms = FORMS.get(f.case.kind, ())
    if not forms or (f.case.source in _ENCODE_WORDS and f.case.kind == "words"):
        return
    form = one_of(np.random.default_rng(f.case.seed), forms)
    other = replace(f.case, kind=form)
    assert_close(answers(f.model, other.data.asked), answers(f.model, f.data.asked), 0.0)
    np.testing.assert_array_equal(f.model.apply(other.data.asked).toarray(), f.model.apply(f.data.asked).toarray())
    if f.case.explains or f.case.source not in _SCALE:
        assert_same(f, f.again(other))


def a_table_in_blocks_is_the_same_rows(f: Fitted) -> None:
    """Covers and paths of a given size from blocks of a frame, one of them empty."""
    if not _can_be_read_in_blocks(f.case):
        return
    case = replace(f.case, settings=f.case.settings | _IN_BLOCKS.get(f.case.method, {}))
    columns = {_TARGET: case.y} if case.weight is None else {_TARGET: case.y, _WEIGHT: case.weight}
    table = f.data.X.assign(**columns)
    cut = 1 + case.seed % (len(table) - 1)
    blocks = [table[:cut], table[:0], table[cut:]]
    opened = open_table(blocks, target=_TARGET, weight=None if case.weight is None else _WEIGHT)
    assert_same(replace(f, model=f.again(case)), estimator_of(case, f.source).fit(opened), 1e-9)


_TARGET, _WEIGHT = "what is to be predicted", "what a row counts"
#: What is chosen in folds is chosen on a sample of a table.
_IN_BLOCKS: dict[str, dict[str, Any]] = {"RulePath": {"choose": "last", "within": None}}


def _can_be_read_in_blocks(case: Case) -> bool:
    settings = case.settings
    return (
        case.method in ("MIRCO", "RulePath")
        and case.source not in OURS  # which need all rows in memory
        and case.kind in ("frame", "frame with gaps", "words", "texts")
        and case.groups is None
        and settings.get("time_limit") is None
        and settings.get("prune") != "held-out"
        and not isinstance(settings.get("demand"), np.ndarray)
        and (case.method == "MIRCO" or settings.get("model_share") is not None)  # the share by noise needs all, too
        and (case.method == "RulePath" or (case.target == "classes" and _is_greedy(settings.get("solver", "greedy"))))
    )


def _is_greedy(solver: Any) -> bool:
    return solver == "greedy" or (isinstance(solver, Greedy) and solver.bound == "fit")
