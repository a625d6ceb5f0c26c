"""Find the readers of a constant, field or class attribute by searching the texts of its source."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pkg.extract.syntax import parse_piece
from pkg.graph.graph_records import parse_import
from pkg.model import CERTAIN, POSSIBLE, Label, Node, RelationType
from pkg.retrieval.deps.answer import (
    READS,
    CallCoverage,
    Dependencies,
    Dependency,
    DepsOptions,
    Link,
    Place,
    apply_limit,
    make_place,
)
from pkg.retrieval.deps.names import Target
from pkg.retrieval.deps.neighbours import LinkReader, order_link
from pkg.retrieval.deps.paths import derive_module, list_code_files, name_unit

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore


FILE_BATCH = 200  # files whose texts are in memory together
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_BY_TEXT = ("getattr", "hasattr")  # functions that read an attribute whose name is a text


def find_readers(reader: LinkReader, target: Target, options: DepsOptions) -> Dependencies:
    """List the functions, classes and modules that read a constant, surest first, and count the reads."""
    search = _Search(reader, target)
    found = search.run() if options.direction != "out" and options.steps else {}
    links = sorted(search.make_links(found), key=lambda link: order_link(link, link.start))
    shown = links[: apply_limit(options.limit, len(links))]
    all_reads = [read for reads in found.values() for read in reads]
    possible = sum(confidence == POSSIBLE for _, confidence in all_reads)
    notes = (f"{search.unparsed:,} of the files that hold the name do not parse",) if search.unparsed else ()
    coverage = CallCoverage(
        scope=f"of {target.nodes[0].name} in all of the source",
        bound=len(all_reads) - possible,
        possible=possible,
        unbound=0,
        notes=notes,
        what="reads",
    )
    left_out = (("readers", len(links) - len(shown)),) if len(shown) < len(links) else ()
    listed = tuple(Dependency("readers", 1, target.place.id, link) for link in shown)
    return Dependencies(target.place, options.direction, listed, left_out, coverage)


@dataclass(slots=True)
class _Search:
    """One search through the texts of a source."""

    reader: LinkReader
    target: Target
    unparsed: int = 0
    _handles: dict[str, set[Handle]] = field(default_factory=lambda: defaultdict(set))  # by path
    _owners: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # by path

    @property
    def _store(self) -> GraphStore:
        return self.reader.store

    @property
    def _node(self) -> Node:
        return self.target.nodes[0]

    def run(self) -> dict[str, list[Read]]:
        """Return the reads by path of the file or row."""
        if self.reader.file_of(self._node) is None:
            return self._read_row()
        known = set(list_code_files(self._store, self._node.source))
        scope = self._node.qualname.rpartition(".")[0]
        self._handles[self._node.path].add(Handle(self._node.name, None, scope))
        for owner in self._list_owners(scope):
            self._owners[owner.path].add(owner.qualname)
            self._expose(known, owner.path, f"{owner.qualname}.{self._node.name}")
        if not scope:
            self._expose(known, self._node.path, self._node.name)
        return dict(self._read_files(sorted(known)))

    def _read_row(self) -> dict[str, list[Read]]:
        """Search only the piece of a row that holds the constant."""
        scope = self._node.qualname.rpartition(".")[0]
        handles = Handle(self._node.qualname), Handle(self._node.name, None, scope)
        question = ReadQuestion(self._node.name, handles, frozenset({scope}))
        for fragment in self._store.fragments([self._node.id]):
            first = self._node.start_line - fragment.text.count(b"\n", 0, self._node.start) - 1
            return {self._node.path: [(line + first, how) for line, how in self._read(fragment.text, question)]}
        return {}

    def _list_owners(self, scope: str) -> list[Node]:
        """List the class of a field, and its subclasses that do not redefine the field."""
        same = self._store.find_names([scope.rpartition(".")[2]], self._node.source) if scope else []
        level = [
            each for each in same if (each.label, each.path, each.qualname) == (Label.CLASS, self._node.path, scope)
        ]
        found: dict[str, Node] = {}
        while level:
            found |= {each.id: each for each in level}
            edges = self._store.neighbours([each.id for each in level], [RelationType.INHERITS], "in")
            below = self._store.get(sorted({edge.start for edge in edges} - found.keys()))
            level = [each for each in below if not self._redefines(each)]
        return list(found.values())

    def _redefines(self, below: Node) -> bool:
        edges = self._store.neighbours([below.id], [RelationType.CONTAINS], "out")
        return any(each.name == self._node.name for each in self._store.get([edge.end for edge in edges]))

    def _expose(self, known: set[str], path: str, qualname: str) -> None:
        """Follow a module's name to its importers, and from these to theirs.

        A name that becomes longer through a module is not followed: modules that import each other would never end.
        """
        self._handles[path].add(Handle(qualname))
        level, seen = {(path, qualname)}, set[tuple[str, str]]()
        ends = self._find_class(path, qualname)
        while level:
            seen |= level
            exposed: dict[str, list[str]] = defaultdict(list)
            for place, exported in sorted(level):
                for module, name in _list_packages(place, exported):
                    if module in known:
                        exposed[name_unit(self._node.source, module)].append(name)
            found = set(self._list_importers(exposed | ends))
            ends = {}  # all importers of a class are found at once, wherever they import it from
            for importer, handle in found:
                self._handles[importer].add(handle)
            names = {(importer, handle.dotted) for importer, handle in found}
            level = {each for each in names if each[1].count(".") <= qualname.count(".")} - seen

    def _find_class(self, path: str, qualname: str) -> dict[str, list[str]]:
        """Return the class that a qualified name begins with, by its id: imports of it lead there."""
        name, dot, _ = qualname.partition(".")
        same = self._store.find_names([name], self._node.source) if dot else []
        wanted = Label.CLASS, path, name
        return {each.id: [qualname] for each in same if (each.label, each.path, each.qualname) == wanted}

    def _list_importers(self, exposed: Mapping[str, list[str]]) -> Iterator[tuple[str, Handle]]:
        """Yield how each importer of some files or classes refers to the constant."""
        edges = self._store.neighbours(sorted(exposed), [RelationType.RESOLVES_TO], "in") if exposed else []
        nodes = {each.id: each for each in self._store.get(sorted({edge.start for edge in edges}))}
        for edge in edges:
            for qualname in exposed[edge.end]:
                handle = _make_handle(nodes[edge.start], edge.rule, qualname)
                if handle is not None:
                    yield nodes[edge.start].path, handle

    def _read_files(self, paths: list[str]) -> Iterator[tuple[str, list[Read]]]:
        name, first = self._node.name, self._node.qualname.partition(".")[0]
        packages = {each.name: each.package for each in self._store.sources()}
        module = derive_module(self._node.path, packages[self._node.source])
        word = re.escape(name.encode("utf-8", "replace"))
        attribute_use = re.compile((rb"[.\"']\s*" if first != name else rb"(?<!\w)") + word + rb"(?!\w)")
        for start in range(0, len(paths), FILE_BATCH):
            for path, text in self._store.texts(self._node.source, paths[start : start + FILE_BATCH]):
                handles, owners = self._handles.get(path, set()), self._owners.get(path, set())
                if handles or owners or attribute_use.search(text):
                    question = ReadQuestion(name, tuple(handles), frozenset(owners), module, first)
                    own = self._list_own_lines() if path == self._node.path else frozenset()
                    reads = [each for each in self._read(text, question) if each[0] not in own or each[1] == CERTAIN]
                    if reads:
                        yield path, reads

    def _list_own_lines(self) -> frozenset[int]:
        spans = (range(node.start_line, node.end_line + 1) for node in self.target.nodes)
        return frozenset(line for span in spans for line in span)

    def _read(self, text: bytes, question: ReadQuestion) -> list[Read]:
        reads = find_reads(text, question)
        if reads is None:
            self.unparsed += 1
            return find_words(text, question.name)
        return reads

    def make_links(self, found: Mapping[str, list[Read]]) -> Iterator[Link]:
        """Yield a link from each place that reads the constant, one for each confidence."""
        end, source = self.target.place, self._node.source
        is_row = self.reader.file_of(self._node) is None
        for path, reads in found.items():
            (unit,) = self._store.get([name_unit(source, path, Label.ROW if is_row else Label.FILE)])
            inside = [each for each in self._store.subtree(unit.id) if each.label in (Label.CLASS, Label.FUNCTION)]
            lines: dict[tuple[Place, str], set[int]] = defaultdict(set)
            for line, confidence in reads:
                around = [each for each in inside if each.start_line <= line <= each.end_line]
                innermost = min(around, key=lambda each: (each.end - each.start, each.id), default=unit)
                lines[make_place(innermost), confidence].add(line)
            for (place, confidence), at in lines.items():
                yield Link(type=READS, start=place, end=end, lines=tuple(sorted(at)), rule=None, confidence=confidence)


def _list_packages(path: str, qualname: str) -> Iterator[tuple[str, str]]:
    """Yield a module with a name in it, and the packages around it with their names for that."""
    yield path, qualname
    folder, _, file = path.rpartition("/")
    if file == "__init__.py":
        folder, _, file = folder.rpartition("/")
    while file:  # the root itself may be a package
        qualname = f"{file.partition('.')[0]}.{qualname}"
        yield f"{folder}/__init__.py".removeprefix("/"), qualname
        folder, _, file = folder.rpartition("/")


def _make_handle(node: Node, rule: str | None, qualname: str) -> Handle | None:
    """Return how a file refers to a name of an import's target; None if it imports something else."""
    record = parse_import(node.properties)
    first, _, rest = qualname.partition(".")
    if record.name == "*":
        return None if first.startswith("_") else Handle(qualname, is_star=True)
    if record.name is None:
        return Handle(f"{record.alias or record.module}.{qualname}", node.start_line)
    if rule == "module":
        return Handle(f"{record.bound_name}.{qualname}", node.start_line)
    if rule == "class" or record.name == first:
        return Handle(f"{record.bound_name}.{rest}".strip("."), node.start_line)
    return None


