"""Sort the facts of a file into its scopes, in one walk by position (A-12)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from pkg.extract.code_pieces import locate, locate_in_pattern, parse_expression, parse_pattern
from pkg.model import Class, Function, Import
from pkg.resolve.facts.scope_model import (
    DEFINITION,
    IMPORT,
    NO_CONDITIONS,
    Binding,
    Condition,
    ModuleScopes,
    Path,
    Scope,
    Site,
    Step,
    Store,
)
from pkg.units import NAME, PLACE, Code, Question, read_name, read_place, unpack_facts

_NAME = re.compile(NAME + rb"\Z")
_BETWEEN_WORDS = re.compile(rb"[\s(:\[\\]+")  # of the head of a definition
_IMPORT_CODE = 99  # of imports among facts
_CODES = dict(enumerate(Code))
_CALL, _READ, _COMPREHENSION = (int(each) for each in (Code.CALL, Code.READ, Code.COMPREHENSION))
"""As plain numbers: every fact of a repository is compared with them, which takes members of an enumeration longer."""
_BINDING_CODES = frozenset((
    Code.ASSIGN, Code.ANNOTATE, Code.FOR, Code.WITH, Code.EXCEPT, Code.AUGMENT, Code.WALRUS, Code.ASYNC_FOR,
    Code.ASYNC_WITH,
))  # fmt: skip
_ASKING_CODES = frozenset((Code.ITEM, Code.PUT, Code.DELETE, Code.CONTAINS, Code.OPERATE, Code.ASK))
_CONDITION_CODES = (Code.HOLDS, Code.FAILS, Code.STAYS, Code.LEAVES)
_TESTED = re.compile(
    rb"(?<![\w.])(?:isinstance|issubclass|callable|type)\s*\([\s(]*(" + PLACE + rb")\s*(?:[,)]|:=)"
    rb"|(?<![\w.])(" + PLACE + rb")\s*\.\s*__class__\b"
)
_GIVEN = re.compile(rb"(?<![\w.])((?:isinstance|issubclass|callable|type)\s*\([\s(]*)?(?<![\w.])(" + NAME + rb")\s*:=")
_LOOPS, _CONTEXTS = (Code.FOR, Code.ASYNC_FOR), (Code.WITH, Code.ASYNC_WITH)
MAX_OPERAND = 500  # bytes up to which a special method is looked for: of a long sum, each operand is all before it


def build_scopes(
    path: str, text: bytes, facts: bytes, definitions: Sequence[Class | Function], imports: Sequence[Import]
) -> ModuleScopes:
    """Sort the facts of a file into its scopes."""
    module = ModuleScopes(path, text, definitions, imports)
    _Walk(module).run(facts)
    return module


class _Walk:
    """Walk the facts by position with a stack of open scopes."""

    def __init__(self, module: ModuleScopes) -> None:
        self._module = module
        self._text = module.text
        root = Scope(module, "module", "", None, (0, 0), len(module.text) + 1)
        self._stack, self._ends = [root], [root.code_end]  # scopes, and where each is left
        module.scopes.append(root)
        self._nonlocal: list[tuple[Scope, str, Binding]] = []
        self._looping: set[Scope] = set()  # comprehensions whose first loop was seen
        self._patterns: dict[int, str] = {}  # of cases, where they begin, and what is matched if that is a name
        self._tested: tuple[int, int, frozenset[str]] = (0, 0, frozenset())  # of the last condition, with its span
        self._chain = Condition(0, 0, 0, [], is_open=True)  # of the last if statement or match
        self._places: dict[tuple[int, str], list[int]] = {}
        for place, definition in enumerate(module.definitions):
            self._places.setdefault((definition.span.end, definition.name), []).append(place)

    def run(self, facts: bytes) -> None:
        """Put every fact and import into the innermost scope around it."""
        events = list(unpack_facts(facts))
        if self._module.imports:
            events += [
                (record.span.start, _IMPORT_CODE, place, 0, 0, 0) for place, record in enumerate(self._module.imports)
            ]
            events.sort()
        conditions: list[tuple[Scope, int, int, int, int, int, int]] = []
        stack, ends, call, read = self._stack, self._ends, Code.CALL, Code.READ
        for start, code, a, b, c, d in events:
            while start >= ends[-1]:
                stack.pop()
                ends.pop()
            scope = stack[-1]
            if code == _CALL:
                scope.sites.append(Site(scope, call, a, b, (c, d)))
            elif code == _READ:
                scope.sites.append(Site(scope, read, a, b))
            elif code in _ASKING_CODES:
                if b - a <= MAX_OPERAND:
                    scope.sites.append(Site(scope, _CODES[code], a, b, (c, d)))
            elif code in _BINDING_CODES:
                self._bind(scope, _CODES[code], a, b, c, d)
            elif code <= _COMPREHENSION:
                self._open(scope, code, (a, b), d)
            elif code in _CONDITION_CODES:
                conditions.append((scope, code, start, a, b, c, d))
            else:
                self._note(scope, code, a, b, c, d)
        for condition in conditions:  # when all patterns are known
            self._note_condition(*condition)
        for scope, name, binding in self._nonlocal:  # the scopes around bind the name later, perhaps
            _find_outer(scope, name).names.setdefault(name, []).append(binding)

    def _note_condition(self, scope: Scope, code: int, since: int, a: int, b: int, c: int, d: int) -> None:
        """Note what is known in a region; what follows an if statement or a match is told by several facts."""
        step = Step(c, d, code in (Code.HOLDS, Code.STAYS), self._patterns.get(c, ""))
        if code in (Code.HOLDS, Code.FAILS):
            condition = Condition(a, b, since, [step], code == Code.FAILS)
        else:
            condition = self._chain
            if (condition.start, condition.end) != (a, b):
                condition = self._chain = Condition(a, b, since, [], is_open=True)
            if d:
                condition.steps = sorted([*condition.steps, step])
            else:  # all that passed none of the tests
                condition.is_open = step.stays
        subjects = {step.subject} if step.subject else self._find_tested(c, d)
        given = dict(_list_given(self._text, c, d))
        for subject in subjects:
            if subject not in given:
                self._add_condition(scope, subject, condition)
            elif code in (Code.HOLDS, Code.FAILS):
                self._add_condition(scope, subject, replace(condition, since=min(since, given[subject])))

    def _find_tested(self, start: int, end: int) -> frozenset[str]:
        """Find what the tests of a condition are about; of one that begins with the last, only the rest is read."""
        begin, read, known = self._tested
        if begin != start or read > end:
            read, known = start, frozenset()
        known = known.union(_list_tested(self._text, read, end))
        self._tested = start, end, known
        return known

    def _add_condition(self, scope: Scope, subject: str, condition: Condition) -> None:
        if scope.conditions is NO_CONDITIONS:
            scope.conditions = {}
        known = scope.conditions.setdefault(subject, [])
        if condition not in known[-1:]:
            known.append(condition)
        self._module.tested.add(subject)

    def _open(self, scope: Scope, code: int, head: tuple[int, int], end: int) -> None:
        self._ends.append(end)
        if code == Code.FIRST:
            self._stack.append(scope.parent or scope)
            return
        if code == Code.LAMBDA:
            inner = Scope(self._module, "lambda", "<lambda>", scope, head, end)
            self._module.lambdas[head[1]] = inner
        elif code == Code.COMPREHENSION:
            inner = Scope(self._module, "comprehension", "", scope, (head[0], head[0]), end)
            inner.qualname = scope.qualname
            self._module.comprehensions[head[0], end] = inner
        else:
            inner = self._define(scope, head, end)
        self._module.scopes.append(inner)
        self._stack.append(inner)

    def _define(self, scope: Scope, head: tuple[int, int], end: int) -> Scope:
        words = _BETWEEN_WORDS.split(self._text[slice(*head)][:400], maxsplit=3)
        is_class = words[0] == b"class"
        written = (words[2] if words[0] == b"async" else words[1]) if len(words) > 2 else b""
        name = read_name(written)
        inner = Scope(self._module, "class" if is_class else "function", name, scope, head, end)
        places = self._places.get((end, written.decode("utf-8", "replace")))
        if places:
            inner.definition = places.pop(0)
            inner.qualname = self._module.definitions[inner.definition].qualname
        start = self._module.definitions[inner.definition].span.start if inner.definition >= 0 else head[0]
        self._bind_name(scope, name, Binding(DEFINITION, scope=inner, at=start))
        return inner

    def _bind(self, scope: Scope, code: Code, a: int, b: int, c: int, d: int) -> None:
        binding = Binding(code, c, d, at=a)
        if code in _LOOPS:
            standing = self._find_standing(scope)
            standing.sites.append(Site(standing, code, c, d))
            binding = binding if standing is scope else binding._replace(within=standing)
        elif code in _CONTEXTS:
            scope.sites.append(Site(scope, code, c, d))
            if not b:
                return
        elif code == Code.WALRUS and scope.kind == "comprehension":
            binding = binding._replace(within=scope)
            while scope.kind == "comprehension" and scope.parent is not None:
                scope = scope.parent
        target = self._text[a:b]
        if _NAME.match(target):
            self._bind_name(scope, read_name(target), binding)
            return
        self._bind_part(scope, binding, a, target)

    def _find_standing(self, scope: Scope) -> Scope:
        """Find the scope in which stands what a loop goes through: of a comprehension's first, that around it."""
        if scope.kind != "comprehension" or scope.parent is None or scope in self._looping:
            return scope
        self._looping.add(scope)
        return scope.parent

    def _bind_part(self, scope: Scope, binding: Binding, at: int, target: bytes) -> None:
        """Bind what is no plain name: an attribute, an item, or several targets at once."""
        receiver, dot, name = target.rpartition(b".")
        if dot and _NAME.match(name):
            store = Store(scope, at, at + len(receiver.rstrip()), binding)
            self._store(scope, scope.mangle(read_name(name)), store)
        elif target.endswith(b"]") and not target.startswith(b"["):
            self._module.item_stores.append(Store(scope, at, at + len(target), binding))
        else:
            tree = parse_expression(target)
            if isinstance(tree, ast.Tuple | ast.List):
                self._unpack(scope, binding, tree, at)

    def _unpack(self, scope: Scope, binding: Binding, tree: ast.expr, at: int) -> None:
        if binding.code == Code.ASSIGN:
            scope.sites.append(Site(scope, Code.ASK, binding.start, binding.end, (Question.ITEMS, 0)))
        for path, leaf in _list_leaves(tree, binding.path):
            part = binding._replace(path=path)
            if isinstance(leaf, ast.Name):
                self._bind_name(scope, leaf.id, part)
            elif isinstance(leaf, ast.Attribute):
                start, end = locate(leaf.value, self._text, at)
                self._store(scope, scope.mangle(leaf.attr), Store(scope, start, end, part))

    def _store(self, scope: Scope, name: str, store: Store) -> None:
        self._module.stores.setdefault(name, []).append(store)
        scope.stored |= {name}

    def _note(self, scope: Scope, code: int, a: int, b: int, c: int, d: int) -> None:
        if code == Code.LOOP:
            scope.loops.append((a, b))
        elif code == Code.RETURN:
            scope.returns.append((c, d))
        elif code in (Code.YIELD, Code.YIELD_FROM):
            scope.yields.append((c, d, code == Code.YIELD_FROM))
            if code == Code.YIELD_FROM:
                scope.sites.append(Site(scope, Code.FOR, c, d))
        elif code == Code.RAISE:
            scope.sites.append(Site(scope, Code.RAISE, c, d))
        elif code == Code.ERASE:
            self._erase(scope, a, b)
        elif code == Code.MATCH:
            self._patterns[a] = read_place(self._text[c:d])
            self._capture(scope, a, b, Binding(Code.ASSIGN, c, d, at=a))
        elif code == _IMPORT_CODE:
            self._import(scope, a)
        else:
            names = read_name(self._text[a:b]).split(maxsplit=1)[-1].replace(",", " ").split()
            if code == Code.GLOBAL:
                scope.global_names |= {scope.mangle(name) for name in names}
            else:
                scope.nonlocal_names |= {scope.mangle(name) for name in names}

    def _erase(self, scope: Scope, start: int, end: int) -> None:
        receiver, dot, name = self._text[start:end].rpartition(b".")
        if dot:
            attribute = scope.mangle(read_name(name.strip()))
            scope.sites.append(Site(scope, Code.ERASE, start, start + len(receiver.rstrip()), name=attribute))
        else:
            statement = self._text.rfind(b"del", 0, start)
            self._bind_name(scope, read_name(name), Binding(Code.ERASE, start, end, at=statement))

    def _capture(self, scope: Scope, start: int, end: int, subject: Binding) -> None:
        pattern = parse_pattern(self._text[start:end])
        for name, binding in _list_captures(pattern, subject, self._text) if pattern is not None else ():
            self._bind_name(scope, name, binding)

    def _import(self, scope: Scope, place: int) -> None:
        record = self._module.imports[place]
        if record.name == "*":
            scope.stars.append(record)
            return
        self._bind_name(scope, record.bound_name, Binding(IMPORT, record=record, place=place, at=record.span.start))

    def _bind_name(self, scope: Scope, name: str, binding: Binding) -> None:
        name = scope.mangle(name)
        if name not in scope.global_names and name not in scope.nonlocal_names:
            scope.names.setdefault(name, []).append(binding)
            return
        if binding.within is None:
            binding = binding._replace(within=scope)
        if name in scope.global_names:
            self._module.root.names.setdefault(name, []).append(binding)
        else:
            self._nonlocal.append((scope, name, binding))


