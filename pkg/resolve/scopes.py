"""Sort the facts of a file into its scopes, in one walk by position (A-12)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from pkg.model import Class, Function, Import
from pkg.resolve.parsing import locate, parse_expression
from pkg.resolve.scope_model import Binding, ModuleScopes, Path, Scope, Site, Store
from pkg.units import DOTTED, NAME, Code, unpack_facts

_NAME = re.compile(NAME + rb"\Z")
_BETWEEN_WORDS = re.compile(rb"[\s(:\[\\]+")  # of the head of a definition
_DEFINITION, _IMPORT = "definition", "import"
_IMPORT_CODE = 99  # of imports among facts
_CODES = dict(enumerate(Code))
_CALL, _READ, _COMPREHENSION, _ITEM = (int(each) for each in (Code.CALL, Code.READ, Code.COMPREHENSION, Code.ITEM))
"""As plain numbers: every fact of a repository is compared with them, which takes members of an enumeration longer."""
_BINDING_CODES = frozenset((Code.ASSIGN, Code.ANNOTATE, Code.FOR, Code.WITH, Code.EXCEPT))


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
        self._stack = [Scope(module, "module", "", None, (0, 0), len(module.text) + 1)]
        module.scopes.append(self._stack[0])
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
        stack, call, read = self._stack, Code.CALL, Code.READ
        for start, code, a, b, c, d in events:
            while start >= stack[-1].code_end:
                stack.pop()
            scope = stack[-1]
            if code == _CALL:
                scope.sites.append(Site(scope, call, a, b, (c, d)))
            elif code == _READ:
                scope.sites.append(Site(scope, read, a, b))
            elif code >= _ITEM and code != _IMPORT_CODE:
                if DOTTED.match(self._text[a:b]):
                    scope.sites.append(Site(scope, _CODES[code], a, b, (c, d)))
            elif code in _BINDING_CODES:
                self._bind(scope, _CODES[code], a, b, c, d)
            elif code <= _COMPREHENSION:
                self._open(scope, code, (a, b), d)
            else:
                self._note(scope, code, a, b, c, d)

    def _open(self, scope: Scope, code: int, head: tuple[int, int], end: int) -> None:
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
        name = (words[2] if words[0] == b"async" else words[1]).decode("utf-8", "replace") if len(words) > 2 else ""
        inner = Scope(self._module, "class" if is_class else "function", name, scope, head, end)
        places = self._places.get((end, name))
        if places:
            inner.definition = places.pop(0)
            inner.qualname = self._module.definitions[inner.definition].qualname
        start = self._module.definitions[inner.definition].span.start if inner.definition >= 0 else head[0]
        _bind_name(scope, name, Binding(_DEFINITION, scope=inner, at=start))
        return inner

    def _bind(self, scope: Scope, code: Code, a: int, b: int, c: int, d: int) -> None:
        if code == Code.FOR:
            scope.sites.append(Site(scope, code, c, d))
        elif code == Code.WITH:
            scope.sites.append(Site(scope, code, c, d))
            if not b:
                return
        target = self._text[a:b]
        if _NAME.match(target):
            _bind_name(scope, target.decode("utf-8", "replace"), Binding(code, c, d, at=a))
            return
        self._bind_part(scope, Binding(code, c, d, at=a), a, target)

    def _bind_part(self, scope: Scope, binding: Binding, at: int, target: bytes) -> None:
        """Bind what is no plain name: an attribute, an item, or several targets at once."""
        receiver, dot, name = target.rpartition(b".")
        if dot and _NAME.match(name):
            store = Store(scope, at, at + len(receiver.rstrip()), binding)
            self._module.stores.setdefault(name.decode("utf-8", "replace"), []).append(store)
        elif target.endswith(b"]") and not target.startswith(b"["):
            self._module.item_stores.append(Store(scope, at, at + len(target), binding))
        else:
            tree = parse_expression(target)
            if isinstance(tree, ast.Tuple | ast.List):
                self._unpack(scope, binding, tree, at)

    def _unpack(self, scope: Scope, binding: Binding, tree: ast.expr, at: int) -> None:
        for path, leaf in _list_leaves(tree, binding.path):
            part = binding._replace(path=path)
            if isinstance(leaf, ast.Name):
                _bind_name(scope, leaf.id, part)
            elif isinstance(leaf, ast.Attribute):
                start, end = locate(leaf.value, self._text, at)
                self._module.stores.setdefault(leaf.attr, []).append(Store(scope, start, end, part))

    def _note(self, scope: Scope, code: int, a: int, b: int, c: int, d: int) -> None:
        if code == Code.RETURN:
            scope.returns.append((c, d))
        elif code in (Code.YIELD, Code.YIELD_FROM):
            scope.yields.append((c, d, code == Code.YIELD_FROM))
        elif code == Code.RAISE:
            scope.sites.append(Site(scope, Code.RAISE, c, d))
        elif code == _IMPORT_CODE:
            self._import(scope, a)
        else:
            names = self._text[a:b].decode("utf-8", "replace").split(maxsplit=1)[-1].replace(",", " ").split()
            if code == Code.GLOBAL:
                scope.global_names |= set(names)
            else:
                scope.nonlocal_names |= set(names)

    def _import(self, scope: Scope, place: int) -> None:
        record = self._module.imports[place]
        if record.name == "*":
            scope.stars.append(record)
            return
        _bind_name(scope, record.bound_name, Binding(_IMPORT, record=record, place=place, at=record.span.start))


def _bind_name(scope: Scope, name: str, binding: Binding) -> None:
    if name in scope.global_names:
        scope = scope.module.root
    elif name in scope.nonlocal_names:
        outer = scope.parent
        while outer is not None and not (outer.kind != "class" and outer.binds(name)):
            outer = outer.parent
        scope = outer or scope
    scope.names.setdefault(name, []).append(binding)


def _list_leaves(tree: ast.expr, path: Path) -> Iterator[tuple[Path, ast.expr]]:
    """Give the targets inside a target with the way to the part of the value that each gets."""
    if isinstance(tree, ast.Tuple | ast.List):
        starred = next((i for i, part in enumerate(tree.elts) if isinstance(part, ast.Starred)), len(tree.elts))
        for i, part in enumerate(tree.elts):
            step: int | str = i if i <= starred else i - len(tree.elts)
            if isinstance(part, ast.Starred):
                yield from _list_leaves(part.value, (*path, f"{i}:{i + 1 - len(tree.elts) or ''}"))
            else:
                yield from _list_leaves(part, (*path, step))
    else:
        yield path, tree
