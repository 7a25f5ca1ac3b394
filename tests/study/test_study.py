"""The study's machinery: cells, the results file, kills and failures, bad input, methods of one's own."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from study_data import write_data
from typer.testing import CliRunner

from rulecover.cli.main import app
from rulecover.exceptions import StudyError
from rulecover.study import DATASETS, METHODS, Cell, Fitted, Fold, Outcome, ResultsFile, fitted, load, register, study
from rulecover.study.datasets import prepare
from rulecover.study.methods import methods_called
from rulecover.study.pace import Pace
from rulecover.study.paper_methods import ADA, FOREST, GRADIENT, RCBOOST, forest_stages, of_leaves
from rulecover.study.results import FILE

pytestmark = pytest.mark.slow

OWN = """
from sklearn.neighbors import KNeighborsClassifier
from rulecover.study import fitted, register

def nearest(fold):
    return {"kNN": fitted(KNeighborsClassifier(), fold)}

register("kNN", nearest)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("data"))


@pytest.fixture
def kept_methods() -> object:
    methods_called([])
    before = dict(METHODS)
    yield
    METHODS.clear()
    METHODS.update(before)


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "rulecover", "study", *map(str, arguments)]


def invoked(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["study", *map(str, arguments)])
    return done.exit_code, " ".join(done.output.split())


def tables(out: Path) -> dict[str, str]:
    """Every table but the one with seconds in it."""
    files = [path for path in out.iterdir() if path.suffix in {".md", ".csv", ".tex"} and path.stem != "models"]
    return {path.name: path.read_text() for path in files}


