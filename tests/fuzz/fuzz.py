"""Coverage-guided fuzzing of the loaders, from the corpus in the repository; needs the extra `fuzz`.

    python tests/fuzz/fuzz.py --runs 1000000            # every loader
    python tests/fuzz/fuzz.py json --runs 20000 --keep  # one; inputs that reach new code join the corpus

An input that fails is written to fuzz-failures. The corpus has a line of JSON for each text: tests/fuzz/corpus.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FOLDER = Path(__file__).parent
FAILURES = Path("fuzz-failures")
#: Longer texts are rarely of another kind.
_LONGEST = 8000
#: Seconds that a text may take, and megabytes of memory.
_SECONDS, _MEGABYTES = 10, 2048
#: The most letters of a text that joins the corpus, and of all of them.
_SHORT, _ALL = 3000, 200_000


def corpus_file(name: str) -> Path:
    return FOLDER / "corpus" / f"{name}.jsonl"


def corpus(name: str) -> list[str]:
    return [json.loads(line) for line in corpus_file(name).read_text(encoding="utf-8").splitlines()]


def fuzz(name: str, runs: int, *, keep: bool) -> bool:
    """Tries this many inputs in a process of its own; whether all was well."""
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate(corpus(name)):
            (Path(folder) / f"{number:05}").write_text(text, encoding="utf-8")
        FAILURES.mkdir(exist_ok=True)
        begin = time.monotonic()
        arguments = [f"-runs={runs}", f"-max_len={_LONGEST}", f"-timeout={_SECONDS}", f"-rss_limit_mb={_MEGABYTES}"]
        arguments += [f"-artifact_prefix={FAILURES}/{name}-", "-print_final_stats=1", "-verbosity=0", folder]
        done = subprocess.run([sys.executable, __file__, "--inside", name, *arguments], check=False)
        found = [path.read_text(encoding="utf-8", errors="ignore") for path in sorted(Path(folder).iterdir())]
    took = time.monotonic() - begin
    said = "all refused or read" if done.returncode == 0 else f"FAILED, see {FAILURES}"
    print(f"{name}: {runs:,} inputs in {took:.0f} s, {len(found):,} of them reach different code: {said}", flush=True)
    if keep:
        keep_short(name, found)
    return done.returncode == 0


def keep_short(name: str, found: list[str]) -> None:
    """Adds the shortest of these texts to the corpus."""
    kept = corpus(name)
    room = _ALL - sum(map(len, kept))
    for text in sorted(set(found) - set(kept), key=lambda text: (len(text), text)):
        room -= len(text)
        if room < 0 or len(text) > _SHORT:
            break
        kept.append(text)
    corpus_file(name).write_text("".join(f"{json.dumps(text)}\n" for text in kept), encoding="utf-8")


def inside(name: str, arguments: list[str]) -> None:
    """The fuzzer itself, which ends the process."""
    import atheris

    sys.path.insert(0, str(FOLDER.parent / "support"))
    with atheris.instrument_imports(include=["rulecover"]):
        from targets import damaged, tried

    def one_input(data: bytes) -> None:
        try:
            tried(name, data.decode("utf-8", "ignore"))
        except BaseException:
            (FAILURES / f"{name}-{hashlib.sha256(data).hexdigest()[:12]}").write_bytes(data)
            raise

    def mutated(data: bytes, max_size: int, seed: int) -> bytes:
        """By the fuzzer, or as a file is damaged that was such a text before."""
        if seed % 2:
            return atheris.Mutate(data, max_size)
        return damaged(name, data.decode("utf-8", "ignore"), seed).encode()[:max_size]

    atheris.Setup([sys.argv[0], *arguments], one_input, custom_mutator=mutated)
    atheris.Fuzz()


def main() -> None:
    if "--inside" in sys.argv:
        at = sys.argv.index("--inside")
        inside(sys.argv[at + 1], sys.argv[at + 2 :])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = sorted(path.stem for path in (FOLDER / "corpus").iterdir())
    parser.add_argument("loaders", nargs="*", default=names, help=f"of {', '.join(names)} (all)")
    parser.add_argument("--runs", type=int, default=1_000_000, help="inputs for each (1,000,000)")
    parser.add_argument("--keep", action="store_true", help="add what reaches new code to the corpus")
    given = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    done = [fuzz(name, given.runs, keep=given.keep) for name in given.loaders]
    sys.exit(0 if all(done) else 1)


if __name__ == "__main__":
    main()
