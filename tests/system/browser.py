"""A real Chromium, and a report in it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

#: What Debian, Ubuntu and others call it.
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str | None:
    """Where the browser is."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


@contextmanager
def started() -> Iterator[Browser]:
    """A browser without a window; root may not use its sandbox."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


class Visit:
    """A report that is open in the browser; nothing may go wrong in it, and nothing may leave it."""

    def __init__(self, page: Page, path: Path) -> None:
        self.page, self.wrong, self.asked = page, [], []
        page.on("console", lambda message: self.wrong.append(message.text) if message.type != "log" else None)
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))
        page.goto(path.as_uri())

    def is_fine(self) -> None:
        """Raises if anything went wrong, or if the page asked for anything but itself."""
        assert self.wrong == []
        assert self.asked == [self.page.url.split("#")[0]]

    def rules(self) -> list[str]:
        """The numbers of the rules in the table that can be seen, in their order."""
        return self.page.locator("table.rules tbody tr:visible th").all_inner_texts()

    def fill(self, texts: list[str]) -> None:
        """Puts a text into each field, numbers as they are typed, a category by its place among the choices."""
        self.page.evaluate(
            """(texts) => texts.forEach((text, c) => {
              const field = document.getElementById(`field-${c}`);
              field.value = text;
              field.dispatchEvent(new Event("input", { bubbles: true }));
            })""",
            texts,
        )

    def verdict(self) -> dict[str, str]:
        """What is said of the row: the prediction, who decided, and which rules fire."""
        verdict = self.page.locator("#verdict")
        return {name: verdict.get_attribute(f"data-{name}") or "" for name in ("prediction", "decided", "fired")}
