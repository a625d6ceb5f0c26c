"""Where each agent keeps the servers that it starts, in which form, and how ours gets there beside what it has."""

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
_MARK = "\ufeff"
"""Some editors begin a file with it, and it is no part of what the file says."""
Scope = Literal["project", "user"]
SCOPES: tuple[Scope, ...] = ("project", "user")


def _find_home() -> Path:
    return Path.home()


def _find_codex() -> Path:
    return Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")


def _find_vscode() -> Path:
    """Find the folder of the user's settings, which each system keeps elsewhere."""
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library/Application Support/Code/User"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or home / "AppData/Roaming") / "Code/User"
    return Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "Code/User"


@dataclass(frozen=True, slots=True)
class Agent:
    """How an agent is told of a server."""

    project_file: str  # below the folder of the project
    user_file: str
    advice: str
    table: str = "mcpServers"
    """The member, or table, of its file that holds the servers by name."""
    is_toml: bool = False
    more: Mapping[str, str] = field(default_factory=dict)
    """What the agent wants besides the command."""
    find_user_folder: Callable[[], Path] = _find_home


AGENTS: Mapping[str, Agent] = {
    "claude-code": Agent(
        ".mcp.json", ".claude.json", "start claude in the folder, let it use the server, and look with /mcp"
    ),
    "cursor": Agent(
        ".cursor/mcp.json", ".cursor/mcp.json", "restart Cursor, and see that the server is on: Customize, MCPs"
    ),
    "vscode": Agent(
        ".vscode/mcp.json", "mcp.json", "open the file in VS Code, press Start above the server, and use agent mode",
        "servers", more={"type": "stdio"}, find_user_folder=_find_vscode,
    ),
    "codex": Agent(
        ".codex/config.toml", "config.toml", "start codex, and look with /mcp; the file of a project counts once it is"
        " trusted", "mcp_servers", is_toml=True, find_user_folder=_find_codex,
    ),
    "gemini": Agent(
        ".gemini/settings.json", ".gemini/settings.json", "start gemini in the folder, and look with /mcp"
    ),
}  # fmt: skip
"""By the name that --install takes."""


@dataclass(frozen=True, slots=True)
class Installation:
    """What is to be written, and where."""

    agent: str
    scope: Scope
    path: Path
    entry: Mapping[str, Any]
    snippet: str  # all of the file, if it has nothing else
    advice: str

    def to_json(self, is_written: bool) -> dict[str, Any]:
        """Give it as a JSON-ready line."""
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
    """Say what an agent has to be told so that it starts `pkg mcp` with these words."""
    agent = AGENTS[name]
    path = Path.cwd() / agent.project_file if scope == "project" else agent.find_user_folder() / agent.user_file
    command, *first = find_command(scope)
    entry = {**agent.more, "command": command, "args": [*first, "mcp", *words]}
    needed = "" if scope == "user" or _find_script() else f"put {NAME} on the PATH that the agent starts with, then "
    return Installation(name, scope, path, entry, _put(agent, "", entry), needed + agent.advice)


def find_command(scope: Scope) -> list[str]:
    """Find the words that start this program again.

    A file of a project is read on several machines, so there it is the name alone; what a desktop starts does not know
    the path of a shell, so for the user it is the path of this program.
    """
    if scope == "project":
        return [NAME]
    script = _find_script()
    if script is None:
        beside = Path(sys.executable).parent / NAME
        return [str(beside)] if beside.is_file() else [sys.executable, "-m", "pkg.cli"]
    return [script]


def _find_script() -> str | None:
    """Find this program on the PATH; None where another one of the name, or none, stands there."""
    script = shutil.which(NAME)
    is_this = script is not None and Path(script).resolve().parent == Path(sys.executable).parent.resolve()
    return script if is_this else None


def list_words(
    store: str, named: Mapping[str, str | None], flags: Mapping[str, bool], scope: Scope = "user"
) -> list[str]:
    """List the options with which an agent starts the command: those that differ from what it takes by itself.

    A UsageError for an address with a password: the file may be read by others. And for a store that lies outside of
    the folder of a project whose file is written.
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
    """Name a file for an agent: from the root on, for it may start the command anywhere; in a project from its folder.

    A UsageError for a file outside of the project, which other people who work on it do not have.
    """
    whole = path.absolute()
    if scope == "user":
        return str(whole)
    if not whole.is_relative_to(Path.cwd()):
        raise UsageError(
            f"the {what} {whole} lies outside of the project, and others who work on it do not have it; expected one"
            f" below {Path.cwd()}; leave it out, or give --scope user for an entry of your own"
        )
    return whole.relative_to(Path.cwd()).as_posix()


def install(plan: Installation) -> None:
    """Add the server to the file, or put it in the place of an older entry of it; all else stays as it is.

    A PathError for a file that cannot be read or written, or that would come out otherwise: then nothing is written.
    """
    agent = AGENTS[plan.agent]
    if plan.scope == "project" and not plan.path.resolve().is_relative_to(Path.cwd().resolve()):
        raise PathError(f"{plan.path} is a link out of the project, to {plan.path.resolve()}; nothing was written")
    try:
        # As bytes: reading as text would make other line ends of those that the file has.
        whole = plan.path.read_bytes().decode("utf-8") if plan.path.exists() else ""
        text = whole.removeprefix(_MARK)
        after = whole[: len(whole) - len(text)] + _change(agent, text, plan.entry)
    except (InputError, AttributeError, TypeError, UnicodeDecodeError) as fault:
        raise PathError(f"{plan.path} is left as it is: {fault}; put this into it:\n{plan.snippet}") from fault
    except OSError as fault:
        raise PathError(f"cannot read {plan.path}: {fault.strerror}") from fault
    _replace(plan.path, after)


def _change(agent: Agent, text: str, entry: Mapping[str, Any]) -> str:
    """Change a text, and see that it then says what it should."""
    expected, after = _read(agent, text), _put(agent, text, entry)
    expected.setdefault(agent.table, {})[NAME] = dict(entry)
    if _read(agent, after) != expected:
        raise InputError(f"it keeps '{agent.table}' in a form that is not changed here")
    return after


def _read(agent: Agent, text: str) -> dict[str, Any]:
    from pkg.service.mcp.json_comments import read_commented
    from pkg.service.mcp.toml_tables import read_toml

    data = read_toml(text) if agent.is_toml else read_commented(text)
    if not isinstance(data, dict):
        raise InputError("it holds no object")
    return data


def _put(agent: Agent, text: str, entry: Mapping[str, Any]) -> str:
    from pkg.service.mcp.json_comments import put_member
    from pkg.service.mcp.toml_tables import put_table

    if agent.is_toml:
        return put_table(text, [agent.table, NAME], entry)
    return put_member(text, [agent.table, NAME], dict(entry))


def _replace(path: Path, text: str) -> None:
    """Write a file in one step, with the permissions that it has: an agent may read it at any time."""
    target = path.resolve()  # a link stays one
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
