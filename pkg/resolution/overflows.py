"""Find the variable with too many values that leaves a call unbound (A-12).

Only what the module of the call sees is used, so that an edit elsewhere which does not change that leaves the reason
unchanged.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pkg.extract.summary import operations as o
from pkg.extract.summary.compaction import list_operands
from pkg.resolution import variables as v
from pkg.resolution.classes import ClassInfo
from pkg.resolution.machine import SITES
from pkg.resolution.value_sets import MANY, Container, Values, is_large
from pkg.resolution.variables import Home, Variable

if TYPE_CHECKING:
    from pkg.resolution.machine import Machine
    from pkg.resolution.program import Code, ModuleInfo

_CALLS = (o.CALL, o.CALL_ATTR)


def is_cut(values: Values) -> bool:
    """Return whether a set is large or was derived from a large one."""
    return is_large(values) or values >= MANY


class Overflows:
    """Variables with too many values, after solving."""

    def __init__(self, machine: Machine) -> None:
        self._schedule = machine.schedule
        self._program = machine.program
        self._containers: dict[Home, list[Container]] = {}
        for each in machine.program.interner.list(Container):
            self._containers.setdefault(each.code.module, []).append(each)
        self._module: ModuleInfo | None = None  # of the last call
        self._read: dict[int, list[Variable]] = {}  # its large variables, by reading operation
        self._read_of_others: dict[int, list[Variable]] = {}
        for variable in machine.schedule.read_by_others:
            if is_cut(machine.schedule.see(variable)):
                for node in dict.fromkeys(variable.others or ()):
                    self._read_of_others.setdefault(node, []).append(variable)

    def find(self, code: Code, site: int) -> str:
        """Return the name of the nearest large variable that the callee of a site comes from; else ""."""
        waiting = deque(
            (code, each)
            for node in code.summary.nodes
            if node[0] in SITES and site in node[SITES[node[0]] :]
            for each in ([node[1]] if node[0] in _CALLS else list_operands(node))
        )
        seen, near = set(waiting), ""
        read = self._list_read(code.module)
        while waiting:
            code, number = waiting.popleft()
            if number < 0 or code.values is None:
                continue
            before = [(code, each) for each in list_operands(code.summary.nodes[number]) if is_cut(code.values[each])]
            node = code.base + number
            cut = [(_name(each), each) for each in (*read.get(node, ()), *self._read_of_others.get(node, ()))]
            for name, variable in sorted(cut, key=itemgetter(0)) if len(cut) > 1 else cut:
                if is_large(self._schedule.see(variable)):
                    return name
                near = near or name
                writer = self._schedule.cut.get(variable) if variable.home is code.module else None
                if writer is not None:
                    owner = self._schedule.owners[writer]
                    before.append((owner, writer - owner.base))
            waiting += [each for each in before if each not in seen]
            seen.update(before)
        return near

    def _list_read(self, module: ModuleInfo) -> dict[int, list[Variable]]:
        """Return the large variables of a module by the operations that read them."""
        if module is not self._module:
            self._module, self._read = module, {}
            for variable in self._list_own(module):
                if is_cut(variable.values):
                    for node in dict.fromkeys(variable.readers or ()):
                        self._read.setdefault(node, []).append(variable)
        return self._read

    def _list_own(self, module: ModuleInfo) -> Iterator[Variable]:
        yield from module.names.values()
        for code in module.codes:
            yield from (*code.parameters, code.result, code.yielded, *code.cells.values())
            if code.class_info is not None:
                yield from (*code.class_info.fields.values(), *code.class_info.members.values())
        for container in self._containers.get(module, ()):
            held = (container.everything, container.rest, container.keys, *container.keyed.values())
            yield from (each for each in held if each is not None)


def _name(variable: Variable) -> str:
    """Return the name of a variable for messages."""
    owner: Any = variable.owner
    if isinstance(owner, Container):
        return f"items of the {owner.kind} in {owner.code.qualname or owner.code.module.path}"
    if isinstance(owner, ClassInfo):
        return f"field {variable.part} of {owner.code.qualname}"
    if variable.kind == v.NAME:
        return f"name {variable.part} of {variable.home.path}"
    if variable.kind in (v.PARAMETER, v.DEFAULT):
        return f"parameter {owner.summary.parameters[variable.part][0]} of {owner.qualname}"
    if variable.kind == v.CELL:
        return f"name {variable.part} of {owner.qualname}"
    if variable.kind == v.CHANGED:
        return f"attribute {owner}"
    return f"what {owner.qualname} yields" if variable.kind == v.YIELDED else f"result of {owner.qualname}"
