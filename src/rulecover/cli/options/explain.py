"""The options of ``rulecover explain``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from rulecover.cli.options.choices import Criterion, Fallback, Method, Solver, Vote
from rulecover.cli.options.parsers import class_demand, number_from, seed
from rulecover.cli.options.shared import DATA, FOREST, OUTPUT, RULES, number, option, parsed, whole

TestSize = Annotated[
    float,
    option(DATA, True, "Share of the rows to hold out for the figures.", parser=number_from(0.0), metavar="SHARE"),
]

Trees = Annotated[int, whole(FOREST, True, "Trees in the forest.")]
Depth = Annotated[int, whole(FOREST, True, "Depth of its trees: the most conditions in a rule.")]
Seed = Annotated[int, option(FOREST, True, "Same seed, same split, same forest, same rules.", parser=seed, metavar="N")]

MaxRules = Annotated[
    int | None,
    whole(
        RULES,
        "no limit; 50 with --within; 20 in a cover of numbers",
        "Never more rules than this: as many as cross-validation finds worth it. With --method cover rows may stay "
        "uncovered, and you are told how many.",
    ),
]
Within = Annotated[
    float | None,
    number(
        RULES,
        False,
        "The fewest rules whose accuracy (of numbers R²) is at most this far below the forest's, by cross-validation.",
    ),
]
MethodOption = Annotated[
    Method | None,
    option(
        RULES,
        "path with --within or --max-rules alone, cover otherwise",
        "cover: rules that cover every training row, with a proof of how few they could be. path: the rules that "
        "explain most, one after another, with fitted votes.",
    ),
]
SolverOption = Annotated[
    Solver | None,
    option(
        RULES,
        "greedy; forward for numbers",
        "greedy: milliseconds, the paper's way. search: fewer rules in seconds. exact: the fewest, proved, or the best "
        "found when the time is up. forward, for numbers: those that explain most.",
    ),
]
Demand = Annotated[
    list[Any] | None,
    parsed(
        RULES,
        "1",
        "How many rules must cover each row: more rules, steadier votes. CLASS=N: each row of that class; may be "
        "repeated.",
        class_demand,
        "N|CLASS=N",
    ),
]
VoteOption = Annotated[
    Vote | None,
    option(
        RULES,
        "counts; fitted values for numbers",
        "What a rule adds for each class: counts (its rows, as in the paper), shares (of its rows) or fitted (by least "
        "squares). Of numbers, what a rule weighs in the mean: equal, support (its rows) or precision.",
    ),
]
FallbackOption = Annotated[
    Fallback | None,
    option(
        RULES,
        "closest; mean for numbers",
        "Who answers for a row that no rule covers: closest (the rules it almost meets), all (every rule, by how much "
        "of it is met), majority (the most frequent class), mean (of all rows), model (the forest).",
    ),
]
TimeLimit = Annotated[
    float | None,
    option(
        RULES,
        "the solver's own",
        "Seconds for search or exact to choose the rules.",
        parser=number_from(0.001),
        metavar="SECONDS",
    ),
]
CriterionOption = Annotated[
    Criterion | None, option(RULES, "gini; squared_error for numbers", "How the impurity of a rule is measured.")
]
ImpurityWeight = Annotated[
    float,
    number(
        RULES,
        True,
        "A rule costs 1 + this × impurity + length weight × conditions. Higher: purer rules, more of them.",
    ),
]
LengthWeight = Annotated[float, number(RULES, True, "Price of a condition. Higher: shorter rules.")]
Prune = Annotated[
    bool | None,
    option(RULES, False, "Drop conditions that are not needed, and cover again: fewer, shorter rules.", "--prune"),
]
Report = Annotated[Path | None, option(OUTPUT, False, "Write a report to this HTML file.", metavar="FILE")]
