"""Model files are read by our own parsers: what is damaged is refused by an error of ours, without crash or hang."""

from __future__ import annotations

import functools
import json
import re
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from boosters import CASES
from damage import JSON_DAMAGE, TEXT_DAMAGE, check_sound

from rulecover import read_trees
from rulecover.exceptions import DamagedModelError, RulecoverError, UnreadableModelError
from rulecover.readers.files import model_file
from rulecover.readers.files.model_file import read_text

#: No file here is large: what takes longer hangs.
_SECONDS = 10.0


@functools.cache
def model_files(library: str, n: int = 20) -> list[str]:
    texts = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(n):
            path = Path(folder) / f"{seed}.json"
            CASES[library](seed).save(str(path))
            texts.append(path.read_text(encoding="utf-8"))
    return texts


@pytest.mark.slow
@pytest.mark.parametrize("library", CASES)
def test_damaged_files_are_refused_or_still_hold_trees(library: str, n_files: int) -> None:
    files = model_files(library)
    kinds = TEXT_DAMAGE if library == "lightgbm" else JSON_DAMAGE
    refused = 0
    for seed in range(n_files):
        rng = np.random.default_rng(seed)
        damaged = kinds[int(rng.integers(len(kinds)))](rng, files[seed % len(files)])
        started = time.perf_counter()
        try:
            check_sound(read_text(damaged))
        except RulecoverError:
            refused += 1
        assert time.perf_counter() - started < _SECONDS, f"seed {seed}"
    assert refused > n_files // 5


