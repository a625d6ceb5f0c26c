"""Configuration files of agents: their paths and formats, and adding our server without changing other entries."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pkg.default_stores import default_store
from pkg.errors import FILE_SCHEME, SET_SCHEME, InputError, PathError, UsageError, refuse_password

NAME = "pkg"
_BOM = "\ufeff"
"""Byte order mark, which some editors write at the start of a file."""
Scope = Literal["project", "user"]
SCOPES: tuple[Scope, ...] = ("project", "user")


def _below_home(place: str) -> Path:
    return Path.home() / place


def _find_configuration() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


def _find_codex() -> Path:
    return Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex") / "config.toml"


def _find_vscode() -> Path:
    """Return the servers of the user of VS Code on this system."""
    home = Path.home()
    if sys.platform == "darwin":
        folder = home / "Library/Application Support/Code/User"
    elif sys.platform == "win32":
        folder = Path(os.environ.get("APPDATA") or home / "AppData/Roaming") / "Code/User"
    else:
        folder = _find_configuration() / "Code/User"
    return folder / "mcp.json"


def _find_zed() -> Path:
    """Return the settings of the user of Zed on this system."""
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData/Roaming") / "Zed/settings.json"
    folder = Path.home() / ".config" if sys.platform == "darwin" else _find_configuration()
    return folder / "zed/settings.json"


def _find_cline() -> Path:
    given = os.environ.get("CLINE_MCP_SETTINGS_PATH")
    return Path(given) if given else _below_home(".cline/data/settings/cline_mcp_settings.json")


@dataclass(frozen=True, slots=True)
class Agent:
    """The configuration files of an agent."""

    project_file: str | None  # relative to the folder of the project; None where an agent reads none
    find_user_file: Callable[[], Path]
    advice: str
    program: str  # on the PATH where the agent is installed; it may also have only its files
    table: tuple[str, ...] = ("mcpServers",)
    """The path of the member or table of the file that holds the servers by name."""
    is_toml: bool = False
    is_one_list: bool = False  # "command" of an entry holds the arguments too
    extra: Mapping[str, str] = field(default_factory=dict)
    """Further members of an entry."""


AGENTS: Mapping[str, Agent] = {
    "claude-code": Agent(
        ".mcp.json", partial(_below_home, ".claude.json"),
        "start claude in the folder, allow the server, and check with /mcp", "claude",
    ),
    "cursor": Agent(
        ".cursor/mcp.json", partial(_below_home, ".cursor/mcp.json"),
        "restart Cursor, and check that the server is on: Customize, MCPs", "cursor", extra={"type": "stdio"},
    ),
    "vscode": Agent(
        ".vscode/mcp.json", _find_vscode, "open the file in VS Code, press Start above the server, and use agent mode",
        "code", table=("servers",), extra={"type": "stdio"},
    ),
    "codex": Agent(
        ".codex/config.toml", _find_codex, "start codex, and check with /mcp; the file of a project is read once the"
        " project is trusted", "codex", table=("mcp_servers",), is_toml=True,
    ),
    "gemini": Agent(
        ".gemini/settings.json", partial(_below_home, ".gemini/settings.json"),
        "start gemini in the folder, and check with /mcp", "gemini",
    ),
    "windsurf": Agent(
        None, partial(_below_home, ".codeium/windsurf/mcp_config.json"),
        "refresh the servers in the MCP panel of Cascade", "windsurf",
    ),
    "zed": Agent(
        ".zed/settings.json", _find_zed, "check the server in the settings of the agent panel", "zed",
        table=("context_servers",),
    ),
    "cline": Agent(
        None, _find_cline, "start cline, and check with: cline mcp; for the extension of an editor, put the entry into"
        " the file that MCP Servers, Configure opens", "cline",
    ),
    "opencode": Agent(
        "opencode.json", lambda: _find_configuration() / "opencode/opencode.json",
        "start opencode in the folder, and check with: opencode mcp list", "opencode", table=("mcp", "servers"),
        is_one_list=True, extra={"type": "local"},
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
    """Return the entry with which an agent starts `pkg mcp` with these arguments.

    Raises UsageError for the project where the agent reads no file of a project.
    """
    agent = AGENTS[name]
    if scope == "project" and agent.project_file is None:
        raise UsageError(
            f"{name} reads no file of a project; add --scope user for an entry in {agent.find_user_file()}"
        )
    path = Path.cwd() / str(agent.project_file) if scope == "project" else agent.find_user_file()
    command = [*find_command(scope), "mcp", *words]
    called = {"command": command} if agent.is_one_list else {"command": command[0], "args": command[1:]}
    entry = {**agent.extra, **called}
    path_advice = "" if scope == "user" or _find_script() else f"put {NAME} on the PATH of the agent, then "
    return Installation(name, scope, path, entry, _put(agent, "", entry), path_advice + agent.advice)


def list_installed() -> list[str]:
    """List the agents that this user has: their program is on the PATH, or they have a file or folder of their own."""
    return [name for name, agent in AGENTS.items() if shutil.which(agent.program) or _has_files(agent)]


def _has_files(agent: Agent) -> bool:
    path = agent.find_user_file()
    return path.exists() or (path.parent != Path.home() and path.parent.is_dir())


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
    scheme = next((each for each in (FILE_SCHEME, SET_SCHEME) if store.startswith(each)), None)
    if scheme is None:
        return store
    return scheme + name_file(Path(store.removeprefix(scheme)).expanduser(), "store", scope)


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
        mark, text = read_file(plan.path)
        after = mark + _put_checked(agent, text, plan.entry)
    except (InputError, AttributeError, TypeError, UnicodeDecodeError) as fault:
        raise PathError(f"{plan.path} was not changed: {fault}; add this to it:\n{plan.snippet}") from fault
    _replace(plan.path, after)


def is_installed(plan: Installation) -> bool:
    """Return whether the file has this entry already; a file that cannot be parsed has not."""
    try:
        servers: Any = _read(AGENTS[plan.agent], read_file(plan.path)[1])
        for name in (*AGENTS[plan.agent].table, NAME):
            servers = servers[name]
    except (InputError, LookupError, TypeError, UnicodeDecodeError):
        return False
    return bool(servers == dict(plan.entry))


def uninstall(agent: str, path: Path) -> bool:
    """Remove the entry of our server from the file of an agent, without changing anything else.

    Return whether it was there. Raises PathError, and writes nothing, if the file cannot be read, changed safely or
    written.
    """
    try:
        mark, text = read_file(path)
        after = _cut_checked(AGENTS[agent], text)
    except (InputError, AttributeError, TypeError, UnicodeDecodeError) as fault:
        raise PathError(f"{path} was not changed: {fault}; remove the entry {NAME} from it") from fault
    if after != text:
        _replace(path, mark + after)
    return after != text


def read_file(path: Path) -> tuple[str, str]:
    """Return the byte order mark of a file, if any, and its text; both are empty for a file that does not exist.

    Raises PathError for a file that cannot be read, UnicodeDecodeError for one that is not UTF-8.
    """
    try:
        whole = path.read_bytes().decode("utf-8") if path.exists() else ""  # text mode would convert the line ends
    except OSError as fault:
        raise PathError(f"cannot read {path}: {fault.strerror}") from fault
    text = whole.removeprefix(_BOM)
    return whole[: len(whole) - len(text)], text


def _put_checked(agent: Agent, text: str, entry: Mapping[str, Any]) -> str:
    """Put the entry into a text, and check that the result parses to the expected data."""
    expected, after = _read(agent, text), _put(agent, text, entry)
    servers = expected
    for name in agent.table:
        servers = servers.setdefault(name, {})
    servers[NAME] = dict(entry)
    if _read(agent, after) != expected:
        raise InputError(f"its syntax of '{'.'.join(agent.table)}' is not supported")
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
        return put_table(text, [*agent.table, NAME], entry)
    return put_member(text, [*agent.table, NAME], dict(entry))


def _cut_checked(agent: Agent, text: str) -> str:
    """Cut the entry out of a text, and check that the result parses to the rest of its data."""
    from pkg.service.mcp.settings_edits import cut_member, cut_table

    after = (cut_table if agent.is_toml else cut_member)(text, [*agent.table, NAME])
    servers = expected = _read(agent, text)
    for name in agent.table:
        servers = servers.get(name, {})
    servers.pop(NAME, None)
    if _drop_empty(_read(agent, after)) != _drop_empty(expected):
        raise InputError(f"its syntax of '{'.'.join(agent.table)}' is not supported")
    return after


def _drop_empty(data: dict[str, Any]) -> dict[str, Any]:
    """Return the members with a value: TOML has no table left where its last one is cut."""
    return {name: value for name, value in data.items() if value != {}}


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
