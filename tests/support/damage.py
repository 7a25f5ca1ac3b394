"""Model files damaged in every way we could think of, and what must be true of a file that is read all the same."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rulecover.data.columns import Columns
from rulecover.trees.tree import Leaves, TreeEnsemble

Damage = Callable[[np.random.Generator, str], str]

_VALUES = [
    *(0, -1, 1, 2, -2, 7, 2**31 - 1, -(2**31), 2**31, 2**63, 2**64, 10**30, 1e308, -1e308, 1e-320, 0.5),
    *(float("nan"), float("inf"), float("-inf"), None, True, False, "", "7", "-1", "nan", "x" * 50, "1e9", "٣"),
    *([], {}, [0], [[0]], {"a": 1}, [None], ["a"], [1e400]),
]


def cut(rng: np.random.Generator, text: str) -> str:
    return text[: int(rng.integers(0, len(text)))]


def swapped_letters(rng: np.random.Generator, text: str) -> str:
    """A few letters replaced by others of the file, or by odd ones."""
    letters = list(text)
    for _ in range(int(rng.integers(1, 6))):
        at = int(rng.integers(len(letters)))
        odd = '{}[]",:=-+.eE0123456789 \n\0\u2028é'
        letters[at] = (
            letters[int(rng.integers(len(letters)))] if rng.random() < 0.5 else odd[int(rng.integers(len(odd)))]
        )
    return "".join(letters)


def moved_piece(rng: np.random.Generator, text: str) -> str:
    """A piece of the file left out, doubled, or put elsewhere."""
    a, b = sorted(rng.integers(0, len(text), 2).tolist())
    b = min(b, a + int(rng.integers(1, 200)))
    rest = text[:a] + text[b:]
    at = int(rng.integers(0, len(rest) + 1))
    kept = rest if rng.random() < 0.5 else text
    return kept[:at] + text[a:b] * int(rng.integers(0, 3)) + kept[at:]


def changed_number(rng: np.random.Generator, text: str) -> str:
    """One number of the file replaced by another."""
    starts = [k for k, letter in enumerate(text) if letter.isdigit() and not (k and text[k - 1].isdigit())]
    if not starts:
        return text
    a = starts[int(rng.integers(len(starts)))]
    b = a
    while b < len(text) and text[b] in "0123456789.eE+-":
        b += 1
    return text[:a] + str(_VALUES[int(rng.integers(len(_VALUES)))]) + text[b:]


def changed_line(rng: np.random.Generator, text: str) -> str:
    """One line left out, doubled, cut, shuffled, given the values of another, or an odd one."""
    lines = text.split("\n")
    a, b = (int(k) for k in rng.integers(0, len(lines), 2))
    key, _, value = lines[a].partition("=")
    words = value.split()
    choice = int(rng.integers(7))
    if choice == 0:
        del lines[a]
    elif choice == 1:
        lines.insert(b, lines[a])
    elif choice == 2:
        lines[a] = f"{key}={' '.join(words[: len(words) // 2])}"
    elif choice == 3:
        lines[a] = f"{key}={' '.join(rng.permutation(words).tolist())}"
    elif choice == 4:
        lines[a] = f"{key}={lines[b].partition('=')[2]}"
    elif choice == 5 and words:
        words[int(rng.integers(len(words)))] = str(_VALUES[int(rng.integers(len(_VALUES)))])
        lines[a] = f"{key}={' '.join(words)}"
    else:
        lines[a] = f"{key}={_VALUES[int(rng.integers(len(_VALUES)))]}"
    return "\n".join(lines)


def changed_json(rng: np.random.Generator, text: str) -> str:
    """A few places of the document changed: still JSON, but perhaps no model."""
    document = json.loads(text)
    for _ in range(int(rng.integers(1, 4))):
        _change(rng, *_any_place(rng, document))
    return json.dumps(document)


def _any_place(rng: np.random.Generator, document: Any) -> tuple[Any, Any]:
    """Some container and a place in it, deep ones as likely as shallow ones."""
    places = list(_places(document))
    return places[int(rng.integers(len(places)))]


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in list(keys):
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from _places(value[key])


def _change(rng: np.random.Generator, container: Any, key: Any) -> None:
    choice, value = int(rng.integers(6)), container[key]
    if choice == 0:
        del container[key]
    elif choice == 1 and isinstance(container, list):
        container.insert(int(rng.integers(len(container) + 1)), copy.deepcopy(value))
    elif choice == 2 and isinstance(container, list):
        container[key] = container[int(rng.integers(len(container)))]
    elif choice == 3 and isinstance(value, list):
        container[key] = value[: len(value) // 2]
    elif choice == 4 and isinstance(value, list) and value:
        container[key] = [value[int(k)] for k in rng.permutation(len(value))]
    else:
        container[key] = _VALUES[int(rng.integers(len(_VALUES)))]


def deep_nesting(rng: np.random.Generator, text: str) -> str:
    """Brackets by the thousands: a parser that calls itself runs out of room."""
    at = int(rng.integers(0, len(text)))
    return text[:at] + "[" * int(rng.integers(1_000, 50_000)) + text[at:]


ANY_TEXT: tuple[Damage, ...] = (cut, swapped_letters, moved_piece, changed_number)
JSON_DAMAGE: tuple[Damage, ...] = (*ANY_TEXT, changed_json, changed_json, changed_json, changed_json, deep_nesting)
TEXT_DAMAGE: tuple[Damage, ...] = (*ANY_TEXT, changed_line, changed_line, changed_line, changed_line)


def check_sound(ensemble: TreeEnsemble) -> None:
    """Each tree is one: children in range, each node reached once, features and sets that exist; and it can be used."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(20, ensemble.n_features)) if ensemble.n_features < 10_000 else None
    assert len(ensemble.routes) == len(ensemble.trees)
    assert ensemble.output is not None and len(ensemble.output) == len(ensemble.trees)
    for tree in ensemble.trees:
        n = len(tree.left)
        assert len(tree.right) == len(tree.feature) == len(tree.threshold) == len(tree.missing_left) == n
        assert tree.value is not None and tree.value.shape[0] == n and np.isfinite(tree.value).all()
        inner = tree.left >= 0
        assert (inner == (tree.right >= 0)).all()
        children = np.concatenate([tree.left[inner], tree.right[inner]])
        assert sorted(children.tolist()) == list(range(1, n))
        seen, waiting = set(), [0]
        while waiting:
            node = waiting.pop()
            assert node not in seen
            seen.add(node)
            if tree.left[node] >= 0:
                waiting += [int(tree.left[node]), int(tree.right[node])]
        assert len(seen) == n
        assert (tree.feature[inner] >= 0).all() and (tree.feature[inner] < ensemble.n_features).all()
        assert not np.isnan(tree.threshold).any()
        if tree.category is not None:
            assert (tree.category[inner] < len(tree.category_sets)).all()
            assert all((np.diff(codes) > 0).all() for codes in tree.category_sets)
        if rows is not None:
            leaf = tree.apply(rows)
            columns = Columns(("x",) * ensemble.n_features)
            rules = Leaves((tree,), np.zeros(len(tree.leaves), int), tree.leaves, columns).rules()
            np.testing.assert_array_equal(rules.apply(rows).toarray(), leaf[:, None] == tree.leaves)
