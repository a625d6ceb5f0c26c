"""Stored docstrings are found again by equal inputs; a damaged file is replaced."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from scripted_model import ScriptedModel

from pkg.enhance.docstring_cache import DocstringCache, make_key
from pkg.enhance.function_facts import FunctionText
from pkg.enhance.writer import Failure, open_writer
from pkg.model import Docstring

WRITTEN = Docstring("Add é.\n\nMore.", "fim", "gguf:coder.gguf", "chat/1", "2026-01-31")
ADD = FunctionText("def add(a, b):\n    return a + b", "add", "sums.py")


def test_a_docstring_and_a_failure_are_found_again(tmp_path: Path) -> None:
    first = DocstringCache(tmp_path / "folder" / "docstrings.db")
    first.put(b"1", WRITTEN)
    first.put(b"2", Failure("empty"))
    second = DocstringCache(tmp_path / "folder" / "docstrings.db")  # another process, while the first goes on
    assert second.find(b"1") == WRITTEN
    assert second.find(b"2") == Failure("empty")
    assert second.find(b"3") is None
    second.put(b"2", WRITTEN)
    assert first.find(b"2") == WRITTEN
    first.close()
    second.close()


def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    DocstringCache(tmp_path / "docstrings.db").close()
    assert stat.S_IMODE((tmp_path / "docstrings.db").stat().st_mode) == 0o600


def test_threads_may_share_it(tmp_path: Path) -> None:
    cache = DocstringCache(tmp_path / "docstrings.db")
    keys = [str(number).encode() for number in range(50)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda key: cache.put(key, replace(WRITTEN, text=key.decode())), keys))
    assert [found.text for key in keys if isinstance(found := cache.find(key), Docstring)] == [*map(str, range(50))]
    assert cache.fault is None
    cache.close()


def test_a_damaged_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "docstrings.db").write_bytes(b"no database at all" * 100)
    cache = DocstringCache(tmp_path / "docstrings.db")
    cache.put(b"1", WRITTEN)
    assert cache.find(b"1") == WRITTEN
    cache.close()


def test_an_unusable_file_is_recorded_as_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = DocstringCache(tmp_path / "file" / "docstrings.db")
    cache.put(b"1", WRITTEN)
    assert cache.find(b"1") is None
    assert "cannot be used" in (cache.fault or "")
    cache.close()


def test_a_key_depends_on_all_inputs_of_a_docstring() -> None:
    model = ScriptedModel(["Add."])
    keys = {
        make_key(ADD, open_writer("m", model)),
        make_key(ADD, open_writer("m", model, "hole")),
        make_key(ADD, open_writer("template")),
        make_key(ADD, open_writer("m", replace(model, identity="scripted 2"))),
        make_key(replace(ADD, content=ADD.content + " "), open_writer("m", model)),
        make_key(replace(ADD, class_name="Sum", is_method=True), open_writer("m", model)),
    }
    assert len(keys) == 6


def test_a_key_does_not_depend_on_the_place_of_the_function() -> None:
    writer = open_writer("template")
    elsewhere = replace(ADD, path="other.py", qualname="outer.add")
    assert make_key(elsewhere, writer) == make_key(ADD, writer)


@pytest.mark.parametrize("table", ["docstring SET text = 'Sub.'", "comment SET lines = 'b'", "docstring SET key = '2'"])
def test_a_damaged_row_is_not_found(tmp_path: Path, table: str) -> None:
    cache = DocstringCache(tmp_path / "docstrings.db")
    commented = replace(WRITTEN, comments=("a",))
    cache.put(b"1", commented)
    assert cache.find(b"1") == commented
    cache.run(f"UPDATE {table}", ())
    assert [cache.find(key) for key in (b"1", b"2")] == [None, None]
    cache.put(b"1", WRITTEN)
    assert cache.find(b"1") == WRITTEN
    cache.close()
