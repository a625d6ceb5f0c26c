"""The service: answers operations on one store for concurrent callers, and reports how fresh each answer is.

Front ends (HTTP, MCP, the page) call it and nothing below it. Reads never wait for a build: a store gives each reader
one generation.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from pkg.errors import StoreMissingError, UsageError, count_things
from pkg.graph.generation_cache import GenerationCache
from pkg.graph.opening import find_address
from pkg.model import Stale
from pkg.retrieval.freshness import AddedFiles
from pkg.service.operations.catalogue import Operation, Reply, RequestContext, answer_question, find_operation

if TYPE_CHECKING:
    from pkg.models.text_model import TextModel
    from pkg.service.operations.operation_requests import AskRequest

CACHED_ANSWERS = 16  # outlines and maps of whole sources, of a few megabytes each
SEARCHES = ("query", "explore", "prompt")  # operations that may miss code in added files
NAMED_FILES = 3  # stale files named in a text; the lines name all


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """The store and sources to serve, and the operations to allow."""

    store: str | None = None  # None: PKG_STORE, else the user's own
    source: str | None = None  # serve only this source
    model: str | TextModel | None = None  # writes the answers of ask: a name such as gguf:FILE, or an open model
    allow_build: bool = False  # whether callers may update the graph


@dataclass(frozen=True, slots=True)
class Freshness:
    """The state of the graph from which an answer was read, as compared with the current code."""

    generation: int  # of the graph; 0 if there is no graph or the operation needs none
    graph: str = ""  # identifies this generation of this graph
    stale: tuple[Stale, ...] = ()  # files of the answer changed since the build, and files added since
    partial: int = 0  # files of the graph that parsed only in part
    skipped: int = 0  # files left out of the graph
    is_empty: bool = False  # the graph holds no source, so an empty answer proves nothing

    def describe(self, name_files: bool = True) -> str:
        """Return the caveats in one line, "" if there are none. name_files: name stale files instead of counting."""
        caveats = list[str]()
        if self.is_empty:
            caveats.append("the graph is empty, so an empty answer proves nothing; run pkg build")
        if self.stale:
            stale = self.describe_stale() if name_files else count_things(len(self.stale), "file")
            caveats.append(f"changed since the build: {stale}")
        if self.partial or self.skipped:
            counts = [f"{self.partial} only in part"] * bool(self.partial)
            counts += [f"{self.skipped} left out"] * bool(self.skipped)
            caveats.append(f"of the files, {' and '.join(counts)}: what is not found may be in one of these")
        return "; ".join(caveats)

    def describe_stale(self) -> str:
        """Return the first NAMED_FILES stale files with their states; "" if there are none."""
        names = ", ".join(f"{each.path or each.root} ({each.state})" for each in self.stale[:NAMED_FILES])
        more = len(self.stale) - NAMED_FILES
        return names + (f" and {more} more" if more > 0 else "")


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of an operation."""

    operation: str
    lines: tuple[Mapping[str, Any], ...]  # as the command of the same name writes with --json
    text: str  # plain text within the token budget of the request
    freshness: Freshness
    left_out: tuple[str, ...] = ()  # parts that exceeded the budget, and how to get them

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready object; the lines, of which there may be thousands, are not copied."""
        members = {each.name: getattr(self, each.name) for each in fields(self)}
        return members | {"freshness": asdict(self.freshness)}

    def to_text(self) -> str:
        """Return the text, followed by the parts left out and the caveats."""
        notes = [f"left out: {each}" for each in self.left_out]
        notes += [f"note: {caveats}"] if (caveats := self.freshness.describe()) else []
        return "\n".join([self.text, *notes])


class GraphService:
    """Answers operations; safe to call from any number of threads."""

    def __init__(self, options: ServiceOptions = ServiceOptions()) -> None:
        self.options = options
        self.store = find_address(options.store)
        self._lock = threading.Lock()
        self._write_lock = threading.Lock()
        self._model: TextModel | None = None
        self._cache = GenerationCache(CACHED_ANSWERS)
        self._added_files = AddedFiles()

    def close(self) -> None:
        """Close the text model, if one was opened."""
        with self._lock:
            if self._model is not None:
                self._model.close()
                self._model = None

    def run(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        """Answer one operation.

        Raises UsageError for an unknown operation, for invalid arguments and for an operation that this service does
        not allow, and the errors of the pkg.api function of the same name.
        """
        operation = find_operation(name)
        request = self._read_request(operation, arguments)
        if not operation.writes_graph:
            return self._answer(operation, lambda context: self._answer_with_added(context, operation, request))
        with self._write_lock:
            return self._answer(operation, lambda context: operation.answer(context, request))

    def _answer_with_added(self, context: RequestContext, operation: Operation, request: Any) -> Reply:
        """Answer, and report files added since the build as stale if the operation searches."""
        reply = operation.answer(context, request)
        if operation.name not in SEARCHES:
            return reply
        added = self._added_files.find(context.graph.store, context.choose_source(request.source))
        return replace(reply, stale=(*reply.stale, *added))

    def stream_answer(
        self,
        arguments: Mapping[str, Any],
        on_text: Callable[[str], None],
        on_evidence: Callable[[Mapping[str, Any]], None] = lambda line: None,
    ) -> Answer:
        """Answer the operation ask, passing each piece of evidence and then each piece of the text to a callback.

        An exception raised by `on_text` stops the model. Raises the errors of run.
        """
        operation = find_operation("ask")
        request: AskRequest = self._read_request(operation, arguments)
        return self._answer(operation, lambda context: answer_question(context, request, on_text, on_evidence))

    def _read_request(self, operation: Operation, arguments: Mapping[str, Any]) -> Any:
        if operation.writes_graph and not self.options.allow_build:
            raise UsageError(
                f"{operation.name} changes the graph, and this service only reads; start it with --allow-build"
            )
        return operation.read_request(arguments)

    def _answer(self, operation: Operation, answer: Callable[[RequestContext], Reply]) -> Answer:
        """Answer with the freshness from before the reply, as a build may end in between; after it for a build."""
        with RequestContext(self.store, self.options.source, self._open_model, self._cache) as context:
            before = self._find_freshness(context) if not operation.runs_code else Freshness(0)
            reply = answer(context)
            freshness = self._find_freshness(context) if operation.writes_graph else before
        return Answer(operation.name, reply.lines, reply.text, replace(freshness, stale=reply.stale), reply.left_out)

    def _open_model(self) -> TextModel | None:
        model = self.options.model
        if not isinstance(model, str):
            return model
        from pkg.models.registry import open_model

        with self._lock:
            if self._model is None:
                self._model = open_model(model)
            return self._model

    def _find_freshness(self, context: RequestContext) -> Freshness:
        """Return the freshness of the served sources, without the stale files of an answer."""
        try:
            stamp, stats = context.graph.store.stamp(), context.stats
        except StoreMissingError:
            return Freshness(0, is_empty=True)
        return Freshness(
            generation=stats.generation,
            graph=stamp,
            partial=len(stats.partial),
            skipped=len(stats.skipped),
            is_empty=not stats.sources,
        )
