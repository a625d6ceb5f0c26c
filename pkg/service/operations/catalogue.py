"""All operations: the answers of the commands of the same names, as lines and as a short text."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from pkg.api import Graph, open_graph
from pkg.errors import StoreMissingError, UsageError, count_things, shorten
from pkg.model import Stale
from pkg.retrieval.deps.answer_sections import fit_lines
from pkg.retrieval.link_questions.link_answers import write_link_answers
from pkg.service.operations import answer_lines as lines_of
from pkg.service.operations import answer_texts as texts
from pkg.service.operations import operation_requests as requests
from pkg.service.operations.deps_lines import deps_lines, show_lines
from pkg.service.operations.map_lines import map_lines, write_map

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import ErrorDetails

    from pkg.generation.ask.repository_answer import RepositoryAnswer
    from pkg.graph.generation_cache import GenerationCache
    from pkg.graph.store import StoreStats
    from pkg.models.text_model import Listen, TextModel
    from pkg.retrieval.deps.answer import Answer
    from pkg.retrieval.show import Definition


Found = TypeVar("Found")


class RequestContext:
    """The graph, model and cache of one request; used by one thread.

    Each request opens the graph: that takes a millisecond, and a store that was rebuilt, moved or restarted since the
    last request needs no special handling.
    """

    def __init__(
        self,
        store: str,
        source: str | None,
        open_model: Callable[[], TextModel | None],
        cache: GenerationCache,
    ) -> None:
        self.store = store
        self._source = source
        self._open_model = open_model
        self._cache = cache

    def __enter__(self) -> RequestContext:
        return self

    def __exit__(self, *_: object) -> None:
        if "graph" in self.__dict__:
            self.graph.close()

    @cached_property
    def graph(self) -> Graph:
        """The graph; raises StoreMissingError if there is none."""
        return open_graph(self.store)

    @cached_property
    def model(self) -> TextModel | None:
        """The text model that the service was started with."""
        return self._open_model()

    @property
    def stats(self) -> StoreStats:
        """Statistics of the served sources, counted once per generation; raises StoreMissingError without a graph."""
        return self.get_cached("stats", lambda: self.graph.stats(self._source))

    def choose_source(self, requested: str | None) -> str | None:
        """Return the source to search; raises UsageError for a source that the service does not serve."""
        if self._source is None:
            return requested
        if requested not in (None, self._source):
            raise UsageError(f"source '{requested}' is not served here; expected '{self._source}', or none")
        return self._source

    def get_cached(self, key: Hashable, read: Callable[[], Found]) -> Found:
        """Return the cached result of a slow read for this generation of the graph, or read it."""
        return self._cache.get(self.graph.store, key, read)


LONGEST_VALUE = 80  # characters of an invalid value that its error shows


@dataclass(frozen=True, slots=True)
class Reply:
    """The result of an operation."""

    lines: tuple[Mapping[str, Any], ...]
    """As the command of the same name writes with --json."""
    text: str
    """The same as plain text, within the token budget of the request."""
    stale: tuple[Stale, ...] = ()  # files of the result that have changed since the build
    left_out: tuple[str, ...] = ()  # parts that exceeded the budget, and how to get them


@dataclass(frozen=True)
class Operation:
    """One kind of request to a served graph."""

    name: str
    summary: str
    """One sentence in the imperative."""
    request: type
    """A frozen dataclass; its fields with their defaults, bounds and descriptions are the arguments."""
    answer: Callable[[RequestContext, Any], Reply]
    writes_graph: bool = False  # refused unless the service allows it
    runs_code: bool = False  # runs code of the request in the sandbox, and reads no graph

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        """The pydantic adapter that validates and describes the arguments."""
        from pydantic import TypeAdapter

        return TypeAdapter(self.request)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema (2020-12) of the arguments."""
        return self.adapter.json_schema()

    def read_request(self, arguments: Mapping[str, Any]) -> Any:
        """Build the request from arguments; numbers and booleans may be strings.

        Raises UsageError that names each missing, unknown or invalid argument.
        """
        return self._read(lambda: self.adapter.validate_python(dict(arguments)))

    def check_strictly(self, arguments: Mapping[str, Any]) -> None:
        """Raise UsageError for invalid arguments, and for a value whose type differs from the schema."""
        self._read(lambda: self.adapter.validate_json(json.dumps(arguments), strict=True))

    def _read(self, validate: Callable[[], Any]) -> Any:
        from pydantic import ValidationError

        try:
            return validate()
        except ValidationError as fault:
            known = ", ".join(self.schema.get("properties", {})) or "none"
            faults = "; ".join(_list_faults(fault.errors(include_url=False, include_context=False)))
            raise UsageError(f"{self.name}: {faults}; its arguments are: {known}") from fault


