"""The groups of mutants: every folder and every test that they name is there."""

from __future__ import annotations

import tomllib

from mutants import GROUPS, ROOT, copy_to, settings


def test_folders_and_tests_of_every_group_exist() -> None:
    for group, tests in GROUPS.items():
        assert (ROOT / "src" / "rulecover" / group).is_dir()
        assert all((ROOT / test).exists() for test in tests)


def test_settings_are_a_table_of_toml_that_a_copy_of_the_project_takes(tmp_path) -> None:
    copied = copy_to(tmp_path)
    text = (copied / "pyproject.toml").read_text(encoding="utf-8") + settings("voting", quick=True)

    given = tomllib.loads(text)["tool"]["mutmut"]

    assert given["only_mutate"] == ["src/rulecover/voting/*"]
    assert all((copied / name).exists() for name in given["also_copy"])
    assert given["pytest_add_cli_args_test_selection"][-6:-4] == ["-m", "not slow"]
