"""The public names, as the API reference lists them."""

from __future__ import annotations

from importlib import import_module

#: Modules whose public names the API reference lists.
MODULES = (
    "rulecover",
    "rulecover.export",
    "rulecover.plot",
    "rulecover.setcover",
    "rulecover.study",
    "rulecover.exceptions",
)


def public_names(module: str) -> list[str]:
    """What `__all__` lists; of a module without it, the classes that are defined there."""
    holder = import_module(module)
    defined = [name for name, value in vars(holder).items() if getattr(value, "__module__", "") == module]
    return [name for name in getattr(holder, "__all__", defined) if not name.startswith("__")]
