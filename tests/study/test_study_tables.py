"""The study's tables, sentences, ranks and figures, from results made up so that every count is known."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from rulecover.exceptions import StudyError
from rulecover.study import Cell, Data, Outcome, ResultsFile
from rulecover.study.comparison import side_by_side
from rulecover.study.drawings import flowchart, rectangles_plot, toy_rules
from rulecover.study.figures import COLOURS, accuracy_plot, missed_plot, rcboost_plot, rules_plot
from rulecover.study.paper import MISSED, S2, S3, compared_with_paper, printed_table
from rulecover.study.ranks import mean_ranks, signed_ranks
from rulecover.study.report import write_tables
from rulecover.study.results import FILE, as_frame
from rulecover.study.sentences import sentences
from rulecover.study.sheets import Sheet
from rulecover.study.tables import seeds_table, table_of, table_s1, table_s2, table_s3

METHOD = {"RF": "MIRCO", "MIRCO": "MIRCO", "iniDT": "RCB", "RCB": "RCB"}


def as_printed(seed: int = 25, shift: float = 0.0) -> list[Outcome]:
    """Two folds a cell around the paper's own means, rules that follow a simple law, and 7 calls of RCBoost."""
    s2, s3 = printed_table("s2"), printed_table("s3")
    columns = {model: (s2, column) for model, column in S2.items()} | {
        model: (s3, column) for model, column in S3.items() if model not in S2
    }
    outcomes: dict[Cell, dict[str, dict[str, float]]] = {}
    for place, dataset in enumerate(s2.index):
        for model, (table, column) in columns.items():
            for fold, side in enumerate((-0.01, 0.01)):
                figures = {
                    "accuracy": table.loc[dataset, f"{column}_mean"] + side + shift,
                    "balanced_accuracy": 0.5,
                    "rules": {"RF": 1000.0, "DT": 20.0, "MIRCO": 10.0}.get(model, 50.0) + place,
                    "fit_seconds": 1.0,
                }
                if model == "MIRCO":
                    figures["missed"] = s2.loc[dataset, f"{MISSED}_mean"]
                if model == "RCB":
                    figures["calls"] = 7.0
                cell = Cell(dataset, METHOD.get(model, model), seed, fold)
                outcomes.setdefault(cell, {})[model] = figures
    return [Outcome(cell, "sum", 1.0, models) for cell, models in outcomes.items()]


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return as_frame(as_printed())


