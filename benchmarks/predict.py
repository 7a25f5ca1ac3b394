"""`rulecover predict` on a large CSV file, beside reading the file alone.

    python benchmarks/predict.py [--gigabytes 5] [--folder FOLDER] [--out docs/benchmarks-predict.md]

The file is generated: 20 columns of numbers, one of text. CPU time of one thread, and the peak memory of the process.
"""

from __future__ import annotations

import os

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_threads] = "1"

import argparse
import multiprocessing
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import rulecover

COLUMNS, BLOCK = 20, 100_000

READ = """
import sys, pandas as pd
for part in pd.read_csv(sys.argv[1], chunksize=95_000, low_memory=False): pass
"""


def block(rng: np.random.Generator) -> pd.DataFrame:
    """Rows of numbers and a colour; the class depends on three of the columns."""
    frame = pd.DataFrame(rng.normal(size=(BLOCK, COLUMNS)).round(5), columns=[f"x{i}" for i in range(COLUMNS)])
    frame["colour"] = rng.choice(["red", "green", "blue"], BLOCK)
    frame["kind"] = np.where((frame["x0"] + frame["x1"] > 0) | (frame["colour"] == "red"), "yes", "no")
    return frame


def generate(path: Path, gigabytes: float) -> None:
    """A file of this size, and one to train on beside it."""
    block(np.random.default_rng(1)).head(5000).to_csv(path.with_name("train.csv"), index=False)
    rng = np.random.default_rng(0)
    text = block(rng).to_csv(index=False)
    header, rows = text.split("\n", 1)
    blocks = [rows, *(block(rng).to_csv(index=False, header=False) for _ in range(4))]
    count = 0
    with path.open("w") as file:
        file.write(f"{header}\n")
        while file.tell() < gigabytes * 1e9:
            file.write(blocks[count % len(blocks)])
            count += 1


def measured(*command: str) -> tuple[float, float]:
    """Seconds of CPU time, and the peak memory in MB."""
    process = subprocess.Popen([sys.executable, *command])
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0, command
    return used.ru_utime + used.ru_stime, used.ru_maxrss / (1024.0 if sys.platform == "linux" else 1024.0**2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=5.0)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        # In a process of its own: the memory of this one would count as that of the processes it starts.
        making = multiprocessing.get_context("spawn").Process(
            target=generate, args=(folder / "data.csv", options.gigabytes)
        )
        making.start()
        making.join()
        cli = ("-m", "rulecover.cli.main")
        measured(*cli, "fit", str(folder / "train.csv"), "-t", "kind", "-q", "-o", str(folder / "model.json"))
        with (folder / "data.csv").open("rb") as file:
            rows = sum(part.count(b"\n") for part in iter(lambda: file.read(1 << 20), b"")) - 1
        size = (folder / "data.csv").stat().st_size / 1e9
        read, read_memory = measured("-c", READ, str(folder / "data.csv"))
        answers = str(folder / "answers.csv")
        predict, memory = measured(
            *cli, "predict", str(folder / "model.json"), str(folder / "data.csv"), "-q", "-o", answers
        )
        n_rules = (folder / "model.json").read_text().count('{"clauses"')
    lines = [("reading the file with pandas, in parts", read, read_memory)]
    lines.append(("`rulecover predict`, answers written to CSV", predict, memory))
    rows_of_table = "\n".join(
        f"| {what} | {seconds:.0f} | {1000 * size / seconds:.0f} | {rows / seconds:,.0f} | {peak:.0f} MB |"
        for what, seconds, peak in lines
    )
    text = f"""# Predicting a large file

Made by `python benchmarks/predict.py --gigabytes {options.gigabytes:g}` (rulecover {rulecover.__version__}, pandas
{pd.__version__}, Python {platform.python_version()}): a generated CSV file of {size:.2f} GB, {rows:,} rows of
{COLUMNS} numbers and a text; a model of {n_rules} rules. CPU time of one thread.

| what | seconds | MB a second | rows a second | peak memory |
|---|---|---|---|---|
{rows_of_table}

The memory does not depend on the size of the file.
"""
    print(text)
    if options.out:
        options.out.write_text(text)


if __name__ == "__main__":
    main()
