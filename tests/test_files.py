"""What is written is there whole or not at all, and nothing else changes: modes, links, pipes, devices, inputs."""

from __future__ import annotations

import fcntl
import itertools
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from commands import fruit_folder, process, run

from rulecover import files
from rulecover.files import whole_file

WRITER = """
import sys, time
from pathlib import Path
from rulecover import files
from rulecover.files import whole_file
with whole_file(Path(sys.argv[1])) as file:
    file.write("half")
    file.flush()
    print("writing", flush=True)
    time.sleep(60)
"""


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def write(path: Path, text: str = "new") -> None:
    with whole_file(path) as file:
        file.write(text)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def parts(folder: Path) -> list[str]:
    return [name for name in names(folder) if name.endswith(".part")]


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


@pytest.fixture(autouse=True)
def hang_up_ends() -> Iterator[None]:
    """As in a terminal: what is started by nohup ignores SIGHUP, and so would all that it starts."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before or signal.SIG_DFL)


@pytest.fixture
def writers() -> Iterator[list[subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for each in started:
        each.kill()
        each.communicate()


def writer(path: Path, writers: list[subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
    """A process that has written half a file."""
    started = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE)
    writers.append(started)
    assert started.stdout is not None and started.stdout.readline() == b"writing\n"
    return started


# Modes ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", [0o600, 0o640, 0o644, 0o664, 0o755])
def test_a_file_that_is_replaced_keeps_its_mode(tmp_path: Path, umask: None, before: int) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(before)
    write(path)

    assert (path.read_text(), mode(path)) == ("new", before)


def test_a_new_file_has_the_mode_that_the_umask_leaves(tmp_path: Path, umask: None) -> None:
    write(tmp_path / "file")

    assert mode(tmp_path / "file") == 0o640


def test_a_private_file_is_private_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch(mode=0o600)
    with whole_file(path) as file:
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o600


def test_the_umask_is_never_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("other threads would make files for everybody"))

    write(tmp_path / "file")


def test_a_write_protected_file_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write to every file
    with pytest.raises(PermissionError, match="write-protected"):
        write(path)

    assert path.read_text() == "old" and names(tmp_path) == ["file"]


# Links, pipes, devices ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("there", [True, False], ids=["a file", "nothing yet"])
def test_a_link_stays_a_link_and_its_target_is_written(tmp_path: Path, there: bool) -> None:
    (tmp_path / "far").mkdir()
    target, link, linked = tmp_path / "far" / "target", tmp_path / "link", tmp_path / "link to a link"
    if there:
        target.write_text("old")
    link.symlink_to("far/target")
    linked.symlink_to(link)
    write(linked)

    assert (linked.is_symlink(), link.is_symlink(), target.is_symlink()) == (True, True, False)
    assert target.read_text() == "new"
    assert parts(tmp_path) == parts(tmp_path / "far") == []


def test_a_link_in_a_circle_is_an_error(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(link)
    with pytest.raises((OSError, RuntimeError)):
        write(link)

    assert link.is_symlink()


@pytest.mark.parametrize("binary", [True, False])
def test_a_pipe_is_written_into(tmp_path: Path, binary: bool) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    with whole_file(pipe, binary=binary) as file:
        file.write(b"new" if binary else "new")
    reader.join(10)

    assert got == [b"new"] and pipe.is_fifo()
    assert names(tmp_path) == ["pipe"]


def test_a_device_is_written_into() -> None:
    """Not into one that others need: a mistake would replace it by a file, for root may."""
    ours, theirs = os.openpty()
    device = Path(os.ttyname(theirs))
    write(device)

    assert os.read(ours, 10) == b"new" and device.is_char_device()


def test_standard_output_is_written_into_even_if_it_goes_to_a_file(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from rulecover import files
from rulecover.files import whole_file
print("before")
with whole_file(Path(sys.argv[1])) as file:
    file.write("middle\\n")
print("after")
"""
    log, link = tmp_path / "log", tmp_path / "link"
    log.write_text("first\n")
    link.symlink_to("/dev/fd/1")
    with log.open("a") as file:
        subprocess.run([sys.executable, "-c", code, str(link)], stdout=file, check=True)
    piped = subprocess.run([sys.executable, "-c", code, str(link)], capture_output=True, check=True)

    assert log.read_text() == "first\nbefore\nmiddle\nafter\n"
    assert piped.stdout == b"before\nmiddle\nafter\n"


