"""How often does a search of effort 1 find the optimum? Five seeds on the ten data sets with a proved optimum.

python experiments/short_search.py --data FOLDER
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.progress import track
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator

from rulecover import MIRCOClassifier
from rulecover.setcover import Search
from rulecover.study import load
from rulecover.study.pages import write_page

HERE = Path(__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with one CSV file a data set")
    arguments = parser.parse_args()
    proved = pd.read_csv(HERE / "covers.csv").query("status == 'optimal'").set_index("dataset")["exact"]
    lines = [
        "# Searches of effort 1",
        "",
        "Made by `python experiments/short_search.py --data FOLDER`, after `experiments/covers.py`. Seeds 1 to 5.",
        "",
        "| data set | optimum | at optimum | worst, above it | seconds (CPU, median) |",
        "|---|---|---|---|---|",
    ]
    for name, optimum in track(proved.items(), "data sets", total=len(proved), console=Console(stderr=True)):
        data = load(name, arguments.data)
        X, y = data.X, data.y
        forest = RandomForestClassifier(100, max_depth=10, random_state=0).fit(X, y)
        problem = MIRCOClassifier.as_in_paper(FrozenEstimator(forest)).fit(X, y).covering_problem(X, y)
        found, seconds = [], []
        for seed in range(1, 6):
            start = time.process_time()
            found.append(Search(random_state=seed)(problem).objective)
            seconds.append(time.process_time() - start)
        hits = sum(cost <= optimum * (1 + 1e-6) for cost in found)
        worst = 100 * (max(found) / optimum - 1)
        lines.append(f"| {name} | {optimum:.2f} | {hits} of 5 | {worst:.1f} % | {sorted(seconds)[2]:.2f} |")
    text = "\n".join([*lines, ""])
    write_page(HERE / "short_search.md", text)
    print(text)


if __name__ == "__main__":
    main()