def _list_faults(faults: Iterable[ErrorDetails]) -> Iterator[str]:
    """Yield the first error of each argument; pydantic reports one for each member of a union."""
    seen = set[str]()
    for each in faults:
        name = str(each["loc"][0]) if each["loc"] else "arguments"
        if name in seen:
            continue
        seen.add(name)
        if each["type"] == "missing":
            yield f"'{name}' is missing"
        elif each["type"] == "unexpected_keyword_argument":
            yield f"'{name}' is unknown"
        else:
            yield f"'{name}': {each['msg'].lower()}, seen {shorten(repr(each['input']), LONGEST_VALUE)}"


def _status(context: RequestContext, request: requests.StatusRequest) -> Reply:
    """Return the state of the service; a missing graph is a state, not an error."""
    try:
        stats = context.stats
    except StoreMissingError as fault:
        return Reply(({"type": "status", "ready": False, "reason": str(fault), "sources": []},), str(fault))
    sources = [asdict(each) for each in stats.sources]
    line = {
        "type": "status",
        "ready": bool(sources),
        "generation": stats.generation,
        "encoder": stats.encoder,
        "nodes": dict(stats.nodes),
        "partial": len(stats.partial),
        "skipped": len(stats.skipped),
        "sources": sources,
    }
    names = ", ".join(f"{each['name']} ({each['root']})" for each in sources) or "no source"
    counts = ", ".join(f"{stats.nodes.get(label, 0):,} {label}" for label in ("File", "Class", "Function", "Chunk"))
    return Reply((line,), f"{names}: {counts}; generation {stats.generation}")


def _stats(context: RequestContext, request: requests.StatsRequest) -> Reply:
    from pkg.retrieval.deps.neighbours import list_overflows

    source = context.choose_source(None)
    overflows = list_overflows(context.graph.store, source)
    line = lines_of.stats_line(replace(context.graph.stats(source), overflows=overflows))
    if source is not None:  # these cover the whole graph, including sources that are not served
        for name in ("parts", "bytes", "audits", "outdated_audits"):
            del line[name]
    facts = [f"{name}: {value}" for name, value in line.items() if name in ("generation", "encoder", "nodes", "bytes")]
    return Reply((line,), "\n".join(facts))


def _explore(context: RequestContext, request: requests.ExploreRequest) -> Reply:
    from pkg.retrieval.explore import MAX_LEFT_OUT

    found = context.graph.explore(
        request.text,
        budget=request.budget,
        source=context.choose_source(request.source),
        path=request.path,
        tests=request.tests,
    )
    lines = tuple(lines_of.explore_lines(found))
    if found.fits is False or not (found.pieces or found.left_out or found.links):  # unhelpful code would cost tokens
        return Reply(lines, "\n".join(texts.write_nearest(found)), found.stale)
    named = ", ".join(f"{place.qualname} ({place.path}:{place.line})" for place in found.left_out[:MAX_LEFT_OUT])
    more = len(found.left_out) - MAX_LEFT_OUT
    left_out = (f"{named}{f' and {more} more' if more > 0 else ''}: raise budget, or show one",) if named else ()
    text = texts.write_explored(found) or texts.describe_over_budget(request.budget)
    return Reply(lines, "\n".join([text, *found.notes]), found.stale, left_out)


def _query(context: RequestContext, request: requests.QueryRequest) -> Reply:
    result = context.graph.query(
        request.text,
        mode=request.mode,
        top_k=request.top_k,
        source=context.choose_source(request.source),
        path=request.path,
        kind=request.kind,
        blocks=request.blocks,
        prune=request.prune,
        helpers=request.helpers,
        hops=request.hops,
        callers=request.callers,
        tests=request.tests,
        budget=request.budget,
    )
    lines = tuple(lines_of.query_lines(result, request.explain))
    head = ["nothing fits; nearest, unlikely to help:"] if result.hits and result.coverage.fits is False else []
    body = texts.write_hits(lines) if result.hits else ("nothing found",)
    more = "raise budget, or lower top_k"
    return _reply(lines, (*head, *body, *result.coverage.notes), request.budget, result.coverage.stale, more)


