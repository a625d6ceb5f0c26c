"""JSON-ready lines of answers about dependencies, as every front end of the service and every command writes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from pkg.retrieval.deps.answer import (
    Answer,
    CallCoverage,
    Chains,
    Cycles,
    Dependencies,
    Impact,
    ImportTable,
    Unused,
)

if TYPE_CHECKING:
    from pkg.retrieval.show import Shown


def show_lines(shown: Shown) -> Iterator[dict[str, Any]]:
    """Yield one line per definition of the name, then its links and the coverage line as `pkg deps` does."""
    for definition in shown.definitions:
        yield {"type": "definition", **asdict(definition)}
    yield from deps_lines(shown.links)


@singledispatch
def deps_lines(answer: Answer) -> Iterator[dict[str, Any]]:
    """Yield one line per result, then the coverage line; raises TypeError for another class."""
    raise TypeError(f"no lines for {type(answer).__name__}; expected an answer of Graph.deps")


@deps_lines.register(Dependencies)
def _list_links(answer: Dependencies) -> Iterator[dict[str, Any]]:
    yield {"type": "target", **asdict(answer.target)}
    yield from ({"type": "entry", **asdict(entry)} for entry in answer.entries)
    for each in answer.found:
        link = each.link
        facts = {"relation": each.relation, "depth": each.depth, "of": each.of, **asdict(each.place)}
        sites = {"at": link.start.path, "lines": list(link.lines), "rule": link.rule, "confidence": link.confidence}
        more = {"text": link.text} if link.text else {}
        more |= {"inside": each.inside.qualname} if each.inside else {}
        yield {"type": "dependency", **facts, **sites, **more}
    yield _coverage_line(answer.coverage, direction=answer.direction, left_out=dict(answer.left_out))


@deps_lines.register(Chains)
def _list_chains(answer: Chains) -> Iterator[dict[str, Any]]:
    for chain in answer.chains:
        yield {"type": "chain", "length": len(chain), "hops": [asdict(link) for link in chain]}
    ends = {"start": asdict(answer.start), "end": asdict(answer.end)}
    yield _coverage_line(answer.coverage, **ends, depth=answer.depth, left_out=answer.left_out)


@deps_lines.register(Impact)
def _list_impact(answer: Impact) -> Iterator[dict[str, Any]]:
    yield from ({"type": "target", **asdict(place)} for place in answer.targets)
    yield from ({"type": "change", **asdict(each)} for each in answer.changes)
    for each in answer.affected:
        facts = {"distance": each.distance, "confidence": each.confidence, "is_test": each.is_test}
        link = {"relation": each.link.type, "needs": each.link.end.id, "lines": list(each.link.lines)}
        yield {"type": "affected", **facts, **asdict(each.place), **link, "rule": each.link.rule}
    for reached in answer.entries:
        facts = {"confidence": reached.confidence, "of": reached.place.id, "qualname": reached.place.qualname}
        yield {"type": "entry", **asdict(reached.entry), **facts}
    counts = {"affected": answer.total, "tests": answer.tests, "only_possible": answer.possible, "depth": answer.depth}
    yield _coverage_line(answer.coverage, **counts, left_out=answer.left_out)


@deps_lines.register(Cycles)
def _list_cycles(answer: Cycles) -> Iterator[dict[str, Any]]:
    for each in answer.cycles:
        yield {"type": "cycle", **asdict(each)}
    counts = {"import_cycles": answer.imports, "call_cycles": answer.calls, "recursive": answer.recursive}
    yield _coverage_line(answer.coverage, **counts, left_out=answer.left_out)


@deps_lines.register(Unused)
def _list_unused(answer: Unused) -> Iterator[dict[str, Any]]:
    for each in answer.found:
        yield {"type": "unused", **asdict(each.place), "doubts": list(each.doubts)}
    counts = {"unused": answer.total, "definitions": answer.definitions, "spared": dict(answer.spared)}
    yield _coverage_line(answer.coverage, **counts, left_out=answer.left_out)


@deps_lines.register(ImportTable)
def _list_imports(answer: ImportTable) -> Iterator[dict[str, Any]]:
    for each in answer.records:
        yield {"type": "import", **asdict(each)}
    types = [{"category": kind, "artifact_type": name, "count": count} for kind, name, count in answer.artifact_types]
    totals = {"imports": answer.total, "files": answer.files, "categories": dict(answer.categories)}
    yield {"type": "totals", **totals, "artifact_types": types}
    yield _coverage_line(answer.coverage, left_out=answer.left_out)


def _coverage_line(coverage: CallCoverage, **facts: object) -> dict[str, Any]:
    named = coverage.named and {"text": coverage.named.describe(), **asdict(coverage.named)}
    return {"type": "coverage", **asdict(coverage), "named": named, **facts}
