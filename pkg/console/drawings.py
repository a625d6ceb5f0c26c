"""Draw dependency answers as graphs: Graphviz, Mermaid, and GraphML through networkx."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import click

from pkg.console.settings import is_typed
from pkg.console.streams import emit, show
from pkg.console.trees import view_deps
from pkg.errors import UsageError
from pkg.quoting.hidden_characters import spell_hidden, spell_line
from pkg.retrieval.deps.answer import Answer, Chains, Cycles, Dependencies, Impact, ImportTable, Link, Place, Unused
from pkg.retrieval.deps.coverage_text import format_counts

_DOT_STYLES = {"certain": "solid", "likely": "dashed", "possible": "dotted"}
_MERMAID_ARROWS = {"certain": "-->", "likely": "-.->", "possible": "-.->"}
_MERMAID = {ord(sign): f"#{ord(sign)};" for sign in '#"<>&`\\'}
_DOT = {ord("\\"): "\\\\", ord('"'): '\\"', ord("\n"): "\\n"}


@dataclass(frozen=True, slots=True)
class Drawing:
    """Contents of a drawing: the distinct places and links of an answer, and its line of coverage."""

    places: tuple[Place, ...]
    links: tuple[Link, ...]
    coverage: str


def draw_deps(answer: Answer, form: str) -> str:
    """Render an answer as dot, mermaid or graphml text."""
    drawing = make_drawing(answer)
    return {"dot": draw_dot, "mermaid": draw_mermaid, "graphml": draw_graphml}[form](drawing)


def make_drawing(answer: Answer) -> Drawing:
    """Collect the places and links of an answer; unused definitions have no links."""
    links, alone = _list_links(answer)
    merged = {(link.type, link.start.id, link.end.id, link.rule): link for link in links}
    places = {place.id: place for link in merged.values() for place in (link.start, link.end)}
    places |= {place.id: place for place in alone}
    return Drawing(tuple(places.values()), tuple(merged.values()), format_counts(answer.coverage))


def _list_links(answer: Answer) -> tuple[Iterable[Link], Iterable[Place]]:
    """Return the links of an answer, and places that are drawn even without a link."""
    match answer:
        case Dependencies(target=target, found=found):
            return [each.link for each in found], [target]
        case Chains(start=start, end=end, chains=chains):
            return [link for chain in chains for link in chain], [start, end]
        case Impact(targets=targets, affected=affected):
            return [each.link for each in affected], targets
        case Cycles(cycles=cycles):
            return [link for each in cycles for link in each.around], [each for c in cycles for each in c.members]
        case Unused(found=unused):
            return [], [each.place for each in unused]
        case ImportTable():
            return _list_imports(answer), []


def _list_imports(table: ImportTable) -> list[Link]:
    """Build links from the rows of the table: from file to file or library, by artifact type."""
    links = []
    for row in table.records:
        start = Place(f"{row.source}:{row.file_name}", "File", row.source, row.file_name, 0, row.file_name)
        name = row.target_file or row.library_name or row.artifact
        label = "File" if row.target_file else "Library" if row.library_name else "Import"
        end = Place(
            f"{row.source}:{label}:{name}" if label != "File" else f"{row.source}:{name}",
            label,
            row.source,
            row.target_file or "",
            0,
            name,
        )
        links.append(Link("RESOLVES_TO", start, end, (row.line,), row.artifact_type))
    return links


def draw_dot(drawing: Drawing) -> str:
    """Render Graphviz: solid links are certain, dashed ones likely, dotted ones possible."""
    lines = ["digraph dependencies {", "  rankdir=LR;", "  node [shape=box];"]
    lines += [f'  "{_quote(place.id)}" [label="{_quote(_label(place))}"];' for place in drawing.places]
    for link in drawing.links:
        ends = f'"{_quote(link.start.id)}" -> "{_quote(link.end.id)}"'
        lines.append(f'  {ends} [label="{_quote(_name(link))}" style={_DOT_STYLES[link.confidence]}];')
    return "\n".join([*lines, "}", f"// {spell_line(drawing.coverage)}"]) + "\n"


def draw_mermaid(drawing: Drawing) -> str:
    """Render Mermaid: solid links are certain; dotted ones are labelled likely or possible."""
    numbers = {place.id: f"n{number}" for number, place in enumerate(drawing.places)}
    lines = ["graph LR"]
    for place in drawing.places:
        label = _label(place).translate(_MERMAID).replace("\n", "<br/>")
        lines.append(f'    {numbers[place.id]}["{label}"]')
    for link in drawing.links:
        sure = "" if link.confidence == "certain" else f", {link.confidence}"
        arrow, words = _MERMAID_ARROWS[link.confidence], f"{_name(link)}{sure}".translate(_MERMAID)
        lines.append(f'    {numbers[link.start.id]} {arrow}|"{words}"| {numbers[link.end.id]}')
    return "\n".join([*lines, f"%% {spell_line(drawing.coverage)}"]) + "\n"


def draw_graphml(drawing: Drawing) -> str:
    """Render GraphML, with the coverage as an attribute of the graph."""
    import networkx

    graph = networkx.MultiDiGraph(coverage=_clean(drawing.coverage))
    for place in drawing.places:
        facts = {"kind": place.label, "source": place.source, "path": place.path, "name": place.qualname}
        graph.add_node(_clean(place.id), line=place.line, **{key: _clean(value) for key, value in facts.items()})
    for number, link in enumerate(drawing.links):
        facts = {"type": link.type, "rule": link.rule or "", "confidence": link.confidence, "lines": _join(link.lines)}
        ends = _clean(link.start.id), _clean(link.end.id)
        graph.add_edge(*ends, key=number, **{key: _clean(value) for key, value in facts.items()})
    return "\n".join(networkx.generate_graphml(graph)) + "\n"


def _quote(text: str) -> str:
    return spell_hidden(text).translate(_DOT)


def _label(place: Place) -> str:
    where = f"{place.path}:{place.line}" if place.line else place.label.lower() if not place.path else ""
    name = spell_hidden(place.qualname).replace("\n", " ")
    return f"{name}\n{spell_hidden(where)}" if where else name


def _name(link: Link) -> str:
    words = {"RESOLVES_TO": "IMPORTS"}.get(link.type, link.type)
    return spell_hidden(f"{words} {link.rule}" if link.rule else words).replace("\n", " ")


def _join(lines: Sequence[int]) -> str:
    return ",".join(map(str, lines))


def _clean(text: str) -> str:
    """Escape characters that XML does not allow."""
    return spell_hidden(text)


def emit_deps(answer: Answer, form: str | None, as_json: bool, explain: bool = False) -> None:
    """Write an answer in a format of --format, or as --json asks; raises UsageError for two formats."""
    from pkg.service.operations.deps_lines import deps_lines

    if form not in (None, "json") and as_json and is_typed(click.get_current_context(), "as_json"):
        raise UsageError(f"--json and --format {form} are different forms; give one of them")
    if form in (None, "json"):
        emit(as_json or form == "json", deps_lines(answer), lambda: view_deps(answer, explain))
    elif form == "tree":
        show(view_deps(answer, explain))
    else:
        click.echo(draw_deps(answer, form).encode("utf-8", "replace"), nl=False)
