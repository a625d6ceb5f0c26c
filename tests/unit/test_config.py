from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pkg.config import read_settings as read_known_settings
from pkg.errors import UsageError


def read_settings(folder: Path) -> dict[str, Any]:
    return read_known_settings(folder).values


def test_no_file_gives_no_settings(tmp_path: Path) -> None:
    assert read_settings(tmp_path) == {}


def test_the_nearest_file_above_counts(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "pkg.toml").write_text('mode = "function"\n')
    assert read_settings(inner) == {"mode": "function"}
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.pkg]\ntop_k = 3\n")
    assert read_settings(inner) == {"top_k": 3}


def test_a_pyproject_without_our_table_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "pkg.toml").write_text("jobs = 2\n")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert read_settings(tmp_path / "a") == {"jobs": 2}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("top = 3\n", "unknown setting 'top'"),
        ("top_k = '3'\n", "expected int"),
        ("jobs = true\n", "expected int"),
        ("prune = 1\n", "expected str or bool"),
        ("top_k = \n", "is not TOML"),
    ],
)
def test_a_wrong_file_is_named_with_what_was_expected(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "pkg.toml").write_text(text)
    with pytest.raises(UsageError, match=said) as caught:
        read_settings(tmp_path)
    assert str(tmp_path / "pkg.toml") in str(caught.value)


@pytest.mark.parametrize("text", ["tool = 3\n# [tool.pkg]\n", "[tool]\npkg = 3\n# [tool.pkg]\n"])
def test_a_table_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(UsageError, match=r"is 3; expected a table, written \[tool\.pkg\]"):
        read_settings(tmp_path)