# Kills, failures, resuming ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_run_killed_in_the_middle_and_resumed_gives_the_tables_of_an_undisturbed_one(
    folder: Path, tmp_path: Path
) -> None:
    asked = ["rcboost", "--data", folder, "--datasets", "wine", "--methods", "DT,RCB"]
    killed, whole = tmp_path / "killed", tmp_path / "whole"

    process = subprocess.Popen(
        command(*asked, "--jobs", 2, "--out", killed), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while not (killed / FILE).exists() or len((killed / FILE).read_bytes().splitlines()) < 5:
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    done = set(ResultsFile(killed / FILE).done())
    for out, more in ((killed, ["--resume"]), (whole, [])):
        subprocess.run(command(*asked, *more, "--out", out), check=True, capture_output=True)

    assert 5 <= len(done) < 20
    assert len(ResultsFile(killed / FILE).done()) == 20
    assert set(tables(killed)) >= {f"table_s{n}.{form}" for n in (1, 2, 3) for form in ("md", "csv", "tex")}
    assert tables(killed) == tables(whole)


def outcome(fold: int = 0, error: str = "") -> Outcome:
    models = {} if error else {"DT": {"accuracy": 0.5}}
    return Outcome(Cell("wine", "DT", 25, fold), "abc", 1.0, models, error)


def test_a_half_written_line_is_passed_over_and_harms_no_other(tmp_path: Path) -> None:
    file = ResultsFile(tmp_path / FILE)
    list(file.append([outcome(0), outcome(1)]))
    content = file.path.read_bytes()
    for cut in range(1, len(content.splitlines(keepends=True)[1])):
        file.path.write_bytes(content[:-cut])
        list(file.append([outcome(2)]))

        assert set(file.done()) == {outcome(0).cell, outcome(2).cell} | ({outcome(1).cell} if cut == 1 else set())


@pytest.mark.slow
def test_a_full_disk_and_an_interrupt_keep_what_is_done_and_name_the_way_on(folder: Path, tmp_path: Path) -> None:
    words = command("mirco", "--data", folder, "--datasets", "iris", "--methods", "DT", "--out", tmp_path)

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    full = subprocess.run(words, capture_output=True, text=True, check=False, preexec_fn=small_files)
    kept = len(ResultsFile(tmp_path / FILE).done())
    on = subprocess.Popen(
        [*words, "--seeds", "1,2,3,4,5,6,7,8", "--resume"],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - it may be ignored here
    )
    while len(ResultsFile(tmp_path / FILE).done()) == kept and on.poll() is None:
        time.sleep(0.01)
    on.send_signal(signal.SIGINT)
    said = " ".join(on.communicate()[1].split())

    assert full.returncode == 1 and 0 < kept < 10
    assert f"error: {tmp_path / FILE}: File too large; results so far are kept" in full.stderr
    assert on.returncode != 0 and len(ResultsFile(tmp_path / FILE).done()) > kept
    assert "stopped; results so far are kept; the same command with --resume continues." in said


def test_each_outcome_is_on_disk_before_the_next_is_asked_for(tmp_path: Path) -> None:
    file = ResultsFile(tmp_path / FILE)

    for seen in file.append(outcome(fold) for fold in range(3)):
        assert list(file)[-1] == seen


@pytest.mark.slow
def test_a_failure_is_recorded_and_stops_nothing_and_is_tried_again(
    folder: Path, tmp_path: Path, kept_methods: object
) -> None:
    def sometimes(fold: Fold) -> dict[str, Fitted]:
        if len(fold.y_test) and not (tmp_path / "mended").exists():
            raise RuntimeError("out of\nluck")
        return {"fragile": fitted(KNeighborsClassifier(), fold)}

    register("fragile", sometimes)
    asked = {"out": tmp_path / "out", "datasets": ["wine"], "folder": folder}
    first = list(study(["fragile", "DT"], **asked).run())
    file = ResultsFile(tmp_path / "out" / FILE)

    assert [one.error for one in first if one.cell.method == "fragile"] == ["RuntimeError: out of luck"] * 10
    assert {cell.method for cell in file.done()} == {"DT"}
    assert len(file.failed()) == 10
    (tmp_path / "mended").touch()
    again = list(study(["fragile", "DT"], **asked, resume=True).run())
    assert [one.cell.method for one in again] == ["fragile"] * 10
    assert not file.failed()


@pytest.mark.slow
def test_a_process_that_dies_fails_its_own_cell_alone(folder: Path, tmp_path: Path, kept_methods: object) -> None:
    def deadly(fold: Fold) -> dict[str, Fitted]:
        if len(fold.y_test) == 17:  # the last two folds of wine
            os.kill(os.getpid(), signal.SIGKILL)
        return {"deadly": fitted(KNeighborsClassifier(), fold)}

    register("deadly", deadly, alone=True)
    done = list(study(["deadly"], out=tmp_path, datasets=["wine"], folder=folder).run(n_jobs=2))

    data = load("wine", folder)
    expected = {fold for fold in range(10) if len(Fold.of(data, fold).y_test) == 17}
    assert {one.cell.fold for one in done if one.error} == expected
    assert all("the process died" in one.error for one in done if one.error)
    assert len(done) == 10


@pytest.mark.slow
def test_results_do_not_depend_on_the_number_of_processes(folder: Path, tmp_path: Path) -> None:
    found = []
    for jobs in (1, 2):
        planned = study(["DT"], out=tmp_path / str(jobs), datasets=["iris", "wine"], folder=folder)
        found.append({one.cell: _without_seconds(one) for one in planned.run(n_jobs=jobs)})

    assert found[0] == found[1]


def _without_seconds(one: Outcome) -> object:
    return {model: {k: v for k, v in figures.items() if "seconds" not in k} for model, figures in one.models.items()}


# The methods are those of the paper ------------------------------------------------------------------------------


def test_the_first_trees_of_a_forest_answer_as_a_smaller_forest(folder: Path) -> None:
    fold = Fold.of(load("wine", folder), 0)
    stages = list(
        forest_stages(RandomForestClassifier(30, random_state=25).fit(fold.X_train, fold.y_train), fold.X_test)
    )

    for trees in (1, 7, 20, 30):
        small = RandomForestClassifier(trees, random_state=25).fit(fold.X_train, fold.y_train)
        np.testing.assert_array_equal(stages[trees - 1], small.predict(fold.X_test))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("grid", "model", "tuned"),
    [
        (FOREST, RandomForestClassifier(random_state=25), {"max_depth": [5, 10, 20], "n_estimators": [3, 5, 10]}),
        (GRADIENT, GradientBoostingClassifier(random_state=25), {"max_depth": [5, 10, 20], "n_estimators": [3, 5, 10]}),
        (
            ADA,
            AdaBoostClassifier(random_state=25),
            {
                "estimator": [DecisionTreeClassifier(max_depth=depth) for depth in (5, 10, 20)],
                "n_estimators": [3, 5, 10],
            },
        ),
    ],
    ids=["forest", "gradient boosting", "AdaBoost"],
)
def test_tuning_through_stages_chooses_what_a_grid_search_would(folder: Path, grid, model, tuned) -> None:
    from dataclasses import replace

    for number in range(2):
        fold = Fold.of(load("wine", folder), number)
        inner = StratifiedKFold(4, shuffle=True, random_state=25)
        best = GridSearchCV(model, tuned, cv=inner).fit(fold.X_train, fold.y_train).best_params_
        depth = best["estimator"].max_depth if "estimator" in best else best["max_depth"]

        assert replace(grid, bounds=(3, 5, 10)).best(fold) == (depth, best["n_estimators"])