def test_the_order_in_which_cells_came_leaves_no_trace(frame: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(as_frame(reversed(as_printed())), frame)


def test_means_equal_to_the_printed_ones_have_no_difference(frame: pd.DataFrame) -> None:
    lines = compared_with_paper(frame, "s2", S2)

    assert len(lines) == 45
    assert lines["difference"].abs().max() < 1e-12
    assert lines["within_std"].all()
    np.testing.assert_allclose(lines["std"], 0.01 * np.sqrt(2))  # a sample deviation


@pytest.mark.slow
@pytest.mark.parametrize(("shift", "within"), [(0.0049, 45), (0.006, 42), (0.2, 0)])
def test_differences_beyond_one_standard_deviation_are_told(shift: float, within: int) -> None:
    lines = compared_with_paper(as_frame(as_printed(shift=shift)), "s2", S2)

    assert lines["within_std"].sum() == within
    assert f"{shift:.4f}" in table_s2(as_frame(as_printed(shift=shift))).markdown()


def test_tables_show_ours_beside_the_paper(frame: pd.DataFrame) -> None:
    s2, s3 = table_s2(frame), table_s3(frame)
    ildp = next(row for row in s2.rows if row[0] == "ildp")

    assert [row[0] for row in s2.rows] == list(printed_table("s1").index)
    assert ildp[1:5] == ["0.660 (0.01) / 0.66", "0.710 (0.01) / 0.71", "0.690 (0.01) / 0.69", "0.060 (0.00) / 0.06"]
    assert ildp[-1] == "21.0 / 1001.0 / 11.0"
    assert s3.rows[0][-2:] == ["7.0", "50"]
    assert s2.latex().count(r"\\") >= 16
    assert "0.660 (0.01) / 0.66" in s2.latex()


def test_letters_that_latex_or_markdown_would_take_for_commands_are_escaped() -> None:
    sheet = Sheet("x", "50 % & more_or_less", ["a|b"], [["#1"]], pd.DataFrame())

    assert r"50 \% \& more\_or\_less" in sheet.latex()
    assert r"\#1" in sheet.latex()
    assert r"| a\|b |" in sheet.markdown()


def test_names_stay_text_in_every_format() -> None:
    name = "[5pt] <b>x</b>\n`y`"
    sheet = Sheet("x", name, [name, "n"], [[name, "1"]], pd.DataFrame(), [name])

    shown = r"\[5pt\] \<b>x\</b>\\n\`y\`"
    lines = [f"# {shown}", "", f"| {shown} | n |", "| --- | --- |", f"| {shown} | 1 |", "", shown]
    assert sheet.markdown().splitlines() == lines
    assert r"    {}[5pt] $<$b$>$x$<$/b$>$/ny & 1 \\" in sheet.latex().splitlines()


def test_table_s1_is_made_from_the_data_and_notes_what_differs() -> None:
    glass = Data("glass", np.zeros((214, 9)), np.arange(214) % 6, tuple("123567"), (214, 9))
    own = Data("own", np.zeros((20, 3)), np.arange(20) % 2, ("a", "b"), (21, 2))
    sheet = table_s1({"own": own, "glass": glass})

    assert sheet.rows[0][:4] == ["glass", "9 / 10", "6 / 6", "214 / 214"]
    assert "9 features" in sheet.rows[0][4]
    assert sheet.rows[1] == ["own", "3", "2", "20", "1 of 21 rows have gaps and are dropped"]


@pytest.mark.slow
def test_table_s1_keeps_the_lines_of_other_data_sets_with_results(tmp_path: Path) -> None:
    file = ResultsFile(tmp_path / FILE)
    cells = [Cell(name, "DT", 25, 0) for name in ("glass", "own")]
    list(file.append(Outcome(cell, "sum", 1.0, {"DT": {"accuracy": 0.5}}) for cell in cells))
    glass = Data("glass", np.zeros((214, 9)), np.arange(214) % 6, tuple("123567"), (214, 9))
    own = Data("own", np.zeros((20, 3)), np.arange(20) % 2, ("a", "b"), (20, 3))
    write_tables(file, tmp_path, {"glass": glass, "own": own, "other": replace(own, name="other")})
    both = [line for line in (tmp_path / "table_s1.md").read_text().splitlines() if "| other |" not in line]

    write_tables(file, tmp_path, {"own": own})  # of other there are no results

    assert (tmp_path / "table_s1.md").read_text().splitlines() == both
    assert pd.read_csv(tmp_path / "table_s1.csv")["paper_samples"].tolist()[0] == 214


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"notes of my own", b"dataset,features\nglass,9\n", b"\xff\xfe\x00"])
def test_an_earlier_table_that_is_none_is_written_anew(content: bytes, tmp_path: Path) -> None:
    own = Data("own", np.zeros((20, 3)), np.arange(20) % 2, ("a", "b"), (20, 3))
    file = ResultsFile(tmp_path / FILE)
    list(file.append([Outcome(Cell("own", "DT", 25, 0), "sum", 1.0, {"DT": {"accuracy": 0.5}})]))
    (tmp_path / "table_s1.csv").write_bytes(content)

    write_tables(file, tmp_path, {"own": own})

    assert pd.read_csv(tmp_path / "table_s1.csv")["dataset"].tolist() == ["own"]


