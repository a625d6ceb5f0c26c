"""`pkg setup`: build a folder, describe it, and add the server to the agents of this machine; or take that back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pkg.api import build_graph, open_graph, remove_source
from pkg.console.options import json_option, store_options
from pkg.console.progress import listen_to_build, say
from pkg.console.settings import decode_option, is_by_default
from pkg.console.streams import can_ask, choose_ask, emit, style_words, view_lines
from pkg.default_stores import default_store, delete_own_store, find_own_store, keep_own_store, name_own_store
from pkg.errors import LocalErrorsFound, PkgError, StoreMissingError, UsageError, count_things, name_install
from pkg.service.first_look import FirstLook, look_at_source
from pkg.service.mcp.agent_configs import (
    AGENTS,
    Installation,
    is_installed,
    list_installed,
    list_words,
    plan_installation,
)
from pkg.service.mcp.setup_record import (
    BuiltSource,
    SetupRecord,
    WrittenEntry,
    install_recorded,
    read_record,
    undo_entry,
    write_record,
)
from pkg.service.operations import answer_lines

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.indexing.report import BuildReport

NEEDED = "pydantic"
"""Module of the extra `service`, without which no agent can start the server."""
WATCHER = "watchfiles"
"""Module of the extra `watch`."""


@click.command(epilog="Example:  pkg setup   or   pkg setup ~/src/shop --yes   or   pkg setup --undo")
@click.argument("path", default=".", callback=decode_option)
@store_options
@click.option(
    "--agent",
    "agents",
    multiple=True,
    type=click.Choice([*AGENTS, "none"]),
    help="Add the server to this agent only, or to none. Repeatable. Default: all agents on this machine.",
)
@click.option(
    "--here",
    is_flag=True,
    help="Keep the graph in a store of its own, which commands inside PATH then use by default.",
)
@click.option("--yes", "is_agreed", is_flag=True, help="Take every step without asking.")
@click.option(
    "--undo", is_flag=True, help="Take back what pkg setup PATH has written: entries of agents, and the graph."
)
@json_option
def setup(
    path: str, store: str, agents: tuple[str, ...], here: bool, is_agreed: bool, undo: bool, as_json: bool
) -> None:
    """Build PATH, and add it to the coding agents of this machine.

    PATH is the current folder by default. The agents get an entry of the user, which serves the source of the folder
    that an agent works in; nothing is written into PATH. Each entry is shown and asked for before it is written;
    without a terminal, only --yes writes. See pkg mcp --install for the entry of a project.
    """
    if "none" in agents and len(agents) > 1:
        raise UsageError("--agent none excludes other agents; give one or the other")
    root = str(Path(path).expanduser().resolve())
    if undo:
        _undo(root, as_json)
        return
    if here:
        store = _name_store(root)
    report = _build(root, path, store)
    if here:
        keep_own_store(root, store)
        store = default_store()  # an agent finds the store by its folder, so that one entry fits all
    with open_graph(report.store, ask=choose_ask()) as graph:
        look = look_at_source(graph.store, report.source, len(report.skipped))
    inside = root if here else None
    emit(as_json, [answer_lines.build_line(report), _look_line(look)], lambda: _view_look(report, look, inside))
    for plan in _plan(store, [name for name in agents or list_installed() if name != "none"], is_agreed):
        is_written = _offer(root, plan, is_agreed, as_json)
        emit(as_json, [plan.to_json(is_written)], partial(_view_plan, plan, is_written))
    if not as_json:
        emit(False, [], lambda: _view_commands(look, inside))


def _name_store(root: str) -> str:
    """Return the address of the folder's own store; raises UsageError for a file, and if another store is named."""
    if not Path(root).is_dir():
        raise UsageError(f"{root} is not a folder; expected one for --here, as its commands run inside it")
    if not is_by_default(click.get_current_context(), "store"):
        raise UsageError(
            "--here makes a store of its own, and --store, PKG_STORE or a settings file names another; expected none"
        )
    return name_own_store(root)


def _build(root: str, path: str, store: str) -> BuildReport:
    """Build the folder, and record its source if it is new in the graph."""
    known = _list_sources(store)
    with listen_to_build(False) as (listener, close_bar):
        report = build_graph(path, store=store, jobs=0, listener=listener)
        close_bar()
    if report.source not in known:
        record = read_record()
        write_record(SetupRecord(record.entries, (*record.sources, BuiltSource(root, report.store, report.source))))
    return report


