"""A damaged file beside the database is written again from the database or not used."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from contract.units import encode, fill
from hypothesis import given
from hypothesis import strategies as st
from trees import FEW_EXAMPLES

from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.model import Label, Matches

NOUNS = ("file", "date", "socket", "table", "color", "graph", "token", "price")
FILES = {
    f"{noun}.py": f'"""About each {noun}."""\nclass {noun.title()}:\n    def read_{noun}(self, {noun}):\n'
    f"        for each in {noun}:\n            yield each\n\n\ndef drop_{noun}(path):\n    return path.{noun}\n"
    for noun in NOUNS
}
QUESTION = "read a date from the table"
TERMS = {"read": 1.0, "date": 2.0, "table": 0.5, "path": 1.0}
COPIES = ("graph.db-vectors", "graph.db-terms")
PAGE = 512  # bytes; smaller than the pages of disks, because the files are small


def open_store(path: Path) -> EmbeddedStore:
    return EmbeddedStore(path, create=True)


def ask(store: EmbeddedStore) -> Iterator[Matches]:
    """Return results that depend on every column of both files."""
    vector = encode(QUESTION)
    for label in (Label.FUNCTION, Label.BLOCK, Label.CLASS):
        yield store.vector_search(label, vector, 5)
    for label in (Label.FUNCTION, Label.CLASS):
        yield store.text_search(label, TERMS, 5)


def answer(path: Path) -> list[Matches]:
    with closing(open_store(path)) as store:
        return list(ask(store))


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, bytes], list[Matches]]:
    """Return the files of a store of two generations, the copies of the first as NAME-old, and its answers."""
    place = tmp_path_factory.mktemp("sound")
    with closing(open_store(place / "graph.db")) as store:
        fill(store, FILES)
        old = {f"{name}-old": (place / name).read_bytes() for name in COPIES}
        fill(store, {name: text.replace("path", "place") for name, text in FILES.items()})
    answers = answer(place / "graph.db")
    return old | {name: (place / name).read_bytes() for name in ("graph.db", *COPIES)}, answers


def damage(content: bytes, old: bytes, how: str, first: int, second: int, byte: int) -> bytes:
    """Damage a file like a faulty disk or copy."""
    pages = [content[at : at + PAGE] for at in range(0, len(content), PAGE)]
    one, other = first % len(pages), second % len(pages)
    if how == "flip":
        place = (first * PAGE + second) % len(content)
        return content[:place] + bytes([content[place] ^ byte]) + content[place + 1 :]
    if how == "cut":
        return content[: (first * PAGE + second) % len(content)]
    if how == "extend":
        return content + bytes([byte]) * (second + 1)
    if how == "swap":
        pages[one], pages[other] = pages[other], pages[one]
    elif how == "blank":
        pages[one] = bytes(len(pages[one]))
    else:
        pages[one] = old[one * PAGE : (one + 1) * PAGE]
    return b"".join(pages)


DAMAGES = st.tuples(
    st.sampled_from(["flip", "swap", "blank", "cut", "extend", "old page"]),
    st.integers(0, 10_000), st.integers(0, 10_000), st.integers(1, 255),
)  # fmt: skip


@given(st.sampled_from(COPIES), DAMAGES)
def test_answers_are_those_of_the_undamaged_store(
    sound: tuple[dict[str, bytes], list[Matches]], name: str, how: tuple[str, int, int, int]
) -> None:
    files, answers = sound
    with TemporaryDirectory() as folder:
        path = Path(folder, "graph.db")
        for each in ("graph.db", *COPIES):
            path.with_name(each).write_bytes(files[each])
        path.with_name(name).write_bytes(damage(files[name], files[f"{name}-old"], *how))
        assert answer(path) == answers
        assert answer(path) == answers  # the file was written again, or its data is unchanged


@FEW_EXAMPLES
@given(DAMAGES)
def test_a_write_reuses_no_damaged_vectors(
    sound: tuple[dict[str, bytes], list[Matches]], how: tuple[str, int, int, int]
) -> None:
    files, _ = sound
    found = []
    for is_damaged in (False, True):
        with TemporaryDirectory() as folder:
            path = Path(folder, "graph.db")
            path.write_bytes(files["graph.db"])
            content, old = files["graph.db-vectors"], files["graph.db-vectors-old"]
            path.with_name("graph.db-vectors").write_bytes(damage(content, old, *how) if is_damaged else content)
            with closing(open_store(path)) as store:
                fill(store, FILES | {"new.py": "def read_new(path):\n    return path\n"})
                found.append(list(ask(store)))
    assert found[0] == found[1]


def spoil(path: Path) -> None:
    """Change the last significant byte."""
    content = bytearray(path.read_bytes())
    at = max(place for place, byte in enumerate(content) if byte)
    content[at] ^= 1
    path.write_bytes(content)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="rights do not bind the superuser")
def test_damaged_copies_in_a_read_only_folder_are_not_used(
    sound: tuple[dict[str, bytes], list[Matches]], tmp_path: Path
) -> None:
    files, answers = sound
    for each in ("graph.db", *COPIES):
        (tmp_path / each).write_bytes(files[each])
    for name in COPIES:
        spoil(tmp_path / name)
    tmp_path.chmod(0o500)
    try:
        with closing(EmbeddedStore(tmp_path / "graph.db")) as store:
            assert list(ask(store)) == answers
    finally:
        tmp_path.chmod(0o700)


def test_a_copy_that_the_disk_does_not_keep_is_not_used(
    sound: tuple[dict[str, bytes], list[Matches]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, answers = sound
    for each in ("graph.db", *COPIES):
        (tmp_path / each).write_bytes(files[each])
    replace = os.replace

    def spoil_replaced(source: Path, target: Path) -> None:
        replace(source, target)
        spoil(target)

    for name in COPIES:
        spoil(tmp_path / name)
    monkeypatch.setattr(os, "replace", spoil_replaced)
    assert answer(tmp_path / "graph.db") == answers


def test_a_damaged_approximate_index_is_not_used(tmp_path: Path) -> None:
    pytest.importorskip("usearch")
    path = tmp_path / "graph.db"
    with closing(EmbeddedStore(path, create=True, approximate_above=0)) as store:
        fill(store, FILES)
        assert store.vector_search(Label.FUNCTION, encode(QUESTION), 3).is_approximate
    exact = answer(path)[0].matches[:3]
    index = path.with_name("graph.db-vectors-function")
    content = index.read_bytes()
    for place in np.linspace(0, len(content) - 1, 40).astype(int).tolist():
        index.write_bytes(content[:place] + bytes([content[place] ^ 64]) + content[place + 1 :])
        with closing(EmbeddedStore(path, create=True, approximate_above=0)) as store:
            found = store.vector_search(Label.FUNCTION, encode(QUESTION), 3)
        assert (found.is_approximate, found.matches) == (False, exact)
