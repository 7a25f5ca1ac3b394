"""XGBoost's JSON model files, read without XGBoost."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from rulecover.data.categories import Categories
from rulecover.exceptions import DamagedModelError, UnreadableModelError
from rulecover.readers.files.building import Nodes, Parsed, check_names, check_unnamed, check_values
from rulecover.readers.files.fields import Field
from rulecover.readers.files.routes import checked_codes, no_sparse, own_routes
from rulecover.readers.thresholds import below_float32
from rulecover.trees.tree import Tree, TreeEnsemble
from rulecover.typing import Floats, Ints

#: Splits on categories have had the same meaning since this version.
_OLDEST_CATEGORIES = [1, 6]


def parse(document: Field) -> Parsed:
    """The trees of a model in JSON."""
    learner = document["learner"]
    model, weights = _model(learner["gradient_booster"])
    n_features = _n_features(learner)
    classifies = _classifies(learner.get("objective"))
    output = _outputs(model, learner["learner_model_param"], labels=bool(classifies))
    drop = np.ones(len(output)) if weights is None else check_values(weights.where, weights.floats(len(output)))
    read = [_tree(tree, n_features, weight) for tree, weight in zip(model["trees"], drop, strict=True)]
    trees = tuple(tree for tree, _ in read)
    if any(tree.category is not None for tree in trees):
        _check_version(document["version"])
    ensemble = TreeEnsemble(
        trees=trees,
        routes=own_routes(trees),
        prepare=checked_codes(trees, _as_xgboost_takes_it),
        n_features=n_features,
        feature_names=_names(learner, n_features),
        categories=_categories(model.get("cats"), n_features),
        output=np.where([_width(tree) > 1 for tree in trees], -1, output),
        classifies=classifies,
    )
    return Parsed(ensemble, tuple(number for _, number in read))


def _n_features(learner: Field) -> int:
    found, names = learner["learner_model_param"]["num_feature"], learner.get("feature_names")
    if names is None or not len(names):
        check_unnamed(found)
    return found.whole()


def _classifies(objective: Field | None) -> bool | None:
    return None if objective is None else objective["name"].text().startswith(("binary:", "multi:"))


def _model(booster: Field) -> tuple[Field, Field | None]:
    """The trees, and the weight of each where some were dropped while others grew (DART)."""
    kind = booster["name"].text()
    if kind == "gblinear":
        raise UnreadableModelError(
            f"{booster.where} is a linear model (gblinear), which has no rules; train with booster='gbtree'."
        )
    if kind == "dart":
        return booster["gbtree"]["model"], booster["weight_drop"]
    if kind != "gbtree":
        raise booster["name"].wrong("'gbtree' or 'dart'")
    return booster["model"], None


def _outputs(model: Field, shape: Field, *, labels: bool) -> Ints:
    """The output that each tree adds to; several may be the classes of one label, but not several labels."""
    n_trees = model["gbtree_model_param"]["num_trees"].whole()
    if len(model["trees"]) != n_trees:
        raise DamagedModelError(
            f"{model.where} has {len(model['trees'])} trees, not {n_trees}; the file is damaged: save it again."
        )
    targets = shape.get("num_target")  # since XGBoost 1.6
    n_targets = 1 if targets is None else targets.whole()
    if labels and n_targets > 1:
        raise UnreadableModelError(
            f"{model.where} was trained on {n_targets} labels for each row, but a rule has one; train one model for "
            "each."
        )
    n_outputs = max(shape["num_class"].whole(), n_targets, 1)
    output = model["tree_info"].ints(n_trees)
    if output.size and not (output.min() >= 0 and output.max() < n_outputs):
        raise model["tree_info"].wrong(f"numbers of the {n_outputs} outputs")
    return output


def _check_version(version: Field) -> None:
    if version.ints().tolist() < _OLDEST_CATEGORIES:
        raise UnreadableModelError(
            f"{version.where} is {version.value}, and XGBoost before 1.6 had other splits on categories; "
            "train the model with a newer version."
        )


def _tree(field: Field, n_features: int, weight: float) -> tuple[Tree, Ints]:
    """``float32(x) < threshold`` goes left. Categories go right: here they go left, and the branches are swapped."""
    param = field["tree_param"]
    n, width = param["num_nodes"].whole(at_least=1), param["size_leaf_vector"].whole()
    left, right = field["left_children"].ints(n), field["right_children"].ints(n)
    is_leaf = left == -1
    if width <= 1 and not np.array_equal(is_leaf, right == -1):
        raise field["right_children"].wrong("-1 where left_children are")
    with np.errstate(over="ignore"):
        threshold = field["split_conditions"].floats(n).astype(np.float32).astype(np.float64)
    for name in ("parents", "base_weights", "loss_changes", "sum_hessian"):
        if (other := field.get(name)) is not None and len(other) % n:
            raise other.wrong(f"numbers for each of {n} nodes")
    category, sets = _category_splits(field, n, is_leaf)
    by_set = category >= 0
    nodes = Nodes(
        where=field.where,
        left=np.where(by_set, right, left),
        right=np.where(is_leaf, -1, np.where(by_set, left, right)),
        feature=field["split_indices"].ints(n),
        threshold=np.where(np.isinf(threshold), np.nan, threshold),
        missing_left=_flags(field["default_left"], n) != by_set,
        value=check_values(field.where, _values(field, is_leaf, max(width, 1)), weight),
        category=category,
        category_sets=sets,
        rewritten=below_float32,
    )
    return nodes.tree(n_features, n_deleted=param["num_deleted"].whole())


def _flags(field: Field, n: int) -> Ints:
    flags = field.ints(n)
    if not ((flags == 0) | (flags == 1)).all():
        raise field.wrong("zeros and ones")
    return flags


def _values(field: Field, is_leaf: Any, width: int) -> Floats:
    """The value of each leaf, nodes x outputs, zero elsewhere."""
    n = len(is_leaf)
    if width == 1:
        value = field["split_conditions"].floats(n)[:, None]
    elif (leaves := field.get("leaf_weights")) is None:
        value = field["base_weights"].floats(n * width).reshape(n, width)
    else:  # since XGBoost 3.1 leaves have values of their own, at the place given by right_children
        place = np.where(is_leaf, field["right_children"].ints(n), 0)
        known, n_leaves = leaves.floats(), max(place.max() + 1, np.count_nonzero(is_leaf))
        if place.min() < 0 or n_leaves * width > len(known):
            raise leaves.wrong(f"{width} numbers for each of {n_leaves} leaves")
        value = known[: len(known) // width * width].reshape(-1, width)[place]
    return np.where(is_leaf[:, None], value, 0.0)


def _category_splits(field: Field, n: int, is_leaf: Any) -> tuple[Ints, tuple[Floats, ...]]:
    """For each node the place of its set of categories, -1 for none, and the sets."""
    category = np.full(n, -1, dtype=np.intp)
    kind = field.get("split_type")
    if kind is None:  # before categories
        return category, ()
    kinds = _flags(kind, n)
    if not (kinds.any() or len(field["categories_nodes"]) or len(field["categories"])):
        return category, ()
    by_set = (kinds == 1) & ~is_leaf
    node = field["categories_nodes"].ints()
    start, size = field["categories_segments"].ints(len(node)), field["categories_sizes"].ints(len(node))
    codes = field["categories"].ints()
    if node.size and not (node.min() >= 0 and node.max() < n and len(np.unique(node)) == len(node)):
        raise field["categories_nodes"].wrong(f"numbers of the {n} nodes")
    if node.size and not (start.min() >= 0 and size.min() >= 0 and (start + size).max() <= len(codes)):
        raise field["categories_segments"].wrong(f"places among the {len(codes)} categories")
    if size.sum() > len(codes):
        raise field["categories_sizes"].wrong(f"parts of the {len(codes)} categories, none of them twice")
    if codes.size and not (codes.min() >= 0 and codes.max() < 2**24):
        raise field["categories"].wrong("codes from 0 to 16777215")
    category[node] = np.arange(len(node))
    if (category[by_set] < 0).any():
        raise field["categories_nodes"].wrong("every node that splits on categories")
    sets = tuple(np.unique(codes[a : a + k]).astype(np.float64) for a, k in zip(start, size, strict=True))
    return np.where(by_set, category, -1), sets


def _names(learner: Field, n_features: int) -> tuple[str, ...] | None:
    names = learner.get("feature_names")
    return check_names(names, n_features) if names is not None and len(names) else None


def _categories(cats: Field | None, n_features: int) -> Categories:
    """The categories of each column that had names in training; known since XGBoost 3.1."""
    if cats is None or not len(cats["enc"]):
        return {}
    if len(cats["enc"]) != n_features:
        raise cats["enc"].wrong(f"a list of {n_features} columns")
    found = {f: _column_categories(column) for f, column in enumerate(cats["enc"])}
    return {f: values for f, values in found.items() if values}


def _column_categories(column: Field) -> tuple[Any, ...]:
    values = column["values"].ints()
    offsets = column.get("offsets")
    if offsets is None:
        return tuple(values.tolist())
    ends = offsets.ints()
    if not len(ends):
        return ()
    if ends[0] != 0 or ends[-1] != len(values) or (np.diff(ends) < 0).any():
        raise offsets.wrong("places in the text of the categories, in order")
    if values.size and values.min() < 0:
        return ()  # XGBoost counts letters where it should count bytes: names beyond ASCII are cut
    letters = "".join(map(chr, values & 0x7F))
    return tuple(letters[a:b] for a, b in pairwise(ends.tolist()))


def _width(tree: Tree) -> int:
    return 1 if tree.value is None else tree.value.shape[1]


def _as_xgboost_takes_it(X: Any) -> Any:
    return no_sparse(X, "XGBoost takes an absent entry of a sparse matrix for a missing value, and a rule for 0")