def test_the_sentences_of_section_4_are_counted(frame: pd.DataFrame) -> None:
    counted = sentences(frame).numbers.set_index("sentence")

    assert counted.loc["MIRCO misses less than 6 %", "ours"] == "12 of 15"
    assert counted.loc["MIRCO misses less than 6 %", "exceptions"] == "not ildp, liver, glass"
    assert counted.loc["MIRCO has fewer rules than DT", "ours"] == "15 of 15"
    assert counted.loc["RCB is better than ADA and GB (as printed)", "ours"] == "4 of 15"
    assert counted.loc["RCB is better than ADA and GB (as printed)", "exceptions"].startswith("only transfusion, liver")
    on_means = counted[(counted["paper_tables"] != "–") & ~counted.index.str.contains("deviation")]
    assert (on_means["ours"] == on_means["paper_tables"]).all()
    assert len(on_means) == 6


def test_a_lead_below_the_printed_digits_counts_before_rounding_only(frame: pd.DataFrame) -> None:
    first = frame[(frame["model"] == "iniDT") & (frame["dataset"] == "banknote")]["accuracy"].mean()
    raised = frame.copy()
    raised.loc[(frame["model"] == "RCB") & (frame["dataset"] == "banknote"), "accuracy"] = first + 0.001
    counted = sentences(raised).numbers.set_index("sentence")["exceptions"]

    assert counted["RCB is better than its first tree, iniDT (as printed)"] == "not banknote, transfusion"
    assert counted["RCB is better than its first tree, iniDT (before rounding)"] == "not transfusion"


def test_ranks_are_given_with_and_without_liver(frame: pd.DataFrame) -> None:
    sheet = mean_ranks(frame)
    table = sheet.numbers.set_index("model")

    assert list(table.columns)[::2] == ["on all data sets", "without liver"]
    assert table.loc["RF", "on all data sets"] == table["on all data sets"].min()
    assert np.isclose(table["on all data sets"].mean(), (len(table) + 1) / 2)
    assert "15 data sets" in sheet.notes[0]
    assert "14 data sets" in sheet.notes[1]


@pytest.mark.slow
def test_the_signed_rank_test_knows_who_is_better() -> None:
    better = [
        Outcome(Cell(name, model, 25, fold), "", 1.0, {model: {"accuracy": 0.7 + 0.01 * place + gain}})
        for place, name in enumerate(printed_table("s1").index)
        for model, gain in (("good", 0.05), ("bad", 0.0), ("same", 0.001))
        for fold in range(2)
    ]
    pairs = signed_ranks(as_frame(better)).numbers.set_index(["data sets", "first", "second"])

    assert pairs.loc[("on all data sets", "bad", "good"), "second better"] > 0.95
    assert pairs.loc[("without liver", "bad", "same"), "as good"] > 0.95
    assert signed_ranks(as_frame(better)).markdown() == signed_ranks(as_frame(better)).markdown()


def test_models_are_compared_on_the_data_sets_that_all_have(frame: pd.DataFrame) -> None:
    first = list(printed_table("s1").index[:9])
    fewer = frame[(frame["model"] != "GB") | (frame["dataset"].isin(first))]
    table = side_by_side(fewer).numbers

    assert set(table["data_sets"]) == {"the 9 that all have", "all 15"}
    assert "GB" not in set(table.loc[table["data_sets"] == "all 15", "model"])
    accuracy = table.query("model == 'GB'")["accuracy"].item()
    assert np.isclose(accuracy, printed_table("s3").loc[first, "gb_accuracy_mean"].mean())


@pytest.mark.slow
def test_what_is_not_finished_is_not_compared(frame: pd.DataFrame) -> None:
    begun = frame[(frame["model"] != "GB") | (frame["dataset"] == "wine")]
    torn = frame[(frame["model"] != "ADA") | (frame["dataset"] != "wine") | (frame["fold"] == 0)]

    assert "GB" not in set(side_by_side(begun).numbers["model"])
    assert "run on too few of the 15 data sets: GB (1)" in side_by_side(begun).notes[-1]
    assert "Models left out because they were not run on all 15 data sets: GB (1)." in mean_ranks(begun).notes
    assert "Models left out because they were not run on all 15 data sets: ADA (14)." in signed_ranks(torn).notes
    assert "ADA" not in set(mean_ranks(torn).numbers["model"])
    assert "ADA" in set(mean_ranks(frame).numbers["model"])


