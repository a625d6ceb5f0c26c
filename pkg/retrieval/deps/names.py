"""Find the target of a name given by a user: path:line, a path, a qualified or bare name; suggest similar names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from pkg.errors import QueryError
from pkg.model import Label, Node, NodeFilter, Source
from pkg.retrieval.deps.answer import Place, make_place
from pkg.retrieval.deps.paths import derive_module, find_files, find_modules, list_sources, looks_like_path

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore


SUGGESTIONS = 3
SEARCHED = 50  # functions that share a word with the name


def suggest_names(store: GraphStore, name: str, source: str | None) -> list[str]:
    """Return up to three similar names: of functions and constants that share a word, else of all."""
    from pkg.terms.term_weights import weigh_terms  # loads numpy, which a known name does not need

    last = name.rpartition(":")[2].rpartition(".")[2] or name
    terms, where = weigh_terms(last), NodeFilter(source=source)
    searches = [store.text_search(label, terms, SEARCHED, where) for label in (Label.FUNCTION, Label.CONSTANT)]
    shared = [match.id for found in searches for match in found.matches]
    names = {node.name: node.qualname for node in store.get(shared)}
    return _choose(last, names) or _choose(last, {each: each for each in _scan(store, source)})


def _choose(name: str, names: dict[str, str]) -> list[str]:
    folded = {each.lower(): shown for each, shown in sorted(names.items())}
    return [folded[each] for each in get_close_matches(name.lower(), folded, SUGGESTIONS)]


def _scan(store: GraphStore, source: str | None) -> Iterator[str]:
    return (node.name for node in store.nodes((Label.FUNCTION_NAME, Label.CLASS, Label.CONSTANT), source))


SHOWN_CANDIDATES = 20  # of an ambiguous name

_LINE = re.compile(r"(.+):(\d+)")
DEFINITIONS = (Label.FUNCTION, Label.CLASS)
NAMED = (*DEFINITIONS, Label.CONSTANT)


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a question: one definition, constant or file, and the definitions inside it.

    Definitions of one path and qualified name (overloads, a property and its setter) are one target.
    """

    nodes: tuple[Node, ...]
    inside: tuple[Node, ...]

    @property
    def place(self) -> Place:
        """Return the place of the target."""
        return make_place(self.nodes[0])

    @property
    def is_constant(self) -> bool:
        """Return whether it is a constant or field, which has only readers."""
        return self.nodes[0].label is Label.CONSTANT

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the ids of the target and of the definitions inside it."""
        return tuple(dict.fromkeys(node.id for node in (*self.nodes, *self.inside)))


def find_target(store: GraphStore, name: str, source: str | None = None, with_constants: bool = False) -> Target:
    """Find the target of a name; raises QueryError, with candidates, for an ambiguous or unknown name.

    Names: ``path:line`` (the innermost definition there, or the file), a path or its end, ``path::qualname``, a dotted
    module, and a definition by its bare name or by any end of module and qualified name. Constants are found only if no
    function or class has the name; without with_constants they raise QueryError as well.
    """
    sources = list_sources(store, source)
    found = _find_at_line(store, name, sources, with_constants) or find_named(store, name, sources)
    if not found:
        raise QueryError(_format_unknown(store, name, source))
    found = [node for node in found if node.label is not Label.CONSTANT] or found
    if not with_constants and found[0].label is Label.CONSTANT:
        raise QueryError(f"'{name}' is a constant, which has only readers; expected a function, class or file")
    groups = group_definitions(found)
    if len(groups) > 1:
        raise QueryError(_format_ambiguous(name, groups))
    inside = [each for node in groups[0] for each in store.subtree(node.id) if each.label in DEFINITIONS]
    return Target(tuple(groups[0]), tuple(inside))


def _find_at_line(store: GraphStore, name: str, sources: Sequence[Source], with_constants: bool) -> list[Node]:
    """Find the innermost definition or constant on a line of a file, or the file itself."""
    matched = _LINE.fullmatch(name)
    files = find_files(store, matched[1], sources) if matched else []
    if not matched or len(files) != 1:
        return files
    line = int(matched[2])
    _check_line(store, files[0], line)
    labels = NAMED if with_constants else DEFINITIONS
    return [node for node in find_around(store, files[0], line) if node.label in labels][:1] or files


def find_around(store: GraphStore, file: Node, line: int) -> list[Node]:
    """Find the nodes of a file that hold a line, innermost first."""
    around = [node for node in store.subtree(file.id) if node.start_line <= line <= node.end_line]
    return sorted(around, key=lambda node: (node.end - node.start, node.id))


def _check_line(store: GraphStore, file: Node, line: int) -> None:
    for _, text in store.texts(file.source, [file.path]):
        count = text.count(b"\n") + (not text.endswith(b"\n"))
        if not 1 <= line <= count:
            raise QueryError(f"{file.path} has no line {line}; expected a line from 1 to {count}")


def find_named(store: GraphStore, name: str, sources: Sequence[Source]) -> list[Node]:
    """Find the definitions, files or modules of some sources that a name may mean; none for an unknown name."""
    path, separator, qualname = name.rpartition("::")
    if separator:
        files = {(node.source, node.path) for node in find_files(store, path, sources)}
        found = _find_definitions(store, qualname, sources)
        return [node for node in found if (node.source, node.path) in files and node.qualname == qualname]
    if looks_like_path(name):
        return find_files(store, name, sources)
    return _find_definitions(store, name, sources) or find_files(store, name, sources) or find_modules(
        store, name, sources
    )  # fmt: skip


def _find_definitions(store: GraphStore, name: str, sources: Sequence[Source]) -> list[Node]:
    """Find the definitions whose module and qualified name equal the name or end with it after a dot."""
    last, packages = name.rpartition(".")[2], {source.name: source.package for source in sources}
    nodes = store.find_name(last, sources[0].name if len(sources) == 1 else None) if last else []
    return [node for node in nodes if node.source in packages and _ends_with(node, packages[node.source], name)]


def _ends_with(node: Node, package: str, name: str) -> bool:
    return f".{derive_module(node.path, package)}.{node.qualname}".endswith(f".{name}")


def group_definitions(nodes: Iterable[Node]) -> list[list[Node]]:
    """Group definitions of one path and qualified name; a stub beside its module is dropped."""
    groups: dict[tuple[str, str, str], list[Node]] = defaultdict(list)
    for node in nodes:
        groups[node.source, node.path, node.qualname if node.label in NAMED else ""].append(node)
    stubs = [key for key in groups if key[1].endswith(".pyi") and (key[0], key[1][:-1], key[2]) in groups]
    return [group for key, group in sorted(groups.items()) if key not in stubs]


def _format_ambiguous(name: str, groups: Sequence[Sequence[Node]]) -> str:
    lines = [
        f"  {node.path}:{node.start_line}  {node.qualname}  ({node.label.value.lower()} in {node.source})"
        for node, *_ in groups[:SHOWN_CANDIDATES]
    ]
    if len(groups) > SHOWN_CANDIDATES:
        lines.append(f"  and {len(groups) - SHOWN_CANDIDATES} more")
    listed = "\n".join(lines)
    places = {(node.path, node.start_line) for node, *_ in groups}
    advice = ["write its path:line"] * (len(places) == len(groups))
    advice += ["narrow with --source"] * (len({node.source for node, *_ in groups}) > 1 or not advice)
    return f"'{name}' may be any of {len(groups)}; expected one; {', or '.join(advice)}:\n{listed}"


def _format_unknown(store: GraphStore, name: str, source: str | None) -> str:
    near = suggest_names(store, name, source)
    advice = f"did you mean: {', '.join(near)}?" if near else "pkg query TEXT finds code by what it does"
    where = f"source {source}" if source else store.address
    what = f"no function, class, constant or file '{name}' in {where}"
    return f"{what}; expected a name, path::qualname or path:line; {advice}"
