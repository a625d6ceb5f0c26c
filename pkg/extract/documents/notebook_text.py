"""Write the cells of a Jupyter notebook in Markdown: text and code, without outputs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pkg.extract.documents.html_text import write_cells


def write_notebook(raw: bytes) -> tuple[str, str | None]:
    """Return the text of a notebook, or the reason why it cannot be read."""
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError) as fault:
        return "", f"a notebook that is no JSON ({fault})"
    cells = list(_list_cells(found))
    return write_cells(cells), None if cells else "a notebook without cells"


def _list_cells(found: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(found, dict):
        return
    metadata = found.get("metadata")
    info = metadata.get("language_info") if isinstance(metadata, dict) else None
    language = info.get("name") if isinstance(info, dict) else None
    language = language if isinstance(language, str) and language else "python"
    sheets = found.get("worksheets")  # of notebooks before version 4
    nested = sheets if isinstance(sheets, list) else []
    lists = [found.get("cells"), *(each.get("cells") for each in nested if isinstance(each, dict))]
    for cell in (each for some in lists if isinstance(some, list) for each in some):
        text = _read_source(cell) if isinstance(cell, dict) else ""
        if not text.strip():
            continue
        if cell.get("cell_type") == "code":
            yield language, text
        elif cell.get("cell_type") in ("markdown", "heading"):
            level = cell.get("level")
            yield "", f"{'#' * level} {text}" if isinstance(level, int) and 0 < level < 7 else text


def _read_source(cell: dict[str, Any]) -> str:
    """Return the text of a cell: a text, or a list of lines; lone surrogates are replaced."""
    source = cell.get("source", cell.get("input", ""))
    text = "".join(line for line in source if isinstance(line, str)) if isinstance(source, list) else source
    return text.encode("utf-8", "replace").decode() if isinstance(text, str) else ""
