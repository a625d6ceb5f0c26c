"""The files of a corpus: patterns, folders, rows of several files, and addresses of buckets."""

from __future__ import annotations

import gzip
import io
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import write_rows, write_tree

from pkg.errors import CorpusError, InputError, MissingExtraError, PathError
from pkg.extract.row_files import (
    check_address,
    find_row_files,
    is_address,
    is_many,
    open_remote,
    split_place,
    stamp_files,
)
from pkg.extract.rows import Row, read_rows
from pkg.model import Skip

NAMES = ("a.jsonl", "b.jsonl.gz", "_SUCCESS", "_part.jsonl", "notes.txt", "y=1/c.jsonl", "y=2/d.jsonl", "y=2/.e.jsonl")


@pytest.fixture(name="folder")
def files(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "rows", dict.fromkeys(NAMES, ""))


def list_names(place: Path | str) -> list[str]:
    return [file.name for file in find_row_files(str(place))]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*.jsonl", ["_part.jsonl", "a.jsonl"]),
        ("[ab].*", ["a.jsonl", "b.jsonl.gz"]),
        ("?.jsonl", ["a.jsonl"]),
        ("y=*/*.jsonl", ["y=1/c.jsonl", "y=2/.e.jsonl", "y=2/d.jsonl"]),
        ("**/[a-d].jsonl", ["a.jsonl", "y=1/c.jsonl", "y=2/d.jsonl"]),
        ("**", ["a.jsonl", "b.jsonl.gz", "y=1/c.jsonl", "y=2/d.jsonl"]),
    ],
)
def test_a_pattern_finds_row_files_by_name(folder: Path, pattern: str, names: list[str]) -> None:
    assert list_names(folder / pattern) == names


def test_a_folder_has_all_below_it_but_names_of_other_data(folder: Path) -> None:
    assert list_names(folder) == ["a.jsonl", "b.jsonl.gz", "y=1/c.jsonl", "y=2/d.jsonl"]


def test_a_relative_pattern_is_below_the_working_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert list_names("*.gz") == ["b.jsonl.gz"]


