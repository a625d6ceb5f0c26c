"""Updates equal a complete resolution (A-12)."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from unit.resolution.solving import SOURCE, read_unit

from pkg.local_errors import LocalErrors
from pkg.resolution.machine import Machine
from pkg.resolution.module_records import ModuleRecord
from pkg.resolution.program import Program
from pkg.resolution.site_links import LinkWriter
from pkg.resolution.updates import Records, record_resolution, resolve_edited
from pkg.units import UnitLinks, UnitText

FILES = {
    "base.py": """\
class Base:
    def run(self, item):
        return self.step(item)
    def step(self, item):
        return item
""",
    "derived.py": """\
from base import Base
class Derived(Base):
    def step(self, item):
        return item.name()
""",
    "things.py": """\
class Thing:
    def name(self):
        return 'x'
class Other:
    def name(self):
        return 'y'
class Called:
    def __call__(self, value):
        return value
""",
    "registry.py": """\
handlers = {}
def register(key, handler):
    handlers[key] = handler
def call(key, value):
    return handlers[key](value)
""",
    "plugins.py": """\
from registry import register
def first(value):
    return value
register('first', first)
""",
    "main.py": """\
from derived import Derived
from things import Thing, Called
from registry import call
def main():
    d = Derived()
    d.run(Thing())
    Called()(d)
    return call('first', Thing())
""",
    "lazy.py": """\
from things import Thing
def make(name):
    return Thing()
__getattr__ = make
""",
    "asks.py": """\
import lazy, plugins
from lazy import early
def ask(module, given):
    given(module.late.name())
    return given.last, getattr(module, 'later').name()
def asks():
    early.name()
    plugins.lacking.name()
    return ask(lazy, lazy)
""",
    "alone.py": """\
def alone():
    return 1
def beside():
    return alone()
