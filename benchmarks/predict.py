"""`rulecover predict` on a large CSV file, next to reading the file alone.

    python benchmarks/predict.py [--gigabytes 5] [--folder FOLDER] [--out docs/benchmarks-predict.md]
    python benchmarks/predict.py --engines [--rows 200000] [--runs 3]

The file is generated: 20 columns of numbers, one of text. CPU time of one thread, and the peak memory of the process.
With `--engines`: rules in memory, next to the fastest engines for the forest that they come from; those that do not run
are named (pip install treelite tl2cgen lleaves "llvmlite<0.45" scikit-learn-intelex skl2onnx onnxruntime lightgbm;
lleaves 1.3 does not run with later versions of llvmlite). All seconds are added to benchmarks/engines.jsonl, and
docs/benchmarks-engines.md is written again from the last line of it.
"""

from __future__ import annotations

import os

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_threads] = "1"

import argparse
import json
import multiprocessing
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

from rulecover.study.pages import write_page

COLUMNS, BLOCK = 20, 100_000
RAW = Path(__file__).with_name("engines.jsonl")
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks-engines.md"

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
    """A file of this size, and one to train on next to it."""
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


TREES, DEPTH, TRAINED_ON, RULES = 100, 8, 50_000, 50
Predict = Callable[[np.ndarray], object]


def by_scikit_learn(forest, X, y, folder) -> Iterator[tuple[str, Predict]]:
    yield "scikit-learn, the forest itself", forest.predict


def by_treelite(forest, X, y, folder) -> Iterator[tuple[str, Predict]]:
    import tl2cgen
    import treelite

    model = treelite.sklearn.import_model(forest)
    yield "treelite, GTIL", lambda rows: treelite.gtil.predict(model, rows, nthread=1)
    library = str(folder / "forest.so")
    tl2cgen.export_lib(model, toolchain="gcc", libpath=library, params={"parallel_comp": TREES}, nthread=1)
    compiled = tl2cgen.Predictor(library, nthread=1)
    yield "tl2cgen, compiled by gcc, with its matrix", lambda rows: compiled.predict(tl2cgen.DMatrix(rows))


def by_onnxruntime(forest, X, y, folder) -> Iterator[tuple[str, Predict]]:
    import onnxruntime
    from skl2onnx import to_onnx

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    model = to_onnx(forest, X[:1].astype(np.float32), options={id(forest): {"zipmap": False}})
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    yield "onnxruntime, in float32", lambda rows: session.run(None, {"X": rows.astype(np.float32)})


def by_intelex(forest, X, y, folder) -> Iterator[tuple[str, Predict]]:
    from sklearnex import config_context
    from sklearnex.ensemble import RandomForestClassifier

    with config_context(allow_fallback_to_host=True):
        model = RandomForestClassifier(TREES, max_depth=DEPTH, random_state=0, n_jobs=1).fit(X, y)
    yield "scikit-learn-intelex, a forest of its own", model.predict


def by_lightgbm_and_lleaves(forest, X, y, folder) -> Iterator[tuple[str, Predict]]:
    import lightgbm
    import lleaves

    settings = {"objective": "binary", "num_leaves": 2**DEPTH, "max_depth": DEPTH, "num_threads": 1, "verbosity": -1}
    model = lightgbm.train(settings, lightgbm.Dataset(X, y), TREES)
    yield "LightGBM, as many trees", lambda rows: model.predict(rows, num_threads=1)
    model.save_model(folder / "lightgbm.txt")
    compiled = lleaves.Model(model_file=str(folder / "lightgbm.txt"))
    compiled.compile()
    yield "lleaves, the same compiled by LLVM", lambda rows: compiled.predict(rows, n_jobs=1)


def by_rules(forest, X, y, folder) -> Iterator[tuple[str, Predict]]:
    from sklearn.frozen import FrozenEstimator

    from rulecover import MIRCOClassifier

    model = MIRCOClassifier.as_in_paper(FrozenEstimator(forest), max_rules=RULES).fit(X, y)
    assert len(model.rules_) == RULES
    yield f"rulecover, {RULES} rules", model.predict


