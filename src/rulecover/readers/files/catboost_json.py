"""CatBoost's JSON model files, read without CatBoost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rulecover.data.categories import Categories, HashedCategories
from rulecover.exceptions import DamagedModelError, UnreadableModelError
from rulecover.readers.files.building import Nodes, Parsed, check_values
from rulecover.readers.files.fields import Field
from rulecover.readers.files.routes import as_numbers, own_routes
from rulecover.readers.thresholds import from_float32
from rulecover.trees.tree import Tree, TreeEnsemble
from rulecover.typing import Floats, Ints

#: CatBoost grows symmetric trees no deeper than this; each level doubles the leaves.
_DEEPEST = 16


def parse(document: Field) -> Parsed:
    """The trees of a model in JSON."""
    columns = _CatBoostColumns.of(document["features_info"])
    scale = _scale(document["scale_and_bias"])
    symmetric, grown = document.get("oblivious_trees"), document.get("trees")
    if symmetric is not None:
        read = [_symmetric_tree(tree, columns, scale) for tree in symmetric]
    elif grown is not None:
        read = [_grown_tree(tree, columns, scale) for tree in grown]
    else:
        raise DamagedModelError(f"{document.where} has neither oblivious_trees nor trees; save the model again.")
    trees = tuple(tree for tree, _ in read)
    widths = {tree.value.shape[1] for tree in trees if tree.value is not None}
    if len(widths) > 1:
        raise DamagedModelError(f"{document.where} has leaves of {sorted(widths)} values; the model file is damaged.")
    ensemble = TreeEnsemble(
        trees=trees,
        routes=own_routes(trees),
        prepare=as_numbers(()),
        n_features=len(columns.name),
        feature_names=columns.names,
        categories=columns.categories,
        output=np.full(len(trees), 0 if widths == {1} else -1),
        classifies=_classifies(document.get("model_info")),
    )
    return Parsed(ensemble, tuple(number for _, number in read))


def _classifies(about: Field | None) -> bool | None:
    return None if about is None else about.get("class_params") is not None


def _scale(field: Field) -> float:
    parts = list(field)
    if len(parts) != 2:
        raise field.wrong("a scale and a bias")
    return parts[0].number()


class _CatBoostSplit(NamedTuple):
    """``float32(x) <= threshold`` goes left, or ``x in {code}``; then the branches are swapped."""

    column: int
    threshold: float
    missing_left: bool
    code: float | None


_LEAF = _CatBoostSplit(0, 0.0, False, None)


@dataclass(frozen=True, eq=False)
class _CatBoostColumns:
    """The columns by CatBoost's own numbers: numeric and categorical ones are numbered separately.

    Parameters
    ----------
    name
        The name of each column.
    numeric
        For each number its column, and whether a missing value goes left.
    categorical
        For each number its column, and the code of each category by its hash.
    """

    name: tuple[str, ...]
    numeric: dict[int, tuple[int, bool]]
    categorical: dict[int, tuple[int, dict[int, int]]]

    @classmethod
    def of(cls, info: Field) -> _CatBoostColumns:
        kinds = ("float_features", "categorical_features", "text_features", "embedding_features")
        numeric, categorical, others, others_too = (list(info.get(kind) or Field([], kind)) for kind in kinds)
        everyone = [*numeric, *categorical, *others, *others_too]
        names = {each["flat_feature_index"].whole(): each["feature_id"].text() for each in everyone}
        if sorted(names) != list(range(len(everyone))):
            raise info.wrong("features numbered from 0, each once")
        return cls(
            tuple(names[f] for f in range(len(names))),
            {_own(each): (_place(each), _missing_left(each["nan_value_treatment"])) for each in numeric},
            {_own(each): (_place(each), _codes(each)) for each in categorical},
        )

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names that the model was trained with: none are empty, or plain numbers."""
        unnamed = self.name in (tuple(map(str, range(len(self.name)))), ("",) * len(self.name))
        return None if unnamed or len(set(self.name)) < len(self.name) else self.name

    @property
    def categories(self) -> Categories:
        return {column: HashedCategories(tuple(codes)) for column, codes in self.categorical.values()}

    def split(self, field: Field) -> _CatBoostSplit:
        kind = field["split_type"].text()
        if kind == "FloatFeature":
            column, missing_left = _known(self.numeric, field["float_feature_index"])
            return _CatBoostSplit(column, _float32(field["border"]), missing_left, None)
        if kind == "OneHotFeature":
            column, codes = _known(self.categorical, field["cat_feature_index"])
            code = codes.get(_hash(field["value"]))
            if code is None:
                raise field["value"].wrong("the hash of one of the feature's categories")
            return _CatBoostSplit(column, 0.0, False, float(code))
        if kind == "OnlineCtr":
            raise UnreadableModelError(
                f"{field.where} uses a statistic of the target over categories (a CTR), which rules cannot express; "
                "train with one_hot_max_size at least the number of categories."
            )
        raise UnreadableModelError(
            f"{field.where} is a split of type {kind}, which rules cannot express; train on numbers and categories."
        )


def _own(feature: Field) -> int:
    return feature["feature_index"].whole()


def _place(feature: Field) -> int:
    return feature["flat_feature_index"].whole()


def _known(columns: dict[int, Any], number: Field) -> Any:
    if number.whole() not in columns:
        raise number.wrong(f"one of the {len(columns)} features of its kind")
    return columns[number.whole()]


