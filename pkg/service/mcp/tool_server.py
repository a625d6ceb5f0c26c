"""The MCP server: lists the tools, passes calls to the service, and returns each answer as one text.

Answers have no structured content: clients show a model only one of the two, and most would show that one.
"""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pkg import __version__
from pkg.errors import MissingExtraError, PkgError, QueryError, StoreMissingError, count_things
from pkg.quoting.data_marks import mark_data
from pkg.quoting.hidden_characters import spell_hidden, spell_line
from pkg.service.mcp.agent_tools import INSTRUCTIONS, TOOLS, Tool, drop_nulls, is_listing, list_more

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server
    from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams

    from pkg.service.graph_service import Answer, GraphService

NAME = "pkg"
MAX_CONCURRENT_CALLS = 8
PROGRESS_SECONDS = 5  # between progress notifications; some clients time out after a minute without one
NOT_YET = "code written since the last build is not in the graph"
_WITHOUT_PATHS = ("rerank", "status", "stats", "build")


class CallCancelled(Exception):  # noqa: N818 - no fault
    """Stops work on a call that the client has cancelled."""


class ToolServer:
    """Answers tool calls of any number of clients."""

    def __init__(self, service: GraphService) -> None:
        self.service = service
        self._slots = threading.BoundedSemaphore(MAX_CONCURRENT_CALLS)
        self._roots: tuple[str, dict[str, str]] = "", {}  # generation of the graph, and folder of each repository
        self._warming = threading.Thread(target=self._warm_up, daemon=True)

    def make_server(self) -> Server[Any]:
        """Build the server of the protocol; raises MissingExtraError without the package `mcp`."""
        try:
            from mcp.server.lowlevel import Server
        except ImportError as fault:
            raise MissingExtraError("mcp", "service", "the server for agents") from fault
        return Server(
            NAME,
            version=__version__,
            title="Programming Knowledge Graph",
            instructions=INSTRUCTIONS,
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
        )

    async def list_tools(
        self, context: ServerRequestContext[Any, Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        """List the tools, and warm up caches for the first question in the background."""
        import mcp_types as types

        with suppress(RuntimeError):  # already started
            self._warming.start()
        return types.ListToolsResult(tools=[
            types.Tool(
                name=each.name,
                description=each.description,
                input_schema=each.describe_input(),
                annotations=types.ToolAnnotations.model_validate(self._choose_hints(each), by_name=True),
            )
            for each in TOOLS.values()
        ])  # fmt: skip

    def _warm_up(self) -> None:
        with suppress(PkgError):  # the first call reports it
            self.service.run("explore", {"text": "main", "budget": 1})

    def _choose_hints(self, tool: Tool) -> Mapping[str, bool]:
        """Return the hints of a tool; `more` may change something if builds are allowed."""
        if tool.name == "more" and self.service.options.allow_build:
            return {"read_only_hint": False, "destructive_hint": False, "open_world_hint": False}
        return tool.hints

    async def call_tool(self, context: ServerRequestContext[Any, Any], params: CallToolRequestParams) -> CallToolResult:
        """Answer a call; an error that the agent can correct is an answer, not a protocol error.

        Raises MCPError for an unknown tool.
        """
        import mcp_types as types
        from anyio import create_task_group
        from mcp.shared.exceptions import MCPError

        tool = TOOLS.get(params.name)
        if tool is None:
            raise MCPError(
                types.INVALID_PARAMS,
                f"unknown tool '{spell_hidden(params.name[:100])}'; expected one of: {', '.join(TOOLS)}",
            )
        async with create_task_group() as group:
            group.start_soon(self._report_progress, context)
            text, is_error = await self._answer_in_thread(tool, drop_nulls(params.arguments or {}))
            group.cancel_scope.cancel()
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=is_error)

    async def _report_progress(self, context: ServerRequestContext[Any, Any]) -> None:
        """Report the elapsed seconds to a client that asked for progress."""
        from anyio import sleep

        seconds = 0
        while True:
            await sleep(PROGRESS_SECONDS)
            seconds += PROGRESS_SECONDS
            await context.session.report_progress(seconds, None, "working")

    async def _answer_in_thread(self, tool: Tool, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        """Answer in a thread; the thread of a cancelled call is abandoned, and does not start further work."""
        from anyio import to_thread

        cancelled = threading.Event()
        try:
            return await to_thread.run_sync(self.answer, tool, arguments, cancelled, abandon_on_cancel=True)
        except BaseException:
            cancelled.set()
            raise

    def answer(self, tool: Tool, arguments: Mapping[str, Any], cancelled: threading.Event) -> tuple[str, bool]:
        """Return the text of the answer to a call, and whether it is an error."""
        with self._slots:
            if cancelled.is_set():
                return "", True
            try:
                return self._run(tool, arguments, cancelled), False
            except StoreMissingError as fault:
                return f"{spell_hidden(str(fault))}\nUntil then nothing can be found, even if it exists.", True
            except QueryError as fault:
                return self._explain_missing(fault), True
            except PkgError as fault:
                return spell_hidden(str(fault)), True
            except CallCancelled:
                return "", True
            except Exception:
                traceback.print_exc(file=sys.stderr)
                return "internal error; the server wrote the traceback to its standard error", True

    def _explain_missing(self, fault: QueryError) -> str:
        """Return the error with the reasons why the name may exist nevertheless."""
        with suppress(PkgError):
            caveats = self.service.run("status", {}).freshness.describe(name_files=False)
            notes = [caveats] if caveats else []
            return "\n".join([mark_data(str(fault)), *(f"note: {each}" for each in (*notes, NOT_YET))])
        return mark_data(str(fault))

    def _run(self, tool: Tool, arguments: Mapping[str, Any], cancelled: threading.Event) -> str:
        if is_listing(tool, arguments):
            return list_more(self.service.options.allow_build)
        name, values = tool.choose(arguments)
        if name == "ask":
            answer = self.service.stream_answer(values, lambda _: _check_cancelled(cancelled))
        else:
            answer = self.service.run(name, values)
        return render_answer(
            answer, "" if name in _WITHOUT_PATHS else self._describe_roots(answer, values.get("source"))
        )

    def _describe_roots(self, answer: Answer, requested: object) -> str:
        """Return a line with the root folders of the paths in an answer; "" if that is the current folder."""
        graph = answer.freshness.graph
        if not graph or self._roots[0] != graph:
            sources = self.service.run("status", {}).lines[0]["sources"]
            self._roots = graph, {each["name"]: each["root"] for each in sources if each["kind"] == "repository"}
        roots = self._roots[1]
        found = {*_list_sources(answer.lines), requested}
        named = {name for name in roots if name in found} or roots.keys()
        if {roots[name] for name in named} <= {str(Path.cwd())}:
            return ""
        listed = [roots[name] if len(roots) == 1 else f"{name} in {roots[name]}" for name in sorted(named)]
        return f"paths are below {', '.join(listed)}"


def _list_sources(part: object) -> Iterator[str]:
    """Iterate over all values of the member `source` in the lines of an answer."""
    if isinstance(part, Mapping):
        source = part.get("source")
        yield from (source,) if isinstance(source, str) else ()
        for each in part.values():
            yield from _list_sources(each)
    elif isinstance(part, (list, tuple)):
        for each in part:
            yield from _list_sources(each)


def _check_cancelled(cancelled: threading.Event) -> None:
    if cancelled.is_set():
        raise CallCancelled


def render_answer(answer: Answer, roots: str = "") -> str:
    """Return the text of an answer between data marks, followed by the caveats.

    Names of files and definitions are untrusted text: they are listed inside the marks, and only counted outside.
    """
    freshness, left_out = answer.freshness, answer.left_out
    stale = f"changed since the build: {freshness.describe_stale()}" if freshness.stale else ""
    ends = [*(f"left out: {each}" for each in left_out), *filter(None, (stale, roots))]
    notes = (
        [f"left out: {count_things(len(left_out), 'part')}, listed where the data ends; raise budget"]
        if left_out
        else []
    )
    notes += [f"note: {caveats}"] if (caveats := freshness.describe(name_files=False)) else []
    return "\n".join([mark_data("\n".join([answer.text.strip("\n"), *map(spell_line, ends)])), *notes])
