"""Nothing opens a connection, but for a study without a folder of data, which fetches them."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from commands import fruit_folder, run
from sklearn.datasets import load_iris


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fruit_folder(tmp_path_factory.mktemp("fruit"))


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Addresses that somebody tried to connect to, or to look up; every attempt fails."""
    addresses: list[Any] = []

    def refuse(*args: Any, **_: Any) -> None:
        addresses.append(args)
        raise OSError("there is no network")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    for name in ("getaddrinfo", "gethostbyname", "create_connection"):
        monkeypatch.setattr(socket, name, refuse)
    return addresses


#: Ends a process with status 3 as soon as it looks up a name, or connects or sends to an address that is not a path,
#: before the operating system is asked: Python tells audit hooks of both, whichever module wants them.
BLOCKED = """
import os, socket, sys

def refuse(event, args):
    if not event.startswith("socket.") or event in ("socket.__new__", "socket.gethostname"):
        return
    if event in ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg") and args[0].family == getattr(
        socket, "AF_UNIX", None
    ):
        return
    sys.stderr.write(f"NETWORK {event} {args[1:]}")
    sys.stderr.flush()
    os._exit(3)

sys.addaudithook(refuse)
"""


def without_network(code: str, *words: object, folder: Path) -> subprocess.CompletedProcess[str]:
    """A process that runs some code and may not use the network."""
    command = [sys.executable, "-c", BLOCKED + code, *map(str, words)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


COMMAND_LINE = "from rulecover.cli.main import main; main()"

#: A tour of the public names.
API = """
import warnings; warnings.simplefilter("ignore")
import numpy as np, pandas as pd
import rulecover
from rulecover.export import from_json, to_json, to_python, to_sql
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

X, y = load_iris(return_X_y=True, as_frame=True)
forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y)
for method in ("path", "cover"):
    rules = rulecover.explain(forest, X, y, method=method)
    print(rules.rules_), rules.predict(X), rules.why(X[:2])
    to_python(rules), to_sql(rules, dialect="sqlite", table="t"), from_json(to_json(rules)).predict(X)
    rulecover.write_report(rulecover.Summary.of(rules, X, y, title=method), f"{method}.html")
rulecover.certify(rules, X)
rulecover.cover_table(forest, X.assign(kind=y), target="kind", sample=50)
rulecover.RCBoostClassifier(max_rmp_calls=1, random_state=0, checkpoint="boost.npz").fit(X, y)
rulecover.RulePathRegressor(max_rules=2, choose="last", random_state=0).fit(X, X.iloc[:, 0])
rulecover.MIRCORegressor(RandomForestRegressor(5, random_state=0), n_jobs=2).fit(X, X.iloc[:, 0])
X.assign(kind=y).to_parquet("rows.parquet")
rulecover.MIRCOClassifier(random_state=0).fit(rulecover.open_table("rows.parquet", target="kind"))
rulecover.linear_rules(rules, X, y)
print("done")
"""


@pytest.mark.parametrize(
    "attempt",
    [
        "import socket; socket.create_connection(('127.0.0.1', 9), timeout=1)",
        "import socket; socket.getaddrinfo('example.org', 80)",
        "import socket; socket.gethostbyname('example.org')",
        "import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 9))",
        "import urllib.request; urllib.request.urlopen('http://example.org')",
    ],
)
def test_attempts_are_noticed(attempt: str, tmp_path: Path) -> None:
    done = without_network(attempt, folder=tmp_path)

    assert done.returncode == 3 and done.stderr.startswith("NETWORK socket.")


@pytest.mark.slow
def test_nothing_in_python_uses_the_network(tmp_path: Path) -> None:
    done = without_network(API, folder=tmp_path)

    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["done"]), done.stderr[-2000:]


@pytest.mark.slow
def test_the_demo_uses_no_network(tmp_path: Path) -> None:
    done = without_network(COMMAND_LINE, "demo", "--out", tmp_path / "demo.html", folder=tmp_path)

    assert done.returncode == 0 and (tmp_path / "demo.html").exists(), done.stderr[-2000:]


@pytest.mark.slow
def test_a_study_of_a_folder_uses_no_network(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    X, y = load_iris(return_X_y=True)
    tiny = pd.DataFrame(X[50::5], columns=[f"x{f}" for f in range(4)]).assign(target=y[50::5])
    tiny.to_csv(tmp_path / "data" / "tiny.csv", index=False)
    words = ("study", "mirco", "--data", "data", "--datasets", "tiny", "--methods", "DT", "--out", "out")
    done = without_network(COMMAND_LINE, *words, folder=tmp_path)

    assert done.returncode == 0 and (tmp_path / "out" / "results.jsonl").exists(), done.stderr[-2000:]


TRAINED = ("-t", "kind", "--drop", "id", "--trees", 2)
COMMANDS: dict[str, tuple[object, ...]] = {
    "example": ("example", "--out", "{out}/penguins.csv"),
    "explain": ("explain", "fruit.csv", *TRAINED, "--report", "{out}/explain.html"),
    "fit": ("fit", "fruit.csv", *TRAINED, "--folds", 0, "--out", "{out}/model.json"),
    "predict": ("predict", "model.json", "fruit.parquet", "--out", "{out}/answers.csv"),
    "why": ("why", "model.json", "fruit.csv"),
    "report": ("report", "model.json", "fruit.csv", "-t", "kind", "--out", "{out}/report.html"),
    "certify": ("certify", "model.json", "--table", "fruit.csv"),
    "export": ("export", "model.json", "--to", "sql", "--dialect", "duckdb"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_uses_the_network(
    name: str, folder: Path, tmp_path: Path, tried: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    done = run(*(str(word).replace("{out}", str(tmp_path)) for word in COMMANDS[name]))

    assert done.exit_code == 0, done.output
    assert tried == []


def test_a_study_without_a_folder_of_data_asks_the_network_for_them(tmp_path: Path, tried: list[Any]) -> None:
    fetching = run("study", "mirco", "--datasets", "wine", "--cache", tmp_path / "cache", "--out", tmp_path / "fetched")
    assert fetching.exit_code == 1 and len(tried) > 0
    assert fetching.stderr.splitlines()[-1].startswith("error: ")


def test_a_report_refers_to_nothing_elsewhere(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    page = tmp_path / "report.html"
    assert run("report", "model.json", "fruit.csv", "-t", "kind", "--out", page).exit_code == 0
    for mark in ("src=", 'href="http', "@import", "url(http", "fetch(", "XMLHttpRequest", "WebSocket"):
        assert mark not in page.read_text(), mark