def _float32(field: Field) -> float:
    number = field.number()
    if abs(number) > float(np.finfo(np.float32).max):
        raise field.wrong("a number that float32 can hold")
    return float(np.float32(number))


def _missing_left(treatment: Field) -> bool:
    if treatment.text() not in ("AsIs", "AsFalse", "AsTrue"):
        raise treatment.wrong("'AsIs', 'AsFalse' or 'AsTrue'")
    return treatment.text() != "AsTrue"


def _codes(feature: Field) -> dict[int, int]:
    """The codes of the categories, in the order of the file, by their hashes."""
    values = feature.get("values")
    return {} if values is None else {each: code for code, each in enumerate(dict.fromkeys(map(_hash, values)))}


def _hash(field: Field) -> int:
    return field.whole(-(2**31))


def _tree(
    where: str, splits: list[_CatBoostSplit | None], children: Ints, value: Floats, n_features: int
) -> tuple[Tree, Ints]:
    """A tree of splits, `None` at leaves, and children, nodes x 2: those of a split on a category are swapped."""
    asked = [_LEAF if split is None else split for split in splits]
    by_set = np.array([split.code is not None for split in asked])
    sets = tuple(np.array([split.code]) for split in asked if split.code is not None)
    nodes = Nodes(
        where=where,
        left=np.where(by_set, children[:, 1], children[:, 0]),
        right=np.where(by_set, children[:, 0], children[:, 1]),
        feature=np.array([split.column for split in asked]),
        threshold=np.array([split.threshold for split in asked]),
        missing_left=np.array([split.missing_left for split in asked]),
        value=value,
        category=np.where(by_set, np.cumsum(by_set) - 1, -1),
        category_sets=sets,
        rewritten=from_float32,
    )
    return nodes.tree(n_features)


def _symmetric_tree(field: Field, columns: _CatBoostColumns, scale: float) -> tuple[Tree, Ints]:
    """All nodes of a level have the same split; the outcomes, the first one lowest, are the bits of the leaf number."""
    given = field["splits"]  # null in a tree without any
    levels = [] if given.value is None else [columns.split(split) for split in given]
    depth = len(levels)
    if depth > _DEEPEST:
        raise given.wrong(f"at most {_DEEPEST} splits")
    values = field["leaf_values"].floats()
    if not len(values) or len(values) % 2**depth:
        raise field["leaf_values"].wrong(f"as many numbers for each of {2**depth} leaves")
    if (weights := field.get("leaf_weights")) is not None:
        weights.floats(2**depth)
    n_inner = 2**depth - 1
    inner = np.arange(n_inner)
    children = np.full((n_inner + 2**depth, 2), -1)
    children[:n_inner] = 2 * inner[:, None] + [1, 2]
    path = np.arange(2**depth)
    leaf = n_inner + sum(((path >> k & 1) << (depth - 1 - k) for k in range(depth)), np.zeros_like(path))
    value = np.zeros((len(children), len(values) // 2**depth))
    value[leaf] = values.reshape(2**depth, -1)
    splits = [levels[k] for k in range(depth) for _ in range(2**k)] + [None] * 2**depth
    tree, number = _tree(field.where, splits, children, check_values(field.where, value, scale), len(columns.name))
    return tree, number[leaf]


def _grown_tree(field: Field, columns: _CatBoostColumns, scale: float) -> tuple[Tree, Ints]:
    """Nested nodes, numbered in the order of the file: a node, its left branch, its right one."""
    splits: list[_CatBoostSplit | None] = []
    values: list[Floats] = []
    children: list[list[int]] = []
    waiting: list[tuple[Field, int, int]] = [(field, -1, 0)]
    while waiting:
        node, parent, side = waiting.pop()
        if parent >= 0:
            children[parent][side] = len(splits)
        children.append([-1, -1])
        split = node.get("split")
        if split is None:
            splits.append(None)
            values.append(_leaf_value(node["value"]))
            continue
        splits.append(columns.split(split))
        values.append(np.zeros(0))
        waiting += [(node["right"], len(splits) - 1, 1), (node["left"], len(splits) - 1, 0)]
    width = max(map(len, values))
    if any(len(value) not in (0, width) for value in values):
        raise field.wrong(f"a tree whose leaves have {width} values each")
    value = np.array([np.resize(value, width) if len(value) else np.zeros(width) for value in values])
    scaled, nodes = check_values(field.where, value, scale), np.array(children)
    tree, number = _tree(field.where, splits, nodes, scaled, len(columns.name))
    return tree, number[_leaf_order(nodes)]


def _leaf_value(field: Field) -> Floats:
    if not isinstance(field.value, list):
        return np.array([field.number()])
    if not len(field):
        raise field.wrong("the values of a leaf")
    return field.floats()


def _leaf_order(children: Ints) -> Ints:
    """The leaves as CatBoost numbers them: a leaf next to a branch comes before the leaves of that branch."""
    is_leaf = children[:, 0] < 0
    order: list[int] = []
    waiting = [0]
    while waiting:
        node = waiting.pop()
        if is_leaf[node]:
            order.append(node)
            continue
        left, right = children[node]
        waiting += [left, right] if is_leaf[right] and not is_leaf[left] else [right, left]
    return np.array(order, dtype=np.intp)
