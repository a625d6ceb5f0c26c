"""`pkg mcp`: serve agents, or write the command that starts the server into their configuration."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click import get_current_context

from pkg.console.options import json_option, store_options
from pkg.console.progress import say
from pkg.console.settings import decode_option, find_model, is_by_environment, source_setting
from pkg.console.streams import can_ask, emit, style_words
from pkg.default_stores import default_store
from pkg.errors import MissingExtraError, StoreError, UsageError
from pkg.models.registry import locate_model
from pkg.service.mcp.agent_configs import (
    AGENTS,
    SCOPES,
    Installation,
    Scope,
    install,
    list_words,
    name_file,
    plan_installation,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.service.graph_service import GraphService


_SERVING = {"is_http": "--http", "host": "--host", "port": "--port"}

_INSTALLING = {"scope": "--scope", "is_written": "--write"}


@click.command(epilog="Example:  pkg mcp   or   pkg mcp --install claude-code --write")
@store_options
@source_setting(
    help="Serve only this source. Default: that of the current folder; all, or outside of any: all sources."
)
@click.option(
    "--here",
    is_flag=True,
    help="Serve the source of the current folder.",
    deprecated="It is the default; version 0.4 will not have it",
)
@click.option(
    "--model",
    callback=find_model,
    metavar="MODEL",
    help="Text model of ask: gguf:FILE, openai:NAME@URL or hf:FOLDER. Default: none, which shows the evidence.",
)
@click.option("--allow-build", is_flag=True, help="Allow agents to update the graph.")
@click.option("--watch", is_flag=True, help="Build in the background whenever files change.")
@click.option("--http", "is_http", is_flag=True, help="Serve streamable HTTP instead of standard input and output.")
@click.option("--host", callback=decode_option, metavar="ADDRESS", help="Address of --http. Default: 127.0.0.1.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port of --http; 0 for a free one. Default: 8721.")
@click.option(
    "--install",
    "agent",
    type=click.Choice(list(AGENTS)),
    help="Show the entry for the configuration of an agent, and its file.",
)
@click.option(
    "--scope",
    type=click.Choice(SCOPES),
    help="With --install: for the project in the current folder (default), or for all projects.",
)
@click.option(
    "--write", "is_written", is_flag=True, help="With --install: write the entry to the file, and keep the rest."
)
@json_option
def mcp(store: str, as_json: bool, **given: Any) -> None:
    """Serve the graph to coding agents (Model Context Protocol).

    There are five tools with short answers: explore, show, deps, rerank, and more for the rest. The agent starts this
    command, which uses standard input and output; --install shows the configuration of the agent. With --http, one
    server on this machine serves several agents.
    """
    _check(given)
    if given["agent"] is not None:
        scope: Scope = given["scope"] or "project"
        flags = {"--allow-build": given["allow_build"], "--watch": given["watch"]}
        named = {"--source": given["source"], "--model": _name_model(given["model"], scope)}
        plan = plan_installation(given["agent"], scope, list_words(_name_shared(store, scope), named, flags, scope))
        if given["is_written"]:
            install(plan)
        emit(as_json, [plan.to_json(given["is_written"])], lambda: _view(plan, given["is_written"]))
        return
    _serve(store, given)


def _name_shared(store: str, scope: Scope) -> str:
    """Return the store to write into the configuration; a project's omits a store from the user's environment."""
    return default_store() if scope == "project" and is_by_environment(get_current_context(), "store") else store


def _name_model(model: str | None, scope: Scope) -> str | None:
    """Return a model name that resolves to the same file in whatever folder an agent starts the command."""
    if model is None:
        return None
    located = locate_model(model)
    word, _, detail = located.partition(":")
    is_file = word in ("gguf", "hf") and Path(detail).is_absolute()
    return f"{word}:{name_file(Path(detail), 'model', scope)}" if is_file else located


def _check(given: dict[str, Any]) -> None:
    if given["here"] and given["source"] is not None:
        raise UsageError("--here finds the source, and --source names one; give one of them")
    if given["agent"] is None:
        wrong = [flag for name, flag in _INSTALLING.items() if given[name]]
        if wrong:
            raise UsageError(f"{wrong[0]} is for --install; name the agent, such as --install claude-code")
    else:
        wrong = [flag for name, flag in _SERVING.items() if given[name] not in (None, False)]
        if wrong:
            raise UsageError(f"an agent that --install is for starts the server itself, without {wrong[0]}")
    if not given["is_http"] and (given["host"] is not None or given["port"] is not None):
        raise UsageError("--host and --port are for --http; add it")


def _serve(store: str, given: dict[str, Any]) -> None:
    try:
        from pkg.service.graph_service import GraphService, ServiceOptions
        from pkg.service.mcp.tool_server import ToolServer
    except ImportError as fault:
        raise MissingExtraError("pydantic", "service", "the server for agents") from fault
    from pkg.service.mcp.served_source import choose_served

    source = choose_served(store, given["source"], Path.cwd())
    service = GraphService(ServiceOptions(store, source, given["model"], given["allow_build"]))
    if given["watch"]:
        _watch(service)
    tools = ToolServer(service)
    if not given["is_http"]:
        from pkg.service.mcp.transports import serve_stdio

        if can_ask():
            say("an agent starts this and speaks by standard input; --install NAME shows how. Ctrl-C ends it")
        serve_stdio(tools)
        return
    from pkg.service.mcp.transports import PORT, HttpAddress, serve_http
    from pkg.service.web.web_server import LOOPBACK

    def tell(address: str, token: str | None) -> None:
        say(f"serving agents at {address}" + (f" with the token {token}" if token else ""))

    port = PORT if given["port"] is None else given["port"]
    serve_http(tools, HttpAddress(given["host"] or LOOPBACK, port), tell)


def _watch(service: GraphService) -> None:
    """Build changes in the background; the server starts even if the graph does not exist yet."""
    from pkg.service.source_watcher import watch_sources

    try:
        watch_sources(service, lambda name, said: say(f"{name}: {said}"))
    except StoreError as fault:
        say(f"nothing is watched: {fault}")


def _view(plan: Installation, is_written: bool) -> Iterable[RenderableType]:
    done = "written to" if is_written else "put this into"
    yield style_words(f"{done} {plan.path}:", "bold")
    yield style_words(plan.snippet)
    yield style_words(f"then {plan.advice}", "dim")
