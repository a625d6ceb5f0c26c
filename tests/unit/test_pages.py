"""The pages under docs/ are true: their examples run, their output and messages are real."""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from pages import ROOT, read_blocks, read_transcripts
from trees import change_sealed

from pkg.cli import main
from pkg.graph.embedded import database_file

CODE = read_blocks("docs/concepts.md", "python")[0]
TROUBLES = read_transcripts("docs/troubleshooting.md")
PLACE = "/src"  # name of the current folder on the pages


def run_pkg(command: str) -> Result:
    program, *arguments = shlex.split(command)
    assert program == "pkg"
    return CliRunner().invoke(main, arguments)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with the repository of the concepts page, and set a store in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PKG_STORE", "sqlite:///graph.db")
    write_files(tmp_path, {"shop/dates.py": CODE})
    return tmp_path


def write_files(folder: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("page", sorted(path.name for path in (ROOT / "docs").glob("*.md")))
def test_the_files_that_a_page_names_exist(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    named = re.findall(r"`((?:pkg|tests|examples)/[\w/.]+)`", text)
    assert [name for name in named if "LANGUAGE" not in name and not (ROOT / name).exists()] == []


def test_the_examples_of_the_python_page_run(place: Path) -> None:
    (place / "shop" / "dates.py").unlink()
    (place / "shop").rmdir()
    session = "\n".join(read_blocks("docs/python.md", "python"))
    examples = doctest.DocTestParser().get_doctest(session, {}, "python.md", "docs/python.md", 0)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    failed, tried = runner.run(examples, out=said.append)
    assert failed == 0, "".join(said)
    assert tried > 10


def test_the_lines_of_the_schema_page_are_lines_of_an_export(place: Path) -> None:
    assert run_pkg("pkg build shop").exit_code == 0
    exported = run_pkg("pkg export").output.replace(str(place), PLACE).splitlines()
    shown = [line for block in read_blocks("docs/schema.md", "json") for line in block.splitlines()]
    assert sorted(shown, key=exported.index) == exported


@pytest.fixture
def trouble(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Prepare the failures of the troubleshooting page."""
    write_files(
        place,
        {
            "elsewhere/shop/dates.py": CODE, "empty/readme.md": "no code\n", "notes.txt": "no code\n",
            "notes.jsonl": '{"text": "no export"}\n', "broken.jsonl": "not an object\n", "rows.parquet": "",
            "rows/a.jsonl": "", "rows/b.jsonl": "",
            "answers.jsonl": '{"question": "why?", "reply": "x = 1"}\n', "damaged.zip": "no archive\n",
            "damaged.tar.gz": "no archive\n", "damaged.db": "no database, " * 99,
            "settings/slip/pkg.toml": "topk = 3\n", "settings/type/pkg.toml": 'top_k = "3"\n',
            "settings/broken/pkg.toml": "top_k is 3\n",
            "settings/untrusted/pkg.toml": 'encoder = "openai:m@https://graph.example/v1"\n',
        },
    )  # fmt: skip
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    for command in ("init", "add .", "-c user.name=a -c user.email=a commit -m a"):
        subprocess.run(["git", "-C", place / "shop", *command.split()], check=True, capture_output=True)
    source = f"file://{place / 'shop'}"
    subprocess.run(["git", "clone", "--depth", "1", source, "clone"], cwd=place, check=True, capture_output=True)
    for store in ("graph", "busy", "other-encoder", "other-weights"):
        assert run_pkg(f"pkg build shop --store sqlite:///{store}.db").exit_code == 0
    write_files(place, {"shop/dates.py": CODE + "\n"})  # something to do for the next build
    change_sealed(Path("other-encoder.db"), "UPDATE meta SET value = 'neural' WHERE key = 'encoder'")
    change_sealed(Path("other-weights.db"), "UPDATE meta SET value = 'static' WHERE key = 'encoder'")
    change_database("foreign.db", "CREATE TABLE invoices (number)")
    change_database("newer.db", "PRAGMA user_version = 99")
    monkeypatch.setattr(database_file, "LOCK_SECONDS", 0.1)
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # as if it were not installed
    monkeypatch.setattr("pkg.errors.name_install", lambda extra: f"pip install '.[{extra}]'")  # as in a clone
    monkeypatch.setattr("pkg.encode.registry.find_spec", lambda package: package)  # as if all of these were
    writer = sqlite3.connect("busy.db", isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    yield place
    writer.close()


def change_database(name: str, statement: str) -> None:
    connection = sqlite3.connect(name)
    connection.execute(statement)
    connection.commit()
    connection.close()


def see_trouble(command: str, place: Path) -> str:
    """Run a command of the page, optionally in a folder; return its message with the page's paths."""
    step, _, command = command.rpartition(" && ")
    os.chdir(place / step.removeprefix("cd "))
    result = run_pkg(command)
    os.chdir(place)
    assert result.exit_code in (1, 2)
    assert result.stdout == ""
    return result.stderr.strip().replace(str(place), PLACE)


def test_every_message_of_the_troubleshooting_page_is_what_the_command_says(trouble: Path) -> None:
    assert [(command, see_trouble(command, trouble)) for command, _ in TROUBLES] == TROUBLES


def test_the_reasons_on_the_troubleshooting_page_are_those_of_a_build(place: Path) -> None:
    write_files(
        place / "shop",
        {
            "orders.py": "def broken(:\n    pass\n\n\ndef sound():\n    pass\n", "data.py": "x = 1\n" * 50_000,
            ".venv/pyvenv.cfg": "", "old.py": 'print "sold"\n', "binary.py": "\0\0",
        },
    )  # fmt: skip
    (place / "shop" / "lost.py").symlink_to("gone.py")
    (place / "shop" / "same.py").symlink_to("dates.py")
    (place / "aside.py").touch()
    (place / "shop" / "aside.py").symlink_to("../aside.py")
    os.mkfifo(place / "shop" / "pipe.py")
    assert run_pkg("pkg build shop --max-file-size 100000").exit_code == 0
    stats = json.loads(run_pkg("pkg stats").output)
    reasons = sorted(f"{unit['path']}: {unit['reason']}" for unit in stats["skipped"] + stats["partial"])
    shown = [reason.replace(str(place), PLACE) for reason in reasons]
    assert read_blocks("docs/troubleshooting.md", "text")[0].splitlines() == shown
