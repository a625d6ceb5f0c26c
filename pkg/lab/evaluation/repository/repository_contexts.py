"""Find the code of a repository that a condition shows for a masked function, without copies of its body (A-12)."""

from __future__ import annotations

import ast
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from typing import Literal, cast, get_args

from pkg.encode.encoder import Encoder
from pkg.errors import QueryError
from pkg.extract.syntax import is_string_statement, parse_code
from pkg.generation.aligned_code import align_code
from pkg.generation.answer_context import MOST_SIGNATURES
from pkg.generation.gate import measure_signals
from pkg.generation.prompt_templates.helper_text import read_helpers
from pkg.generation.prompt_templates.prompt_template import HelperText
from pkg.generation.prompt_templates.self_contained_code import make_signature
from pkg.graph.path_filter import is_test
from pkg.graph.store import GraphStore
from pkg.lab.evaluation.code.benchmarks import Item
from pkg.lab.evaluation.code.contexts import FEWEST_LINES, ShownCode, show_reference
from pkg.lab.evaluation.code.evaluation_conditions import Finder, Part
from pkg.lab.evaluation.repository.function_links import FunctionLinks
from pkg.lab.evaluation.repository.helper_parts import show_part
from pkg.lab.evaluation.repository.masked_functions import Definition, MaskedFunction, parse_file
from pkg.lab.evaluation.repository.project_tests import Project
from pkg.lab.evaluation.repository.repository_items import RepositoryItem
from pkg.model import Hit, Label, Node, QueryResult, RelationType
from pkg.retrieval.query import QueryOptions, run_query
from pkg.retrieval.token_count import count_tokens

NEARLY = 0.8  # share of common tokens of both bodies above which code counts as an edited copy
FEWEST = 12  # tokens: shorter bodies are similar by chance, and only equal ones count
BUDGET = 900  # tokens of all signatures; small models cannot use more
LONGEST_STATEMENT = 120  # characters of an assignment to show
DEPTH = 25  # hits among which the first without the masked body is shown


def gives_away(code: str, masked: str) -> bool:
    """Return whether code contains a body equal, or nearly equal, to that of a masked function.

    masked: the whole code of that function.
    """
    wanted = max(_list_bodies(masked), key=lambda each: len(each[1]), default=None)
    if wanted is None:
        return False
    return any(_is_near(shape, tokens, *wanted) for shape, tokens in _list_bodies(code))


def _is_near(shape: str, tokens: tuple[str, ...], wanted: str, wanted_tokens: tuple[str, ...]) -> bool:
    if shape == wanted:
        return True
    if min(len(tokens), len(wanted_tokens)) < FEWEST:
        return False
    shared = (Counter(tokens) & Counter(wanted_tokens)).total()
    return 2 * shared >= NEARLY * (len(tokens) + len(wanted_tokens))


def _is_written(code: str) -> bool:
    """Return whether a function in code does more than a stub."""
    return any(len(tokens) >= FEWEST for _, tokens in _list_bodies(code))


