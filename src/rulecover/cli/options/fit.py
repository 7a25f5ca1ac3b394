"""The options of ``rulecover fit`` for each way of training; none has a value where it is not given."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from rulecover.cli.options.choices import (
    Admit,
    Choose,
    Criterion,
    Duals,
    EstimatorWeights,
    OnInterrupt,
    Preset,
    Pricing,
    Remove,
    RuleWeights,
    ShippedFallback,
    Solver,
    Vote,
)
from rulecover.cli.options.parsers import class_demand, number_from, number_or_none, whole_or_none
from rulecover.cli.options.shared import FOREST, RULES, number, option, parsed, whole

_COVER, _BOOST, _PATH = "Covers (mirco)", "Boosting (rcboost)", "Paths (path)"


def _columns(name: str, text: str) -> Any:
    return option(_PATH, False, f"{text}; may be repeated.", name, metavar="COLUMN")


PresetOption = Annotated[
    Preset | None,
    option(
        RULES,
        False,
        "Settings under a name; options that are given come before them. as-in-paper: of boosted classes, and of "
        "covers of numbers. few-rules: boosting at its best with at most --max-rules (100) rules.",
    ),
]

Trees = Annotated[int | None, whole(FOREST, "100", "Trees (mirco, path).")]
Depth = Annotated[int | None, whole(FOREST, "10; for boosted numbers 5", "Depth of the trees.")]

MaxRules = Annotated[
    Any,
    parsed(
        RULES,
        "none, with path 50, in a cover of numbers 20",
        "Never more rules (mirco, path); none: no limit (mirco).",
        whole_or_none,
        "N|none",
    ),
]
VoteOption = Annotated[
    Vote | None,
    option(
        RULES,
        "counts; fitted values for numbers",
        "What a rule adds for each class, or weighs in a mean (mirco, rcboost; fitted: mirco); see explain.",
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
Scale = Annotated[
    float | None,
    number(RULES, "the variance", "Of numbers: the squared error that costs as much as a rule (mirco, rcboost)."),
]
MinSamples = Annotated[
    float | None,
    number(
        RULES,
        "2; in a cover of numbers by their size",
        "The fewest rows that a rule covers (path; mirco for numbers, where it is a share if below 1).",
    ),
]
Ridge = Annotated[
    Any,
    parsed(
        RULES,
        "5",
        "Higher: smaller votes (path; mirco for numbers, where none takes plain means).",
        number_or_none,
        "X|none",
    ),
]
TimeLimit = Annotated[
    float | None,
    option(
        RULES,
        "the method's own",
        "For the solvers search and exact, and for boosting.",
        parser=number_from(0.001),
        metavar="SECONDS",
    ),
]

SolverOption = Annotated[
    Solver | None, option(_COVER, "greedy; forward for numbers", "How rules are chosen; see explain.")
]
Demand = Annotated[
    list[Any] | None,
    parsed(
        _COVER,
        "1",
        "Rules that must cover each row. CLASS=N: each row of that class; may be repeated.",
        class_demand,
        "N|CLASS=N",
    ),
]
ImpurityWeight = Annotated[float | None, number(_COVER, "1", "Price of impurity; see explain.")]
LengthWeight = Annotated[float | None, number(_COVER, "0", "Price of a condition; see explain.")]
Prune = Annotated[
    bool | None, option(_COVER, False, "Drop conditions that are not needed, and cover again.", "--prune")
]
PruneHeldOut = Annotated[
    bool | None,
    option(_COVER, False, "Do so unless it costs accuracy on rows that three folds hold out.", "--prune-held-out"),
]
EstimatorWeightsOption = Annotated[
    EstimatorWeights | None,
    option(_COVER, "both", "Where the weights count that a booster gives to its trees and leaves (--model)."),
]

Calls = Annotated[int | None, whole(_BOOST, "50", "Trees that boosting adds.", "--calls", least=0)]
PricingOption = Annotated[Pricing | None, option(_BOOST, "tree", "Where new rules come from.")]
DualsOption = Annotated[Duals | None, option(_BOOST, "equal", "Which optimal duals weigh the rows.")]
Step = Annotated[
    float | None,
    number(_BOOST, "so that a call adds a tenth of the weight", "What duals count in the weights of rows; paper: 1."),
]
AdmitOption = Annotated[Admit | None, option(_BOOST, "all", "Which rules of a new tree enter the pool.")]
RemoveOption = Annotated[Remove | None, option(_BOOST, "rules stay", "stale: rules that stay dear leave.")]
RuleWeightsOption = Annotated[
    RuleWeights | None, option(_BOOST, "all the same", "z: rules vote by their share in the optimum.")
]
EarlyStopping = Annotated[
    int | None, whole(_BOOST, "never", "Stop after so many calls without a better answer on a held-out tenth.")
]
OnInterruptOption = Annotated[
    OnInterrupt | None, option(_BOOST, "raise", "On Ctrl-C. keep: the rules so far are written.")
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
Folds = Annotated[int | None, whole(_PATH, "5", "Folds of the cross-validation.", "--cv", least=2)]
MaxDepth = Annotated[
    int | None,
    whole(_PATH, "4; 8 from 2,000 rows on", "How deep in the trees rules are looked for; see --depth."),
]
Shrinkage = Annotated[
    float | None,
    number(_PATH, "a twentieth of the rows, at most 50", "Higher: rules that cover many rows come first."),
]
Tries = Annotated[
    int | None, whole(_PATH, "5", "At each step so many rules are shortened before one is taken.", least=0)
]
Keep = Annotated[
    Path | None,
    option(
        _PATH,
        False,
        "Rules that stay in: a model that fit wrote (.json), or a text file with a rule a line, such as age > 30 and "
        "colour = red.",
        metavar="FILE",
    ),
]
Forbidden = Annotated[list[str] | None, _columns("--forbid", "A column that no rule may use")]
Required = Annotated[list[str] | None, _columns("--require", "A column that some rule must use")]
Rising = Annotated[list[str] | None, _columns("--rising", "A column that must not lower the answer where it grows")]
Falling = Annotated[list[str] | None, _columns("--falling", "A column that must not raise the answer where it grows")]