def test_a_stage_of_rcboost_is_a_fit_with_that_bound(folder: Path) -> None:
    fold = Fold.of(load("wine", folder), 3)
    stages = list(RCBOOST.make(5, 200, 25).fit(fold.X_train, fold.y_train).staged_predict(fold.X_test))

    for bound in (0, 1, 2):
        model = RCBOOST.make(5, bound, 25).fit(fold.X_train, fold.y_train)
        np.testing.assert_array_equal(stages[bound], model.predict(fold.X_test))


def test_clauses_on_one_feature_count_once(folder: Path) -> None:
    X = np.arange(8.0)[:, None]
    tree = DecisionTreeClassifier().fit(X, np.arange(8) % 2)

    done = of_leaves(Fitted(tree))
    assert (done.rules, done.clauses) == (8, 1.0)


# Data ------------------------------------------------------------------------------------------------------------


def test_the_paper_has_15_data_sets_of_which_6_are_imbalanced() -> None:
    assert len(DATASETS) == 15
    assert [name for name, entry in DATASETS.items() if entry.imbalanced] == [
        "mammography", "diabetes", "oilspill", "phoneme", "glass", "ecoli",
    ]  # fmt: skip


def test_rows_with_gaps_are_dropped_and_texts_are_one_hot_without_their_first_level() -> None:
    table = pd.DataFrame(
        {
            "sex": ["Male", "Female", "Male"],
            "mark": ["o", "x", "b"],
            "size": [1.0, 2.0, None],
            "target": ["n", "p", "n"],
        }
    )
    data = prepare("toy", table, "toy.csv", codes={"Female": 1.0, "Male": 0.0})

    assert data.X.tolist() == [[0, 1, 0], [1, 2, 1]]
    assert data.y.tolist() == [0, 1]
    assert data.classes == ("n", "p")
    assert data.read == (3, 3)


@pytest.mark.parametrize("change", ["value", "order", "label"])
def test_other_values_under_a_known_name_are_refused(folder: Path, tmp_path: Path, change: str) -> None:
    table = pd.read_csv(folder / "wine.csv")
    if change == "value":
        table.loc[100, "x3"] += 1e-9
    elif change == "label":
        table.loc[100, "target"] = 2
    else:
        table = table.iloc[::-1]
    table.to_csv(tmp_path / "wine.csv", index=False)

    with pytest.raises(StudyError, match=r"does not hold the values of 'wine'.*3fdc6d142f2be1ee.*rename"):
        load("wine", tmp_path)


def test_data_that_changed_between_two_runs_are_not_mixed(folder: Path, tmp_path: Path) -> None:
    own = write_data(tmp_path / "data")
    list(study(["DT"], out=tmp_path, datasets=["iris"], folder=own).run())
    pd.read_csv(own / "iris.csv").iloc[::-1].to_csv(own / "iris.csv", index=False)

    with pytest.raises(StudyError, match=r"was run on other values of 'iris'.*another --out"):
        study(["DT"], out=tmp_path, datasets=["iris"], folder=own, resume=True)


# Bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "nowhere"], "there is no folder 'nowhere'; --data must name a folder"),
        (["--datasets", "wine,seeds"], r"there is no file '.*seeds.csv'; put it there, or leave 'seeds' out"),
        (["--datasets", "wein"], r"there is no data set 'wein'; there are banknote, .*ecoli, .*iris"),
        (["--methods", "DT,SVM"], r"there is no method 'SVM'; there are .*DT, MIRCO, ADA, GB, RCB"),
        (["--datasets", "bare"], r"bare.csv has no column 'target' for the class; its columns are a, b\. Rename"),
        (["--datasets", "empty"], "empty.csv' is not a valid CSV file: No columns"),
        (["--datasets", "single"], "single.csv has 1 classes in its 3 full rows; at least 2"),
        (["--datasets", "few"], "no class of 'few' has 10 rows, one per fold"),
        (["--datasets", "texts"], r"column 'who' of .*texts.csv has 60 different texts; drop it"),
        (["--datasets", "endless"], "infinite values among them"),
        (["--with", "nothing.py"], "there is no file 'nothing.py' with methods"),
        (["--seeds", "25,x"], r"--seeds takes whole numbers below 2\^32, separated by commas, not 'x'"),
        (["--seeds", "99999999999"], r"--seeds takes whole numbers below 2\^32"),
        (["--with", "{folder}/broken.py"], r"broken.py' cannot be run: SyntaxError: .*line 1"),
        (["--with", "{folder}/leaves.py"], "leaves.py' cannot be run: SystemExit: 0"),
        (["--datasets", "twice"], "twice.csv' has two columns 'target'; rename one"),
        (["--datasets", "long"], "long.csv' is not a valid CSV file: Length of header"),
        (["--datasets", "hollow"], r"column 'b' of .*hollow.csv is empty; remove it from the file"),
        (["--datasets", "lone"], "'lone' has only one class with more than one row"),
    ],
)
def test_bad_input_is_named_with_the_way_out_and_finished_cells_are_kept(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    folder, out = write_data(tmp_path / "data"), tmp_path / "out"
    (folder / "bare.csv").write_text("a,b\n1,2\n")
    (folder / "empty.csv").write_text("")
    (folder / "single.csv").write_text("a,target\n1,0\n2,0\n3,0\n")
    (folder / "few.csv").write_text("a,target\n1,0\n2,1\n3,0\n")
    (folder / "texts.csv").write_text("who,target\n" + "".join(f"n{row},{row % 2}\n" for row in range(60)))
    (folder / "twice.csv").write_text("a,target,target\n" + "1,0,0\n2,1,1\n" * 30)
    (folder / "long.csv").write_text("a,target\n" + "1,0,0\n2,1,1\n" * 30)
    (folder / "hollow.csv").write_text("a,b,target\n" + "1,,0\n2,,1\n" * 30)
    (folder / "lone.csv").write_text("a,target\n1,1\n" + "2,0\n" * 30)
    (folder / "broken.py").write_text("register(\n")
    (folder / "leaves.py").write_text("raise SystemExit(0)\n")
    (folder / "endless.csv").write_text("a,target\n" + "".join(f"inf,{row % 2}\n" for row in range(60)))
    list(ResultsFile(_made(out) / FILE).append([outcome(0)]))
    before = (out / FILE).read_bytes()
    given = ["--data", folder, "--datasets", "iris", "--out", out, "--resume"]

    code, said = invoked("mirco", *given, *(word.format(folder=folder) for word in arguments))

    assert code == 1
    assert re.search(message, said), said
    assert (out / FILE).read_bytes() == before


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


@pytest.mark.slow
def test_names_cannot_steer_a_terminal(tmp_path: Path, kept_methods: object) -> None:
    def failing(fold: Fold) -> dict[str, Fitted]:
        raise RuntimeError("\x07\u202e")

    register("failing", failing)
    name = "own\x07\u202e"
    rows = [f"{i},{'ab'[i % 2]}\n" for i in range(40)]
    (tmp_path / f"{name}.csv").write_text("x,target\n" + "".join(rows), encoding="utf-8")
    asked = ["mirco", "--data", tmp_path, "--datasets", name, "--methods", "DT,failing", "--out", tmp_path / name]
    code, said = invoked(*asked)

    assert code == 1 and "failed: failing on own\\x07\\u202e" in said, said
    assert "\x07" not in said and "\u202e" not in said


def test_results_that_are_there_are_not_touched_without_resume(folder: Path, tmp_path: Path) -> None:
    list(ResultsFile(tmp_path / FILE).append([outcome(0)]))

    code, said = invoked("mirco", "--data", folder, "--datasets", "wine", "--out", tmp_path)

    assert code == 1
    assert "holds results; continue with --resume, or name another --out folder" in said
    assert len(list(ResultsFile(tmp_path / FILE))) == 1


CELL = '{{"dataset": "wine", "method": "DT", "seed": 25, "fold": 0, "data": "", "seconds": 1.0, "models": {}}}'


@pytest.mark.parametrize(
    "line",
    [
        '{"hello": 1}',
        "these are my notes",
        CELL.format("null"),
        CELL.format('{"DT": {"accuracy": "high"}}'),
        "[1, 2]",
        CELL.format("{}").replace('"wine"', '["wine"]'),
        CELL.format("{}").replace('"DT"', "5"),
        CELL.format("{}").replace("25", "9" * 5000),
        "[" * 100_000,
    ],
    ids=lambda line: line[:60],
)
def test_a_file_of_something_else_is_refused(line: str, folder: Path, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(line + "\n")

    code, said = invoked("mirco", "--data", folder, "--datasets", "wine", "--out", tmp_path, "--resume")

    assert code == 1
    assert "is not a result of a study" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--methods SVM", "--methods is for runs, and tables runs nothing"),
        ("--with own.py", "--with is for runs"),
        ("--seeds 7", "--seeds is for runs"),
        ("--jobs 3", "--jobs is for runs"),
        ("--resume", "--resume is for runs"),
        ("--data nowhere", "there is no folder 'nowhere'"),
        ("--datasets wine", "name that folder too"),
        ("--data {folder} --datasets wein", "there is no data set 'wein'"),
    ],
)
def test_tables_refuse_what_they_do_not_hear(arguments: str, said: str, folder: Path, tmp_path: Path) -> None:
    list(ResultsFile(tmp_path / FILE).append([outcome(0)]))

    code, told = invoked("tables", "--out", tmp_path, *arguments.format(folder=folder).split())

    assert code == 1 and said in told
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


