"""Trees behind a scikit-learn Pipeline or ColumnTransformer, in terms of the columns in front of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.utils.validation import check_is_fitted

from rulecover.data.columns import SourceColumns
from rulecover.data.encoder import TableEncoder, rows_at_a_time
from rulecover.data.frames import kinds_of, missing_values, names_of_model
from rulecover.exceptions import MismatchedDataError, UnreadableModelError
from rulecover.readers import read_trees, unreadable
from rulecover.readers.sklearn.encoders import encoded, is_missing, without_warnings
from rulecover.readers.sklearn.gaps import distinguish_missing
from rulecover.readers.sklearn.models import best_of, rows_in_float32, takes_missing
from rulecover.readers.sklearn.origins import (
    REFUSED,
    CategoryOrigin,
    Filled,
    NumberOrigin,
    Origin,
    Scaling,
    as_float32,
    missing_or_not,
)
from rulecover.readers.sklearn.rewriting import conditions, on_original_columns
from rulecover.readers.sklearn.tables import EncodedAgain, date_parts, table_columns, table_origins
from rulecover.readers.sklearn.transformed import Blocks, LeavesByBlocks, TransformedAgain
from rulecover.trees.tree import Tree, TreeEnsemble
from rulecover.typing import Array, Floats, Ints

#: So many values are in a block of transformed rows, which then stays in the caches, but never fewer rows than this.
_VALUES, _FEWEST = 2**21, 256
#: Rows of more columns, or of this many for each tree, are not made again: that would take more room, or time, than to
#: follow the trees in our own code.
_WIDEST, _NARROW, _FOR_A_TREE = 2**16, 128, 20

#: Origins of all columns, or ``None`` once a step has made something else of them.
Origins = list[Origin] | None


def read_pipeline(model: Pipeline) -> TreeEnsemble:
    """The trees of a pipeline's last step, on the columns that the pipeline is given.

    Splits of columns that come from one original column by scaling, filling or encoding are rewritten exactly. Others
    stay splits of the transformed column, which comes after the original ones under its name.
    """
    check_is_fitted(model)
    final = best_of(model.steps[-1][1])
    inner = _read_last(model, final)
    n_given = _n_given(model, inner.n_features)
    origins = _through_steps([step for _, step in model.steps[:-1]], [NumberOrigin(f) for f in range(n_given)])
    origins = [None] * inner.n_features if origins is None else origins
    with_gaps = takes_missing(final)
    origins, gaps = distinguish_missing(_with_all_labels(origins), inner.used_columns.tolist(), with_gaps)
    encoder = _table_encoder(model)
    always = () if encoder is None else tuple(date_parts(encoder))
    trees, made = on_original_columns(inner.trees, origins, n_given, always)
    known = conditions([origins[k] for k in sorted(set(inner.used_columns.tolist()) - set(made))], with_gaps)
    if encoder is not None:
        columns = replace(table_columns(encoder), required=known["required"])
    else:
        columns = SourceColumns(
            n_given,
            names_of_model(model),
            **known,
            gaps=gaps,
            made=_made_names(model, made),
            make=TransformedColumns(model[:-1], tuple(made)) if made else None,
        )
    return TreeEnsemble(
        trees=tuple(trees),
        **_routes(encoder, inner, trees, origins, {column: n_given + k for k, column in enumerate(made)}),
        n_features=n_given,
        feature_names=columns.names,
        categories=columns.categories,
        output=inner.output,
        columns=columns,
        weight=inner.weight,
    )


def _read_last(model: Pipeline, final: Any) -> TreeEnsemble:
    """The trees of the last step, on the columns that the steps before it make."""
    try:
        inner = read_trees(final)
    except UnreadableModelError as error:
        raise unreadable(model, f" of {type(final).__name__}") from error
    labelled = inner.categories and not _hands_over_codes(model, inner)
    if labelled or inner.zero_missing or not (inner.columns is None or inner.columns.free):
        raise unreadable(model, f" of {type(final).__name__} (which has its own labels or missing values)")
    if gives_sparse([step for _, step in model.steps[:-1]]):
        _check_takes_sparse(model, inner)
    return inner


def _check_takes_sparse(model: Pipeline, inner: TreeEnsemble) -> None:
    try:
        inner.prepare(scipy.sparse.csr_array((1, inner.n_features)))
    except MismatchedDataError as error:
        raise UnreadableModelError(
            f"the pipeline in front of {type(model.steps[-1][1]).__name__} gives sparse rows: {error} Train with "
            "OneHotEncoder(sparse_output=False) and ColumnTransformer(sparse_threshold=0)."
        ) from None


def gives_sparse(steps: Iterable[Any], sparse: bool = False) -> bool:
    """Whether fitted transformers, one after the other, make sparse rows of dense ones."""
    for step in steps:
        if isinstance(step, Pipeline):
            sparse = gives_sparse([each for _, each in step.steps], sparse)
        elif isinstance(step, ColumnTransformer):
            sparse = bool(step.sparse_output_)
        elif isinstance(step, OneHotEncoder):
            sparse = bool(step.sparse_output)
    return sparse


def _routes(
    encoder: TableEncoder | None,
    inner: TreeEnsemble,
    trees: Sequence[Tree],
    origins: Sequence[Origin],
    places: Mapping[int, int],
) -> dict[str, Any]:
    """How rows go through the trees: by the compiled code of the inner model, on rows as its steps transform them."""
    kind: type[np.floating[Any]] = np.float32 if inner.prepare is rows_in_float32 else np.float64
    at_a_time = rows_at_a_time(inner.n_features)
    if encoder is not None and inner.keeps_columns and at_a_time is None:
        encoded = EncodedAgain(encoder, kind)
        return {"routes": inner.routes, "prepare": partial(_prepared_by, inner.prepare, encoded), "encodes": True}
    if inner.n_features > min(_WIDEST, max(_NARROW, _FOR_A_TREE * len(trees))):
        return {"routes": tuple(tree.apply for tree in trees), "prepare": unchanged}
    again: Blocks = (
        TransformedAgain.of(origins, inner.used_columns.tolist(), places, kind)
        if encoder is None
        else EncodedAgain(encoder, kind)
    )
    leaves = LeavesByBlocks(again, inner, max(_FEWEST, _VALUES // max(1, inner.n_features)))
    return {
        "routes": tuple(partial(_column, tree) for tree in range(len(trees))),
        "prepare": partial(leaves, len(trees)),
        "prepare_first": leaves,
        "keeps_columns": False,
    }


def _prepared_by(prepare: Callable[[Any], Any], encoded: EncodedAgain, X: Floats) -> Any:
    return prepare(encoded(X))


def _column(tree: int, leaves: Ints) -> Ints:
    return leaves[:, tree].astype(np.intp)


def _table_encoder(model: Pipeline) -> TableEncoder | None:
    """The encoder, if there is nothing else in front of the trees."""
    first = model.steps[0][1]
    return first if len(model.steps) == 2 and type(first) is TableEncoder else None


def _hands_over_codes(model: Pipeline, inner: TreeEnsemble) -> bool:
    """Whether an encoder in front hands over categories, whose labels in the model are then their codes."""
    encoder = _table_encoder(model)
    known = inner.categories.values()
    return (
        encoder is not None and encoder.native_categories and all(list(each) == [*range(len(each))] for each in known)
    )


def unchanged(X: Any) -> Any:
    return X


# Where columns come from ----------------------------------------------------------------------------------------------


def _through_steps(steps: Iterable[Any], origins: Origins) -> Origins:
    for step in steps:
        if origins is None:
            return None
        origins = _through(step, origins)
    return origins


def _through(step: Any, origins: list[Origin]) -> Origins:
    """The origins of what a fitted transformer makes of columns whose origins are known."""
    if step is None or step == "passthrough" or (isinstance(step, FunctionTransformer) and step.func is None):
        return origins
    if isinstance(step, Pipeline):
        return _through_steps([each for _, each in step.steps], origins)
    if isinstance(step, SelectorMixin):
        return [origin for origin, kept in zip(origins, step.get_support(), strict=True) if kept]
    for kind, through in _KNOWN.items():
        if type(step) is kind:  # a subclass may do anything
            return through(step, origins)
    return None


def _through_columns(step: ColumnTransformer, origins: list[Origin]) -> Origins:
    size = max(where.stop for where in step.output_indices_.values())
    out: list[Origin] = [None] * size
    for name, transformer, chosen in step.transformers_:
        where = step.output_indices_[name]
        flat = np.ndim(chosen) == 0 and not isinstance(chosen, slice)  # one column of text, for instance
        if flat or where.stop == where.start:
            continue
        mine = _through(transformer, [origins[f] for f in chosen_columns(chosen, step)])
        if mine is not None and len(mine) == where.stop - where.start:
            out[where] = mine
    return [None if each is None else replace(each, sparse=step.sparse_output_) for each in out]


def _of_table(step: TableEncoder, origins: list[Origin]) -> Origins:
    """The origins behind an encoder that comes first; one behind other steps is not followed."""
    raw = all(isinstance(each, NumberOrigin) and not each.steps and each.feature == f for f, each in enumerate(origins))
    return table_origins(step) if raw else None


def chosen_columns(chosen: Any, step: ColumnTransformer) -> list[int]:
    """The numbers of the columns that a part of a ColumnTransformer is given."""
    names = list(getattr(step, "feature_names_in_", []))
    if isinstance(chosen, slice):
        start, stop = (names.index(end) if isinstance(end, str) else end for end in (chosen.start, chosen.stop))
        if isinstance(chosen.stop, str):  # a slice of names holds its last one
            stop += 1
        return list(range(step.n_features_in_)[start : stop : chosen.step])
    listed = np.asarray(chosen)
    if listed.dtype == bool:
        return np.flatnonzero(listed).tolist()
    return [names.index(f) if isinstance(f, str) else int(f) % step.n_features_in_ for f in listed.tolist()]


def _scaled(step: Any, origins: list[Origin]) -> list[Origin]:
    out: list[Origin] = []
    for origin, scaling in zip(origins, _scalings(step), strict=True):
        known = origin is not None and not origin.single and scaling.grows
        out.append(origin.then(scaling.of_sparse() if origin.sparse else scaling) if origin and known else None)
    return out


def _scalings(step: Any) -> list[Scaling]:
    def each(name: str, neutral: float, on: bool) -> Floats:
        return np.broadcast_to(getattr(step, name) if on else neutral, step.n_features_in_).astype(np.float64)

    if isinstance(step, MinMaxScaler):
        low, high = step.feature_range if step.clip else (-np.inf, np.inf)
        pairs = zip(each("scale_", 1, True), each("min_", 0, True), strict=True)
        return [Scaling(times=times, plus=plus, low=low, high=high) for times, plus in pairs]
    if isinstance(step, MaxAbsScaler):
        limit = 1.0 if getattr(step, "clip", False) else np.inf
        return [Scaling(over=over, low=-limit, high=limit) for over in each("scale_", 1, True)]
    if isinstance(step, StandardScaler):
        minus, over = each("mean_", 0, step.with_mean), each("scale_", 1, step.with_std)
    else:
        minus, over = each("center_", 0, step.with_centering), each("scale_", 1, step.with_scaling)
    return [Scaling(minus=m, over=s) for m, s in zip(minus, over, strict=True)]


def _filled(step: SimpleImputer, origins: list[Origin]) -> Origins:
    """Columns with missing values filled, then, if requested, indicator columns of missing values."""
    if not is_missing(step.missing_values):
        return None
    given = list(getattr(step, "feature_names_in_", [f"x{f}" for f in range(step.n_features_in_)]))
    fills = [_imputed(step, gap) for gap in missing_values()]
    kind = next((each.dtype for each in fills if each is not None), None)
    if kind is None:
        return None
    as_text = kind.kind == "O"
    out: list[Origin] = []
    for k, name in enumerate(step.get_feature_names_out()):
        if name in given:
            origin = origins[given.index(name)]
            mine = [REFUSED if each is None else each[k] for each in fills]
            out.append(_filled_one(origin, mine, as_text=as_text, single=kind == np.float32))
        else:
            origin = origins[given.index(name.removeprefix("missingindicator_"))]
            marks = [None if each is None else bool(each[k]) for each in fills]
            out.append(_marked(origin, marks) if isinstance(origin, NumberOrigin) and not as_text else None)
    return out


def _imputed(step: SimpleImputer, gap: Any) -> Array | None:
    """What an imputer makes of a row of such missing values; ``None`` if it refuses them."""
    row = np.full((1, step.n_features_in_), gap, dtype=np.float64 if isinstance(gap, float) else object)
    try:
        return np.asarray(without_warnings(step.transform, _named(row, step))).ravel()
    except (TypeError, ValueError):
        return None


def _filled_one(origin: Origin, fills: list[Any], *, as_text: bool, single: bool) -> Origin:
    """The origin of a filled column, from what the imputer makes of each of `missing_values`."""
    if origin is None or (as_text and (isinstance(origin, CategoryOrigin) or origin.steps)):
        return None
    if isinstance(origin, CategoryOrigin) or origin.steps:
        if fills[0] is REFUSED:
            return None
        filled: NumberOrigin | CategoryOrigin = origin.then(Filled(float(fills[0])))
    else:
        if not as_text:  # a column of numbers has no None, and its clauses should not change because of it
            fills = [fill if fill == fills[0] else REFUSED for fill in fills]
        gaps = (fills[kinds_of([gap])[0]] if is_missing(gap) else gap for gap in origin.gaps)
        filled = replace(origin, gaps=tuple(gaps))
    # An imputer that was trained on float32 rounds whatever it is given.
    return replace(filled.then(as_float32), single=True) if single else filled


def _marked(origin: NumberOrigin, marks: list[bool | None]) -> NumberOrigin:
    """The origin of an indicator, from what the imputer says of each of `missing_values`."""
    if not origin.steps:
        gaps = [REFUSED if mark is None else np.nan if mark else 0.0 for mark in marks]
        origin = replace(
            origin, gaps=tuple(gaps[kinds_of([gap])[0]] if is_missing(gap) else gap for gap in origin.gaps)
        )
    return origin.then(missing_or_not)


def _named(rows: Any, step: Any) -> Any:
    """Rows under the names that a step was trained with, if it was."""
    names = getattr(step, "feature_names_in_", None)
    return rows if names is None else pd.DataFrame(rows, columns=names, dtype=rows.dtype)


_KNOWN: dict[type, Callable[[Any, list[Origin]], Origins]] = {
    ColumnTransformer: _through_columns,
    SimpleImputer: _filled,
    OneHotEncoder: encoded,
    OrdinalEncoder: encoded,
    TableEncoder: _of_table,
    **dict.fromkeys((StandardScaler, MinMaxScaler, RobustScaler, MaxAbsScaler), _scaled),
}


# What the columns must be ---------------------------------------------------------------------------------------------


def _with_all_labels(origins: list[Origin]) -> list[Origin]:
    """The same, every column of categories with all labels that any encoder knows of it."""
    of_column: dict[int, list[CategoryOrigin]] = {}
    for origin in origins:
        if isinstance(origin, CategoryOrigin):
            of_column.setdefault(origin.feature, []).append(origin)
    labels = {f: _labels_of_all(same) for f, same in of_column.items()}
    return [_relabelled(o, labels[o.feature]) if isinstance(o, CategoryOrigin) else o for o in origins]


def _labels_of_all(origins: list[CategoryOrigin]) -> tuple[Any, ...]:
    """The labels of all origins; most of them, those of one encoder, have the very same ones."""
    different = {id(origin.labels): origin.labels for origin in origins}
    return next(iter(different.values())) if len(different) == 1 else tuple(dict.fromkeys(chain(*different.values())))


def _relabelled(origin: CategoryOrigin, labels: tuple[Any, ...]) -> CategoryOrigin:
    if origin.labels is labels:
        return origin
    known = dict(zip(origin.labels, origin.values.tolist(), strict=True))
    other = np.nan if origin.unseen is None else origin.unseen
    return origin.with_labels(labels, np.array([known.get(label, other) for label in labels]))


# Columns that stay transformed ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TransformedColumns:
    """Some of the columns that the steps in front of a model make of the given ones."""

    front: Pipeline
    made: tuple[int, ...]

    def __call__(self, X: Any, wanted: Sequence[int]) -> Iterable[Array]:
        columns = self.front.transform(X)
        columns = columns.iloc if hasattr(columns, "iloc") else columns
        columns = columns[:, [self.made[k] for k in wanted]]
        return np.asarray(columns.toarray() if scipy.sparse.issparse(columns) else columns, dtype=np.float64).T


def _made_names(model: Pipeline, made: list[int]) -> tuple[str, ...]:
    """The names of transformed columns; one that is also an original column's gets the name of its step."""
    if not made:
        return ()
    step = model.steps[-2][0]
    try:
        names = [str(name) for name in model[:-1].get_feature_names_out()]
    except (AttributeError, ValueError):  # a transformer without output names
        names = [f"{step}{k}" for k in range(max(made) + 1)]
    known = set(names_of_model(model) or ())
    return tuple(f"{step}__{names[k]}" if names[k] in known else names[k] for k in made)


def _n_given(model: Pipeline, n_last: int) -> int:
    """The number of columns in front, given that of the last step: one that passes everything through has none."""
    return int(next((step.n_features_in_ for _, step in model.steps if hasattr(step, "n_features_in_")), n_last))