def _list_tested(text: bytes, start: int, end: int) -> Iterator[str]:
    """Give what the tests of a condition are about."""
    return (read_place(found[1] or found[2]) for found in _TESTED.finditer(text, start, end))


def _list_given(text: bytes, start: int, end: int) -> Iterator[tuple[str, int]]:
    """Give the names that a condition gives a value beside its tests, and where: that value was not tested."""
    for found in _GIVEN.finditer(text, start, end):
        if not found[1]:
            yield read_name(found[2]), found.start(2)


def _find_outer(scope: Scope, name: str) -> Scope:
    """Find the scope around that binds a name which is not local; the scope itself where none does."""
    outer = scope.parent
    while outer is not None and not (outer.kind != "class" and outer.binds(name)):
        outer = outer.parent
    return outer or scope


def _list_leaves(tree: ast.expr, path: Path) -> Iterator[tuple[Path, ast.expr]]:
    """Give the targets inside a target with the way to the part of the value that each gets."""
    if isinstance(tree, ast.Tuple | ast.List):
        for step, part in _number_parts(tree.elts, ast.Starred):
            yield from _list_leaves(part.value if isinstance(part, ast.Starred) else part, (*path, step))
    else:
        yield path, tree


Snippet = TypeVar("Snippet", ast.expr, ast.pattern)