ENGINES = (by_scikit_learn, by_treelite, by_onnxruntime, by_intelex, by_lightgbm_and_lleaves, by_rules)
PACKAGES = ("treelite", "tl2cgen", "onnxruntime", "scikit-learn-intelex", "lightgbm", "lleaves", "llvmlite")


def engines(rows: int, runs: int) -> dict[str, Any]:
    """The seconds of the engines: each predicts all rows in turn, again and again."""
    from sklearn.datasets import make_classification
    from sklearn.ensemble import RandomForestClassifier

    X, y = make_classification(max(rows, TRAINED_ON), COLUMNS, n_informative=10, random_state=0)
    forest = RandomForestClassifier(TREES, max_depth=DEPTH, random_state=0, n_jobs=1).fit(
        X[:TRAINED_ON], y[:TRAINED_ON]
    )
    known: dict[str, Predict] = {}
    failed: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for engine in ENGINES:
            try:
                for name, predict in engine(forest, X[:TRAINED_ON], y[:TRAINED_ON], Path(folder)):
                    predict(X[:10])
                    known[name] = predict
                    print(name, file=sys.stderr, flush=True)
            except Exception as error:  # one that does not run here must not keep the others from running
                failed.append(f"{engine.__name__.removeprefix('by_')}: {type(error).__name__}, {error}".splitlines()[0])
        taken = _in_turn(known, X[:rows], runs)
    date = datetime.now(UTC).date().isoformat()
    return {"rows": rows, "runs": runs, "seconds": taken, "failed": failed, "date": date}


def _in_turn(known: dict[str, Predict], X: np.ndarray, runs: int) -> dict[str, list[float]]:
    seconds: dict[str, list[float]] = {name: [] for name in known}
    for _ in range(runs + 1):
        for name, predict in known.items():
            start = time.process_time()
            predict(X)
            seconds[name].append(round(time.process_time() - start, 5))
    return {name: taken[1:] for name, taken in seconds.items()}  # the first run warms up


def _page_of_engines(found: dict[str, Any]) -> str:
    rows, runs, failed = found["rows"], found["runs"], found["failed"]
    taken = {name: median(seconds) for name, seconds in found["seconds"].items()}
    ours = taken[f"rulecover, {RULES} rules"]
    lines = [
        f"| {name} | {seconds:.3f} | {rows / seconds / 1e6:.2f} | {seconds / ours:.1f} |"
        for name, seconds in sorted(taken.items(), key=lambda item: item[1])
    ]
    return f"""# Predicting next to engines for forests

Made by `python benchmarks/predict.py --engines --rows {rows} --runs {runs}`; the seconds of every run are in
[engines.jsonl](../benchmarks/engines.jsonl). A forest of
{TREES} trees of depth {DEPTH}, trained on {TRAINED_ON:,} generated rows of {COLUMNS} columns in two classes, and
{RULES} rules that cover these rows; {rows:,} rows are predicted, in float64 unless it says float32. CPU time of one
thread, all in turn, medians of {runs} runs. Compiling is not counted. Rules answer another question than the forest
does: they are few enough to be read. Seconds depend on what else the machine does.

| engine | seconds | million rows per second | times the time of the rules |
|---|---|---|---|
{chr(10).join(lines)}

Did not run here: {"; ".join(failed) or "none"}.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engines", action="store_true", help="rules in memory next to engines for forests")
    parser.add_argument("--rows", type=int, default=200_000, help="rows to predict, for --engines")
    parser.add_argument("--runs", type=int, default=3, help="runs of each engine")
    parser.add_argument("--gigabytes", type=float, default=5.0)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    if options.engines:
        found = engines(options.rows, options.runs)
        print(text := _page_of_engines(found))
        with RAW.open("a", encoding="utf-8") as file:
            file.write(json.dumps(found) + "\n")
        write_page(PAGE, text, *PACKAGES)
        return
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

Made by `python benchmarks/predict.py --gigabytes {options.gigabytes:g}`: a generated CSV file of {size:.2f} GB,
{rows:,} rows of {COLUMNS} numbers and a text; a model of {n_rules} rules. CPU time of one thread.

| what | seconds | MB per second | rows per second | peak memory |
|---|---|---|---|---|
{rows_of_table}

The memory does not depend on the size of the file.
"""
    print(text)
    if options.out:
        write_page(options.out, text, "pandas")


if __name__ == "__main__":
    main()
