"""The README as the package index shows it: how to install it, and links to the site and to where the project lives."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

#: A Markdown link or picture whose target is neither a page of the web nor a heading of the same page.
_RELATIVE = re.compile(r"(!?)(\[[^\]]*\])\((?![a-z]+:|#)([^)#]+)(#[^)]*)?\)")

#: What the README says to those who have a clone, from the first command to the end of the paragraph below.
_IN_A_CLONE = re.compile(r"^```sh\nmake demo.*?^```\n\n.*?\n\n", flags=re.MULTILINE | re.DOTALL)
_INSTALLED = """```sh
pip install rulecover
rulecover demo    # explains a forest on embedded data, shows the rules, writes a report
```

"""

#: Files beyond the folder of the site that are pages of it, too.
_ALSO_PAGES = {"CONTRIBUTING.md": "contributing", "CHANGELOG.md": "changelog"}


def for_the_index(text: str, site: str, source: str) -> str:
    """The README for those who have no clone of the repository at `source`; the pages of the site are below `site`."""

    def absolute(link: re.Match[str]) -> str:
        picture, label, file, place = link[1], link[2], link[3], link[4] or ""
        page = _ALSO_PAGES.get(file) or re.sub(r"^docs/(.+)\.md$", r"\1", file)
        if page != file:
            return f"{label}({site}{page}.html{place})"
        return f"{picture}{label}({source}/{'raw' if picture else 'blob'}/main/{file}{place})"

    return _RELATIVE.sub(absolute, _IN_A_CLONE.sub(_INSTALLED, text, count=1))


class ReadmeOfTheIndex(MetadataHookInterface):
    """Fills in the readme, which is named as dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        urls = metadata["urls"]
        shown = for_the_index(text, urls["Documentation"], urls["Source"])
        metadata["readme"] = {"content-type": "text/markdown", "text": shown}
