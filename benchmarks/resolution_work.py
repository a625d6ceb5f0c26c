"""Count the work of a resolution in machine-independent numbers: django, four shapes at two sizes, three edits.

    python benchmarks/resolution_work.py [--cache FOLDER] [--check]

Counted are operations evaluated, evaluations of frames, rounds, values created, bytes of records per byte of code, and
for edits of django the files that are resolved again. With --check nothing is written: the command fails if any figure
is more than 3 % above the stored result. To accept a higher one, run it without and give the reason in the commit.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from measure import RESULTS, Figures, make_parser, open_folder, write_result
from packages import DJANGO, unpack_package

from pkg.extract.python import extract_unit
from pkg.local_errors import LocalErrors
from pkg.resolution.machine import Machine
from pkg.resolution.program import Program
from pkg.resolution.site_links import LinkWriter
from pkg.resolution.updates import Records, record_resolution, resolve_edited
from pkg.units import UnitText, describe_code

RESULT = "resolution_work"
SLACK = 1.03  # largest ratio of a figure to the stored one
SIZES = (100, 400)
EDITS = {
    "comment": ("http/request.py", "class HttpRequest", "# said\n\nclass HttpRequest"),
    "function added": (
        "db/models/sql/query.py",
        "    def add_q(",
        "    def more(self, model):\n        return self.build_filter(model).as_sql(model, None)\n\n    def add_q(",
    ),
    "function renamed": ("db/models/sql/query.py", "def get_order_dir(", "def get_direction("),
}
"""Edits of django: the file, a text that occurs in it, and the replacement of its first occurrence."""


def make_ring(size: int) -> str:
    """Return classes in a ring, and as many assignments in a loop that go from one to the next."""
    classes = "".join(f"class C{i}:\n    def m(self):\n        return C{(i + 1) % size}()\n" for i in range(size))
    return f"{classes}def go():\n    x = C0()\n    while True:\n" + "        x = x.m()\n" * size


def make_recursion(size: int) -> str:
    """Return a function with many loops that calls itself in each."""
    loops = "".join(f"    for a{i} in x.items():\n        x = f(a{i})\n" for i in range(size))
    return f"class A:\n    def items(self):\n        return [self]\ndef f(x):\n{loops}    return x\nf(A())\n"


def make_table(size: int) -> str:
    """Return a table of functions called by key, whose arguments are passed on."""
    functions = "".join(f"def f{i}(x):\n    return x\n" for i in range(size))
    table = ", ".join(f"{i}: f{i}" for i in range(size))
    return f"{functions}TABLE = {{{table}}}\ndef call(key, x):\n    return TABLE[key](call(key, x))\ncall(0, call)\n"


def make_overrides(size: int) -> str:
    """Return many derived classes whose method is called through the base, from many places."""
    classes = "".join(f"class N{i}(Node):\n    def value(self, x):\n        return x\n" for i in range(size))
    calls = "".join(f"def call_{i}(node: Node):\n    return node.value(node)\n" for i in range(size))
    return f"class Node:\n    def value(self, x):\n        return x\n{classes}{calls}"


SHAPES: dict[str, Callable[[int], str]] = {
    "ring": make_ring, "recursion": make_recursion, "table": make_table, "overrides": make_overrides,
}  # fmt: skip


def read_units(texts: dict[str, bytes]) -> dict[str, UnitText]:
    """Extract files."""
    return {path: describe_code("source", path, extract_unit(text)) for path, text in texts.items()}


def resolve(units: dict[str, UnitText], package: str) -> tuple[Machine, Figures]:
    """Resolve files from scratch, and count the work."""
    machine = Machine(Program(units, package, LocalErrors()))
    machine.solve()
    schedule = machine.schedule
    figures = {
        "operations": machine.steps, "evaluations": schedule.evaluations, "rounds": schedule.rounds,
        "values": len(machine.program.interner),
    }  # fmt: skip
    return machine, figures


def count_django(tree: Path) -> Figures:
    """Count the work of django: the complete resolution, and the files resolved again after edits."""
    texts = {str(path.relative_to(tree)): path.read_bytes() for path in sorted(tree.rglob("*.py"))}
    units = read_units(texts)
    machine, figures = resolve(units, tree.name)
    writer = LinkWriter("source", machine)
    for path in units:
        writer.list_links(path)
    records = record_resolution(machine)
    packed = Records({path: (record.pack_facts(), record.pack_flows()) for path, record in records.items()})
    size = sum(len(record.pack_facts()) + len(record.pack_flows()) for record in records.values())
    figures["record_bytes_for_each_of_code"] = round(size / sum(map(len, texts.values())), 3)
    figures["files_resolved_again"] = dict(count_edits(texts, units, packed, tree.name))
    return figures


def count_edits(
    texts: dict[str, bytes], units: dict[str, UnitText], records: Records, package: str
) -> Iterator[tuple[str, int]]:
    """Yield each edit with the number of files that are resolved again."""
    for name, (path, old, new) in EDITS.items():
        edited = texts[path].replace(old.encode(), new.encode(), 1)
        assert edited != texts[path], f"{path} has no {old!r}"
        after = {**units, **read_units({path: edited})}
        update = resolve_edited(after, package, LocalErrors(), records, {path: units[path]})
        yield name, len(update.paths) if update is not None else len(units)


def count_shape(make: Callable[[int], str]) -> Figures:
    """Count the work of a shape at both sizes."""
    return {str(size): resolve(read_units({"main.py": make(size).encode()}), "")[1] for size in SIZES}


def find_above(found: Figures, kept: Figures, place: str = "") -> Iterator[str]:
    """Yield a line for each figure above the stored one, and for each without a stored one."""
    for name, value in found.items():
        where = f"{place}{name}"
        before = kept.get(name)
        if isinstance(value, dict):
            yield from find_above(value, before if isinstance(before, dict) else {}, f"{where}, ")
        elif not isinstance(before, int | float) or value > before * SLACK:
            yield f"{where}: {value}, kept {before}"


def main() -> None:
    """Count everything, and store it or compare it with the stored result."""
    parser = make_parser(__doc__)
    parser.add_argument("--check", action="store_true", help="compare with the result that is kept, and write nothing")
    options = parser.parse_args()
    with open_folder(options.cache) as (cache, work):
        figures: Figures = {"django": count_django(unpack_package(DJANGO, cache, work) / "django")}
    figures["shapes"] = {name: count_shape(make) for name, make in SHAPES.items()}
    if not options.check:
        write_result(RESULT, figures)
        return
    above = list(find_above(figures, json.loads((RESULTS / f"{RESULT}.json").read_text(encoding="utf-8"))))
    if above:
        sys.exit("more work than the kept result allows, which is 3 % above it:\n" + "\n".join(above))
    print("no more work than the kept result allows")


if __name__ == "__main__":
    main()
