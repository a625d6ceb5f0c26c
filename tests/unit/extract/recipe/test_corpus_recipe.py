from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from pkg.cli import main

CODE = '''"""A module."""


def double(number):
    """Double a number.

    However large it is.
    """
    return 2 * number


class Cart:
    def total(self, prices):
        def add(one, other):
            return one + other

        return sum(prices)


def bare(number):
    return number


def only_words():
    """Say what is to come."""
'''


def write_wheel(folder: Path, name: str, licence: str, code: str = CODE) -> str:
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}/__init__.py", code)
        metadata = f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\nLicense-Expression: {licence}\n\nLong.\n"
        wheel.writestr(f"{name}-1.0.dist-info/METADATA", metadata)
    return str(path)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def make(output: Path, *arguments: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    result = run("corpus", *arguments, "-o", str(output))
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()], json.loads(result.stdout)


def test_each_function_of_a_wheel_is_a_row_with_source_and_licence(tmp_path: Path) -> None:
    rows, report = make(tmp_path / "out.jsonl", write_wheel(tmp_path, "shop", "MIT"))
    assert [row["id"].partition("::")[2] for row in rows] == ["double", "Cart.total", "bare"]
    assert {(row["source"], row["licence"]) for row in rows} == {("shop 1.0", "MIT")}
    assert rows[0]["instruction"] == "Double a number."
    assert rows[1]["output"].startswith("class Cart:\n    def total(self, prices):\n")
    assert (report["rows"], report["sources"], report["licences"]) == (3, {"shop 1.0": 3}, {"MIT": 3})


def test_docstrings_can_be_moved_from_the_code_to_the_instruction(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path, "shop", "MIT")
    (row,), report = make(tmp_path / "out.jsonl", wheel, "--no-docstrings", "--documented")
    assert (row["instruction"], row["output"]) == ("Double a number.", "def double(number):\n    return 2 * number\n")
    assert report["undocumented"] == 2


def test_packages_under_other_licences_are_refused_and_named(tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    write_wheel(wheels, "free", "BSD-3-Clause")
    write_wheel(wheels, "viral", "GPL-3.0-only", CODE.replace("2 *", "3 *"))
    rows, report = make(tmp_path / "out.jsonl", str(wheels))
    assert {row["source"] for row in rows} == {"free 1.0"}
    assert report["refused"] == {"viral 1.0": "GPL-3.0-only"}
    rows, report = make(tmp_path / "all.jsonl", str(wheels), "--any-licence")
    assert {row["licence"] for row in rows} == {"BSD-3-Clause", "GPL-3.0-only"}
    assert (report["refused"], report["duplicates"]) == ({}, 2)


def test_refused_packages_alone_write_no_file(tmp_path: Path) -> None:
    result = run("corpus", write_wheel(tmp_path, "viral", "GPL-3.0-only"), "-o", str(tmp_path / "out.jsonl"))
    assert (result.exit_code, "viral 1.0 (GPL-3.0-only)" in result.stderr) == (1, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["viral-1.0-py3-none-any.whl"]


def test_rows_without_python_and_repeated_rows_are_dropped(tmp_path: Path) -> None:
    answers = [
        "def f(a):\n    return a\n",
        "```python\ndef g():\n    return 1\n```",
        "Paris is a city.",
        "def f(a):\n    return a\n",
    ]
    lines = [{"instruction": f"task {number}", "input": "", "output": each} for number, each in enumerate(answers)]
    text = "".join(json.dumps(line) + "\n" for line in lines) + "no json\n"
    (tmp_path / "alpaca.jsonl").write_text(text, encoding="utf-8")
    rows, report = make(tmp_path / "out.jsonl", str(tmp_path / "alpaca.jsonl"), "--licence", "Apache-2.0")
    assert [row["instruction"] for row in rows] == ["task 0", "task 1"]
    assert {(row["source"], row["licence"]) for row in rows} == {("alpaca", "Apache-2.0")}
    assert (report["without_python"], report["duplicates"], report["unreadable"]) == (1, 1, 1)
    assert "line 5: not JSON" in report["first_unreadable"][0]


def test_an_installed_package_is_found_by_its_name_and_a_build_reads_the_rows(tmp_path: Path) -> None:
    rows, _ = make(tmp_path / "out.jsonl", "click")
    assert len(rows) > 300
    assert rows[0]["licence"].startswith("BSD")
    built = run("build", str(tmp_path / "out.jsonl"), "--store", f"sqlite:///{tmp_path / 'graph.db'}", "--json")
    assert built.exit_code == 0
    assert json.loads(built.stdout)["written"] == len(rows)


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path, "shop", "MIT")
    make(tmp_path / "one.jsonl", wheel)
    make(tmp_path / "other.jsonl", wheel)
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "other.jsonl").read_bytes()


def test_a_folder_with_a_project_is_read_by_its_pyproject(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text(
        '[project]\nname = "shop"\nversion = "2"\nlicense = "MIT"\n', encoding="utf-8"
    )
    (project / "shop.py").write_text(CODE, encoding="utf-8")
    rows, _ = make(tmp_path / "out.jsonl", str(project))
    assert {(row["source"], row["licence"]) for row in rows} == {("shop 2", "MIT")}
    (project / "pyproject.toml").write_text('[project]\nname = "shop"\n', encoding="utf-8")
    assert "shop (unknown)" in run("corpus", str(project), "-o", str(tmp_path / "none.jsonl")).stderr


def test_wrong_use_is_reported(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path, "shop", "MIT")
    missing = run("corpus", "no-such-package", "-o", str(tmp_path / "out.jsonl"))
    assert (missing.exit_code, "no such file, folder or installed package" in missing.stderr) == (1, True)
    same = run("corpus", wheel, "-o", wheel)
    assert (same.exit_code, "is one of the files that are read" in same.stderr) == (2, True)
    nowhere = run("corpus", wheel, "-o", str(tmp_path / "gone" / "out.jsonl"))
    assert (nowhere.exit_code, "cannot write" in nowhere.stderr) == (1, True)
    (tmp_path / "broken-1.0-py3-none-any.whl").write_text("no archive", encoding="utf-8")
    broken = run("corpus", str(tmp_path / "broken-1.0-py3-none-any.whl"), "-o", str(tmp_path / "out.jsonl"))
    assert (broken.exit_code, "not a readable archive" in broken.stderr) == (1, True)
