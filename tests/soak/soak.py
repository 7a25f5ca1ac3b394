"""Tries random cases of all kinds for some minutes; what fails is made small and written as a test.

python tests/soak/soak.py --minutes 60 --jobs 2              # fresh cases; the seed is printed
python tests/soak/soak.py --minutes 1 --seed 123             # the same cases again
python tests/soak/soak.py --seed 123 --case 456              # one of them, with its traceback
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import resource
import secrets
import signal
import sys
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: Where the cases come from.
_FOLDERS = ("soak", "support", "contracts", "export", "readers")
#: A case that takes longer hangs.
_SECONDS = 120
#: Addresses of a process: a case that needs more fails, before the machine runs out of memory.
_BYTES = 9 * 2**30
#: After how many cases a process says how far it is.
_TOLD = 1000
#: Causes of refusals that are printed.
_SHOWN = 12


@dataclass
class Count:
    """What was tried, what was refused, by its reason, and what failed, as texts."""

    tried: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)

    def add(self, other: Count) -> None:
        self.tried += other.tried
        self.refused += other.refused
        self.failed += other.failed


class Hang(Exception):
    """A case that takes too long."""


@contextmanager
def watched() -> Iterator[None]:
    """Warnings of our own arithmetic are errors, and so is a case that hangs."""

    def stop(*_: Any) -> None:
        raise Hang(f"more than {_SECONDS} s")

    # Seconds of work: other processes may keep this one waiting.
    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, _SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.filterwarnings("error", category=RuntimeWarning, module=r"rulecover(\.|$)")
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def tried(seed: int, number: int, out: Path) -> Count:
    """One case; its test is written if it fails."""
    from families import BrokenPromise, trial_of
    from refusals import refusal

    trial = trial_of(seed, number)
    try:
        with watched():
            trial.check()
    except BrokenPromise as broken:
        return Count(1, failed=[failure(trial, broken, seed, number, out)])
    except Exception as error:
        if (reason := refusal(error, trial.name)) is not None:
            return Count(1, Counter([reason]))
        return Count(1, failed=[failure(trial, error, seed, number, out)])
    return Count(1)


def again(seed: int, number: int) -> str:
    """The command that tries a case again."""
    return f".venv/bin/python tests/soak/soak.py --seed {seed} --case {number}"


def failure(trial: Any, error: Exception, seed: int, number: int, out: Path) -> str:
    """What failed, in a few lines; the script that shows it goes to a file."""
    said = f"{trial.name}\n{type(error).__name__}: {error}\nagain: {again(seed, number)}"
    if trial.case is None:
        return f"{said}\n{''.join(traceback.format_exception(error)[-3:])}"
    from shrinking import as_test, shrunk

    promise = getattr(error, "promise", "")
    small = shrunk(trial.case, lambda case: same_failure(case, promise, error))
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"test_soak_{seed}_{number}.py"
    path.write_text(as_test(small, promise or trial.promises[0], said), encoding="utf-8")
    return f"{said}\nas a test of {len(small.y)} rows: {path}"


def same_failure(case: Any, promise: str, before: Exception) -> bool:
    """Whether the case breaks the same promise in the same words but for numbers, or cannot be fitted in these."""
    from families import BrokenPromise, keeps
    from refusals import refusal

    try:
        with watched():
            keeps(case, *([promise] if promise else []))
    except BrokenPromise as broken:
        return bool(promise) and _words_of(broken.error) == _words_of(getattr(before, "error", before))
    except Exception as error:
        return not promise and _words_of(error) == _words_of(before) and refusal(error) is None
    return False


def _words_of(error: Exception) -> str:
    """The type and the first line of an error, without what is in quotes and without numbers: sizes shrink."""
    first = next((line for line in str(error).splitlines() if line.strip()), "")
    return re.sub(r"\[[^\]]*\]|'[^']*'|[-+]?[\d.]+(?:e[-+]?\d+)?", "…", f"{type(error).__name__}: {first}")


def set_up() -> None:
    """Finds the tests, and keeps each process to one thread and to some memory; before numpy is imported."""
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))
    sys.path[:0] = [str(Path(__file__).parent.parent / folder) for folder in _FOLDERS]


def work(seed: int, first: int, step: int, until: float, out: Path) -> Count:
    """Case after case until the time is up: every `step`-th, so that processes try different ones."""
    set_up()
    count, number = Count(), first
    while time.time() < until:
        new = tried(seed, number, out)
        for text in new.failed:
            print(f"FAILED {text}\n", flush=True)
        count.add(new)
        number += step
        if count.tried % _TOLD == 0:
            print(f"process {first}: {count.tried:,} cases, {len(count.failed)} failed", flush=True)
    return count


def end_with_parent() -> None:
    """Ends this process as soon as the one that started it is gone, which Ctrl-C is for, too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if (parent := multiprocessing.parent_process()) is not None:
        threading.Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()


def soak(minutes: float, jobs: int, seed: int, out: Path) -> Count:
    """Cases for some minutes, by several processes."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C waits for no process
    until, total = time.time() + 60 * minutes, Count()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=end_with_parent) as workers:
        parts = [workers.submit(work, seed, first, jobs, until, out) for first in range(jobs)]
        for part in parts:
            total.add(part.result())
    return total


def try_alone(seed: int, number: int) -> None:
    set_up()
    from families import trial_of

    trial = trial_of(seed, number)
    print(trial.name)
    with watched():
        trial.check()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long (60)")
    parser.add_argument("--jobs", default="auto", help="processes; auto is one per core")
    parser.add_argument("--seed", type=int, default=None, help="of the cases; a fresh one by default")
    parser.add_argument("--case", type=int, default=None, help="try this case alone")
    parser.add_argument("--out", type=Path, default=Path("soak-failures"), help="where failing tests go")
    given = parser.parse_args()
    seed = secrets.randbelow(2**31) if given.seed is None else given.seed
    if given.case is not None:
        try_alone(seed, given.case)
        return
    jobs = len(os.sched_getaffinity(0)) if given.jobs == "auto" else int(given.jobs)
    print(f"seed {seed}, {jobs} processes, {given.minutes:g} minutes", flush=True)
    total = soak(given.minutes, jobs, seed, given.out)
    for reason, times in total.refused.most_common(_SHOWN):
        print(f"{times:6,} refused: {reason}")
    rate = total.tried / (60 * given.minutes)
    refused = sum(total.refused.values())
    print(f"seed {seed}: {total.tried:,} cases, {rate:.1f} per second, {refused:,} refused, {len(total.failed)} failed")
    sys.exit(1 if total.failed else 0)


if __name__ == "__main__":
    main()
