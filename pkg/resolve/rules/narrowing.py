"""Narrow values by the conditions that are known to hold or to fail where they are looked up (A-12).

Conditions that tell nothing of the subject leave its values as they are. So do tests for classes that nothing in the
text tells: what such a name stands for may turn out to be nothing at all.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pkg.extract.code_pieces import locate, locate_in_pattern, parse_pattern, spell
from pkg.resolution.reasons import Reason
from pkg.resolve import queries as q
from pkg.resolve.abstract_values import CONTAINER, EMPTY, Key, Values, join, unknown
from pkg.resolve.facts.scope_model import Binding, Scope, Step
from pkg.resolve.facts.tested_names import Applied, Known, find_conditions
from pkg.resolve.queries import TestKind
from pkg.resolve.resolution_context import Context
from pkg.units import DOTTED_NAME, Code, read_name, read_place

MAX_ASSIGNED = 4  # names that stand for one another up to which a class is looked for
_TYPE = "type"
_SAME, _OTHER = (ast.Is, ast.Eq), (ast.IsNot, ast.NotEq)
_SIMPLE = re.compile(rb"(not )?(isinstance|issubclass)\((" + DOTTED_NAME + rb"), (" + DOTTED_NAME + rb")\)")
_LOAD = ast.Load()

_NAMED = {kind.value: kind for kind in (TestKind.INSTANCE, TestKind.SUBCLASS)}
"""Tests by the builtins that make them for a class."""


class Reading(NamedTuple):
    """Where a condition is read: its scope, and the position from which its text was parsed."""

    scope: Scope
    at: int
    is_pattern: bool = False


class Narrowing:
    """Narrow values by conditions."""

    def __init__(self, context: Context) -> None:
        self._ask = context.ask
        self._solver = context.solver
        self._trees = context.trees
        self._containers = context.containers
        self._told: dict[Key, bool] = {}  # by the classes in conditions, whether the text tells them: there may be more
        context.forget_with(self._told.clear)
        context.answer(q.NARROWED, self.narrow)

    def narrow(self, values: Values, subject: str, applied: Applied) -> Values:
        """Give what is left of the values of a subject that passed or failed tests."""
        values = self._solver.spread(values)
        for known in find_conditions(subject, applied):
            values = self._narrow_by(values, subject, known)
        return values

    def _narrow_by(self, values: Values, subject: str, known: Known) -> Values:
        """Give what is left of values that went through the steps of a condition, and into its region."""
        found = EMPTY
        for step in known.condition.steps:
            if step.stays:
                found |= self._take(values, subject, known.scope, step, holds=True)
            values = self._take(values, subject, known.scope, step, holds=False)
        return found | values if known.condition.is_open else found

    def _take(self, values: Values, subject: str, scope: Scope, step: Step, *, holds: bool) -> Values:
        """Give what is left of values that passed one step, or did not."""
        if not values:
            return values
        if not step.subject:
            node = self._read(scope, step)
            return self._judge(values, subject, node, holds, Reading(scope, step.start))
        pattern = parse_pattern(scope.module.text[step.start : step.end])
        if pattern is None or step.subject != subject:
            return values
        return self._match(values, pattern, holds, Reading(scope, step.start, is_pattern=True))

    def _read(self, scope: Scope, step: Step) -> ast.expr | None:
        """Parse a condition; of the simplest form, as most are, it is put together, in a tenth of the time."""
        text = scope.module.text
        match = _SIMPLE.fullmatch(text, step.start, step.end)
        if match is None:
            return self._trees.parse(scope.module, step.start, step.end)
        name, subject = ast.Name(match[2].decode(), _LOAD), ast.Name(read_place(match[3]), _LOAD)
        first, *rest = read_name(match[4]).split(".")
        tested: ast.expr = ast.Name(first, _LOAD)
        for each in rest:
            tested = ast.Attribute(tested, each, _LOAD)
        tested.lineno = tested.end_lineno = 1
        tested.col_offset, tested.end_col_offset = (match.start(4) - step.start + 1, match.end(4) - step.start + 1)
        call = ast.Call(name, [subject, tested], [])
        return ast.UnaryOp(ast.Not(), call) if match[1] else call

    def _judge(self, values: Values, subject: str, node: ast.expr | None, holds: bool, place: Reading) -> Values:
        """Give what is left of values where a condition holds, or fails."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self._judge(values, subject, node.operand, not holds, place)
        if isinstance(node, ast.BoolOp):
            return self._judge_several(values, subject, node, holds, place)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            is_subject = spell(node.args[0]) == subject
            return self._judge_call(values, node.func.id, node.args[1:], holds, place) if is_subject else values
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._judge_comparison(values, subject, node, holds, place)
        return values

    def _judge_several(self, values: Values, subject: str, node: ast.BoolOp, holds: bool, place: Reading) -> Values:
        if isinstance(node.op, ast.And) == holds:
            for part in node.values:
                values = self._judge(values, subject, part, holds, place)
            return values
        found = EMPTY
        for part in node.values:
            found |= self._judge(values, subject, part, holds, place)
            values = self._judge(values, subject, part, not holds, place)
        return found

    def _judge_call(
        self, values: Values, name: str, classes: Sequence[ast.expr], holds: bool, place: Reading
    ) -> Values:  # fmt: skip
        if name == "callable" and not classes:
            return join(self._ask(q.TEST, value, value, TestKind.CALL, holds) for value in values)
        if name not in _NAMED or len(classes) != 1:
            return values
        return self._test(values, classes[0], _NAMED[name], holds, place)

    def _judge_comparison(self, values: Values, subject: str, node: ast.Compare, holds: bool, place: Reading) -> Values:
        left, right, sign = node.left, node.comparators[0], node.ops[0]
        if isinstance(sign, _SAME + _OTHER) and spell(left) == subject and _is_none(right):
            return EMPTY if isinstance(sign, _SAME) == holds else values
        if _reads_class(right, subject) and isinstance(sign, _SAME + _OTHER):
            left, right = right, left
        if not _reads_class(left, subject):
            return values
        if isinstance(sign, _SAME + _OTHER) and not isinstance(right, ast.Tuple):
            return self._test(values, right, TestKind.TYPE, isinstance(sign, _SAME) == holds, place)
        if isinstance(sign, ast.In | ast.NotIn) and isinstance(right, ast.Tuple | ast.List | ast.Set):
            classes = ast.Tuple(right.elts, ast.Load())
            return self._test(values, classes, TestKind.TYPE, isinstance(sign, ast.In) == holds, place)
        return values

    def _match(self, values: Values, pattern: ast.pattern, holds: bool, place: Reading) -> Values:
        """Give what is left of values that fit a pattern, or that do not."""
        if isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
            return self._match(values, pattern.pattern, holds, place)
        if isinstance(pattern, ast.MatchOr):
            if holds:
                return join([self._match(values, part, holds, place) for part in pattern.patterns])
            for part in pattern.patterns:
                values = self._match(values, part, holds, place)
            return values
        if isinstance(pattern, ast.MatchSingleton) and pattern.value is None:
            return EMPTY if holds else values
        if isinstance(pattern, ast.MatchAs):  # which fits everything
            return values if holds else EMPTY
        if isinstance(pattern, ast.MatchClass) and (holds or not (pattern.patterns or pattern.kwd_patterns)):
            return self._test(values, pattern.cls, TestKind.INSTANCE, holds, place)
        return values

    def _test(
        self, values: Values, node: ast.expr, kind: TestKind, holds: bool, place: Reading
    ) -> Values:  # fmt: skip
        """Test values for what an expression stands for: a class, or several."""
        parts = _list_parts(node)
        if parts is not None:
            return self._test_each(values, parts, kind, holds, place)
        found = EMPTY
        for tested in self._evaluate(node, place):
            written = self._containers.find_written(tested) if tested[0] == CONTAINER else None
            if written is not None and isinstance(written.node, ast.Tuple):
                inner = Reading(written.scope, written.at)
                found |= self._test_each(values, written.node.elts, kind, holds, inner)
            else:
                found |= join(self._ask(q.TEST, value, tested, kind, holds) for value in values)
        return found

    def _test_each(
        self, values: Values, parts: Iterable[ast.expr], kind: TestKind, holds: bool, place: Reading
    ) -> Values:
        """Test values for several classes: they are of one of them, or of none."""
        if holds:
            return join([self._test(values, part, kind, holds, place) for part in parts])
        for part in parts:
            values = self._test(values, part, kind, holds, place)
        return values

    def _evaluate(self, node: ast.expr, place: Reading) -> Values:
        """Give the classes that an expression stands for; something unknown where the text does not tell."""
        find = locate_in_pattern if place.is_pattern else locate
        key: Key = (q.TESTED, place.scope, *find(node, place.scope.module.text, place.at))
        is_told = self._told.get(key)
        if is_told is None:
            is_told = self._told[key] = self._names_classes(node, place.scope, place.at)
        return self._solver.spread(self._solver.read(key)) if is_told else unknown(Reason.EXPRESSION)

    def _names_classes(self, node: ast.expr, scope: Scope, at: int, depth: int = 0) -> bool:
        """Tell whether the text says which classes an expression stands for; of arguments, say, it does not."""
        parts = _list_parts(node)
        if parts is not None:
            return all(self._names_classes(part, scope, at, depth) for part in parts)
        if isinstance(node, ast.Call):
            is_type = isinstance(node.func, ast.Name) and node.func.id == _TYPE and len(node.args) == 1
            return is_type and _is_receiver(node.args[0], scope)
        if isinstance(node, ast.Attribute) and node.attr == "__class__":
            return _is_receiver(node.value, scope)
        if isinstance(node, ast.Attribute):
            root = _find_root(node)
            return root is not None and all(_is_definition(each) for each in self._list_bindings(root, scope, at))
        if not isinstance(node, ast.Name) or depth > MAX_ASSIGNED:
            return False
        if scope.owner.takes_class and _is_receiver(node, scope):
            return True
        owner, bindings = self._ask(q.IN_FORCE, scope, node.id, at)
        is_argument = node.id in owner.parameter_names
        return not is_argument and all(_is_definition(each) or self._tells(each, owner, depth) for each in bindings)

    def _list_bindings(self, name: ast.Name, scope: Scope, at: int) -> Sequence[Binding | None]:
        """Give the bindings of a name, among them None for an argument."""
        owner, bindings = self._ask(q.IN_FORCE, scope, name.id, at)
        return [*bindings, *((None,) if name.id in owner.parameter_names else ())]

    def _tells(self, binding: Binding, owner: Scope, depth: int) -> bool:
        """Tell whether an assignment says which classes a name stands for."""
        scope = binding.within or owner
        if binding.code != Code.ASSIGN or binding.path:
            return False
        node = self._trees.parse(scope.module, binding.start, binding.end)
        return node is not None and self._names_classes(node, scope, binding.start, depth + 1)


def _list_parts(node: ast.expr) -> list[ast.expr] | None:
    """Give the classes that are written together, without None; nothing for anything else."""
    if isinstance(node, ast.Tuple):
        return [part for part in node.elts if not _is_none(part)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [part for part in (node.left, node.right) if not _is_none(part)]
    return None


def _is_none(node: ast.expr) -> bool:
    """Tell whether an expression is None, or the class of it."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == _TYPE and node.args:
        node = node.args[0]
    return isinstance(node, ast.Constant) and node.value is None


def _is_definition(binding: Binding | None) -> bool:
    return binding is not None and (binding.scope is not None or binding.record is not None)


def _is_receiver(node: ast.expr, scope: Scope) -> bool:
    return isinstance(node, ast.Name) and node.id == scope.owner.receiver


def _find_root(node: ast.expr) -> ast.Name | None:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node if isinstance(node, ast.Name) else None


def _reads_class(node: ast.expr, subject: str) -> bool:
    """Tell whether an expression is the class of a subject."""
    if isinstance(node, ast.Attribute):
        return node.attr == "__class__" and spell(node.value) == subject
    is_type = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == _TYPE
    return is_type and isinstance(node, ast.Call) and len(node.args) == 1 and spell(node.args[0]) == subject
