"""Find the ways in which frameworks and runners enter functions and classes, from the texts of a source."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, cast

from pkg.extract.syntax import parse_tree
from pkg.model import Label, Node, RelationType
from pkg.retrieval.deps.answer import Entry
from pkg.retrieval.deps.entry_rules import CALLED_NAMES, DECORATED, NAMED, PASSED, Decorated, Passed, match_dotted
from pkg.retrieval.deps.paths import list_code_files, name_unit

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

FILE_BATCH = 200  # files whose texts are in memory together

_CALL = re.compile(rb"(?<!\w)(?:%s)\s*\(" % b"|".join(sorted(name.encode() for name in CALLED_NAMES)))
_NAMED = [(re.compile(rule.pattern), re.compile(rule.path or ".*"), rule.words) for rule in NAMED]

Entries = dict[str, list[Entry]]  # by the id of the entered definition


def find_entries(store: GraphStore, source: str, nodes: Sequence[Node]) -> Entries:
    """Find the entries into functions and classes of a source: by names, decorators, and calls that receive them.

    A text is parsed only if it has the name of one of them outside of calls of it.
    """
    found: Entries = defaultdict(list)
    for node in nodes:
        words = dict.fromkeys((*_read_name(node), *_read_decorators(node)))
        found[node.id] += [Entry(each, node.path, node.start_line) for each in words]
    for node_id, entry in _PassedNames(store, source, nodes).find():
        if entry not in found[node_id]:
            found[node_id].append(entry)
    return {node_id: each for node_id, each in found.items() if each}


def _read_name(node: Node) -> Iterator[str]:
    for name, path, words in _NAMED:
        if name.fullmatch(node.qualname) and path.fullmatch(node.path):
            yield _format_words(words, node, ".", None)


def _read_decorators(node: Node) -> Iterator[str]:
    for dotted, call in list_decorators(node):
        for rule in DECORATED:
            if match_dotted(rule, dotted) and _fits(rule, call):
                yield _format_words(rule.words, node, dotted, call)


def list_decorators(node: Node) -> Iterator[tuple[str, ast.Call | None]]:
    """Yield the dotted name of each decorator of a definition, and its call if it is one."""
    written = node.properties.get("decorators")
    for text in written if isinstance(written, list) else ():
        try:
            tree = parse_tree(str(text).strip(), "eval")
        except (SyntaxError, ValueError, RecursionError):
            continue
        value = cast(ast.Expression, tree).body
        call = value if isinstance(value, ast.Call) else None
        dotted = _write_dotted(value if call is None else call.func)
        if dotted is not None:
            yield dotted, call


def is_autouse(node: Node) -> bool:
    """Return whether a fixture has autouse."""
    return any(
        each.arg == "autouse" and isinstance(each.value, ast.Constant) and each.value.value is True
        for dotted, call in list_decorators(node)
        if dotted.rpartition(".")[2] == "fixture" and call is not None
        for each in call.keywords
    )


def _fits(rule: Decorated, call: ast.Call | None) -> bool:
    if not rule.needs:
        return True
    first = _write_argument(call.args[0]) if call is not None and call.args else None
    return first is not None and re.fullmatch(rule.needs, first) is not None


def _format_words(words: str, node: Node, dotted: str, call: ast.Call | None) -> str:
    """Format the words of a rule with the facts of an entry."""
    of, _, verb = dotted.rpartition(".")
    stem = node.path.rpartition("/")[2].rpartition(".")[0]
    first = _write_first(call)
    facts = {
        "{0}": first, "{VERB}": verb.upper(), "{verb}": verb, "{of}": of, "{name}": node.name, "{stem}": stem,
        "{label}": first or node.name, "{command}": first or node.name.replace("_", "-"),
        "{method}": _write_methods(call),
    }  # fmt: skip
    for key, fact in facts.items():
        words = words.replace(key, fact)
    return words.strip()


def _write_first(call: ast.Call | None) -> str:
    """Return the first argument, or the one named name, if it is plain."""
    if call is None:
        return ""
    named = [each.value for each in call.keywords if each.arg == "name"]
    return next((word for word in map(_write_argument, [*call.args[:1], *named]) if word is not None), "")


def _write_argument(value: ast.expr) -> str | None:
    if isinstance(value, ast.Constant) and isinstance(value.value, (str, int)):
        return str(value.value)
    return _write_dotted(value)


def _write_methods(call: ast.Call | None) -> str:
    for each in call.keywords if call is not None else ():
        if each.arg == "methods" and isinstance(each.value, (ast.List, ast.Tuple, ast.Set)):
            return ", ".join(filter(None, map(_write_argument, each.value.elts)))
    return "GET"


def _write_dotted(value: ast.expr) -> str | None:
    """Return a dotted name; None for any other expression."""
    parts: list[str] = []
    while isinstance(value, ast.Attribute):
        parts.append(value.attr)
        value = value.value
    return ".".join([value.id, *reversed(parts)]) if isinstance(value, ast.Name) else None


class _Use(NamedTuple):
    """A name passed to a call that enters it."""

    dotted: str
    scope: str  # qualified name of the class or function around the call
    call: ast.Call
    of: str  # dotted name of the callee
    rule: Passed


class _PassedNames:
    """Search for definitions that are passed to calls that enter them."""

    def __init__(self, store: GraphStore, source: str, nodes: Sequence[Node]) -> None:
        self._store = store
        self._source = source
        self._wanted: dict[tuple[str, str], list[Node]] = defaultdict(list)
        for node in nodes:
            self._wanted[node.path, node.qualname].append(node)
        self._names = {node.name for node in nodes}
        self._plain = sorted(name.encode() for name in self._names)
        names = b"|".join(map(re.escape, self._plain))
        self._held = re.compile(rb"(?<!\w)(?:%s)(?!\w)(?!\s*\()" % names)  # a called name is not passed

    def find(self) -> Iterator[tuple[str, Entry]]:
        """Yield the ids of passed definitions, with the entry."""
        paths = list_code_files(self._store, self._source)
        for start in range(0, len(paths), FILE_BATCH):
            for path, text in self._store.texts(self._source, paths[start : start + FILE_BATCH]):
                if self._holds_name(text) and _CALL.search(text):
                    yield from self._read_file(path, text)

    def _holds_name(self, text: bytes) -> bool:
        if len(self._names) > 100:  # with so many names, nearly every text has one
            return True
        is_there = any(name in text for name in self._plain)  # a hundred times as fast, and excludes most texts
        return is_there and self._held.search(text) is not None

    def _read_file(self, path: str, text: bytes) -> Iterator[tuple[str, Entry]]:
        uses = [use for use in _read_uses(text) if "." not in use.dotted or self._has_wanted_name(use.dotted)]
        bound = self._read_imports(path, {use.dotted.partition(".")[0] for use in uses})
        for use in uses:
            for place in _list_places(use, path, bound):
                for node in self._wanted.get(place, ()):
                    yield node.id, Entry(_format_words(use.rule.words, node, use.of, use.call), path, use.call.lineno)

    def _has_wanted_name(self, dotted: str) -> bool:
        """Return whether an attribute has a wanted name; a plain name may be any, by its import."""
        return dotted.rpartition(".")[2] in self._names

    def _read_imports(self, path: str, names: set[str]) -> dict[str, list[tuple[str, str]]]:
        """Return for each name that a file imports the paths and qualified names of its targets."""
        unit = name_unit(self._source, path)
        imports = self._store.imports({unit: names})[unit] if names else []
        edges = self._store.neighbours([each.id for each in imports], [RelationType.RESOLVES_TO], "out")
        ends = {each.id: each for each in self._store.get(sorted({edge.end for edge in edges}))}
        bound: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for each in imports:
            name = each.properties.get("alias") or each.properties.get("imported") or each.properties.get("module", "")
            for edge in edges:
                if edge.start == each.id:
                    end = ends[edge.end]
                    bound[str(name)].append((end.path, "" if end.label is Label.FILE else end.qualname))
        return bound


def _list_places(use: _Use, path: str, bound: dict[str, list[tuple[str, str]]]) -> Iterator[tuple[str, str]]:
    """Yield the paths and qualified names that a dotted name may mean, in Python's order of look-up."""
    first, _, rest = use.dotted.partition(".")
    for place, qualname in bound.get(first, ()):
        yield place, ".".join(filter(None, (qualname, rest)))
    scope = use.scope
    if first in ("self", "cls"):
        yield path, f"{scope.rpartition('.')[0]}.{rest}"
        return
    while scope:
        yield path, f"{scope}.{use.dotted}"
        scope = scope.rpartition(".")[0]
    yield path, use.dotted