def own_cells(model: str, dataset: str, seed: int = 25, folds: int = 2) -> list[Outcome]:
    made = {model: {"accuracy": 0.5, "rules": 3.0}}
    return [Outcome(Cell(dataset, model, seed, fold), "sum", 1.0, made) for fold in range(folds)]


@pytest.mark.slow
def test_a_data_set_of_ones_own_takes_nothing_from_the_others(frame: pd.DataFrame) -> None:
    more = as_frame([*as_printed(), *own_cells("DT", "toy")])

    assert mean_ranks(more).rows == mean_ranks(frame).rows
    assert side_by_side(more).rows == side_by_side(frame).rows
    for sheet in (mean_ranks(more), side_by_side(more), signed_ranks(more)):
        assert "Data sets left out, on which fewer than half of the 7 models were run: toy (1)." in sheet.notes


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [["DT toy", "HGB toy3"], ["DT toy", "HGB toy3", "LightGBM index"]])
def test_models_without_a_common_data_set_have_tables_that_say_so(pairs: list[str], tmp_path: Path) -> None:
    file = ResultsFile(tmp_path / FILE)
    list(file.append(one for pair in pairs for one in own_cells(*pair.split())))

    write_tables(file, tmp_path)

    for name in ("ranks.md", "models.md", "signed_ranks.md"):
        assert "left out" in (tmp_path / name).read_text()
    assert "| toy | 3.0 (0.0) | – |" in (tmp_path / "rules.md").read_text()


@pytest.mark.slow
def test_every_model_of_another_seed_is_in_the_table_of_seeds(tmp_path: Path) -> None:
    file = ResultsFile(tmp_path / FILE)
    list(file.append([*own_cells("HGB", "toy"), *own_cells("HGB", "toy", 7), *own_cells("DT", "glass", 7)]))

    written, _ = write_tables(file, tmp_path)

    assert "table_s2.md" not in written  # of the seed that is shown there is no tree
    seeds = (tmp_path / "seeds.md").read_text()
    assert "| glass | DT | 0.500 (0.00) / 0.67 | -0.170 | 2 |" in seeds
    assert "| toy | HGB | 0.500 (0.00) | – | 4 |" in seeds
    assert "Cells of seed 25; seeds.md has all seeds." in (tmp_path / "rules.md").read_text()


def test_cells_of_fewer_folds_are_marked(frame: pd.DataFrame) -> None:
    torn = frame[(frame["model"] != "ADA") | (frame["dataset"] != "wine") | (frame["fold"] == 0)]
    sheet = table_of(torn, "rules", name="rules", title="R", digits=1)
    wine = next(row for row in sheet.rows if row[0] == "wine")

    assert wine[sheet.head.index("ADA")].endswith(", 1 of 2 folds") and "nan" not in str(sheet.rows)
    assert sum("of 2 folds" in cell for row in sheet.rows for cell in row) == 1


@pytest.mark.slow
def test_failures_are_written_even_if_nothing_else_is(tmp_path: Path) -> None:
    file = ResultsFile(tmp_path / FILE)
    list(file.append([Outcome(Cell("toy", "DT", 25, fold), "sum", 1.0, {}, "ValueError: no.") for fold in range(3)]))
    (tmp_path / "failures.txt").write_text("notes of my own")

    with pytest.raises(StudyError, match=r"all 3 cells failed.* DT on toy, seed 25, fold 0, with: ValueError: no\."):
        write_tables(file, tmp_path)

    assert (tmp_path / "failures.md").read_text().count("ValueError") == 3
    list(file.append(own_cells("DT", "toy", folds=3)))
    write_tables(file, tmp_path)
    assert sorted(path.name for path in tmp_path.glob("failures.*")) == ["failures.txt"]


