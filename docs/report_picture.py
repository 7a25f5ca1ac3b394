"""Takes the picture of the demo's report that the README and the site show: python docs/report_picture.py

Needs Chromium and the extra "system". The text in the file says how many rules it shows; a test compares this with
the demo.
"""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src"), str(HERE.parent / "tests" / "system")]

from browser import started
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from site_demo import summary_at

from rulecover import write_report

PICTURE = HERE / "report.png"
#: Of the picture, in pixels.
WIDTH = 1120
#: The last section that is shown.
LAST = "section[aria-labelledby='checked']"


def screenshot(report: Path) -> bytes:
    """The report from its top to the end of the last section that is shown."""
    with started() as browser:
        page = browser.new_context(viewport={"width": WIDTH, "height": 900}, color_scheme="light").new_page()
        page.goto(report.as_uri())
        bottom = page.locator(LAST).bounding_box()
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": bottom["y"] + bottom["height"] + 20}
        taken: bytes = page.screenshot(full_page=True, clip=clip)
    return taken


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        picture = Image.open(io.BytesIO(screenshot(write_report(summary_at(), Path(folder) / "report.html"))))
    said = PngInfo()
    said.add_text("rules", str(len(summary_at().rules)))
    picture.convert("RGB").quantize(64).save(PICTURE, optimize=True, pnginfo=said)


if __name__ == "__main__":
    main()
