"""Parse tests: pytest functions, unittest classes, `check(candidate)`, and plain asserts.

A test becomes a script (pkg.rerank.examples.script) whose asserts are claims that are decided outside the sandbox.
Loops over values are unrolled, parameters and calls of asserting helpers are expanded, and names with constant values
are replaced. Code that cannot be split runs unchanged.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from pkg.rerank.candidates import Check, Example
from pkg.rerank.examples.asserts import parse_assert
from pkg.rerank.examples.fixtures import (
    find_fixture_name,
    is_fixture,
    list_arguments,
    list_defaults,
    list_members,
    list_parameter_sets,
    write_fixture,
    write_set_up,
)
from pkg.rerank.examples.literals import NotLiteral, evaluate, find_name, write_code, write_value
from pkg.rerank.examples.script import Script
from pkg.rerank.examples.substitution import Environment, is_replaceable, list_stored, substitute
from pkg.rerank.parsed_question import Definition, Function, is_stub, is_test

MAX_ITERATIONS = 64  # of an unrolled loop; each yields at least one claim
MAX_NESTING = 8  # of calls of helpers
_RUNNERS = ("main", "run", "run_tests", "doctest", "testmod", "TextTestRunner")
_RAISING = ("raises", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp")


def read_tests(
    statements: Sequence[ast.stmt], candidate_names: Collection[str], entry: str | None = None
) -> list[Example]:
    """Return the examples in the statements of a module.

    candidate_names: names that the candidates define. entry: name of the entry point, if known.
    """
    return TestModule(candidate_names, "assert", entry).read(statements)


def holds_claim(statement: ast.AST) -> bool:
    """Return whether a statement contains an assertion."""
    return any(_claims(node) for node in ast.walk(statement))


def _claims(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return True
    if isinstance(node, ast.Raise) and node.exc is not None:
        return find_name(node.exc) == "AssertionError"
    name = find_name(node) if isinstance(node, ast.Call) else ""
    return name.startswith("assert") or name in ("raises", "fail")


@dataclass(slots=True)
class TestModule:
    """Parser of one module of tests."""

    candidate_names: Collection[str]
    notation: str
    entry: str | None = None  # argument of `check(candidate)` if it is not called
    helpers: dict[str, Function] = field(default_factory=dict)  # asserting functions by the name in calls
    fixtures: dict[str, Function] = field(default_factory=dict)
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    values: Environment = field(default_factory=dict)
    called: set[str] = field(default_factory=set)  # helpers that were expanded at a call
    found: list[Example] = field(default_factory=list)

    def read(self, statements: Sequence[ast.stmt]) -> list[Example]:
        """Return the examples of the top-level statements, and of each test with its set-up."""
        rest: list[ast.stmt] = []
        tests: list[Function] = []
        classes: list[ast.ClassDef] = []
        for each in statements:
            if isinstance(each, Definition) and (
                each.name in self.candidate_names or (is_stub(each) and not is_test(each))
            ):
                continue  # defined by every candidate
            if isinstance(each, ast.ClassDef):
                self.classes[each.name] = each
                (classes if is_test(each) else rest).append(each)
            elif isinstance(each, Function) and is_fixture(each):
                self.fixtures[find_fixture_name(each)] = each
            elif isinstance(each, Function) and (each.name.startswith("test") or any(map(self._claims, each.body))):
                self.helpers[each.name] = each
                tests.append(each)
            else:
                rest.append(each)
        script = Script(self.notation, self.candidate_names)
        self.run(rest, script, self.values)
        self.found += script.list_examples()
        for function in tests:
            if function.name not in self.called:
                self._read_function(function, function.decorator_list, script, [])
        for definition in classes:
            self._read_class(definition, script)
        return sorted(self.found, key=lambda each: each.line)

    def _read_function(
        self, function: Function, decorators: Sequence[ast.expr], script: Script, first: Sequence[ast.stmt]
    ) -> None:
        """Parse a test function once for each parameter set; first: statements that bind `self` of a method."""
        for given in list_parameter_sets(function, decorators, self.values, self.candidate_names):
            self._read_case(function, given, script.copy(), first)

    def _read_case(self, function: Function, given: Environment, script: Script, first: Sequence[ast.stmt]) -> None:
        arguments = [each.arg for each in list_arguments(function)][bool(first) :]
        defaults = dict(list_defaults(function))
        for statement in first:
            script.add_line(statement)
        values = dict(self.values)
        for name in arguments:
            value = given.get(name, defaults.get(name))
            if value is None and name == "candidate" and self.entry:
                value = ast.Name(self.entry, ast.Load())
            fixture = write_fixture(name, self.fixtures) if value is None else []
            if fixture is None:
                return  # the argument is unknown
            for statement in fixture:
                script.add_line(statement)
            if value is not None:
                self._bind(name, value, function.body, script, values)
        self.run(function.body, script, values)
        self.found += script.list_examples()

    def _read_class(self, definition: ast.ClassDef, script: Script) -> None:
        """Parse the tests of a class, each with its own instance and set-up."""
        members = list_members(definition, self.classes)
        functions = [each for each in members if isinstance(each, Function)]
        outer = self.helpers, self.fixtures
        self.helpers = outer[0] | {f"self.{each.name}": each for each in functions if holds_claim(each)}
        self.fixtures = outer[1] | {find_fixture_name(each): each for each in functions if is_fixture(each)}
        first = write_set_up(definition, members)
        for each in functions:
            if each.name.startswith("test"):
                self._read_function(each, [*each.decorator_list, *definition.decorator_list], script, first)
        self.helpers, self.fixtures = outer
        for inner in definition.body:
            if isinstance(inner, ast.ClassDef) and is_test(inner):
                self._read_class(inner, script)

    def run(
        self,
        statements: Sequence[ast.stmt],
        script: Script,
        values: Environment,
        depth: int = 0,
        rest: Sequence[ast.stmt] = (),
    ) -> None:
        """Add statements to a script, each as a line, a claim, or nested statements.

        rest: statements that run after them.
        """
        for index, statement in enumerate(statements):
            self._run_one(statement, [*statements[index + 1 :], *rest], script, values, depth)

    def _run_one(
        self, statement: ast.stmt, rest: Sequence[ast.stmt], script: Script, values: Environment, depth: int
    ) -> None:
        if _is_idle(statement):
            return
        if isinstance(statement, ast.Import | ast.ImportFrom):
            script.add_import(statement, self.candidate_names)
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            self._assign(statement, rest, script, values)
        elif isinstance(statement, Function) and holds_claim(statement):
            self.helpers[statement.name] = statement
        elif isinstance(statement, ast.If) and any(
            getattr(e, "id", "") == "__name__" for e in ast.walk(statement.test)
        ):
            self.run(statement.body, script, values, depth, rest)
        elif isinstance(statement, ast.Expr) and (call := self._find_helper(statement.value)):
            self._call(*call, script, values, depth)
        elif not self._claims(statement):
            self._add_line(statement, script, values)
        elif not self._open(statement, script, values, depth):
            self._claim(substitute(statement, values), script)

    def _open(self, statement: ast.stmt, script: Script, values: Environment, depth: int) -> bool:
        """Expand a loop or `with subTest`; return whether that was possible."""
        if isinstance(statement, ast.For):
            iterations = self._list_iterations(statement, values)
            for iteration in iterations or ():
                inner = dict(values)
                for name, value in iteration.items():
                    self._bind(name, value, statement.body, script, inner)
                self.run(statement.body, script, inner, depth)
            return iterations is not None
        if isinstance(statement, ast.With) and all(find_name(e.context_expr) == "subTest" for e in statement.items):
            self.run(statement.body, script, values, depth)
            return True
        return False

    def _claims(self, statement: ast.stmt) -> bool:
        """Return whether a statement contains an assertion or calls an asserting helper."""
        calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)] if self.helpers else []
        return holds_claim(statement) or any(ast.unparse(each.func) in self.helpers for each in calls)

    def _claim(self, statement: ast.stmt, script: Script) -> None:
        """Add the claims of a statement, or all of it as one claim if it cannot be split."""
        if isinstance(statement, ast.With | ast.AsyncWith) and (raised := find_with(statement, self.notation)):
            script.add_claims([raised])
            script.bound |= list_stored(statement)
            return
        if isinstance(statement, ast.Try) and (raised := find_try(statement, self.notation)):
            script.add_claims([raised])
            return
        raised = parse_raises(statement, self.notation)
        found = (
            [raised] if raised else [*parse_assert(statement, statement.lineno, self.candidate_names, self.notation)]
        )
        source = write_code(statement)
        if not found and source is not None:
            found = [Example(source, Check.ASSERTION, None, notation=self.notation, line=statement.lineno)]
            script.bound |= list_stored(statement)
        script.add_claims(found)

    def _add_line(self, statement: ast.stmt, script: Script, values: Environment) -> None:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and (find_name(call.func) in _RUNNERS or self._runs_tests(call)):
            return
        for name in list_stored(statement) & values.keys():
            values.pop(name)
        script.add_line(substitute(statement, values))

    def _runs_tests(self, call: ast.Call) -> bool:
        return isinstance(call.func, ast.Name) and call.func.id in self.helpers

    def _assign(
        self, statement: ast.Assign | ast.AnnAssign, rest: Sequence[ast.stmt], script: Script, values: Environment
    ) -> None:
        """Record a constant value, or else add the assignment to the script."""
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        if statement.value is None:
            return
        value = substitute(statement.value, values)
        pairs = pair_names(targets[0], value) if len(targets) == 1 else None
        if pairs is not None and all(
            is_replaceable(name, each, rest, self.candidate_names) for name, each in pairs.items()
        ):
            values |= pairs
            return
        for name in list_stored(statement) & values.keys():
            values.pop(name)
        script.add_line(ast.Assign([*targets], value, lineno=statement.lineno))

    def _bind(self, name: str, value: ast.expr, body: Sequence[ast.stmt], script: Script, values: Environment) -> None:
        """Bind a parameter or loop variable to its value."""
        value = substitute(value, {key: each for key, each in values.items() if key != name})
        is_name = isinstance(value, ast.Name) and not any(name in list_stored(each) for each in body)
        if is_name or is_replaceable(name, value, body, self.candidate_names):
            values[name] = value
            return
        values.pop(name, None)
        script.add_line(ast.Assign([ast.Name(name, ast.Store())], value, lineno=0))

    def _find_helper(self, value: ast.expr) -> tuple[Function, list[ast.expr], list[ast.keyword]] | None:
        """Return the helper that a statement calls, directly, with await or through asyncio, and its arguments."""
        value = value.value if isinstance(value, ast.Await) else value
        if not isinstance(value, ast.Call):
            return None
        if (
            find_name(value.func) in ("run", "run_until_complete")
            and value.args
            and isinstance(value.args[0], ast.Call)
        ):
            value = value.args[0]
        name = ast.unparse(value.func)
        function = self.helpers.get(name)
        if function is None or any(isinstance(each, ast.Starred) for each in value.args):
            return None
        return function, value.args, value.keywords

    def _call(
        self,
        function: Function,
        given: list[ast.expr],
        named: list[ast.keyword],
        script: Script,
        values: Environment,
        depth: int,
    ) -> None:
        """Expand the body of a helper with the arguments of a call."""
        self.called.add(function.name)
        if depth >= MAX_NESTING:
            return
        parameters = list_arguments(function)
        parameters = parameters[1:] if parameters and parameters[0].arg == "self" else parameters
        inner = {name: each for name, each in values.items() if name not in {each.arg for each in parameters}}
        arguments = dict(list_defaults(function))
        arguments |= {each.arg: value for each, value in zip(parameters, given, strict=False)}
        arguments |= {each.arg: each.value for each in named if each.arg}
        for name, value in arguments.items():
            self._bind(name, substitute(value, values), function.body, script, inner)
        self.run(function.body, script, inner, depth + 1)

    def _list_iterations(self, loop: ast.For, values: Environment) -> list[Environment] | None:
        """List the names that each iteration of a loop binds; None if they are unknown."""
        items = list_items(substitute(loop.iter, values), self.candidate_names)
        if items is None or len(items) > MAX_ITERATIONS or loop.orelse or exits_early(loop):
            return None
        iterations = [pair_names(loop.target, each) for each in items]
        return None if None in iterations else [each for each in iterations if each is not None]


def _is_idle(statement: ast.stmt) -> bool:
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return is_text or isinstance(statement, ast.Pass)


def parse_raises(statement: ast.stmt, notation: str) -> Example | None:
    """Parse `self.assertRaises(ValueError, f, -1)` and `pytest.raises(ValueError, f, -1)`."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or find_name(call.func) not in _RAISING:
        return None
    has_pattern = "Regex" in find_name(call.func)
    given = call.args[2:] if has_pattern else call.args[1:]
    expected = _name_errors(call.args[0]) if call.args else None
    if not given or expected is None:
        return None
    expression = ast.Call(given[0], given[1:], [each for each in call.keywords if each.arg != "match"])
    source = write_code(given[0].body if isinstance(given[0], ast.Lambda) else expression)
    match = _read_pattern(call.args[1]) if has_pattern else ""
    return (
        source and Example(source, Check.RAISES, expected, notation=notation, line=statement.lineno, match=match)
    ) or None


