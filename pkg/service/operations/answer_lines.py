"""JSON-ready lines of answers, as every front end of the service and every command writes them for programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pkg.generation.ask.repository_answer import RepositoryAnswer, Statement
    from pkg.graph.store import StoreStats
    from pkg.indexing.report import BuildReport
    from pkg.model import LocalError, QueryResult
    from pkg.retrieval.deps.link_facts import LinkFact
    from pkg.retrieval.explore import Exploration
    from pkg.retrieval.link_questions.link_answers import LinkAnswer
    from pkg.retrieval.outline_answer import CodeOutline


_HIT_FIELDS = (
    "rank", "label", "id", "source", "path", "qualname", "kind", "start_line", "end_line", "start_col", "score",
    "score_pruned", "cosine", "content", "pruned_content", "same_content",
)  # fmt: skip
_DOCSTRING_FIELDS = ("docstring", "docstring_source")  # of functions alone
_HEAD_FIELDS = ("signature", "class_header", "summary")  # of functions and blocks that have them


def build_line(report: BuildReport) -> dict[str, Any]:
    """Return the report of a build as one line."""
    return {"type": "build", "changed": report.changed, **asdict(report), "errors": _list_errors(report.errors)}


def _list_errors(errors: Iterable[LocalError]) -> list[dict[str, Any]]:
    """List local errors without their tracebacks, which only a terminal shows."""
    return [{name: value for name, value in asdict(each).items() if name != "trace"} for each in errors]


def query_lines(result: QueryResult, explain: bool = False) -> Iterator[dict[str, Any]]:
    """Yield one line per hit, then the coverage line, as docs/commands.md describes them."""
    for hit in result.hits:
        line = {"type": "hit"} | {name: getattr(hit, name) for name in _HIT_FIELDS}
        line |= {name: text for name in _DOCSTRING_FIELDS + _HEAD_FIELDS if (text := getattr(hit, name)) is not None}
        line |= {"fits": result.coverage.fits, "has_code": hit.has_code, "same_function": hit.same_function}
        yield line | {
            "pruned": [asdict(cut) for cut in hit.pruned],
            "helpers": [asdict(helper) for helper in hit.helpers],
            **({"functions": [asdict(place) for place in hit.functions]} if hit.functions else {}),
            **({"twins": list(hit.twins)} if hit.twins else {}),
            "is_stale": hit.is_stale,
        }
    coverage = {"type": "coverage", **asdict(result.coverage)}
    yield coverage | ({"explain": list(result.explain)} if explain else {})


def explore_lines(found: Exploration) -> Iterator[dict[str, Any]]:
    """Yield one line per answer about links, per piece, then per call, caller or use, then the coverage line."""
    if found.links is not None:
        yield from map(_describe_links, found.links.answers)
    for piece in found.pieces:
        yield {"type": "piece", **asdict(piece)}
    for name, ties in (("call", found.calls), ("caller", found.callers), ("use", found.uses)):
        for tie in ties:
            yield {"type": name, **asdict(tie)}
    left_out = [asdict(place) for place in found.left_out]
    yield {
        "type": "coverage",
        "fits": found.fits,
        "tokens": found.tokens,
        "left_out": left_out,
        "notes": list(found.notes),
        "stale": [asdict(each) for each in found.stale],
    }


def _describe_links(answer: LinkAnswer) -> dict[str, Any]:
    found = {section.title: list(section.lines) for section in answer.sections}
    lines = [asdict(each) for each in answer.lines]
    facts = {"relation": answer.kind, "title": answer.title, "target": asdict(answer.place)}
    return {"type": "links", **facts, "found": found, "lines": lines, "notes": list(answer.notes)}


def outline_lines(outline: CodeOutline) -> Iterator[dict[str, Any]]:
    """Yield one line per folder, one per file with its definitions, then the coverage line."""
    for folder in outline.folders:
        yield {"type": "folder", **asdict(folder)}
    for file in outline.files:
        yield {"type": "file", **asdict(file)}
    counts = asdict(outline)
    del counts["folders"], counts["files"]
    left_out = {"files": outline.left_out_files, "definitions": outline.left_out_definitions}
    yield {"type": "coverage", **counts, "left_out": left_out}


def evidence_lines(answer: RepositoryAnswer) -> Iterator[dict[str, Any]]:
    """Yield the evidence of an answer, one line per piece."""
    for number, piece in zip(answer.numbers, answer.gathered.pieces, strict=True):
        yield {"type": "evidence", "number": number, **asdict(piece)}


def answer_lines(answer: RepositoryAnswer) -> Iterator[dict[str, Any]]:
    """Yield the evidence, one line per piece, then the answer with its citations, as docs/ask.md describes them."""
    yield from evidence_lines(answer)
    yield {
        "type": "answer",
        "question": answer.question,
        "text": answer.text,
        "written": answer.written,
        "refused": answer.is_refused,
        "reason": answer.reason,
        "statements": [_describe(statement) for statement in answer.statements],
        "places": answer.places,
        "wrong_citations": len(answer.wrong),
        "relations": [] if answer.gathered.links is None else [each.title for each in answer.gathered.links.answers],
        "fits": answer.gathered.fits,
        "shown": len(answer.shown),
        "left_out": answer.gathered.left_out,
        "looked_at": answer.gathered.looked_at,
        "model": answer.model,
        "is_cut": answer.is_cut,
        "notes": list(answer.notes),
        "stale": [asdict(each) for each in answer.gathered.stale],
        "usage": asdict(answer.usage),
    }


def _describe(statement: Statement) -> dict[str, Any]:
    return {
        "text": statement.text,
        "supported": statement.is_supported,
        "verdict": statement.verdict,
        "links": [_describe_link(each) for each in statement.links],
        "citations": [asdict(each) for each in statement.citations],
        "unknown_names": list(statement.unknown_names),
    }


def _describe_link(fact: LinkFact) -> dict[str, Any]:
    claim = fact.claim
    verb = f"not: {claim.verb}" if claim.is_negated else claim.verb
    return {"start": claim.start, "verb": verb, "end": claim.end, "holds": fact.holds, "place": fact.place}


def stats_line(stats: StoreStats) -> dict[str, Any]:
    """Return the statistics of a store as one line."""
    return {
        "type": "stats",
        **asdict(stats),
        "fact_relations": stats.fact_relations,
        "repeated": stats.repeated,
        "errors": _list_errors(stats.errors),
        "overflows": [each._asdict() for each in stats.overflows],
    }
