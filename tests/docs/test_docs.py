"""Every Python example in the documentation runs, and what it says of the command line is so."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pandas as pd
import pytest
from matplotlib import pyplot
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from typer.testing import CliRunner
from xgboost import XGBClassifier

import rulecover.cli.commands.fit as commands_fit
from rulecover import readers
from rulecover.cli.commands import COMMANDS
from rulecover.cli.main import app

ROOT = Path(__file__).parents[2]
#: Folders that the build of the site fills.
_MADE = {"_build", "api", "cases", "gallery", "results"}
_DOCS = [page for page in sorted((ROOT / "docs").rglob("*.md")) if page.relative_to(ROOT).parts[1] not in _MADE]
PAGES = [ROOT / "README.md", *_DOCS]
#: Pages whose commands make the files that their Python reads.
WITH_FILES = {"docs/howto/sql.md"}
#: Pages whose commands are run on their own.
WITH_COMMANDS = ["README.md", "docs/cli.md", "docs/index.md", "docs/regression.md"]
#: Run by "make docs", as it takes many seconds.
AT_BUILD = {"docs/tutorial.md"}
#: Tables of contents, pages for those who work on the repository, and results whose commands take minutes to days.
WITHOUT_EXAMPLE = {
    *(f"docs/{page}.md" for page in ("howto/index", "seams/index", "evidence", "project", "changelog", "contributing")),
    *(page.relative_to(ROOT).as_posix() for page in _DOCS if page.stem.startswith("benchmarks")),
}


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


WITH_PYTHON = [page for page in PAGES if "```python" in page.read_text(encoding="utf-8") and name(page) not in AT_BUILD]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def examples(page: Path) -> list[tuple[str, str]]:
    """The Python of a page, and what is shown right below as its output."""
    python, output = r"^```python\n(.*?)^```\n", r"(?:\n```text\n(.*?)^```)?"
    return re.findall(python + output, page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def check_comments(block: str, names: dict[str, object]) -> None:
    """Texts and numbers that comments give as the value of a line are its value; "…" stands for any text."""
    for expression, text in re.findall(r'^(\S.*?)  # "(.+)"$', block, flags=re.MULTILINE):
        assert re.fullmatch(".+".join(map(re.escape, text.split("…"))), value := eval(expression, names)), value
    for expression, number, decimals in re.findall(r"^(\S.*?)  # (-?\d+\.(\d+))\b", block, flags=re.MULTILINE):
        assert f"{eval(expression, names):.{len(decimals)}f}" == number


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_PYTHON, ids=name)
def test_the_python_examples_of_a_page_run_from_top_to_bottom(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)  # some write files
    monkeypatch.setattr(readers, "_READERS", dict(readers._READERS))  # one registers a reader
    names: dict[str, object] = {}
    for line in shell_lines(page) if name(page) in WITH_FILES else []:
        run_line(line)
    for block, output in examples(page):
        exec(compile(block, name(page), "exec"), names)
        printed = capsys.readouterr().out
        assert not output or printed == output
        check_comments(block, names)
    pyplot.close("all")


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"], ids=name)
def test_links_to_files_lead_to_files(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))

    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_readme_begins_with_the_demo_and_the_tests() -> None:
    commands = [line.split("#")[0].strip() for line in blocks(ROOT / "README.md", "sh")[0].splitlines()]

    assert commands == ["make demo", "make test"]


@pytest.mark.slow
def test_the_readme_shows_what_the_demo_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # it writes a report

    assert blocks(ROOT / "README.md", "text")[0] in CliRunner().invoke(app, ["demo"]).stdout


@pytest.fixture
def small_forests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forests of a few trees: whether a command runs does not depend on them."""
    for kind in (RandomForestClassifier, RandomForestRegressor):
        monkeypatch.setattr(commands_fit, kind.__name__, lambda trees, kind=kind, **more: kind(min(trees, 10), **more))


def shell_lines(page: Path) -> list[str]:
    """The shell commands of a page, less those that set up or run all of it."""
    lines = "".join(blocks(page, "sh")).splitlines()
    return [line for line in lines if line.strip() and not line.startswith(("make ", "pip ", "#"))]


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_COMMANDS)
def test_every_shell_command_of_a_page_runs_word_for_word_in_an_empty_folder(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_forests: None
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = shell_lines(ROOT / page)
    for line in lines:
        run_line(line)

    assert lines


def run_line(line: str) -> str:
    """Runs a command of ours, and returns what it prints."""
    program, *words = shlex.split(line, comments=True)
    words, into = (words[:-2], Path(words[-1])) if ">" in words else (words, None)
    done = CliRunner().invoke(app, words)
    assert (program, done.exit_code) == ("rulecover", 0), f"{line}: {done.output}"
    if into is not None:
        into.write_bytes(done.stdout_bytes)
    return done.stdout


def test_every_page_has_an_example_that_is_run() -> None:
    run = {*map(name, WITH_PYTHON), *WITH_COMMANDS, *AT_BUILD}

    assert {name(page) for page in PAGES} - run == WITHOUT_EXAMPLE


def test_every_shell_command_of_the_documentation_is_run() -> None:
    assert {name(page) for page in PAGES if shell_lines(page)} == {*WITH_COMMANDS, *WITH_FILES, *AT_BUILD}


@pytest.mark.slow
def test_every_example_of_the_help_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_forests: None) -> None:
    monkeypatch.chdir(tmp_path)
    run_line("rulecover example > penguins.csv")
    table = pd.read_csv("penguins.csv")
    numbers = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    booster = XGBClassifier(n_estimators=3).fit(table[numbers], pd.factorize(table["species"])[0])
    booster.save_model("booster.json")
    for name in ("penguins.parquet", "new.parquet"):
        table.to_parquet(name)

    helps = [command.help for name, command in COMMANDS.items() if name != "study"]
    lines = re.findall(r"^ +(rulecover .*)$", "\n".join(helps), flags=re.MULTILINE)
    for line in lines:
        run_line(line)

    assert len(lines) > 15


def test_options_named_in_the_documentation_exist() -> None:
    commands = [command.callback.__name__ for command in app.registered_commands if command.callback]
    helps = [
        CliRunner().invoke(app, [command, "--help-all" if COMMANDS[command].common else "--help"]).stdout
        for command in commands
    ]
    known = set(re.findall(r"--[a-z-]+", "".join([*helps, CliRunner().invoke(app, ["--help"]).stdout])))
    pages = [(ROOT / "docs" / page).read_text() for page in ("cli.md", "study.md")]
    shown = "\n".join([*pages, *blocks(ROOT / "README.md", "sh")])

    assert set(re.findall(r"--[a-z][a-z-]+", shown)) <= known
