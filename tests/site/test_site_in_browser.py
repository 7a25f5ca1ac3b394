"""The built site in a real browser: for everybody, in both themes, on a phone, without a network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import started
from playwright.sync_api import Browser

SITE = Path(__file__).parents[2] / "docs" / "_build" / "html"
#: Pages of every kind.
PAGES = [
    "index",
    "tutorial",
    "try",
    "gallery/index",
    "gallery/plot_2_rules",
    "cases/plot_1_credit",
    "api/rulecover.explain",
    "comparison",
    "seams/impurity",
    "results/study/table_s2",
    "benchmarks-scale",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started() as one:
        yield one


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_can_be_used_by_everybody_without_a_network(browser: Browser, name: str, width: int, theme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=theme)
    page, wrong = context.new_page(), []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: None if request.url.startswith("file:") else wrong.append(request.url))
    page.goto((SITE / f"{name}.html").as_uri())

    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page).response["violations"]
    assert [each["id"] for each in found if each["impact"] in {"serious", "critical"}] == []
    assert wrong == []
    context.close()


def test_dragging_the_number_of_rules_changes_the_page(browser: Browser) -> None:
    page = browser.new_page()
    page.goto((SITE / "try.html").as_uri())
    assert page.locator("#live-rules tr").count() == 3
    page.locator("#size").press("End")
    assert page.locator("#live-rules tr").count() == int(page.locator("#size").get_attribute("max") or 0)
    before = page.locator("#live-verdict").inner_text()
    page.select_option("#live-row", "5")
    assert page.locator("#live-verdict").inner_text() != before


def test_the_search_finds_pages_without_a_network(browser: Browser) -> None:
    page = browser.new_page()
    page.goto(f"{(SITE / 'search.html').as_uri()}?q=auditor")
    page.locator("#search-results li").first.wait_for(timeout=10_000)
    assert "auditor" in page.locator("#search-results").inner_text().lower()
