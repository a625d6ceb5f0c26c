"""Generate random Python programs from a grammar: all statements and expressions, in odd places and combinations.

Names come from small lists, so that calls, classes and attributes interact; many of them are names with a meaning to
Python or the resolver. The programs parse, but are not meant to run.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from random import Random

MAX_DEPTH = 4  # of nested expressions and of nested statements

_NAMES = ("a", "b", "x", "f", "g", "A", "B", "C", "self", "cls", "args", "super", "type", "object")
_BUILTINS = (
    "isinstance", "issubclass", "callable", "hasattr", "getattr", "setattr", "delattr", "type", "super", "property",
    "staticmethod", "classmethod", "object", "dict", "list", "tuple", "set", "frozenset", "str", "int", "bytes", "map",
    "filter", "sorted", "min", "max", "sum", "zip", "enumerate", "iter", "next", "len", "repr", "vars", "globals",
    "locals", "print", "open", "format", "hash", "reversed", "any", "all", "dir", "id", "NotImplemented", "range",
)  # fmt: skip
_LIBRARY = (
    "functools.partial", "functools.wraps", "functools.partialmethod", "functools.singledispatch", "functools.reduce",
    "functools.cached_property", "functools.lru_cache", "functools.total_ordering", "functools.singledispatchmethod",
    "dataclasses.dataclass", "dataclasses.field", "dataclasses.replace", "collections.namedtuple", "typing.NamedTuple",
    "collections.defaultdict", "collections.OrderedDict", "contextlib.contextmanager", "contextlib.ExitStack",
    "contextlib.suppress", "abc.abstractmethod", "abc.ABC", "enum.Enum", "enum.auto", "typing.cast", "typing.TypeVar",
    "typing.overload", "typing.Generic", "typing.Protocol", "operator.attrgetter", "operator.itemgetter",
    "operator.methodcaller", "itertools.chain", "importlib.import_module", "weakref.ref", "copy.copy", "asyncio.run",
    "[].append", "{}.get", "pytest.fixture", "attr.s", "attr.ib", "types.MethodType", "unittest.mock.patch",
    "threading.Thread", "types.new_class",
)  # fmt: skip
_SPECIAL = (
    "__new__", "__init__", "__call__", "__get__", "__set__", "__set_name__", "__getattr__", "__getattribute__",
    "__iter__", "__next__", "__enter__", "__exit__", "__aenter__", "__aexit__", "__await__", "__aiter__", "__anext__",
    "__getitem__", "__setitem__", "__delitem__", "__contains__", "__len__", "__bool__", "__eq__", "__lt__", "__hash__",
    "__add__", "__radd__", "__iadd__", "__neg__", "__str__", "__repr__", "__format__", "__init_subclass__", "__del__",
    "__class_getitem__", "__instancecheck__", "__subclasshook__", "__prepare__", "__post_init__", "__match_args__",
    "__slots__", "__dict__", "__class__", "__all__", "__name__", "__doc__", "__missing__", "__reduce__", "__index__",
)  # fmt: skip
_ATTRIBUTES = ("a", "f", "m", "x", "append", "get", "items", "register", "setter", "join", "pop", "update", "_C__a")
_OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^")
_COMPARISONS = ("==", "!=", "<", ">=", "is", "is not", "in", "not in")
_CONSTANTS = ("0", "1", "-1.5", "2j", "None", "True", "...", "''", "'a'", "b'a'", "'''d'''", "'a' 'b'", "f''", "r'\\d'")

Line = tuple[int, str]  # depth of indentation, text


class ProgramWriter:
    """Writes programs by the choices of a random generator."""

    def __init__(self, random: Random, most: int) -> None:
        self._random = random
        self._depth = 0
        self._left = most  # expressions left before only names and constants follow
        self._expressions: tuple[Callable[[], str], ...] = (
            self._write_name, self._write_constant, self._write_call, self._write_call, self._write_attribute,
            self._write_item, self._write_binary, self._write_unary, self._write_comparison, self._write_lambda,
            self._write_conditional, self._write_comprehension, self._write_display, self._write_text,
            self._write_walrus, self._write_test, self._write_test,
        )  # fmt: skip
        self._statements: tuple[Callable[[int], Iterator[Line]], ...] = (
            self._list_assignment, self._list_assignment, self._list_expression, self._list_function,
            self._list_function, self._list_class, self._list_class, self._list_if, self._list_loop, self._list_with,
            self._list_try, self._list_match, self._list_import, self._list_small, self._list_patched,
            self._list_asked_class,
        )  # fmt: skip

    def write(self) -> str:
        """Return the text of one program."""
        return "\n".join("    " * depth + text for depth, text in self._list_block(0, most=12)) + "\n"

    def _pick(self, choices: Sequence[str]) -> str:
        return self._random.choice(choices)

    def _happens(self, part: float = 0.5) -> bool:
        return self._random.random() < part

    def _repeat(self, make: Callable[[], str], most: int = 3, least: int = 0) -> list[str]:
        return [make() for _ in range(self._random.randint(least, most))]

    # Expressions

    def _write_expression(self) -> str:
        """Return an expression in brackets or of one word, which is valid anywhere."""
        self._left -= 1
        if self._depth >= MAX_DEPTH or self._left < 0:
            return self._write_name() if self._happens() else self._write_constant()
        self._depth += 1
        try:
            return self._random.choice(self._expressions)()
        finally:
            self._depth -= 1

    def _write_name(self) -> str:
        return self._pick(self._random.choice((_NAMES, _NAMES, _BUILTINS, _LIBRARY)))

    def _write_constant(self) -> str:
        return f"({self._pick(_CONSTANTS)})"

    def _write_arguments(self) -> str:
        positional = [("*" if self._happens(0.15) else "") + each for each in self._repeat(self._write_expression)]
        named = [
            f"{name}={self._write_expression()}" for name in dict.fromkeys(self._repeat(self._write_target_name, 2))
        ]
        rest = [f"**{self._write_expression()}"] if self._happens(0.15) else []
        if self._happens(0.05):
            return f"a for a in {self._write_expression()}"
        return ", ".join([*positional, *named, *rest])

    def _write_call(self) -> str:
        return f"{self._write_expression()}({self._write_arguments()})"

    def _write_attribute(self) -> str:
        return f"{self._write_expression()}.{self._write_attribute_name()}"

    def _write_attribute_name(self) -> str:
        return self._pick(_SPECIAL if self._happens(0.3) else _ATTRIBUTES)

    def _write_item(self) -> str:
        key = self._random.choice((self._write_expression, lambda: ":", lambda: f"{self._write_expression()}:, 1"))()
        return f"{self._write_expression()}[{key}]"

    def _write_binary(self) -> str:
        sign = self._pick((*_OPERATORS, "and", "or"))
        return f"({self._write_expression()} {sign} {self._write_expression()})"

    def _write_unary(self) -> str:
        return f"({self._pick(('-', '+', '~', 'not '))}{self._write_expression()})"

    def _write_comparison(self) -> str:
        rest = "".join(
            f" {self._pick(_COMPARISONS)} {self._write_expression()}" for _ in range(self._random.randint(1, 2))
        )
        return f"({self._write_expression()}{rest})"

    def _write_test(self) -> str:
        """Return a type or attribute test, right or wrong."""
        test = f"{self._pick(('isinstance', 'issubclass', 'callable', 'hasattr', 'type'))}({self._write_arguments()})"
        return self._random.choice((test, f"(not {test})", f"({test} is {self._write_expression()})"))

    def _write_lambda(self) -> str:
        return f"(lambda {self._write_parameters(annotated=False)}: {self._write_expression()})"

    def _write_conditional(self) -> str:
        return f"({self._write_expression()} if {self._write_expression()} else {self._write_expression()})"

    def _write_comprehension(self) -> str:
        clauses = f"for {self._write_target()} in {self._write_expression()}"
        clauses += f" if {self._write_expression()}" if self._happens() else ""
        clauses += f" for {self._write_target()} in {self._write_expression()}" if self._happens(0.2) else ""
        inner = self._write_expression()
        return self._random.choice(
            (
                f"[{inner} {clauses}]",
                f"{{{inner} {clauses}}}",
                f"{{{inner}: {inner} {clauses}}}",
                f"({inner} {clauses})",
            )
        )

    def _write_display(self) -> str:
        items = [("*" if self._happens(0.1) else "") + each for each in self._repeat(self._write_expression)]
        text = ", ".join(items)
        pairs = ", ".join(f"{self._write_expression()}: {self._write_expression()}" for _ in items)
        return self._random.choice((f"[{text}]", f"({text},)" if text else "()", f"{{{pairs}}}", f"{{*(), {text}}}"))

    def _write_text(self) -> str:
        return f"f'{{({self._write_name()}){self._pick(('', '!r', '!s', ':>3', '='))}}}{{{self._pick(_NAMES)}.a}}'"

    def _write_walrus(self) -> str:
        return f"(w := {self._write_expression()})"

    # Targets and parameters

    def _write_target_name(self) -> str:
        return self._pick(_NAMES)

    def _write_target(self) -> str:
        name = self._write_target_name
        return self._random.choice((
            name, name, lambda: f"{name()}, *{name()}", lambda: f"({name()}, [{name()}])", lambda: "*a,",
            lambda: f"{name()}.{self._write_attribute_name()}", lambda: f"{name()}[{self._pick(_CONSTANTS)}]",
        ))()  # fmt: skip

    def _write_parameters(self, annotated: bool = True, receiver: bool = False) -> str:
        names = dict.fromkeys((["self"] if receiver else []) + self._repeat(self._write_target_name))
        parts, has_default, is_starred = [], False, False
        for place, name in enumerate(names):
            hint = f": {self._write_annotation()}" if annotated and self._happens(0.3) else ""
            has_default = has_default or self._happens(0.3)
            parts.append(f"{name}{hint}" + (f"={self._write_expression()}" if has_default else ""))
            if not is_starred and place + 1 < len(names) and self._happens(0.15):
                is_starred, has_default = True, False
                parts.append("*" if self._happens() else "*rest")
        if parts and self._happens(0.1) and not is_starred:
            parts.append("/")
        return ", ".join([*parts, *(["**more"] if self._happens(0.15) else [])])

    def _write_annotation(self) -> str:
        texts = (
            "'A'",
            "'B | None'",
            "list['A']",
            "type[A]",
            "'List['",
            "''",
            "Callable[[A], B]",
            "A | None",
            "Self",
            "x[()]",
        )
        return self._pick(texts) if self._happens(0.6) else self._write_expression()

    # Statements

    def _list_block(self, depth: int, most: int = 4) -> Iterator[Line]:
        if depth > MAX_DEPTH or self._left < 0:
            yield depth, self._pick(("pass", "...", "'''Say.'''"))
            return
        for _ in range(self._random.randint(1, most)):
            yield from self._random.choice(self._statements)(depth)

    def _list_assignment(self, depth: int) -> Iterator[Line]:
        target, value = self._write_target(), self._write_expression()
        name = self._write_target_name()
        yield depth, self._random.choice((
            f"{target} = {value}", f"{name} = {target} = {value}", f"{name} {self._pick(_OPERATORS)}= {value}",
            f"{name}: {self._write_annotation()} = {value}", f"{name}: {self._write_annotation()}",
            f"{self._pick(_SPECIAL)} = {value}",
            f"{self._pick(_SPECIAL)} = {self._pick(_NAMES)}.{self._pick(_SPECIAL)}",
        ))  # fmt: skip

    def _list_patched(self, depth: int) -> Iterator[Line]:
        """Yield an assignment to an attribute of a class from outside."""
        value = self._random.choice((self._write_expression(), f"staticmethod({self._write_expression()})"))
        yield depth, f"{self._pick(('A', 'B', 'C'))}.{self._write_attribute_name()} = {value}"

    def _list_expression(self, depth: int) -> Iterator[Line]:
        yield depth, self._write_expression()

    def _list_decorators(self, depth: int) -> Iterator[Line]:
        for each in self._repeat(self._write_expression, 2) if self._happens(0.4) else ():
            yield depth, f"@{each}"
        if self._happens(0.2):
            decorators = ("property", "staticmethod", "classmethod", "a.setter", "f.register", "f.register(int)")
            yield depth, f"@{self._pick((*decorators, *_LIBRARY))}"

    def _list_function(self, depth: int) -> Iterator[Line]:
        yield from self._list_decorators(depth)
        is_async = self._happens(0.2)
        name = self._pick(_SPECIAL if self._happens(0.4) else _NAMES)
        result = f" -> {self._write_annotation()}" if self._happens(0.2) else ""
        head = f"def {name}({self._write_parameters(receiver=self._happens())}){result}:"
        yield depth, f"async {head}" if is_async else head
        if self._happens(0.2):
            yield depth + 1, self._pick(("'''Say.'''", "global zz", "'''Say.\n\n    Args:\n        a: b\n    '''"))
        yield from self._list_block(depth + 1)
        value = self._write_expression()
        ends = [f"return {value}", "return", f"yield {value}", f"a = yield {value}", f"raise {value}", "return self"]
        ends += [f"await {value}"] if is_async else [f"yield from {value}"]
        yield depth + 1, self._pick([each for each in ends if not (is_async and each == f"return {value}")])

    def _list_class(self, depth: int) -> Iterator[Line]:
        yield from self._list_decorators(depth)
        bases = (
            self._repeat(self._write_expression, 2) if self._happens(0.4) else self._repeat(self._write_target_name, 2)
        )
        named = [f"metaclass={self._write_name()}"] if self._happens(0.15) else []
        rest = ["*a"] if self._happens(0.05) else []
        yield depth, f"class {self._pick(('A', 'B', 'C'))}({', '.join([*bases, *rest, *named])}):"
        yield from self._list_block(depth + 1)

    def _list_asked_class(self, depth: int) -> Iterator[Line]:
        """Yield a class with arbitrary special methods, and code that makes Python call them."""
        name = self._pick(("A", "B", "C"))
        yield depth, f"class {name}({', '.join(self._repeat(self._write_name, 2))}):"
        for _ in range(self._random.randint(1, 4)):
            maker = self._pick(("staticmethod", "classmethod", "property", "f", ""))
            yield depth + 1, f"{self._pick(_SPECIAL)} = {maker}({self._write_expression()})"
        yield depth, f"x = {name}({self._write_arguments()})"
        for _ in range(self._random.randint(1, 3)):
            yield depth, self._pick((
                "x(a)(b)", "for a in x: a()", "[a() for a in x]", "x + 1 + x", "x[a].f()", "x.zz()", "x.a = 1",
                "del x.a",
                "x == x in x", "print(f'{x}', -x, not x, len(x))", "*a, b = x", "with x as b: b()", "f(*x, **x)",
                f"class B({name}): y = x", f"super({name}, x).m()", "next(iter(x))()", "x[1] = x", "isinstance(x, x)",
            ))  # fmt: skip

    def _list_if(self, depth: int) -> Iterator[Line]:
        test = self._write_test if self._happens() else self._write_expression
        yield depth, f"if {test()}:"
        yield from self._list_block(depth + 1)
        if self._happens():
            yield depth, self._random.choice((f"elif {test()}:", "else:"))
            yield from self._list_block(depth + 1)

    def _list_loop(self, depth: int) -> Iterator[Line]:
        head = f"for {self._write_target()} in {self._write_expression()}:"
        yield depth, self._pick((head, f"async {head}", f"while {self._write_expression()}:"))
        yield from self._list_block(depth + 1)
        yield depth + 1, self._pick(("break", "continue", "pass"))
        if self._happens(0.2):
            yield depth, "else:"
            yield from self._list_block(depth + 1)

    def _list_with(self, depth: int) -> Iterator[Line]:
        one, other = self._write_expression(), self._write_expression()
        managers = self._pick((
            one, f"{one} as {self._write_target_name()}, {other}", f"({one} as (a, *b), {other} as x.f)",
            f"{one} as x[0]",
        ))  # fmt: skip
        yield depth, f"{'async ' if self._happens(0.2) else ''}with {managers}:"
        yield from self._list_block(depth + 1)

    def _list_try(self, depth: int) -> Iterator[Line]:
        yield depth, "try:"
        yield from self._list_block(depth + 1)
        star = "*" if self._happens(0.1) else ""
        yield (
            depth,
            self._random.choice(
                (f"except{star} {self._write_expression()} as a:", f"except{star} (A, B):", "finally:")
            ),
        )
        yield from self._list_block(depth + 1)

    def _list_match(self, depth: int) -> Iterator[Line]:
        yield depth, f"match {self._write_expression()}{self._pick(('', ', a', ','))}:"
        for _ in range(self._random.randint(1, 3)):
            guard = f" if {self._write_expression()}" if self._happens(0.3) else ""
            yield depth + 1, f"case {self._write_pattern()}{guard}:"
            yield from self._list_block(depth + 2)

    def _write_pattern(self) -> str:
        patterns = ("A()", "A(a=1)", "A(x, B(y))", "[x, *y]", "{'a': x, **b}", "1 | 2", "None", "'a'", "x.a", "str(x)")
        return self._pick((*patterns, "A() as a", "(A() | B()) as a", "()", "[]", "{}", "-1", "*a, b", "a.B.C()"))

    def _list_import(self, depth: int) -> Iterator[Line]:
        imports = (
            "import a",
            "import a.b as x",
            "from a import f",
            "from . import A",
            "from .m import A as B",
            "from .. import x",
        )
        yield depth, self._pick((*imports, "from m import (A, B)", "import functools, dataclasses", "import m"))

    def _list_small(self, depth: int) -> Iterator[Line]:
        value = self._write_expression()
        yield depth, self._pick((
            f"del {self._write_target_name()}", f"del a.{self._write_attribute_name()}, x[{value}]",
            f"assert {value}, {value}", f"assert {self._write_test()}", f"raise {value} from {value}", "a = 1; b()",
            "nonlocal a, g",
            f"print({value}, file={value})",
        ))  # fmt: skip


def write_program(random: Random, most: int = 300) -> str:
    """Return a program of about `most` expressions that Python parses; generate again until one does."""
    for _ in range(20):
        text = ProgramWriter(random, most).write()
        try:
            ast.parse(text)
        except SyntaxError:
            continue
        return text
    return "pass\n"
