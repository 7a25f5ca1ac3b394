"""Fitting from tables that are read in blocks: the same rules as from the same rows in memory."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator

import rulecover.partitions.store as store_module
from rulecover import MIRCOClassifier, MIRCORegressor, RCBoostClassifier, RulePathRegressor, explain, open_table
from rulecover.estimators.on_tables import _room_for_ids
from rulecover.exceptions import MemoryLimitError, MismatchedDataError
from rulecover.partitions.table import InOrder
from rulecover.setcover import Greedy

FOREST = RandomForestClassifier(5, max_depth=3, random_state=0)


def drawn_frame(n_rows: int = 400, *, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(random.normal(size=(n_rows, 4)).round(2), columns=list("abcd"))
    score = frame["a"] + frame["b"] * frame["c"]
    frame["y"] = np.where(score > 0.8, "high", np.where(score < -0.5, "low", "middle"))
    frame["number"] = score + random.normal(size=n_rows) / 4
    frame["weight"] = random.choice([0.0, 0.5, 1.0, 2.5], n_rows)
    return frame


def blocks_of(frame: pd.DataFrame, sizes: list[int]) -> list[pd.DataFrame]:
    ends = [0, *np.cumsum(sizes).tolist(), len(frame)]
    return [frame[start:end].reset_index(drop=True) for start, end in pairwise(ends)]


def assert_same_model(ours: Any, theirs: Any) -> None:
    assert str(ours.rules_) == str(theirs.rules_)
    assert ours.rules_.to_text() == theirs.rules_.to_text()
    assert np.array_equal(ours.vote_.votes, theirs.vote_.votes)
    assert ours.certificate_.objective == theirs.certificate_.objective
    assert ours.provenance_.data == theirs.provenance_.data
    assert ours.n_candidate_rules_ == theirs.n_candidate_rules_


@pytest.mark.slow
@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"demand": 2, "max_rules": 6},
        {"demand": {"low": 2}, "prune": False, "vote": "fitted", "class_weight": "balanced", "solver": Greedy()},
        {"prune": False, "solver": Greedy(redundancy="strong"), "vote": "shares", "length_weight": 0.1},
    ],
)
def test_a_classifier_chooses_the_same_rules_from_a_table(settings, weight):
    frame = drawn_frame()
    names = list("abcd")
    model = RandomForestClassifier(10, max_depth=4, random_state=0)
    weights = None if weight is None else frame[weight]
    theirs = MIRCOClassifier(model, random_state=0, **settings).fit(frame[names], frame["y"], weights)
    kept = [*names, "y", *([] if weight is None else [weight])]

    table = open_table(blocks_of(frame[kept], [7, 0, 200]), target="y", weight=weight)
    ours = MIRCOClassifier(model, random_state=0, **settings).fit(table)

    assert_same_model(ours, theirs)
    assert np.array_equal(ours.predict(frame[names]), theirs.predict(frame[names]))
    for name in ("n_uncovered", "n_capped", "min_rules", "status"):
        assert getattr(ours.certificate_, name) == getattr(theirs.certificate_, name)


def test_a_cover_as_in_the_paper_is_the_same_from_parquet_files(tmp_path):
    frame = drawn_frame()[[*"abcd", "y"]]
    for number, part in enumerate(blocks_of(frame, [150, 100])):
        part.to_parquet(tmp_path / f"{number}.parquet", row_group_size=40)
    model = RandomForestClassifier(10, max_depth=4, random_state=0).fit(frame[list("abcd")], frame["y"])
    theirs = MIRCOClassifier.as_in_paper(FrozenEstimator(model)).fit(frame[list("abcd")], frame["y"])

    ours = explain(model, open_table(tmp_path, target="y"), method="cover", preset="as-in-paper")

    assert_same_model(ours, theirs)
    assert ours.certificate_.bound == theirs.certificate_.bound


def test_a_regressor_as_in_the_paper_chooses_the_same_rules_from_a_table():
    frame = drawn_frame()
    model = RandomForestRegressor(10, max_depth=3, random_state=0)
    theirs = MIRCORegressor.as_in_paper(model, random_state=0).fit(frame[list("abcd")], frame["number"])

    table = open_table(blocks_of(frame[[*"abcd", "number"]], [100, 1]), target="number")
    ours = MIRCORegressor.as_in_paper(model, random_state=0).fit(table)

    assert_same_model(ours, theirs)


def test_text_is_encoded_as_in_memory():
    frame = drawn_frame()[[*"abcd", "y"]]
    frame["b"] = np.where(frame["b"] > 0, "left", "right")
    model = RandomForestClassifier(5, max_depth=3, random_state=0)
    theirs = MIRCOClassifier.as_in_paper(model, random_state=0).fit(frame[list("abcd")], frame["y"])

    ours = MIRCOClassifier.as_in_paper(model, random_state=0).fit(open_table(blocks_of(frame, [50]), target="y"))

    assert_same_model(ours, theirs)


def test_truth_values_with_gaps_in_some_blocks_are_read_as_those_of_all_rows_together():
    frame = drawn_frame()[[*"abcd", "y"]]
    frame["b"] = (frame["b"] > 0).astype("boolean").where(frame.index < 350)
    whole = pa.Table.from_pandas(frame, preserve_index=False)
    model = RandomForestClassifier(5, max_depth=3, random_state=0)
    theirs = MIRCOClassifier.as_in_paper(model, random_state=0).fit(whole.select(list("abcd")), frame["y"])

    table = open_table([whole.slice(0, 200), whole.slice(200)], target="y")
    ours = MIRCOClassifier.as_in_paper(model, random_state=0).fit(table)

    assert_same_model(ours, theirs)


LABELS = {
    "text": lambda y: y.map({0: "no", 1: "yes", 2: "perhaps"}),
    "truth values": lambda y: y > 0,
    "whole numbers": lambda y: y - 1,
    "numbers": lambda y: y - 0.0,
    "categories": lambda y: y.map({0: "no", 1: "yes", 2: "perhaps"}).astype("category"),
    "ordered numbers": lambda y: y.astype(pd.CategoricalDtype([2, 1, 0], ordered=True)),
}


@pytest.mark.slow
@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_labels_take_one_byte_per_row_and_classes_are_those_of_memory(labels):
    frame = drawn_frame()[[*"abcd", "y"]]
    frame["y"] = labels(frame["y"].map({"low": 0, "middle": 1, "high": 2}))
    model = RandomForestClassifier(5, max_depth=3, random_state=0)
    theirs = MIRCOClassifier.as_in_paper(model, random_state=0).fit(frame[list("abcd")], frame["y"])
    table = open_table(blocks_of(frame, [4] * 99), target="y")

    ours = MIRCOClassifier.as_in_paper(model, random_state=0).fit(table)

    assert_same_model(ours, theirs)
    assert ours.classes_.tolist() == theirs.classes_.tolist()
    assert ours.classes_.dtype == theirs.classes_.dtype
    assert (len(table.labels.y), table.labels.y.codes.nbytes) == (400, 400)


def test_labels_whose_types_differ_between_blocks_are_those_of_all_rows_together():
    blocks = [np.array([True, False]), np.array([0, 1, 2]), np.array([1.0, 0.0])]
    table = open_table([pd.DataFrame({"a": 0.0, "y": each}) for each in blocks], target="y")
    together = np.concatenate(blocks)
    assert table.labels.y[:].tolist() == together.tolist()
    assert table.labels.values.dtype == together.dtype
    assert table.labels.values.tolist() == [0.0, 1.0, 2.0]


def test_numbers_of_many_different_values_stay_as_they_are(monkeypatch):
    monkeypatch.setattr("rulecover.partitions.coded._MOST_VALUES", 100)
    frame = drawn_frame()[[*"abcd", "number"]]
    table = open_table(blocks_of(frame, [60, 100]), target="number")
    assert table.labels.y.dtype == np.float64
    assert table.labels.y.tolist() == frame["number"].tolist()


@pytest.mark.parametrize("odd", ["a text", True, None, np.nan], ids=repr)
@pytest.mark.parametrize("place", [0, 350])
def test_labels_that_are_missing_or_of_several_kinds_are_refused_as_in_memory(odd, place):
    frame = drawn_frame()[[*"abcd", "y"]]
    y = frame["y"].map({"low": 0, "middle": 1, "high": 2}).astype(object).to_numpy().copy()
    y[place] = odd
    frame["y"] = pd.Series(y, dtype=object)
    model = MIRCOClassifier.as_in_paper(FOREST)
    with pytest.raises(ValueError, match=r"y contains NaN|y holds") as in_memory:
        model.fit(frame[list("abcd")], frame["y"])
    with pytest.raises(ValueError, match=r"y contains NaN|y holds") as from_table:
        model.fit(open_table(blocks_of(frame, [100] * 3), target="y"))
    assert str(from_table.value) == str(in_memory.value)


def test_the_model_is_trained_on_as_many_rows_as_asked_for():
    frame = drawn_frame()[[*"abcd", "y"]]

    ours = MIRCOClassifier(FOREST, random_state=0).fit(open_table([frame], target="y", sample_rows=120))

    assert ours.n_sampled_rows_ == 120
    assert not ours.missed(frame[list("abcd")]).any()
    assert ours.provenance_.data.rows == len(frame)


def test_leaf_ids_spill_to_disk_and_files_are_removed_also_after_an_error(tmp_path, monkeypatch):
    frame, stores = drawn_frame()[[*"abcd", "y"]], []
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    allocated = store_module.SpillToDisk._new_path
    monkeypatch.setattr(
        store_module.SpillToDisk, "_new_path", lambda self: stores.append(path := allocated(self)) or path
    )
    table = open_table([frame], target="y", memory_limit=5000)
    ours = MIRCOClassifier.as_in_paper(FOREST, random_state=0).fit(table)
    assert stores and not list(tmp_path.iterdir())
    assert (
        ours.rules_.to_text()
        == MIRCOClassifier.as_in_paper(FOREST, random_state=0).fit(frame[list("abcd")], frame["y"]).rules_.to_text()
    )

    monkeypatch.setattr("rulecover.partitions.part.Part.cover", lambda self, candidate: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        MIRCOClassifier.as_in_paper(FOREST, random_state=0).fit(table)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("data", "error", "said"),
    [
        (lambda frame: iter([frame]), TypeError, "can be read only once"),
        (lambda frame: [], ValueError, "no blocks"),
        (lambda frame: [frame[:0]], ValueError, "no rows"),
        (lambda frame: [frame, frame.drop(columns="c")], MismatchedDataError, "block 1 lacks column 'c'"),
        (lambda frame: [frame, frame.assign(e=1.0)], MismatchedDataError, "block 1 has column 'e'"),
        (lambda frame: [frame, frame.assign(c="text")], ValueError, "'c'"),
        (lambda frame: [frame, frame.assign(y=None)], ValueError, "missing in row 400"),
        (lambda frame: [frame.to_numpy()], TypeError, "data frames with named columns"),
        (lambda frame: 7, TypeError, "data is a int"),
        (lambda frame: [frame, 7], TypeError, "block 1 is a int"),
        (lambda frame: pa.chunked_array([[7]]), TypeError, "data is a ChunkedArray"),
        (lambda frame: [frame.rename(columns={"b": "a"})], ValueError, "several columns named 'a'"),
        (lambda frame: pa.table([[0.0], [1.0], ["high"]], ["a", "a", "y"]), ValueError, "several columns named 'a'"),
        (lambda frame: [frame.drop(columns="y")], ValueError, "no such column"),
        (lambda frame: "/there/is/no.parquet", FileNotFoundError, "no file or folder"),
    ],
)
def test_bad_tables_are_refused_in_one_line(data, error, said):
    frame = drawn_frame()[[*"abcd", "y"]]
    model = RandomForestClassifier(3, max_depth=2, random_state=0).fit(frame[list("abcd")], frame["y"])
    with pytest.raises(error, match=said) as raised:
        explain(model, open_table(data(frame), target="y"), method="cover")
    assert len(str(raised.value).splitlines()) == 1


@pytest.mark.parametrize("damaged", [lambda whole: b"", lambda whole: b"no", lambda whole: whole[:-9]])
def test_a_damaged_file_in_a_folder_is_named(tmp_path, damaged):
    drawn_frame().to_parquet(tmp_path / "1.parquet")
    (tmp_path / "2.parquet").write_bytes(damaged((tmp_path / "1.parquet").read_bytes()))
    with pytest.raises(MismatchedDataError, match=r"cannot be read: .*2\.parquet.*; give whole files") as raised:
        open_table(tmp_path, target="y")
    assert len(str(raised.value).splitlines()) == 1


def test_a_damaged_value_and_a_file_that_goes_away_are_one_clear_error(tmp_path):
    (tmp_path / "1.csv").write_text("a,y\n" + "1,no\n2,yes\n" * 99_000 + "x,yes\n")
    table = open_table(ds.dataset(tmp_path, format="csv"), target="y")
    with pytest.raises(MismatchedDataError, match=r"cannot be read: .*invalid value 'x'; give whole files"):
        MIRCOClassifier(FOREST).fit(table)
    (tmp_path / "1.csv").unlink()
    with pytest.raises(MismatchedDataError, match=r"cannot be read: .*1\.csv.* keep them as they are until fitting"):
        MIRCOClassifier(FOREST).fit(table)


def test_files_that_a_folder_hides_are_left_out(tmp_path):
    drawn_frame().to_parquet(tmp_path / "1.parquet")
    (tmp_path / "_temporary").mkdir()
    for hidden in (".1.parquet", "_2.parquet", "_temporary/3.parquet"):
        (tmp_path / hidden).write_bytes(b"PAR1, not yet written")
    assert len(open_table(tmp_path, target="y").labels.y) == 400


def test_a_column_that_one_file_lacks_is_named_with_the_file(tmp_path):
    frame = drawn_frame()[[*"abcd", "y"]]
    frame.to_parquet(tmp_path / "1.parquet")
    frame.drop(columns="b").to_parquet(tmp_path / "2.parquet")
    with pytest.raises(MismatchedDataError, match=re.escape("2.parquet lacks column 'b'")):
        open_table(tmp_path, target="y")


def test_a_column_of_another_type_in_one_file_is_named_with_the_file(tmp_path):
    frame = drawn_frame()[[*"abcd", "y"]]
    frame.to_parquet(tmp_path / "1.parquet")
    frame.assign(b="text").to_parquet(tmp_path / "2.parquet")
    with pytest.raises(MismatchedDataError, match=r"2.parquet has column .b. as .*string"):
        open_table(tmp_path, target="y")


def test_a_column_that_only_a_later_file_has_is_named_with_the_file(tmp_path):
    frame = drawn_frame()[[*"abcd", "y"]]
    frame.to_parquet(tmp_path / "1.parquet")
    frame.assign(more=1.0).to_parquet(tmp_path / "2.parquet")
    with pytest.raises(MismatchedDataError, match=r"2.parquet has column 'more', which the first file lacks; give fi"):
        open_table(tmp_path, target="y")


def test_a_folder_without_parquet_files_is_refused(tmp_path):
    (tmp_path / "rows.csv").write_text("a,y\n1,2\n")
    with pytest.raises(ValueError, match=r"the folder '.*' holds no Parquet file \(\*\.parquet\)"):
        open_table(tmp_path, target="y")


def test_numbers_of_several_types_in_a_union_of_datasets_are_refused(tmp_path):
    """A dataset of files is read as doubles; one of datasets cannot be read in another way."""
    frame = drawn_frame()[[*"abcd", "y"]]
    for name, rows in (("1", frame), ("2", frame.assign(b=frame["b"].astype("float32")))):
        rows.to_parquet(tmp_path / f"{name}.parquet")
    files = ds.dataset([tmp_path / "1.parquet", tmp_path / "2.parquet"])
    assert open_table(files, target="y").columns == (*"abcd",)
    with pytest.raises(MismatchedDataError, match="column 'b' has numbers of different types in parts of the dataset"):
        open_table(ds.UnionDataset(files.schema, [files]), target="y")


def test_a_table_needs_columns_and_rows_to_sample():
    frame = drawn_frame()[["y"]]
    with pytest.raises(ValueError, match=r"the table has no columns besides .*; give some to make rules of"):
        open_table([frame], target="y")
    with pytest.raises(ValueError, match="sample_rows is 0; give a whole number of at least 1"):
        open_table([drawn_frame()], target="y", sample_rows=0)


def test_the_target_and_the_weight_are_two_columns():
    with pytest.raises(ValueError, match=r"target and weight are both 'y'; give a column of weights"):
        open_table([drawn_frame()], target="y", weight="y")
    with pytest.raises(ValueError, match="target is None, but the table has no such column"):
        open_table([drawn_frame()], target=None)


def test_categories_that_are_numbered_differently_in_blocks_are_known_by_their_names():
    frame = drawn_frame()[[*"abcd", "y"]]
    frame["b"] = np.where(frame["b"] > 0.3, "red", np.where(frame["b"] > -0.5, "green", "blue"))
    kinds = [pd.CategoricalDtype(order) for order in (["red", "green", "blue"], ["blue", "green", "red"])]
    whole = frame.astype({"b": kinds[0]})
    model = HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype", random_state=0)
    model.fit(whole[list("abcd")], whole["y"])
    theirs = explain(model, whole[list("abcd")], whole["y"], method="cover", preset="as-in-paper")

    table = open_table([frame[:150].astype({"b": kinds[0]}), frame[150:].astype({"b": kinds[1]})], target="y")
    ours = explain(model, table, method="cover", preset="as-in-paper")

    assert ours.rules_.to_text() == theirs.rules_.to_text()


def test_boosting_says_that_it_takes_no_tables():
    with pytest.raises(TypeError, match="does not take tables of open_table"):
        RCBoostClassifier().fit(open_table([drawn_frame()], target="y"))


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (MIRCOClassifier(solver="exact"), "solver is 'exact'"),
        (MIRCOClassifier(solver="search"), "solver is 'search'"),
        (MIRCOClassifier(solver=Greedy(bound="lp")), "solver is Greedy"),
        (MIRCOClassifier(prune="held-out"), "prune is 'held-out'"),
        (MIRCOClassifier(demand=[1, 2]), "demand has one number for each row"),
        (MIRCORegressor(), "solver is 'forward'"),
    ],
)
def test_what_needs_all_rows_in_memory_is_refused(model, said):
    table = open_table([drawn_frame()[[*"abcd", "y"]]], target="y")
    with pytest.raises(ValueError, match=f"{said}.*needs all rows in memory"):
        model.fit(table)


def test_a_table_that_changes_while_it_is_read_is_refused():
    frame, times = drawn_frame()[[*"abcd", "y"]], []

    def frames() -> Any:
        times.append(1)
        return iter([frame if len(times) < 4 else frame[:100]])

    with pytest.raises(MismatchedDataError, match="changed while it was read"):
        MIRCOClassifier(FOREST, random_state=0).fit(open_table(frames, target="y"))


def test_a_memory_limit_that_cannot_be_kept_is_refused_with_what_is_needed():
    frame = drawn_frame()[[*"abcd", "y", "weight"]]
    cover = MIRCOClassifier.as_in_paper(FOREST)
    with pytest.raises(MemoryLimitError, match=re.escape("memory_limit is 4.8 KB, but")) as raised:
        cover.fit(open_table([frame.drop(columns="weight")], target="y", memory_limit=4800))
    assert "4.4 KB for 400 rows, 11 bytes each; give memory_limit='4.9KB' or more, or fewer rows." in str(raised.value)
    with pytest.raises(MemoryLimitError, match=r"10\.8 KB for 400 rows, 27 bytes each"):
        cover.fit(open_table([frame], target="y", weight="weight", memory_limit=4900))
    cover.fit(open_table([frame.drop(columns="weight")], target="y", memory_limit=4900))


def test_what_paths_keep_of_each_row_counts_for_the_memory_limit():
    frame = drawn_frame()[[*"abcd", "number"]]
    path = RulePathRegressor(RandomForestRegressor(3, max_depth=3, random_state=0), choose="last", max_rules=8)
    with pytest.raises(MemoryLimitError, match=r"19\.6 KB for 400 rows, 49 bytes each"):
        path.fit(open_table([frame], target="number", memory_limit=10_000))


def test_leaf_ids_leave_room_for_what_is_kept_of_each_row():
    assert _room_for_ids(1000, 300.0) == 300
    assert _room_for_ids(1000, 600.0) == 100
    assert _room_for_ids(1000, 800.0) == 0


def test_y_is_not_given_twice():
    frame = drawn_frame()[[*"abcd", "y"]]
    with pytest.raises(ValueError, match="y is given besides a table"):
        MIRCOClassifier().fit(open_table([frame], target="y"), frame["y"])


@pytest.mark.parametrize("limit", ["much", "4 parsecs", "0GB", "9" * 400, 0, -1, True, 1.5, None])
def test_a_memory_limit_is_bytes(limit):
    with pytest.raises(ValueError, match=re.escape(f"memory_limit is {limit!r}; give a number of bytes")):
        open_table([drawn_frame()], target="y", memory_limit=limit)


def test_columns_in_the_names_of_folders_are_columns(tmp_path):
    frame = drawn_frame()[[*"abcd", "y"]]
    for year in (2023, 2024):
        (tmp_path / f"year={year}").mkdir()
        frame[year % 2 :: 2].to_parquet(tmp_path / f"year={year}" / "rows.parquet")
    table = open_table(tmp_path, target="y")
    assert table.columns == (*"abcd", "year")
    assert {int(year) for block in table.blocks() for year in block["year"].unique()} == {2023, 2024}


def test_numbers_of_different_types_are_not_rounded(tmp_path):
    frame = drawn_frame()[[*"abcd", "y"]]
    frame[:100].astype({"a": np.float32, "b": np.float32}).to_parquet(tmp_path / "1.parquet")
    frame[100:].to_parquet(tmp_path / "2.parquet")
    read = pd.concat(list(open_table(tmp_path, target="y").blocks()))
    assert (read["a"].to_numpy()[100:] == frame["a"].to_numpy()[100:]).all()


def test_names_that_are_not_texts_are_refused():
    frame = pd.DataFrame({0: [1.0, 2.0], "y": [0, 1]})
    with pytest.raises(TypeError, match="a name that is not a text"):
        open_table([frame], target="y")


def test_branches_that_depend_on_all_rows_are_not_cut():
    frame = drawn_frame()[[*"abcd", "y"]]
    forest = RandomForestRegressor(5, random_state=0).fit(frame[list("abcd")], frame["a"])
    table = open_table([frame.assign(y=frame["a"])], target="y")
    with pytest.raises(ValueError, match="min_samples is 'auto', which needs all rows"):
        explain(forest, table, method="cover", ridge=None, solver="greedy")


def test_a_block_that_is_asked_for_again_is_not_read_again():
    frame = drawn_frame()[[*"abcd", "y"]]
    passes = []

    def blocks():
        passes.append(1)
        return iter([frame[:50], frame[50:100], frame[100:]])

    table = open_table(blocks, target="y")
    starts, before = table.labels.starts, len(passes)
    in_order = InOrder(table, starts)
    for _ in range(2):
        for number in (0, 0, 1, 1, 2, 2):
            assert len(in_order[number]) == starts[number + 1] - starts[number]
    assert len(passes) - before == 2


def test_a_table_is_predicted_block_by_block():
    frame = drawn_frame()[[*"abcd", "y"]]
    table = open_table([frame[:100], frame[100:]], target="y")
    model = MIRCOClassifier(FOREST, random_state=0).fit(table)
    with pytest.raises(TypeError, match="predict block by block"):
        model.predict(table)
    by_block = [model.predict(table.inputs(block)) for block in table.blocks()]
    assert (np.concatenate(by_block) == model.predict(frame[list("abcd")])).all()


def test_a_csv_file_is_refused_with_the_dataset_that_reads_it(tmp_path):
    path = tmp_path / "rows.csv"
    pd.DataFrame({"age": [20, 30, 40] * 9, "buys": ["no", "no", "yes"] * 9}).to_csv(path, index=False)

    with pytest.raises(ValueError, match=r"rows.csv' is not a Parquet file; .*dataset\(paths, format='csv'\)"):
        open_table(path, target="buys")

    table = open_table(ds.dataset([str(path)], format="csv"), target="buys")
    assert MIRCOClassifier(random_state=0).fit(table).predict(pd.DataFrame({"age": [25, 45]})).tolist() == ["no", "yes"]


def test_a_table_is_printed_without_its_rows():
    table = open_table([drawn_frame()], target="y", weight="weight")
    assert "target='y', weight='weight'" in repr(table)
    assert len(repr(table)) < 300


def test_a_nameless_index_that_pandas_wrote_to_some_files_is_no_column(tmp_path):
    frame = drawn_frame()[[*"abcd", "y"]]
    frame[frame["a"] > 0].to_parquet(tmp_path / "1.parquet")
    frame[frame["a"] <= 0].to_parquet(tmp_path / "2.parquet", index=False)
    table = open_table(tmp_path, target="y")
    assert table.columns == tuple("abcd")
    assert [list(block) for block in table.blocks()] == [[*"abcd", "y"]]
