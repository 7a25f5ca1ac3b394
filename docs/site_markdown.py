"""Pages of the site as plain Markdown, for programs that read: directives become text, scripts become pages."""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path
from typing import Any

import site_demo

_LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)")
_CODE = re.compile(r"^(`{3,})(?!\{).*?^\1`*$", flags=re.MULTILINE | re.DOTALL)
_MODULE = re.compile(r"^\.\. currentmodule:: (\S+)$", flags=re.MULTILINE)


def page_in_markdown(text: str, page: Path) -> str:
    """A page without the directives that only Sphinx understands."""
    text = re.sub(r"\A---\n.*?\n---\n+", "", text, flags=re.DOTALL)
    text = _directive("include", text, lambda given, body: _included(page.parent / given, body))
    text = _directive("rules-of-the-demo", text, lambda given, body: site_demo.table_in_markdown())
    text = _directive("eval-rst", text, lambda given, body: _names(body))
    text = _directive("toctree|raw", text, lambda given, body: "")
    text = re.sub(r"^:{3,}\{grid-item-card\} (.+)\n((?::[\w-]+:.*\n)*)", _card, text, flags=re.MULTILINE)
    text = re.sub(r"^:{3,}(?:\{grid\}.*)?\n(?::[\w-]+:.*\n)*", "", text, flags=re.MULTILINE)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def script_in_markdown(script: Path, html: str) -> str:
    """A script of the gallery: its comments as text, its code in blocks; `html` is the page with what it prints."""
    source = script.read_text(encoding="utf-8")
    tree = ast.parse(source)
    parts = [_in_markdown(ast.get_docstring(tree) or ""), f"What it prints and draws is on [the page]({html})."]
    below = "\n".join(source.splitlines()[tree.body[0].end_lineno :])
    for number, cell in enumerate(re.split(r"^# %%\n", below, flags=re.MULTILINE)):
        said = re.match(r"(?:#.*\n)*", cell)[0] if number else ""  # type: ignore[index]  # it matches nothing, too
        parts.append(_in_markdown(re.sub(r"^# ?", "", said, flags=re.MULTILINE)))
        code = cell[len(said) :].strip("\n")
        parts.append(f"```python\n{code}\n```" if code else "")
    return "\n\n".join(part for part in parts if part) + "\n"


def copy_linked_files(text: str, source: Path, place: Path) -> None:
    """Copies the pictures and raw files that a page links to, so that they are where its copy says."""
    for link in links(text):
        linked, target = source.parent / link, place.parent / link
        if linked.is_file() and linked.suffix not in {".md", ".html"} and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(linked, target)


def links(text: str) -> list[str]:
    """The links of a page to files, code blocks left out."""
    return _LINK.findall(_CODE.sub("", text))


def _directive(name: str, text: str, made: Any) -> str:
    pattern = rf"^```\{{(?:{name})\}} ?(\S*).*?\n(.*?)^```$"
    return re.sub(pattern, lambda found: made(found[1], found[2]), text, flags=re.MULTILINE | re.DOTALL)


def _included(file: Path, options: str) -> str:
    text = file.read_text(encoding="utf-8")
    folder = re.search(r"^:relative-docs: (\S+)$", options, flags=re.MULTILINE)
    return text if folder is None else text.replace(f"]({folder[1]}", "](")


def _names(body: str) -> str:
    """The names of a table of the API reference, each with its page."""
    module = _MODULE.search(body)
    names = re.findall(r"^   (\w+)$", body, flags=re.MULTILINE)
    return "\n".join(f"- [{name}](api/{module[1]}.{name}.md)" for name in names) if module else ""


def _card(found: re.Match[str]) -> str:
    page = re.search(r"^:link: (\S+)$", found[2], flags=re.MULTILINE)
    return f"**[{found[1]}]({page[1]}.md)**: " if page else f"**{found[1]}**\n\n"


def _in_markdown(text: str) -> str:
    """Titles and code of reStructuredText, as Markdown has them."""
    text = re.sub(r"^(.+)\n={3,}$", r"# \1", text.strip(), flags=re.MULTILINE)
    text = re.sub(r"^(.+)\n-{3,}$", r"## \1\n", text, flags=re.MULTILINE)
    return text.replace("``", "`")