@pytest.mark.slow
@pytest.mark.parametrize("library", CASES)
def test_a_file_cut_in_half_is_refused(library: str, tmp_path: Path) -> None:
    for text in model_files(library)[:5]:
        (tmp_path / "half").write_text(text[: len(text) // 2], encoding="utf-8")
        with pytest.raises(DamagedModelError, match="half is not a complete"):
            read_trees(tmp_path / "half")


# One field at a time --------------------------------------------------------------------------------------------


def xgboost_with(change: Callable[[dict[str, Any]], Any], *, categories: bool = False) -> str:
    """A model file of XGBoost whose first tree, of one with categories if asked for, was changed."""
    for text in model_files("xgboost"):
        document = json.loads(text)
        booster = document["learner"]["gradient_booster"]
        model = booster["model"] if "model" in booster else booster["gbtree"]["model"]
        tree = model["trees"][0]
        plain = tree["tree_param"]["size_leaf_vector"] == "1" and len(tree["left_children"]) > 4
        if plain and bool(tree["categories_nodes"]) == categories and tree["tree_param"]["num_deleted"] == "0":
            change(tree)
            return json.dumps(document)
    raise AssertionError("no such model")


def leaf(tree: dict[str, Any]) -> int:
    return tree["left_children"].index(-1)


def make_cycle(tree: dict[str, Any]) -> None:
    """A branch of the root and a leaf inside that branch change places: each node has one parent as before."""
    left, right = tree["left_children"], tree["right_children"]
    sides = [left, right] if left[left[0]] >= 0 else [right, left]
    branch = sides[0][0]
    node = branch
    while left[left[node]] >= 0:
        node = left[node]
    sides[0][0], left[node] = left[node], branch


XGBOOST_DAMAGE: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "a child beyond the nodes": (lambda t: t["left_children"].__setitem__(0, 999), "beyond the"),
    "a negative child": (lambda t: t["right_children"].__setitem__(0, -7), "negative number"),
    "the root as a child": (lambda t: t["left_children"].__setitem__(0, 0), "is the root"),
    "a cycle": (make_cycle, "cannot be reached"),
    "a node with two parents": (lambda t: t["right_children"].__setitem__(0, t["left_children"][0]), "two parents"),
    "a leaf on one side only": (lambda t: t["left_children"].__setitem__(0, -1), "-1 where left_children are"),
    "a list too short": (lambda t: t["left_children"].pop(), "a list of"),
    "a list too long": (lambda t: t["split_indices"].append(0), "a list of"),
    "other lists too short": (lambda t: t["sum_hessian"].pop(), "numbers for each of"),
    "fractions for numbers": (lambda t: t["split_indices"].__setitem__(0, 0.5), "whole numbers"),
    "a feature beyond the model's": (lambda t: t["split_indices"].__setitem__(0, 99), "feature beyond"),
    "a negative feature": (lambda t: t["split_indices"].__setitem__(0, -1), "feature beyond"),
    "a threshold that is none": (lambda t: t["split_conditions"].__setitem__(0, float("nan")), "not a number"),
    "an infinite threshold": (lambda t: t["split_conditions"].__setitem__(0, float("inf")), "not a number"),
    "an infinite leaf": (lambda t: t["split_conditions"].__setitem__(leaf(t), float("inf")), "not finite"),
    "an odd direction": (lambda t: t["default_left"].__setitem__(0, 2), "zeros and ones"),
    "nodes that were never cut off": (lambda t: t["tree_param"].__setitem__("num_deleted", "2"), "cannot be reached"),
    "no nodes": (lambda t: t["tree_param"].__setitem__("num_nodes", "0"), "a whole number from 1"),
    "text for a list": (lambda t: t.__setitem__("left_children", "abc"), "must be a list"),
    "no thresholds": (lambda t: t.pop("split_conditions"), "has no 'split_conditions'"),
}


@pytest.mark.parametrize("name", XGBOOST_DAMAGE)
def test_a_tree_of_xgboost_that_is_none_is_refused(name: str) -> None:
    change, message = XGBOOST_DAMAGE[name]
    with pytest.raises(DamagedModelError, match=message):
        read_text(xgboost_with(change))


def xgboost_model(change: Callable[[dict[str, Any]], Any], *, at: int = 0) -> str:
    """A model file of XGBoost whose learner was changed."""
    document = json.loads(model_files("xgboost")[at])
    change(document["learner"])
    return json.dumps(document)


def trees_of(learner: dict[str, Any]) -> dict[str, Any]:
    booster = learner["gradient_booster"]
    return booster["model"] if "model" in booster else booster["gbtree"]["model"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m["gradient_booster"].update(name="gbforest"), "'gbforest', but must be 'gbtree' or 'dart'"),
        (lambda m: trees_of(m)["gbtree_model_param"].update(num_trees="1000"), "trees, not 1000; the file is damaged"),
        (lambda m: trees_of(m)["tree_info"].__setitem__(0, 99), "tree_info is .*, but must be numbers of the . output"),
        (lambda m: trees_of(m)["tree_info"].__setitem__(0, -1), "tree_info is .*, but must be numbers of the . output"),
        (lambda m: trees_of(m).update(cats={"enc": [{"values": [0]}] * 99}), "enc is .*, but must be a list of . col"),
        (lambda m: m.update(gradient_booster=[]), "gradient_booster is .*, but must be an object"),
        (lambda m: m["gradient_booster"].update(name=7), "name is 7, but must be text"),
        (lambda m: trees_of(m).update(trees={}), "trees is {}, but must be a list"),
    ],
)
def test_a_model_of_xgboost_that_is_none_is_refused(change: Any, message: str) -> None:
    with pytest.raises(DamagedModelError, match=message):
        read_text(xgboost_model(change))


def with_names(ends: list[int], letters: list[int]) -> Callable[[dict[str, Any]], None]:
    """Categories of every column of a model of XGBoost, as the file has them: all letters, and where names end."""

    def change(learner: dict[str, Any]) -> None:
        n_features = int(learner["learner_model_param"]["num_feature"])
        trees_of(learner)["cats"] = {"enc": [{"offsets": ends, "values": letters}] * n_features}

    return change


def test_names_of_categories_of_xgboost_are_read() -> None:
    read = read_text(xgboost_model(with_names([0, 3, 7], [*b"redblue"])))
    assert read.categories == dict.fromkeys(range(read.n_features), ("red", "blue"))


