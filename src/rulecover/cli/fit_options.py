"""The options of ``rulecover fit`` for each way of training; none has a value where it is not given."""

from __future__ import annotations

from typing import Annotated, Any

from rulecover.cli.choices import (
    Admit,
    Choose,
    ClassWeight,
    Criterion,
    Duals,
    Pricing,
    Remove,
    RuleWeights,
    ShippedFallback,
    Solver,
    Vote,
)
from rulecover.cli.options import FOREST, RULES, number, option, whole

_COVER, _BOOST, _PATH = "Covers (mirco)", "Boosting (rcboost)", "Paths (path)"


def _columns(name: str, text: str) -> Any:
    return option(_PATH, False, f"{text}; may be repeated.", name, metavar="COLUMN")


Trees = Annotated[int | None, whole(FOREST, "100", "Trees (mirco, path).")]
Depth = Annotated[int | None, whole(FOREST, "10; for boosted numbers 5", "Depth of the trees.")]

MaxRules = Annotated[
    int | None, whole(RULES, "no limit, with path 50, in a cover of numbers 20", "Never more rules (mirco, path).")
]
VoteOption = Annotated[
    Vote | None,
    option(
        RULES,
        "counts; fitted values for numbers",
        "What a rule adds for each class, or weighs in a mean (mirco, rcboost).",
    ),
]
FallbackOption = Annotated[
    ShippedFallback | None,
    option(RULES, "closest; mean for numbers", "Who answers for a row that no rule covers (mirco, rcboost)."),
]
CriterionOption = Annotated[
    Criterion | None,
    option(RULES, "gini; squared_error for numbers", "How the impurity of a rule is measured (mirco, rcboost)."),
]
ClassWeightOption = Annotated[
    ClassWeight | None,
    option(RULES, "every row counts the same", "balanced: every class counts the same, however few rows it has."),
]
TimeLimit = Annotated[
    float | None,
    option(
        RULES,
        "the method's own",
        "For the solvers search and exact, and for boosting.",
        min=0.001,
        metavar="SECONDS",
    ),
]

SolverOption = Annotated[
    Solver | None, option(_COVER, "greedy; forward for numbers", "How rules are chosen; see explain.")
]
Demand = Annotated[int | None, whole(_COVER, "1", "Rules that must cover each row.")]
ImpurityWeight = Annotated[float | None, number(_COVER, "1", "Price of impurity; see explain.")]
LengthWeight = Annotated[float | None, number(_COVER, "0", "Price of a condition; see explain.")]
Prune = Annotated[
    bool | None, option(_COVER, False, "Drop conditions that are not needed, and cover again.", "--prune")
]

Calls = Annotated[int | None, whole(_BOOST, "50", "Trees that boosting adds.", "--calls", least=0)]
PricingOption = Annotated[Pricing | None, option(_BOOST, "tree", "Where new rules come from.")]
DualsOption = Annotated[Duals | None, option(_BOOST, "equal", "Which optimal duals weigh the rows.")]
AdmitOption = Annotated[Admit | None, option(_BOOST, "all", "Which rules of a new tree enter the pool.")]
RemoveOption = Annotated[Remove | None, option(_BOOST, "rules stay", "stale: rules that stay dear leave.")]
RuleWeightsOption = Annotated[
    RuleWeights | None, option(_BOOST, "all the same", "z: rules vote by their share in the optimum.")
]
EarlyStopping = Annotated[
    int | None, whole(_BOOST, "never", "Stop after so many calls without a better answer on a held-out tenth.")
]

Within = Annotated[
    float | None,
    number(_PATH, False, "The fewest rules that are at most this far below the forest, by cross-validation."),
]
ChooseOption = Annotated[Choose | None, option(_PATH, "one-se", "How many rules to take, by cross-validation.")]
MaxClauses = Annotated[int | None, whole(_PATH, "no limit", "Never more conditions in a rule.")]
ModelShare = Annotated[
    float | None, number(_PATH, "0.5", "How much the rules listen to the forest; the rest to the target.", most=1.0)
]
Ridge = Annotated[float | None, number(_PATH, "5", "Higher: smaller votes.", least=0.001)]
Forbidden = Annotated[list[str] | None, _columns("--forbid", "A column that no rule may use")]
Required = Annotated[list[str] | None, _columns("--require", "A column that some rule must use")]
Rising = Annotated[list[str] | None, _columns("--rising", "A column that must not lower the answer where it grows")]
Falling = Annotated[list[str] | None, _columns("--falling", "A column that must not raise the answer where it grows")]
