"""Every public callable documents its parameters, what it returns and what it raises."""

from __future__ import annotations

import inspect
import re
import runpy
from collections.abc import Callable, Iterator
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NAMES = runpy.run_path(str(ROOT / "docs" / "site_names.py"))
_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", flags=re.MULTILINE)
_NOTHING = {"None", inspect.Signature.empty, None}


def sections(value: object) -> dict[str, str]:
    """The sections of a docstring by title."""
    _, *rest = _SECTION.split(inspect.getdoc(value) or "")
    return dict(zip(rest[::2], rest[1::2], strict=True))


def documented(value: object) -> set[str]:
    """The names that a docstring describes."""
    found = sections(value)
    lines = (found.get("Parameters", "") + "\n" + found.get("Attributes", "")).splitlines()
    heads = [line.split(" : ")[0] for line in lines if line and not line.startswith(" ")]
    return {name.strip().lstrip("*") for head in heads for name in head.split(",")}


def public() -> Iterator[tuple[str, Any]]:
    """Public functions and classes, and the public methods of the classes that are ours, each once."""
    seen: set[int] = set()
    for module in NAMES["MODULES"]:
        for name in NAMES["public_names"](module):
            value = getattr(import_module(module), name)
            members = inspect.getmembers(value, inspect.isroutine) if inspect.isclass(value) else []
            for label, each in ((f"{module}.{name}", value), *((f"{module}.{name}.{key}", f) for key, f in members)):
                plain = inspect.unwrap(getattr(each, "__func__", each))
                ours = str(getattr(plain, "__module__", "")).startswith("rulecover")
                if ours and callable(plain) and not label.split(".")[-1].startswith("_") and id(plain) not in seen:
                    seen.add(id(plain))
                    yield label, plain


CALLABLES = dict(public())
CLASSES = {name: value for name, value in CALLABLES.items() if inspect.isclass(value)}
FUNCTIONS = {name: value for name, value in CALLABLES.items() if not inspect.isclass(value)}


def parameters(value: Callable[..., Any]) -> set[str]:
    """The names of the parameters; protocols, errors and enumerations have none of their own."""
    if inspect.isclass(value) and (issubclass(value, (BaseException, Enum)) or getattr(value, "_is_protocol", False)):
        return set()
    return set(inspect.signature(value).parameters) - {"self", "cls"}


@pytest.mark.parametrize("name", CALLABLES)
def test_every_parameter_is_documented(name: str) -> None:
    value = CALLABLES[name]

    assert inspect.getdoc(value)
    assert parameters(value) - documented(value) == set()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_returned_or_yielded_is_documented(name: str) -> None:
    value = FUNCTIONS[name]

    returned = inspect.signature(value).return_annotation
    assert returned in _NOTHING or {"Returns", "Yields"} & set(sections(value))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_raised_is_documented(name: str) -> None:
    value = FUNCTIONS[name]

    raised = set(re.findall(r"^\s+raise ([A-Z]\w+)\(", inspect.getsource(value), flags=re.MULTILINE))
    told = sections(value).get("Raises", "")
    assert {error for error in raised if not re.search(rf"^(\w+\.)*{error}$", told, flags=re.MULTILINE)} == set()


def test_the_scan_sees_methods_that_are_inherited() -> None:
    assert {"rulecover.RulePathClassifier.fit", "rulecover.MIRCOClassifier.why", "rulecover.explain"} <= set(FUNCTIONS)
    assert len(FUNCTIONS) > 100 and len(CLASSES) > 30