def test_names_of_categories_that_xgboost_has_cut_are_left_out() -> None:
    """Beyond ASCII it writes parts of names, as negative numbers."""
    assert read_text(xgboost_model(with_names([0, 2, 4], [-61, -68, 97, 98]))).categories == {}


@pytest.mark.parametrize("ends", [[1, 4], [0, 3], [0, 3, 2, 4]], ids=["begin later", "end early", "go back"])
def test_names_of_categories_of_xgboost_at_no_place_are_refused(ends: list[int]) -> None:
    with pytest.raises(DamagedModelError, match="must be places in the text of the categories, in order"):
        read_text(xgboost_model(with_names(ends, [*b"abcd"])))


def test_a_tree_of_an_xgboost_that_knew_no_categories_is_read() -> None:
    def forget(tree: dict[str, Any]) -> None:
        for name in ("split_type", "categories", "categories_nodes", "categories_segments", "categories_sizes"):
            del tree[name]

    old, new = read_text(xgboost_with(forget)), read_text(xgboost_with(lambda tree: None))
    assert all(tree.category is None for tree in old.trees)
    assert [a.threshold.tolist() for a in old.trees] == [b.threshold.tolist() for b in new.trees]


def test_categories_of_an_old_xgboost_meant_something_else_and_are_refused() -> None:
    document = json.loads(xgboost_with(lambda tree: None, categories=True)) | {"version": [1, 5, 2]}
    with pytest.raises(UnreadableModelError, match=r"version is \[1, 5, 2\], and XGBoost before 1.6 had other splits"):
        read_text(json.dumps(document))


def several_outputs(change: Callable[[dict[str, Any]], Any], *, n_leaves: int = 2) -> str:
    """One tree of XGBoost with two values per leaf, as since version 3.1: a split on the first column at 1.5."""
    tree: dict[str, Any] = {
        "tree_param": {"num_nodes": "3", "size_leaf_vector": "2", "num_deleted": "0"},
        "left_children": [1, -1, -1],
        "right_children": [2, 0, 1],
        "split_conditions": [1.5, 0.0, 0.0],
        "split_indices": [0, 0, 0],
        "default_left": [0, 0, 0],
        "leaf_weights": [1.0, 2.0, 3.0, 4.0][: 2 * n_leaves],
    }
    change(tree)
    shape = {"num_feature": "1", "num_class": "0", "num_target": "2"}
    model = {"gbtree_model_param": {"num_trees": "1"}, "tree_info": [0], "trees": [tree]}
    learner = {"learner_model_param": shape, "gradient_booster": {"name": "gbtree", "model": model}}
    return json.dumps({"learner": learner, "version": [3, 1, 0]})


def before_3_1(tree: dict[str, Any]) -> None:
    """The values of all nodes, those that split included, in place of those of leaves."""
    del tree["leaf_weights"]
    tree |= {"right_children": [2, -1, -1], "base_weights": [9.0, 9.0, 1.0, 2.0, 3.0, 4.0]}


@pytest.mark.parametrize("change", [lambda tree: None, before_3_1], ids=["since 3.1", "before"])
def test_several_values_of_a_leaf_of_xgboost_are_read_as_either_version_writes_them(change: Any) -> None:
    (tree,) = read_text(several_outputs(change)).trees
    leaf = tree.apply(np.array([[1.0], [2.0]]))
    assert tree.value is not None and tree.value[leaf].tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_values_of_leaves_of_xgboost_that_are_not_there_are_refused() -> None:
    with pytest.raises(DamagedModelError, match="must be 2 numbers for each of 2 leaves"):
        read_text(several_outputs(lambda tree: None, n_leaves=1))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t["categories_segments"].__setitem__(0, 10**6), "places among"),
        (lambda t: t["categories_sizes"].__setitem__(0, -1), "places among"),
        (lambda t: t["categories_nodes"].__setitem__(0, 999), "numbers of the"),
        (lambda t: t["categories"].__setitem__(0, -1), "codes from 0"),
        (lambda t: t["categories"].__setitem__(-1, 2**24), "codes from 0 to 16777215"),
        (
            lambda t: [t[f"categories_{name}"].pop() for name in ("nodes", "segments", "sizes")],
            "every node that splits",
        ),
    ],
)
def test_categories_of_xgboost_that_are_not_there_are_refused(change: Any, message: str) -> None:
    with pytest.raises(DamagedModelError, match=message):
        read_text(xgboost_with(change, categories=True))


