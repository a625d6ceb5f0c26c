"""Sum up statements: what they bind, and in which order they run (A-12)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from tree_sitter import Node

from pkg.extract.parser import find_first_child
from pkg.extract.summary import operations as o
from pkg.extract.summary.annotation_trees import Annotation, read_annotation
from pkg.extract.summary.environment import SHARED, UNBOUND, Environment, Loop, copy
from pkg.extract.summary.expression_operations import Expressions, is_plain_text, place_key
from pkg.extract.summary.frame_operations import Frame, Parameter, read_identifier
from pkg.extract.summary.patterns import Patterns
from pkg.extract.summary.tested_conditions import Conditions, decide, is_checking

IS_GENERATOR, IS_ASYNC, IS_STUB, IS_RAISING = 1, 2, 4, 8
"""Flags of a frame: it yields, it is a coroutine, its body does nothing, its body raises NotImplementedError."""

_SEVERAL = ("pattern_list", "tuple_pattern", "list_pattern", "tuple", "list", "expression_list")
_ELSEWHERE = re.compile(rb"\b(global|nonlocal)[ \t\\]")
_SUPPRESSING = re.compile(rb"[\w.]*\b(?:suppress|raises|assertRaises|assertRaisesRegex)\s*\(")
"""Contexts that go on behind a fault."""
_SPLATS = ("list_splat_pattern", "list_splat")


class Builder:
    """Sum up the frames of one file."""

    def __init__(self, definitions: dict[tuple[int, str], int], imports: dict[tuple[int, int], list[int]]) -> None:
        self.frames: list[Frame] = []
        self.depth = 0  # of the expression that is summed up
        self._source = b""  # the text of the file
        self.definitions = definitions  # numbers, by where they begin and their names
        self.imports = imports  # numbers of the imports of each statement, by its span
        self._waiting: list[tuple[Frame, Node]] = []
        self._shared: dict[int, set[str]] = {}  # by where a function begins, names that functions inside bind
        self._parts: dict[int, tuple[Expressions, Statements, Conditions]] = {}

    def build(self, root: Node, import_names: list[tuple[str, bool]]) -> list[Frame]:
        """Sum up a file; `import_names` has what each import binds, and whether it is a star import."""
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
        """Find the names that functions bind in the module or in a function around them."""
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
        expressions = Expressions(self, frame)
        self._parts[frame.number] = (expressions, None, None)  # type: ignore[assignment]
        self._parts[frame.number] = (expressions, Statements(self, frame), Conditions(self, frame))
        return frame

    def expressions(self, frame: Frame) -> Expressions:
        """Return what sums up the expressions of a frame."""
        return self._parts[frame.number][0]

    def statements(self, frame: Frame) -> Statements:
        """Return what sums up the statements of a frame."""
        return self._parts[frame.number][1]

    def conditions(self, frame: Frame) -> Conditions:
        """Return what sums up the conditions of a frame."""
        return self._parts[frame.number][2]

    def open_lambda(self, outer: Frame, node: Node) -> int:
        """Open the frame of a lambda; returns the operation that makes it."""
        frame = self.open_frame(o.LAMBDA, "<lambda>", outer)
        defaults = self._open_parameters(outer, frame, node.child_by_field_name("parameters"))
        self._waiting.append((frame, node))
        return outer.add(o.FUNC, frame.number, defaults)

    def open_function(self, outer: Frame, node: Node, name: str, start: int) -> int:
        """Open the frame of a function; returns the operation that makes it."""
        frame = self.open_frame(o.FUNCTION, name, outer, self.definitions.get((start, name), -1))
        bounds = node.child_by_field_name("type_parameters")
        if bounds is not None:
            self.expressions(outer).read_calls(bounds)
        defaults = self._open_parameters(outer, frame, node.child_by_field_name("parameters"))
        returns = node.child_by_field_name("return_type")
        frame.returns = self._read_annotation(outer, returns) if returns is not None else None
        if node.child_count and node.children[0].type == "async":
            frame.flags |= IS_ASYNC
        self._waiting.append((frame, node))
        return outer.add(o.FUNC, frame.number, defaults)

    def _open_parameters(self, outer: Frame, frame: Frame, node: Node | None) -> list[tuple[int, int]]:
        """Read parameters; returns the operations of their defaults, by the places of the parameters."""
        kind, defaults = o.PLACED, list[tuple[int, int]]()
        for child in node.named_children if node is not None else ():
            if child.type == "keyword_separator":
                kind = o.BY_NAME
                continue
            if child.type in ("list_splat_pattern", "typed_parameter") and _find_splat(child) == "list_splat_pattern":
                frame.parameters.append(self._read_parameter(outer, frame, child, o.REST))
                kind = o.BY_NAME
            elif _find_splat(child) == "dictionary_splat_pattern":
                frame.parameters.append(self._read_parameter(outer, frame, child, o.NAMED_REST))
            elif child.type in ("identifier", "typed_parameter", "default_parameter", "typed_default_parameter"):
                frame.parameters.append(self._read_parameter(outer, frame, child, kind))
            elif child.type == "tuple_pattern":  # of Python 2
                frame.parameters.append(("", kind, False, None))
            value = child.child_by_field_name("value")
            if value is not None:
                defaults.append((len(frame.parameters) - 1, self.expressions(outer).read(value)))
        return defaults

    def _read_annotation(self, outer: Frame, node: Node) -> Annotation:
        """Read an annotation; what it calls is called by the code that it stands in."""
        self.expressions(outer).read_calls(node)
        return read_annotation(node)

    def _read_parameter(self, outer: Frame, frame: Frame, node: Node, kind: int) -> Parameter:
        name, annotation = node.child_by_field_name("name"), None
        value, kind_node = node.child_by_field_name("value"), node.child_by_field_name("type")
        if kind_node is not None:
            annotation = self._read_annotation(outer, kind_node)
        if name is None:
            name = node
            while name.type != "identifier" and (inner := find_first_child(name)) is not None:
                name = inner
        return frame.spell(name), kind, value is not None, annotation

    def _run_function(self, frame: Frame, node: Node) -> None:
        body = node.child_by_field_name("body")
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
        """Add what is left of the names of a frame when its code has run."""
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


def _find_splat(node: Node) -> str:
    inner = find_first_child(node) if node.type == "typed_parameter" else node
    return inner.type if inner is not None else ""


def _judge_body(body: Node) -> int:
    """Tell whether a body does nothing, or only raises NotImplementedError; a docstring does not count."""
    statements = [child for child in body.named_children if child.type != "comment"]
    if statements and statements[0].type == "expression_statement":
        inner = find_first_child(statements[0])
        if inner is not None and inner.type in ("string", "concatenated_string"):
            statements = statements[1:]
    if not statements or len(statements) == 1:
        text = (statements[0].text or b"") if statements else b""
        if text in (b"", b"pass", b"..."):
            return IS_STUB
        if statements[0].type == "raise_statement" and b"NotImplementedError" in text:
            return IS_RAISING
    return 0


class Statements:
    """Sum up the statements of one frame."""

    def __init__(self, builder: Builder, frame: Frame) -> None:
        self._builder = builder
        self._frame = frame
        self._expressions = builder.expressions(frame)
        self._loops: list[Loop] = []

    def run(self, nodes: Iterable[Node]) -> None:
        """Sum up statements in their order; what no run comes to is summed up by itself."""
        for node in nodes:
            handler = _HANDLERS.get(node.type)
            if handler is None:
                self._run_other(node)
                continue
            if self._frame.environment is None:
                self._run_dead(handler, node)
            else:
                handler(self, node)

    def _run_dead(self, handler: Callable[[Statements, Node], None], node: Node) -> None:
        frame = self._frame
        frame.environment = Environment()
        versions, frame.versions = frame.versions, {name: list(nodes) for name, nodes in frame.versions.items()}
        handler(self, node)
        for name in frame.versions:
            versions.setdefault(name, [])
        frame.versions = versions
        frame.environment = None

    def _run_other(self, node: Node) -> None:
        if node.type in ("comment", "pass_statement", "future_import_statement"):
            return
        for child in node.named_children:
            if child.type in _HANDLERS:
                self.run([child])
            elif child.type != "comment":
                self._expressions.read(child)

    def _run_block(self, node: Node | None) -> None:
        if node is not None:
            self.run(node.named_children)

    def _run_expression(self, node: Node) -> None:
        for child in node.named_children:
            if child.type == "assignment":
                self._assign(child)
            elif child.type == "augmented_assignment":
                self._augment(child)
            elif child.type != "comment" and not is_plain_text(child):
                self._expressions.read(child)

    # What binds names.

    def _assign(self, node: Node) -> int:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        kind = node.child_by_field_name("type")
        annotation = read_annotation(kind) if kind is not None else None
        if kind is not None:
            self._expressions.read_calls(kind)
        value = UNBOUND
        if right is not None:
            value = self._assign(right) if right.type == "assignment" else self._expressions.read(right)
        if left is None:
            return value
        if annotation is None and left.type == "identifier" and self._frame.declared:
            annotation = self._frame.declared.get(self._frame.spell(left))
        if annotation is not None:
            value = self._declare(left, annotation, value)
            if value == UNBOUND:
                return value
        self.assign(left, value, right)
        return value

    def _declare(self, left: Node, annotation: Annotation, value: int) -> int:
        """Add what an annotation promises; one without a value declares what is not bound yet."""
        frame = self._frame
        is_bare = value == UNBOUND and left.type == "identifier" and frame.kind == o.FUNCTION
        if is_bare and frame.spell(left) in frame.versions:
            return UNBOUND
        if value == UNBOUND and left.type == "identifier":
            frame.declared[frame.spell(left)] = annotation
        return frame.add(o.DECLARE, annotation, value)

    def assign(self, target: Node, value: int, source: Node | None = None) -> None:
        """Bind a target to what an operation gives."""
        frame, kind = self._frame, target.type
        if kind in ("identifier", "keyword_identifier"):
            frame.bind(frame.spell(target), value)
        elif kind in ("attribute", "subscript"):
            place = self._open_place(target)
            if place is not None:
                self._assign_place(target, place, value)
        elif kind in _SEVERAL:
            self._unpack(target, value, source)
        elif kind in _SPLATS or kind in ("parenthesized_expression", "as_pattern_target"):
            inner = find_first_child(target)
            if inner is not None:
                self.assign(inner, value)
        else:
            self._expressions.read_calls(target)

    def _open_place(self, target: Node) -> tuple[int, int | str] | None:
        """Read what an attribute or item that is assigned to is of, and its name or key."""
        if target.type == "attribute":
            base, name = target.child_by_field_name("object"), target.child_by_field_name("attribute")
            if base is None or name is None:
                return None
            return self._expressions.read(base), self._frame.spell(name)
        base = target.child_by_field_name("value")
        if base is None:
            return None
        owner = self._expressions.read(base)
        return owner, self._expressions.read_key(target.children_by_field_name("subscript"))

    def _assign_place(self, target: Node, place: tuple[int, int | str], value: int) -> None:
        """Assign to an attribute or item."""
        owner, key = place
        if isinstance(key, str):
            self._frame.add(o.SET_ATTR, owner, key, value, self._expressions.site(target))
            self._store(owner, key, value)
            return
        self._frame.add(o.SET_ITEM, owner, key, value, self._expressions.site(target.named_children[0]))
        keys = target.children_by_field_name("subscript")
        written = place_key(keys[0]) if len(keys) == 1 else None
        if written is not None:
            self._store(owner, written, value)
        elif self._frame.environment is not None:
            places = self._frame.environment.places
            self._frame.environment.places = {each: places[each] for each in places if each[1][:1] != "["}

    def _store(self, owner: int, place: str, value: int) -> None:
        """Note what was stored at a place: other objects may have been stored to by the same name."""
        environment = self._frame.environment
        if environment is not None:
            for other in [each for each in environment.places if each[1] == place and each[0] != owner]:
                del environment.places[other]
            environment.places[owner, place] = value

    def _unpack(self, target: Node, value: int, source: Node | None) -> None:
        targets = [child for child in target.named_children if child.type != "comment"]
        starred = next((place for place, each in enumerate(targets) if each.type in _SPLATS), -1)
        sources = _list_sources(source)
        if sources is not None and starred < 0 and len(sources) == len(targets):
            operation = self._frame.nodes[value]
            if operation[0] == o.COLLECT and len(operation[2]) == len(targets):
                for each, element, origin in zip(targets, operation[2], sources, strict=True):
                    self.assign(each, element[1], origin)
                return
        site = self._expressions.site(target)
        for place, each in enumerate(targets):
            self.assign(each, self._frame.add(o.UNPACK, value, place, len(targets), starred, site if not place else -1))

    def assign_hidden(self, target: Node, value: int, bound: list[str]) -> None:
        """Bind a target of a comprehension, which is no name of the frame."""
        frame = self._frame
        versions, frame.versions = frame.versions, {}
        self.assign(target, value)
        for name, nodes in frame.versions.items():
            frame.hidden.setdefault(name, []).extend(nodes)
            bound.append(name)
        frame.versions = versions

    def _augment(self, node: Node) -> int:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        sign = node.child_by_field_name("operator")
        if left is None or right is None:
            return UNBOUND
        expressions = self._expressions
        place = self._open_place(left) if left.type in ("attribute", "subscript") else None
        if place is None:
            before = expressions.read(left)
        elif isinstance(place[1], str):
            before = expressions.read_member(place[0], place[1], left)
        else:
            before = expressions.read_item(place[0], place[1], left)
        other = expressions.read(right)
        mark = sign.type[:-1] if sign is not None else "+"
        value = self._frame.add(o.INPLACE, mark, before, other, expressions.site(left))
        if place is None:
            self.assign(left, value)
        else:
            self._assign_place(left, place, value)
        return value

    def _run_import(self, node: Node) -> None:
        frame = self._frame
        for number in self._builder.imports.get((node.start_byte, node.end_byte), ()):
            name, is_star = self._builder.import_names[number]
            if is_star:
                frame.add(o.STAR, number)
                frame.bind_star(number)
            else:
                frame.bind(frame.spelling.mangle(name), frame.add(o.IMPORT, number))

    def _run_names(self, node: Node) -> None:
        names = {self._frame.spell(child) for child in node.named_children}
        if node.type == "global_statement":
            self._frame.globals |= names
        elif self._frame.kind != o.MODULE:
            self._frame.nonlocals |= names
        if self._frame.kind != o.MODULE:
            self._frame.shared |= names

    def _delete(self, node: Node) -> None:
        for child in node.named_children:
            self._delete_target(child)

    def _delete_target(self, node: Node) -> None:
        frame = self._frame
        if node.type == "identifier":
            name = frame.spell(node)
            frame.versions.setdefault(name, [])
            if frame.environment is not None:
                frame.environment.bind(name, UNBOUND)
                frame.environment.places.pop((SHARED, name), None)
        elif node.type == "attribute":
            base, name_node = node.child_by_field_name("object"), node.child_by_field_name("attribute")
            if base is not None and name_node is not None:
                owner, attribute = self._expressions.read(base), frame.spell(name_node)
                frame.add(o.DEL_ATTR, owner, attribute, self._expressions.site(node))
                frame.forget_places()
        elif node.type == "subscript":
            base = node.child_by_field_name("value")
            if base is not None:
                owner = self._expressions.read(base)
                key = self._expressions.read_key(node.children_by_field_name("subscript"))
                frame.add(o.DEL_ITEM, owner, key, self._expressions.site(base))
                frame.forget_places()
        else:
            for child in node.named_children:
                self._delete_target(child)

    # Definitions.

    def _define_function(self, node: Node) -> None:
        self._define(node, node, [])

    def _define_class(self, node: Node) -> None:
        self._define(node, node, [])

    def _define_decorated(self, node: Node) -> None:
        definition = node.child_by_field_name("definition")
        if definition is None:
            self._run_other(node)
            return
        decorators: list[tuple[int, int]] = []
        for child in node.named_children:
            if child.type == "decorator":
                inner = find_first_child(child)
                if inner is not None:
                    decorators.append((self._expressions.read(inner), int(inner.type == "call")))
        self._define(node, definition, decorators)

    def _define(self, whole: Node, node: Node, decorators: list[tuple[int, int]]) -> None:
        name_node, frame = node.child_by_field_name("name"), self._frame
        if name_node is None:
            return
        name = read_identifier(name_node)
        site = frame.add_site(o.SITE_DEFINITION, whole.start_byte, node.start_byte)
        if node.type == "function_definition":
            value = self._builder.open_function(frame, node, name, whole.start_byte)
        else:
            value = self._open_class(node, name, whole.start_byte)
        if decorators:
            value = frame.add(o.DECORATE, value, decorators, site)
            frame.forget_places()
        frame.bind(frame.spell(name_node), value)

    def _open_class(self, node: Node, name: str, start: int) -> int:
        site = self._frame.add_site(o.SITE_DEFINITION, start, node.start_byte)
        frame, bases, keywords = self._frame, list[int](), list[tuple[str, int]]()
        heads, bounds = node.child_by_field_name("superclasses"), node.child_by_field_name("type_parameters")
        if bounds is not None:
            self._expressions.read_calls(bounds)
        if heads is not None:
            placed, keywords = self._expressions.read_arguments(heads)
            bases = [each for each, starred in placed if not starred]
        inner = self._builder.open_frame(o.CLASS_BODY, name, frame, self._builder.definitions.get((start, name), -1))
        value = frame.add(o.CLASS, inner.number, bases, keywords, site)
        body = node.child_by_field_name("body")
        self._builder.statements(inner)._run_block(body)
        return value

    # What decides which statements run.

    def _run_if(self, node: Node) -> None:
        frame = self._frame
        condition, body = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        others = node.children_by_field_name("alternative")
        if condition is None:
            self._run_other(node)
            return
        checking = is_checking(condition)
        _, holds, fails = self._builder.conditions(frame).test(condition)
        ends: list[Environment | None] = []
        promised: Environment | None = None
        if checking and frame.environment is not None:
            frame.environment = frame.environment.copy()
            self._run_block(body)
            promised = frame.environment
        elif holds is None:
            self._run_never(body)
        else:
            frame.environment = holds
            self._run_block(body)
            ends.append(frame.environment)
        frame.environment = fails
        if others:
            self._run_alternatives(others, fails)
        ends.append(frame.environment)
        frame.environment = frame.join(ends)
        if promised is not None and frame.environment is not None:
            for name, number in promised.names.items():
                if name not in frame.environment.names:
                    frame.environment.bind(name, number)

    def _run_never(self, body: Node | None) -> None:
        """Sum up what never runs by itself."""
        frame = self._frame
        frame.environment = None
        self._run_block(body)

    def _run_alternatives(self, nodes: list[Node], fails: Environment | None) -> None:
        """Sum up what is tried where a condition fails, one after the other."""
        frame = self._frame
        ends: list[Environment | None] = []
        for node in nodes:
            frame.environment = fails
            if node.type == "else_clause":
                body, holds, fails = node.child_by_field_name("body"), fails, None
            else:
                condition, body = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
                if condition is None:
                    continue
                _, holds, fails = self._builder.conditions(frame).test(condition)
            if holds is None:
                self._run_never(body)
            else:
                frame.environment = holds
                self._run_block(body)
            ends.append(frame.environment)
        frame.environment = frame.join([*ends, fails])

    def _run_for(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            self._run_other(node)
            return
        value = self._expressions.read(right)
        is_async = int(bool(node.child_count) and node.children[0].type == "async")
        site = self._expressions.site(right)

        def run_body(loop: Loop, environment: Environment) -> Environment | None:
            self._frame.environment = environment
            self.assign(left, self._frame.add(o.ITER, value, is_async, site))
            self._run_block(node.child_by_field_name("body"))
            return self._frame.environment

        self._run_loop(node, run_body, never_ends=False)

    def _run_while(self, node: Node) -> None:
        condition = node.child_by_field_name("condition")
        if condition is None:
            self._run_other(node)
            return
        exits: list[Environment | None] = []

        def run_body(loop: Loop, environment: Environment) -> Environment | None:
            self._frame.environment = environment
            _, holds, fails = self._builder.conditions(self._frame).test(condition)
            exits.append(fails)
            if holds is None:
                self._run_never(node.child_by_field_name("body"))
                return None
            self._frame.environment = holds
            self._run_block(node.child_by_field_name("body"))
            return self._frame.environment

        self._run_loop(node, run_body, never_ends=decide(condition) is True)

    def _run_loop(self, node: Node, body: Callable[[Loop, Environment], Environment | None], never_ends: bool) -> None:
        frame = self._frame
        outer = frame.environment
        if outer is None:
            return
        outer.places = {}
        opened: list[Loop] = []

        def run_body(loop: Loop, environment: Environment) -> Environment | None:
            opened.append(loop)
            self._loops.append(loop)
            end = body(loop, environment)
            self._loops.pop()
            return end

        after: Environment | None = frame.run_loop(outer, run_body)
        if never_ends:
            after = None
        frame.environment = after
        alternative = node.child_by_field_name("alternative")
        if alternative is not None:
            self._run_block(alternative.child_by_field_name("body"))
        ends = [frame.environment, *(each for loop in opened for each in loop.left)]
        for each in ends:
            if each is not None:
                each.places = {}
        frame.environment = frame.join(ends)

    def _break(self, node: Node) -> None:
        frame = self._frame
        if self._loops and frame.environment is not None:
            self._loops[-1].left.append(frame.environment)
        frame.environment = None

    def _continue(self, node: Node) -> None:
        frame = self._frame
        if self._loops and frame.environment is not None:
            self._loops[-1].continued.append(frame.environment)
        frame.environment = None

    def _return(self, node: Node) -> None:
        frame, inner = self._frame, find_first_child(node)
        if inner is None:
            frame.add(o.RETURN, [frame.add_constant("NoneType")], frame.list_guards())
        else:
            self._return_value(inner)
        frame.environment = None

    def _return_value(self, node: Node) -> None:
        """Return a value; each side of a choice where its condition holds or fails."""
        frame = self._frame
        while node.type == "parenthesized_expression" and (inner := find_first_child(node)) is not None:
            node = inner
        parts = [child for child in node.named_children if child.type != "comment"]
        if node.type != "conditional_expression" or len(parts) != 3:
            frame.add(o.RETURN, [self._expressions.read(node)], frame.list_guards())
            return
        _, holds, fails = self._builder.conditions(frame).test(parts[1])
        for environment, part in ((holds, parts[0]), (fails, parts[2])):
            if environment is not None:
                frame.environment = environment
                self._return_value(part)
            else:
                self._expressions.read(part)

    def _raise(self, node: Node) -> None:
        frame = self._frame
        for place, child in enumerate(each for each in node.named_children if each.type != "comment"):
            value = self._expressions.read(child)
            if not place:
                frame.add(o.RAISE, value, self._expressions.site(child))
        frame.environment = None

    def _assert(self, node: Node) -> None:
        frame = self._frame
        parts = [child for child in node.named_children if child.type != "comment"]
        if not parts:
            return
        _, holds, fails = self._builder.conditions(frame).test(parts[0])
        if len(parts) > 1:
            frame.environment = fails if fails is not None else copy(holds)
            self._expressions.read(parts[1])
        frame.environment = holds

    def _run_with(self, node: Node) -> None:
        is_async = int(bool(node.child_count) and node.children[0].type == "async")
        is_guarded = False
        for clause in node.named_children:
            for item in clause.named_children if clause.type == "with_clause" else ():
                value = item.child_by_field_name("value")
                if value is not None:
                    self._enter(value, is_async)
                    is_guarded |= _SUPPRESSING.match(value.text or b"") is not None
        if is_guarded:
            fault = self._run_guarded(node.child_by_field_name("body"))
            self._frame.environment = self._frame.join([self._frame.environment, fault])
        else:
            self._run_block(node.child_by_field_name("body"))
        self._frame.forget_places()

    def _enter(self, node: Node, is_async: int) -> None:
        if node.type in ("tuple", "parenthesized_expression") and any(
            child.type == "as_pattern" for child in node.named_children
        ):
            for child in node.named_children:
                self._enter(child, is_async)
            return
        alias = node.child_by_field_name("alias") if node.type == "as_pattern" else None
        expression = find_first_child(node) if node.type == "as_pattern" else node
        if expression is None:
            return
        value = self._frame.add(
            o.ENTER, self._expressions.read(expression), is_async, self._expressions.site(expression)
        )
        self._frame.forget_places()
        if alias is not None:
            self.assign(alias, value)

    def _run_guarded(self, body: Node | None) -> Environment | None:
        """Sum up a block that a fault may end anywhere; returns the environment behind the fault."""
        frame = self._frame
        start = copy(frame.environment)
        log: dict[str, list[int]] = {}
        frame.logs.append(log)
        self._run_block(body)
        frame.logs.pop()
        if start is not None:
            start.places = {}
            for name, nodes in log.items():
                before = frame.look_up(start, name)
                start.bind(name, frame.add_join((UNBOUND if before is None else before, *nodes)))
        return start

    def _run_try(self, node: Node) -> None:
        frame = self._frame
        start = self._run_guarded(node.child_by_field_name("body"))
        ends = [frame.environment]
        last: Node | None = None
        for clause in node.named_children:
            if clause.type == "else_clause":
                frame.environment = ends[0]
                self._run_block(clause.child_by_field_name("body"))
                ends[0] = frame.environment
            elif clause.type in ("except_clause", "except_group_clause"):
                frame.environment = copy(start)
                self._run_handler(clause)
                ends.append(frame.environment)
            elif clause.type == "finally_clause":
                last = clause
        joined = frame.join(ends)
        if last is not None:
            joined = self._run_finally(last, joined, start)
        frame.environment = joined

    def _run_finally(self, clause: Node, end: Environment | None, fault: Environment | None) -> Environment | None:
        """Sum up what runs at the end and after a fault; behind it, only what was known at the end holds on."""
        frame = self._frame
        before = frame.join([copy(end), fault])
        frame.environment = copy(before)
        for child in clause.named_children:
            self._run_block(child)
        after = frame.environment
        if end is None or before is None or after is None:
            return None if end is None else after
        for name, node in after.names.items():
            if before.names.get(name) != node:
                end.bind(name, node)
        end.places = {}
        return end

    def _run_handler(self, clause: Node) -> None:
        frame, name = self._frame, ""
        for child in clause.named_children:
            if child.type == "block":
                self._run_block(child)
            elif child.type == "as_pattern":
                expression, alias = find_first_child(child), child.child_by_field_name("alias")
                if expression is not None:
                    value = frame.add(o.CAUGHT, self._expressions.read(expression))
                    target = find_first_child(alias) if alias is not None else None
                    if target is not None and target.type == "identifier":
                        name = frame.spell(target)
                        frame.bind(name, value)
            elif child.type != "comment":
                self._expressions.read(child)
        if name and frame.environment is not None:
            frame.environment.bind(name, UNBOUND)

    def _run_match(self, node: Node) -> None:
        frame = self._frame
        subjects = node.children_by_field_name("subject")
        body = node.child_by_field_name("body")
        values = [self._expressions.read(each) for each in subjects]
        subject = subjects[0] if len(subjects) == 1 else None
        value = values[0] if len(values) == 1 else frame.add(o.COLLECT, "tuple", [(0, each) for each in values], -1)
        ends: list[Environment | None] = []
        patterns = Patterns(self._builder, frame)
        for case in body.named_children if body is not None else ():
            if case.type != "case_clause":
                continue
            rest, remaining = patterns.enter(case, value, subject)
            guard = case.child_by_field_name("guard")
            if guard is not None:
                test = find_first_child(guard)
                if test is not None:
                    remaining = value
                    _, holds, fails = self._builder.conditions(frame).test(test)
                    rest = frame.join([rest, fails])
                    frame.environment = holds
            self._run_block(case.child_by_field_name("consequence"))
            ends.append(frame.environment)
            frame.environment, value = rest, remaining
        ends.append(frame.environment)
        frame.environment = frame.join(ends)

    def _alias_type(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and right is not None:
            name, value = find_first_child(left), find_first_child(right)
            while name is not None and name.type == "generic_type":
                self._expressions.read_calls(name)
                name = find_first_child(name)
            number = self._expressions.read(value) if value is not None else UNBOUND
            if name is not None and name.type == "identifier":
                self._frame.bind(self._frame.spell(name), number)

    def _print(self, node: Node) -> None:
        for child in node.named_children:
            self._expressions.read(find_first_child(child) or child if child.type == "chevron" else child)


def _list_sources(node: Node | None) -> list[Node] | None:
    """List what stands on the right side for each target, where that is written out."""
    if node is None or node.type not in ("expression_list", "tuple", "list"):
        return None
    found = [child for child in node.named_children if child.type != "comment"]
    return None if any(child.type in _SPLATS for child in found) else found


_HANDLERS: dict[str, Callable[[Statements, Node], Any]] = {
    "expression_statement": Statements._run_expression,
    "assignment": Statements._assign,
    "augmented_assignment": Statements._augment,
    "import_statement": Statements._run_import,
    "import_from_statement": Statements._run_import,
    "global_statement": Statements._run_names,
    "nonlocal_statement": Statements._run_names,
    "delete_statement": Statements._delete,
    "function_definition": Statements._define_function,
    "class_definition": Statements._define_class,
    "decorated_definition": Statements._define_decorated,
    "if_statement": Statements._run_if,
    "for_statement": Statements._run_for,
    "while_statement": Statements._run_while,
    "break_statement": Statements._break,
    "continue_statement": Statements._continue,
    "return_statement": Statements._return,
    "raise_statement": Statements._raise,
    "assert_statement": Statements._assert,
    "with_statement": Statements._run_with,
    "try_statement": Statements._run_try,
    "match_statement": Statements._run_match,
    "type_alias_statement": Statements._alias_type,
    "print_statement": Statements._print,
}
