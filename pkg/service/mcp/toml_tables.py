"""Change one table of a TOML text, and keep the rest and all comments unchanged."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from pkg.errors import InputError
from pkg.service.mcp.line_ends import find_line_end

_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)


def read_toml(text: str) -> dict[str, Any]:
    """Parse TOML; raises InputError for a syntax error."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        data: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise InputError(f"invalid TOML: {fault}") from None
    return data


def put_table(text: str, path: Sequence[str], values: Mapping[str, str | Sequence[str]]) -> str:
    """Replace the table at a path of bare names, or append it; values are strings and lists of strings."""
    header, end = f"[{'.'.join(path)}]", find_line_end(text)
    table = end.join([header, *(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in values.items())])
    found = re.search(rf"^[ \t]*{re.escape(header)}[ \t]*(#[^\n]*)?\r?$", text, re.MULTILINE)
    if found is None:
        return (f"{text.rstrip()}{end}{end}" if text.strip() else "") + f"{table}{end}"
    after = _HEADER.search(text, found.end())
    rest = text[after.start() :] if after else ""
    return f"{text[: found.start()]}{table}{end}" + (f"{end}{rest}" if rest else "")
