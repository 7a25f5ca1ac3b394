"""A process that fits a table in blocks takes no more memory than its limit and what docs/scale.md allows besides."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

#: What Python, its libraries and the model take, as documented.
ALLOWED = 400_000_000

#: As numbers the rows take 160 MB, more than twice the limit; in Arrow and in NumPy, more than is allowed in all.
N_ROWS, N_COLUMNS, LIMIT = 1_000_000, 20, 70_000_000

#: In a process of its own, whose peak is then that of the fit.
FIT = """
import json, resource, sys, warnings
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from rulecover import MIRCOClassifier, RulePathClassifier, open_table

warnings.simplefilter("ignore")
files, kind, limit = sys.argv[1], sys.argv[2], int(sys.argv[3])
rng = np.random.default_rng(0)
few = rng.normal(size=(2000, {n_columns}))
forest = FrozenEstimator(RandomForestClassifier(10, max_depth=5, random_state=0).fit(few, few[:, 0] * few[:, 1] > 0))
model = {{
    "cover": lambda: MIRCOClassifier(forest, random_state=0),
    "path": lambda: RulePathClassifier(forest, max_rules=4, choose="last", random_state=0),
}}[kind]()
model.fit(open_table(files, target="y", memory_limit=limit, sample_rows=5000))
if sys.platform == "linux":  # where ru_maxrss is at least what the parent held when it started this process
    status = open("/proc/self/status").read()
    peak = 1024 * int(status.partition("VmHWM:")[2].split()[0])
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
print(json.dumps([peak, len(model.rules_)]))
"""


def written(path: Path) -> Path:
    """A Parquet file, in row groups, so that not even its rows need be in memory here."""
    names = [f"x{f}" for f in range(N_COLUMNS)]
    schema = pa.schema([*((name, pa.float64()) for name in names), ("y", pa.bool_())])
    rng = np.random.default_rng(1)
    with pq.ParquetWriter(path, schema) as file:
        for _ in range(0, N_ROWS, 100_000):
            X = rng.normal(size=(100_000, N_COLUMNS)).round(3)
            file.write_table(pa.table([*X.T, X[:, 0] * X[:, 1] > 0], schema=schema))
    return path


def peak_of(files: Path, kind: str) -> int:
    code = FIT.format(n_columns=N_COLUMNS)
    words = [sys.executable, "-c", code, str(files), kind, str(LIMIT)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    peak, n_rules = json.loads(done.stdout)
    assert n_rules
    return int(peak)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["cover", "path"])
def test_the_peak_of_a_process_keeps_to_the_limit(kind: str, tmp_path: Path) -> None:
    files = written(tmp_path / "rows.parquet")

    assert peak_of(files, kind) < ALLOWED + LIMIT
