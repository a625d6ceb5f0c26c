"""Summarise statements: their bindings, and the order in which they run (A-12)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tree_sitter import Node

from pkg.extract import node_fields as f
from pkg.extract.parser import find_first_child
from pkg.extract.summary import operations as o
from pkg.extract.summary.annotation_trees import Annotation, read_annotation
from pkg.extract.summary.expression_operations import is_plain_text
from pkg.extract.summary.frame_operations import Environment, Frame, Loop, copy, read_identifier
from pkg.extract.summary.operations import UNBOUND
from pkg.extract.summary.patterns import Patterns
from pkg.extract.summary.tested_conditions import decide, is_checking

if TYPE_CHECKING:
    from pkg.extract.summary.assigned_targets import Targets
    from pkg.extract.summary.expression_operations import Expressions
    from pkg.extract.summary.file_frames import Builder

_SUPPRESSING = re.compile(rb"[\w.]*\b(?:suppress|raises|assertRaises|assertRaisesRegex)\s*\(")
"""Contexts that may suppress exceptions."""
_MAX_LEVELS = 100  # CPython refuses deeper indentation, so nothing below is real code


class Statements:
    """Summarise the statements of one frame."""

    def __init__(self, builder: Builder, frame: Frame, expressions: Expressions, targets: Targets) -> None:
        self._builder = builder
        self._frame = frame
        self._expressions = expressions
        self._targets = targets
        self._loops: list[Loop] = []

    def run(self, nodes: Iterable[Node]) -> None:
        """Summarise statements in order; unreachable ones are summarised separately."""
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

    def run_block(self, node: Node | None) -> None:
        """Summarise the statements of a block."""
        if node is not None and self._builder.levels < _MAX_LEVELS:
            self._builder.levels += 1
            self.run(node.named_children)
            self._builder.levels -= 1

    def _run_expression(self, node: Node) -> None:
        for child in node.named_children:
            if child.type == "assignment":
                self._assign(child)
            elif child.type == "augmented_assignment":
                self._augment(child)
            elif child.type != "comment" and not is_plain_text(child):
                self._expressions.read(child)

    # Bindings.

    def _assign(self, node: Node) -> int:
        left, right = node.child_by_field_id(f.LEFT), node.child_by_field_id(f.RIGHT)
        kind = node.child_by_field_id(f.TYPE)
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
        self._targets.assign(left, value, right)
        return value

    def _declare(self, left: Node, annotation: Annotation, value: int) -> int:
        """Add the type of an annotation; without a value it declares an unbound name."""
        frame = self._frame
        is_bare = value == UNBOUND and left.type == "identifier" and frame.kind == o.FUNCTION
        if is_bare and frame.spell(left) in frame.versions:
            return UNBOUND
        if value == UNBOUND and left.type == "identifier":
            frame.declared[frame.spell(left)] = annotation
        return frame.add(o.DECLARE, annotation, value)

    def _augment(self, node: Node) -> int:
        left, right = node.child_by_field_id(f.LEFT), node.child_by_field_id(f.RIGHT)
        sign = node.child_by_field_id(f.OPERATOR)
        if left is None or right is None:
            return UNBOUND
        expressions = self._expressions
        place = self._targets.open_place(left) if left.type in ("attribute", "subscript") else None
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
            self._targets.assign(left, value)
        else:
            self._targets.assign_place(left, place, value)
        return value

    def _run_import(self, node: Node) -> None:
        frame = self._frame
        for number in self._builder.imports.get((node.start_byte, node.end_byte), ()):
            name, is_star = self._builder.import_names[number]
            if is_star:
                frame.add(o.STAR, number)
                frame.bind_star(number)
            else:
                frame.bind(frame.mangle(name), frame.add(o.IMPORT, number))

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
            self._targets.delete(child)

    # Definitions.

    def _define_decorated(self, node: Node) -> None:
        definition = node.child_by_field_id(f.DEFINITION)
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

    def _define(self, whole: Node, inner: Node | None = None, decorators: Sequence[tuple[int, int]] = ()) -> None:
        """Summarise a definition; `inner`: the definition below decorators."""
        node, frame = inner or whole, self._frame
        name_node = node.child_by_field_id(f.NAME)
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
        heads, bounds = node.child_by_field_id(f.SUPERCLASSES), node.child_by_field_id(f.TYPE_PARAMETERS)
        if bounds is not None:
            self._expressions.read_calls(bounds)
        if heads is not None:
            placed, keywords = self._expressions.read_arguments(heads)
            bases = [each for each, starred in placed if not starred]
        inner = self._builder.open_frame(o.CLASS_BODY, name, frame, self._builder.definitions.get((start, name), -1))
        value = frame.add(o.CLASS, inner.number, bases, keywords, site)
        body = node.child_by_field_id(f.BODY)
        self._builder.statements(inner).run_block(body)
        return value

    # Control flow.

    def _run_if(self, node: Node) -> None:
        frame = self._frame
        condition, body = node.child_by_field_id(f.CONDITION), node.child_by_field_id(f.CONSEQUENCE)
        others = node.children_by_field_id(f.ALTERNATIVE)
        if condition is None:
            self._run_other(node)
            return
        checking = is_checking(condition)
        _, holds, fails = self._builder.conditions(frame).test(condition)
        ends: list[Environment | None] = []
        promised: Environment | None = None
        if checking and frame.environment is not None:
            frame.environment = frame.environment.copy()
            self.run_block(body)
            promised = frame.environment
        elif holds is None:
            self._run_never(body)
        else:
            frame.environment = holds
            self.run_block(body)
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
        """Summarise unreachable code separately."""
        frame = self._frame
        frame.environment = None
        self.run_block(body)

    def _run_alternatives(self, nodes: list[Node], fails: Environment | None) -> None:
        """Summarise the alternatives of a failed condition, one after the other."""
        frame = self._frame
        ends: list[Environment | None] = []
        for node in nodes:
            frame.environment = fails
            if node.type == "else_clause":
                body, holds, fails = node.child_by_field_id(f.BODY), fails, None
            else:
                condition, body = node.child_by_field_id(f.CONDITION), node.child_by_field_id(f.CONSEQUENCE)
                if condition is None:
                    continue
                _, holds, fails = self._builder.conditions(frame).test(condition)
            if holds is None:
                self._run_never(body)
            else:
                frame.environment = holds
                self.run_block(body)
            ends.append(frame.environment)
        frame.environment = frame.join([*ends, fails])

    def _run_for(self, node: Node) -> None:
        left, right = node.child_by_field_id(f.LEFT), node.child_by_field_id(f.RIGHT)
        if left is None or right is None:
            self._run_other(node)
            return
        value = self._expressions.read(right)
        is_async = int(bool(node.child_count) and node.children[0].type == "async")
        site = self._expressions.site(right)

        def run_body(loop: Loop, environment: Environment) -> Environment | None:
            self._frame.environment = environment
            self._targets.assign(left, self._frame.add(o.ITER, value, is_async, site))
            self.run_block(node.child_by_field_id(f.BODY))
            return self._frame.environment

        self._run_loop(node, run_body, never_ends=False)

    def _run_while(self, node: Node) -> None:
        condition = node.child_by_field_id(f.CONDITION)
        if condition is None:
            self._run_other(node)
            return
        exits: list[Environment | None] = []

        def run_body(loop: Loop, environment: Environment) -> Environment | None:
            self._frame.environment = environment
            _, holds, fails = self._builder.conditions(self._frame).test(condition)
            exits.append(fails)
            if holds is None:
                self._run_never(node.child_by_field_id(f.BODY))
                return None
            self._frame.environment = holds
            self.run_block(node.child_by_field_id(f.BODY))
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
        alternative = node.child_by_field_id(f.ALTERNATIVE)
        if alternative is not None:
            self.run_block(alternative.child_by_field_id(f.BODY))
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
        """Return a value; each branch of a conditional expression with its condition."""
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
                value = item.child_by_field_id(f.VALUE)
                if value is not None:
                    self._enter(value, is_async)
                    is_guarded |= _SUPPRESSING.match(value.text or b"") is not None
        if is_guarded:
            fault = self._run_guarded(node.child_by_field_id(f.BODY))
            self._frame.environment = self._frame.join([self._frame.environment, fault])
        else:
            self.run_block(node.child_by_field_id(f.BODY))
        self._frame.forget_places()

    def _enter(self, node: Node, is_async: int) -> None:
        if node.type in ("tuple", "parenthesized_expression") and any(
            child.type == "as_pattern" for child in node.named_children
        ):
            for child in node.named_children:
                self._enter(child, is_async)
            return
        alias = node.child_by_field_id(f.ALIAS) if node.type == "as_pattern" else None
        expression = find_first_child(node) if node.type == "as_pattern" else node
        if expression is None:
            return
        value = self._frame.add(
            o.ENTER, self._expressions.read(expression), is_async, self._expressions.site(expression)
        )
        self._frame.forget_places()
        if alias is not None:
            self._targets.assign(alias, value)

    def _run_guarded(self, body: Node | None) -> Environment | None:
        """Summarise a block that an exception may end anywhere; return the environment after the exception."""
        frame = self._frame
        start = copy(frame.environment)
        log: dict[str, list[int]] = {}
        frame.logs.append(log)
        self.run_block(body)
        frame.logs.pop()
        if start is not None:
            start.places = {}
            for name, nodes in log.items():
                before = frame.look_up(start, name)
                start.bind(name, frame.add_join((UNBOUND if before is None else before, *nodes)))
        return start

    def _run_try(self, node: Node) -> None:
        frame = self._frame
        start = self._run_guarded(node.child_by_field_id(f.BODY))
        ends = [frame.environment]
        last: Node | None = None
        for clause in node.named_children:
            if clause.type == "else_clause":
                frame.environment = ends[0]
                self.run_block(clause.child_by_field_id(f.BODY))
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
        """Summarise a finally clause after the end or an exception; only values known at the end hold after it."""
        frame = self._frame
        before = frame.join([copy(end), fault])
        frame.environment = copy(before)
        for child in clause.named_children:
            self.run_block(child)
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
                self.run_block(child)
            elif child.type == "as_pattern":
                expression, alias = find_first_child(child), child.child_by_field_id(f.ALIAS)
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
        subjects = node.children_by_field_id(f.SUBJECT)
        body = node.child_by_field_id(f.BODY)
        values = [self._expressions.read(each) for each in subjects]
        subject = subjects[0] if len(subjects) == 1 else None
        value = values[0] if len(values) == 1 else frame.add(o.COLLECT, "tuple", [(0, each) for each in values], -1)
        ends: list[Environment | None] = []
        patterns = Patterns(self._builder, frame)
        for case in body.named_children if body is not None else ():
            if case.type != "case_clause":
                continue
            rest, remaining = patterns.enter(case, value, subject)
            guard = case.child_by_field_id(f.GUARD)
            if guard is not None:
                test = find_first_child(guard)
                if test is not None:
                    remaining = value
                    _, holds, fails = self._builder.conditions(frame).test(test)
                    rest = frame.join([rest, fails])
                    frame.environment = holds
            self.run_block(case.child_by_field_id(f.CONSEQUENCE))
            ends.append(frame.environment)
            frame.environment, value = rest, remaining
        ends.append(frame.environment)
        frame.environment = frame.join(ends)

    def _alias_type(self, node: Node) -> None:
        left, right = node.child_by_field_id(f.LEFT), node.child_by_field_id(f.RIGHT)
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


_HANDLERS: dict[str, Callable[[Statements, Node], Any]] = {
    "expression_statement": Statements._run_expression,
    "assignment": Statements._assign,
    "augmented_assignment": Statements._augment,
    "import_statement": Statements._run_import,
    "import_from_statement": Statements._run_import,
    "global_statement": Statements._run_names,
    "nonlocal_statement": Statements._run_names,
    "delete_statement": Statements._delete,
    "function_definition": Statements._define,
    "class_definition": Statements._define,
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
