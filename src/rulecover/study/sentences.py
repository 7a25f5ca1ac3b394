"""The sentences of the paper's Section 4 on its results, with what its own tables say and what ours do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from rulecover.study.paper import MISSED, S2, S3, finished_cells, in_order, means, printed_table
from rulecover.study.sheets import Sheet


@dataclass(frozen=True, eq=False)
class Figures:
    """Means and standard deviations by model, a line for each data set: ours, or the paper's as far as printed."""

    mean: Any
    std: Any
    missed: Any
    rules: Any
    calls: Any

    @classmethod
    def ours(cls, frame: Any) -> Figures:
        """From the cells of a study."""
        one = finished_cells(frame)
        mean, std, _ = means(one, "accuracy")
        order = in_order(mean.index)
        missed, rules, calls = (means(one, measure)[0].reindex(order) for measure in ("missed", "rules", "calls"))
        return cls(mean.loc[order], std.loc[order], missed, rules, calls)

    @classmethod
    def of_paper(cls) -> Figures:
        """From the printed tables; rules and calls are printed as figures only."""
        s2, s3 = printed_table("s2"), printed_table("s3")
        columns = {model: (s2, column) for model, column in S2.items()} | {m: (s3, c) for m, c in S3.items()}
        mean, std = (
            pd.DataFrame({model: table[f"{column}_{kind}"] for model, (table, column) in columns.items()})
            for kind in ("mean", "std")
        )
        return cls(mean, std, pd.DataFrame({"MIRCO": s2[f"{MISSED}_mean"]}), pd.DataFrame(), pd.DataFrame())


@dataclass(frozen=True, eq=False)
class Sentence:
    """A claim on every data set, and for which of them it holds.

    Parameters
    ----------
    text
        The paper's claim, in brief.
    claimed
        The paper's count, in words.
    needs
        The models that it is about.
    holds
        From figures to true or false for each data set.
    """

    text: str
    claimed: str
    needs: tuple[str, ...]
    holds: Callable[[Figures], Any]


SENTENCES = (
    Sentence(
        "MIRCO is on par with RF (means no further apart than RF's standard deviation over the folds)",
        "most",
        ("MIRCO", "RF"),
        lambda f: (f.mean["MIRCO"] - f.mean["RF"]).abs() <= f.std["RF"],
    ),
    Sentence("MIRCO misses less than 6 %", "all but one", ("MIRCO",), lambda f: f.missed["MIRCO"] < 0.06),
    Sentence(
        "MIRCO misses 6 % or less, as printed", "all but one", ("MIRCO",), lambda f: f.missed["MIRCO"].round(2) <= 0.06
    ),
    Sentence(
        "MIRCO has fewer rules than DT", "all but one", ("MIRCO", "DT"), lambda f: f.rules["MIRCO"] < f.rules["DT"]
    ),
    Sentence("MIRCO has fewer rules than RF", "all", ("MIRCO", "RF"), lambda f: f.rules["MIRCO"] < f.rules["RF"]),
    Sentence(
        "MIRCO varies no more than DT (standard deviation over the folds, as printed)",
        "all but two",
        ("MIRCO", "DT"),
        lambda f: f.std["MIRCO"].round(2) <= f.std["DT"].round(2),
    ),
    Sentence(
        "MIRCO varies no more than DT (standard deviation over the folds, before rounding)",
        "all but two",
        ("MIRCO", "DT"),
        lambda f: f.std["MIRCO"] <= f.std["DT"],
    ),
    Sentence(
        "RCB is better than ADA and GB (as printed)",
        "four",
        ("RCB", "ADA", "GB"),
        lambda f: (f.mean["RCB"].round(2) > f.mean["ADA"].round(2)) & (f.mean["RCB"].round(2) > f.mean["GB"].round(2)),
    ),
    Sentence(
        "RCB is better than ADA and GB (before rounding)",
        "four",
        ("RCB", "ADA", "GB"),
        lambda f: (f.mean["RCB"] > f.mean["ADA"]) & (f.mean["RCB"] > f.mean["GB"]),
    ),
    Sentence(
        "RCB is better than its first tree, iniDT (as printed)",
        "all but one",
        ("RCB", "iniDT"),
        lambda f: f.mean["RCB"].round(2) > f.mean["iniDT"].round(2),
    ),
    Sentence(
        "RCB is better than its first tree, iniDT (before rounding)",
        "all but one",
        ("RCB", "iniDT"),
        lambda f: f.mean["RCB"] > f.mean["iniDT"],
    ),
    Sentence(
        "RCB makes few RMP calls (fewer than 50 of the 200 allowed)", "all", ("RCB",), lambda f: f.calls["RCB"] < 50
    ),
)


def sentences(frame: Any) -> Sheet:
    """Each sentence with its count in the paper's words, in its tables, and in ours."""
    ours, paper = Figures.ours(frame), Figures.of_paper()
    lines = []
    for sentence in SENTENCES:
        if not set(sentence.needs) <= set(ours.mean.columns):
            continue
        complete = ours.mean[list(sentence.needs)].dropna().index
        lines.append(
            {
                "sentence": sentence.text,
                "paper_says": sentence.claimed,
                "paper_tables": _count(sentence, paper, paper.mean.index),
                "ours": _count(sentence, ours, complete),
                "exceptions": _exceptions(sentence, ours, complete),
            }
        )
    numbers = pd.DataFrame(lines, columns=["sentence", "paper_says", "paper_tables", "ours", "exceptions"])
    head = ["sentence", "the paper says", "its tables say", "ours", "our exceptions (or the only data sets)"]
    return Sheet("sentences", "The result sentences of Section 4", head, numbers.to_numpy().tolist(), numbers)


def _count(sentence: Sentence, figures: Figures, names: Any) -> str:
    try:
        holds = sentence.holds(figures)
    except KeyError:  # printed as a figure only
        return "–"
    return f"{int(holds.loc[names].sum())} of {len(names)}"


def _exceptions(sentence: Sentence, figures: Figures, names: Any) -> str:
    holds = sentence.holds(figures).loc[names]
    yes, no = list(holds.index[holds]), list(holds.index[~holds])
    if not yes or not no:
        return "–"
    return f"not {', '.join(no)}" if len(no) <= len(yes) else f"only {', '.join(yes)}"
