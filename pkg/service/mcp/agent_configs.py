"""Configuration files of agents: their paths and formats, and adding our server without changing other entries."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pkg.config import default_store
from pkg.errors import FILE_SCHEME, InputError, PathError, UsageError, refuse_password

NAME = "pkg"
_BOM = "\ufeff"
"""Byte order mark, which some editors write at the start of a file."""
Scope = Literal["project", "user"]
SCOPES: tuple[Scope, ...] = ("project", "user")


def _find_codex() -> Path:
    return Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")


def _find_vscode() -> Path:
    """Return the folder of the user's settings of VS Code on this system."""
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library/Application Support/Code/User"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or home / "AppData/Roaming") / "Code/User"
    return Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "Code/User"


@dataclass(frozen=True, slots=True)
class Agent:
    """The configuration files of an agent."""

    project_file: str  # relative to the folder of the project
    user_file: str  # relative to the user's folder
    advice: str
    table: str = "mcpServers"
    """The member or table of the file that holds the servers by name."""
    is_toml: bool = False
    extra: Mapping[str, str] = field(default_factory=dict)
    """Further members of an entry."""
    find_user_folder: Callable[[], Path] = Path.home


AGENTS: Mapping[str, Agent] = {
    "claude-code": Agent(
        ".mcp.json", ".claude.json", "start claude in the folder, allow the server, and check with /mcp"
    ),
    "cursor": Agent(
        ".cursor/mcp.json", ".cursor/mcp.json", "restart Cursor, and check that the server is on: Customize, MCPs"
    ),
    "vscode": Agent(
        ".vscode/mcp.json", "mcp.json", "open the file in VS Code, press Start above the server, and use agent mode",
        table="servers", extra={"type": "stdio"}, find_user_folder=_find_vscode,
    ),
    "codex": Agent(
        ".codex/config.toml", "config.toml", "start codex, and check with /mcp; the file of a project is read once the"
        " project is trusted", table="mcp_servers", is_toml=True, find_user_folder=_find_codex,
    ),
    "gemini": Agent(
        ".gemini/settings.json", ".gemini/settings.json", "start gemini in the folder, and check with /mcp"
    ),
}  # fmt: skip
"""Agents by their name in --install."""


@dataclass(frozen=True, slots=True)
class Installation:
    """The entry to write, and its file."""

    agent: str
    scope: Scope
    path: Path
    entry: Mapping[str, Any]
    snippet: str  # the content of the file if it has no other entry
    advice: str

    def to_json(self, is_written: bool) -> dict[str, Any]:
        """Return a JSON-ready line."""
        return {
            "type": "installation",
            "agent": self.agent,
            "scope": self.scope,
            "path": str(self.path),
            "server": dict(self.entry),
            "snippet": self.snippet,
            "written": is_written,
        }


def plan_installation(name: str, scope: Scope, words: Sequence[str]) -> Installation:
    """Return the entry with which an agent starts `pkg mcp` with these arguments."""
    agent = AGENTS[name]
    path = Path.cwd() / agent.project_file if scope == "project" else agent.find_user_folder() / agent.user_file
    command, *first = find_command(scope)
    entry = {**agent.extra, "command": command, "args": [*first, "mcp", *words]}
    path_advice = "" if scope == "user" or _find_script() else f"put {NAME} on the PATH of the agent, then "
    return Installation(name, scope, path, entry, _put(agent, "", entry), path_advice + agent.advice)


def find_command(scope: Scope) -> list[str]:
    """Return the command line that starts this program.

    For a project, whose file is read on several machines, it is the name alone; for a user it is the path, as programs
    that a desktop starts do not have the PATH of a shell.
    """
    if scope == "project":
        return [NAME]
    script = _find_script()
    if script is None:
        beside = Path(sys.executable).parent / NAME
        return [str(beside)] if beside.is_file() else [sys.executable, "-m", "pkg.cli"]
    return [script]


def _find_script() -> str | None:
    """Return the script on the PATH; None if there is none, or it belongs to another installation."""
    script = shutil.which(NAME)
    is_this = script is not None and Path(script).resolve().parent == Path(sys.executable).parent.resolve()
    return script if is_this else None