def test_the_largest_code_of_a_category_of_xgboost_is_read() -> None:
    """Beyond it float32 does not hold every whole number, so that two codes could be one."""
    largest = 2**24 - 1
    ensemble = read_text(xgboost_with(lambda t: t["categories"].__setitem__(-1, largest), categories=True))
    assert max(codes.max() for tree in ensemble.trees for codes in tree.category_sets) == largest


def test_a_chain_of_nodes_without_end_is_refused() -> None:
    def chain(tree: dict[str, Any]) -> None:
        n = 2 * 20_000 + 1
        inner = np.arange(n) % 2 == 0
        inner[-1] = False
        tree["left_children"] = np.where(inner, np.arange(n) + 1, -1).tolist()
        tree["right_children"] = np.where(inner, np.arange(n) + 2, -1).tolist()
        for name in ("split_indices", "split_conditions", "default_left", "split_type"):
            tree[name] = [0] * n
        for name in ("parents", "base_weights", "loss_changes", "sum_hessian"):
            tree[name] = [0] * n
        tree["tree_param"]["num_nodes"] = str(n)

    with pytest.raises(DamagedModelError, match="levels deep"):
        read_text(xgboost_with(chain))


def lightgbm_with(key: str, words: Callable[[list[str]], list[str]]) -> str:
    """A model file of LightGBM, the first such line of a tree that splits changed."""
    for text in model_files("lightgbm"):
        lines = text.split("\n")
        for k, line in enumerate(lines):
            name, _, value = line.partition("=")
            if name == key and len(value.split()) >= 2:
                lines[k] = f"{key}={' '.join(words(value.split()))}"
                return "\n".join(lines)
    raise AssertionError("no such model")


@pytest.mark.parametrize(
    ("key", "words", "message"),
    [
        ("left_child", lambda w: ["999", *w[1:]], "beyond the"),
        ("left_child", lambda w: ["-999", *w[1:]], "a leaf beyond its"),
        ("left_child", lambda w: ["0", *w[1:]], "is the root"),
        ("right_child", lambda w: [w[1], *w[1:]], "two parents"),
        ("left_child", lambda w: w[1:], "numbers, not"),
        ("split_feature", lambda w: ["77", *w[1:]], "feature beyond"),
        ("split_feature", lambda w: ["-1", *w[1:]], "feature beyond"),
        ("split_feature", lambda w: ["1.5", *w[1:]], "must be"),
        ("threshold", lambda w: ["nan"] * len(w), "no number|numbers of the"),
        ("threshold", lambda w: ["1e", *w[1:]], "must be"),
        ("decision_type", lambda w: ["12", *w[1:]], "from 0 to 11"),
        ("decision_type", lambda w: ["-1", *w[1:]], "from 0 to 11"),
        ("leaf_value", lambda w: ["inf", *w[1:]], "not finite"),
        ("leaf_value", lambda w: [*w, "1"], "numbers, not"),
        ("leaf_count", lambda w: w[1:], "must be"),
        ("split_gain", lambda w: w[1:], "must be"),
        ("cat_boundaries", lambda w: ["0", "-5", *w[2:]], "must be|numbers, not"),
        ("feature_names", lambda w: w[1:], "a list of"),
        ("feature_names", lambda w: [w[0], *w[:-1]], "distinct names"),
        ("tree_sizes", lambda w: w[1:], "sizes of"),
    ],
)
def test_a_tree_of_lightgbm_that_is_none_is_refused(key: str, words: Any, message: str) -> None:
    with pytest.raises(DamagedModelError, match=message):
        read_text(lightgbm_with(key, words))


