"""Exported JavaScript, executed by Node."""

from __future__ import annotations

import json
import math
import subprocess
from pathlib import Path
from typing import Any

from exported import Case

#: Reads [[source, rows], …] and writes the answers: numbers as JSON has them, which is bit for bit.
RUNNER = """
const fs = require("fs");
const jobs = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const answers = jobs.map(([source, rows]) => {
  const module = { exports: {} };
  new Function("module", source)(module);
  return rows.map((row) => {
    try {
      return module.exports.predict(row);
    } catch (error) {
      return { error: error.name + ": " + error.message };
    }
  });
});
const left = Object.keys(globalThis).filter((name) => name === "owned");
fs.writeFileSync(process.argv[3], JSON.stringify({ answers, left }));
"""


def by_node(folder: Path, jobs: list[tuple[str, list[dict[str, Any]]]]) -> list[list[dict[str, Any]]]:
    """The answers of one Node process to all jobs."""
    (folder / "run.js").write_text(RUNNER)
    (folder / "jobs.json").write_text(json.dumps(jobs, allow_nan=False))
    subprocess.run(["node", "run.js", "jobs.json", "answers.json"], cwd=folder, check=True, timeout=120)
    done = json.loads((folder / "answers.json").read_text())
    assert done["left"] == []
    return done["answers"]


def known(case: Case) -> list[dict[str, float | None]]:
    """The rows as JSON has them: what is missing is null."""
    return [{name: None if math.isnan(value) else value for name, value in row.items()} for row in case.rows()]


def check(case: Case, answers: list[dict[str, Any]]) -> None:
    """Raises unless these are the answers of the model."""
    assert [each["prediction"] for each in answers] == case.prediction
    assert [each["rules"] for each in answers] == case.fired
    assert [each["decided_by"] for each in answers] == case.decided_by
    if case.probabilities is not None:
        assert case.has_probabilities([each["probabilities"] for each in answers])
