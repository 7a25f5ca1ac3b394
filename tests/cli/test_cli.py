"""The command as it is installed: light to start, honest exit codes, streams kept apart."""

from __future__ import annotations

import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from typer.testing import CliRunner

from rulecover import __version__
from rulecover.cli.commands import COMMANDS as DECLARED
from rulecover.cli.commands.explain import explain_table
from rulecover.cli.commands.fit import Training, trained_forest
from rulecover.cli.main import app, one_line_errors
from rulecover.cli.options.option import Option
from rulecover.cli.printing import Bars, Printer
from rulecover.cli.tables.labelled import Table
from rulecover.rules.levels import readable
from rulecover.rules.ruleset import RuleSet

COMMANDS = ("demo", "example", "explain", "fit", "predict", "why", "report", "certify", "export", "study")
HEAVY = ("numpy", "scipy", "sklearn", "pandas", "highspy", "joblib", "jinja2", "rich.console", "pydantic")


def python(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=cwd, check=False)


def rulecover(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return python("-m", "rulecover", *arguments, cwd=cwd)


@pytest.mark.parametrize("what", ["import rulecover", "import rulecover.cli.main"])
def test_importing_brings_nothing_heavy(what: str) -> None:
    done = python("-c", f"{what}; import sys; print([name for name in {HEAVY} if name in sys.modules])")

    assert done.stdout == "[]\n", done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], *([command, "--help"] for command in COMMANDS)])
def test_help_and_version_bring_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import atexit, sys\n"
        f"atexit.register(lambda: print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr))\n"
        f"sys.argv = ['rulecover', *{arguments}]\n"
        "from rulecover.cli.main import main; main()"
    )
    done = python("-c", code)

    assert done.returncode == 0
    assert done.stderr == "[]\n"
    assert done.stdout


def test_the_version_is_printed() -> None:
    assert CliRunner().invoke(app, ["--version"]).stdout == f"rulecover {__version__}\n"


def test_help_teaches_by_examples_and_defaults() -> None:
    text = CliRunner().invoke(app, ["explain", "--help-all"]).stdout

    for part in (
        "Examples:",
        "rulecover explain penguins.csv --target species",
        "The rules:",
        "[default: 100",
        "greedy:",
    ):
        assert part in text