def lightgbm_file(*, categories: bool = False) -> str:
    """A model file of LightGBM with several trees, and with splits on categories if asked for."""
    texts = model_files("lightgbm")
    return next(text for text in texts if "\nTree=1\n" in text and (not categories or "\ncat_boundaries=" in text))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (r"(?s)\nend of trees.*", "", "it does not go from 'tree' to 'end of trees'"),
        ("\nTree=1\n", "\nTree=7\n", "its trees are not numbered from 0"),
        ("\nend of parameters", "", "its parameters have no end"),
        (r"num_tree_per_iteration=\d+", "num_tree_per_iteration=1000", "1000 per round, which is not a whole number"),
        (r"\nversion=v\d", "\nversion=v9", "version is 'v9', but must be 'v3' or 'v4'"),
        (r"\npandas_categorical:.*", "\npandas_categorical:[[null]]", "but must be a list of texts and numbers"),
        (r"\npandas_categorical:.*", "\npandas_categorical:[[", "is not a complete JSON document"),
    ],
)
def test_a_file_of_lightgbm_that_is_none_is_refused(old: str, new: str, message: str) -> None:
    damaged, n_changed = re.subn(old, new, lightgbm_file(), count=1)
    assert n_changed == 1
    with pytest.raises(DamagedModelError, match=message):
        read_text(damaged)


def test_categories_of_an_old_lightgbm_meant_something_else_and_are_refused() -> None:
    old = lightgbm_file(categories=True).replace("version=v4", "version=v3")
    with pytest.raises(UnreadableModelError, match=r"is 'v3', and LightGBM before 4\.0 had other splits on categories"):
        read_text(old)


def catboost_with(change: Callable[[dict[str, Any]], Any], kind: str) -> str:
    """A model file of CatBoost, symmetric or not, that was changed."""
    for text in model_files("catboost"):
        document = json.loads(text)
        trees = document.get(kind, [])
        if trees and ("split" in trees[0] or len(trees[0].get("splits", [])) > 1):
            change(document)
            return json.dumps(document)
    raise AssertionError("no such model")


def with_columns(library: str, n_columns: int) -> str:
    """A model file that says that it is about so many columns, which it does not name."""
    if library == "lightgbm":
        return re.sub(r"max_feature_idx=\d+", f"max_feature_idx={n_columns - 1}", model_files(library)[0])
    document = json.loads(model_files(library)[0])
    if library == "catboost":
        document["features_info"]["float_features"][-1]["flat_feature_index"] = n_columns - 1
    else:
        document["learner"]["learner_model_param"]["num_feature"] = str(n_columns)
        document["learner"] |= {"feature_names": [], "feature_types": []}
    return json.dumps(document)


@pytest.mark.parametrize("n_columns", [2**20 + 1, 20_000_000, 2**31 - 1])
@pytest.mark.parametrize("library", CASES)
def test_columns_out_of_all_proportion_are_refused_before_they_take_memory(library: str, n_columns: int) -> None:
    text = with_columns(library, n_columns)
    tracemalloc.start()
    try:
        with pytest.raises(DamagedModelError, match="save it again"):
            read_text(text)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 20 * len(text) + 1_000_000


def make_chain(tree: dict[str, Any], n: int) -> None:
    """A tree of XGBoost becomes a chain of n splits."""
    split, leaf, zeros = np.arange(n), np.full(n + 1, -1), [0] * (2 * n + 1)
    tree.clear()
    tree |= dict.fromkeys(("split_indices", "default_left", "split_conditions"), zeros)
    tree["tree_param"] = {"num_nodes": f"{2 * n + 1}", "size_leaf_vector": "1", "num_deleted": "0"}
    tree["left_children"] = np.append(split + n + 1, leaf).tolist()
    tree["right_children"] = np.append(split + 1, leaf).tolist()


