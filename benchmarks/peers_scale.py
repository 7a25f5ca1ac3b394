"""Other makers of rules as rows grow: CPU time and memory next to a cover and a path of the same forest.

    python benchmarks/peers_scale.py [--rows 10000 100000 1000000] [--limit 600] [--only NAME ...]

Each contestant has a process of its own, one thread, and `--limit` seconds of CPU time for its `fit`; one that was not
done with fewer rows is not asked again. Each result is added to benchmarks/peers_scale.csv, the page
docs/benchmarks-peers.md is written again from that file, and what is in the file is not run again.
Needs the extras `peers-ruleopt` and `peers-imodels`.
"""

from __future__ import annotations

import os

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_threads] = "1"  # before numpy is imported: one thread each

import argparse
import json
import pickle
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator

from rulecover.study.pages import write_page

FEATURES, INFORMATIVE, TREES, DEPTH, MAX_RULES = 20, 10, 100, 6, 50
HELD_OUT = 20_000
#: No process may take more memory than this.
MEMORY = 8 * 2**30
FOREST = "random forest"
RAW = Path(__file__).with_suffix(".csv")
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks-peers.md"


def forest(_) -> object:
    return RandomForestClassifier(TREES, max_depth=DEPTH, random_state=0, n_jobs=1)


def cover(trained: object) -> object:
    from rulecover import MIRCOClassifier

    return MIRCOClassifier(FrozenEstimator(trained))


def path(trained: object) -> object:
    from rulecover import RulePathClassifier

    return RulePathClassifier(FrozenEstimator(trained), max_rules=MAX_RULES, choose="last")


def rux(trained: object) -> object:
    from ruleopt import RUXClassifier
    from ruleopt.solver import HiGHSSolver

    return RUXClassifier(trained, solver=HiGHSSolver(), random_state=0)


def rug(_) -> object:
    from ruleopt import RUGClassifier
    from ruleopt.solver import HiGHSSolver

    return RUGClassifier(solver=HiGHSSolver(), max_depth=DEPTH, random_state=0)


def rulefit(_) -> object:
    from imodels import RuleFitClassifier

    return RuleFitClassifier(random_state=0)


def figs(_) -> object:
    from imodels import FIGSClassifier

    return FIGSClassifier(max_rules=MAX_RULES)


#: The forest first: those after it that work on a trained forest take this one.
CONTESTANTS: dict[str, Callable[[object], object]] = {
    FOREST: forest,
    "rulecover cover of the forest": cover,
    f"rulecover path to {MAX_RULES} rules of the forest": path,
    "ruleopt RUX of the forest": rux,
    "ruleopt RUG": rug,
    "imodels RuleFit": rulefit,
    "imodels FIGS": figs,
}


def rules_of(model: object) -> int:
    """How many rules a model has; terms with a weight for RuleFit, leaves for trees."""
    if hasattr(model, "estimators_") and hasattr(model.estimators_[0], "get_n_leaves"):
        return sum(int(tree.get_n_leaves()) for tree in model.estimators_)
    if hasattr(model, "decision_rules_"):
        return len(model.decision_rules_)
    if hasattr(model, "trees_"):
        return sum(leaves_of(tree) for tree in model.trees_)
    if hasattr(model, "get_rules"):
        return len(model.get_rules().query("coef != 0"))
    return len(model.rules_)


def leaves_of(node) -> int:
    return 1 if node.left is None else leaves_of(node.left) + leaves_of(node.right)


def most_memory() -> float:
    """The most memory this process has held, in MiB; `ru_maxrss` would count what its parent held."""
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM:")).split()[1]) / 1024


