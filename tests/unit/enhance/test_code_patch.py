"""Patches that insert docstrings: git and patch apply them, and no file is changed by making them."""

from __future__ import annotations

import ast
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pkg.encode.registry import load_encoder
from pkg.enhance.code_patch import FilePatch, list_all_patches, render_diff
from pkg.enhance.enhancement import EnhanceOptions, enhance
from pkg.enhance.writer import open_writer
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.indexing.build import build
from pkg.model import Docstring, Label, Skip

FILES = {
    "plain.py": b"def add_numbers(one, two):\n    return one + two\n",
    "nested.py": b"class Shop:\n    def sell_things(self):\n        def take_one(item):\n            return item\n"
    b"        return take_one(self)\n\n    @property\n    def open_hours(self): return 8\n",
    "windows.py": b"def read_lines(file):\r\n    return file.readlines()\r\n",
    "no_end.py": b"def count_items(items):\n    return len(items)",
    "one_line.py": b"def give_back(value): return value",
    "with space.py": b"def join_words(words):\n    return ' '.join(words)\n",
    "letters_ä.py": "def größer_als(wert):\n    return wert > 'ä'\n".encode(),
    "mark.py": b"\xef\xbb\xbfdef mark_bytes(value):\n    return value\n",
    "tabs.py": b"def use_tabs(value):\n\tif value:\n\t\treturn 1\n\treturn 2\n",
    "known.py": b'def said_before(value):\n    """Say it."""\n    return value\n',
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_bytes(text)
    return folder


@pytest.fixture
def store(tmp_path: Path, project: Path) -> Iterator[EmbeddedStore]:
    with closing(EmbeddedStore(tmp_path / "graph.db", create=True)) as store:
        build(str(project), store)
        enhance(store, "project", open_writer("template"), load_encoder(store.encoder()[0]), EnhanceOptions("template"))
        yield store


def write_patch(store: EmbeddedStore, file: Path) -> list[Skip]:
    found = list(list_all_patches(store, None))
    file.write_bytes(b"".join(each.diff for each in found if isinstance(each, FilePatch)))
    return [each for each in found if isinstance(each, Skip)]


def read_files(project: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in project.iterdir() if path.is_file()}


def test_git_applies_the_patch_and_each_function_then_has_its_docstring(
    store: EmbeddedStore, project: Path, tmp_path: Path
) -> None:
    assert write_patch(store, tmp_path / "all.patch") == []
    assert read_files(project) == FILES
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    subprocess.run(["git", "apply", "--check", tmp_path / "all.patch"], cwd=project, check=True)
    subprocess.run(["git", "apply", tmp_path / "all.patch"], cwd=project, check=True)
    for name, text in read_files(project).items():
        before, after = ast.parse(FILES[name]), ast.parse(text)
        functions = [node for node in ast.walk(after) if isinstance(node, ast.FunctionDef)]
        assert all(ast.get_docstring(function) for function in functions), name
        for function in functions:
            function.body = function.body[1:]
        for function in (node for node in ast.walk(before) if isinstance(node, ast.FunctionDef)):
            function.body = function.body[1:] if ast.get_docstring(function) else function.body
        assert ast.dump(before) == ast.dump(after), name
    (project / ".git").rename(tmp_path / "git")
    build(str(project), store)
    assert list(store.generated_texts("project")) == []  # they are the code's own now


@pytest.mark.skipif(shutil.which("patch") is None, reason="there is no patch program")
def test_patch_takes_it_too(store: EmbeddedStore, project: Path, tmp_path: Path) -> None:
    write_patch(store, tmp_path / "all.patch")
    words = ["patch", "--dry-run", "--binary", "-p1", "-i", str(tmp_path / "all.patch")]
    done = subprocess.run(words, cwd=project, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_file_that_has_changed_since_is_left_out_and_named(
    store: EmbeddedStore, project: Path, tmp_path: Path
) -> None:
    (project / "plain.py").write_bytes(b"# changed\n" + FILES["plain.py"])
    (project / "tabs.py").unlink()
    assert [(skip.path, skip.reason.partition(":")[0]) for skip in write_patch(store, tmp_path / "all.patch")] == [
        ("plain.py", "has changed since it was read; run pkg build first"),
        ("tabs.py", "cannot be read"),
    ]
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    subprocess.run(["git", "apply", "--check", tmp_path / "all.patch"], cwd=project, check=True)


def test_a_file_of_another_coding_is_left_out_and_named(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    text = "# -*- coding: latin-1 -*-\ndef find_größe(wert):\n    return wert\n".encode("latin-1")
    (tmp_path / "old" / "latin.py").write_bytes(text)
    with closing(EmbeddedStore(tmp_path / "old.db", create=True)) as store:
        build(str(tmp_path / "old"), store)
        enhance(store, "old", open_writer("template"), load_encoder(store.encoder()[0]), EnhanceOptions("template"))
        assert [str(each) for each in list_all_patches(store, None)] == [
            "latin.py: is not UTF-8, as the inserted text would be"
        ]


def test_a_source_that_was_one_file_is_patched_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "alone.py").write_bytes(FILES["plain.py"])
    with closing(EmbeddedStore(tmp_path / "alone.db", create=True)) as store:
        build(str(tmp_path / "alone.py"), store)
        enhance(
            store,
            store.sources()[0].name,
            open_writer("template"),
            load_encoder(store.encoder()[0]),
            EnhanceOptions("template"),
        )
        (found,) = list_all_patches(store, None)
        assert isinstance(found, FilePatch)
        assert found.diff.startswith(b"--- a/alone.py\n+++ b/alone.py\n")


def test_a_diff_marks_a_missing_final_newline() -> None:
    diff = render_diff("a.py", b"one\ntwo", b"one\nmore\ntwo")
    assert diff == b"--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,3 @@\n one\n+more\n two\n\\ No newline at end of file\n"


def test_comments_stand_below_the_docstring_and_before_their_blocks(tmp_path: Path) -> None:
    code = b"def outer(items):\n    if items:\n        return 1\n    def inner():\n        while items:\n"
    code += b"            break\n"
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "blocks.py").write_bytes(code)
    written = {
        "outer": Docstring("Do it.", "fim", "m", "p/1", "2026-01-31", ("2 Is there any.", "5 Go on.")),
        "inner": Docstring("Break off.", "fim", "m", "p/1", "2026-01-31", ("2 While there are some.",)),
    }
    with closing(EmbeddedStore(tmp_path / "code.db", create=True)) as store:
        build(str(tmp_path / "code"), store)
        fresh = {node.content_hash: written[node.name] for node in store.nodes([Label.FUNCTION])}
        (found,) = list_all_patches(store, None, fresh)
    assert isinstance(found, FilePatch)
    added = [line[1:] for line in found.diff.decode().splitlines()[2:] if line.startswith("+")]
    assert added == [
        '    """Do it."""', "    # Is there any.", '        """Break off."""', "        # While there are some.",
    ]  # fmt: skip