def _prompt(context: RequestContext, request: requests.PromptRequest) -> Reply:
    graph = context.graph
    result = graph.query(
        request.text,
        mode=request.mode,
        top_k=request.top_k,
        source=context.choose_source(request.source),
        path=request.path,
        prune=request.prune,
        helpers=request.helpers,
        hops=request.hops,
        budget=request.budget,
    )
    text = graph.prompt(result)
    hits = [f"{hit.path}:{hit.start_line}" for hit in result.hits]
    line = {"type": "prompt", "text": text, "fits": result.coverage.fits, "places": hits}
    return Reply((line,), text, result.coverage.stale)


def _ask(context: RequestContext, request: requests.AskRequest) -> Reply:
    return answer_question(context, request)


def answer_question(
    context: RequestContext,
    request: requests.AskRequest,
    on_text: Listen | None = None,
    on_evidence: Callable[[Mapping[str, Any]], None] = lambda line: None,
) -> Reply:
    """Answer a question in words, passing each piece of evidence and then each piece of the text to a callback."""
    from pkg.generation.ask.ask_options import AskOptions
    from pkg.retrieval.evidence.evidence_options import EvidenceOptions

    source = context.choose_source(request.source)
    evidence = EvidenceOptions(request.retriever, request.tokens, 0, source, request.path or None, request.tests)
    options = AskOptions(evidence, max_tokens=request.max_tokens)

    def show_evidence(found: RepositoryAnswer) -> None:
        for line in lines_of.evidence_lines(found):
            on_evidence(line)

    answer = context.graph.open_conversation(context.model, options).ask(request.question, on_text, show_evidence)
    lines = tuple(lines_of.answer_lines(answer))
    stale = answer.gathered.stale
    links = answer.gathered.links
    if links is not None and links.is_whole and not answer.is_refused:
        return Reply(lines, write_link_answers(links, request.budget), stale)
    if links is not None and not answer.model and not answer.is_refused:
        pieces = [part for each in answer.gathered.pieces for part in (f"{each.span}  {each.title}", each.content, "")]
        text = write_link_answers(links, request.budget // 2)
        return _reply(lines, [text, "", *pieces], request.budget, stale, "raise budget")
    if answer.model or answer.is_refused:
        return Reply(lines, _write_answer(answer), stale)
    pieces = [part for each in answer.gathered.pieces for part in (f"{each.span}  {each.title}", each.content, "")]
    return _reply(lines, pieces or answer.notes, request.budget, stale, "raise budget")


def _write_answer(answer: RepositoryAnswer) -> str:
    places = "\n".join(f"[{n}] {piece.span}" for n, piece in zip(answer.numbers, answer.gathered.pieces, strict=True))
    return f"{answer.text}\n{answer.reason}\n\n{places}" if answer.is_refused else f"{answer.text}\n\n{places}"


def _show(context: RequestContext, request: requests.ShowRequest) -> Reply:
    shown = context.graph.show(request.name, source=context.choose_source(request.source), limit=request.limit)

    def outline(definition: Definition) -> list[str]:
        return texts.list_inside(context.graph.outline(definition.path, source=definition.source, budget=0), definition)

    text, left_out = texts.write_shown(shown, request.budget, outline)
    return Reply(tuple(show_lines(shown)), text, shown.links.coverage.stale, left_out)


def _deps(context: RequestContext, request: requests.DepsRequest) -> Reply:
    answer = context.graph.deps(
        request.name,
        question=request.question,
        to=request.to,
        source=context.choose_source(request.source),
        depth=request.depth,
        direction=request.direction,
        limit=request.limit,
        relations=tuple(request.relations),
    )
    return _reply_links(answer, request.budget)


def _impact(context: RequestContext, request: requests.ImpactRequest) -> Reply:
    answer = context.graph.impact(
        *request.names,
        diff=request.diff,
        staged=request.staged,
        entries=request.entries,
        source=context.choose_source(request.source),
        depth=request.depth,
        limit=request.limit,
        relations=tuple(request.relations),
    )
    return _reply_links(answer, request.budget)


def _reply_links(answer: Answer, budget: int) -> Reply:
    text, cut = texts.write_links(answer, budget)
    left_out = (f"{', '.join(cut)}: raise budget",) if cut else ()
    text = text or texts.describe_over_budget(budget)
    return Reply(tuple(deps_lines(answer)), text, answer.coverage.stale, left_out)


def _outline(context: RequestContext, request: requests.OutlineRequest) -> Reply:
    from pkg.retrieval.outline import mark_outline

    source, budget = context.choose_source(request.source), request.budget
    key = "outline", request.path, source, budget
    found = context.get_cached(key, lambda: context.graph.outline(request.path, source=source, budget=budget))
    found = mark_outline(context.graph.store, found)
    files, definitions = found.left_out_files, found.left_out_definitions
    more = (f"{files} files, {definitions} definitions: raise budget, or outline a folder",)
    left_out = more if files or definitions else ()
    text = "\n".join(texts.write_outline(found)) or (texts.describe_over_budget(budget) if left_out else "")
    return Reply(tuple(lines_of.outline_lines(found)), text, found.stale, left_out)


def _map(context: RequestContext, request: requests.MapRequest) -> Reply:
    from pkg.retrieval.deps.package_map import mark_map

    source = context.choose_source(request.source)
    found = context.get_cached(("map", request.path, source), lambda: context.graph.map(request.path, source=source))
    found = mark_map(context.graph.store, found)
    lines = tuple(map_lines(found, request.files))
    return _reply(lines, write_map(found), request.budget, found.stale, "raise budget, or map a folder")


def _rerank(context: RequestContext, request: requests.RerankRequest) -> Reply:
    from pkg.api import rank_candidates
    from pkg.rerank.candidates import STAGES
    from pkg.rerank.tasks import outcome_line

    stages = tuple(request.stages) or STAGES
    ranking = rank_candidates(request.query, request.candidates, examples=request.examples, stages=stages)
    line = outcome_line(ranking)
    return _reply((line,), texts.write_ranking(line), request.budget, (), "raise budget")


def _build(context: RequestContext, request: requests.BuildRequest) -> Reply:
    from pkg.model import Skip

    reports = context.graph.refresh(context.choose_source(request.source))
    lines, parts = list[Mapping[str, Any]](), list[str]()
    for each in reports:
        if isinstance(each, Skip):
            lines.append({"type": "skipped", "source": each.path, "reason": each.reason})
            parts.append(f"{each.path}: not read, {each.reason}")
        else:
            lines.append(lines_of.build_line(each))
            parts.append(each.describe())
    return Reply(tuple(lines), "\n".join(parts) or "nothing to build: the graph has no source")


def _reply(
    lines: Iterable[Mapping[str, Any]], body: Iterable[str], budget: int, stale: tuple[Any, ...], more: str
) -> Reply:
    text, count = fit_lines(body, budget)
    text = text or (texts.describe_over_budget(budget) if count else "")
    return Reply(tuple(lines), text, stale, (f"{count_things(count, 'line')}: {more}",) if count else ())


OPERATIONS: Mapping[str, Operation] = {
    each.name: each
    for each in (
        Operation("explore", "Answer how something works with code and its calls.", requests.ExploreRequest, _explore),
        Operation("show", "Show the source of a name, its callers and callees.", requests.ShowRequest, _show),
        Operation("deps", "Find what depends on what.", requests.DepsRequest, _deps),
        Operation("impact", "Find what may break when code changes.", requests.ImpactRequest, _impact),
        Operation(
            "rerank",
            "Choose the best of several answers by running them.",
            requests.RerankRequest,
            _rerank,
            runs_code=True,
        ),
        Operation("query", "Find blocks or functions for a question.", requests.QueryRequest, _query),
        Operation("prompt", "Pack a prompt with code for a question.", requests.PromptRequest, _prompt),
        Operation("ask", "Answer a question in words, with checked citations.", requests.AskRequest, _ask),
        Operation("outline", "Outline a file, a folder or a source.", requests.OutlineRequest, _outline),
        Operation("map", "Map which folder imports which, with cycles marked.", requests.MapRequest, _map),
        Operation("status", "Report what is served and how fresh it is.", requests.StatusRequest, _status),
        Operation("stats", "Count what the graph holds.", requests.StatsRequest, _stats),
        Operation("build", "Update the graph.", requests.BuildRequest, _build, writes_graph=True),
    )
}
"""Operations by name, the most frequent first."""


def find_operation(name: str) -> Operation:
    """Return the operation of a name; raises UsageError for an unknown name."""
    found = OPERATIONS.get(name)
    if found is None:
        raise UsageError(f"unknown operation {name[:100]!r}; expected one of: {', '.join(OPERATIONS)}")
    return found
