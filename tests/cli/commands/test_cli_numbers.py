"""Numbers on the command line: from a table to a model, its answers, intervals, reasons and report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xgboost
from commands import run, table
from sklearn.metrics import r2_score

from rulecover import explain
from rulecover.cli.options.choices import MethodName
from rulecover.export import from_json

OPTIONS = {
    MethodName.COVER: ["--max-rules", 6, "--trees", 10],
    MethodName.BOOST: ["--calls", 2, "--depth", 3],
    MethodName.PATH: ["--max-rules", 4, "--trees", 10],
}


def houses(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"size": rng.normal(100, 30, n).round(1), "rooms": rng.integers(1, 7, n)})
    frame["town"] = rng.choice(["A", "B", "C"], n)
    frame["price"] = 3000 * frame["size"] + 20000 * frame["rooms"] + 80000 * (frame["town"] == "A")
    return frame.assign(size=frame["size"].where(rng.random(n) > 0.05))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("numbers")
    houses(300, 0).to_csv(made / "houses.csv", index=False)
    houses(100, 1).to_csv(made / "others.csv", index=False)
    for method, options in OPTIONS.items():
        done = run(
            "fit", made / "houses.csv", "-t", "price", "--method", method, *options, "-o", made / f"{method}.json"
        )
        assert done.exit_code == 0, done.output
    return made


@pytest.mark.slow
@pytest.mark.parametrize("method", MethodName)
def test_answers_and_the_report_are_those_of_the_model(method: MethodName, folder: Path) -> None:
    model, frame = from_json((folder / f"{method}.json").read_text()), houses(100, 1)
    said = model.predict(frame)

    header, *rows = table(run("predict", folder / f"{method}.json", folder / "others.csv").stdout)
    done = run("report", folder / f"{method}.json", folder / "others.csv", "-t", "price", "-o", folder / "r.html")

    assert header == ["prediction", "rules", "decided_by"]
    assert [float(row[0]) for row in rows] == said.tolist()
    assert done.exit_code == 0, done.output
    assert f"{r2_score(frame['price'], said):.3f}" in done.stdout
    assert f"{r2_score(frame['price'], said):.3f}" in (folder / "r.html").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("method", [MethodName.COVER, MethodName.BOOST])
def test_intervals_stand_beside_the_predictions(method: MethodName, folder: Path) -> None:
    model = from_json((folder / f"{method}.json").read_text())
    ends = model.predict_interval(houses(100, 1), 0.8)

    words = ("predict", folder / f"{method}.json", folder / "others.csv", "--interval", 0.8)
    header, *rows = table(run(*words).stdout)
    run(*words, "-o", folder / "out.parquet")

    assert header == ["prediction", "lower", "upper", "rules", "decided_by"]
    assert [[float(row[1]), float(row[2])] for row in rows] == ends.tolist()
    assert pd.read_parquet(folder / "out.parquet")[["lower", "upper"]].to_numpy().tolist() == ends.tolist()


def test_a_path_of_numbers_gives_no_intervals_and_says_so(folder: Path) -> None:
    done = run("predict", folder / "path.json", folder / "others.csv", "--interval", 0.8)

    assert done.exit_code == 1 and "gives no intervals" in done.stderr


@pytest.mark.parametrize("method", MethodName)
def test_what_the_rules_of_a_row_add_or_say_makes_its_answer(method: MethodName, folder: Path) -> None:
    _, *rows = table(run("predict", folder / f"{method}.json", folder / "others.csv").stdout)

    told = run("why", folder / f"{method}.json", folder / "others.csv", "--row", 4).stdout.splitlines()

    answer = float(told[1].split()[1].removesuffix(","))
    said = [float(line.split()[1]) for line in told[4:]]
    assert answer == pytest.approx(float(rows[3][0]), rel=1e-5)
    assert (np.mean(said) if method is MethodName.BOOST else np.sum(said)) == pytest.approx(answer, rel=1e-3)


@pytest.mark.slow
def test_a_vote_asks_for_means_and_a_task_decides_what_is_predicted(folder: Path) -> None:
    out = folder / "means.json"
    words = ("fit", folder / "houses.csv", "--trees", 5, "--method", "cover", "-o", out)
    run(*words, "-t", "price", "--vote", "support", "--fallback", "closest")
    assert from_json(out.read_text()).fallback_votes is None

    run(*words, "-t", "rooms", "--task", "numbers")
    assert from_json(out.read_text()).answer.votes[0] == "weighted value"
    run(*words, "-t", "rooms")
    assert from_json(out.read_text()).answer.labels.tolist() == [1, 2, 3, 4, 5, 6]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["path", "cover", "boost"])
def test_rules_of_a_trained_booster_of_numbers_are_chosen(folder: Path, method: Any) -> None:
    frame = houses(300, 0)
    X = frame[["size", "rooms"]]
    xgboost.XGBRegressor(n_estimators=8, max_depth=3).fit(X, frame["price"]).save_model(folder / "booster.json")

    words = ("fit", folder / "houses.csv", "-t", "price", "--model", folder / "booster.json", "--method", method)
    done = run(*words, "-o", folder / "few.json")

    assert done.exit_code == 0, done.output
    few = explain(str(folder / "booster.json"), X, frame["price"], random_state=0, method=method)
    assert from_json((folder / "few.json").read_text()).predict(X).tolist() == few.predict(X).tolist()


@pytest.mark.slow
def test_numbers_far_from_zero_give_the_same_rules(tmp_path: Path) -> None:
    near = houses(200, 3).assign(price=lambda frame: (frame["price"] / 1e5).round(3))
    said = []
    for far in (0, 10**9):
        near.assign(price=near["price"] + far).to_csv(tmp_path / "far.csv", index=False, float_format="%.3f")
        said.append(run("explain", tmp_path / "far.csv", "-t", "price", "--trees", 10, "--max-rules", 5).output)
    rules = [
        [line.rpartition("  ")[2] for line in text.splitlines() if " <= " in line or " > " in line] for text in said
    ]
    assert rules[0] == rules[1] != []
