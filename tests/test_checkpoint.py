"""A checkpoint is whole or refused, in one line that says what to do; nothing in it is run or unpacked."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.metrics import make_scorer

import rulecover.checkpoint as module
from rulecover import RuleSet
from rulecover.checkpoint import Checkpoint, fingerprint
from rulecover.exceptions import CheckpointError, CheckpointWarning

MINE = fingerprint({"seed": 0})


def kept(path: Path) -> Checkpoint:
    file = Checkpoint(path, "sums", MINE)
    file.put({"first": {"total": np.arange(3.0), "none": np.zeros((0, 2), dtype=np.uint8)}, "second/third": {}})
    return file


def refused(path: Path) -> str:
    with pytest.raises(CheckpointError) as caught:
        Checkpoint(path, "sums", MINE)
    assert len(str(caught.value).splitlines()) == 1 and path.name in str(caught.value)
    return str(caught.value)


def test_what_was_kept_is_there_again(tmp_path: Path) -> None:
    kept(tmp_path / "file")
    again = Checkpoint(tmp_path / "file", "sums", MINE)
    first = again.get("first")

    assert first is not None and first["total"].tolist() == [0.0, 1.0, 2.0] and first["none"].shape == (0, 2)
    assert again.get("third") is None
    again.remove()
    again.remove()
    assert list(tmp_path.iterdir()) == []


def test_another_work_another_fingerprint_and_other_versions_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    kept(path)
    with pytest.raises(CheckpointError, match="is a checkpoint of sums, not of products; name another"):
        Checkpoint(path, "products", MINE)
    with pytest.raises(CheckpointError, match="other data or settings"):
        Checkpoint(path, "sums", fingerprint({"seed": 1}))
    monkeypatch.setattr(module, "_versions", lambda: dict.fromkeys(module._PACKAGES, "99"))
    assert "was written with rulecover" in refused(path)
    monkeypatch.setattr(module, "VERSION", 2)
    assert "is a checkpoint of version 1, and this rulecover goes on from version 2" in refused(path)


def test_a_folder_that_is_not_there_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="there is no folder"):
        Checkpoint(tmp_path / "folder" / "file", "sums", MINE)


def test_what_cannot_be_a_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name, why in (
        ("folder", "is a folder, a pipe or a device; name a file for the checkpoint"),
        ("pipe", "is a folder, a pipe or a device"),
        ("loop", r"cannot be a checkpoint \(Too many levels of symbolic links\); name another file"),
        ("a" * 300, "File name too long"),
        ("with\0null", "embedded null byte"),
    ):
        with pytest.raises(CheckpointError, match=why):
            Checkpoint(tmp_path / name, "sums", MINE)
    with pytest.raises(CheckpointError, match="is a folder, a pipe or a device"):
        Checkpoint("/dev/zero", "sums", MINE)


def test_a_link_stays_a_link_once_the_work_is_done(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    file = kept(tmp_path / "link")
    assert (tmp_path / "target").is_file() and Checkpoint(tmp_path / "link", "sums", MINE).get("first") is not None
    file.remove()

    assert [path.name for path in tmp_path.iterdir()] == ["link"] and (tmp_path / "link").is_symlink()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(cut=st.integers(0, 2000), at=st.integers(0, 2000), byte=st.integers(0, 255))
def test_a_damaged_file_is_refused_or_read_as_it_was(tmp_path: Path, cut: int, at: int, byte: int) -> None:
    path = tmp_path / "file"
    if not path.exists():
        kept(path)
    whole = path.read_bytes()
    try:
        for damaged in (whole[: cut % len(whole)], _with(whole, at % len(whole), byte)):
            path.write_bytes(damaged)
            try:
                first = Checkpoint(path, "sums", MINE).get("first")
            except CheckpointError as error:
                assert len(str(error).splitlines()) == 1
            else:
                assert first is None or "total" not in first or first["total"].tolist() == [0.0, 1.0, 2.0]
    finally:
        path.write_bytes(whole)


def _with(data: bytes, at: int, byte: int) -> bytes:
    return data[:at] + bytes([byte]) + data[at + 1 :]


class Hostile:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("made-by-a-pickle",)


def test_a_pickle_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pickle").write_bytes(pickle.dumps(Hostile()))
    np.savez(tmp_path / "objects.npz", head=np.array([Hostile()]))
    for name in ("pickle", "objects.npz"):
        assert "is not a checkpoint" in refused(tmp_path / name)

    assert not (tmp_path / "made-by-a-pickle").exists()


def test_a_small_file_does_not_unpack_to_a_large_one(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "bomb.npz", head=np.zeros(10_000_000, dtype=np.uint8))
    assert "it is compressed" in refused(tmp_path / "bomb.npz")


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "9" * 300 + ",)}",
        "{'descr': ('<f8',), 'fortran_order': False, 'shape': ()}",
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
        "(",
        "'" * 3,
    ],
    ids=["a large shape", "a larger shape", "no type", "objects", "an open bracket", "an open text"],
)
def test_an_array_that_is_none_is_refused(header: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "array.npz", "w") as archive:
        head = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
        archive.writestr("head.npy", head + b"\0" * 8)

    assert "is not a checkpoint, or a damaged one" in refused(tmp_path / "array.npz")


def test_other_files_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", head=np.frombuffer(b'{"format": "x", "packages": {}}', dtype=np.uint8))
    assert "is not a checkpoint of rulecover" in refused(tmp_path / "other.npz")
    (tmp_path / "text").write_text("a,b\n")
    assert "is not a checkpoint, or a damaged one" in refused(tmp_path / "text")


@pytest.mark.parametrize("shape", ["(10L,", "'" * 3, "(99999999999999999999999,)}", "(1,)\n a\n  b\n c"])
def test_an_array_whose_header_is_damaged_is_refused(shape: str, tmp_path: Path) -> None:
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': " + shape.encode()
    with zipfile.ZipFile(tmp_path / "damaged.npz", "w") as archive:
        archive.writestr("head.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    assert "is not a checkpoint, or a damaged one" in refused(tmp_path / "damaged.npz")


def test_a_checkpoint_of_no_version_is_refused(tmp_path: Path) -> None:
    head = {"format": "rulecover checkpoint", "work": "sums", "fingerprint": MINE, "packages": {}}
    np.savez(tmp_path / "file.npz", head=np.frombuffer(json.dumps(head).encode(), dtype=np.uint8))
    assert "is not a checkpoint of rulecover" in refused(tmp_path / "file.npz")


def test_a_full_disk_is_a_warning_and_the_old_file_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    file = kept(path)
    before = path.read_bytes()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "_save", full)
    with pytest.warns(CheckpointWarning, match=r"cannot be written \(No space left on device\); the work goes on"):
        file.write()

    assert path.read_bytes() == before and [each.name for each in tmp_path.iterdir()] == ["file"]


def test_what_was_put_off_is_written_on_ctrl_c(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with pytest.raises(KeyboardInterrupt), kept(path) as file:
        file._write_again = float("inf")
        file.put({"late": {"total": np.ones(1)}})
        assert Checkpoint(path, "sums", MINE).get("late") is None
        raise KeyboardInterrupt

    assert Checkpoint(path, "sums", MINE).get("late") is not None


def test_fingerprints_tell_data_and_settings_apart() -> None:
    X = np.arange(6.0).reshape(2, 3)
    sparse = scipy.sparse.csr_array(X)
    different = [
        fingerprint({}, X),
        fingerprint({}, X.T),
        fingerprint({}, X.astype(np.float32)),
        fingerprint({}, X, X),
        fingerprint({}, X + 1e-12),
        fingerprint({}, sparse),
        fingerprint({}, sparse * 2),
        fingerprint({}, np.array(["a", None], dtype=object)),
        fingerprint({"seed": 1}, X),
        fingerprint({"seed": "1"}, X),
        fingerprint({}, X, None),
        fingerprint({}, None, X),
        fingerprint({"keep": RuleSet.of_intervals([{0: (0.0, 1.0)}], ["a"])}),
        fingerprint({"keep": RuleSet.of_intervals([{0: (0.0, 2.0)}], ["a"])}),
        fingerprint({"function": lambda: 1}),
        fingerprint({"function": lambda: 2}),
        fingerprint({"groups": np.arange(2000)}),
        fingerprint({"groups": np.arange(2000) // 2}),
    ]

    assert len(set(different)) == len(different)
    assert fingerprint({"function": lambda: 1}) == fingerprint({"function": lambda: 1})
    assert fingerprint({}, np.asfortranarray(X)) == fingerprint({}, X)


class Weighted:
    def __init__(self, weight: object) -> None:
        self.weight = weight

    def __call__(self, *_: object) -> object:
        return self.weight


@dataclass(frozen=True)
class Chosen:
    by: object


def scorer(weight: object) -> object:
    def score(*_: object) -> object:
        return weight

    return score


def named(weight: object) -> object:
    """Functions of one name, whose code uses a constant of their module."""
    around: dict[str, object] = {"WEIGHT": weight, "__name__": "module"}
    exec("def score(*_):\n    return [WEIGHT for _ in ()]", around)
    return around["score"]


def with_default(weight: object) -> object:
    return lambda *_, w=weight: w


def with_attribute(weight: object) -> object:
    function = with_default(1)
    function.weight = weight  # type: ignore[attr-defined]
    return function


def _holding_itself(values: list[object]) -> list[object]:
    values.append(values)
    return values


def _before_assignment(weight: object) -> object:
    def score(*_: object) -> object:
        return weight, later

    text = fingerprint({"scoring": score})
    later = None
    return text


SETTINGS = {
    "a closure": scorer,
    "a default": with_default,
    "an attribute": with_attribute,
    "a constant of the module": named,
    "a function in a closure": lambda weight: scorer(scorer(weight)),
    "a partial": lambda weight: partial(max, weight),
    "a partial of a closure": lambda weight: partial(scorer(weight), 1),
    "a scorer": lambda weight: make_scorer(scorer(weight)),
    "an object": Weighted,
    "an object in an object": lambda weight: Weighted([Weighted(weight)]),
    "a bound method": lambda weight: Weighted(weight).__call__,
    "a dataclass": lambda weight: Chosen(scorer(weight)),
    "a set": lambda weight: {"a", "b", "c", weight},
    "a random state": np.random.RandomState,
    "a generator": np.random.default_rng,
    "a frame": lambda weight: pd.DataFrame({"a": np.arange(2000), "b": weight}),
    "a list that holds itself": lambda weight: _holding_itself([weight]),
    "a mapping": lambda weight: {"beta": weight},
    "an empty cell": _before_assignment,
}


@pytest.mark.parametrize("of", SETTINGS.values(), ids=SETTINGS)
def test_fingerprints_tell_functions_and_objects_by_what_they_hold(of: Callable[[int], object]) -> None:
    assert fingerprint({"scoring": of(1)}) != fingerprint({"scoring": of(2)})
    assert fingerprint({"scoring": of(1)}) == fingerprint({"scoring": of(1)})


def test_a_setting_that_does_not_show_what_it_holds_is_refused() -> None:
    with pytest.raises(CheckpointError, match=r"^scoring cannot be compared .* a lock .*; define __reduce__ in its"):
        fingerprint({"scoring": Weighted(Lock())})


@pytest.mark.slow
def test_fingerprints_are_the_same_in_another_process() -> None:
    """The order of sets of texts, and where objects are in memory, differ from process to process."""
    path = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})"
    code = f"{path}; from test_checkpoint import *; print([fingerprint({{'s': of(1)}}) for of in SETTINGS.values()])"
    found = [
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]

    assert found[0] == found[1]


def test_another_version_of_a_library_in_use_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, ours = tmp_path / "file", module._versions()
    for library in module._LIBRARIES:
        monkeypatch.setattr(module, "_versions", lambda library=library: ours | {library: "1.0"})
        kept(path)
        monkeypatch.setattr(module, "_versions", lambda: {name: ours[name] for name in module._PACKAGES})
        Checkpoint(path, "sums", MINE)  # one that is not in use here
        monkeypatch.setattr(module, "_versions", lambda library=library: ours | {library: "2.0"})
        assert f"was written with {library} 1.0, and this is 2.0" in refused(path)
        path.unlink()


def test_the_version_of_an_imported_library_is_kept() -> None:
    import xgboost

    assert module._versions()["xgboost"] == xgboost.__version__