def share_a_set(tree: dict[str, Any], n: int) -> None:
    """All splits of a chain have the same categories."""
    make_chain(tree, n)
    tree |= {"split_type": [1] * n + [0] * (n + 1), "categories": list(range(n)), "categories_nodes": list(range(n))}
    tree |= {"categories_segments": [0] * n, "categories_sizes": [n] * n}


def share_values(tree: dict[str, Any], n: int) -> None:
    """All leaves of a chain have the same values."""
    make_chain(tree, n)
    tree["tree_param"]["size_leaf_vector"] = f"{n}"
    tree["right_children"][n:] = [0] * (n + 1)
    tree["leaf_weights"] = [0.5] * n


def make_empty_leaves(document: dict[str, Any], n: int) -> None:
    """The first tree of CatBoost, made one with n leaves without values, and one leaf with n of them."""
    number = document["features_info"]["float_features"][0]["feature_index"]
    split = {"split_type": "FloatFeature", "float_feature_index": number, "border": 0.5}
    branches = [{"value": [0.5] * n}, *({"value": []} for _ in range(n))]
    while len(branches) > 1:
        pairs = [{"split": split, "left": a, "right": b} for a, b in zip(branches[::2], branches[1::2], strict=False)]
        branches = [*pairs, *branches[2 * len(pairs) :]]
    document["trees"][0] = branches[0]


#: Files that would take memory by the square of their size, and what is said of them.
BULKY: dict[str, tuple[Callable[[int], str], str]] = {
    "a long text among numbers": (
        lambda n: xgboost_with(lambda tree: tree.update(categories=["x" * n, *[0] * n])),
        "must be a list of whole numbers",
    ),
    "a set for all splits": (
        lambda n: xgboost_with(lambda tree: share_a_set(tree, n), categories=True),
        "must be parts of the 3000 categories, none of them twice",
    ),
    "values for all leaves": (
        lambda n: several_outputs(lambda tree: share_values(tree, n)),
        "must be 3000 numbers for each of 3001 leaves",
    ),
    "leaves without values": (
        lambda n: catboost_with(lambda document: make_empty_leaves(document, n), "trees"),
        "must be the values of a leaf",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BULKY)
def test_a_file_never_takes_more_than_a_small_multiple_of_its_size(name: str) -> None:
    made, message = BULKY[name]
    text = made(3000)
    tracemalloc.start()
    try:
        with pytest.raises(DamagedModelError, match=message):
            read_text(text)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 20 * len(text) + 1_000_000


def lightgbm_chains(n_splits: int, *, n_trees: int = 1) -> str:
    """A model file of LightGBM, each tree a chain of splits."""
    lines = {
        "num_leaves": [n_splits + 1],
        "num_cat": [0],
        "split_feature": [0] * n_splits,
        "threshold": range(n_splits),
        "decision_type": [2] * n_splits,
        "left_child": range(-1, -n_splits - 1, -1),
        "right_child": [*range(1, n_splits), -n_splits - 1],
        "leaf_value": [1] * (n_splits + 1),
    }
    tree = "".join(f"{key}={' '.join(map(str, values))}\n" for key, values in lines.items())
    head = "tree\nversion=v4\nnum_tree_per_iteration=1\nmax_feature_idx=0\nfeature_names=Column_0\n"
    return head + "".join(f"\nTree={k}\n{tree}" for k in range(n_trees)) + "\nend of trees\n"


#: Files of trees that are chains of splits, and the depth of the deepest.
CHAINS: dict[str, tuple[Callable[[], str], str]] = {
    "xgboost": (lambda: xgboost_with(lambda tree: make_chain(tree, 8000)), "8,000"),
    "lightgbm": (lambda: lightgbm_chains(8000), "8,000"),
    "lightgbm, many trees": (lambda: lightgbm_chains(800, n_trees=4), "800"),
}


@pytest.mark.parametrize("name", CHAINS)
def test_a_file_whose_rules_take_memory_by_the_square_of_its_size_is_refused(name: str) -> None:
    made, depth = CHAINS[name]
    text = made()
    tracemalloc.start()
    try:
        with pytest.raises(UnreadableModelError, match=rf"is {depth} levels deep.*train with a lower max_depth"):
            read_text(text).rules()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 20 * len(text) + 1_000_000


@pytest.mark.parametrize(("n_splits", "n_trees"), [(1000, 1), (300, 100)], ids=["one chain", "chains of 300"])
def test_files_of_trees_some_hundred_levels_deep_are_read(n_splits: int, n_trees: int) -> None:
    read = read_text(lightgbm_chains(n_splits, n_trees=n_trees))
    assert len(read.trees) == n_trees and len(read.trees[0].leaves) == n_splits + 1


@pytest.mark.slow
def test_a_model_of_xgboost_with_many_columns_is_read() -> None:
    assert read_text(with_columns("xgboost", 2**20)).rules().n_features == 2**20


def first_split(document: dict[str, Any]) -> dict[str, Any]:
    if "trees" in document:
        return document["trees"][0]["split"]
    return document["oblivious_trees"][0]["splits"][0]


@pytest.mark.parametrize("kind", ["trees", "oblivious_trees"])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: first_split(d).update(split_type="FloatFeature", border=1.0, float_feature_index=99), "one of the"),
        (lambda d: first_split(d).update(split_type="FloatFeature", border=1e39, float_feature_index=0), "float32"),
        (lambda d: first_split(d).update(split_type="FloatFeature", border=None, float_feature_index=0), "finite"),
        (lambda d: first_split(d).update(split_type="OneHotFeature", cat_feature_index=9, value=1), "one of the"),
        (lambda d: first_split(d).pop("split_type"), "has no 'split_type'"),
        (lambda d: d["features_info"]["float_features"].pop(1), "numbered from 0"),
        (lambda d: d["features_info"]["float_features"][0].update(nan_value_treatment="?"), "AsTrue"),
        (lambda d: d["features_info"]["float_features"][0].update(flat_feature_index=1), "numbered from 0"),
        (lambda d: d["scale_and_bias"].pop(), "a scale and a bias"),
        (lambda d: [d.pop("trees", None), d.pop("oblivious_trees", None)], "neither oblivious_trees nor trees"),
    ],
)
def test_a_model_of_catboost_that_is_none_is_refused(change: Any, message: str, kind: str) -> None:
    with pytest.raises(DamagedModelError, match=message):
        read_text(catboost_with(change, kind))