@pytest.mark.parametrize("command", ["fit", "explain"])
def test_help_shows_a_dozen_common_options_and_help_all_shows_every_one(command: str) -> None:
    short, whole = (CliRunner().invoke(app, [command, "x.csv", flag]).stdout for flag in ("--help", "--help-all"))
    listed = [set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", text, flags=re.MULTILINE)) for text in (short, whole)]
    options = {each.spelled for each in DECLARED[command].options if isinstance(each, Option)}

    assert options | {"--help", "--help-all"} == listed[1]
    assert {"--target", "--method", "--max-rules", "--within", "--drop", "--help-all"} <= listed[0]
    assert 10 <= len(listed[0]) <= 16
    assert f"There are {len(listed[1]) - len(listed[0])} more." in short and "more." not in whole


@pytest.mark.parametrize("command", ["predict", "why", "report"])
def test_help_hides_how_files_are_read_until_all_is_asked_for(command: str) -> None:
    short, whole = (CliRunner().invoke(app, [command, flag]).stdout for flag in ("--help", "--help-all"))

    assert "--encoding" in whole and "--encoding" not in short
    assert all(f"  {each.metavar}" in short for each in DECLARED[command].options if not isinstance(each, Option))


def test_help_all_below_a_double_dash_is_the_name_of_a_file() -> None:
    assert "there is no file '--help-all'" in CliRunner().invoke(app, ["fit", "-t", "y", "--", "--help-all"]).stderr


@pytest.mark.parametrize("columns", ["60", "80", "120"])
def test_summaries_in_the_overview_are_folded_and_never_cut(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    text = " ".join(CliRunner().invoke(app, ["--help"]).stdout.split()).replace("- ", "-")

    assert "..." not in text.partition("Commands:")[2]
    for name, command in DECLARED.items():
        assert f"{name} {command.help.splitlines()[0]}".replace("- ", "-") in text


def test_no_command_shows_the_help() -> None:
    assert "Commands:" in CliRunner().invoke(app, []).output


@pytest.mark.slow
def test_the_demo_shows_rules_and_writes_its_report(tmp_path: Path) -> None:
    done = rulecover("demo", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "malignant" in done.stdout and "a cover" in done.stdout and "What to try next" in done.stdout
    assert "Report written to rulecover-demo.html" in done.stdout
    assert (tmp_path / "rulecover-demo.html").read_text(encoding="utf-8").endswith("</html>\n")


@pytest.mark.slow
def test_a_failing_command_says_so_on_standard_error_alone(tmp_path: Path) -> None:
    done = rulecover("explain", "nothing.csv", "--target", "y", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: there is no file 'nothing.csv' here; check the name and the folder.\n"


@pytest.mark.slow
def test_debug_shows_a_traceback(tmp_path: Path) -> None:
    done = rulecover("explain", "nothing.csv", "--target", "y", "--debug", cwd=tmp_path)

    assert done.returncode == 1
    assert "Traceback" in done.stderr and "CommandError" in done.stderr


def test_a_fault_of_ours_is_called_one(capsys: pytest.CaptureFixture[str]) -> None:
    @one_line_errors
    def broken() -> None:
        raise KeyError("x")

    with pytest.raises(Exception, match="1"):
        broken()

    assert "a bug in rulecover; --debug shows where" in capsys.readouterr().err


# On a terminal --------------------------------------------------------------------------------------------------


def wine() -> Table:
    data = load_wine(as_frame=True)
    return Table("[red]wine", data.data, data.target.to_numpy(), {})


@pytest.mark.slow
def test_a_terminal_gets_colour_bars_and_folded_rules() -> None:
    out = Console(file=StringIO(), force_terminal=True, width=100, highlight=False)
    err = Console(file=StringIO(), force_terminal=True, width=100, highlight=False)
    printer = Printer(out=out, err=err)

    summary, _ = explain_table(wine(), Training(options={"trees": 10}), test_size=0.3, printer=printer)
    printer.summary(summary)

    assert "Training the forest" in err.file.getvalue()  # type: ignore[attr-defined]
    text = out.file.getvalue()  # type: ignore[attr-defined]
    assert "\x1b[1m" in text and "[red]wine" in text
    assert "…" not in text
    longest = max(summary.rules, key=lambda rule: len(rule.text))
    assert all(word in text for word in longest.text.split())


def test_a_forest_grown_with_a_bar_is_tree_for_tree_the_same() -> None:
    table, training = wine(), Training(options={"trees": 23}, seed=5)

    class Watched(Bars):
        shown = True

    whole, grown = (
        trained_forest(training, table, table.X, table.y, bars=bars) for bars in (Bars(None), Watched(None))
    )

    assert isinstance(grown, RandomForestClassifier) and not grown.warm_start
    np.testing.assert_array_equal(whole.apply(table.X), grown.apply(table.X))


# Wording --------------------------------------------------------------------------------------------------------

LEVELS = {1: ("colour", "blue"), 2: ("colour", "green"), 3: ("colour", "red"), 4: ("sex", "male")}
NAMES = ["size", "colour = blue", "colour = green", "colour = red", "sex = male"]
IS, IS_NOT = (0.5, np.inf), (-np.inf, 0.5)


@pytest.mark.parametrize(
    ("clauses", "text"),
    [
        ({1: IS_NOT, 3: IS}, "colour = red"),
        ({1: IS_NOT, 2: IS_NOT}, "colour = red"),
        ({1: IS_NOT}, "colour ≠ blue"),
        ({0: (1, 2), 2: IS_NOT, 4: IS_NOT}, "1 < size <= 2 and colour ≠ green and sex ≠ male"),
        ({}, "always"),
    ],
)
def test_levels_are_said_in_the_fewest_words(clauses: dict[int, tuple[float, float]], text: str) -> None:
    rules = RuleSet.of_intervals([{0: (0, 1)}, clauses], NAMES)

    assert readable(rules, LEVELS)[1].text == text
    assert readable(rules, LEVELS)[0].text == "0 < size <= 1"


def test_other_words_cover_the_same_rows() -> None:
    rng = np.random.default_rng(0)
    colour = rng.integers(0, 3, 200)
    X = np.column_stack([rng.random(200), *(colour == k for k in range(3)), rng.integers(0, 2, 200)]).astype(float)
    sides = [None, IS, IS_NOT]
    drawn = [{f: sides[s] for f, s in enumerate(rng.integers(0, 3, 5)) if sides[s]} for _ in range(60)]
    rules = RuleSet.of_intervals(drawn, NAMES)
    possible = np.flatnonzero(rules.apply(X).toarray().any(axis=0))

    np.testing.assert_array_equal(
        rules.take(possible).apply(X).toarray(), readable(rules.take(possible), LEVELS).apply(X).toarray()
    )