def _number_parts(parts: Sequence[Snippet], starred: type[Snippet]) -> Iterator[tuple[int | str, Snippet]]:
    """Give the parts of a sequence with the steps to them; behind one with a star, positions count from the end."""
    first = next((i for i, part in enumerate(parts) if isinstance(part, starred)), len(parts))
    for i, part in enumerate(parts):
        if isinstance(part, starred):
            yield f"{i}:{i + 1 - len(parts) or ''}", part
        else:
            yield (i if i <= first else i - len(parts)), part


_SAME = frozenset((
    "bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple",
))  # fmt: skip
"""Builtins whose pattern takes the whole subject as its one part."""


def _list_captures(pattern: ast.pattern, given: Binding, text: bytes) -> Iterator[tuple[str, Binding]]:
    """Give the names that a pattern captures, with what is known of their values."""
    unknown = Binding(Code.MATCH, at=given.at)
    if isinstance(pattern, ast.MatchAs):
        classes = list(_list_classes(pattern.pattern))
        spans = [locate_in_pattern(each, text, given.at) for each in classes if each is not None]
        known = [unknown._replace(start=start, end=end) for start, end in spans]
        for binding in known if None not in classes else [*known, given]:
            yield from ((pattern.name, binding),) if pattern.name is not None else ()
        yield from _list_captures(pattern.pattern, given, text) if pattern.pattern is not None else ()
    elif isinstance(pattern, ast.MatchStar):
        yield from ((pattern.name, given),) if pattern.name is not None else ()
    elif isinstance(pattern, ast.MatchSequence):
        is_followed = given.code != Code.MATCH
        for step, part in _number_parts(pattern.patterns, ast.MatchStar):
            inner = given._replace(path=(*given.path, step)) if is_followed else unknown
            yield from _list_captures(part, inner, text)
    elif isinstance(pattern, ast.MatchClass):
        start, end = locate_in_pattern(pattern.cls, text, given.at)
        is_same = isinstance(pattern.cls, ast.Name) and pattern.cls.id in _SAME
        for part in (*pattern.patterns, *pattern.kwd_patterns):
            yield from _list_captures(part, unknown._replace(start=start, end=end) if is_same else unknown, text)
    elif isinstance(pattern, ast.MatchMapping):
        for part in pattern.patterns:
            yield from _list_captures(part, unknown, text)
        yield from ((pattern.rest, unknown),) if pattern.rest is not None else ()
    elif isinstance(pattern, ast.MatchOr):
        for part in pattern.patterns:
            yield from _list_captures(part, given, text)


def _list_classes(pattern: ast.pattern | None) -> Iterator[ast.expr | None]:
    """Give the classes that a pattern names, one of which its subject is of; nothing for one that tells no class."""
    if isinstance(pattern, ast.MatchClass):
        yield pattern.cls
    elif isinstance(pattern, ast.MatchOr):
        for part in pattern.patterns:
            yield from _list_classes(part)
    elif isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
        yield from _list_classes(pattern.pattern)
    else:
        yield None
