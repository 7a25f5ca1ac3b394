"""No command opens a connection, but for a study without a folder of data, which fetches them."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
from commands import fruit_folder, run


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