def test_a_file_with_the_name_of_a_pattern_is_that_file(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a[1].jsonl", "x = 1")
    assert not is_many(str(path))
    assert [item.id for item in read_rows(str(path)) if isinstance(item, Row)] == ["row-0000000"]


@pytest.mark.parametrize("pattern", ["*.csv", "none/*.jsonl", "y=1"])
def test_no_files_are_an_error_that_names_other_files(tmp_path: Path, pattern: str) -> None:
    folder = write_tree(tmp_path, {"a.jsonl": "", "y=1/notes.txt": ""})
    with pytest.raises(PathError, match=r"a\.jsonl|notes\.txt|No such file") as raised:
        find_row_files(f"{folder}/{pattern}")
    assert "expected rows as .jsonl" in str(raised.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every folder")
def test_a_folder_that_cannot_be_read_is_named(folder: Path) -> None:
    (folder / "y=1").chmod(0)
    with pytest.raises(PathError, match="y=1"):
        find_row_files(f"{folder}/**/*.jsonl")


def test_rows_without_an_id_are_named_after_their_file(tmp_path: Path) -> None:
    write_rows(tmp_path / "a.jsonl", "x = 1", {"id": "own", "output": "y = 2"})
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(b'{"code": "x = 3"}\nno\n'))
    write_rows(tmp_path / "c.jsonl", {"id": "own", "output": "z = 4"})
    found = list(read_rows(f"{tmp_path}/*.jsonl*"))
    assert [item.id for item in found if isinstance(item, Row)] == [
        "a.jsonl/row-0000000", "own", "b.jsonl.gz/row-0000000", "own#2",
    ]  # fmt: skip
    assert [skip.path for skip in found if isinstance(skip, Skip)] == ["b.jsonl.gz/line 2"]


def test_a_file_that_cannot_be_read_costs_that_file_alone(tmp_path: Path) -> None:
    write_rows(tmp_path / "a.jsonl", "x = 1")
    write_tree(tmp_path, {"b.jsonl": '{"reply": 1}\n', "c.parquet": "no", "d.jsonl": ""})
    os.mkfifo(tmp_path / "e.jsonl")  # never opened: that would wait for a writer
    found = list(read_rows(str(tmp_path)))
    assert [item.id for item in found if isinstance(item, Row)] == ["a.jsonl/row-0000000"]
    assert [skip.path for skip in found if isinstance(skip, Skip)] == ["b.jsonl", "c.parquet", "d.jsonl"]


def test_files_without_any_row_are_an_error(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.jsonl": "", "b.jsonl": "no\n"})
    with pytest.raises(CorpusError, match=r"no row of a\.jsonl can be read"):
        list(read_rows(str(tmp_path)))


def test_the_stamp_changes_with_name_size_and_time(folder: Path) -> None:
    def stamp() -> str:
        return stamp_files(find_row_files(f"{folder}/*.jsonl")).removesuffix("-fresh")

    first = stamp()
    assert stamp() == first
    (folder / "a.jsonl").rename(folder / "z.jsonl")
    second = stamp()
    os.utime(folder / "z.jsonl", ns=(1, 1))
    third = stamp()
    (folder / "z.jsonl").write_text("x")
    os.utime(folder / "z.jsonl", ns=(1, 1))
    assert len({first, second, third, stamp()}) == 4


@pytest.mark.parametrize("place", ["s3://bucket", "GS://bucket/x", "hf://datasets/a/b", "abfss://c@account/x"])
def test_an_address_is_known_by_its_scheme(place: str) -> None:
    assert is_address(place)
    assert is_many(place)


@pytest.mark.parametrize("place", ["https://host/repo", "rows.jsonl", "/data/s3://x", "s3:/x", "file:///x"])
def test_other_places_are_no_address(place: str) -> None:
    assert not is_address(place)


@pytest.mark.parametrize(
    ("place", "parts"),
    [
        ("rows/*.csv", ("rows", "*.csv")),
        ("*.csv", (".", "*.csv")),
        ("/*.csv", ("/", "*.csv")),
        ("rows/", ("rows", "**")),
        ("s3://b/x/y=*/*.csv?region=r", ("s3://b/x", "y=*/*.csv")),
        ("s3://b?region=r", ("s3://b", "**")),
    ],
)
def test_a_place_is_a_folder_and_a_pattern(place: str, parts: tuple[str, str]) -> None:
    assert split_place(place) == parts


def test_credentials_in_an_address_are_refused_and_not_shown() -> None:
    with pytest.raises(InputError, match=r"s3://bucket/x holds credentials.*AWS_ACCESS_KEY_ID") as raised:
        check_address("s3://key:secret@bucket/x")
    assert "secret" not in str(raised.value)
    check_address("s3://bucket/x@y")


def test_an_address_without_its_extra_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match="parquet"):
        find_row_files("s3://bucket/rows")


class BrokenSystem:
    """A file system whose connection breaks after some bytes."""

    def __init__(self, content: bytes, limit: int) -> None:
        self._content, self._limit = content, limit

    def open_input_file(self, _: str) -> Any:
        limit = self._limit

        class File(io.BytesIO):
            def read(self, size: int | None = -1) -> bytes:
                if self.tell() >= limit:
                    raise OSError("connection reset\nand a trace")
                return super().read(size)

        return File(self._content)


@given(st.integers(0, 400))
def test_a_lost_connection_is_no_end_of_the_rows(limit: int) -> None:
    opened = open_remote(BrokenSystem(b'{"code": "x"}\n' * 50, limit), "b/rows.jsonl", "s3://b")
    assert isinstance(opened, io.BufferedReader)
    opened = io.BufferedReader(opened.detach(), 16)
    with pytest.raises(InputError, match=r"cannot read b/rows\.jsonl of s3://b: connection reset; the graph is"):
        opened.read()
