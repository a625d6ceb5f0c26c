"""Summarise the frames of one file, functions after the code around them (A-12)."""

from __future__ import annotations

import re

from tree_sitter import Node

from pkg.extract import node_fields as f
from pkg.extract.parser import find_first_child
from pkg.extract.summary import operations as o
from pkg.extract.summary.annotation_trees import Annotation, read_annotation
from pkg.extract.summary.assigned_targets import Targets
from pkg.extract.summary.expression_operations import Expressions
from pkg.extract.summary.frame_operations import Frame, Parameter, read_identifier
from pkg.extract.summary.operations import UNBOUND
from pkg.extract.summary.statements import Statements
from pkg.extract.summary.tested_conditions import Conditions

_ELSEWHERE = re.compile(rb"\b(global|nonlocal)[ \t\\]")


class _Parts:
    """The summarisers of one frame."""

    __slots__ = ("conditions", "expressions", "statements", "targets")

    def __init__(self, builder: Builder, frame: Frame) -> None:
        self.expressions = Expressions(builder, frame)
        self.targets = Targets(frame, self.expressions)
        self.conditions = Conditions(self.expressions, frame)
        self.statements = Statements(builder, frame, self.expressions, self.targets)


class Builder:
    """Summarise the frames of one file."""

    def __init__(self, definitions: dict[tuple[int, str], int], imports: dict[tuple[int, int], list[int]]) -> None:
        self.frames: list[Frame] = []
        self.depth = 0  # of the current expression
        self.levels = 0  # of blocks around the current statement
        self._source = b""  # the text of the file
        self.definitions = definitions  # numbers, by start and name
        self.imports = imports  # numbers of the imports of each statement, by its span
        self._waiting: list[tuple[Frame, Node]] = []
        self._shared: dict[int, set[str]] = {}  # by start of a function, names that nested functions bind
        self._parts: dict[int, _Parts] = {}

    def build(self, root: Node, import_names: list[tuple[str, bool]]) -> list[Frame]:
        """Summarise a file; `import_names` has the name that each import binds, and whether it is a star import."""
        self.import_names = import_names
        self._source = bytes(root.start_byte) + (root.text or b"")
        self._find_shared(root)
        module = self.open_frame(o.MODULE, "", None)
        module.shared |= self._shared.get(-1, set())
        self.statements(module).run(root.named_children)
        while self._waiting:
            frame, node = self._waiting.pop()
            self._run_function(frame, node)
        for frame in self.frames:
            frame.settle_reads()
        for frame in self.frames:
            self._finish(frame)
        self._parts.clear()  # they refer to this builder
        return self.frames

    def _find_shared(self, root: Node) -> None:
        """Find the names that functions bind in the module or in an enclosing function."""
        has_any = b"global" in self._source or b"nonlocal" in self._source
        for match in _ELSEWHERE.finditer(self._source) if has_any else ():
            start = match.start()
            word = root.descendant_for_byte_range(start, start + len(match[1]))
            statement = word.parent if word is not None else None
            if statement is None or statement.type not in ("global_statement", "nonlocal_statement"):
                continue
            names = {read_identifier(child) for child in statement.named_children}
            above, is_inside = statement.parent, False
            while above is not None:
                if above.type == "function_definition":
                    if is_inside and statement.type == "nonlocal_statement":
                        self._shared.setdefault(above.start_byte, set()).update(names)
                    is_inside = True
                above = above.parent
            if is_inside and statement.type == "global_statement":
                self._shared.setdefault(-1, set()).update(names)

    def open_frame(self, kind: int, name: str, parent: Frame | None, definition: int = -1) -> Frame:
        """Open a frame."""
        frame = Frame(kind, name, len(self.frames), parent, self._source, definition)
        self.frames.append(frame)
        self._parts[frame.number] = _Parts(self, frame)
        return frame

    def expressions(self, frame: Frame) -> Expressions:
        """Return the summariser of a frame's expressions."""
        return self._parts[frame.number].expressions

    def targets(self, frame: Frame) -> Targets:
        """Return the summariser of a frame's targets."""
        return self._parts[frame.number].targets

    def statements(self, frame: Frame) -> Statements:
        """Return the summariser of a frame's statements."""
        return self._parts[frame.number].statements

    def conditions(self, frame: Frame) -> Conditions:
        """Return the summariser of a frame's conditions."""
        return self._parts[frame.number].conditions

    def open_lambda(self, outer: Frame, node: Node) -> int:
        """Open the frame of a lambda; return the operation that makes it."""
        frame = self.open_frame(o.LAMBDA, "<lambda>", outer)
        defaults = self._open_parameters(outer, frame, node.child_by_field_id(f.PARAMETERS))
        self._waiting.append((frame, node))
        return outer.add(o.FUNC, frame.number, defaults)

    def open_function(self, outer: Frame, node: Node, name: str, start: int) -> int:
        """Open the frame of a function; return the operation that makes it."""
        frame = self.open_frame(o.FUNCTION, name, outer, self.definitions.get((start, name), -1))
        bounds = node.child_by_field_id(f.TYPE_PARAMETERS)
        if bounds is not None:
            self.expressions(outer).read_calls(bounds)
        defaults = self._open_parameters(outer, frame, node.child_by_field_id(f.PARAMETERS))
        returns = node.child_by_field_id(f.RETURN_TYPE)
        frame.returns = self._read_annotation(outer, returns) if returns is not None else None
        if self._source.startswith(b"async", node.start_byte):
            frame.flags |= o.IS_ASYNC
        self._waiting.append((frame, node))
        return outer.add(o.FUNC, frame.number, defaults)

    def _open_parameters(self, outer: Frame, frame: Frame, node: Node | None) -> list[tuple[int, int]]:
        """Read parameters; return the operations of their defaults, by the indices of the parameters."""
        kind, defaults = o.PLACED, list[tuple[int, int]]()
        for child in node.named_children if node is not None else ():
            type_name = child.type
            if type_name == "identifier":
                frame.parameters.append((frame.spell(child), kind, False, None))
                continue
            if type_name == "keyword_separator":
                kind = o.BY_NAME
                continue
            splat = _find_splat(child) if type_name == "typed_parameter" else type_name
            if splat == "list_splat_pattern":
                frame.parameters.append(self._read_parameter(outer, frame, child, o.REST))
                kind = o.BY_NAME
            elif splat == "dictionary_splat_pattern":
                frame.parameters.append(self._read_parameter(outer, frame, child, o.NAMED_REST))
            elif type_name in ("typed_parameter", "default_parameter", "typed_default_parameter"):
                frame.parameters.append(self._read_parameter(outer, frame, child, kind))
            elif type_name == "tuple_pattern":  # of Python 2
                frame.parameters.append(("", kind, False, None))
            value = child.child_by_field_id(f.VALUE)
            if value is not None:
                defaults.append((len(frame.parameters) - 1, self.expressions(outer).read(value)))
        return defaults

    def _read_annotation(self, outer: Frame, node: Node) -> Annotation:
        """Read an annotation; its calls belong to the frame around."""
        self.expressions(outer).read_calls(node)
        return read_annotation(node)

    def _read_parameter(self, outer: Frame, frame: Frame, node: Node, kind: int) -> Parameter:
        name, annotation = node.child_by_field_id(f.NAME), None
        value, kind_node = node.child_by_field_id(f.VALUE), node.child_by_field_id(f.TYPE)
        if kind_node is not None:
            annotation = self._read_annotation(outer, kind_node)
        if name is None:
            name = node
            while name.type != "identifier" and (inner := find_first_child(name)) is not None:
                name = inner
        return frame.spell(name), kind, value is not None, annotation

    def _run_function(self, frame: Frame, node: Node) -> None:
        body = node.child_by_field_id(f.BODY)
        frame.shared |= self._shared.get(node.start_byte, set())
        for place, (name, _, _, _) in enumerate(frame.parameters):
            if name:
                frame.bind(name, frame.add_once(o.PARAM, place))
        if body is None:
            return
        if frame.kind == o.LAMBDA:
            frame.add(o.RETURN, [self.expressions(frame).read(body)], [])
            return
        frame.flags |= _judge_body(body)
        self.statements(frame).run(body.named_children)

    def _finish(self, frame: Frame) -> None:
        """Complete the names of a frame after its code."""
        for name, nodes in frame.versions.items():
            if name in frame.globals:
                for node in dict.fromkeys(nodes):
                    frame.add(o.SET_GLOBAL, name, node)
            elif name in frame.nonlocals:
                owner = frame.find_owner(name)
                for node in dict.fromkeys(nodes) if owner is not None else ():
                    owner.captured.add(name)  # type: ignore[union-attr]
                    frame.add(o.SET_CELL, owner.number, name, node)  # type: ignore[union-attr]
        if frame.kind in (o.MODULE, o.CLASS_BODY):
            environment = frame.environment
            for name, nodes in frame.versions.items():
                if frame.kind == o.MODULE and name in frame.shared:
                    for each in dict.fromkeys(nodes):
                        frame.add(o.SET_GLOBAL, name, each)
                    continue
                node = environment.names.get(name, UNBOUND) if environment is not None else (nodes or [UNBOUND])[-1]
                if node != UNBOUND and name not in frame.globals and name not in frame.nonlocals:
                    frame.add(o.SET_GLOBAL if frame.kind == o.MODULE else o.MEMBER, name, node)
        frame.store_cells()


def _find_splat(parameter: Node) -> str:
    inner = find_first_child(parameter)
    return inner.type if inner is not None else ""


def _judge_body(body: Node) -> int:
    """Return the flag of a body that does nothing, or only raises NotImplementedError; docstrings do not count."""
    only: Node | None = None
    is_first = True
    for child in body.named_children:
        kind = child.type
        if kind == "comment":
            continue
        if is_first and kind == "expression_statement":
            is_first = False
            inner = find_first_child(child)
            if inner is not None and inner.type in ("string", "concatenated_string"):
                continue
        if only is not None:
            return 0
        only, is_first = child, False
    text = (only.text or b"") if only is not None else b""
    if text in (b"", b"pass", b"..."):
        return o.IS_STUB
    is_raising = only is not None and only.type == "raise_statement" and b"NotImplementedError" in text
    return o.IS_RAISING if is_raising else 0