@pytest.mark.slow
def test_several_seeds_have_a_table_of_their_own_and_leave_the_others_alone(frame: pd.DataFrame) -> None:
    more = as_frame([*as_printed(), *(one for one in as_printed(7, shift=0.02) if one.cell.method == "RCB")])
    sheet = seeds_table(more)

    assert seeds_table(frame) is None
    assert sheet is not None
    assert set(sheet.numbers["model"]) == {"iniDT", "RCB"}
    np.testing.assert_allclose(sheet.numbers["difference"], 0.01)
    assert table_s3(more).markdown() == table_s3(frame).markdown()


def test_one_measure_over_all_models(frame: pd.DataFrame) -> None:
    sheet = table_of(frame, "balanced_accuracy", name="balanced", title="B", only=["ecoli", "glass"])

    assert [row[0] for row in sheet.rows] == ["glass", "ecoli"]
    assert set(sheet.rows[0][1:]) == {"0.500 (0.00)"}


def test_accuracies_are_drawn_where_they_are(frame: pd.DataFrame) -> None:
    ax = accuracy_plot(frame)

    heights = {bars.get_label(): bars.lines[0].get_ydata().astype(float) for bars in ax.containers}
    assert [label.get_text() for label in ax.get_xticklabels()] == list(printed_table("s1").index)
    np.testing.assert_allclose(heights["MIRCO"], printed_table("s2")["mirco_accuracy_mean"])
    assert to_hex(ax.containers[2].lines[0].get_color()).upper() == COLOURS["MIRCO"]


def test_missed_rows_are_drawn_in_percent(frame: pd.DataFrame) -> None:
    heights = [bar.get_height() for bar in missed_plot(frame).patches]

    np.testing.assert_allclose(heights, 100 * printed_table("s2")[f"{MISSED}_mean"])


def test_rule_counts_are_drawn_in_log_scale(frame: pd.DataFrame) -> None:
    ax = rules_plot(frame)

    assert ax.get_yscale() == "log"
    assert {bars.get_label() for bars in ax.containers} == {"RF", "DT", "MIRCO"}
    assert len(ax.patches) == 45


def test_above_each_data_set_stands_the_mean_number_of_calls(frame: pd.DataFrame) -> None:
    ax = rcboost_plot(frame)

    assert [text.get_text() for text in ax.texts] == ["(7.0)"] * 15
    assert len(ax.containers) == 5


def test_the_toy_rules_cover_every_row_overlap_and_leave_a_gap() -> None:
    X, y, rules = toy_rules()
    covered = rules.apply(X).toarray()

    assert {str(rule.prediction) for rule in rules} == set(y)
    assert len(rules) == 4
    assert (covered.sum(axis=1) >= 1).all()
    assert (covered.sum(axis=1) == 2).any()
    assert rules.apply(np.array([[0.8, 0.5]])).nnz == 0
    ax = rectangles_plot()
    assert sum("rule" in text.get_text() for text in ax.texts) >= 4


def test_the_flowchart_names_the_steps_of_algorithm_2() -> None:
    said = " ".join(text.get_text() for text in flowchart().texts)

    for step in ("restricted master problem", "duals", "weighted samples", "negative\nreduced cost", "enter the pool"):
        assert step in said


@pytest.mark.slow
def test_everything_is_written_in_every_format(tmp_path: Path) -> None:
    file = ResultsFile(tmp_path / FILE)
    list(file.append([*as_printed(), Outcome(Cell("wine", "new", 25, 0), "sum", 1.0, {}, "ValueError: no")]))
    written, notes = write_tables(file, tmp_path)

    assert notes == []
    assert {"table_s2.md", "table_s3.md", "sentences.md", "ranks.md", "failures.md", "mirco_rules.png"} <= set(written)
    for name in written:
        forms = [".png"] if name.endswith("png") else [".md", ".csv", ".tex"]
        assert all((tmp_path / name).with_suffix(form).stat().st_size > 50 for form in forms)
    assert re.search(r"new on wine, seed 25, fold 0 \| ValueError: no", (tmp_path / "failures.md").read_text())
