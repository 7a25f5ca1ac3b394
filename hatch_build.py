"""The README as the package index shows it: links to files of the repository become links to where it lives."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

#: A Markdown link or picture whose target is neither a page of the web nor a heading of the same page.
_RELATIVE = re.compile(r"(!?)(\[[^\]]*\])\((?![a-z]+:|#)([^)]+)\)")


def with_absolute_links(text: str, source: str) -> str:
    """A Markdown text whose links to files lead into the repository at `source`."""
    return _RELATIVE.sub(
        lambda link: f"{link[1]}{link[2]}({source}/{'raw' if link[1] else 'blob'}/main/{link[3]})", text
    )


class AbsoluteLinks(MetadataHookInterface):
    """Fills in the readme, which is named as dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        shown = with_absolute_links(text, metadata["urls"]["Source"])
        metadata["readme"] = {"content-type": "text/markdown", "text": shown}
