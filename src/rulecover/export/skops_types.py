"""The types that are in skops files of our models: what is loaded of them holds arrays and settings, and runs no code.

``skops.io.load`` refuses every type that is not named by the caller. These are the names to give for models of rules; a
model that the rules come from, such as a forest, is in the file too, and has types of its own, which skops names.
"""

from __future__ import annotations

_NAMES = {
    "data.categories": ("CategorySet", "HashedCategories"),
    "data.columns": ("Columns", "SourceColumns"),
    "data.dates": ("DatePart",),
    "data.encoder": ("EncodedCategories", "EncodedDates", "EncodedLevels", "EncodedNumbers", "LeftOut", "TableEncoder"),
    "data.fingerprint": ("Fingerprint",),
    "data.provenance": ("Provenance",),
    "data.written_numbers": ("Notation",),
    "estimators.binned": ("BinnedTrees",),
    "estimators.cross_fitted": ("CrossFitted",),
    "estimators.linear": ("RuleTransformer",),
    "estimators.mirco": ("MIRCOClassifier", "MIRCORegressor"),
    "estimators.other_target": ("CentredRegressor", "CodedClassifier", "WiderClassifier"),
    "estimators.rcboost": ("RCBoostClassifier", "RCBoostRegressor"),
    "estimators.rulepath": ("RulePathClassifier", "RulePathRegressor"),
    "estimators.linear_trend": ("LinearTrend",),
    "estimators.trend": ("ClassifierWithTrend", "RegressorWithTrend"),
    "mirco.forward": ("Forward",),
    "rcboost.admission": ("Negative",),
    "rcboost.pricing.bicriteria": ("BicriteriaPricing",),
    "rcboost.pricing.binned": ("BinnedPricing",),
    "rcboost.pricing.bins": ("Bins",),
    "rcboost.pricing.exact": ("ExactPricing",),
    "rcboost.pricing.grown": ("GrownNumberTree", "GrownTree"),
    "rcboost.pricing.oracles": ("ForestPricing", "TreePricing"),
    "rcboost.removal": ("Stale",),
    "readers.sklearn.combined": ("ColumnsOfMembers",),
    "readers.sklearn.pipelines": ("TransformedColumns",),
    "readers.sklearn.tables": ("PartsOfDates",),
    "rulepath.family": ("RuleFamily",),
    "rules.clauses": ("Clauses",),
    "rules.ruleset": ("RuleSet",),
    "setcover.exact": ("Exact",),
    "setcover.greedy": ("Greedy",),
    "setcover.problem": ("Certificate",),
    "setcover.search": ("Search",),
    "targets.classes.evidence": ("ClassEvidence",),
    "targets.classes.impurity": ("Entropy", "Gini"),
    "targets.classes.target": ("ClassTarget",),
    "targets.numbers.evidence": ("NumberEvidence",),
    "targets.numbers.impurity": ("SquaredError",),
    "targets.numbers.target": ("NumberTarget",),
    "trees.tree": ("Tree",),
    "voting.answers": ("AddedClasses", "Classes", "LogOddsClasses", "Mean"),
    "voting.classes": ("added_class_votes", "log_odds_class_votes"),
    "voting.fallback": ("ByRules", "Default", "MajorityClass", "SourceModel"),
    "voting.numbers": ("added_values",),
    "voting.vote": ("Vote",),
}

#: The types of our models, as ``skops.io.load(file, trusted=TRUSTED)`` takes them.
TRUSTED: list[str] = [
    "builtins.frozenset",  # of the categories in a clause
    *(f"rulecover.{module}.{name}" for module, names in _NAMES.items() for name in names),
]
