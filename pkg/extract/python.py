"""Split Python source into classes, functions, blocks, constants, imports and call sites (P-02 to P-04, A-11, Q-04).

One pass over the syntax tree finds the nodes; those of the unit are sorted by position and walked once with a stack of
open scopes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import attrgetter, itemgetter

from tree_sitter import Node, Query, QueryCursor, Tree

from pkg.extract import node_fields as f
from pkg.extract.constants import ClassScope, find_module, is_enum, list_constants
from pkg.extract.docstring_places import make_span, split_docstring
from pkg.extract.import_statements import parse_import
from pkg.extract.long_text import extract_long_text, is_over_budget
from pkg.extract.parser import PYTHON, Patterns, find_first_child, parse
from pkg.extract.summary.file_summary import summarise
from pkg.model import BLOCK_KINDS, Block, Call, Class, CodeUnit, Constant, Function, Import, Span, Status
from pkg.units import render_callee

MAX_DEPTH = 100  # CPython refuses deeper indentation; it bounds path lengths too

_PATTERNS = Patterns((
    ("function", "(function_definition name: (identifier) body: (block)) @function"),
    ("class", "(class_definition name: (identifier) body: (block)) @class"),
    ("callee", "(call function: (_) @callee)"),
    ("decoration", "(decorated_definition definition: (_)) @decoration"),
    *((kind, f"({kind}_statement) @{kind}") for kind in BLOCK_KINDS[1:]),
    *(("import", f"({kind}_statement) @import") for kind in ("import", "import_from", "future_import")),
    ("comment", "(comment) @comment"),
    *(("python2", f"({kind}_statement) @python2") for kind in ("print", "exec")),
))  # fmt: skip
_FAULTS = Query(PYTHON, "(ERROR) @fault (MISSING) @fault")  # by captures: matches report some sound nodes as missing
EXPRESSIONS_LIMIT = 50_000  # size of the cache

Found = Mapping[str, list[Node]]  # by kind


def extract_unit(text: bytes, tree: Tree | None = None, with_summary: bool = True) -> CodeUnit:
    """Extract a Python text; code that does not parse is skipped and reported in status and reason.

    Functions with a syntax error are dropped, the others of the file are kept (status partial); of a text over the
    token budget, only definitions and imports are kept. Rows of a corpus are not
    resolved, and need no summary.
    """
    if b"\0" in text:
        return CodeUnit(text, "python", Status.FAILED, "binary content (NUL bytes)")
    if tree is None and is_over_budget(text):
        return extract_long_text(text)
    root = (tree or parse(text)).root_node
    found = _PATTERNS.find(root)
    language = "python2" if found["python2"] else "python"
    walk = _Walk(text, found, root.has_error)
    status, reason = _judge(walk, root, language)
    constants = sorted((*list_constants(text, root, None), *walk.constants), key=attrgetter("span.start"))
    return CodeUnit(
        text=text,
        language=language,
        status=status,
        reason=reason,
        definitions=tuple(walk.definitions),
        blocks=tuple(walk.blocks),
        imports=tuple(walk.imports),
        calls=tuple(walk.calls),
        summary=summarise(root, walk.definitions, walk.imports) if with_summary else b"",
        comments=tuple(sorted((node.start_byte, node.end_byte) for node in found["comment"])),
        constants=tuple(constants),
        module=find_module(text, root),
    )


def _judge(walk: _Walk, root: Node, language: str) -> tuple[Status, str | None]:
    """Return how much of a text was understood, and the line of the first fault."""
    if root.has_error:
        faults = QueryCursor(_FAULTS).captures(root).get("fault", [])
        line = min((node.start_point.row for node in faults), default=0) + 1
        found = walk.definitions or walk.imports or walk.calls
        return (Status.PARTIAL if found else Status.FAILED), f"syntax error at line {line}"
    if walk.too_deep:
        return Status.PARTIAL, f"nested deeper than {MAX_DEPTH} levels at line {walk.too_deep}"
    if language == "python2":
        return Status.OK, "Python 2 (print or exec statement)"
    return Status.OK, None


class _Expressions(dict[bytes, str]):
    """Cache of the stored texts of callees, as most recur."""

    def __missing__(self, callee: bytes) -> str:
        if len(self) > EXPRESSIONS_LIMIT:
            self.clear()
        expression = self[callee] = render_callee(callee)
        return expression


_EXPRESSIONS = _Expressions()


class _Scope:
    """An open class, function or block while the nodes of a text are walked."""

    __slots__ = ("block", "counts", "definition", "depth", "end", "function", "in_class", "path", "qualname")

    def __init__(
        self,
        end: int,
        definition: int | None,
        function: int | None,
        block: int | None,
        qualname: str,
        path: str,
        depth: int,
    ) -> None:
        self.end = end
        self.definition = definition  # innermost class or function
        self.function = function  # function whose blocks are open; None in module and class code
        self.block = block
        self.qualname = qualname
        self.path = path
        self.depth = depth
        self.counts: dict[str, int] = {}
        self.in_class = False


class _Walk:
    """Walk sorted nodes once and collect the pieces of the unit."""

    def __init__(self, text: bytes, found: Found, faulty: bool) -> None:
        self.text = text
        self.definitions: list[Class | Function] = []
        self.blocks: list[Block] = []
        self.imports: list[Import] = []
        self.calls: list[Call] = []
        self.constants: list[Constant] = []  # of classes
        self._enums: set[str] = set()
        self.too_deep = 0
        self._faulty = faulty
        self._decorations = dict(_pair_decorations(found))
        self._stack = [_Scope(len(text) + 1, None, None, None, "", "", 0)]
        for start, kind, _, node, name, body in sorted(self._events(found), key=itemgetter(0, 1, 2)):
            self._close_scopes(start)
            if kind == _CALL:
                self._add_call(start, node)
            elif kind == _BLOCK:
                self._add_block(name, node)
            elif kind == _FUNCTION:
                self._add_function(name, node, body)
            elif kind == _CLASS:
                self._add_class(name, node, body)
            elif kind == _FAULTY:
                self._enter_faulty(body)
            else:
                self._add_imports(node)

    def _events(self, found: Found) -> Iterator[tuple[int, int, int, Node, str, Node]]:
        """Yield (position, kind, -end, node, name, body); definitions are at their body, where their scope opens."""
        text = self.text
        for kind, event in (("function", _FUNCTION), ("class", _CLASS)):
            for node in found[kind]:
                name, body = node.child_by_field_id(f.NAME), node.child_by_field_id(f.BODY)
                if name is None or body is None:
                    continue
                place = self._place_faulty(event, node, name, body) if self._faulty else (body.start_byte, event)
                start, end = name.start_byte, name.end_byte
                if start < end:
                    yield *place, -node.end_byte, node, text[start:end].decode("utf-8", "replace"), body
        for kind in BLOCK_KINDS[1:]:
            for node in found[kind]:
                if not (self._faulty and node.has_error):
                    yield node.start_byte, _BLOCK, -node.end_byte, node, kind, node
        for node in found["import"]:
            if not (self._faulty and node.has_error):
                yield node.start_byte, _IMPORT, -node.end_byte, node, "", node
        for node in found["callee"]:
            yield node.start_byte, _CALL, -node.end_byte, node, "", node

    def _place_faulty(self, event: int, node: Node, name: Node, body: Node) -> tuple[int, int]:
        """Return the position and kind of the event of a definition in a text with faults.

        A function with a fault, its decorators included, is dropped; a class keeps its sound parts. If the header of
        a class is faulty, its scope opens there: recovery may have put definitions into it.
        """
        decoration = self._decorations.get(node.start_byte, node)
        if event == _FUNCTION:
            return body.start_byte, _FAULTY if node.has_error or decoration.has_error else event
        is_decorator_faulty = decoration != node and any(child.has_error for child in decoration.children[:-1])
        header = [child for child in node.children if child.end_byte <= body.start_byte and child.has_error]
        if is_decorator_faulty or any(child.start_byte <= name.start_byte for child in header):
            return body.start_byte, _FAULTY
        return (node.start_byte if header else body.start_byte), event

    def _close_scopes(self, position: int) -> None:
        stack = self._stack
        while stack[-1].end <= position:
            stack.pop()

    def _is_too_deep(self, depth: int, node: Node) -> bool:
        if depth <= MAX_DEPTH:
            return False
        self.too_deep = self.too_deep or node.start_point.row + 1
        return True

    def _outline(self, name: str, node: Node) -> tuple[str, Span, tuple[str, ...]]:
        """Return the qualified name, the span with decorators, and the decorators of a definition."""
        scope = self._stack[-1]
        qualname = f"{scope.qualname}.{name}" if scope.qualname else name
        decoration = self._decorations.get(node.start_byte)
        if decoration is None:
            return qualname, make_span(node, node), ()
        decorators = tuple(
            self._read(expression.start_byte, expression.end_byte)
            for child in decoration.named_children
            if child.type == "decorator" and (expression := find_first_child(child)) is not None
        )
        return qualname, make_span(decoration, decoration), decorators

    def _read(self, start: int, end: int) -> str:
        return self.text[start:end].decode("utf-8", "replace")

    def _add_class(self, name: str, node: Node, body: Node) -> None:
        scope = self._stack[-1]
        if self._is_too_deep(scope.depth + 1, node):
            return
        qualname, span, decorators = self._outline(name, node)
        superclasses = node.child_by_field_id(f.SUPERCLASSES)
        bases = (
            tuple(self._read(base.start_byte, base.end_byte) for base in superclasses.named_children)
            if superclasses
            else ()
        )
        docstring, _ = split_docstring(self.text, body)
        place = docstring and make_span(docstring, docstring)
        number = len(self.definitions)
        inner = _Scope(body.end_byte, number, None, None, qualname, "", scope.depth + 1)
        inner.in_class = True
        self._stack.append(inner)
        self.definitions.append(
            Class(name, qualname, span, scope.definition, bases, decorators, body.start_byte, place)
        )
        if is_enum(bases, self._enums):
            self._enums.add(name)
        self.constants += list_constants(self.text, body, ClassScope(qualname, number, name in self._enums))

    def _add_function(self, name: str, node: Node, body: Node) -> None:
        scope = self._stack[-1]
        if self._is_too_deep(scope.depth + 1, node):
            return
        qualname, span, decorators = self._outline(name, node)
        docstring, rest = split_docstring(self.text, body)
        place = docstring and make_span(docstring, docstring)
        is_async = self.text.startswith(b"async", node.start_byte)
        index, block = len(self.definitions), None
        self.definitions.append(
            Function(name, qualname, span, scope.definition, scope.in_class, is_async, decorators, place)
        )
        if rest is not None:
            block = len(self.blocks)
            self.blocks.append(Block("body", "body", make_span(rest, body), 0, index, None))
        self._stack.append(_Scope(body.end_byte, index, index, block, qualname, "body", scope.depth + 1))

    def _enter_faulty(self, body: Node) -> None:
        """Open the scope of a dropped definition: its sound parts belong to the scope around it.

        Its name does not count: names depend only on what is kept, so that equal pieces of rows stay equal.
        """
        scope = self._stack[-1]
        self._stack.append(
            _Scope(body.end_byte, scope.definition, None, None, scope.qualname, scope.path, scope.depth + 1)
        )

    def _add_block(self, kind: str, node: Node) -> None:
        scope = self._stack[-1]
        if scope.function is None or self._is_too_deep(scope.depth + 1, node):
            return
        count = scope.counts.get(kind, 0)
        scope.counts[kind] = count + 1
        path = f"{scope.path}/{kind}[{count}]"
        span = make_span(node, node)
        index = len(self.blocks)
        self.blocks.append(Block(kind, path, span, path.count("/"), scope.function, scope.block))
        self._stack.append(
            _Scope(span.end, scope.definition, scope.function, index, scope.qualname, path, scope.depth + 1)
        )

    def _add_imports(self, node: Node) -> None:
        span = make_span(node, node)
        self.imports += [Import(span, *record) for record in parse_import(node, self.text)]

    def _add_call(self, start: int, node: Node) -> None:
        expression = _EXPRESSIONS[self.text[start : node.end_byte].lstrip(b"* ")]  # the parser includes a star
        self.calls.append(Call(expression, node.start_point.row + 1, self._stack[-1].function))


_CLASS, _FUNCTION, _FAULTY, _BLOCK, _IMPORT, _CALL = range(6)  # order of events at one position


def _pair_decorations(found: Found) -> Iterator[tuple[int, Node]]:
    """Yield (start of a definition, its decorated node), the innermost last if a fault has nested them."""
    for outer in sorted(found["decoration"], key=lambda node: (node.start_byte, -node.end_byte)):
        definition = outer.child_by_field_id(f.DEFINITION)
        if definition is not None:
            yield definition.start_byte, outer
