"""Files of outcomes: whole or absent, checked, and no code in them runs."""

from __future__ import annotations

import os
import pickle
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pkg.cluster.outcomes import Outcomes
from pkg.errors import StoreError, StoreFullError
from pkg.model import Label, Span, Status
from pkg.units import Fragment, NodeRow, Part, UnitGraph

NODE = NodeRow(1, Label.FUNCTION, -1, "f", "f", "function", 0, 5, 1, 1, 2, {"span": Span(1, 2, 1, 1)})
FRAGMENT = Fragment(7, b"text", (NODE,), np.ones((1, 4), np.float16), b"terms", ())
UNIT = UnitGraph("lib", Label.FILE, "a.py", "1", "2", "python", Status.OK, None, (Part(7, 1, FRAGMENT),))


def write(outcomes: Outcomes, *records: object) -> str:
    with outcomes.write("name") as append:
        for each in records:
            append(each)
    return "name"


def test_records_come_back_as_they_were(tmp_path: Path) -> None:
    outcomes = Outcomes(tmp_path)
    first, second = outcomes.read(write(outcomes, {"extract": 1.5}, [UNIT]))
    assert first == {"extract": 1.5}
    assert repr(second) == repr([UNIT])


def test_a_file_is_whole_or_absent(tmp_path: Path) -> None:
    outcomes = Outcomes(tmp_path)

    def fail() -> None:
        with outcomes.write("name") as append:
            append(1)
            assert not outcomes.is_sound("name")
            raise RuntimeError("made to fail")

    with pytest.raises(RuntimeError):
        fail()
    assert os.listdir(tmp_path) == []
    write(outcomes, 1)
    assert outcomes.is_sound("name")
    assert (tmp_path / "name").stat().st_mode & 0o077 == 0
    outcomes.remove("name")
    outcomes.remove("name")
    assert not outcomes.is_sound("name")


@pytest.mark.parametrize(
    "change",
    [lambda data: data[:-1], lambda data: data + b"x", lambda data: data[:20] + bytes([data[20] ^ 1]) + data[21:]],
)
def test_a_changed_byte_is_noticed(tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    outcomes = Outcomes(tmp_path)
    path = tmp_path / write(outcomes, {"a": "some text"}, ["more"])
    path.write_bytes(change(path.read_bytes()))
    assert not outcomes.is_sound("name")
    with pytest.raises(StoreError, match=r"its bytes have changed.*delete it"):
        list(outcomes.read("name"))


class Run:
    """Runs a command where it is unpickled."""

    def __init__(self, *call: Any) -> None:
        self._call = call

    def __reduce__(self) -> Any:
        return self._call


@pytest.mark.parametrize(
    "record",
    [
        Run(os.system, ("touch ran",)),
        Run(eval, ("open('ran', 'w')",)),
        Run(getattr, (Span, "mro")),
        Run(np.load, ("ran",)),
        Run(pickle.loads, (b"",)),
        [Run(Path, ("ran",))],
    ],
)
def test_a_record_that_would_run_code_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record: object
) -> None:
    monkeypatch.chdir(tmp_path)
    outcomes = Outcomes(tmp_path)
    name = write(outcomes, record)
    with pytest.raises(StoreError, match="is not part of a graph"):
        list(outcomes.read(name))
    assert os.listdir(tmp_path) == [name]


def test_a_function_of_a_module_of_the_graph_is_refused(tmp_path: Path) -> None:
    packed = b"cpkg.units\nhash_bytes\n(C\x01atR."
    head = len(packed).to_bytes(8, "little") + zlib.crc32(packed).to_bytes(4, "little")
    (tmp_path / "name").write_bytes(head + packed)
    with pytest.raises(StoreError, match="no class of a graph"):
        list(Outcomes(tmp_path).read("name"))


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"file/work cannot be created.*expected a folder to write into"):
        Outcomes(tmp_path / "file" / "work").create()


def test_a_folder_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreFullError, match=r"gone cannot be written \(No such file.*another folder"):
        write(Outcomes(tmp_path / "gone"), 1)
