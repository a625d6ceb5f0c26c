"""Render the page as one file that opens from disk, with its scripts, styles and answers inlined.

Answers quote untrusted code. They are in a script element of type JSON, with all characters escaped that could end it;
the content security policy allows only our own scripts, by their hash.
"""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from pkg.errors import QueryError, refuse_file
from pkg.quoting.hidden_characters import escape_json
from pkg.service.operations.deps_lines import deps_lines, show_lines
from pkg.service.operations.map_lines import map_lines

if TYPE_CHECKING:
    from pkg.api import Graph
    from pkg.model import Stale


SITE = Path(__file__).parent / "site"
MODULES = (
    "words", "answers", "highlight", "layout", "drawing", "places", "code", "links", "impact", "around", "symbol",
    "search", "map", "app",
)  # fmt: skip
"""The scripts of the page, each after those that it imports."""

Lines = Sequence[Mapping[str, Any]]
_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}
_LINK = '<link rel="stylesheet" href="page/page.css" id="__________cytoscape_stylesheet">'
_APP = '<script type="module" src="page/page.js"></script>'
_IMPORT = re.compile(r"^import \{[^}]*\} from '[^']*';\n", re.MULTILINE)
MOST_NEIGHBOURS = 60  # included with source and links; each adds about ten kilobytes
SHOWN_LINKS = 100  # of one relation, as in places.js
MOST_AFFECTED = 200
_WHOLE_PATH = ("File", "Folder", "Library", "Module", "Row")  # labels whose nodes are named by path only


def name_question(operation: str, arguments: Mapping[str, Any]) -> str:
    """Return the key of a question, as answers.js builds it."""
    return json.dumps([operation, dict(sorted(arguments.items()))], separators=(",", ":"), ensure_ascii=False)


def render_page(answers: Mapping[str, Lines], start: str) -> str:
    """Return the page as HTML, with its answers by the key of their question and the view to open first."""
    style, library, app = _read("page.css"), _read("vendor/cytoscape.min.js"), join_modules()
    policy = (
        f"default-src 'none'; script-src {_hash(library)} {_hash(app)}; style-src {_hash(style)};"
        " base-uri 'none'; form-action 'none'"
    )
    held = json.dumps({"start": start, "answers": answers}, ensure_ascii=False, separators=(",", ":"))
    return _replace(
        _read("page.html"),
        {
            _LINK: f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
            f'<style id="__________cytoscape_stylesheet">{style}</style>',
            _APP: f'<script type="application/json" id="answers">{escape_json(held).translate(_ESCAPES)}</script>\n'
            f"<script>{library}</script>\n"
            f'<script type="module">{app}</script>',
        },
    )


def read_palette() -> str:
    """Return the colours of the page, light and dark, as style rules for other pages."""
    style = _read("page.css")
    return style[: style.index("* {")]


def write_page(path: Path, text: str) -> Path:
    """Write a page and return its path; raises PathError."""
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as fault:
        raise refuse_file(path, fault) from fault
    return path


def _replace(text: str, parts: Mapping[str, str]) -> str:
    """Replace all parts in one pass, so that inserted text is not replaced again."""
    pattern = "|".join(map(re.escape, parts))
    return re.sub(pattern, lambda found: parts[found[0]], text)


def join_modules() -> str:
    """Join all modules into one; their names are unique, so imports can be dropped.

    Fourteen requests, each known only after the answer to the last, would take longer than the rest of the page.
    """
    texts = (_read(f"{name}.js") for name in MODULES)
    return "\n".join(_IMPORT.sub("", text) for text in texts)


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _read(name: str) -> str:
    return (SITE / name).read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class WrittenPage:
    """A page as HTML, and the files of its answers that have changed since the build."""

    text: str
    stale: tuple[Stale, ...]


