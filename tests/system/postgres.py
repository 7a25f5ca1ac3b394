"""A real PostgreSQL server of our own, on a socket in a folder of its own, gone when it is closed."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from databases import Database


def program(name: str) -> str | None:
    """Where a program of PostgreSQL is; Debian keeps them off the path."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return shutil.which(name) or (str(found[-1]) if found else None)


@contextmanager
def server() -> Iterator[str]:
    """The folder of the socket of a running server."""
    # The path of a socket must be short. PostgreSQL refuses to run as root, and its package brings a user for it.
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
    as_user: dict[str, Any] = {}
    if os.geteuid() == 0:
        user = pwd.getpwnam("postgres")
        os.chown(folder, user.pw_uid, user.pw_gid)
        as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    settings = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off -c jit=off"
    data, log = str(folder / "data"), str(folder / "log")

    def run(name: str, *arguments: str) -> None:
        command = [str(program(name)), "-D", data, *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder, timeout=120, **as_user)

    try:
        run("initdb", "--username=tester", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
        run("pg_ctl", "start", "-w", "-l", log, "-o", settings)
        try:
            yield str(folder)
        finally:
            run("pg_ctl", "stop", "-m", "immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class PostgreSQL(Database):
    dialect, double = "postgres", "DOUBLE PRECISION"
    texts = ("VARCHAR(50)", "TEXT COLLATE nocase", "CITEXT")

    def __init__(self, folder: str) -> None:
        # Prepared statements would outlive a table and its types.
        settings: dict[str, Any] = {"autocommit": True, "prepare_threshold": None}
        super().__init__(psycopg.connect(host=folder, user="tester", dbname="postgres", **settings))
        self.connection.execute(
            "CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
        )
        self.connection.execute("CREATE EXTENSION citext")

    def insert(self, table: str, width: int, rows: Sequence[Sequence[Any]]) -> None:
        # Names may hold per cent signs, which this driver takes for places.
        target = self.quoted(table).replace("%", "%%")
        with self.connection.cursor() as cursor:
            cursor.executemany(f"INSERT INTO {target} VALUES ({', '.join(['%s'] * width)})", rows)