@pytest.mark.slow
def test_tables_describe_the_data_of_the_results(folder: Path, tmp_path: Path) -> None:
    list(ResultsFile(tmp_path / FILE).append([Outcome(Cell("iris", "DT", 25, 0), "", 1.0, {"DT": {"accuracy": 0.5}})]))

    assert invoked("tables", "--out", tmp_path, "--data", folder)[0] == 0
    assert pd.read_csv(tmp_path / "table_s1.csv")["dataset"].tolist() == ["iris"]


@pytest.mark.slow
def test_names_may_be_given_one_by_one(folder: Path, tmp_path: Path) -> None:
    given = ["--datasets", "iris", "--datasets", "wine", "--methods", "DT", "--seeds", "1", "--seeds", "2,1"]

    code, said = invoked("mirco", "--data", folder, *given, "--out", tmp_path)

    assert code == 0, said
    assert len(ResultsFile(tmp_path / FILE).done()) == 40


def test_gaps_are_told_and_words_for_them_are_gaps_among_numbers_alone(tmp_path: Path) -> None:
    rows = [f"{row},{'NA' if row % 3 == 0 else row},{'None' if row % 4 else 'some'},{row % 2}" for row in range(60)]
    (tmp_path / "own.csv").write_text("\n".join(["a,b,c,target", *rows]))
    asked = {"out": tmp_path / "out", "datasets": ["own"], "folder": tmp_path}

    with pytest.warns(UserWarning, match="20 of 60 rows of 'own' have gaps and are dropped"):
        data = study(["DT"], **asked).data["own"]

    kept = np.array([row for row in range(60) if row % 3])
    np.testing.assert_array_equal(data.X, np.column_stack([kept, kept, kept % 4 == 0]))


def test_texts_are_taken_in_the_order_of_the_alphabet_and_classes_by_their_codes() -> None:
    words = pd.Categorical(["x", "o", "b", "o"], categories=["x", "o", "b"])
    labels = pd.Categorical(["late", "early", "late", "early"], categories=["late", "early"])
    table = pd.DataFrame({"square": words, "target": labels})

    plain, coded = (prepare("own", table, "own", codes=codes) for codes in ({}, {"late": 1.0, "early": 2.0}))

    assert plain.X.tolist() == [[0, 1], [1, 0], [0, 0], [1, 0]]
    assert plain.y.tolist() == [1, 0, 1, 0] and plain.classes == ("early", "late")
    assert coded.y.tolist() == [0, 1, 0, 1]


