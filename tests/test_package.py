"""What is published says the same everywhere: versions, dependencies, links, and the commands of the workflows."""

from __future__ import annotations

import re
import runpy
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

import rulecover

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def make_targets(script: str) -> set[str]:
    return set(re.findall(r"^\s*(?:- run: )?make ([\w-]+)(?: [A-Z]+=\S+)*(?:\s+#.*)?$", script, flags=re.MULTILINE))


@pytest.fixture(scope="module")
def for_the_index() -> Callable[[str, str, str], str]:
    made: Callable[[str, str, str], str] = runpy.run_path(str(ROOT / "hatch_build.py"))["for_the_index"]
    return made


def test_links_on_the_package_index_lead_to_the_site_or_into_the_repository(
    for_the_index: Callable[[str, str, str], str],
) -> None:
    given = "[a](docs/a/b.md#c) [d](CHANGELOG.md) [e](SECURITY.md) ![f](docs/f.png) [g](https://g.org) [h](#h)"

    assert for_the_index(given, "https://site/", "https://home") == (
        "[a](https://site/a/b.html#c) [d](https://site/changelog.html) [e](https://home/blob/main/SECURITY.md) "
        "![f](https://home/raw/main/docs/f.png) [g](https://g.org) [h](#h)"
    )


def test_the_readme_of_the_package_index_needs_no_clone(for_the_index: Callable[[str, str, str], str]) -> None:
    shown = for_the_index(text("README.md"), "https://site/", "https://home")
    links = re.findall(r"\]\(([^)]+)\)", shown)
    pages = [link.removeprefix("https://site/").split(".html")[0] for link in links if link.startswith("https://site")]
    commands = re.findall(r"^```sh\n(.*?)^```", shown, flags=re.MULTILINE | re.DOTALL)

    assert len(links) > 10 and all(link.startswith(("https://", "#")) for link in links)
    assert len(pages) > 8 and [page for page in pages if not (ROOT / "docs" / f"{page}.md").exists()] == []
    assert commands[0].startswith("pip install rulecover\nrulecover demo")
    assert not re.search("^make ", "".join(commands), flags=re.MULTILINE)


def test_where_the_project_lives_is_said_in_one_place() -> None:
    home = PROJECT["urls"]["Source"]
    assert {url.split("/")[2] for url in PROJECT["urls"].values()} == {home.split("/")[2]}
    folders = (".github", ".ci", "recipe", "docs", "src")
    files = [
        file
        for folder in folders
        for file in (ROOT / folder).rglob("*")
        if file.suffix in {".md", ".yml", ".yaml", ".py"}
    ]
    saying = [
        file for file in [*files, *ROOT.glob("*.md"), *ROOT.glob("*.cff")] if home in file.read_text(encoding="utf-8")
    ]

    assert saying == []


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("CITATION.cff", r"^version: (.+)$"),
        ("CITATION.cff", r"^    version: (.+)$"),
        ("recipe/recipe.yaml", r'^  version: "(.+)"$'),
        ("CHANGELOG.md", r"^## ([\d.]+)"),
    ],
)
def test_the_version_is_that_of_the_package(file: str, pattern: str) -> None:
    found = re.findall(pattern, text(file), flags=re.MULTILINE)

    assert found[:1] == [rulecover.__version__]


def test_the_recipe_needs_what_the_package_needs() -> None:
    recipe = text("recipe/recipe.yaml")
    run = recipe.split("  run:\n")[1].split("\n\n")[0]
    needed = [line.replace(" >=", ">=").strip(" -") for line in run.splitlines()]
    least = re.findall(r'python_min: "(.+)"', recipe)

    assert needed == ["python>=${{ python_min }}", *PROJECT["dependencies"]]
    assert PROJECT["requires-python"] == f">={least[0]}"


def test_workflows_run_the_commands_of_the_gate() -> None:
    gate, workflow = make_targets(text(".ci/run")), make_targets(text(".github/workflows/ci.yml"))
    known = set(re.findall(r"^([\w-]+):", text("Makefile"), flags=re.MULTILINE))

    assert gate == {"lint", "docs-quick", "test", "soak", "test-oldest", "test-system"}
    assert gate <= workflow <= known
    assert make_targets(text(".github/workflows/release.yml")) == {"release"}
