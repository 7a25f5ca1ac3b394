"""Names of the package, found wherever they live: documented modules may move between two recordings."""

from __future__ import annotations

import inspect
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import rulecover


@cache
def named(name: str, home: str) -> Any:
    """What the package calls `name`: in the module `home` if it is there, else in the first module that defines it."""
    try:
        return getattr(import_module(home), name)
    except (ImportError, AttributeError):
        return _defined_anywhere(name)


def _defined_anywhere(name: str) -> Any:
    for module in walk_packages(rulecover.__path__, "rulecover."):
        if not module.name.endswith("__main__"):
            found = getattr(import_module(module.name), name, None)
            if getattr(found, "__module__", None) == module.name:
                return found
    raise LookupError(f"no module of rulecover defines {name}; give record_names.py its new name.")


def accepted(function: Any, *spellings: str) -> str:
    """The first of these spellings of a parameter that the function takes."""
    known = inspect.signature(function).parameters
    return next(name for name in spellings if name in known)
