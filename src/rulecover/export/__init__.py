"""Rules shipped: files and code that answer as the model does, without this package."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from rulecover.exceptions import MissingExtraError

if TYPE_CHECKING:
    from rulecover.export.adapters import scored_rules
    from rulecover.export.javascript_code import to_javascript
    from rulecover.export.json_file import from_json, schema, to_json
    from rulecover.export.model import ScoredRules
    from rulecover.export.onnx_graph import to_onnx
    from rulecover.export.pandas_code import to_pandas
    from rulecover.export.pmml import to_pmml
    from rulecover.export.polars_expressions import to_polars
    from rulecover.export.python_code import to_python
    from rulecover.export.sql import to_sql, to_sql_expression

# Public names and where they live: imported when first used, as each format brings its own packages.
_HOMES = {
    "ScoredRules": "model",
    "from_json": "json_file",
    "schema": "json_file",
    "scored_rules": "adapters",
    "to_javascript": "javascript_code",
    "to_json": "json_file",
    "to_onnx": "onnx_graph",
    "to_pandas": "pandas_code",
    "to_pmml": "pmml",
    "to_polars": "polars_expressions",
    "to_python": "python_code",
    "to_sql": "sql",
    "to_sql_expression": "sql",
}

# The package that a format needs and the core does not, and the extra that brings it.
_NEEDS = {
    "to_onnx": ("onnx", "onnx"),
    "to_polars": ("polars", "polars"),
    "to_sql": ("sqlglot", "sql"),
    "to_sql_expression": ("sqlglot", "sql"),
}

__all__ = [
    "ScoredRules",
    "from_json",
    "schema",
    "scored_rules",
    "to_javascript",
    "to_json",
    "to_onnx",
    "to_pandas",
    "to_pmml",
    "to_polars",
    "to_python",
    "to_sql",
    "to_sql_expression",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'rulecover.export' has no attribute {name!r}")
    package, extra = _NEEDS.get(name, ("rulecover", ""))
    if find_spec(package) is None:
        raise MissingExtraError(f"{name} needs the package {package}; install it by: pip install 'rulecover[{extra}]'")
    value = getattr(import_module(f"rulecover.export.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
