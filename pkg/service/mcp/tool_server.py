"""The server: it lists the tools, has the service answer calls of them, and gives each answer as one text.

The text stands alone, without structured content beside it: clients show a model one of the two, and most of them then
choose the other.
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
AT_ONCE = 8  # calls that are answered at one time; the others wait
BEAT_SECONDS = 5  # between signs of life, where a client asks for them: some wait no longer than a minute for any
NOT_YET = "what was written since the last build is not in the graph"
_WITHOUT_PLACES = ("rerank", "status", "stats", "build")


class CallCancelled(Exception):  # noqa: N818 - no fault
    """Say that nobody waits for an answer any more."""


class ToolServer:
    """Answers the calls of any number of clients."""

    def __init__(self, service: GraphService) -> None:
        self.service = service
        self._slots = threading.BoundedSemaphore(AT_ONCE)
        self._roots: tuple[str, dict[str, str]] = "", {}  # of a generation of a graph: the folder of each repository
        self._warming = threading.Thread(target=self._warm_up, daemon=True)

    def make_server(self) -> Server[Any]:
        """Make the server of the protocol; a MissingExtraError without its package."""
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
        """List the tools, and load what the first question needs while the client reads them."""
        import mcp_types as types

        with suppress(RuntimeError):  # it was started before
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
        with suppress(PkgError):  # told when it is asked
            self.service.run("explore", {"text": "main", "budget": 1})

    def _choose_hints(self, tool: Tool) -> Mapping[str, bool]:
        """Say of `more` that it changes something where it may build."""
        if tool.name == "more" and self.service.options.allow_build:
            return {"read_only_hint": False, "destructive_hint": False, "open_world_hint": False}
        return tool.hints

    async def call_tool(self, context: ServerRequestContext[Any, Any], params: CallToolRequestParams) -> CallToolResult:
        """Answer a call; what an agent can mend is an answer that says how, and no fault of the protocol.

        Raises MCPError for a tool that there is not.
        """
        import mcp_types as types
        from anyio import create_task_group
        from mcp.shared.exceptions import MCPError

        tool = TOOLS.get(params.name)
        if tool is None:
            raise MCPError(
                types.INVALID_PARAMS,
                f"no tool '{spell_hidden(params.name[:100])}'; expected one of: {', '.join(TOOLS)}",
            )
        async with create_task_group() as group:
            group.start_soon(self._give_signs, context)
            text, is_error = await self._answer_aside(tool, drop_nulls(params.arguments or {}))
            group.cancel_scope.cancel()
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=is_error)

    async def _give_signs(self, context: ServerRequestContext[Any, Any]) -> None:
        """Tell a client that asks for progress how many seconds have passed."""
        from anyio import sleep

        seconds = 0
        while True:
            await sleep(BEAT_SECONDS)
            seconds += BEAT_SECONDS
            await context.session.report_progress(seconds, None, "still at it")

    async def _answer_aside(self, tool: Tool, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        """Answer in a thread; one that is cancelled is left to end by itself, and begins nothing new."""
        from anyio import to_thread

        gone = threading.Event()
        try:
            return await to_thread.run_sync(self.answer, tool, arguments, gone, abandon_on_cancel=True)
        except BaseException:
            gone.set()
            raise

    def answer(self, tool: Tool, arguments: Mapping[str, Any], gone: threading.Event) -> tuple[str, bool]:
        """Answer a call with a text, and tell whether it is that of an error."""
        with self._slots:
            if gone.is_set():
                return "", True
            try:
                return self._run(tool, arguments, gone), False
            except StoreMissingError as fault:
                return f"{spell_hidden(str(fault))}\nUntil then nothing can be found here, whatever there is.", True
            except QueryError as fault:
                return self._say_missing(fault), True
            except PkgError as fault:
                return spell_hidden(str(fault)), True
            except CallCancelled:
                return "", True
            except Exception:
                traceback.print_exc(file=sys.stderr)
                return "this failed inside of the server, which tells the reason on its standard error", True

    def _say_missing(self, fault: QueryError) -> str:
        """Say with what is not found why it may be there nevertheless."""
        with suppress(PkgError):
            said = self.service.run("status", {}).freshness.say(is_naming=False)
            notes = [said] if said else []
            return "\n".join([mark_data(str(fault)), *(f"note: {each}" for each in (*notes, NOT_YET))])
        return mark_data(str(fault))

    def _run(self, tool: Tool, arguments: Mapping[str, Any], gone: threading.Event) -> str:
        if is_listing(tool, arguments):
            return list_more(self.service.options.allow_build)
        name, given = tool.choose(arguments)
        if name == "ask":
            answer = self.service.ask_aloud(given, lambda _: _go_on(gone))
        else:
            answer = self.service.run(name, given)
        return write_answer(answer, "" if name in _WITHOUT_PLACES else self._say_roots(answer, given.get("source")))

    def _say_roots(self, answer: Answer, asked: object) -> str:
        """Say below which folders the paths of an answer lie, where that is not the one that the agent works in."""
        graph = answer.freshness.graph
        if not graph or self._roots[0] != graph:
            sources = self.service.run("status", {}).lines[0]["sources"]
            self._roots = graph, {each["name"]: each["root"] for each in sources if each["kind"] == "repository"}
        roots = self._roots[1]
        found = {*_list_sources(answer.lines), asked}
        named = {name for name in roots if name in found} or roots.keys()
        if {roots[name] for name in named} <= {str(Path.cwd())}:
            return ""
        said = [roots[name] if len(roots) == 1 else f"{name} in {roots[name]}" for name in sorted(named)]
        return f"paths are below {', '.join(said)}"


def _list_sources(part: object) -> Iterator[str]:
    """List the sources that any part of an answer is of."""
    if isinstance(part, Mapping):
        source = part.get("source")
        yield from (source,) if isinstance(source, str) else ()
        for each in part.values():
            yield from _list_sources(each)
    elif isinstance(part, (list, tuple)):
        for each in part:
            yield from _list_sources(each)


def _go_on(gone: threading.Event) -> None:
    if gone.is_set():
        raise CallCancelled


def write_answer(answer: Answer, place: str = "") -> str:
    """Write an answer: what was found, marked as what it is, and then what is to be said of it.

    Files and definitions are named by whoever wrote the code: inside of the marks they are named, outside counted.
    """
    freshness, left_out = answer.freshness, answer.left_out
    stale = f"changed since the build: {freshness.name_stale()}" if freshness.stale else ""
    ends = [*(f"left out: {each}" for each in left_out), *filter(None, (stale, place))]
    notes = (
        [f"left out: {count_things(len(left_out), 'part')}, told where the data ends; raise budget"] if left_out else []
    )
    notes += [f"note: {said}"] if (said := freshness.say(is_naming=False)) else []
    return "\n".join([mark_data("\n".join([answer.text.strip("\n"), *map(spell_line, ends)])), *notes])