def _list_sources(store: str) -> set[str]:
    try:
        with open_graph(store, ask=choose_ask()) as graph:
            return {each.name for each in graph.store.sources()}
    except StoreMissingError:
        return set()


def _plan(store: str, agents: Sequence[str], is_agreed: bool) -> list[Installation]:
    """Return the entries of the agents; none where the server could not start."""
    if not agents:
        return []
    if find_spec(NEEDED) is None:
        say(f"found {', '.join(agents)}; to serve them run: {name_install('service')}")
        return []
    is_watched = find_spec(WATCHER) is not None and (
        is_agreed or (can_ask() and click.confirm("Keep the graph current while an agent runs?", True, err=True))
    )
    words = list_words(store, {}, {"--watch": is_watched})
    return [plan_installation(agent, "user", words) for agent in agents]


def _offer(root: str, plan: Installation, is_agreed: bool, as_json: bool) -> bool:
    """Write the entry if the user agrees, and return whether the file has it; name a file that cannot be changed."""
    if is_installed(plan):
        return True
    if not is_agreed:
        if not can_ask():
            return False
        say(f"{plan.agent}, in {plan.path}:\n{plan.snippet.rstrip()}")
        if not click.confirm("Add this entry?", True, err=True):
            return False
    try:
        install_recorded(root, plan)
    except PkgError as fault:
        say(str(fault))
        return False
    return True


def _look_line(look: FirstLook) -> dict[str, Any]:
    return {"type": "found", "source": look.source, "lines": list(look.lines), "commands": list(look.commands)}


def _view_look(report: BuildReport, look: FirstLook, root: str | None) -> Iterator[RenderableType]:
    """Render the report; root: the folder, if the store is its own."""
    seconds = sum(report.stages.values())
    yield style_words(f"{report.describe()}" + (f" ({seconds:.1f} CPU-seconds)" if seconds else ""), "bold")
    for line in look.lines:
        yield style_words(f"  {line}")
    used = f", used by all commands inside {root}" if root else ""
    yield style_words(f"graph {report.store}{used}", "dim")


def _view_plan(plan: Installation, is_written: bool) -> Iterator[RenderableType]:
    if is_written:
        yield style_words(f"{plan.agent}: entry in {plan.path}; {plan.advice}")
    else:
        yield style_words(f"{plan.agent}: not added; later: pkg mcp --install {plan.agent} --scope user --write", "dim")


def _view_commands(look: FirstLook, root: str | None) -> Iterator[RenderableType]:
    if look.commands:
        yield style_words(f"try inside {root}:" if root else "try:", "bold")
        for command in look.commands:
            yield style_words(f"  {command}")


def _undo(root: str, as_json: bool) -> None:
    """Take back what the set-up of a folder has written, and keep in the record what could not be."""
    record = read_record()
    written: list[WrittenEntry | BuiltSource] = [*record.list_entries(root), *record.list_sources(root)]
    if not written and find_own_store(root) is None:
        roots = sorted({each.root for each in record.entries} | {each.root for each in record.sources})
        raise UsageError(
            f"pkg setup has written nothing for {root}; "
            + (f"expected one of: {', '.join(roots)}" if roots else "nothing of any folder is recorded")
        )
    failed = 0
    for each in written:
        try:
            done = undo_entry(each) if isinstance(each, WrittenEntry) else _remove(each)
        except PkgError as fault:
            failed += 1
            say(str(fault))
            continue
        record = record.forget(each)
        write_record(record)
        emit(as_json, [{"type": "undone", "done": done}], partial(view_lines, done))
    if not failed and (own := find_own_store(root)) is not None:
        done = _delete_store(root, own)
        emit(as_json, [{"type": "undone", "done": done}], partial(view_lines, done))
    if failed:
        raise LocalErrorsFound(f"{count_things(failed, 'step')} could not be taken back, and can be tried again")


def _remove(built: BuiltSource) -> str:
    if built.source in _list_sources(built.store):
        remove_source(built.source, store=built.store, ask=choose_ask())
        return f"{built.source} is removed from {built.store}"
    return f"{built.source} is not in {built.store} any more"


def _delete_store(root: str, own: str) -> str:
    """Delete the folder's own store, and return what was done; raises UsageError while it has other sources."""
    others = sorted(_list_sources(own))
    if others:
        raise UsageError(
            f"{own} has other sources: {', '.join(others)}; remove them with pkg build --remove NAME --store {own}, and"
            " undo again"
        )
    delete_own_store(root)
    return f"{own} is deleted; commands inside {root} use the shared store"
