"""What the site has beyond the pages of this folder: results of experiments, and the same pages for programs."""

from __future__ import annotations

import inspect
import re
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

from site_markdown import copy_linked_files, page_in_markdown, script_in_markdown
from site_names import MODULES, public_names

#: The folders with the scripts of the gallery and of the case studies.
SCRIPTS = ("examples", "case_studies")


def add_results(root: Path, folder: Path) -> None:
    """Copies the pages of experiments and benchmarks, with their pictures, so that links to them stay in the site."""
    shutil.rmtree(folder, ignore_errors=True)
    for source, place in ((root / "experiments", folder), (root / "benchmarks", folder / "benchmarks")):
        for page in sorted(source.rglob("*")):
            if page.suffix in {".md", ".png", ".svg", ".json", ".jsonl"}:
                copy = place / page.relative_to(source)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(page, copy)
    pages = sorted(page.relative_to(folder).as_posix() for page in folder.rglob("*.md"))
    tree = "\n".join(page for page in pages if page != "README.md")
    with (folder / "README.md").open("a", encoding="utf-8") as readme:
        readme.write(f"\n```{{toctree}}\n:hidden:\n\n{tree}\n```\n")


def in_the_site(app: Any, page: str, source: list[str]) -> None:
    """Points links to files beyond this folder to where they are in the site."""
    depth = page.count("/")
    up = "../" * (depth + 1)
    text = source[0]
    if page.startswith("results/"):
        text = re.sub(r"\]\((?:\.\./)+docs/", f"]({'../' * depth}", text)
        text = re.sub(r"\]\((?:\.\./)+(?:README|CONTRIBUTING)\.md", f"]({'../' * depth}contributing.md", text)
    else:
        text = text.replace(f"]({up}experiments/", f"]({'../' * depth}results/")
        text = text.replace(f"]({up}benchmarks/", f"]({'../' * depth}results/benchmarks/")
        text = text.replace(f"]({up}CONTRIBUTING.md", f"]({'../' * depth}contributing.md")
        text = text.replace(f"]({up}CHANGELOG.md", f"]({'../' * depth}changelog.md")
    source[0] = text


def with_titles(app: Any, page: str, source: list[str]) -> None:
    """Lets a link that is named by its file, which is how one finds it in the repository, say the title of the page."""
    source[0] = re.sub(r"(?<!!)\[`?(?:[\w./-]+/)?[\w-]+\.md`?\]\(([^)\s]+\.md(?:#[^)\s]*)?)\)", r"[](\1)", source[0])


def write_for_programs(app: Any, exception: Exception | None) -> None:
    """Writes `llms.txt`, and each page and each public name as a Markdown file next to its HTML page."""
    if exception is not None or app.builder.format != "html":
        return
    out, entries = Path(app.outdir), []
    for page in sorted(app.env.found_docs):
        text = _in_markdown(app, page)
        if text:
            place = out / f"{page}.md"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
            copy_linked_files(text, Path(app.env.doc2path(page)), place)
            entries.append((app.env.titles[page].astext(), place.relative_to(out).as_posix()))
    names = [_write_name(module, name, out) for module in MODULES for name in public_names(module)]
    (out / "llms.txt").write_text(_contents(app.config.release, entries, names), encoding="utf-8")


def _in_markdown(app: Any, page: str) -> str:
    """A page as Markdown; nothing for one that Sphinx makes of a docstring, which is written as a name."""
    source = Path(app.env.doc2path(page))
    folder, _, name = page.partition("/")
    scripts = dict(zip(app.config.sphinx_gallery_conf["gallery_dirs"], SCRIPTS, strict=True))
    if source.suffix == ".md":
        text = [source.read_text(encoding="utf-8")]
        in_the_site(app, page, text)
        return page_in_markdown(text[0], source)
    if folder in scripts and name == "index":
        scripts_there = sorted((source.parents[1] / scripts[folder]).glob("plot_*.py"))
        listed = [
            f"- [{app.env.titles[f'{folder}/{script.stem}'].astext()}]({script.stem}.md)" for script in scripts_there
        ]
        return "\n".join([f"# {app.env.titles[page].astext()}", "", *listed, ""])
    if folder in scripts:
        return script_in_markdown(source.parents[1] / scripts[folder] / f"{name}.py", f"{name}.html")
    return ""


def _write_name(module: str, name: str, out: Path) -> tuple[str, str]:
    value = getattr(import_module(module), name)
    place = out / "api" / f"{module}.{name}.md"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"# {module}.{name}\n\n{_described(value, name)}\n", encoding="utf-8")
    return f"{module}.{name}", place.relative_to(out).as_posix()


def _described(value: Any, name: str) -> str:
    """A docstring with the signature, and for a class those of its public methods."""
    try:
        signature = f"    {name}{inspect.signature(value)}\n\n"
    except (TypeError, ValueError):
        signature = ""
    text = signature + (inspect.getdoc(value) or "")
    if inspect.isclass(value):
        methods = inspect.getmembers(value, inspect.isroutine)
        shown = [(word, method) for word, method in methods if not word.startswith("_") and method.__doc__]
        text += "".join(f"\n\n## {word}\n\n{_described(method, word)}" for word, method in shown)
    return text


def _contents(version: str, pages: list[tuple[str, str]], names: list[tuple[str, str]]) -> str:
    lines = [
        f"# rulecover {version}",
        "",
        "> Turns tree ensembles (scikit-learn, XGBoost, LightGBM, CatBoost) into a few rules that people can read,",
        "> with figures on held-out rows, a proof of how few rules could cover the data, and exports such as SQL.",
        "",
        "In short: `rulecover.explain(model, X, y)` returns a fitted estimator (`rules_`, `predict`, `why`, `score`);",
        "`rulecover explain data.csv --target y` does the same for a file.",
        "",
        "## Pages",
        "",
        *(f"- [{title}]({place})" for title, place in pages),
        "",
        "## Public names",
        "",
        *(f"- [{name}]({place})" for name, place in names),
        "",
    ]
    return "\n".join(lines)
