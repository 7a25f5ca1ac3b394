"""The built site: the tutorial is true word for word, and links lead somewhere."""

from __future__ import annotations

import os
import re
import runpy
import sys
from collections import Counter
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest
from PIL import Image

from rulecover import exceptions

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))  # site_markdown imports its neighbour
#: The folder of the built site; make docs-quick has another one.
SITE = ROOT / "docs" / "_build" / os.environ.get("SITE", "html")
DOCS = runpy.run_path(str(ROOT / "tests" / "docs" / "test_docs.py"))

_BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", flags=re.MULTILINE | re.DOTALL)


class Page(HTMLParser):
    """The links and the places of a page."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.places |= {given[key] or "" for key in ("id", "name") if key in given}
        found = [given[key] or "" for key in ("href", "src") if key in given]
        self.links += found
        if "src" in given or (tag == "link" and given.get("rel") in {"stylesheet", "preload", "icon"}):
            self.loaded += found


@pytest.fixture(scope="module")
def pages() -> dict[Path, Page]:
    return {file: Page(file) for file in SITE.rglob("*.html") if "_static" not in file.parts}


def test_the_tutorial_is_true_word_for_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = _BLOCK.findall((ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8"))
    for language, block, output in blocks:
        if language == "python":
            exec(compile(block, "tutorial.md", "exec"), names)
            assert capsys.readouterr().out == output
            continue
        printed = "".join(DOCS["run_line"](line) for line in block.splitlines() if not line.startswith("pip "))
        assert output in printed
    assert len(blocks) > 8


def test_the_reference_has_every_public_name_once() -> None:
    names = re.findall(r"^   (\w+)$", (ROOT / "docs" / "api.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    modules = ("rulecover", "rulecover.export", "rulecover.plot", "rulecover.setcover", "rulecover.study")
    public = [name for module in modules for name in import_module(module).__all__ if not name.startswith("__")]
    errors = [name for name, value in vars(exceptions).items() if isinstance(value, type)]

    assert Counter(names) == Counter([*public, *errors]) - Counter(["RulecoverWarning"])


def test_every_link_inside_the_site_leads_somewhere(pages: dict[Path, Page]) -> None:
    dead = []
    for file, page in pages.items():
        for link in page.links:
            address, place = urldefrag(link)
            if re.match(r"[a-z]+:|//", address):
                continue
            target = (file.parent / unquote(address.split("?")[0])).resolve() if address else file
            known = pages[target].places if place and target in pages else {unquote(place)}
            if not target.exists() or (target.suffix == ".html" and unquote(place) not in {*known, ""}):
                dead.append(f"{file.relative_to(SITE)}: {link}")
    assert dead == []


def test_no_page_loads_anything_from_elsewhere(pages: dict[Path, Page]) -> None:
    assert [link for page in pages.values() for link in page.loaded if re.match("https?://|//", link)] == []
    assert [link for page in pages.values() for link in page.links if link.startswith("http://")] == []


def test_each_page_has_a_copy_for_programs(pages: dict[Path, Page]) -> None:
    listed = re.findall(r"\]\((.+)\)", (SITE / "llms.txt").read_text(encoding="utf-8"))
    made_by_sphinx = {"genindex", "search", "py-modindex", "demo-report"}
    names = {page.relative_to(SITE).with_suffix("").as_posix() for page in pages} - made_by_sphinx

    assert {f"{name}.md" for name in names} <= set(listed)
    assert [place for place in listed if not (SITE / place).stat().st_size] == []


def test_links_of_the_copies_lead_somewhere() -> None:
    copies = [file for file in SITE.rglob("*.md") if file.parent.name != "api"]
    links = runpy.run_path(str(ROOT / "docs" / "site_markdown.py"))["links"]

    dead = [
        f"{file.relative_to(SITE)}: {link}"
        for file in copies
        for link in links(file.read_text(encoding="utf-8"))
        if not (file.parent / link).exists()
    ]
    assert len(copies) > 80 and dead == []


def test_copies_have_what_directives_make_of_a_page() -> None:
    start, gallery, reference = (
        (SITE / name).read_text(encoding="utf-8") for name in ("index.md", "gallery/plot_1_path.md", "api.md")
    )

    assert "| if | then |" in start and "**[Ten minutes](tutorial.md)**" in start and "{" not in start.split("##")[0]
    assert gallery.startswith("# ") and "```python" in gallery
    assert "- [explain](api/rulecover.explain.md)" in reference


def test_the_picture_of_the_report_shows_the_rules_of_the_demo(pages: dict[Path, Page]) -> None:
    with Image.open(ROOT / "docs" / "report.png") as picture:
        rules = picture.text["rules"]

    assert f"{rules} rules out of " in (SITE / "demo-report.html").read_text(encoding="utf-8")


def test_the_search_knows_the_words_of_the_pages() -> None:
    index = (SITE / "searchindex.js").read_text(encoding="utf-8")

    assert "lightgbm" in index and "rulepathclassifi" in index