def run_one(name: str, folder: Path, limit: float) -> None:
    """In a process of its own: the result as a line of JSON. The process is killed at the limit."""
    warnings.simplefilter("ignore")
    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    trained = pickle.loads((folder / "forest.pkl").read_bytes()) if name != FOREST else None
    model = CONTESTANTS[name](trained)
    before, start = most_memory(), time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (round(start + limit) + 1, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    model.fit(X, y)
    taken = time.process_time() - start
    resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    found = {"seconds": round(taken, 2), "MiB": round(most_memory() - before), "rules": rules_of(model)}
    if name == FOREST:
        (folder / "forest.pkl").write_bytes(pickle.dumps(model))
    right = np.asarray(model.predict(np.load(folder / "X_new.npy"))) == np.load(folder / "y_new.npy")
    print(json.dumps(found | {"accuracy": round(float(right.mean()), 4)}))


def measured(name: str, folder: Path, limit: float) -> dict[str, object]:
    """The figures of one contestant, or why there are none."""
    command = [sys.executable, __file__, "--one", name, "--folder", str(folder), "--limit", str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return {"outcome": "done", **json.loads(done.stdout.splitlines()[-1])}
    if done.returncode == -24:  # SIGXCPU
        return {"outcome": f"not within {limit / 60:.0f} minutes"}
    last = (done.stderr.strip().splitlines() or ["killed"])[-1]
    short = any(word in last for word in ("MemoryError", "bad_alloc", "Unable to allocate"))
    return {"outcome": f"not within {MEMORY / 2**30:.0f} GiB" if short else last[:200]}


def prepare(folder: Path, rows: int) -> None:
    X, y = make_classification(rows + HELD_OUT, FEATURES, n_informative=INFORMATIVE, flip_y=0.05, random_state=0)
    for name, part in (("", slice(rows)), ("_new", slice(rows, None))):
        np.save(folder / f"X{name}.npy", X[part])
        np.save(folder / f"y{name}.npy", y[part])


def results() -> pd.DataFrame:
    columns = ["rows", "name", "outcome", "seconds", "MiB", "rules", "accuracy"]
    return pd.read_csv(RAW).convert_dtypes() if RAW.exists() else pd.DataFrame(columns=columns)


def compare(rows: int, names: list[str], limit: float, folder: Path) -> None:
    """Everybody on this many rows, but for those whose result is known."""
    known = results()
    have = set(known.loc[known["rows"] == rows, "name"])
    wanted = [name for name in CONTESTANTS if name not in have and name in names]
    if not wanted:
        return
    prepare(folder, rows)
    for name in [FOREST, *(each for each in wanted if each != FOREST)]:
        failed = known[(known["name"] == name) & (known["outcome"] != "done") & (known["rows"] < rows)]
        line = {"outcome": f"not run: {failed['outcome'].iloc[0]} with fewer rows"} if len(failed) else None
        line = line or measured(name, folder, limit if name != FOREST else 1e6)
        print(f"{rows:>9,} {name}: {line}", file=sys.stderr, flush=True)
        if name in wanted:
            table = results()
            pd.concat([table, pd.DataFrame([{"rows": rows, "name": name, **line}])]).to_csv(RAW, index=False)


def page(table: pd.DataFrame, limit: float) -> str:
    sizes = sorted(table["rows"].unique())
    return "\n".join(
        [
            "# Makers of rules as rows grow",
            "",
            f"Made by `python benchmarks/peers_scale.py`: generated data of {FEATURES} columns, two classes,",
            "5 % of the labels at random. CPU time of one thread for `fit`, and how far the memory of the process",
            "rose above what it was with the data read; each in a process of its own that had",
            f"{limit / 60:.0f} minutes and {MEMORY / 2**30:.0f} GiB. The forest has {TREES} trees of depth {DEPTH};",
            "what works on a trained forest takes this one, and the training of the forest is not in its time. The",
            f"others have their default settings, with trees of depth {DEPTH} (RUG) and {MAX_RULES} splits (FIGS).",
            f"Accuracy is that on {HELD_OUT:,} other rows.",
            f"The raw figures are in `benchmarks/{RAW.name}`.",
            "",
            "| | " + " | ".join(f"{rows:,} rows" for rows in sizes) + " |",
            "|---|" + "---|" * len(sizes),
            *(
                f"| {name} | " + " | ".join(cell(table, name, rows) for rows in sizes) + " |"
                for name in CONTESTANTS
                if (table["name"] == name).any()
            ),
            "",
        ]
    )


def cell(table: pd.DataFrame, name: str, rows: int) -> str:
    found = table[(table["name"] == name) & (table["rows"] == rows)]
    if not len(found):
        return "not run yet"
    line = found.iloc[0]
    if line["outcome"] != "done":
        return str(line["outcome"])
    what = "leaves" if name == FOREST else "rules"
    return f"{line['seconds']:,.1f} s, {line['MiB']:,.0f} MiB, {line['rules']:,.0f} {what}, {line['accuracy']:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--limit", type=float, default=600.0, help="seconds of CPU time for each")
    parser.add_argument("--only", nargs="+", default=list(CONTESTANTS), choices=CONTESTANTS)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        run_one(options.one, options.folder, options.limit)
        return
    for rows in options.rows:
        with tempfile.TemporaryDirectory() as folder:
            compare(rows, options.only, options.limit, Path(folder))
    write_page(PAGE, text := page(results(), options.limit), "ruleopt", "imodels")
    print(text)


if __name__ == "__main__":
    main()
