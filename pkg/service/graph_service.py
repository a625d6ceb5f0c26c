"""The service: answer operations about one store, for many who ask at once, and say how fresh each answer is.

Faces (HTTP, MCP, the page) call it and nothing below. Reading never waits for a build: a store gives each reader one
generation.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from pkg.api import find_address
from pkg.errors import StoreMissingError, UsageError, count_things
from pkg.graph.generation_memory import GenerationMemory
from pkg.model import Stale
from pkg.retrieval.added_files import AddedFiles
from pkg.service.desk import Desk
from pkg.service.operations.catalogue import answer_question, find_operation
from pkg.service.operations.operation import Operation, Reply

if TYPE_CHECKING:
    from pkg.models.text_model import TextModel
    from pkg.service.operations.operation_requests import AskRequest

MOST_REMEMBERED = 16  # answers about whole sources, which have some megabytes
SEARCHING = ("query", "explore", "prompt")  # operations that may miss what is in a file that was added
NAMED_FILES = 3  # stale files that a text names; the lines have all


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """What is served, and what is allowed."""

    store: str | None = None  # None: PKG_STORE, else the user's own
    source: str | None = None  # serve this source alone
    model: str | TextModel | None = None  # who writes the answers of ask: gguf:FILE or the like, or one that stays open
    allow_build: bool = False  # whether a caller may have the graph brought up to date


@dataclass(frozen=True, slots=True)
class Freshness:
    """How far an answer can be trusted to be about the code as it is now."""

    generation: int  # of the graph; 0 where there is none, or none was needed
    graph: str = ""  # names this generation of this graph, and no other
    stale: tuple[Stale, ...] = ()  # files of the answer that have changed since the build, and files added since
    partial: int = 0  # files of the graph that did not parse as a whole
    skipped: int = 0  # files that were left out of the graph
    is_empty: bool = False  # the graph holds no source: that nothing is found means nothing

    def say(self, is_naming: bool = True) -> str:
        """Say it in a line; "" where all is as it should be. is_naming: name files, instead of counting them."""
        said = list[str]()
        if self.is_empty:
            said.append("the graph is empty: nothing was built into it, so what is not found may be there; pkg build")
        if self.stale:
            stale = self.name_stale() if is_naming else count_things(len(self.stale), "file")
            said.append(f"changed since the build: {stale}")
        if self.partial or self.skipped:
            counts = [f"{self.partial} only in part"] * bool(self.partial)
            counts += [f"{self.skipped} left out"] * bool(self.skipped)
            said.append(f"of the files, {' and '.join(counts)}: what is not found may be in one of these")
        return "; ".join(said)

    def name_stale(self) -> str:
        """Name the first files that have changed since the build, each with what became of it; "" where none has."""
        names = ", ".join(f"{each.path or each.root} ({each.state})" for each in self.stale[:NAMED_FILES])
        more = len(self.stale) - NAMED_FILES
        return names + (f" and {more} more" if more > 0 else "")


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of an operation."""

    operation: str
    lines: tuple[Mapping[str, Any], ...]  # what the command of the same name writes with --json
    text: str  # for a reader of text, within the budget of the request
    freshness: Freshness
    left_out: tuple[str, ...] = ()  # what the budget had no room for, and how to get it

    def to_json(self) -> dict[str, Any]:
        """Give it as one object; the lines are not copied, for there may be thousands."""
        told = {each.name: getattr(self, each.name) for each in fields(self)}
        return told | {"freshness": asdict(self.freshness)}

    def write(self) -> str:
        """Write the text with all that is to be said of it."""
        notes = [f"left out: {each}" for each in self.left_out]
        notes += [f"note: {said}"] if (said := self.freshness.say()) else []
        return "\n".join([self.text, *notes])


class GraphService:
    """Answers operations; any number of threads may call it at once."""

    def __init__(self, options: ServiceOptions = ServiceOptions()) -> None:
        self.options = options
        self.store = find_address(options.store)
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._model: TextModel | None = None
        self._remembered = GenerationMemory(MOST_REMEMBERED)
        self._added = AddedFiles()

    def close(self) -> None:
        """Free the text model, if one was opened."""
        with self._lock:
            if self._model is not None:
                self._model.close()
                self._model = None

    def run(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        """Answer one operation.

        Raises UsageError for an operation or arguments that there are not, or that this service does not allow, and
        what the function of pkg.api of the same name raises.
        """
        operation = find_operation(name)
        request = self._read(operation, arguments)
        if not operation.is_writing:
            return self._answer(operation, lambda desk: self._tell_added(desk, operation, request))
        with self._writing:
            return self._answer(operation, lambda desk: operation.answer(desk, request))

    def _tell_added(self, desk: Desk, operation: Operation, request: Any) -> Reply:
        """Answer, and where the question was searched for, add the files that came since the build."""
        reply = operation.answer(desk, request)
        if operation.name not in SEARCHING:
            return reply
        added = self._added.find(desk.graph.store, desk.choose_source(request.source))
        return replace(reply, stale=(*reply.stale, *added))

    def ask_aloud(
        self,
        arguments: Mapping[str, Any],
        listen: Callable[[str], None],
        show: Callable[[Mapping[str, Any]], None] = lambda line: None,
    ) -> Answer:
        """Answer the operation ask, and tell `listen` the text piece by piece; what it raises ends the writing.

        show: given each piece of evidence before that. Raises what run raises.
        """
        operation = find_operation("ask")
        request: AskRequest = self._read(operation, arguments)
        return self._answer(operation, lambda desk: answer_question(desk, request, listen, show))

    def _read(self, operation: Operation, arguments: Mapping[str, Any]) -> Any:
        if operation.is_writing and not self.options.allow_build:
            raise UsageError(
                f"{operation.name} changes the graph, and this service only reads; start it with --allow-build"
            )
        return operation.read_request(arguments)

    def _answer(self, operation: Operation, answer: Callable[[Desk], Reply]) -> Answer:
        """Answer, and say of which graph: of a build that ends meanwhile that is the one before."""
        with Desk(self.store, self.options.source, self._open_model, self._remembered) as desk:
            before = self._find_freshness(desk) if not operation.is_running else Freshness(0)
            reply = answer(desk)
            freshness = self._find_freshness(desk) if operation.is_writing else before
        return Answer(operation.name, reply.lines, reply.text, replace(freshness, stale=reply.stale), reply.left_out)

    def _open_model(self) -> TextModel | None:
        named = self.options.model
        if not isinstance(named, str):
            return named
        from pkg.models.registry import open_model

        with self._lock:
            if self._model is None:
                self._model = open_model(named)
            return self._model

    def _find_freshness(self, desk: Desk) -> Freshness:
        """Tell of all that is served what does not depend on the answer; and is remembered."""
        try:
            stamp, stats = desk.graph.store.stamp(), desk.stats
        except StoreMissingError:
            return Freshness(0, is_empty=True)
        left_out = len(stats.skipped)
        return Freshness(stats.generation, stamp, (), len(stats.partial), left_out, not stats.sources)