@dataclass(frozen=True, slots=True)
class Handle:
    """A dotted expression by which a file refers to the constant, and the scope where its first name means that."""

    dotted: str
    line: int | None = None  # of the import that binds the first name; None for the scope of a class or the module
    scope: str = ""  # qualified name of the class whose scope it is; "" for the module
    confidence: str = CERTAIN
    is_star: bool = False  # whether it comes from a star import, which bindings of the module hide


@dataclass(frozen=True, slots=True)
class ReadQuestion:
    """The constant to look for in one file."""

    name: str  # of the constant, without its class
    handles: tuple[Handle, ...] = ()
    owners: frozenset[str] = frozenset()  # qualified names of the classes here whose instances have the attribute
    module: str = ""  # dotted name of its module, for unresolved imports that may mean it
    first: str = ""  # name that such an import must import; "" if none can


Read = tuple[int, str]
"""A line, and the confidence that it reads the constant."""


def find_reads(text: bytes, question: ReadQuestion) -> list[Read] | None:
    """List the reads in a text by line, by Python's scoping rules; None if the running Python cannot parse it.

    A name means what the innermost scope around it binds; class bodies are scopes only for the code directly in them.
    An attribute of anything but a known module or class is only possible.
    """
    tree = parse_piece(text)
    return None if tree is None else sorted(_Analysis(tree, question).list_reads())