def test_leaves_of_catboost_that_are_not_there_are_refused() -> None:
    def leaves(document: dict[str, Any], name: str) -> list[float]:
        return document["oblivious_trees"][0][name]

    for change in (
        lambda d: leaves(d, "leaf_values").pop(),
        lambda d: leaves(d, "leaf_weights").pop(),
        lambda d: leaves(d, "leaf_values").__setitem__(0, float("nan")),
        lambda d: [leaves(d, "leaf_values").__setitem__(0, 1e308), d["scale_and_bias"].__setitem__(0, 1e9)],
        lambda d: d["oblivious_trees"][0].update(splits=d["oblivious_trees"][0]["splits"] * 40),
    ):
        with pytest.raises(DamagedModelError):
            read_text(catboost_with(change, "oblivious_trees"))
    with pytest.raises(DamagedModelError, match="has no 'value'"):
        read_text(catboost_with(lambda d: d["trees"][0].update(left={}), "trees"))


def one_hot(document: dict[str, Any]) -> dict[str, Any]:
    """The first split, made one on a column of categories that the file now has."""
    info = document["features_info"]
    place = sum(len(info[kind]) for kind in info if kind.endswith("_features"))
    category = {"flat_feature_index": place, "feature_index": 99, "feature_id": "colour", "values": [11, 22]}
    info.setdefault("categorical_features", []).append(category)
    split = first_split(document)
    split.update(split_type="OneHotFeature", cat_feature_index=99, value=22)
    return split