@lru_cache(maxsize=512)  # files, which recur in the next questions of a server
def _read_uses(text: bytes) -> tuple[_Use, ...]:
    """Return what a text passes to calls that enter it; nothing if Python cannot parse it."""
    try:
        return tuple(_list_uses(parse_tree(text)))
    except (SyntaxError, ValueError, RecursionError):
        return ()


def _list_uses(tree: ast.AST) -> Iterator[_Use]:
    """Yield what is passed to calls that enter it; with a stack, since code may be nested deeply."""
    open_nodes: list[tuple[ast.AST, str]] = [(tree, "")]
    while open_nodes:
        node, scope = open_nodes.pop()
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            scope = f"{scope}.{node.name}".strip(".")
        elif isinstance(node, ast.Call):
            yield from _read_call(node, scope)
        open_nodes += [(child, scope) for child in ast.iter_child_nodes(node)]


def _read_call(call: ast.Call, scope: str) -> Iterator[_Use]:
    of = _write_dotted(call.func)
    for rule in PASSED if of is not None else ():
        if of is not None and match_dotted(rule, of):
            for value in _choose_arguments(call, rule):
                dotted = _unwrap(value)
                if dotted is not None:
                    yield _Use(dotted, scope, call, of, rule)


def _choose_arguments(call: ast.Call, rule: Passed) -> Iterator[ast.expr]:
    if 0 <= rule.position < len(call.args):
        yield call.args[rule.position]
    yield from (each.value for each in call.keywords if rule.keyword and each.arg == rule.keyword)


def _unwrap(value: ast.expr) -> str | None:
    """Return the name in View.as_view(), partial(f, 1) or login_required(view)."""
    while isinstance(value, ast.Call):
        of = _write_dotted(value.func)
        if of is not None and of.endswith(".as_view"):
            return of.removesuffix(".as_view")
        if not value.args:
            return None
        value = value.args[0]
    return _write_dotted(value)