# Errors, signals, kills -----------------------------------------------------------------------------------------------


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), whole_file(path) as file:
        file.write("half")
        raise KeyboardInterrupt

    assert path.read_text() == "old" and names(tmp_path) == ["file"]


def test_what_is_written_is_on_the_disk_before_it_takes_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, bool]] = []
    path = tmp_path / "file"
    monkeypatch.setattr(
        os, "fsync", lambda _: seen.append(((tmp_path / parts(tmp_path)[0]).read_text(), path.exists()))
    )
    with whole_file(path) as file:
        file.write("new")

    assert seen == [("new", False)]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_the_process_and_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, writers: list[subprocess.Popen[bytes]], number: signal.Signals
) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    half = writer(path, writers)
    half.send_signal(number)

    assert half.wait(20) == -number  # as if nobody had handled it
    assert path.read_text() == "old" and names(tmp_path) == ["file"]


def test_signals_that_are_ignored_or_handled_stay_so(tmp_path: Path) -> None:
    def handler(*_: object) -> None:
        raise AssertionError

    before = [signal.signal(signal.SIGHUP, signal.SIG_IGN), signal.signal(signal.SIGTERM, handler)]
    try:
        with whole_file(tmp_path / "file"):
            during = [signal.getsignal(signal.SIGHUP), signal.getsignal(signal.SIGTERM)]
        after = [signal.getsignal(signal.SIGHUP), signal.getsignal(signal.SIGTERM)]
    finally:
        signal.signal(signal.SIGHUP, before[0])
        signal.signal(signal.SIGTERM, before[1])
    write(tmp_path / "file")

    assert during == after == [signal.SIG_IGN, handler]
    assert signal.getsignal(signal.SIGTERM) == before[1] == signal.SIG_DFL


def test_a_child_that_is_ended_leaves_the_file_of_its_parent_alone(tmp_path: Path) -> None:
    ready, started = os.pipe()
    with whole_file(tmp_path / "file") as file:
        child = os.fork()
        if not child:
            os.write(started, b".")
            time.sleep(60)
            os._exit(0)
        os.read(ready, 1)
        os.kill(child, signal.SIGTERM)
        _, status = os.waitpid(child, 0)
        file.write("new")

    assert os.WTERMSIG(status) == signal.SIGTERM
    assert (tmp_path / "file").read_text() == "new"


def test_what_a_killed_process_left_is_removed_by_the_next_one_and_only_that(
    tmp_path: Path, writers: list[subprocess.Popen[bytes]]
) -> None:
    path = tmp_path / "file[1]*.csv"
    others = [".other.0123456789abcdef.part", f".{path.name}.notes.part", f".{path.name}.part", f".{path.name}"]
    for name in others:
        (tmp_path / name).write_text("mine")
    killed, at_work = writer(path, writers), writer(path, writers)
    killed.kill()
    killed.wait()
    assert len(parts(tmp_path)) == 2 + 3
    write(path)
    left = set(names(tmp_path)) - {*others, path.name}
    at_work.terminate()
    at_work.wait()

    assert len(left) == 1  # of the process that was still at work
    assert set(names(tmp_path)) == {*others, path.name} and path.read_text() == "new"


def test_a_part_that_its_writer_made_anew_is_not_taken_for_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = tmp_path / ".file.0123456789abcdef.part"
    part.write_text("old")
    lock = fcntl.flock

    def lock_after_the_part_was_made_anew(handle: int, operation: int) -> None:
        part.unlink()
        part.write_text("new")
        lock(handle, operation)

    monkeypatch.setattr(fcntl, "flock", lock_after_the_part_was_made_anew)
    files._remove_unlocked(part)

    assert part.read_text() == "new"