@pytest.mark.parametrize("kind", ["trees", "oblivious_trees"])
def test_a_split_of_catboost_on_no_known_category_is_refused(kind: str) -> None:
    read = read_text(catboost_with(one_hot, kind))
    assert any(22 in known.hashes for known in read.categories.values())

    with pytest.raises(DamagedModelError, match="value is 33, but must be the hash of one of the feature's categories"):
        read_text(catboost_with(lambda document: one_hot(document).update(value=33), kind))


def splits_on(values: list[int], n_categories: int) -> str:
    """A model file of CatBoost with a tree that splits on each of these categories."""

    def change(document: dict[str, Any]) -> None:
        split = one_hot(document)
        document["features_info"]["categorical_features"][-1]["values"] = list(range(n_categories))
        waiting: list[dict[str, Any]] = [{"value": 0.5} for _ in range(len(values) + 1)]
        for place, value in enumerate(values):
            left, right = waiting[2 * place : 2 * place + 2]
            waiting.append({"split": split | {"value": value}, "left": left, "right": right})
        document["trees"] = waiting[-1:]

    return catboost_with(change, "trees")


@pytest.mark.slow
def test_a_late_category_of_catboost_is_found_as_fast_as_the_first() -> None:
    def seconds(values: list[int]) -> float:
        text = splits_on(values, 30_000)
        start = time.perf_counter()
        read_text(text)
        return time.perf_counter() - start

    assert seconds(list(range(30_000))) < 5 * seconds([0] * 30_000)


@pytest.mark.parametrize("kind", ["trees", "oblivious_trees"])
def test_a_split_of_catboost_on_text_is_refused(kind: str) -> None:
    with pytest.raises(UnreadableModelError, match="is a split of type TextFeature, which rules cannot express"):
        read_text(catboost_with(lambda document: first_split(document).update(split_type="TextFeature"), kind))


def test_leaves_of_catboost_with_other_numbers_of_values_are_refused() -> None:
    def another(document: dict[str, Any]) -> None:
        leaf = document["trees"][0]
        while "split" in leaf:
            leaf = leaf["left"]
        leaf["value"] = [1.0] * 7

    with pytest.raises(DamagedModelError, match="must be a tree whose leaves have 7 values each"):
        read_text(catboost_with(another, "trees"))

    def twice(document: dict[str, Any]) -> None:
        tree = document["oblivious_trees"][0]
        document["oblivious_trees"].append(tree | {"leaf_values": tree["leaf_values"] * 2})

    with pytest.raises(DamagedModelError, match=r"has leaves of \[\d, \d\] values; the model file is damaged"):
        read_text(catboost_with(twice, "oblivious_trees"))


def test_weights_of_leaves_of_catboost_may_be_left_out() -> None:
    whole = read_text(catboost_with(lambda document: None, "oblivious_trees"))
    without = read_text(
        catboost_with(lambda d: [tree.pop("leaf_weights") for tree in d["oblivious_trees"]], "oblivious_trees")
    )
    assert [tree.value.tolist() for tree in whole.trees] == [tree.value.tolist() for tree in without.trees]


# Other files ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [b"", b"\x80\x04\x95", b"CBM1\x00\xff", b"{L\x00\x00\x00\x00\x00\x00\x00\x07learner{\xff", b"hello", b"[1, 2]"],
    ids=["empty", "pickle", "CatBoost's binary", "UBJSON", "text", "a list"],
)
def test_files_of_other_formats_are_refused_with_the_way_out(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(content)
    with pytest.raises(DamagedModelError, match=r"save_model\('model\.json'\).*save_model\('model\.txt'\)"):
        read_trees(tmp_path / "model")


def test_json_that_is_no_model_is_refused() -> None:
    with pytest.raises(DamagedModelError, match="not a model that can be read"):
        read_text('{"a": 1}')


def test_a_file_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_trees(tmp_path / "nowhere.json")


def test_a_file_beyond_the_limit_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_file, "MAX_BYTES", 1000)
    (tmp_path / "model.json").write_bytes(b"\xff" * 1001)
    with pytest.raises(DamagedModelError, match=r"model.json has 1,001 bytes, more than the limit of 1,000"):
        read_trees(tmp_path / "model.json")
