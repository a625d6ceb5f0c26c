"""An unpacked file equals the extracted one."""

from __future__ import annotations

from dataclasses import replace

from pkg.extract.python import extract_unit
from pkg.resolution.link_record import pack_unit, unpack_unit
from pkg.units import describe_code

TEXT = b'import a\nfrom .b import c as d\n@d\nclass A(a.B):\n    """Doc."""\n    def go(self): return 1\n'


def test_a_file_comes_back_without_its_text() -> None:
    unit = describe_code("s", "x/y.py", extract_unit(TEXT))
    found = unpack_unit("s", "x/y.py", pack_unit(unit))
    assert (found.definitions, found.imports, found.summary) == (unit.definitions, unit.imports, unit.summary)
    assert (found.ids, found.import_ids, found.text) == (unit.ids, unit.import_ids, b"")


def test_a_text_is_read_on_first_use() -> None:
    unit = describe_code("s", "x/y.py", extract_unit(TEXT))
    texts = [TEXT]
    found = unpack_unit("s", "x/y.py", pack_unit(unit), texts.pop)
    assert (found.definitions, texts) == (unit.definitions, [TEXT])
    assert (found.text, found.text, texts) == (TEXT, TEXT, [])


def test_a_text_can_be_put_to_it() -> None:
    unit = describe_code("s", "x/y.py", extract_unit(TEXT))
    found = replace(unpack_unit("s", "x/y.py", pack_unit(unit)), text=TEXT)
    assert (found.text, found.imports) == (TEXT, unit.imports)
