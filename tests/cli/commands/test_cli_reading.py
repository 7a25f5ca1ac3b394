"""``rulecover export`` for people: the rules of a model as text, Markdown, LaTeX and sentences."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import fruit_folder, run

from rulecover.export import from_json
from rulecover.show.grid import latex_escaped, markdown_escaped

FOR_PEOPLE = ("text", "markdown", "latex", "sentences")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = fruit_folder(tmp_path_factory.mktemp("reading"))
    words = ("fit", made / "fruit.csv", "-t", "kind", "--drop", "id", "--trees", 5, "--max-rules", 3, "-q")
    assert run(*words, "--method", "path", "-o", made / "path.json").exit_code == 0
    return made


def written(model: Path, kind: str) -> str:
    done = run("export", model, "--to", kind)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.slow
def test_a_cover_is_written_as_its_rules_print(folder: Path) -> None:
    model = from_json((folder / "model.json").read_text())
    rules = model.rules

    assert written(folder / "model.json", "text") == f"{rules}\n"
    assert written(folder / "model.json", "markdown") == rules.to_markdown()
    assert written(folder / "model.json", "latex") == rules.to_latex()
    assert written(folder / "model.json", "sentences").splitlines() == rules.sentences()
    assert "colour = red" in written(folder / "model.json", "text")


@pytest.mark.slow
def test_a_path_is_written_with_its_default_and_votes(folder: Path) -> None:
    model = from_json((folder / "path.json").read_text())
    text, said = (written(folder / "path.json", kind) for kind in ("text", "sentences"))

    assert len(text.splitlines()) == len(said.splitlines()) + 1 == len(model.rules) + 2
    assert f"{model.base[1]:+.3g}" in text.splitlines()[1] and "by default" in text
    assert "log-odds of plum" in text.splitlines()[0]
    assert said.startswith(f"By default log-odds {model.base[1]:+.3g} for plum.\n")


@pytest.mark.slow
def test_fitted_votes_of_a_cover_are_shown(folder: Path) -> None:
    file, report = folder / "fitted.json", folder / "fitted.html"
    done = run(
        "fit", folder / "fruit.csv", "-t", "kind", "--drop", "id", "--method", "cover", "--vote", "fitted", "-o", file
    )
    model = from_json(file.read_text())
    text, said = (written(file, kind) for kind in ("text", "sentences"))

    assert model.has_own_votes and "by default" not in text
    assert len(text.splitlines()) == len(said.splitlines()) + 1 == len(model.rules) + 1
    for votes, line, sentence in zip(model.votes.tolist(), text.splitlines()[1:], said.splitlines(), strict=True):
        assert line.split()[2:4] == [f"{vote:+.3g}" for vote in votes]
        assert all(f"{vote:+.3g} for " in sentence for vote in votes)
    assert f"plum {model.votes[model.votes[:, 1].argmax(), 1]:+.2g}" in done.stdout
    assert run("report", file, folder / "fruit.csv", "-t", "kind", "-o", report).exit_code == 0
    assert "The votes of the rules that cover a row are added" in report.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("fallback", ["closest", "majority"])
def test_log_odds_of_a_cover_are_said_to_be_log_odds(fallback: str, folder: Path) -> None:
    file, report, table = folder / f"odds-{fallback}.json", folder / f"odds-{fallback}.html", folder / "fruit.csv"
    settings = ["--method", "cover", "--vote", "log-odds", "--fallback", fallback, "--max-rules", 1]
    run("fit", table, "-t", "kind", "--drop", "id", *settings, "-o", file)
    model = from_json(file.read_text())
    text, said = (written(file, kind) for kind in ("text", "sentences"))

    assert text.splitlines()[0].split("  ")[-2:] == ["log-odds of plum", "if"]
    assert said.startswith(f"By default log-odds {model.base[1]:+.3g} for plum.\n")
    assert run("report", file, table, "-t", "kind", "-o", report).exit_code == 0
    assert "Votes are log-odds: logarithms of the probability" in report.read_text(encoding="utf-8")
    missed = 1 + int(model.missed(pd.read_csv(table)).argmax())
    why = run("why", file, table, "--row", missed).stdout
    assert "No rule covers it" in why and "log-odds of plum" in why and "by default" in why
    assert ("all training rows\n" in why.split("No rule covers it")[1]) == (fallback == "majority")


NAMES = ["a|b", "a_b_ *c*", "$x^2$", "<b>bold</b>", r"\input{x} & 5 %", "`code` [link](http://x)", "=1+1"]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("method", ["cover", "path"])
def test_names_are_shown_as_they_are(name: str, method: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=60).round(2)
    frame = pd.DataFrame({name: values, "class": np.where(values > 0, f"{name} is high", "low")})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    model = tmp_path / "model.json"
    run("fit", tmp_path / "rows.csv", "-t", "class", "--method", method, "--trees", 3, "--max-rules", 2, "-o", model)

    shown = {kind: written(model, kind) for kind in FOR_PEOPLE}

    told = max("low", f"{name} is high")  # votes are log-odds of the second of two classes
    assert f"{name} <= " in shown["text"] and told in shown["text"]
    assert f"{name} is at most " in shown["sentences"]
    assert f"{markdown_escaped(name)} <= " in shown["markdown"]
    assert rf"{latex_escaped(name)} $\leq$ " in shown["latex"]
    rows = [line for line in shown["markdown"].splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1  # no name opens a cell
    assert "<b>" not in re.sub(r"\\<", "", shown["markdown"])
    cells = [line for line in shown["latex"].splitlines() if line.endswith(r"\\")]
    assert len({len(re.findall(r"(?<!\\)&", cell)) for cell in cells}) == 1
    assert r"\input" not in shown["latex"]


@pytest.mark.parametrize("kind", FOR_PEOPLE)
def test_what_people_read_goes_to_a_file_as_well(kind: str, folder: Path) -> None:
    out = folder / f"rules.{kind}"

    assert run("export", folder / "model.json", "--to", kind, "-o", out).output == ""
    assert out.read_text(encoding="utf-8") == written(folder / "model.json", kind)
