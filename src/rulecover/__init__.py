"""Turn tree ensembles into a few rules that people can read, trust and ship."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rulecover.counting.certify import certify
    from rulecover.counting.cover_table import cover_table
    from rulecover.data.encoder import TableEncoder
    from rulecover.estimators.explain import explain
    from rulecover.estimators.linear import RuleTransformer, linear_rules
    from rulecover.estimators.mirco import MIRCOClassifier, MIRCORegressor
    from rulecover.estimators.rcboost import RCBoostClassifier, RCBoostRegressor
    from rulecover.estimators.rulepath import RulePathClassifier, RulePathRegressor
    from rulecover.exceptions import RulecoverWarning
    from rulecover.partitions.table import open_table
    from rulecover.readers import read_trees
    from rulecover.report.report import write_report
    from rulecover.report.summary import Summary
    from rulecover.rules.ruleset import RuleSet

__version__ = "0.1.0"

# Public names and where they live: imported when first used, so that `import rulecover` stays light.
_HOMES = {
    "MIRCOClassifier": "rulecover.estimators.mirco",
    "MIRCORegressor": "rulecover.estimators.mirco",
    "RCBoostClassifier": "rulecover.estimators.rcboost",
    "RCBoostRegressor": "rulecover.estimators.rcboost",
    "RulePathClassifier": "rulecover.estimators.rulepath",
    "RulePathRegressor": "rulecover.estimators.rulepath",
    "RuleSet": "rulecover.rules.ruleset",
    "RuleTransformer": "rulecover.estimators.linear",
    "RulecoverWarning": "rulecover.exceptions",
    "Summary": "rulecover.report.summary",
    "TableEncoder": "rulecover.data.encoder",
    "certify": "rulecover.counting.certify",
    "cover_table": "rulecover.counting.cover_table",
    "explain": "rulecover.estimators.explain",
    "linear_rules": "rulecover.estimators.linear",
    "open_table": "rulecover.partitions.table",
    "read_trees": "rulecover.readers",
    "write_report": "rulecover.report.report",
}

__all__ = [
    "MIRCOClassifier",
    "MIRCORegressor",
    "RCBoostClassifier",
    "RCBoostRegressor",
    "RulePathClassifier",
    "RulePathRegressor",
    "RuleSet",
    "RuleTransformer",
    "RulecoverWarning",
    "Summary",
    "TableEncoder",
    "__version__",
    "certify",
    "cover_table",
    "explain",
    "linear_rules",
    "open_table",
    "read_trees",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'rulecover' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
