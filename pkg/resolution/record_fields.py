"""Classes whose constructor is made of the names that are annotated in them: dataclasses, attrs, NamedTuple (A-12)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pkg.extract.summary import operations as o
from pkg.resolution.classes import ClassInfo
from pkg.resolution.variables import FACTORIES, FIELD, Variable

if TYPE_CHECKING:
    from pkg.resolution.program import Code

AFTER_INIT = ("__post_init__", "__attrs_post_init__")  # what such a constructor calls at its end
CONSTRUCTORS = ("__init__", "__new__")
_ATTRS = frozenset(("define", "mutable", "frozen", "attrs", "s"))
_RECORDS = _ATTRS | {"dataclass"}
_FIELDS = ("ib", "attrib")  # make a name a field without an annotation
_NEW_FIELDS = ("field", *_FIELDS)


class Field(NamedTuple):
    """A field of a record class, and how its constructor takes it."""

    name: str
    owner: ClassInfo
    is_taken: bool
    is_by_name: bool
    parameter: str


@dataclass(slots=True)
class Record:
    """What decides on the constructor of a record class."""

    constructor: str  # the name of the one that is made; nothing where none is
    is_attrs: bool
    fields: dict[str, Field]
    factories: Variable  # that make defaults


def find_records(classes: Iterable[ClassInfo]) -> None:
    """Find the record classes among classes whose bases are known, and their fields."""
    for info in classes:
        is_tuple = any(name.rpartition(".")[2] == "NamedTuple" for name in info.libraries)
        if is_tuple or not _RECORDS.isdisjoint(info.code.decorators):
            info.record = _read_record(info, is_tuple)
            for name, each in info.record.fields.items():
                if each.is_taken:
                    info.fields.setdefault(name, Variable(info.module, info, FIELD, name))


def name_last(code: Code, number: int) -> str:
    """Name a callable by its last name."""
    node = code.summary.nodes[number]
    if node[0] in (o.CALL_ATTR, o.ATTR):
        return str(node[2])
    if node[0] == o.CALL and node[1] >= 0:
        return name_last(code, node[1])
    if node[0] == o.IMPORT:
        return str(code.module.unit.imports[node[1]].bound_name)
    return str(node[1]) if node[0] in (o.GLOBAL, o.BROUGHT) else ""


def find_generated(info: ClassInfo, name: str, after: ClassInfo | None = None) -> ClassInfo | None:
    """Find the class whose constructor of a name a class has, where that is made of fields and not written.

    `after` begins behind one in the order (super).
    """
    order: Sequence[ClassInfo] = info.order
    if after is not None:
        order = order[order.index(after) + 1 :] if after in info.ancestors else ()
    for each in order:
        if name in each.members:
            return None
        if each.record is not None and each.record.constructor == name:
            return each
    return None


def list_parameters(made: ClassInfo) -> list[Field]:
    """List the fields that the constructor of a class takes: those of bases come first, those by name alone last.

    A field that is declared again keeps its place; in attrs it goes to the end.
    """
    fields: dict[str, Field] = {}
    for each in reversed(made.order):
        for name, found in each.record.fields.items() if each.record is not None else ():
            if each.record is not None and each.record.is_attrs:
                fields.pop(name, None)
            fields[name] = found
    return sorted((each for each in fields.values() if each.is_taken), key=lambda each: each.is_by_name)


def _read_record(info: ClassInfo, is_tuple: bool) -> Record:
    options = dict(_list_options(info))
    is_attrs = not _ATTRS.isdisjoint(info.code.decorators)
    constructor = "__new__" if is_tuple else "" if options.get("init") is False else "__init__"
    fields = {each.name: each for each in _list_fields(info, options.get("kw_only") is True, is_attrs)}
    return Record(constructor, is_attrs, fields, Variable(info.module, info, FACTORIES))


def _list_options(info: ClassInfo) -> Iterator[tuple[str, object]]:
    """List what the decorator is given that makes a class a record."""
    parent = info.code.parent
    for number in info.code.decorated_by if parent is not None else ():
        node = parent.summary.nodes[number]  # type: ignore[union-attr]
        if node[0] in (o.CALL, o.CALL_ATTR) and name_last(parent, number) in _RECORDS:  # type: ignore[arg-type]
            yield from _read_options(parent.summary.nodes, node)  # type: ignore[union-attr]


def _read_options(nodes: Sequence[Any], call: Any) -> Iterator[tuple[str, object]]:
    """Read the arguments of a call that are constants given by name."""
    for name, number in call[-2]:
        if number >= 0 and nodes[number][0] == o.CONST:
            yield name, nodes[number][2]


def _list_fields(info: ClassInfo, is_by_name: bool, is_attrs: bool) -> Iterator[Field]:
    nodes = info.code.summary.nodes
    for node in nodes:
        if node[0] != o.MEMBER or node[2] < 0:
            continue
        name, value = node[1], nodes[node[2]]
        annotation, number = (value[1], value[2]) if value[0] == o.DECLARE else (None, node[2])
        last = _name_annotation(annotation)
        if last == "KW_ONLY":
            is_by_name = True
            continue
        is_made = number >= 0 and nodes[number][0] in (o.CALL, o.CALL_ATTR)
        maker = name_last(info.code, number) if is_made else ""
        if annotation is None and not (is_attrs and maker in _FIELDS):
            continue
        options = dict(_read_options(nodes, nodes[number])) if maker in _NEW_FIELDS else {}
        is_taken = last != "ClassVar" and options.get("init") is not False
        parameter = name.lstrip("_") if is_attrs else name
        yield Field(name, info, is_taken, options.get("kw_only", is_by_name) is True, parameter)


def _name_annotation(annotation: Any) -> str:
    """Name what an annotation is of by its last name."""
    while annotation and annotation[0] == "s":
        annotation = annotation[1]
    return str(annotation[1]).rpartition(".")[2] if annotation and annotation[0] == "n" else ""