def test_many_threads_write_one_file_and_one_of_them_wins(tmp_path: Path) -> None:
    path, failures = tmp_path / "file", []

    def often(text: str) -> None:
        try:
            for _ in range(50):
                write(path, text * 1000)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=often, args=(text,)) for text in "abcd"]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert failures == [] and names(tmp_path) == ["file"]
    assert path.read_text() in {text * 1000 for text in "abcd"}


@pytest.mark.parametrize("name", ["n" * 255, "\N{PEACH}" * 63, "-", "a\nb", "*"])
def test_every_name_that_a_file_may_have_will_do(tmp_path: Path, name: str) -> None:
    write(tmp_path / name)

    assert names(tmp_path) == [name]


# On the command line --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = fruit_folder(tmp_path_factory.mktemp("fruit"))
    (made / "kept.txt").write_text("weight > 110\n")
    (made / "link.csv").symlink_to("fruit.csv")
    os.link(made / "model.json", made / "hard.json")
    return made


WRITING = {
    "fit": ("fit", "fruit.csv", "-t", "kind", "--drop", "id", "--trees", 2, "--out"),
    "fit from a link": ("fit", "link.csv", "-t", "kind", "--drop", "id", "--trees", 2, "--out"),
    "fit keeps": (
        *("fit", "fruit.csv", "-t", "kind", "--drop", "id", "--trees", 2, "--method", "path", "--max-rules", 3),
        *("--cv", 2, "--keep", "kept.txt", "--out"),
    ),
    "fit of a model": ("fit", "fruit.csv", "-t", "kind", "--drop", "id", "--model", "model.json", "--out"),
    "predict": ("predict", "model.json", "fruit.csv", "--out"),
    "predict Parquet": ("predict", "model.json", "fruit.parquet", "--out"),
    "export": ("export", "model.json", "--to", "python", "--out"),
    "report": ("report", "model.json", "fruit.csv", "-t", "kind", "--out"),
    "explain": ("explain", "fruit.csv", "-t", "kind", "--drop", "id", "--trees", 2, "--report"),
}
INPUTS = ("fruit.csv", "link.csv", "fruit.parquet", "model.json", "hard.json", "kept.txt")


def read_by(words: tuple[object, ...]) -> set[str]:
    same = {"fruit.csv": "link.csv", "link.csv": "fruit.csv", "model.json": "hard.json"}
    named = {str(word) for word in words if word in INPUTS}
    return named | {same[name] for name in named if name in same}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "out"),
    [(command, out) for command, out in itertools.product(WRITING, INPUTS) if out in read_by(WRITING[command])],
)
def test_no_command_writes_over_what_it_reads(
    folder: Path, monkeypatch: pytest.MonkeyPatch, command: str, out: str
) -> None:
    monkeypatch.chdir(folder)
    before = Path(out).read_bytes()
    done = run(*WRITING[command], Path("..") / folder.name / out)

    assert done.exit_code == 1, done.output
    assert len(done.stderr.splitlines()) == 1 and "is read by this command" in done.stderr and out in done.stderr
    assert Path(out).read_bytes() == before


@pytest.mark.slow
def test_a_table_on_standard_input_is_not_written_over(folder: Path) -> None:
    with (folder / "fruit.csv").open("rb") as file:
        done = process("predict", folder / "model.json", "-", "--out", folder / "fruit.csv", stdin=file)

    assert done.returncode == 1 and "is read by this command" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", [name for name in WRITING if name not in {"fit of a model", "fit keeps"}])
