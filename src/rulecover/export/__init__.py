"""Exports: files and code that predict as the model does, without this package."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from rulecover.exceptions import MissingExtraError

if TYPE_CHECKING:
    from rulecover.export.exported import vote_of
    from rulecover.export.javascript_code import to_javascript
    from rulecover.export.json_file import from_json, schema, to_json
    from rulecover.export.onnx_graph import to_onnx
    from rulecover.export.pandas_code import to_pandas
    from rulecover.export.pmml import to_pmml
    from rulecover.export.polars_expressions import to_polars
    from rulecover.export.python_code import to_python
    from rulecover.export.sql import to_sql, to_sql_expression
    from rulecover.voting.vote import Vote

# Public names and where they live: imported when first used, as each format brings its own packages.
_HOMES = {
    "Vote": "rulecover.voting.vote",
    "from_json": "rulecover.export.json_file",
    "schema": "rulecover.export.json_file",
    "to_javascript": "rulecover.export.javascript_code",
    "to_json": "rulecover.export.json_file",
    "to_onnx": "rulecover.export.onnx_graph",
    "to_pandas": "rulecover.export.pandas_code",
    "to_pmml": "rulecover.export.pmml",
    "to_polars": "rulecover.export.polars_expressions",
    "to_python": "rulecover.export.python_code",
    "to_sql": "rulecover.export.sql",
    "to_sql_expression": "rulecover.export.sql",
    "vote_of": "rulecover.export.exported",
}

# The optional package that a format needs, and the extra that installs it.
_NEEDS = {
    "to_onnx": ("onnx", "onnx"),
    "to_polars": ("polars", "polars"),
    "to_sql": ("sqlglot", "sql"),
    "to_sql_expression": ("sqlglot", "sql"),
}

__all__ = [
    "Vote",
    "from_json",
    "schema",
    "to_javascript",
    "to_json",
    "to_onnx",
    "to_pandas",
    "to_pmml",
    "to_polars",
    "to_python",
    "to_sql",
    "to_sql_expression",
    "vote_of",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'rulecover.export' has no attribute {name!r}")
    package, extra = _NEEDS.get(name, ("rulecover", ""))
    if find_spec(package) is None:
        raise MissingExtraError(
            f"{name} needs the package {package}; install it with: pip install 'rulecover[{extra}]'"
        )
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
