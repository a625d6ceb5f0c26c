"""Malformed trees and files: each is reported, none stops a build."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from trees import list_ids, write_tree

from pkg.errors import PathError
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.indexing.build import build
from pkg.indexing.build_plan import BuildOptions
from pkg.model import Skip

GOOD = "def good(): return 1\n"


def list_reasons(store: EmbeddedStore) -> dict[str, str]:
    """Map the units that were not fully read to their reasons."""
    return {skip.path: skip.reason for skip in store.stats().partial}


def test_a_missing_path_is_refused(tmp_path: Path, store: EmbeddedStore) -> None:
    with pytest.raises(PathError, match=r"no such file or folder: .*nowhere; expected a folder"):
        build(str(tmp_path / "nowhere"), store)


def test_an_empty_folder_is_refused_with_the_expected_input(tmp_path: Path, store: EmbeddedStore) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(PathError, match=r"no Python files in .*empty \(expected at least one \.py file\)"):
        build(str(tmp_path / "empty"), store)
    assert (store.sources(), store.generation()) == ((), 0)


def test_a_folder_of_rows_is_refused_with_the_command_for_them(tmp_path: Path, store: EmbeddedStore) -> None:
    folder = write_tree(tmp_path / "my rows", {"b.jsonl": "{}", "a.jsonl.gz": "", "notes.txt": ""})
    with pytest.raises(
        PathError, match=r"one \.py file\).*; a\.jsonl\.gz in it may hold rows: pkg build '.*rows/a\.jsonl"
    ):
        build(str(folder), store)
    write_tree(folder, {"c.jsonl.gz": ""})
    with pytest.raises(PathError, match=r"may hold rows: pkg build '.*my rows/\*\.jsonl\.gz'"):
        build(str(folder), store)


def test_a_folder_without_python_is_refused_with_its_skipped_files(tmp_path: Path, store: EmbeddedStore) -> None:
    write_tree(tmp_path / "repo", {"a.txt": "text", "b.js": "x"})
    (tmp_path / "repo" / "broken.py").symlink_to("nowhere")
    with pytest.raises(PathError, match=r"no Python files in .*repo .*1 left out.*broken\.py"):
        build(str(tmp_path / "repo"), store)


def test_binary_content_is_kept_as_a_file_with_its_reason(tmp_path: Path, store: EmbeddedStore) -> None:
    report = build(str(write_tree(tmp_path / "repo", {"a.py": b"\x7fELF\0\0\1", "b.py": GOOD})), store)
    assert (report.written, report.partial) == (2, 1)
    assert list_reasons(store) == {"a.py": "binary content (NUL bytes)"}
    assert len(list_ids(store, "a.py")) == 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_with_a_mark_is_decoded_and_reported(tmp_path: Path, store: EmbeddedStore, encoding: str) -> None:
    mark = b"" if encoding == "utf-16" else "\ufeff".encode(encoding)
    text = mark + "def größe():\n    return 1\n".encode(encoding)
    build(str(write_tree(tmp_path / "repo", {"a.py": text})), store)
    assert list_reasons(store) == {"a.py": "read as UTF-16; spans count its UTF-8 form"}
    assert store.find_name("größe")[0].content == "def größe():\n    return 1"


@pytest.mark.parametrize(
    "head", ["# -*- coding: latin-1 -*-\n", "#!/usr/bin/python\n# vim: set fileencoding=latin-1 :\n"]
)
def test_a_coding_comment_is_obeyed_and_reported(tmp_path: Path, store: EmbeddedStore, head: str) -> None:
    text = f"{head}def größe():\n    return 'é'\n".encode("latin-1")
    build(str(write_tree(tmp_path / "repo", {"a.py": text})), store)
    assert list_reasons(store) == {"a.py": "read as latin-1; spans count its UTF-8 form"}
    assert store.find_name("größe")[0].content == "def größe():\n    return 'é'"


@pytest.mark.parametrize("coding", ["klingon", "rot13", "undefined", "ascii", "latin-1"])
def test_a_wrong_coding_comment_does_no_harm(tmp_path: Path, store: EmbeddedStore, coding: str) -> None:
    build(str(write_tree(tmp_path / "repo", {"a.py": f"# coding: {coding}\ndef größe():\n    return 1\n"})), store)
    assert (list_reasons(store), len(store.find_name("größe"))) == ({}, 1)


def test_a_minified_file_is_left_out_with_its_reason(tmp_path: Path, store: EmbeddedStore) -> None:
    text = "def f(): return 1\n" + "x=[" + "1," * 20_000 + "]\n"
    build(str(write_tree(tmp_path / "repo", {"a.py": text, "b.py": GOOD})), store)
    assert list_reasons(store)["a.py"].startswith("minified or generated")
    assert store.find_name("f") == []


def test_a_sparse_file_of_100_mb_is_skipped_by_its_size(tmp_path: Path, store: EmbeddedStore) -> None:
    tree = write_tree(tmp_path / "repo", {"b.py": GOOD})
    with open(tree / "huge.py", "wb") as file:
        file.truncate(100_000_000)
    report = build(str(tree), store)
    assert report.written == 1
    assert report.skipped == (Skip("huge.py", "larger than 5.0 MB (seen 100.0 MB); raise it with --max-file-size"),)


def test_a_raised_cap_lets_a_large_file_in(tmp_path: Path, store: EmbeddedStore) -> None:
    tree = write_tree(tmp_path / "repo", {"a.py": "# comment\n" * 100 + GOOD, "b.py": GOOD})
    assert build(str(tree), store, max_file_size=500).written == 1
    report = build(str(tree), store)
    assert (report.written, report.unchanged, report.skipped) == (1, 1, ())


def test_valid_parts_of_a_file_with_a_fault_are_kept(tmp_path: Path, store: EmbeddedStore) -> None:
    report = build(str(write_tree(tmp_path / "repo", {"a.py": GOOD + "\n\ndef bad():\n    x = = 1\n"})), store)
    assert (report.written, report.partial) == (1, 1)
    assert list_reasons(store) == {"a.py": "syntax error at line 5"}
    assert [node.name for node in store.find_name("good")] == ["good"]


def test_an_empty_file_is_a_file(tmp_path: Path, store: EmbeddedStore) -> None:
    report = build(str(write_tree(tmp_path / "repo", {"__init__.py": ""})), store)
    assert (report.written, report.partial, store.stats().nodes) == (1, 0, {"Source": 1, "File": 1})


def test_a_file_that_vanishes_before_it_is_read_is_counted_and_named(tmp_path: Path, store: EmbeddedStore) -> None:
    tree = write_tree(tmp_path / "repo", {"a.py": GOOD, "b.py": GOOD})
    options = BuildOptions(progress=lambda done, total: (tree / "b.py").unlink(missing_ok=True))
    report = build(str(tree), store, options)
    assert report.written == 1
    assert [(skip.path, "vanished after it was found" in skip.reason) for skip in report.skipped] == [("b.py", True)]
    assert [node.path for node in store.find_name("good")] == ["a.py"]


def test_a_known_file_that_vanishes_before_it_is_read_is_removed(tmp_path: Path, store: EmbeddedStore) -> None:
    tree = write_tree(tmp_path / "repo", {"a.py": GOOD, "b.py": GOOD})
    build(str(tree), store)
    write_tree(tree, {"a.py": GOOD + "x = 1\n", "b.py": GOOD + "x = 1\n"})
    options = BuildOptions(progress=lambda done, total: (tree / "b.py").unlink(missing_ok=True))
    report = build(str(tree), store, options)
    assert (report.written, report.removed, len(report.skipped)) == (1, 1, 1)
    assert [node.path for node in store.find_name("good")] == ["a.py"]
    assert build(str(tree), store).unchanged == 1


def test_pipes_and_loops_of_links_do_not_stop_a_build(tmp_path: Path, store: EmbeddedStore) -> None:
    tree = write_tree(tmp_path / "repo", {"a.py": GOOD})
    os.mkfifo(tree / "pipe.py")
    (tree / "loop").symlink_to(tree, target_is_directory=True)
    (tree / "again.py").symlink_to("a.py")
    report = build(str(tree), store)
    assert report.written == 1
    assert [skip.path for skip in report.skipped] == ["again.py", "loop", "pipe.py"]


def test_names_that_print_badly_can_be_built_and_exported(tmp_path: Path, store: EmbeddedStore) -> None:
    tree = write_tree(tmp_path / "repo", {"a\nb.py": GOOD, "größe.py": GOOD})
    with open(os.fsencode(tree) + b"/\xff.py", "w") as file:
        file.write(GOOD)
    assert build(str(tree), store).written == 3
    assert [node.path for node in store.find_name("good")] == ["\\xff.py", "a\\x0ab.py", "größe.py"]
    assert store.check() == []


def test_depth_without_end_is_a_file_with_a_reason(tmp_path: Path, store: EmbeddedStore) -> None:
    text = "".join("\t" * depth + f"def f{depth}():\n" for depth in range(1000)) + "\t" * 1000 + "pass\n"
    build(str(write_tree(tmp_path / "repo", {"a.py": text, "b.py": GOOD})), store, max_file_size=10_000_000)
    assert list(list_reasons(store)) == ["a.py"]
    assert store.find_name("good")