def test_every_command_keeps_modes_and_links(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(folder)
    target, link = tmp_path / "target", tmp_path / "link"
    target.touch(mode=0o600)
    link.symlink_to(target)
    done = run(*WRITING[command], link)

    assert done.exit_code == 0, done.output
    assert link.is_symlink() and mode(target) == 0o600 and target.stat().st_size > 0
    assert names(tmp_path) == ["link", "target"]


@pytest.mark.slow
@pytest.mark.parametrize("command", [name for name in WRITING if name not in {"fit of a model", "fit keeps"}])
def test_every_command_writes_into_a_pipe(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(folder)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    done = run(*WRITING[command], pipe)
    reader.join(20)
    run(*WRITING[command], tmp_path / "file")

    assert done.exit_code == 0, done.output
    assert pipe.is_fifo() and got == [(tmp_path / "file").read_bytes()]


def test_parquet_goes_into_a_pipe(folder: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.parquet"
    os.mkfifo(pipe)
    copy = tmp_path / "copy.parquet"
    reader = threading.Thread(target=lambda: copy.write_bytes(pipe.read_bytes()))
    reader.start()
    done = run("predict", folder / "model.json", folder / "fruit.csv", "--keep", "id", "--out", pipe)
    reader.join(20)

    assert done.exit_code == 0, done.output
    assert pd.read_parquet(copy)["id"].astype(int).tolist() == list(range(300))


@pytest.mark.slow
def test_a_model_on_standard_output_is_alone_there_by_any_name(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/dev/fd/1")
    words = ("fit", folder / "fruit.csv", "-t", "kind", "--drop", "id", "--trees", 2, "--out")

    assert process(*words, tmp_path / "link").stdout == process(*words, "-").stdout


def test_a_study_does_not_write_into_the_folder_of_its_data(tmp_path: Path) -> None:
    pd.DataFrame({"x": range(40), "target": [0, 1] * 20}).to_csv(tmp_path / "rules.csv", index=False)
    before = (tmp_path / "rules.csv").read_bytes()
    for which in ("mirco", "tables"):
        (tmp_path / "results.jsonl").touch()
        done = run("study", which, "--data", tmp_path, "--out", tmp_path / ".", "--datasets", "rules")
        assert done.exit_code == 1 and "--data" in done.stderr and "name another" in done.stderr
        assert len(done.stderr.splitlines()) == 1

    assert (tmp_path / "rules.csv").read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_prediction_that_is_ended_leaves_nothing(folder: Path, tmp_path: Path, number: signal.Signals) -> None:
    out = tmp_path / "answers.csv"
    header, row, *_ = (folder / "fruit.csv").read_text().splitlines()
    command = [sys.executable, "-m", "rulecover", "predict", str(folder / "model.json"), "-", "--out", str(out)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as predicting:
        assert predicting.stdin is not None
        predicting.stdin.write(f"{header}\n{row}\n".encode())
        predicting.stdin.flush()
        ends = time.monotonic() + 60
        while not parts(tmp_path) and time.monotonic() < ends:
            time.sleep(0.05)
        assert parts(tmp_path)
        predicting.send_signal(number)
        assert predicting.wait(20) == -number

    assert names(tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
@pytest.mark.parametrize("command", ["fit", "explain"])
def test_a_copy_of_standard_input_is_not_left_behind(command: str, number: signal.Signals, tmp_path: Path) -> None:
    arguments = [sys.executable, "-m", "rulecover", command, "-", "-t", "kind"]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, cwd=tmp_path, env=environment) as training:
        assert training.stdin is not None
        training.stdin.write(b"x,kind\n" + b"1,a\n" * 100_000)  # more than a pipe holds: some of it has been copied
        training.stdin.flush()
        training.send_signal(number)
        assert training.wait(20) == -number

    assert names(tmp_path) == []


def test_a_model_on_standard_input_is_not_taken_for_a_table(folder: Path) -> None:
    done = run("fit", "-", "-t", "kind", stdin=(folder / "model.json").read_bytes())

    assert done.exit_code == 1
    assert done.stderr.startswith("error: standard input is a model, not a table")
