"""The cells of a notebook are written in Markdown, of every version of its format."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pkg.extract.documents.notebook_text import write_notebook


def write(**notebook: Any) -> str:
    text, reason = write_notebook(json.dumps(notebook).encode())
    assert reason is None
    return text


def test_code_has_the_language_of_the_notebook_and_a_fence_longer_than_its_own() -> None:
    cells = [{"cell_type": "code", "source": ["x = '```'\n", "y = 1"]}]
    shown = write(cells=cells, metadata={"language_info": {"name": "julia"}})
    assert shown.splitlines()[0] == "````julia"
    assert "x = '```'\ny = 1" in shown
    assert write(cells=cells, metadata={"language_info": {"name": 3}}).startswith("````python")


def test_cells_of_version_3_are_read_from_worksheets_with_their_headings() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Title"},
        {"cell_type": "markdown", "source": "Text."},
        {"cell_type": "code", "input": "x = 1", "outputs": [{"text": "secret"}]},
    ]
    shown = write(worksheets=[{"cells": cells}, 7])
    assert [line for line in shown.splitlines() if line] == ["## Title", "Text.", "```python", "x = 1", "```"]


def test_raw_cells_and_those_without_text_are_left_out() -> None:
    cells = [{"cell_type": "raw", "source": "raw"}, {"cell_type": "code", "source": " "}, {"source": 3}, 7, None]
    assert write(cells=[*cells, {"cell_type": "markdown", "source": "\ud800 kept"}]).strip() == "? kept"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "a notebook that is no JSON"),
        (b"{", "a notebook that is no JSON"),
        (b"\xff\xfe", "a notebook that is no JSON"),
        (b"[" * 100_000, "a notebook that is no JSON"),
        (b"[]", "a notebook without cells"),
        (b'{"cells": 3, "worksheets": 4}', "a notebook without cells"),
    ],
)
def test_what_is_no_notebook_has_a_reason(raw: bytes, reason: str) -> None:
    text, found = write_notebook(raw)
    assert (text, str(found).startswith(reason)) == ("", True)