def find_with(statement: ast.With | ast.AsyncWith, notation: str) -> Example | None:
    """Parse `with pytest.raises(ValueError, match=...) as e:` and `with self.assertRaises(ValueError):`."""
    (item, *others) = statement.items
    call = item.context_expr
    if others or not isinstance(call, ast.Call) or find_name(call.func) not in _RAISING or not call.args:
        return None
    expected = _name_errors(call.args[0])
    body = "\n".join(filter(None, map(write_code, statement.body)))
    if expected is None or not body:
        return None
    match = next((_read_pattern(each.value) for each in call.keywords if each.arg in ("match", "expected_regex")), "")
    if "Regex" in find_name(call.func) and len(call.args) > 1:
        match = _read_pattern(call.args[1])
    if isinstance(item.optional_vars, ast.Name):
        body = _keep_fault(body, item.optional_vars.id)
    return Example(body, Check.RAISES, expected, notation=notation, line=statement.lineno, match=match)


def _keep_fault(body: str, name: str) -> str:
    """Return statements that also bind the exception that they raise to a name, as both libraries do."""
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    made = "__import__('types').SimpleNamespace(value=_fault, exception=_fault, type=type(_fault))"
    return f"try:\n{lines}\nexcept Exception as _fault:\n    {name} = {made}\n    raise"


