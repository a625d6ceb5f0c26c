"""Data of a build by path, in memory or in a temporary file."""

from __future__ import annotations

import pytest

from pkg.extract.python import extract_unit
from pkg.indexing.spool import Spool, UnitSpool
from pkg.units import describe_code


@pytest.mark.parametrize("most", [0, 5, 100])
def test_a_spool_is_a_mapping_wherever_its_bytes_are(most: int) -> None:
    spool = Spool([("b", b"22"), ("a", b"111")], most)
    spool["c"] = b""
    spool["a"] = b"4444"
    assert dict(spool) == {"a": b"4444", "b": b"22", "c": b""}
    assert len(spool) == 3
    del spool["b"]
    assert "b" not in spool
    with pytest.raises(KeyError):
        del spool["b"]


@pytest.mark.parametrize("most", [0, 1, 10])
def test_extracted_files_come_back_as_they_were(most: int) -> None:
    texts = {path: f"import os\n\n\ndef {path}():\n    return os.getcwd()\n".encode() for path in "abc"}
    units = {path: describe_code("source", path, extract_unit(text)) for path, text in texts.items()}
    spool = UnitSpool("source", most)
    spool.update(units)
    assert list(spool) == ["a", "b", "c"]
    assert len(spool) == 3
    for path, unit in units.items():
        found = spool[path]
        assert (found.path, found.text, found.summary, found.ids) == (path, unit.text, unit.summary, unit.ids)
        assert list(found.imports) == list(unit.imports)
    del spool["a"]
    with pytest.raises(KeyError):
        spool["a"]
