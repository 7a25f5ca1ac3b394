"""LightGBM's text model files, read without LightGBM."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rulecover.data.categories import Categories
from rulecover.data.frames import ZERO
from rulecover.exceptions import DamagedModelError, UnreadableModelError
from rulecover.readers.files.building import Nodes, Parsed, check_names, check_values
from rulecover.readers.files.fields import Field
from rulecover.readers.files.routes import as_numbers, checked_codes, own_routes
from rulecover.trees.tree import Tree, TreeEnsemble
from rulecover.typing import Array, Floats, Ints

#: What counts as missing at a split: nothing (NaN is 0), 0 and NaN, or NaN.
_NOTHING, _ZERO, _NAN = range(3)

_OF_SPLITS = ("split_gain", "internal_value", "internal_weight", "internal_count")
_OF_LEAVES = ("leaf_weight", "leaf_count")


def parse(text: str, *, name: str = "the LightGBM model") -> Parsed:
    """The trees of a model in text."""
    sections = _Sections.of(text, name)
    head = sections.head
    n_features = head["max_feature_idx"].whole() + 1
    per_round = head["num_tree_per_iteration"].whole(at_least=1)
    n_rounds, rest = divmod(len(sections.trees), per_round)
    if rest:
        raise sections.cut(
            f"it has {len(sections.trees)} trees, {per_round} per round, which is not a whole number of rounds"
        )
    share = 1.0 / max(n_rounds, 1) if head.get("average_output") is not None else 1.0
    splits = [_Splits.of(block) for block in sections.trees]
    read = [_tree(block, split, n_features, share) for block, split in zip(sections.trees, splits, strict=True)]
    trees = tuple(tree for tree, _ in read)
    _check_version(head["version"], trees)
    zero_missing = _zero_columns(name, splits)
    known = _known_categories(sections)
    ensemble = TreeEnsemble(
        trees=trees,
        routes=own_routes(trees),
        prepare=checked_codes(trees, as_numbers(zero_missing)),
        n_features=n_features,
        feature_names=_names(head["feature_names"], n_features),
        categories=_placed(known, sections, n_features),
        frame_categories=known,
        zero_missing=zero_missing,
        output=np.arange(len(trees)) % per_round,
        classifies=_classifies(head.get("objective")),
    )
    return Parsed(ensemble, tuple(number for _, number in read))


def _classifies(objective: Field | None) -> bool | None:
    """Custom objectives have no name in the file."""
    return None if objective is None else objective.text().startswith(("binary", "multiclass"))


@dataclass(frozen=True, eq=False)
class _Sections:
    """A model file: the fields before the first tree, those of each tree, and the lines after the last."""

    name: str
    head: Field
    trees: tuple[Field, ...]
    tail: tuple[str, ...]

    @classmethod
    def of(cls, text: str, name: str) -> _Sections:
        lines = [line.rstrip("\r") for line in text.split("\n")]
        whole = cls(name, Field({}, name), (), tuple(lines))
        if lines[0] != "tree" or "end of trees" not in lines:
            raise whole.cut("it does not go from 'tree' to 'end of trees'")
        end = lines.index("end of trees")
        marks = [k for k, line in enumerate(lines[:end]) if line.startswith("Tree=")] + [end]
        head = _fields(lines[1 : marks[0]], name)
        trees = tuple(_fields(lines[a:b], f"{name}, tree {k}") for k, (a, b) in enumerate(pairwise(marks)))
        tail = tuple(lines[end + 1 :])
        sizes = head.get("tree_sizes")
        if sizes is not None and len(sizes.text().split()) != len(trees):
            raise whole.cut(f"it names the sizes of {len(sizes.text().split())} trees and has {len(trees)}")
        if any(tree["Tree"].whole() != k for k, tree in enumerate(trees)):
            raise whole.cut("its trees are not numbered from 0")
        if "parameters:" in tail and "end of parameters" not in tail:
            raise whole.cut("its parameters have no end")
        return cls(name, head, trees, tail)

    def cut(self, reason: str) -> DamagedModelError:
        return DamagedModelError(
            f"{self.name} is not a complete text model of LightGBM: {reason}; save the model again."
        )


def _fields(lines: list[str], where: str) -> Field:
    pairs = (line.partition("=") for line in lines if line)
    return Field({key: value for key, _, value in pairs}, where)


def _numbers(field: Field, length: int, kind: type[np.number]) -> Array:
    words = field.text().split()
    if len(words) != length:
        raise field.wrong(f"{length} numbers, not {len(words)}")
    try:
        return np.array(words, dtype=kind)
    except (ValueError, OverflowError):
        raise field.wrong(f"{length} numbers") from None


def _ints(field: Field, length: int) -> Ints:
    return _numbers(field, length, np.int64).astype(np.intp)


def _floats(field: Field, length: int) -> Floats:
    return _numbers(field, length, np.float64)


def _tree(block: Field, split: _Splits, n_features: int, share: float) -> tuple[Tree, Ints]:
    """``x <= threshold`` goes left, in float64; numbers next to 0 are 0. Categories of the set go left.

    The nodes that split come first, then the leaves.
    """
    n = len(split.feature)
    n_leaves = n + 1
    leaf = check_values(block.where, _floats(block["leaf_value"], n_leaves))
    if (linear := block.get("is_linear")) is not None and linear.whole() != 0:
        raise UnreadableModelError(
            f"{block.where} has linear models in its leaves (linear_tree), which rules cannot express; train without."
        )
    _check_lengths(block, n)
    children = [_ints(block[side], n) if n else np.zeros(0, dtype=np.intp) for side in ("left_child", "right_child")]
    if n and not all((-n_leaves <= child).all() for child in children):
        raise DamagedModelError(f"{block.where} has a leaf beyond its {n_leaves}; the file is damaged: save it again.")
    ends, zeros = np.full(n_leaves, -1, dtype=np.intp), np.zeros(n_leaves)
    left, right = (np.concatenate([np.where(child < 0, n + ~child, child), ends]) for child in children)
    nodes = Nodes(
        where=block.where,
        left=left,
        right=right,
        feature=np.concatenate([split.feature, ends]),
        threshold=np.concatenate([split.threshold, zeros]),
        missing_left=np.concatenate([split.missing_left, zeros > 0]),
        value=np.concatenate([np.zeros(n), leaf * share])[:, None],
        category=np.concatenate([split.category, ends]),
        category_sets=split.sets,
        rewritten=_next_to_zero,
    )
    tree, number = nodes.tree(n_features)
    return tree, number[n:]


def _check_lengths(block: Field, n_splits: int) -> None:
    """Fields of nodes and leaves that are not used here must still have the right lengths."""
    for names, length in ((_OF_SPLITS, n_splits), (_OF_LEAVES, n_splits + 1)):
        for each in map(block.get, names):
            if each is not None and n_splits and len(each.text().split()) != length:
                raise each.wrong(f"{length} numbers")


def _next_to_zero(threshold: Floats) -> Floats:
    """The same split, where a number within `ZERO` of 0 is itself and not 0."""
    below, above = (threshold >= -ZERO) & (threshold < 0), (threshold >= 0) & (threshold < ZERO)
    return np.where(below, np.nextafter(-ZERO, -np.inf), np.where(above, ZERO, threshold))


@dataclass(frozen=True, eq=False)
class _Splits:
    """The nodes of a tree that split."""

    feature: Ints
    threshold: Floats
    missing_left: Array
    missing: Ints
    category: Ints
    sets: tuple[Floats, ...]

    @classmethod
    def of(cls, block: Field) -> _Splits:
        n = block["num_leaves"].whole(at_least=1) - 1
        if not n:
            none = np.zeros(0, dtype=np.intp)
            return cls(none, np.zeros(0), none > 0, none, none, ())
        decision, threshold = _ints(block["decision_type"], n), _floats(block["threshold"], n)
        missing = decision >> 2
        if decision.min() < 0 or missing.max() > _NAN:
            raise block["decision_type"].wrong("numbers from 0 to 11")
        by_set = (decision & 1) == 1
        default = np.where(missing == _NOTHING, threshold >= 0, (decision & 2) > 0)
        sets = _sets(block)
        if by_set.any() and not np.isin(threshold[by_set], np.arange(len(sets))).all():
            raise block["threshold"].wrong(f"numbers of the {len(sets)} sets, where categories are split")
        category = np.full(n, -1, dtype=np.intp)
        category[by_set] = threshold[by_set].astype(np.intp)
        return cls(_ints(block["split_feature"], n), threshold, default & ~by_set, missing, category, sets)


def _sets(block: Field) -> tuple[Floats, ...]:
    """The sets of categories, written as bits of words of 32."""
    n_sets = block["num_cat"].whole()
    if not n_sets:
        return ()
    ends = _ints(block["cat_boundaries"], n_sets + 1)
    words = _numbers(block["cat_threshold"], max(int(ends[-1]), 0), np.int64)
    if ends[0] != 0 or (np.diff(ends) < 0).any() or (words.size and not (words.min() >= 0 and words.max() < 2**32)):
        raise block["cat_boundaries"].wrong("places in cat_threshold, in order")
    bits = np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little").reshape(-1, 32)
    return tuple(np.flatnonzero(bits[a:b]).astype(np.float64) for a, b in pairwise(ends))


def _zero_columns(name: str, splits: list[_Splits]) -> tuple[int, ...]:
    """The columns in which 0 counts as missing."""
    zero: set[int] = set()
    other: set[int] = set()
    for split in splits:
        is_zero, numeric = split.missing == _ZERO, split.category < 0
        zero |= set(split.feature[numeric & is_zero].tolist())
        other |= set(split.feature[numeric & ~is_zero].tolist())
    if zero & other:
        raise UnreadableModelError(
            f"{name} takes 0 for missing in some splits on column {min(zero & other)} and for a number in others; "
            "train it with zero_as_missing on or off throughout."
        )
    return tuple(sorted(zero))


def _check_version(version: Field, trees: tuple[Tree, ...]) -> None:
    if version.text() not in ("v3", "v4"):
        raise version.wrong("'v3' or 'v4'")
    if version.text() == "v3" and any(tree.category is not None for tree in trees):
        raise UnreadableModelError(
            f"{version.where} is 'v3', and LightGBM before 4.0 had other splits on categories; "
            "train the model with a newer version."
        )


def _names(names: Field, n_features: int) -> tuple[str, ...] | None:
    found = check_names(Field(names.text().split(" "), names.where), n_features)
    return None if found == tuple(f"Column_{f}" for f in range(n_features)) else found


def _known_categories(sections: _Sections) -> tuple[tuple[object, ...], ...]:
    """The categories of each category column of the training frame, in the order of these columns."""
    for line in reversed(sections.tail):
        if line.startswith("pandas_categorical:"):
            known = Field.of_json(line.partition(":")[2], f"{sections.name}, pandas_categorical")
            return () if known.value is None else tuple(_scalars(column) for column in known)
    return ()


def _scalars(column: Field) -> tuple[object, ...]:
    if not all(isinstance(item.value, (str, int, float)) for item in column):
        raise column.wrong("a list of texts and numbers")
    return tuple(item.value for item in column)


def _placed(known: tuple[tuple[object, ...], ...], sections: _Sections, n_features: int) -> Categories:
    """The categories by column, if the number of categorical columns matches the number of lists."""
    listing = next((line for line in sections.tail if line.startswith("[categorical_feature:")), "")
    columns = [int(number) for number in re.findall(r"\d{1,9}", listing)]
    if len(columns) != len(known) or any(column >= n_features for column in columns):
        return {}
    return dict(zip(sorted(columns), known, strict=True))
