"""Settings that come from a file: the nearest pkg.toml or [tool.pkg] in pyproject.toml, and the user's own pkg.toml.

Flags and PKG_* variables win over them. The nearest file may have come with code of a stranger, so it decides nothing
that could send credentials or code away, load a model or widen the input, until the user trusts it (pkg.trust).
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pkg.errors import FILE_SCHEME, TrustError, UsageError, conceal_address
from pkg.trust import TrustedFile, find_user_folder, identify, read_trust, trust_file

USER_FILE = "pkg.toml"  # in the folder of the user's configuration

HARMLESS: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(
        ("blocks", "context", "field", "frame", "helpers", "mode", "ranking", "reader", "retriever"), (str,)
    ),
    **dict.fromkeys(("source", "tests"), (str,)),
    **dict.fromkeys(("budget", "hops", "jobs", "max_file_size", "prune_steps", "top_k"), (int,)),
    **dict.fromkeys(("declarations", "floor", "json", "text"), (bool,)),
    "prune": (str, bool),
}
"""Settings that any file may decide: which code is read, which results are found and how much of them is shown."""

SETTINGS: Mapping[str, tuple[type, ...]] = {
    **HARMLESS,
    **dict.fromkeys(("encoder", "gate", "model", "price", "store"), (str,)),
    **dict.fromkeys(("attempts", "max_tokens"), (int,)),
    "follow_links": (bool,),
}
"""Types of every setting that a file may hold. Those that are not harmless need trust.

Among these, attempts, max_tokens and price decide what a paid model may cost.
"""


def find_data_folder() -> Path:
    """Return the folder of the user's own data; never a place in the analysed repository."""
    from platformdirs import user_data_path

    return user_data_path("pkg", appauthor=False)


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A settings file as it was read."""

    path: Path
    content: bytes
    is_own: bool  # of the user's configuration


@dataclass(frozen=True, slots=True)
class Settings:
    """The values of settings, and the file that each comes from."""

    values: dict[str, Any] = field(default_factory=dict)
    files: dict[str, SettingsFile] = field(default_factory=dict)

    def check(self, name: str) -> None:
        """Raise TrustError where the value of a setting may not be used, because its file is not trusted."""
        value, file = self.values[name], self.files[name]
        if name in HARMLESS or file.is_own or _leads_nowhere(name, value, file.path.parent):
            return
        known, read = read_trust(), identify(file.path, file.content)
        if not known.covers(read):
            why = "has changed since you trusted it" if known.knows(read) else "is not trusted"
            raise TrustError(
                f"setting '{name}' in {file.path} is '{_conceal(name, value)}', and this file {why}: settings that came"
                " with code must not choose where credentials, code or models go. Nothing was sent and nothing loaded."
                f" If it is yours, run: pkg trust {shlex.quote(str(file.path.parent))}; else give"
                f" --{name.replace('_', '-')}, or take the setting out"
            )


def read_settings(folder: Path) -> Settings:
    """Read the user's own settings and those of the nearest file at or above a folder, which win over them.

    A UsageError names a setting that is unknown or of another type.
    """
    found = Settings()
    for file in (read_user_file(), find_settings(folder)):
        table = {} if file is None else _check(_parse(file), file.path)
        found.values.update(table)
        found.files.update(dict.fromkeys(table, file))  # type: ignore[arg-type]  # no file has no names
    return found


def read_user_file() -> SettingsFile | None:
    """Read the settings file of the user's own configuration; None where there is none."""
    path = find_user_folder() / USER_FILE
    return SettingsFile(path, path.read_bytes(), is_own=True) if path.is_file() else None


def find_settings(folder: Path) -> SettingsFile | None:
    """Read the settings file that is nearest to a folder, at or above it; None where there is none."""
    own = find_user_folder() / USER_FILE
    for place in (folder, *folder.parents):
        for name, marker in (("pkg.toml", b""), ("pyproject.toml", b"[tool.pkg]")):
            path = place / name
            if path.is_file() and marker in (content := path.read_bytes()):
                return SettingsFile(path, content, is_own=own.is_file() and path.samefile(own))
    return None


def list_restricted(file: SettingsFile) -> list[tuple[str, str]]:
    """List the settings of a file that need trust, with their values as they may be shown; a UsageError for no TOML."""
    folder = file.path.parent
    return [
        (name, _conceal(name, value))
        for name, value in sorted(_parse(file).items())
        if name not in HARMLESS and not _leads_nowhere(name, value, folder)
    ]


def trust_settings(folder: Path) -> tuple[TrustedFile, list[tuple[str, str]]]:
    """Trust the settings file that is nearest to a folder; return it with the settings that this allows.

    A UsageError where there is none, a PathError where that cannot be recorded.
    """
    file = find_settings(folder)
    if file is None:
        raise UsageError(
            f"no settings file in {folder} or above it; expected pkg.toml, or pyproject.toml with [tool.pkg]"
        )
    allowed, read = list_restricted(file), identify(file.path, file.content)
    trust_file(read)
    return read, allowed


def _leads_nowhere(name: str, value: object, folder: Path) -> bool:
    """Return whether a value needs no trust although the setting does: it stays in the folder, or asks for nothing."""
    if name == "store":
        return isinstance(value, str) and value.startswith(FILE_SCHEME) and _stays_inside(value, folder)
    return value is False or (name, value) == ("model", "template")


def _stays_inside(address: str, folder: Path) -> bool:
    """Return whether a file's address is relative and it, and what SQLite and PKG put beside it, lie in a folder."""
    path = Path(address.removeprefix(FILE_SCHEME))
    if path.anchor or str(path).startswith("~"):
        return False
    try:
        beside = path.parent.glob(f"{path.name.translate(_PLAIN)}*") if path.parent.is_dir() else ()
        root = os.path.realpath(folder)
        return all(_contains(root, each) for each in (path, os.path.abspath(path), *beside))
    except (OSError, ValueError):  # no path at all, or on another drive
        return False


def _contains(root: str, path: str | Path) -> bool:
    return os.path.commonpath([root, os.path.realpath(path)]) == root


_PLAIN = str.maketrans({sign: f"[{sign}]" for sign in "*?["})  # a glob takes them for themselves


def _conceal(name: str, value: object) -> str:
    if name == "store":
        return conceal_address(str(value))
    from pkg.services import conceal_name  # brings a parser of mail with it, which no other start needs

    return conceal_name(str(value))


def _parse(file: SettingsFile) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        data: dict[str, Any] = tomllib.loads(file.content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise UsageError(f"{file.path} is not TOML: {fault}; correct it, or move it away") from None
    for name in ("tool", "pkg") if file.path.name == "pyproject.toml" else ():
        data = data.get(name, {})
        if not isinstance(data, dict):
            raise UsageError(f"'{name}' in {file.path} is {data!r}; expected a table, written [tool.pkg]")
    return data


def _check(table: dict[str, Any], file: Path) -> dict[str, Any]:
    for name, value in table.items():
        if name not in SETTINGS:
            raise UsageError(f"unknown setting '{name}' in {file}; expected one of: {', '.join(sorted(SETTINGS))}")
        if type(value) not in SETTINGS[name]:
            seen = conceal_address(str(value)) if name == "store" else repr(value)
            expected = " or ".join(each.__name__ for each in SETTINGS[name])
            raise UsageError(f"setting '{name}' in {file} is {seen}; expected {expected}")
    return table