def test_the_time_left_goes_by_the_method(folder: Path, tmp_path: Path) -> None:
    planned = study(["DT", "MIRCO"], out=tmp_path, datasets=["iris", "wine"], folder=folder)
    seconds = {"DT": 0.01, "MIRCO": 1.0}  # a row
    rows = {name: len(data.y) for name, data in planned.data.items()}
    pace = Pace(planned)
    for number, task in enumerate(planned.tasks, start=1):
        taken = seconds[task.cell.method] * rows[task.cell.dataset]
        left = pace.left_after(Outcome(task.cell, "", taken, {}), 2)
        truth = sum(seconds[t.cell.method] * rows[t.cell.dataset] for t in planned.tasks[number:]) / 2
        if number > 10:  # both have begun
            assert left.total_seconds() == pytest.approx(truth, abs=1)


def test_tables_without_results_say_so(tmp_path: Path) -> None:
    code, said = invoked("tables", "--out", tmp_path)

    assert code == 1
    assert "run a study first" in said


@pytest.mark.slow
def test_without_a_folder_and_without_a_network_the_error_names_both_ways_out(tmp_path: Path) -> None:
    # A proxy that refuses connections is as good as no network, on any machine.
    closed = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    done = subprocess.run(
        command("mirco", "--datasets", "wine", "--out", tmp_path / "out", "--cache", tmp_path / "cache"),
        capture_output=True,
        text=True,
        env={**os.environ, **closed},
        check=False,
    )

    assert done.returncode == 1
    assert "'wine' could not be fetched from OpenML (data set 187)" in done.stderr
    assert "put wine.csv into a folder and name it with --data" in done.stderr


@pytest.mark.slow
def test_a_class_with_fewer_rows_than_folds_works_and_is_named(tmp_path: Path) -> None:
    folder = write_data(tmp_path / "data")
    table = pd.read_csv(folder / "iris.csv")
    rare = pd.concat([table[table["target"] < 2], table[table["target"] == 2].head(3)])
    rare.assign(target=rare["target"].map({0: "a", 1: "b", 2: "rare"})).to_csv(folder / "own.csv", index=False)
    out = tmp_path / "out"

    code, said = invoked("mirco", "--data", folder, "--datasets", "own", "--methods", "DT", "--out", out)

    assert code == 0, said
    assert "note: class 'rare' of 'own' has 3 rows, fewer than the 10 folds" in said
    assert len(ResultsFile(out / FILE).done()) == 10


def test_a_peer_that_is_not_installed_names_its_extra(kept_methods: object) -> None:
    register("absent", lambda fold: {}, requires=["no_such_package"], extra="peers-absent")

    with pytest.raises(StudyError, match=r"pip install 'rulecover\[peers-absent\]', or name the other methods"):
        methods_called(["DT", "absent"])


# Methods of one's own --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_method_of_ones_own_is_a_function_and_a_line(folder: Path, tmp_path: Path, kept_methods: object) -> None:
    (tmp_path / "own.py").write_text(OWN)
    asked = ["--data", folder, "--datasets", "wine", "--methods", "DT", "--with", tmp_path / "own.py"]

    words = ["mirco", *asked, "--out", tmp_path / "out"]
    done = subprocess.run(command(*words, "--jobs", 2), capture_output=True, text=True, check=False)
    again, said = invoked(*words, "--resume")

    assert done.returncode == again == 0, done.stderr
    assert "note: 10 cells of 'kNN' are done already and are kept" in said
    assert {cell.method for cell in ResultsFile(tmp_path / "out" / FILE).done()} == {"DT", "kNN"}
    assert "| kNN |" in (tmp_path / "out" / "ranks.md").read_text()


def test_a_file_without_a_method_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("x = 1\n")

    code, said = invoked("mirco", "--data", folder, "--with", tmp_path / "own.py", "--out", tmp_path)

    assert code == 1
    assert "registers no method; it should call rulecover.study.register" in said
