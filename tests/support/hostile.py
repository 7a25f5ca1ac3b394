"""Names by a grammar: pieces that end quotes, comments, cells, tags and programs, strung together."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from hypothesis import strategies as st

#: What a piece may be, by what it attacks.
PIECES: dict[str, tuple[str, ...]] = {
    "plain": ("x", "age", "größe", "体重", "😀", "e\u0301", "0", "1e5", "-1", "nan"),
    "quotes": ("'", '"', "`", "''", '"""', "\\", "\\'", "]", "[", "$$", "´"),
    "ends": (";", "--", "/*", "*/", "#", "//", "\n", "\r\n", "\t", "\x0b", "\x85", "\u2028"),
    "statements": (
        " OR 1=1",
        "DROP TABLE data",
        "import os",
        "alert(1)",
        "__import__('os')",
        "f(x)",
        "=1+1",
        "@SUM(1)",
    ),
    "templates": ("{x}", "{{x}}", "{%", "%}", "${x}", "%s", "%(x)s", ":x", "?", "{0}", "{"),
    "tags": ("<b>", "</b>", "<script>", "</script>", "<!--", "-->", "]]>", "&lt;", "&", "<img src=x onerror=y>", "<"),
    "control": ("\x1b[31m", "\x07", "\x08", "\x7f", "\u202e", "\u200b", "\ufeff"),
    "tables": ("|", "\\|", "&", "\\\\", "_", "^", "~", "*", "**", "[a](b)", "![a](b)", "$x$", ","),
    "rules": (" and ", " or missing", "always", "<= 3", "in {", "}", "not in", "is missing", "if", "≠"),
    "words": ("select", "NULL", "true", "None", "__proto__", "constructor", "rowid", "votes_1", "rule_0"),
    "space": (" ", "  ", "\u00a0"),
}
ALL_PIECES = tuple(piece for pieces in PIECES.values() for piece in pieces)


def hostile_names(most: int = 4) -> st.SearchStrategy[str]:
    """A few pieces in a row."""
    return st.lists(st.sampled_from(ALL_PIECES), min_size=1, max_size=most).map("".join)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[Any] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(f"/{tag}")

    def handle_comment(self, data: str) -> None:
        self.tags.append("comment")


def html_structure(page: str) -> list[Any]:
    """The tags of a page with the names of their attributes, in their order: what a text in it cannot change."""
    parser = _Tags()
    parser.feed(page)
    parser.close()
    return parser.tags
