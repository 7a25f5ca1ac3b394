"""Groups of mutants, samples of them, and the rates that follow."""

from __future__ import annotations

import tomllib

import mutants
import numpy as np
import pytest
from mutants import (
    GROUPS,
    ROOT,
    Rate,
    changed_lines,
    changed_since,
    copy_to,
    difference,
    drawn,
    overall,
    said,
    settings,
)


def test_folders_and_tests_of_every_group_exist() -> None:
    for group, tests in GROUPS.items():
        (mutated,) = tomllib.loads(settings(group))["tool"]["mutmut"]["only_mutate"]
        assert list(ROOT.glob(mutated))
        assert all((ROOT / test).exists() for test in tests)


def test_settings_are_a_table_of_toml_that_a_copy_of_the_project_takes(tmp_path) -> None:
    copied = copy_to(tmp_path)
    text = (copied / "pyproject.toml").read_text(encoding="utf-8") + settings("voting")

    given = tomllib.loads(text)["tool"]["mutmut"]

    assert given["only_mutate"] == ["src/rulecover/voting/*"]
    assert all((copied / name).exists() for name in given["also_copy"])


def test_quick_leaves_out_the_tests_that_are_marked_slow() -> None:
    given = [tomllib.loads(settings("rules", quick=quick))["tool"]["mutmut"] for quick in (False, True)]

    assert given[1]["pytest_add_cli_args"] == [*given[0]["pytest_add_cli_args"], "-m", "not slow"]


def test_every_mutant_has_the_same_chance_and_a_seed_draws_the_same_again() -> None:
    names = [f"module.function__mutmut_{number}" for number in range(40)]
    times = dict.fromkeys(names, 0)
    for seed in range(2000):
        for name in drawn(names, 10, seed):
            times[name] += 1

    assert drawn(names, 10, 3) == drawn(names[::-1], 10, 3) == drawn(names, 20, 3)[:10]
    assert sorted(drawn(names, None, 1)) == sorted(names)
    # 500 each, with a standard deviation of sqrt(2000 · 1/4 · 3/4) = 19.
    assert all(400 < number < 600 for number in times.values())


def test_an_interval_holds_the_rate_of_all_mutants_in_19_of_20_samples() -> None:
    rng = np.random.default_rng(0)
    fates = [rng.permutation(np.arange(mutants) < killed) for mutants, killed in ((3000, 2700), (5000, 4000))]
    within = 0
    for _ in range(2000):
        samples = [rng.choice(fate, 60, replace=False) for fate in fates]
        rates = [Rate(int(some.sum()), 60, len(fate)) for some, fate in zip(samples, fates, strict=True)]
        share, half = overall(rates)
        within += abs(share - 6700 / 8000) <= half

    assert 0.93 < within / 2000 < 0.97


def test_a_rate_of_all_mutants_has_no_interval() -> None:
    assert said([Rate(90, 100, 100)]) == "90.0 % of all 100"
    assert said([Rate(90, 100, 5000)]) == "90.0 ± 6.0 % of all 5,000"


@pytest.mark.parametrize("package", [False, True])
def test_the_changed_lines_of_a_mutant_are_shown(tmp_path, package: bool) -> None:
    module = tmp_path / "mutants" / "src" / "some" / ("part/__init__.py" if package else "part.py")
    module.parent.mkdir(parents=True)
    module.write_text(
        "def x_f__mutmut_orig(a):\n    b = a\n    return b + 1\n\ndef x_f__mutmut_2(a):\n    b = a\n    return b - 1\n"
    )

    shown = difference(tmp_path, "some.part.x_f__mutmut_2")

    assert shown.split("\n") == ["        -    return b + 1", "        +    return b - 1"]


def test_functions_that_have_changed_since_a_commit_are_named_as_mutmut_does(tmp_path, monkeypatch) -> None:
    path = tmp_path / "src" / "rulecover" / "rules" / "inner" / "part.py"
    path.parent.mkdir(parents=True)
    path.write_text(
        "def f():\n    return 2\n\ndef g():\n    return 1\n\nclass C:\n    def f(self):\n        return 3\n"
    )
    diff = "@@ -2 +2 @@ def f():\n-    return 1\n+    return 2\n@@ -6,0 +7,3 @@\n+class C:\n+    def f(self):\n+ ...\n"
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    monkeypatch.setattr(mutants, "git_diff", lambda commit, path: diff)

    named = "rulecover.rules.inner.part."
    assert changed_since("HEAD~40", "rules") == {f"{named}x_f", f"{named}xǁCǁf"}
    assert changed_since("HEAD~40", "voting") == set()
    assert changed_lines("@@ -3 +2,0 @@ def f():\n-    gone\n") == set()
