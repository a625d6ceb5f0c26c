"""Record classes, whose constructor is generated from fields: dataclasses, attrs, NamedTuple (A-12)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pkg.extract.summary import operations as o
from pkg.resolution.classes import ClassInfo
from pkg.resolution.variables import FACTORIES, FIELD, Variable

if TYPE_CHECKING:
    from pkg.resolution.program import Code

AFTER_INIT = ("__post_init__", "__attrs_post_init__")  # hooks called at the end of a generated constructor
CONSTRUCTORS = ("__init__", "__new__")
_ATTRS = frozenset(("define", "mutable", "frozen", "attrs", "s"))
_RECORDS = _ATTRS | {"dataclass"}
_FIELDS = ("ib", "attrib")  # callees that make a field without an annotation
_NEW_FIELDS = ("field", *_FIELDS)


class Field(NamedTuple):
    """A field of a record class as a parameter of its constructor."""

    name: str
    owner: ClassInfo
    is_taken: bool
    is_by_name: bool
    parameter: str


@dataclass(slots=True)
class Record:
    """Constructor and fields of a record class."""

    constructor: str  # name of the generated one; "" where there is none
    is_attrs: bool
    fields: dict[str, Field]
    factories: Variable  # default factories


def find_records(classes: Iterable[ClassInfo]) -> None:
    """Find record classes and their fields, after bases are known."""
    for info in classes:
        is_tuple = any(name.rpartition(".")[2] == "NamedTuple" for name in info.libraries)
        if is_tuple or not _RECORDS.isdisjoint(info.code.decorators):
            info.record = _read_record(info, is_tuple)
            for name, each in info.record.fields.items():
                if each.is_taken:
                    info.fields.setdefault(name, Variable(info.module, info, FIELD, name))


def name_last(code: Code, number: int) -> str:
    """Return the last name of a callable."""
    node = code.summary.nodes[number]
    if node[0] in (o.CALL_ATTR, o.ATTR):
        return str(node[2])
    if node[0] == o.CALL and node[1] >= 0:
        return name_last(code, node[1])
    if node[0] == o.IMPORT:
        return str(code.module.unit.imports[node[1]].bound_name)
    return str(node[1]) if node[0] in (o.GLOBAL, o.STAR_BOUND) else ""


def find_generated(info: ClassInfo, name: str, after: ClassInfo | None = None) -> ClassInfo | None:
    """Return the class in the MRO whose constructor of a name is generated; None where it is written.

    `after`: the class after which the search begins (super).
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
    """Return the fields that a constructor takes: of bases first, keyword-only ones last.

    A redeclared field keeps its position; in attrs it moves to the end.
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
    """Iterate over the keyword arguments of the record decorator."""
    parent = info.code.parent
    for number in info.code.decorated_by if parent is not None else ():
        node = parent.summary.nodes[number]  # type: ignore[union-attr]
        if node[0] in (o.CALL, o.CALL_ATTR) and name_last(parent, number) in _RECORDS:  # type: ignore[arg-type]
            yield from _read_options(parent.summary.nodes, node)  # type: ignore[union-attr]


def _read_options(nodes: Sequence[Any], call: Any) -> Iterator[tuple[str, object]]:
    """Iterate over the constant keyword arguments of a call."""
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
    """Return the last name of an annotated type."""
    while annotation and annotation[0] == "s":
        annotation = annotation[1]
    return str(annotation[1]).rpartition(".")[2] if annotation and annotation[0] == "n" else ""