def find_words(text: bytes, name: str) -> list[Read]:
    """List the lines that have a name, for a text that does not parse: each may read it."""
    word = re.compile(rb"(?<!\w)" + re.escape(name.encode("utf-8", "replace")) + rb"(?!\w)")
    return [(number, POSSIBLE) for number, line in enumerate(text.split(b"\n"), 1) if word.search(line)]


@dataclass(eq=False, slots=True)
class _Scope:
    kind: str  # module, class or function; a comprehension is a function
    parent: _Scope | None
    qualname: str = ""
    receiver: str = ""  # first parameter of a method
    is_comprehension: bool = False
    bound: set[str] = field(default_factory=set)
    globals: set[str] = field(default_factory=set)
    outer: set[str] = field(default_factory=set)  # declared nonlocal
    modules: set[str] = field(default_factory=set)  # names bound by `import name` of other modules
    guessed: set[str] = field(default_factory=set)  # names of imports that may mean the constant, by their words


class _Analysis:
    """Scopes of a module, and the reads in each."""

    def __init__(self, tree: ast.Module, question: ReadQuestion) -> None:
        self._question = question
        self._module = _Scope("module", None)
        self._classes: dict[str, _Scope] = {}
        self._imports: dict[tuple[int, str], _Scope] = {}  # by line and name
        self._names: list[tuple[ast.Name, _Scope]] = []
        self._attributes: list[tuple[ast.Attribute, _Scope]] = []
        self._texts: list[int] = []  # lines that read the attribute by a text
        self._open: list[tuple[ast.AST, _Scope]] = [(each, self._module) for each in tree.body]
        while self._open:  # an explicit stack: expressions may be nested deeper than Python's
            self._visit(*self._open.pop())

    def _visit(self, node: ast.AST, scope: _Scope) -> None:
        if isinstance(node, _FUNCTIONS):
            self._enter_function(node, scope)
        elif isinstance(node, ast.ClassDef):
            self._enter_class(node, scope)
        elif isinstance(node, _COMPREHENSIONS):
            self._enter_comprehension(node, scope)
        else:
            self._note(node, scope)
            self._open += [(child, scope) for child in ast.iter_child_nodes(node)]

    def _enter_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: _Scope) -> None:
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        inner = _Scope("function", scope, bound={each.arg for each in every if each is not None})
        outside: list[ast.AST | None] = [*arguments.defaults, *arguments.kw_defaults]
        if isinstance(node, ast.Lambda):
            self._open.append((node.body, inner))
        else:
            scope.bound.add(node.name)
            inner.qualname = f"{scope.qualname}.{node.name}".strip(".")
            decorators = [each.id for each in node.decorator_list if isinstance(each, ast.Name)]
            first = [*arguments.posonlyargs, *arguments.args][:1]
            if scope.kind == "class" and first and "staticmethod" not in decorators:
                inner.receiver = first[0].arg
            outside += [*node.decorator_list, node.returns, *(each.annotation for each in every if each is not None)]
            self._open += [(each, inner) for each in node.body]
        self._open += [(each, scope) for each in outside if each is not None]

    def _enter_class(self, node: ast.ClassDef, scope: _Scope) -> None:
        scope.bound.add(node.name)
        inner = _Scope("class", scope, f"{scope.qualname}.{node.name}".strip("."))
        self._classes.setdefault(inner.qualname, inner)
        self._open += [(each, scope) for each in (*node.decorator_list, *node.bases, *node.keywords)]
        self._open += [(each, inner) for each in node.body]

    def _enter_comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, scope: _Scope
    ) -> None:
        """Enter a comprehension; only the iterable of its first loop is evaluated in the outer scope."""
        inner = _Scope("function", scope, scope.qualname, is_comprehension=True)
        first, *others = node.generators
        self._open += [(first.iter, scope), (first.target, inner), *((each, inner) for each in first.ifs)]
        self._open += [(each, inner) for each in others]
        results = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        self._open += [(each, inner) for each in results]

    def _note(self, node: ast.AST, scope: _Scope) -> None:
        """Record the names that a node binds or reads."""
        match node:
            case ast.Name(ctx=ast.Load()):
                self._names.append((node, scope))
            case ast.Name(id=name):
                scope.bound.add(name)
            case ast.Attribute(ctx=ast.Load()):
                self._attributes.append((node, scope))
            case ast.AugAssign(target=ast.Name() as target):
                self._names.append((target, scope))
            case ast.AugAssign(target=ast.Attribute() as target):
                self._attributes.append((target, scope))
            case ast.NamedExpr(target=target):
                _leave_comprehensions(scope).bound.add(target.id)
            case ast.Import(names=names):
                self._note_import(node.lineno, names, scope)
                scope.modules.update(each.asname or each.name for each in names if not self._may_be(each.name))
            case ast.ImportFrom(names=names, module=module):
                self._note_import(node.lineno, names, scope)
                if self._may_be(module or ""):
                    scope.guessed.update(
                        each.asname or each.name for each in names if each.name == self._question.first
                    )
            case ast.Global(names=declared):
                scope.globals.update(declared)
            case ast.Nonlocal(names=declared):
                scope.outer.update(declared)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                scope.bound.add(name)
            case ast.MatchMapping(rest=str(name)):
                scope.bound.add(name)
            case ast.Call(func=ast.Name(id=called), args=[_, ast.Constant(value=self._question.name), *_]):
                self._texts += [node.lineno] if called in _BY_TEXT else []

    def _note_import(self, line: int, names: list[ast.alias], scope: _Scope) -> None:
        for each in names:
            bound = each.asname or each.name.partition(".")[0]
            scope.bound.add(bound)
            self._imports[line, bound] = scope

    def _may_be(self, module: str) -> bool:
        """Return whether a module name may mean the constant's module, relative to any folder."""
        one, other = f".{module}", f".{self._question.module}"
        return bool(module) and (one.endswith(other) or other.endswith(one))

    def list_reads(self) -> Iterator[Read]:
        """Yield each line that reads the constant."""
        handles = list(self._place_handles())
        wanted = {handle.dotted for handle, _ in handles} | self._list_guessed()
        for name, scope in self._names:
            if name.id in wanted:
                of = self._resolve(name.id, scope)
                confidence = self._judge_name(name.id, of, handles) if of is not None else None
                if confidence is not None:
                    yield name.lineno, confidence
        for attribute, scope in self._attributes:
            if attribute.attr == self._question.name:
                confidence = self._judge(attribute, scope, handles)
                if confidence is not None:
                    yield attribute.end_lineno or attribute.lineno, confidence
        for line in self._texts:
            yield line, POSSIBLE

    def _list_guessed(self) -> set[str]:
        """Return the names that imports bind and that may mean the constant itself, not a class with the field."""
        if self._question.first != self._question.name:
            return set()
        return {name for scope in set(self._imports.values()) for name in scope.guessed}

    def _judge_name(self, name: str, of: _Scope, handles: list[tuple[Handle, _Scope]]) -> str | None:
        for handle, where in handles:
            if handle.dotted == name and of is where:
                return handle.confidence
        return POSSIBLE if name in of.guessed and name in self._list_guessed() else None

    def _place_handles(self) -> Iterator[tuple[Handle, _Scope]]:
        """Yield the handles whose scope exists."""
        for handle in self._question.handles:
            first = handle.dotted.partition(".")[0]
            if handle.line is not None:
                scope = self._imports.get((handle.line, first))
            else:
                scope = self._classes.get(handle.scope) if handle.scope else self._module
            if scope is not None and not (handle.is_star and first in self._module.bound):
                yield handle, self._module if first in scope.globals else scope

    def _judge(self, attribute: ast.Attribute, scope: _Scope, handles: list[tuple[Handle, _Scope]]) -> str | None:
        """Return the confidence that an attribute of the name is the constant; None if it is something else."""
        dotted = _write_dotted(attribute)
        if dotted is None:
            return POSSIBLE
        first = dotted.partition(".")[0]
        of = self._resolve(first, scope)
        for handle, where in handles:
            if handle.dotted == dotted and of is where:
                return handle.confidence
        if of is None or dotted != f"{first}.{attribute.attr}":
            return POSSIBLE
        if first == of.receiver and of.parent is not None:
            return self._judge_receiver(of.parent, attribute.attr)
        return None if first in of.modules else POSSIBLE

    def _judge_receiver(self, owner: _Scope, name: str) -> str | None:
        """Judge an attribute of self or cls by the class of the method."""
        if owner.qualname in self._question.owners:
            return CERTAIN
        return None if name in owner.bound else POSSIBLE

    def _resolve(self, name: str, scope: _Scope) -> _Scope | None:
        """Return the scope that binds a name; None for a name of a star import or a builtin."""
        place: _Scope | None = scope
        while place is not None:
            if name in place.globals:
                return self._module
            is_seen = place is scope or place.kind != "class"
            if is_seen and name in place.bound and name not in place.outer:
                return place
            place = place.parent
        stars = (each.dotted.partition(".")[0] for each in self._question.handles if each.is_star)
        return self._module if name in stars else None


def _leave_comprehensions(scope: _Scope) -> _Scope:
    """Return the scope in which a walrus inside comprehensions binds its name."""
    while scope.is_comprehension and scope.parent is not None:
        scope = scope.parent
    return scope


def _write_dotted(attribute: ast.Attribute) -> str | None:
    """Return an attribute of names, such as settings.Color.RED, as text; None for other expressions."""
    parts = [attribute.attr]
    value = attribute.value
    while isinstance(value, ast.Attribute):
        parts.append(value.attr)
        value = value.value
    return ".".join(reversed([*parts, value.id])) if isinstance(value, ast.Name) else None
