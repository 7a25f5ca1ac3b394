"""``rulecover study``: the paper's numerical study, run, resumed and extended."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rulecover.cli.errors import CommandError, one_line_errors
from rulecover.cli.options.parsers import LARGEST_SEED, whole_from

_DATA, _WORK = "The data", "The work"


class Which(StrEnum):
    MIRCO = "mirco"
    RCBOOST = "rcboost"
    PEERS = "peers"
    ALL = "all"
    TABLES = "tables"


def _some_jobs(jobs: int) -> int:
    if jobs == 0:
        raise typer.BadParameter("0 processes do no work; give 1 or more, or -1 for every core.")
    return jobs


@one_line_errors
def study(
    context: typer.Context,
    which: Annotated[
        Which,
        typer.Argument(
            metavar="STUDY",
            help="mirco: decision tree, forest and MIRCO (Table S.2). rcboost: forest, AdaBoost, gradient boosting and "
            "RCBoost (Table S.3). peers: what users would pick instead. all: these three. "
            "tables: run nothing, make the tables of the results in --out.",
            show_default=False,
        ),
    ],
    *,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="A folder with one CSV file a data set: header line, class in column 'target'.",
            show_default="fetched from OpenML",
            rich_help_panel=_DATA,
        ),
    ] = None,
    datasets: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B",
            help="Which data sets: the paper's, or other CSV files of the folder.",
            show_default="the paper's 15",
            rich_help_panel=_DATA,
        ),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Where data from OpenML are kept.",
            show_default="scikit-learn's",
            rich_help_panel=_DATA,
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where results, tables and figures go.", rich_help_panel=_WORK)
    ] = Path("rulecover-study"),
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on with the results in --out: what is done is kept, failures are tried again.",
            rich_help_panel=_WORK,
        ),
    ] = False,
    jobs: Annotated[
        int,
        typer.Option(
            parser=whole_from(-1),
            callback=_some_jobs,
            metavar="N",
            help="Processes; -1 takes every core. The results stay the same.",
            rich_help_panel=_WORK,
        ),
    ] = 1,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B",
            help="Which methods, instead of those of the study.",
            show_default="the study's",
            rich_help_panel=_WORK,
        ),
    ] = None,
    own: Annotated[
        Path | None,
        typer.Option(
            "--with",
            metavar="FILE.py",
            help="A Python file that registers methods of your own; they run beside the study's.",
            show_default=False,
            rich_help_panel=_WORK,
        ),
    ] = None,
    seeds: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B", help="Shuffle the folds and seed the models.", show_default="25", rich_help_panel=_WORK
        ),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="On an error, show where it came from.")] = False,
) -> None:
    """Run the numerical study of the paper: 10 x 4 nested cross-validation, tables, figures.

    Results are appended to a file as they come. A run that was stopped, killed or in parts failed goes on with
    --resume.

    \b
    Examples:
      rulecover study mirco --data DIR --datasets wine,seeds --jobs 2
      rulecover study all --data DIR --out results --resume
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    if data is not None and data.exists() and out.exists() and out.samefile(data):
        raise CommandError(
            f"--out and --data are one folder, {str(out)!r}, and tables could overwrite data; name another --out."
        )

    from rulecover.cli.commands.studying import make_tables, run_study

    if which is Which.TABLES:
        _check_for_tables(context)
        make_tables(out, data, _names("--datasets", datasets))
        return
    run_study(
        which.value,
        own=own,
        jobs=jobs,
        methods=_names("--methods", methods),
        out=out,
        datasets=_names("--datasets", datasets),
        folder=data,
        cache=cache,
        seeds=[_seed(text) for text in _names("--seeds", seeds) or ["25"]],
        resume=resume,
    )


#: What making tables does not hear.
_OF_RUNS = {
    "methods": "--methods",
    "own": "--with",
    "seeds": "--seeds",
    "jobs": "--jobs",
    "cache": "--cache",
    "resume": "--resume",
}


def _check_for_tables(context: typer.Context) -> None:
    given = [name for name in (*_OF_RUNS, "data", "datasets") if _is_given(context, name)]
    for name, option in _OF_RUNS.items():
        if name in given:
            raise CommandError(f"{option} is for runs, and tables runs nothing: it takes --out, and --data for S.1.")
    if "datasets" in given and "data" not in given:
        raise CommandError(
            "--datasets says which data sets of --data are described in Table S.1; name that folder too."
        )


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _names(option: str, texts: list[str] | None) -> list[str] | None:
    if not texts:
        return None
    names = [name.strip() for text in texts for name in text.split(",") if name.strip()]
    if not names:
        raise CommandError(f"{option} {texts[0]!r} names none; name some with commas between, or leave it out.")
    return names


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) > LARGEST_SEED:
        raise CommandError(f"--seeds takes whole numbers below 2^32 with commas between, not {text!r}.")
    return int(text)
