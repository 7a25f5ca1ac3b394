"""A setting as a text: the same for equal settings in any process, and another for settings that differ."""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from enum import Enum
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

#: Packages whose versions are compared elsewhere: their functions and classes need no more than a name.
_KNOWN = frozenset({"builtins", "numpy", "scipy", "sklearn", "rulecover", "xgboost", "lightgbm", "catboost"})

#: Values whose `repr` says it all.
_PLAIN = (type(None), bool, int, float, complex, str, bytes, np.generic, type(...))

#: Values in a module that the functions in it use as settings.
_CONSTANT = (*_PLAIN, FunctionType, type, ModuleType, BuiltinFunctionType, np.ndarray, tuple, list, dict, AbstractSet)


def setting_text(value: Any) -> str:
    """A setting in full: arrays by their values, functions by their code and what it uses, objects by their state.

    Raises
    ------
    TypeError
        If there is an object in it whose state cannot be had.

    Examples
    --------
    >>> setting_text((1, "a"))
    "tuple(1, 'a')"
    >>> scorers = [lambda model, X, y, sign=sign: sign * model.score(X, y) for sign in (1, -1)]
    >>> setting_text(scorers[0]) == setting_text(scorers[1])
    False
    """
    return _Description().text(value)


class _Description:
    """A walk through a value, which ends at what it has been to.

    Functions and classes are described once, as they are the same wherever they are used. Other objects may be there
    twice as one or as two that are alike, which is the same setting: of those only what contains itself is cut short.
    """

    def __init__(self) -> None:
        self._defined: dict[int, tuple[int, Any]] = {}
        self._open: list[int] = []

    def text(self, value: Any) -> str:
        if isinstance(value, Enum):
            return f"{_name(type(value))}.{value.name}"
        if isinstance(value, _PLAIN):
            return repr(value)
        if isinstance(value, (FunctionType, type)):
            return self._definition(value)
        if isinstance(value, (ModuleType, BuiltinFunctionType, np.ufunc)):
            return _name(value)
        if id(value) in self._open:
            return f"<{len(self._open) - self._open.index(id(value))} above>"
        self._open.append(id(value))
        text = self._contents(value)
        self._open.pop()
        return text

    def _contents(self, value: Any) -> str:
        kind = type(value).__name__
        if isinstance(value, AbstractSet):
            return f"{kind}({', '.join(sorted(map(self.text, value)))})"
        for is_one, parts in _PARTS:
            if is_one(value):
                return self._series(kind, parts(value))
        return self._state(value)

    def _series(self, kind: str, values: Iterable[Any]) -> str:
        return f"{kind}({', '.join(map(self.text, values))})"

    def _definition(self, value: Any) -> str:
        # A function in another, or without a name, is not found by it.
        if (value.__module__ or "").partition(".")[0] in _KNOWN and "<" not in value.__qualname__:
            return _name(value)
        if (before := self._defined.get(id(value))) is not None:
            return f"<definition {before[0]}>"
        self._defined[id(value)] = len(self._defined), value
        parts = _parts_of_function(value) if isinstance(value, FunctionType) else _parts_of_class(value)
        return self._series(_name(value), parts)

    def _state(self, value: Any) -> str:
        """What would have to be kept to make the object again."""
        try:
            made = value.__reduce_ex__(4)
        except Exception as error:
            raise TypeError(f"a {type(value).__qualname__} does not show what it holds ({error})") from error
        if isinstance(made, str):
            return f"{getattr(value, '__module__', '')}.{made}"
        how, given, *rest = made
        # Lists and mappings give their items one by one, as iterators.
        parts = [each if each is None or isinstance(each, (tuple, Mapping)) else _listed(each) for each in rest]
        how = None if how is getattr(copyreg, "__newobj__", None) else how
        return self._series(_name(type(value)), (how, given, *parts))


def _parts_of_code(code: CodeType) -> tuple[Any, ...]:
    names = code.co_names, code.co_varnames, code.co_freevars
    return code.co_code, code.co_consts, *names, code.co_argcount, code.co_flags


#: Which values are told by their parts, and what those are.
_PARTS: tuple[tuple[Callable[[Any], bool], Callable[[Any], Iterable[Any]]], ...] = (
    (
        lambda value: hasattr(value, "to_text"),
        lambda rules: (list(getattr(rules, "feature_names", ())), rules.to_text()),
    ),
    (lambda value: isinstance(value, np.ndarray), lambda array: (str(array.dtype), array.shape, array.tolist())),
    (lambda value: hasattr(value, "__array__"), lambda frame: (list(getattr(frame, "columns", ())), np.asarray(frame))),
    (lambda value: isinstance(value, Mapping), lambda mapping: (part for item in mapping.items() for part in item)),
    (lambda value: isinstance(value, (list, tuple)), lambda values: values),
    (lambda value: isinstance(value, MethodType), lambda method: (method.__func__, method.__self__)),
    (lambda value: isinstance(value, CodeType), _parts_of_code),
)


def _name(value: Any) -> str:
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value.__name__)}"


def _listed(part: Any) -> Any:
    return list(part) if hasattr(part, "__next__") else part


def _parts_of_function(function: FunctionType) -> tuple[Any, ...]:
    """All on which the result of a function depends, other than its arguments and what it imports."""
    cells = [_content(cell) for cell in function.__closure__ or ()]
    code, around = function.__code__, function.__globals__
    used = {name: _if_constant(around[name]) for name in _names_used(code) if name in around}
    return code, function.__defaults__, function.__kwdefaults__, cells, vars(function), used


def _if_constant(value: Any) -> Any:
    """A value that a function finds in its module; of objects that may change as they are used only the type."""
    return value if isinstance(value, _CONSTANT) else type(value)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not yet assigned
        return "<empty>"


def _names_used(code: CodeType) -> list[str]:
    inner = (name for each in code.co_consts if isinstance(each, CodeType) for name in _names_used(each))
    return list(dict.fromkeys((*code.co_names, *inner)))


def _parts_of_class(cls: type) -> tuple[Any, ...]:
    methods = {name: each for name, each in vars(cls).items() if isinstance(each, FunctionType)}
    return cls.__bases__, methods
