"""List the names in scope of a masked function: of its class, its module, and their imports (A-12).

The calls of the masked body are not considered, because they would reveal part of it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from pkg.generation.prompt_templates.prompt_template import HelperText
from pkg.generation.prompt_templates.self_contained_code import make_signature
from pkg.lab.evaluation.repository.masked_functions import Definition, MaskedFunction, parse_file
from pkg.lab.evaluation.repository.project_files import Project
from pkg.model import Label, Node, RelationType
from pkg.retrieval.token_count import count_tokens

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

BUDGET = 900  # tokens of all signatures; small models cannot use more
LONGEST_STATEMENT = 120  # characters of an assignment to show


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