def render_symbol_page(graph: Graph, name: str, source: str | None, tab: str = "graph") -> WrittenPage:
    """Return the page of a name with its source, links and impact, and the source and links of its neighbours.

    Raises QueryError for an unknown or ambiguous name.
    """
    target = asdict(graph.show(name, source=source, limit=1).links.target)
    whole, place = _name(target), target["source"]
    answers = _Answers(graph)
    shown = answers.add_shown(whole, place)
    answers.add_impact(whole, place)
    linked = dict.fromkeys(_name(line) for line in shown if line["type"] == "dependency" and _has_source(line))
    for each in list(linked)[:MOST_NEIGHBOURS]:
        with suppress(QueryError):  # an ambiguous name is shown without a link
            answers.add_shown(each, place)
    return answers.render("symbol", {"name": whole, "source": place, "tab": tab}, place)


def render_map_page(graph: Graph, path: str | None, source: str | None) -> WrittenPage:
    """Return the page with the map of a source, or of a folder of it.

    Raises QueryError for an unknown path, and if there are several sources and none is given.
    """
    answers = _Answers(graph)
    found = graph.map(path, source=source)
    lines = list(map_lines(found, with_files=True))
    answers.put("map", {"source": found.source, "files": True, "budget": 0}, lines, found.stale)
    return answers.render("map", {"source": found.source}, found.source)


class _Answers:
    """The answers of a page by the key of their question."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.found: dict[str, Lines] = {}
        self.stale: dict[Stale, None] = {}  # an ordered set, of all answers

    def put(self, operation: str, arguments: Mapping[str, Any], lines: Lines, stale: Iterable[Stale]) -> Lines:
        """Add the lines of an answer and its stale files."""
        self.stale.update(dict.fromkeys(stale))
        self.found[name_question(operation, arguments)] = [_drop_root(line) for line in lines]
        return lines

    def add_shown(self, name: str, source: str) -> Lines:
        """Add the definition of a name with its links, and its unresolved call sites."""
        found = self._graph.show(name, source=source, limit=SHOWN_LINKS)
        self._add_unresolved(name, source)
        arguments = {"name": name, "source": source, "limit": SHOWN_LINKS, "budget": 0}
        return self.put("show", arguments, list(show_lines(found)), found.links.coverage.stale)

    def _add_unresolved(self, name: str, source: str) -> None:
        """Add the unresolved call sites of a name; a constant has none."""
        arguments = {"name": name, "source": source, "direction": "out", "relations": ["unresolved"], "limit": 200}
        try:
            found = self._graph.deps(name, source=source, direction="out", relations=("unresolved",), limit=200)
        except QueryError:
            return
        self.put("deps", arguments | {"budget": 0}, list(deps_lines(found)), found.coverage.stale)

    def add_impact(self, name: str, source: str) -> None:
        """Add the impact of a name."""
        found = self._graph.impact(name, source=source, limit=MOST_AFFECTED)
        arguments = {"names": [name], "source": source, "limit": MOST_AFFECTED, "budget": 0}
        self.put("impact", arguments, list(deps_lines(found)), found.coverage.stale)

    def render(self, view: str, facts: Mapping[str, str], source: str) -> WrittenPage:
        """Return the page, without the path of the source on this machine."""
        status = {"type": "status", "ready": True, "sources": [{"name": source, "root": ""}]}
        self.put("status", {}, [status | {"partial": len(self._graph.stats(source).partial)}], ())
        return WrittenPage(render_page(self.found, f"#/{view}?{urlencode(facts)}"), tuple(self.stale))


def _drop_root(line: Mapping[str, Any]) -> Mapping[str, Any]:
    """Drop the paths of sources on this machine, as the written page may be shared."""
    return {**line, "stale": [{**each, "root": ""} for each in line["stale"]]} if line.get("stale") else line


def _has_source(line: Mapping[str, Any]) -> bool:
    return bool(line["path"]) and line["label"] not in ("Call", "Import")


def _name(place: Mapping[str, Any]) -> str:
    """Return the name of a place, as places.js builds it."""
    path, qualname = place["path"], place["qualname"]
    is_whole = not path or place["label"] in _WHOLE_PATH or qualname == path
    return str(path or qualname) if is_whole else f"{path}::{qualname}"
