"""Say which parameter, field or the like has too many values, where a call is not bound for that (A-12)."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pkg.extract.summary import operations as o
from pkg.extract.summary.compaction import list_operands
from pkg.resolution.machine import SITES
from pkg.resolution.value_sets import MANY, Container, Values, is_large
from pkg.resolution.variables import Variable

if TYPE_CHECKING:
    from pkg.resolution.machine import Machine
    from pkg.resolution.program import Code

_CALLS = (o.CALL, o.CALL_ATTR)


def is_cut(values: Values) -> bool:
    """Return whether a set has too many values, or was made of one that has."""
    return is_large(values) or values >= MANY


class Overflows:
    """Know the variables that have too many values, once all is solved."""

    def __init__(self, machine: Machine) -> None:
        self._schedule = machine.schedule
        self._names: dict[Variable, str] = {}
        self._read: dict[int, list[Variable]] = defaultdict(list)  # by operation, by its number in the whole program
        for variable, name in _list_variables(machine):
            if variable not in self._names and is_cut(variable.values):
                self._names[variable] = name
                for node in dict.fromkeys((*(variable.readers or ()), *(variable.others or ()))):
                    self._read[node].append(variable)

    def find(self, code: Code, site: int) -> str:
        """Name the nearest variable that what a site calls comes from; empty where it comes from none."""
        waiting = deque(
            (code, each)
            for node in code.summary.nodes
            if node[0] in SITES and site in node[SITES[node[0]] :]
            for each in ([node[1]] if node[0] in _CALLS else list_operands(node))
        )
        seen, near = set(waiting), ""
        while waiting:
            code, number = waiting.popleft()
            if number < 0 or code.values is None:
                continue
            before = [(code, each) for each in list_operands(code.summary.nodes[number]) if is_cut(code.values[each])]
            for variable in self._read.get(code.base + number, ()):
                if is_large(variable.values):
                    return self._names[variable]
                near = near or self._names[variable]
                writer = self._schedule.cut.get(variable)
                if writer is not None:
                    owner = self._schedule.owners[writer]
                    before.append((owner, writer - owner.base))
            waiting += [each for each in before if each not in seen]
            seen.update(before)
        return near


def _list_variables(machine: Machine) -> Iterator[tuple[Variable, str]]:
    """List variables with what they are called: parameters, results, fields and names before items of containers."""
    containers: dict[Container, None] = {}
    for variable, name in _list_named(machine):
        containers.update((each, None) for each in variable.values if isinstance(each, Container))
        yield variable, name
    waiting = list(containers)
    while waiting:
        container = waiting.pop()
        name = f"items of the {container.kind} in {container.code.qualname or container.code.module.path}"
        for held in (container.everything, container.rest, container.keys, *container.keyed.values()):
            if held is not None:
                yield held, name
                inner = [each for each in held.values if isinstance(each, Container) and each not in containers]
                containers.update(dict.fromkeys(inner))
                waiting += inner


def _list_named(machine: Machine) -> Iterator[tuple[Variable, str]]:
    for module in machine.program.modules.values():
        for name, variable in module.names.items():
            yield variable, f"name {name} of {module.path}"
    for info in machine.program.hierarchy.classes:
        for name, variable in (*info.fields.items(), *info.members.items()):
            yield variable, f"field {name} of {info.code.qualname}"
    for code in machine.program.list_codes():
        for each, variable in zip(code.summary.parameters, code.parameters, strict=True):
            yield variable, f"parameter {each[0]} of {code.qualname}"
        yield code.result, f"result of {code.qualname}"
        yield code.yielded, f"what {code.qualname} yields"
        for name, variable in code.cells.items():
            yield variable, f"name {name} of {code.qualname}"
