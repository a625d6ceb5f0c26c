"""Settings that come from a file: pkg.toml, or [tool.pkg] in pyproject.toml; flags and PKG_* variables win over it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pkg.errors import UsageError, conceal_address


def default_store() -> str:
    """Give the address of the user's own store; never a place in the analysed repository."""
    from platformdirs import user_data_path

    return f"sqlite:///{user_data_path('pkg', appauthor=False) / 'graph.db'}"


def read_settings(folder: Path, known: Mapping[str, tuple[type, ...]]) -> dict[str, Any]:
    """Read the nearest pkg.toml, or pyproject.toml with a [tool.pkg] table, at or above a folder; {} without one.

    known: the types that each setting may have. A UsageError names a setting that is none, or is of another type.
    """
    file = find_settings(folder)
    return {} if file is None else _check(_parse(file, file.read_bytes()), file, known)


def find_settings(folder: Path) -> Path | None:
    """Find the file that the settings of a folder come from."""
    for place in (folder, *folder.parents):
        for name, marker in (("pkg.toml", b""), ("pyproject.toml", b"[tool.pkg]")):
            file = place / name
            if file.is_file() and marker in file.read_bytes():
                return file
    return None


def _parse(file: Path, text: bytes) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        data: dict[str, Any] = tomllib.loads(text.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise UsageError(f"{file} is not TOML: {fault}; mend it or move it away") from None
    for name in ("tool", "pkg") if file.name == "pyproject.toml" else ():
        data = data.get(name, {})
        if not isinstance(data, dict):
            raise UsageError(f"'{name}' in {file} is {data!r}; expected a table, written [tool.pkg]")
    return data


def _check(table: dict[str, Any], file: Path, known: Mapping[str, tuple[type, ...]]) -> dict[str, Any]:
    for name, value in table.items():
        if name not in known:
            raise UsageError(f"unknown setting '{name}' in {file}; expected one of: {', '.join(sorted(known))}")
        if type(value) not in known[name]:
            seen = conceal_address(str(value)) if name == "store" else repr(value)
            raise UsageError(
                f"setting '{name}' in {file} is {seen}; expected {' or '.join(each.__name__ for each in known[name])}"
            )
    return table
