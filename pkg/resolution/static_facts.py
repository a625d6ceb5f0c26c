"""Facts that a file states without solving, by the keys under which other files look them up (A-12).

Two versions of a file are compared by them: an edit that leaves the facts of a name unchanged can affect files that
looked it up only by values.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from typing import Any

from pkg.extract.summary import operations as o
from pkg.extract.summary.compaction import list_operands
from pkg.resolution.classes import DERIVED, NAMES, ClassInfo, name_names
from pkg.resolution.program import Code, ModuleInfo, Program
from pkg.resolution.pytest_fixtures import FIXTURES
from pkg.resolution.self_calls import asks_super
from pkg.resolution.value_sets import Value
from pkg.resolution.variables import Home

EVERYTHING = "<everything>"
"""Key looked up by all files: facts that decide how classes and modules relate."""
_CLASS = "<class>"
_DEEPEST = 12
_SHOWN = frozenset((o.GLOBAL, o.CLASS, o.FUNC, o.IMPORT, o.STAR_BOUND, o.CELL))
_NEUTRAL = frozenset((o.PARAM, o.CONST, o.UNKNOWN, o.COLLECT, o.TEXT))


def name_member(info: ClassInfo, name: str) -> str:
    """Return the key of a special name of a class; nearly all code looks these names up."""
    return f"{info.module.path}\0{info.key}\0{name}"


def list_facts(module: ModuleInfo) -> dict[str, int]:
    """Return the hashes of the facts of a file alone, by key."""
    facts: dict[str, list[Any]] = {}

    def add(name: str, *fact: Any) -> None:
        facts.setdefault(name, []).append(fact)

    for code in module.codes:
        key = code.key
        if code.class_info is not None:
            _add_class(code.class_info, key, add)
        elif code.parent is not None:
            _add_function(code, key, add)
        for node in code.summary.nodes:
            _add_node(code, node, add)
    root = module.root
    if root is not None:
        add(name_names(module.path), sorted(module.names))
        for name in module.names:
            numbers = module.bindings.get(name, ())
            add(name, "name", len(numbers), [_spell(root, each, 0) for each in numbers])
        for record in module.stars:
            add(EVERYTHING, "star", record.module, record.level)
        if "__all__" in module.names:
            add(EVERYTHING, "all", [list(node) for node in root.summary.nodes if node[0] in (o.COLLECT, o.CONST)])
    return {name: _hash(each) for name, each in facts.items()}


def list_heads(module: ModuleInfo, program: Program, name_value: Callable[[Value], str]) -> dict[str, int]:
    """Return the hashes of facts that depend on other files: bases, signatures, imported packages."""
    known = program.known_packages
    imported = known.list_imported(module.path) - {known.find(module.path)}
    heads: dict[str, list[Any]] = {}
    for code in module.codes:
        info = code.class_info
        if info is not None:
            metaclass = info.metaclass.key if info.metaclass is not None else ""
            bases = [(each.module.path, each.key) for each in info.bases]
            kinds = sorted((each.module.path, each.key) for each in info.kinds - info.ancestors)
            head = bases, info.places, info.libraries, info.has_unknown, info.is_protocol, metaclass, kinds
            heads[name_member(info, _CLASS)] = [head, info.record is not None]
        elif code.signatures:
            promised = [(place, name_value(each)) for place, each in sorted(code.signatures.items())]
            heads.setdefault(code.name, []).append((code.key, promised))
    return {EVERYTHING: hash_imported(imported), **{name: _hash(each) for name, each in heads.items()}}


def hash_imported(packages: set[str]) -> int:
    """Return the hash of the packages that a file imports from."""
    return _hash(sorted(packages))


def _hash(facts: list[Any]) -> int:
    return zlib.crc32("\n".join(sorted(set(map(repr, facts)))).encode("utf-8", "surrogatepass"))


def _add_class(info: ClassInfo, key: str, add: Any) -> None:
    code = info.code
    nodes = code.summary.nodes
    stored = {node[1]: node[2] for node in nodes if node[0] == o.MEMBER}
    declared = [name for name in info.members if name in info.declared]
    add(info.name, "class", key, declared, sorted(code.decorators), code.summary.flags)
    for name in info.members:
        number = stored.get(name, -1)
        kind = nodes[number][0] if number >= 0 else -1
        method = info.methods.get(name)
        fact = ("member", key, kind, _spell(code, number, 0), repr(info.declared.get(name)), name in info.unset,
                method is not None and method.name)  # fmt: skip
        add(name_member(info, name) if name.startswith("__") else name, *fact)
    for name in info.fields:
        add(name, "field", key)
    add(name_member(info, NAMES), key, sorted(info.members), sorted(info.fields))
    if info.record is not None:
        fields = [(*each[:1], *each[2:]) for each in info.record.fields.values()]
        add(info.name, "record", info.record.constructor, fields)


def _add_function(code: Code, key: str, add: Any) -> None:
    summary = code.summary
    returned = [
        found for node in summary.nodes if node[0] == o.RETURN for each in node[1]
        if (found := _spell(code, each, 0)) is not None
    ]  # fmt: skip
    add(
        code.name, "function", key, summary.kind, summary.flags, summary.parameters, summary.returns,
        sorted(code.decorators), code.receiver_place, code.passed, sorted(map(repr, code.cases)), code.is_generator,
        code.is_async, returned, code.owner_class is not None and asks_super(code),
    )  # fmt: skip
    if code.name == "__init__" and code.owner_class is not None:
        for node in summary.nodes:
            if node[0] == o.SET_ATTR and code.receiver_place == 0 and list(summary.nodes[node[1]]) == [o.PARAM, 0]:
                add(node[2], "initialised", key)
    if any("fixture" in each for each in code.decorators):
        add(FIXTURES, key, summary.parameters, sorted(code.decorators))


def _add_node(code: Code, node: Any, add: Any) -> None:
    operation = node[0]
    nodes = code.summary.nodes
    if operation == o.SET_ATTR and node[1] >= 0:
        if not (code.receiver_place == 0 and list(nodes[node[1]]) == [o.PARAM, 0]):
            add(node[2], "assigned")
    elif operation == o.CALL and node[1] >= 0 and list(nodes[node[1]]) == [o.GLOBAL, "setattr"]:
        add(EVERYTHING, "setattr")
    elif operation == o.CALL_ATTR and node[2] == "register" and len(node[3]) == 1:
        add(EVERYTHING, "register", _spell(code, node[1], 0), _spell(code, node[3][0][0], 0))
    elif operation == o.DECORATE and code.summary.flags & o.REGISTERS:
        decorators = [_spell(code, number, 0) for number, _ in node[2]]
        if any(each is not None and "register" in each[1] for each in decorators):
            add(EVERYTHING, "register", decorators, _spell(code, node[1], 0))


def _spell(code: Code, number: int, depth: int) -> Any:
    """Return a comparable form of an operation's static value; None where it has none."""
    if number < 0 or depth > _DEEPEST:
        return None
    node = code.summary.nodes[number]
    operation = node[0]
    if operation in _NEUTRAL:
        return None
    if operation == o.IMPORT:
        record = code.module.unit.imports[node[1]]
        return operation, record.module, record.name, record.level, record.alias
    if operation in (o.FUNC, o.CLASS):
        return operation, code.module.codes[node[1]].name
    if operation == o.CELL:
        owner = code.module.codes[node[1]]
        stored = [each[3] for each in owner.summary.nodes if each[0] == o.SET_CELL and each[2] == node[2]]
        return operation, node[2], [_spell(owner, each, depth + 1) for each in stored]
    parts = [_spell(code, each, depth + 1) for each in list_operands(node)]
    if operation not in _SHOWN and not any(each is not None for each in parts):
        return None
    return operation, [each for each in node[1:] if isinstance(each, str)], parts