def find_try(statement: ast.Try, notation: str) -> Example | None:
    """Parse `try: f(-1); assert False` with `except ValueError: pass`, and the same with `else`."""
    body = statement.body
    is_ended = bool(body) and _fails(body[-1])
    if not (is_ended or any(map(_fails, statement.orelse))) or len(statement.handlers) != 1:
        return None
    (handler,) = statement.handlers
    expected = _name_errors(handler.type) if handler.type is not None else "Exception"
    inner = "\n".join(filter(None, map(write_code, body[:-1] if is_ended else body)))
    if expected is None or not inner or any(map(_fails, handler.body)):
        return None
    return Example(inner, Check.RAISES, expected, notation=notation, line=statement.lineno)


def _fails(statement: ast.stmt) -> bool:
    """Return whether a statement always fails a test."""
    if isinstance(statement, ast.Assert):
        return isinstance(statement.test, ast.Constant) and not statement.test.value
    if isinstance(statement, ast.Raise):
        raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
        return getattr(raised, "id", "") == "AssertionError"
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and find_name(call.func) == "fail"


def _name_errors(node: ast.expr) -> str | None:
    """Return the names of the expected exceptions, joined by " or "; None if they are not names."""
    if isinstance(node, ast.Tuple):
        names = [find_name(each) for each in node.elts]
        return " or ".join(names) if names and all(names) else None
    return find_name(node) or None


