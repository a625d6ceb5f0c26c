"""Reading the header of GGUF files, complete and damaged."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from gguf_writer import write_gguf
from hypothesis import given
from hypothesis import strategies as st

from pkg.errors import ModelError, PathError
from pkg.models.gguf_file import read_gguf

TOLD: dict[str, int | str | list[str]] = {
    "general.architecture": "llama",
    "llama.context_length": 2048,
    "tokenizer.ggml.tokens": ["<s>", "a", "b"],
    "tokenizer.chat_template": "{{ messages }}",
}


def test_the_header_of_a_complete_file_is_read(tmp_path: Path) -> None:
    found = read_gguf(write_gguf(tmp_path / "m.gguf", TOLD))
    assert (found.architecture, found.window, found.has_template, found.is_text_model) == ("llama", 2048, True, True)


def test_a_file_without_vocabulary_is_no_text_model(tmp_path: Path) -> None:
    found = read_gguf(write_gguf(tmp_path / "m.gguf", {"general.architecture": "clip"}))
    assert (found.is_text_model, found.window, found.has_template) == (False, None, False)


@pytest.mark.parametrize("missing", [1, 100, 255])
def test_a_truncated_file_says_how_much_is_missing(tmp_path: Path, missing: int) -> None:
    path = write_gguf(tmp_path / "m.gguf", TOLD, missing=missing)
    whole = path.stat().st_size + missing
    with pytest.raises(ModelError, match=f"truncated: it has {whole - missing:,} bytes of {whole:,}.*fetch it again"):
        read_gguf(path)


@given(st.data())
def test_a_changed_or_truncated_header_is_an_error_or_is_read(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = write_gguf(tmp_path_factory.mktemp("gguf") / "m.gguf", TOLD)
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(4, 200))
    content[place] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(4, len(content)))])
    with suppress(ModelError):  # and nothing else
        assert read_gguf(path).identity


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is no GGUF file"),
        (b"<html>Not found</html>", "is no GGUF file"),
        (b"GGUF", "its header cannot be read"),
        (b"GGUF\x00\x00\x00\x03" + b"\0" * 16, "GGUF of version 50331648; expected 2 or 3"),
        (b"GGUF\x03\x00\x00\x00" + b"\xff" * 16, "its header cannot be read"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=message):
        read_gguf(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(PathError, match=rf"no file {tmp_path}/m.gguf"):
        read_gguf(tmp_path / "m.gguf")


def test_the_identity_depends_on_the_content_and_not_on_the_name(tmp_path: Path) -> None:
    one = read_gguf(write_gguf(tmp_path / "one.gguf", TOLD)).identity
    assert one == read_gguf(write_gguf(tmp_path / "two.gguf", TOLD)).identity
    assert one != read_gguf(write_gguf(tmp_path / "more.gguf", TOLD, weights=65)).identity
    changed = tmp_path / "two.gguf"
    changed.write_bytes(changed.read_bytes()[:-1] + b"\x01")
    assert one != read_gguf(changed).identity