""",
}
OVERRIDE = "    def run(self, item):\n        return super().run(item)\n"
CLASS = "from base import Base\nclass Last(Base):\n    def step(self, item):\n        pass\n"
CALLER = "import derived, things\n    return derived.Derived().run(things.Other())"
METHOD = "    def name(self):\n        return 'x'"
EDITS = {
    "module without __getattr__": ("lazy.py", "__getattr__ = make", ""),
    "module with __getattr__": ("plugins.py", "def first", "from lazy import make as __getattr__\ndef first"),
    "other __getattr__ of a module": ("lazy.py", "__getattr__ = make", "__getattr__ = lambda name: make(name)"),
    "other answer of __getattr__": ("lazy.py", "import Thing", "import Other as Thing"),
    "name beside __getattr__": ("lazy.py", "__getattr__ = make", "__getattr__ = make\nlate = early = make(1)"),
    "comment": ("main.py", "def main", "# said\n\ndef main"),
    "other argument": ("main.py", "d.run(Thing())", "d.run(Other())"),
    "new caller": ("alone.py", "return 1", CALLER),
    "function added": ("registry.py", "def call", "def more(value):\n    return call('first', value)\ndef call"),
    "function gone": ("plugins.py", "def first(value):\n    return value\n", "first = len\n"),
    "renamed method": ("things.py", "def name", "def title"),
    "renamed in base": ("base.py", "def step", "def stride"),
    "override added": ("derived.py", "    def step", f"{OVERRIDE}    def step"),
    "special method": ("things.py", METHOD, f"{METHOD}\n    def __call__(self, value):\n        return Other()"),
    "handler exchanged": ("plugins.py", "register('first', first)", "register('first', lambda value: value.name())"),
    "parameter added": ("registry.py", "def register(key, handler)", "def register(handler, key=None)"),
    "class added": ("plugins.py", "register(", f"{CLASS}register("),
    "attribute from outside": ("main.py", "d.run(", "d.step = len\n    d.run("),
    "decorator": ("things.py", METHOD, "    @property\n    def name(self):\n        return len"),
}

Resolved = tuple[dict[str, UnitLinks], dict[str, ModuleRecord]]


def pack(records: dict[str, ModuleRecord]) -> Records:
    """Pack records as stores keep them."""
    return Records({path: (each.pack_facts(), each.pack_flows()) for path, each in records.items()})


def resolve_all(units: dict[str, UnitText]) -> Resolved:
    """Resolve files completely."""
    machine = Machine(Program(units, "", LocalErrors()))
    machine.solve()
    writer = LinkWriter(SOURCE, machine)
    return {path: writer.write(path) for path in units}, record_resolution(machine)


def take_before(path: str) -> dict[str, UnitText]:
    """Return a file as it was before the edit."""
    return {path: read_unit(path, FILES[path])}


def leave_out_names(record: ModuleRecord | None) -> ModuleRecord:
    """Drop the lookups of a record: where one is enough, it may differ."""
    assert record is not None
    return replace(record, consulted=[])


def edit(path: str, old: str, new: str) -> dict[str, UnitText]:
    """Return the files with one of them edited."""
    assert old in FILES[path]
    return {each: read_unit(each, text.replace(old, new, 1) if each == path else text) for each, text in FILES.items()}


@pytest.mark.parametrize(("path", "old", "new"), EDITS.values(), ids=EDITS.keys())
def test_an_edit_comes_out_as_in_a_resolution_from_nothing(path: str, old: str, new: str) -> None:
    links, records = resolve_all({each: read_unit(each, text) for each, text in FILES.items()})
    units = edit(path, old, new)
    update = resolve_edited(units, "", LocalErrors(), pack(records), take_before(path))
    expected, expected_records = resolve_all(units)
    assert update is not None
    writer = LinkWriter(SOURCE, update.machine)
    assert {**links, **{each: writer.write(each) for each in update.paths}} == expected
    found = {**records, **update.schedule.record()}
    assert list(map(leave_out_names, found.values())) == list(map(leave_out_names, map(expected_records.get, found)))


def test_an_edit_leaves_alone_what_it_does_not_change() -> None:
    _, records = resolve_all({each: read_unit(each, text) for each, text in FILES.items()})
    added = edit("alone.py", "def beside", "def between(value):\n    return alone(), value\ndef beside")
    update = resolve_edited(added, "", LocalErrors(), pack(records), take_before("alone.py"))
    assert update is not None
    assert update.paths == ["alone.py"]
    assert [path for path, each in update.machine.program.modules.items() if "codes" in vars(each)] == ["alone.py"]


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("derived.py", "class Derived(Base)", "class Derived"),
        ("derived.py", "from base import Base", "from other import Base"),
        ("main.py", "def main", "from things import *\ndef main"),
        ("things.py", "class Other", "class Another"),
        ("things.py", METHOD, f"{METHOD}\n    def __getattr__(self, name):\n        return name"),
    ],
)
def test_what_decides_how_classes_and_modules_hang_together_has_everything_resolved(
    path: str, old: str, new: str
) -> None:
    _, records = resolve_all({each: read_unit(each, text) for each, text in FILES.items()})
    assert resolve_edited(edit(path, old, new), "", LocalErrors(), pack(records), take_before(path)) is None


@pytest.mark.parametrize(
    "others",
    [
        {"new.py": "from things import Thing\ndef new():\n    return Thing().name()\n"},
        {"other.py": "from base import Base\nclass Late(Base):\n    def step(self, item):\n        return item\n"},
        {"deep/down/inner.py": "def inner():\n    return 1\n"},
        {"maker.py": "import things\ndef make(name):\n    return things.Thing()\nlater = make\n"},
        {"late.py": "def name():\n    return 1\n"},
    ],
)
def test_files_that_come_and_go_come_out_as_in_a_resolution_from_nothing(others: dict[str, str]) -> None:
    asking = {
        "asking.py": "import new, other\nfrom deep.down import inner\nnew.new()\nother.Late().run(inner.inner())\n",
        "lazy.py": "from maker import *\n__getattr__ = make\nimport late\n",
    }
    fewer = {each: read_unit(each, text) for each, text in (FILES | asking).items()}
    more = {**fewer, **{each: read_unit(each, text) for each, text in others.items()}}
    states = [fewer, more, {each: unit for each, unit in more.items() if each != "plugins.py"}]
    links, records = resolve_all(states[0])
    for before, after in pairwise(states):
        gone = {path: before[path] for path in before.keys() - after.keys()}
        update = resolve_edited(after, "", LocalErrors(), pack(records), gone)
        expected, expected_records = resolve_all(after)
        assert update is not None
        assert len(update.paths) < len(after)
        writer = LinkWriter(SOURCE, update.machine)
        found = {**links, **{each: writer.write(each) for each in update.paths}}
        links = {path: found[path] for path in after}
        assert links == expected
        records = {path: each for path, each in (records | update.schedule.record()).items() if path not in gone}
        assert records.keys() == expected_records.keys()
        assert [leave_out_names(records[path]) for path in records] == [
            leave_out_names(expected_records[path]) for path in records
        ]


def test_a_package_that_comes_has_everything_resolved() -> None:
    units = {each: read_unit(each, text) for each, text in FILES.items()}
    _, records = resolve_all(units)
    more = {**units, "__init__.py": read_unit("__init__.py", "")}
    assert resolve_edited(more, "", LocalErrors(), pack(records), {}) is None


def test_a_record_is_read_as_it_was_written() -> None:
    _, records = resolve_all({each: read_unit(each, text) for each, text in FILES.items()})
    assert dict(pack(records)) == records