def list_words(
    store: str, named: Mapping[str, str | None], flags: Mapping[str, bool], scope: Scope = "user"
) -> list[str]:
    """List the options with which an agent starts the command, without those that equal the defaults.

    Raises UsageError for a store address with a password, as others may read the file, and in a project for a store
    file outside of its folder.
    """
    refuse_password(store, "the file of the agent", "the agent")
    words = [] if store == default_store() else ["--store", _name_store(store, scope)]
    for option, value in named.items():
        words += [option, value] if value is not None else []
    return words + [flag for flag, is_set in flags.items() if is_set]


def _name_store(store: str, scope: Scope) -> str:
    if not store.startswith(FILE_SCHEME):
        return store
    return FILE_SCHEME + name_file(Path(store.removeprefix(FILE_SCHEME)).expanduser(), "store", scope)


def name_file(path: Path, what: str, scope: Scope) -> str:
    """Return the path of a file for an agent: relative in a project, else absolute, as agents start anywhere.

    Raises UsageError for a file outside of the project, which its other developers do not have.
    """
    absolute = path.absolute()
    if scope == "user":
        return str(absolute)
    if not absolute.is_relative_to(Path.cwd()):
        raise UsageError(
            f"the {what} {absolute} is outside of the project, so its other developers do not have it; expected one"
            f" below {Path.cwd()}; leave it out, or use --scope user for an entry of your own"
        )
    return absolute.relative_to(Path.cwd()).as_posix()


def install(plan: Installation) -> None:
    """Add or replace the entry of our server in the file, without changing anything else.

    Raises PathError, and writes nothing, if the file cannot be read, changed safely or written.
    """
    agent = AGENTS[plan.agent]
    if plan.scope == "project" and not plan.path.resolve().is_relative_to(Path.cwd().resolve()):
        raise PathError(f"{plan.path} links outside of the project, to {plan.path.resolve()}; nothing was written")
    try:
        # As bytes, since reading text would convert the line ends.
        whole = plan.path.read_bytes().decode("utf-8") if plan.path.exists() else ""
        text = whole.removeprefix(_BOM)
        after = whole[: len(whole) - len(text)] + _put_checked(agent, text, plan.entry)
    except (InputError, AttributeError, TypeError, UnicodeDecodeError) as fault:
        raise PathError(f"{plan.path} was not changed: {fault}; add this to it:\n{plan.snippet}") from fault
    except OSError as fault:
        raise PathError(f"cannot read {plan.path}: {fault.strerror}") from fault
    _replace(plan.path, after)


def _put_checked(agent: Agent, text: str, entry: Mapping[str, Any]) -> str:
    """Put the entry into a text, and check that the result parses to the expected data."""
    expected, after = _read(agent, text), _put(agent, text, entry)
    expected.setdefault(agent.table, {})[NAME] = dict(entry)
    if _read(agent, after) != expected:
        raise InputError(f"its syntax of '{agent.table}' is not supported")
    return after


def _read(agent: Agent, text: str) -> dict[str, Any]:
    from pkg.service.mcp.settings_edits import read_commented, read_toml

    data = read_toml(text) if agent.is_toml else read_commented(text)
    if not isinstance(data, dict):
        raise InputError("it does not hold an object")
    return data


def _put(agent: Agent, text: str, entry: Mapping[str, Any]) -> str:
    from pkg.service.mcp.settings_edits import put_member, put_table

    if agent.is_toml:
        return put_table(text, [agent.table, NAME], entry)
    return put_member(text, [agent.table, NAME], dict(entry))


def _replace(path: Path, text: str) -> None:
    """Write a file atomically, as an agent may read it at any time; its permissions are kept."""
    target = path.resolve()  # so that a link stays one
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh.touch(mode=0o600)
        fresh.write_bytes(text.encode("utf-8"))
        fresh.chmod(target.stat().st_mode if target.exists() else 0o644)
        fresh.replace(target)
    except OSError as fault:
        fresh.unlink(missing_ok=True)
        raise PathError(f"cannot write {path}: {fault.strerror}") from fault
