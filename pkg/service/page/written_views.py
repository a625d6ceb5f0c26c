"""Gather the answers that a page needs which is written as one file: those around a name, or the map of a source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from pkg.errors import QueryError
from pkg.service.operations.answer_lines import show_lines
from pkg.service.operations.deps_lines import deps_lines
from pkg.service.operations.map_lines import map_lines
from pkg.service.page.page_file import Lines, name_question, render_page

if TYPE_CHECKING:
    from pkg.api import Graph
    from pkg.model import Stale

MOST_NEIGHBOURS = 60  # whose source and links come along: each adds some ten kilobytes
SHOWN_LINKS = 100  # of one relation, as places.js asks for
MOST_AFFECTED = 200
_WHOLE_PATH = ("File", "Folder", "Library", "Module", "Row")  # labels whose nodes are named by their path alone


@dataclass(frozen=True, slots=True)
class WrittenPage:
    """A page as text, and the files of its answers that are not what the graph was built from any more."""

    text: str
    stale: tuple[Stale, ...]


def render_symbol_page(graph: Graph, name: str, source: str | None, tab: str = "graph") -> WrittenPage:
    """Write the page around a name: its source, links, impact, and the same of what it is linked with.

    Raises QueryError for a name that the graph does not know, or that may mean several things.
    """
    target = asdict(graph.show(name, source=source, limit=1).links.target)
    whole, place = _name(target), target["source"]
    answers = _Answers(graph)
    shown = answers.add_shown(whole, place)
    answers.add_impact(whole, place)
    linked = dict.fromkeys(_name(line) for line in shown if line["type"] == "dependency" and _has_source(line))
    for each in list(linked)[:MOST_NEIGHBOURS]:
        with suppress(QueryError):  # a name that means several things is shown without a link
            answers.add_shown(each, place)
    return answers.render("symbol", {"name": whole, "source": place, "tab": tab}, place)


def render_map_page(graph: Graph, path: str | None, source: str | None) -> WrittenPage:
    """Write the page with the map of a source, or of what lies below a path.

    Raises QueryError for a path that is not there, and without one where there are several sources.
    """
    answers = _Answers(graph)
    found = graph.map(path, source=source)
    lines = list(map_lines(found, with_files=True))
    answers.put("map", {"source": found.source, "files": True, "budget": 0}, lines, found.stale)
    return answers.render("map", {"source": found.source}, found.source)


class _Answers:
    """The answers of a page by the names of their questions."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.found: dict[str, Lines] = {}
        self.stale: dict[Stale, None] = {}  # of all answers, each once, in their order

    def put(self, operation: str, arguments: Mapping[str, Any], lines: Lines, stale: Iterable[Stale]) -> Lines:
        """Put the lines of an answer where the page looks for it, and keep which files of it are stale."""
        self.stale.update(dict.fromkeys(stale))
        self.found[name_question(operation, arguments)] = [_drop_root(line) for line in lines]
        return lines

    def add_shown(self, name: str, source: str) -> Lines:
        """Put what a name is, with its links, and its call sites that are not bound."""
        found = self._graph.show(name, source=source, limit=SHOWN_LINKS)
        self._add_stops(name, source)
        asked = {"name": name, "source": source, "limit": SHOWN_LINKS, "budget": 0}
        return self.put("show", asked, list(show_lines(found)), found.links.coverage.stale)

    def _add_stops(self, name: str, source: str) -> None:
        """Put the call sites of a name that are not bound; a constant has none."""
        asked = {"name": name, "source": source, "direction": "out", "relations": ["unresolved"], "limit": 200}
        try:
            found = self._graph.deps(name, source=source, direction="out", relations=("unresolved",), limit=200)
        except QueryError:
            return
        self.put("deps", asked | {"budget": 0}, list(deps_lines(found)), found.coverage.stale)

    def add_impact(self, name: str, source: str) -> None:
        """Put what may break when a name changes."""
        found = self._graph.impact(name, source=source, limit=MOST_AFFECTED)
        asked = {"names": [name], "source": source, "limit": MOST_AFFECTED, "budget": 0}
        self.put("impact", asked, list(deps_lines(found)), found.coverage.stale)

    def render(self, view: str, facts: Mapping[str, str], source: str) -> WrittenPage:
        """Write the page; where the source lies on this machine stays out of it."""
        status = {"type": "status", "ready": True, "sources": [{"name": source, "root": ""}]}
        self.put("status", {}, [status | {"partial": len(self._graph.stats(source).partial)}], ())
        return WrittenPage(render_page(self.found, f"#/{view}?{urlencode(facts)}"), tuple(self.stale))


def _drop_root(line: Mapping[str, Any]) -> Mapping[str, Any]:
    """Leave out where a source lies on this machine: a file is handed on."""
    return {**line, "stale": [{**each, "root": ""} for each in line["stale"]]} if line.get("stale") else line


def _has_source(line: Mapping[str, Any]) -> bool:
    return bool(line["path"]) and line["label"] not in ("Call", "Import")


def _name(place: Mapping[str, Any]) -> str:
    """Name a place as places.js does."""
    path, qualname = place["path"], place["qualname"]
    is_whole = not path or place["label"] in _WHOLE_PATH or qualname == path
    return str(path or qualname) if is_whole else f"{path}::{qualname}"