def _read_pattern(node: ast.expr) -> str:
    try:
        value = evaluate(node)
    except NotLiteral:
        return ""
    return value if isinstance(value, str) else ""


def exits_early(loop: ast.For) -> bool:
    """Return whether a loop has a `break` or `continue`."""
    return any(isinstance(node, ast.Break | ast.Continue) for each in loop.body for node in ast.walk(each))


def pair_names(target: ast.expr, value: ast.expr) -> Environment | None:
    """Unpack a value into the names of a target; None if the target is not made of names or does not fit."""
    if isinstance(target, ast.Name):
        return {target.id: value}
    if not isinstance(target, ast.Tuple | ast.List) or not isinstance(value, ast.Tuple | ast.List):
        return None
    if len(target.elts) != len(value.elts):
        return None
    found: Environment = {}
    for each, part in zip(target.elts, value.elts, strict=True):
        inner = pair_names(each, part)
        if inner is None:
            return None
        found |= inner
    return found


def list_items(node: ast.expr, candidate_names: Collection[str]) -> list[ast.expr] | None:
    """List the items of a loop over an expression; None if they are unknown."""
    if isinstance(node, ast.List | ast.Tuple) and not any(isinstance(each, ast.Starred) for each in node.elts):
        return node.elts
    if isinstance(node, ast.Call):
        return _list_call_items(node, candidate_names)
    try:
        value = evaluate(node, candidate_names)
    except NotLiteral:
        return None
    return _write_items(value) if isinstance(value, str | dict | list | tuple) else None


def _list_call_items(node: ast.Call, candidate_names: Collection[str]) -> list[ast.expr] | None:
    name = find_name(node.func)
    if isinstance(node.func, ast.Attribute):
        held = node.func.value
        if name in ("items", "keys", "values") and isinstance(held, ast.Dict) and None not in held.keys:
            keys = [each for each in held.keys if each is not None]
            pairs: list[ast.expr] = [
                ast.Tuple([key, value], ast.Load()) for key, value in zip(keys, held.values, strict=True)
            ]
            return pairs if name == "items" else keys if name == "keys" else held.values
        return None
    if name in ("zip", "enumerate") and name not in candidate_names and not node.keywords:
        columns = [list_items(each, candidate_names) for each in node.args]
        known = [each for each in columns if each is not None]
        if len(known) != len(columns) or not known:
            return None
        if name == "enumerate":
            known.insert(0, [ast.Constant(number) for number in range(len(known[0]))])
        return [ast.Tuple(list(row), ast.Load()) for row in zip(*known, strict=False)]
    try:
        value = evaluate(node, candidate_names)
    except NotLiteral:
        return None
    return _write_items(value) if isinstance(value, str | dict | list | tuple) else None


def _write_items(values: Iterable[object]) -> list[ast.expr]:
    return [ast.parse(write_value(each), mode="eval").body for each in values]
