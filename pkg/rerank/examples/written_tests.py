"""Read tests as people write them: pytest functions, classes of unittest, `check(candidate)`, asserts in a row.

A test becomes a script (pkg.rerank.examples.script): its set-up runs line by line, and each assert is a claim that is
decided outside. For this loops over values are unrolled, parameters and calls of helpers that assert get their values,
and a name whose value cannot change is replaced by it. What cannot be taken apart runs as it stands.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from pkg.rerank.candidates import Check, Example
from pkg.rerank.examples.asserts import parse_assert
from pkg.rerank.examples.expected_errors import find_try, find_with, parse_raises
from pkg.rerank.examples.fixtures import find_fixture_name, is_fixture, list_members, write_fixture, write_set_up
from pkg.rerank.examples.literals import find_name, write_code
from pkg.rerank.examples.loops import leaves_early, list_items, pair_names
from pkg.rerank.examples.parameters import list_arguments, list_defaults, list_parameter_sets
from pkg.rerank.examples.script import Script
from pkg.rerank.examples.substitution import Environment, is_replaceable, list_stored, substitute
from pkg.rerank.parsed_question import Definition, Function, is_stub, is_test

MAX_TURNS = 64  # of a loop that is unrolled; each is a claim or more, and a query has no more examples
MAX_NESTING = 8  # calls of helpers within each other
_RUNNERS = ("main", "run", "run_tests", "doctest", "testmod", "TextTestRunner")


def read_tests(
    statements: Sequence[ast.stmt], candidate_names: Collection[str], entry: str | None = None
) -> list[Example]:
    """Read the examples of the statements of a module.

    own: names that the candidates define. entry: what is wanted, where that is known.
    """
    return TestModule(candidate_names, "assert", entry).read(statements)


def holds_claim(statement: ast.AST) -> bool:
    """Return whether a statement asserts something somewhere."""
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
    """Reads one module of tests."""

    candidate_names: Collection[str]
    notation: str
    entry: str | None = None  # what `check(candidate)` is called with where nothing calls it
    helpers: dict[str, Function] = field(default_factory=dict)  # that assert, by the name by which they are called
    fixtures: dict[str, Function] = field(default_factory=dict)
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    values: Environment = field(default_factory=dict)
    called: set[str] = field(default_factory=set)  # helpers that were read where they are called
    found: list[Example] = field(default_factory=list)

    def read(self, statements: Sequence[ast.stmt]) -> list[Example]:
        """Read what runs at the top level, and then each test with the lines on which it stands."""
        rest: list[ast.stmt] = []
        tests: list[Function] = []
        classes: list[ast.ClassDef] = []
        for each in statements:
            if isinstance(each, Definition) and (
                each.name in self.candidate_names or (is_stub(each) and not is_test(each))
            ):
                continue  # what is to be written, which every candidate has itself
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
        """Read a test function once for each set of its parameters; first: what makes the object whose method it is."""
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
                return  # nothing says what this argument is
            for statement in fixture:
                script.add_line(statement)
            if value is not None:
                self._bind(name, value, function.body, script, values)
        self.run(function.body, script, values)
        self.found += script.list_examples()

    def _read_class(self, definition: ast.ClassDef, script: Script) -> None:
        """Read the tests of a class, each on an object of its own that was set up."""
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
        """Run statements one after the other: each is a line of the script, a claim, or more statements.

        rest: what will be run after them.
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
        """Run what stands inside of a statement where that is the same; return whether it is."""
        if isinstance(statement, ast.For):
            turns = self._list_turns(statement, values)
            for turn in turns or ():
                inner = dict(values)
                for name, value in turn.items():
                    self._bind(name, value, statement.body, script, inner)
                self.run(statement.body, script, inner, depth)
            return turns is not None
        if isinstance(statement, ast.With) and all(find_name(e.context_expr) == "subTest" for e in statement.items):
            self.run(statement.body, script, values, depth)
            return True
        return False

    def _claims(self, statement: ast.stmt) -> bool:
        """Return whether a statement asserts something, or calls a helper that does."""
        calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)] if self.helpers else []
        return holds_claim(statement) or any(ast.unparse(each.func) in self.helpers for each in calls)

    def _claim(self, statement: ast.stmt, script: Script) -> None:
        """Add the claims of a statement, or the whole of it where it cannot be taken apart."""
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
            found = [Example(source, Check.ASSERTION, None, self.notation, statement.lineno)]
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
        """Keep a value outside where it cannot change, or else bind it where the candidate runs."""
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
        """Bind a parameter or the variable of a loop to its value."""
        value = substitute(value, {key: each for key, each in values.items() if key != name})
        is_name = isinstance(value, ast.Name) and not any(name in list_stored(each) for each in body)
        if is_name or is_replaceable(name, value, body, self.candidate_names):
            values[name] = value
            return
        values.pop(name, None)
        script.add_line(ast.Assign([ast.Name(name, ast.Store())], value, lineno=0))

    def _find_helper(self, value: ast.expr) -> tuple[Function, list[ast.expr], list[ast.keyword]] | None:
        """Find the helper that a statement calls, be it awaited or run by asyncio."""
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
        """Run the body of a helper with the arguments of a call."""
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

    def _list_turns(self, loop: ast.For, values: Environment) -> list[Environment] | None:
        """List what a loop binds in each of its turns; None where that cannot be known."""
        items = list_items(substitute(loop.iter, values), self.candidate_names)
        if items is None or len(items) > MAX_TURNS or loop.orelse or leaves_early(loop):
            return None
        turns = [pair_names(loop.target, each) for each in items]
        return None if None in turns else [each for each in turns if each is not None]


def _is_idle(statement: ast.stmt) -> bool:
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return is_text or isinstance(statement, ast.Pass)
