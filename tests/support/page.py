"""A page of HTML, taken apart."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any


class Page(HTMLParser):
    """The tags, the attributes and the text of a page, and whether every tag is closed in its order."""

    EMPTY = ("meta", "br", "img", "link", "input")

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.text = ""
        self.open: list[str] = []
        self.scripts: list[str] = []
        self.feed(source)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        else:
            self.text += data

    @property
    def words(self) -> str:
        """The text with single blanks."""
        return " ".join(self.text.split())

    @property
    def model(self) -> Any:
        """What the page knows of the model."""
        return json.loads(self.scripts[0])

    def values(self, tag: str, name: str) -> list[str | None]:
        """The values of an attribute of all elements of a kind, in their order."""
        return [value for each, other, value in self.attributes if (each, other) == (tag, name)]

    def asks_for_nothing(self) -> None:
        """Raises unless the page is all there is: no file, no place elsewhere, and no script but its own."""
        assert not {"link", "iframe", "object", "embed"} & set(self.tags)
        places = [value for _, name, value in self.attributes if name in ("src", "href", "srcset", "action")]
        assert all(place is not None and place.startswith("#") for place in places)
        assert not [name for _, name, _ in self.attributes if name.startswith("on")]
        assert self.tags.count("script") <= 2
