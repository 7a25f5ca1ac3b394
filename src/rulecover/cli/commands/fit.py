"""``rulecover fit``: from a table to a model in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rulecover.cli.errors import one_line_errors
from rulecover.cli.options import fit as of
from rulecover.cli.options.checks import given_options
from rulecover.cli.options.choices import Trainer
from rulecover.cli.options.parsers import seed as whole_seed
from rulecover.cli.options.shared import (
    FOREST,
    ClassWeights,
    DataFile,
    Debug,
    Drop,
    Jobs,
    MaxLevels,
    Quiet,
    Separator,
    Target,
    TaskOption,
    check_out,
    is_stdout,
    out_file,
)
from rulecover.cli.tables.header import check_is_table


@one_line_errors
def fit(
    context: typer.Context,
    data: DataFile,
    *,
    target: Target = None,
    task: TaskOption = None,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A trained model whose rules are covered, in place of a forest: a file of XGBoost (JSON), LightGBM "
            "(text) or CatBoost (JSON). The table must have its columns; nothing is trained, no library is needed.",
            show_default=False,
        ),
    ] = None,
    method: Annotated[
        Trainer,
        typer.Option(
            help="mirco: rules of a forest that cover every row. rcboost: a pool of rules grown by boosting. path: the "
            "rules of a forest that explain most, one after another, with fitted votes."
        ),
    ] = Trainer.MIRCO,
    drop: Drop = None,
    max_levels: MaxLevels = 50,
    separator: Separator = None,
    trees: of.Trees = None,
    depth: of.Depth = None,
    seed: Annotated[
        int, typer.Option(parser=whole_seed, metavar="N", help="Same seed, same rules.", rich_help_panel=FOREST)
    ] = 0,
    jobs: Jobs = 1,
    preset: of.PresetOption = None,
    max_rules: of.MaxRules = None,
    vote: of.VoteOption = None,
    fallback: of.FallbackOption = None,
    criterion: of.CriterionOption = None,
    class_weight: ClassWeights = None,
    scale: of.Scale = None,
    min_samples: of.MinSamples = None,
    ridge: of.Ridge = None,
    time_limit: of.TimeLimit = None,
    solver: of.SolverOption = None,
    demand: of.Demand = None,
    impurity_weight: of.ImpurityWeight = None,
    length_weight: of.LengthWeight = None,
    prune: of.Prune = None,
    prune_held_out: of.PruneHeldOut = None,
    estimator_weights: of.EstimatorWeightsOption = None,
    max_rmp_calls: of.Calls = None,
    pricing: of.PricingOption = None,
    duals: of.DualsOption = None,
    step: of.Step = None,
    admit: of.AdmitOption = None,
    remove: of.RemoveOption = None,
    rule_weights: of.RuleWeightsOption = None,
    early_stopping: of.EarlyStopping = None,
    on_interrupt: of.OnInterruptOption = None,
    within: of.Within = None,
    choose: of.ChooseOption = None,
    cv: of.Folds = None,
    max_depth: of.MaxDepth = None,
    max_clauses: of.MaxClauses = None,
    model_share: of.ModelShare = None,
    shrinkage: of.Shrinkage = None,
    tries: of.Tries = None,
    forbidden: of.Forbidden = None,
    required: of.Required = None,
    rising: of.Rising = None,
    falling: of.Falling = None,
    keep: of.Keep = None,
    out: Annotated[Path, out_file("Where to write the model, as JSON; - for standard output.")] = Path("model.json"),
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Train on every row of a table, and write the rules to a file that predict, why, report and export read.

    \b
    Examples:
      rulecover fit titanic.csv --target survived --out titanic.json
      rulecover fit titanic.csv -t survived --model booster.json
      rulecover fit titanic.parquet -t survived --method rcboost --calls 30
      rulecover fit titanic.csv -t survived --method path --max-rules 10 --forbid sex
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    check_is_table(data)
    check_out(out, data, model, keep)
    options = given_options(method, context.params, trained=model is not None)

    from rulecover.cli.commands.training import Training, saved, trained
    from rulecover.cli.printing import Printer
    from rulecover.cli.tables.booster import booster_columns
    from rulecover.cli.tables.encoding import for_forests
    from rulecover.cli.tables.reading import labelled_table

    printer = Printer(quiet=quiet or is_stdout(out))
    columns = for_forests(max_levels) if model is None else booster_columns(model)
    table = labelled_table(data, target, drop=drop or [], columns=columns, separator=separator, task=task)
    training = Training(method.value, options, seed=seed, jobs=jobs, source=model)
    saved(trained(table, training, printer), out, printer)