def find_changed(before: dict[str, int], now: dict[str, int]) -> set[str]:
    """Return the keys whose facts changed; EVERYTHING stands for all."""
    changed = {name for name in before.keys() | now.keys() if before.get(name) != now.get(name)}
    for name in [name for name in changed if name.endswith(_CLASS)]:
        changed.discard(name)
        changed.add(EVERYTHING if name in before else name.removesuffix(_CLASS) + DERIVED)
    return changed


def list_consulted(home: Home) -> list[str]:
    """List the keys of the lookups of a module."""
    return sorted(name_member(*each) if isinstance(each, tuple) else str(each) for each in home.consulted)


def spread_changed(changed: set[str], program: Program) -> set[str]:
    """Extend changed special names of classes to related classes, through which they are looked up."""
    found = set(changed)
    for each in changed:
        path, _, rest = each.partition("\0")
        key, _, name = rest.partition("\0")
        info = program.find_class(path, key) if name else None
        if info is not None:
            related = {*info.order, *program.hierarchy.list_derived(info)}
            found.update(name_member(other, name) for other in related)
    return found


def list_special(facts: Iterable[str]) -> set[str]:
    """Return the special names that classes define, from keys of facts."""
    return {name for each in facts if (name := each.rpartition("\0")[2])[:2] == "__" and "\0" in each}