@lru_cache(maxsize=4096)
def _list_bodies(code: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the shape and the tokens of each function body in code; of all of the code if it has no functions."""
    aligned = align_code(code)
    tree = parse_code(aligned) or parse_code(f"def _():\n    {aligned}") or parse_code(f"def _():\n{code}")
    if tree is None:
        return ()
    found = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    bodies = [each.body for each in found] or [tree.body]
    return tuple(_describe(body) for body in bodies)


def _describe(body: list[ast.stmt]) -> tuple[str, tuple[str, ...]]:
    """Return statements as a text with local names numbered, and the tokens of the text."""
    kept = [each for each in body if not is_string_statement(each)]
    names: dict[str, str] = {}
    tokens: list[str] = []
    for statement in kept:
        for node in ast.walk(statement):
            tokens.append(type(node).__name__)
            if isinstance(node, ast.Name):
                tokens.append(names.setdefault(node.id, f"n{len(names)}"))
            elif isinstance(node, ast.arg):
                tokens.append(names.setdefault(node.arg, f"n{len(names)}"))
            elif isinstance(node, ast.Attribute):
                tokens.append(node.attr)
            elif isinstance(node, ast.Constant):
                tokens.append(repr(node.value))
    return " ".join(tokens), tuple(tokens)


class ScopeSignatures:
    """Lists the imports, signatures and constants in scope of a function of a project."""

    def __init__(self, store: GraphStore, project: Project) -> None:
        self._project = project
        self._targets = _read_targets(store)
        self._classes = {(node.path, node.qualname): node for node in store.nodes((Label.CLASS,))}
        self._bases = _read_bases(store)

    def list_helpers(self, function: MaskedFunction) -> tuple[tuple[HelperText, ...], int]:
        """Return the signatures in scope, nearest first, and the number of those beyond the token budget."""
        text = self._project.read_text(function.path) or ""
        tree = parse_file(text) or ast.Module([], [])
        left = BUDGET
        dropped = 0
        parts = []
        for title, told in (
            (f"{function.path}: imports", _list_imports(tree)),
            (f"{function.path}: class of {function.name}", _list_class(tree, function)),
            (f"inherited by the class of {function.name}", self._list_inherited(function)),
            (f"{function.path}: the same module", _list_module(tree, function)),
            ("imported from the project", self._list_imported(function)),
        ):
            kept = []
            for each in told:
                tokens = count_tokens(each)
                if tokens > left:
                    dropped += 1
                else:
                    kept.append(each)
                    left -= tokens
            if kept:
                parts.append(HelperText(title, "\n".join(kept)))
        return tuple(parts), dropped

    def _list_inherited(self, function: MaskedFunction) -> Iterator[str]:
        """Yield the methods inherited from classes of the project, nearest first."""
        own = self._classes.get((function.path, function.qualname.rpartition(".")[0]))
        waiting, seen = [own.id] if own is not None else [], set()
        for name in waiting:
            for base in self._bases.get(name, ()):
                if base.id not in seen:
                    seen.add(base.id)
                    waiting.append(base.id)
                    yield from _list_methods(base, self._project, function)

    def _list_imported(self, function: MaskedFunction) -> Iterator[str]:
        for node in self._targets.get(function.path, ()):
            signature = make_signature(node.content, str(node.properties.get("docstring") or ""))
            if signature is not None and node.start_line != function.line:
                yield signature


def _read_targets(store: GraphStore) -> dict[str, list[Node]]:
    """Return the functions and classes to which the imports of each file resolve."""
    places = {node.id: node.path for node in store.nodes((Label.IMPORT,))}
    pairs = sorted(
        {(places[edge.start], edge.end) for edge in store.edges((RelationType.RESOLVES_TO,)) if edge.start in places}
    )
    wanted = {end for _, end in pairs}
    nodes = {node.id: node for node in store.nodes((Label.FUNCTION, Label.CLASS)) if node.id in wanted}
    found: dict[str, list[Node]] = {}
    for path, end in pairs:
        if end in nodes and nodes[end].path != path:
            found.setdefault(path, []).append(nodes[end])
    return {path: sorted(each, key=lambda node: (node.path, node.start)) for path, each in found.items()}


def _read_bases(store: GraphStore) -> dict[str, list[Node]]:
    """Return the base classes, within the project, of each class by id."""
    classes = {node.id: node for node in store.nodes((Label.CLASS,))}
    found: dict[str, list[Node]] = {}
    for edge in sorted(store.edges((RelationType.INHERITS,)), key=lambda edge: (edge.start, edge.line or 0, edge.end)):
        if edge.end in classes:
            found.setdefault(edge.start, []).append(classes[edge.end])
    return found


def _list_methods(base: Node, project: Project, function: MaskedFunction) -> Iterator[str]:
    tree = parse_file(project.read_text(base.path) or "") if base.path in project.files else None
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.ClassDef) and node.name == base.name and node.lineno >= base.start_line:
            yield from _sign(node.body, {function.name, "__init__"})
            return


def _list_imports(tree: ast.Module) -> Iterator[str]:
    for each in tree.body:
        if isinstance(each, ast.Import | ast.ImportFrom) and getattr(each, "module", "") != "__future__":
            yield ast.unparse(each)


def _list_class(tree: ast.Module, function: MaskedFunction) -> Iterator[str]:
    body: Iterable[ast.stmt] = tree.body
    *classes, _ = function.qualname.split(".")
    own: ast.ClassDef | None = None
    for name in classes:
        own = next((each for each in body if isinstance(each, ast.ClassDef) and each.name == name), None)
        body = own.body if own is not None else ()
    if own is None:
        return
    attributes = sorted(
        {
            node.attr
            for method in own.body
            if isinstance(method, Definition) and method.name in ("__init__", "__new__")
            for node in ast.walk(method)
            if isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Name)
            and node.value.id == "self"
        }
    )
    if attributes and function.name != "__init__":
        yield f"# attributes of self: {', '.join(attributes)}"
    yield from _sign(own.body, {function.name})


def _list_module(tree: ast.Module, function: MaskedFunction) -> Iterator[str]:
    """Yield constants, then signatures of definitions sorted by their distance to the function."""
    for each in tree.body:
        if isinstance(each, ast.Assign | ast.AnnAssign) and len(told := ast.unparse(each)) <= LONGEST_STATEMENT:
            yield told
    near = sorted(
        (each for each in tree.body if not isinstance(each, ast.Assign | ast.AnnAssign)),
        key=lambda each: abs(each.lineno - function.line),
    )
    yield from _sign(near, {function.qualname.partition(".")[0]})


def _sign(body: Iterable[ast.stmt], left_out: set[str]) -> Iterator[str]:
    for each in body:
        if isinstance(each, Definition | ast.ClassDef) and each.name not in left_out:
            told = make_signature(ast.unparse(each))
            if told is not None:
                yield told


class RepositoryFinder:
    """Queries the graph of the repository for each condition, without its tests and the masked function."""

    def __init__(self, store: GraphStore, encoder: Encoder, project: Project, seed: int = 0) -> None:
        self._store, self._encoder, self._project, self._seed = store, encoder, project, seed
        self._ways: dict[str, Callable[[RepositoryItem], ShownCode]] = {
            "func-pkg": lambda item: self._query(item, "function"),
            "block-pkg": lambda item: self._query(item, "block"),
            "signatures": self._list_signatures,
            "deps": self._list_scope,
            "random": self._draw,
            "gold": show_reference,
            "usages": self._list_usages,
            "similar": self._find_similar,
        }
        for part in get_args(Part):
            self._ways[f"func-pkg:{part}"] = partial(self._show_part, part)

    def find(self, finder: Finder, item: Item) -> ShownCode:
        """Return the code that a condition shows for an item; empty for a condition without code."""
        return self._ways[finder](cast(RepositoryItem, item)) if finder else ShownCode()

    def _query(self, item: RepositoryItem, mode: Literal["function", "block"]) -> ShownCode:
        return self._show_best(item, mode)[0]

    def _show_best(self, item: RepositoryItem, mode: Literal["function", "block"]) -> tuple[ShownCode, Hit | None]:
        """Return the best hit with its helpers, without copies of the masked body, and the hit."""
        found = self._ask(item, mode)
        if isinstance(found, ShownCode):
            return found, None
        for hit in found.hits:
            helpers = read_helpers(self._store, replace(found, hits=(hit,)))
            if helpers and not any(gives_away(each.code, item.reference) for each in helpers):
                others = (each for each in found.hits if each is not hit)
                signals = measure_signals(item.query, (hit, *others), ())
                return ShownCode(helpers, (), hit.score, notes=found.explain, signals=signals), hit
        return ShownCode(notes=found.explain), None

    def _show_part(self, part: Part, item: RepositoryItem) -> ShownCode:
        """Show a part of what func-pkg shows; only the hit has a calling line of the repository."""
        shown, hit = self._show_best(item, "function")
        usage = next(self._links.list_usages({hit.id}, item.masked), None) if hit and part == "usage" else None
        line = usage.line if usage is not None else ""
        reduced = (show_part(each, part, "" if place else line) for place, each in enumerate(shown.helpers))
        return replace(shown, helpers=tuple(each for each in reduced if each is not None))

    def _list_usages(self, item: RepositoryItem) -> ShownCode:
        """Show the lines around calls of the function, within the token budget."""
        kept: list[HelperText] = []
        left = BUDGET
        for usage in self._links.list_usages(self._links.find_targets(item.masked), item.masked):
            tokens = count_tokens(usage.text.code)
            if tokens <= left and len(kept) < MOST_SIGNATURES:
                kept.append(usage.text)
                left -= tokens
        return ShownCode(tuple(kept))

    def _find_similar(self, item: RepositoryItem) -> ShownCode:
        among = [node for node in self._functions if count_tokens(node.content) <= BUDGET and _is_written(node.content)]
        node = self._links.find_similar(item.masked, among)
        return ShownCode() if node is None else ShownCode((_show_whole(node),))

    @cached_property
    def _links(self) -> FunctionLinks:
        return FunctionLinks(self._store, self._project, self._belongs)

    def _list_signatures(self, item: RepositoryItem) -> ShownCode:
        found = self._ask(item, "function")
        if isinstance(found, ShownCode):
            return found
        helpers = read_helpers(self._store, found, "signature")[:MOST_SIGNATURES]
        signals = measure_signals(item.query, found.hits, ())
        return ShownCode(helpers, (), found.hits[0].score if found.hits else None, signals=signals)

    def _ask(self, item: RepositoryItem, mode: Literal["function", "block"]) -> QueryResult | ShownCode:
        """Query by the header of a function, and drop hits that belong to it or nearly equal it."""
        options = QueryOptions(mode=mode, top_k=DEPTH, helpers="all", tests="no", declarations=False, floor=False)
        try:
            found = run_query(self._store, self._encoder, item.query, options)
        except QueryError as fault:
            return ShownCode(notes=(str(fault),))
        kept = tuple(self._leave_out(found.hits, item.masked))
        gone = len(found.hits) - len(kept)
        notes = (f"left out because they are, or nearly are, what is masked: {gone} hits",) if gone else ()
        return replace(found, hits=kept, coverage=replace(found.coverage, fits=None), explain=notes)

    def _leave_out(self, hits: tuple[Hit, ...], masked: MaskedFunction) -> Iterator[Hit]:
        for hit in hits:
            if not self._belongs(hit.path, hit.start_line, hit.end_line, hit.content, masked):
                helpers = (
                    each
                    for each in hit.helpers
                    if not self._belongs(each.path, each.start_line, each.end_line, each.content, masked)
                )
                yield replace(hit, helpers=tuple(helpers))

    def _belongs(self, path: str, start: int, end: int, code: str, masked: MaskedFunction) -> bool:
        """Return whether code is of a test, overlaps the masked function, or contains its body."""
        overlaps = path == masked.path and start <= masked.end and end >= masked.line
        return overlaps or is_test(path) or gives_away(code, masked.code)

    def _list_scope(self, item: RepositoryItem) -> ShownCode:
        helpers, dropped = self._scope.list_helpers(item.masked)
        return ShownCode(helpers, notes=(f"signatures without room: {dropped}",) if dropped else ())

    @cached_property
    def _scope(self) -> ScopeSignatures:
        return ScopeSignatures(self._store, self._project)

    def _draw(self, item: RepositoryItem) -> ShownCode:
        masked = item.masked
        among = [
            node
            for node in self._functions
            if not self._belongs(node.path, node.start_line, node.end_line, node.content, masked)
        ]
        if not among:
            return ShownCode()
        return ShownCode((_show_whole(random.Random(f"{self._seed} {item.id}").choice(among)),))

    @cached_property
    def _functions(self) -> list[Node]:
        """Read the functions of the repository, except those of tests, sorted by position."""
        nodes = (node for node in self._store.nodes((Label.FUNCTION,)) if not is_test(node.path))
        long = [node for node in nodes if node.end_line - node.start_line + 1 >= FEWEST_LINES]
        return sorted(long, key=lambda node: (node.path, node.start, node.id))


def _show_whole(node: Node) -> HelperText:
    place = f"{node.path}:{node.start_line}-{node.end_line} {node.qualname}"
    return HelperText(place, align_code(node.content))
