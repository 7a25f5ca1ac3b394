"""The pages on architecture and words say what the code and the contract of its layers say."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "rulecover"
ARCHITECTURE = ROOT / "docs" / "architecture.md"
GLOSSARY = ROOT / "docs" / "glossary.md"

#: Pages whose files and names are checked, relative to the repository.
SEAMS = sorted(page.relative_to(ROOT).as_posix() for page in (ROOT / "docs" / "seams").glob("*.md"))

#: Files and folders as they are named in the text.
_FILE = re.compile(r"`((?:[\w-]+/)*[\w-]+\.(?:py|js|toml|txt)|(?:[\w-]+/)+)`")


def contract() -> list[list[str]]:
    """The layers of the import contract, top first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return [[name.removeprefix("rulecover.") for name in layer.split(" | ")] for layer in layers]


def pictured(page: Path) -> list[list[str]]:
    """The layers as a page draws them: names, two spaces, and a few words on them."""
    blocks = re.findall(r"^```text\n(cli .*?)^```", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert len(blocks) == 1
    return [line.split("  ")[0].split(" | ") for line in blocks[0].splitlines()]


def cells(page: Path) -> list[list[str]]:
    """The lines of all tables of a page."""
    lines = re.findall(r"^\| (.*) \|$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [re.split(r" (?<!\\)\| ", line) for line in lines]


def modules_and_folders(package: Path) -> set[str]:
    """What a package holds, without folders that an earlier checkout has left behind: these have no source files."""
    folders = {path.name for path in package.iterdir() if path.is_dir() and any(path.rglob("*.py"))}
    modules = {path.stem for path in package.glob("*.py")}
    return {name for name in folders | modules if not name.startswith("__")}


def test_the_picture_of_the_layers_is_the_import_contract() -> None:
    assert pictured(ARCHITECTURE) == contract()


def test_the_readme_leads_to_the_picture_and_has_none_of_its_own() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")

    assert "](docs/architecture.md)" in text
    assert "```text\ncli " not in text


def test_every_folder_and_module_has_a_layer_and_a_place_in_the_tree() -> None:
    there = modules_and_folders(SOURCE)
    tree = ARCHITECTURE.read_text(encoding="utf-8").split("```text\nsrc/rulecover/")[1].split("```")[0]

    assert there == {name for layer in contract() for name in layer}
    assert {name for name in there if not re.search(rf"\b{name}\b", tree)} == set()


def test_no_modules_of_the_estimators_need_each_other_in_a_circle() -> None:
    folder = SOURCE / "estimators"
    needs = {
        module.stem: set(re.findall(r"from rulecover\.estimators\.(\w+) import", module.read_text(encoding="utf-8")))
        for module in folder.glob("*.py")
    }
    while free := [name for name, others in needs.items() if not others & needs.keys()]:
        for name in free:
            del needs[name]

    assert needs == {}


def test_a_folder_without_source_files_is_not_a_part_of_the_package(tmp_path: Path) -> None:
    for file in ("tools.py", "rules/rule.py", "left_over/__pycache__/gone.pyc", "__pycache__/tools.pyc"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()

    assert modules_and_folders(tmp_path) == {"tools", "rules"}


def test_files_in_the_tree_exist() -> None:
    tree = ARCHITECTURE.read_text(encoding="utf-8").split("```text\nsrc/rulecover/")[1].split("```")[0]
    named = set(re.findall(r"\b\w+\.py\b", tree))

    assert named - {path.name for path in SOURCE.rglob("*.py")} == set()


@pytest.mark.parametrize("page", ["docs/architecture.md", "docs/glossary.md", "CONTRIBUTING.md", *SEAMS])
def test_files_and_folders_named_in_the_text_exist(page: str) -> None:
    named = set(_FILE.findall((ROOT / page).read_text(encoding="utf-8")))

    assert {name for name in named if not (SOURCE / name).exists() and not (ROOT / name).exists()} == set()


def test_names_in_the_tables_are_defined_in_the_files_that_the_tables_name() -> None:
    named = [(row[0] if row[0].startswith("`") else row[-2], row[-1].strip("`")) for row in cells(ARCHITECTURE)]
    pairs = [(name.strip("`"), file) for name, file in named if re.fullmatch(r"(?!tests)[\w/]+\.py", file)]
    missing = [
        (name, file)
        for name, file in pairs
        if not re.search(rf"\b(def|class) {name}\b", (SOURCE / file).read_text(encoding="utf-8"))
    ]

    assert len(pairs) > 30
    assert missing == []


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md", *SEAMS])
def test_names_in_the_text_are_defined_in_the_files_that_it_names(page: str) -> None:
    missing = [
        (name, file)
        for name, file in named_with_files(page)
        if not re.search(
            rf"^(def |class |    def )?{name}\b",
            (ROOT if file.startswith("tests/") else SOURCE).joinpath(file).read_text(encoding="utf-8"),
            re.MULTILINE,
        )
    ]

    assert missing == []


def named_with_files(page: str) -> list[tuple[str, str]]:
    """Names in the text of a page, each with the file that it is said to be in."""
    return re.findall(r"`(\w+)`\s+(?:in|of)\s+`([\w/]+\.py)`", (ROOT / page).read_text(encoding="utf-8"))


def test_names_are_looked_for_in_many_files() -> None:
    assert sum(len(named_with_files(page)) for page in ["docs/architecture.md", *SEAMS]) > 30


def test_every_seam_of_the_table_has_a_page() -> None:
    table = ARCHITECTURE.read_text(encoding="utf-8").split("## The seams")[1]
    seams = re.findall(r"^\| (\w+) \|", table, flags=re.MULTILINE)[1:]

    assert {f"docs/seams/{seam}.md" for seam in seams} == set(SEAMS) - {"docs/seams/index.md"}


def test_the_glossary_has_each_word_once_in_order() -> None:
    words = [row[0] for row in cells(GLOSSARY)[1:]]

    assert words == sorted(set(words))
    assert 20 <= len(words) <= 30
