"""A small project with known calls, its hand-written graph, and the interpreters that can run it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from linked import LinkRow, UnboundRow, fill_store
from trees import write_tree

from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.model import Source

PROJECT = {
    "app/core.py": """\
import functools


def logged(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)
    return wrapper


class Base:
    def __init__(self):
        self.log = []

    def run(self):
        return self.step()

    def step(self):
        return 1


class Fast(Base):
    def step(self):
        return 2

    def __len__(self):
        return 3


@logged
def double(number):
    return number * 2


def numbers(count):
    for each in range(count):
        yield double(each)


def key(number):
    return -number


def swap(found):
    return "b"


def append(item):
    return item
""",
    "app/main.py": """\
import re

from app.core import Fast, double, key, numbers, swap


def main(names):
    fast = Fast()
    fast.run()
    size = len(fast)
    names.append(fast)
    total = sum(numbers(3))
    ordered = sorted([1, 2], key=key)
    re.sub("a", swap, "banana")
    return [double(each) for each in ordered], total, size


def unused():
    return double(1)


main([])
""",
}
LINKS: tuple[LinkRow, ...] = (
    ("CALLS", "app/core.py", "app/core.py::logged", 30, "decorator", "certain"),
    ("CALLS", "app/core.py::Base.run", "app/core.py::Base.step", 16, "self", "certain"),  # Fast.step is called instead
    ("CALLS", "app/core.py::Base.run", "app/core.py::Fast.step", 16, "override", "possible"),
    ("CALLS", "app/core.py::numbers", "app/core.py::double", 37, "same module", "certain"),
    ("CALLS", "app/main.py::main", "app/core.py::Fast", 7, "import", "certain"),
    ("CALLS", "app/main.py::main", "app/core.py::Base.__init__", 7, "constructor", "certain"),
    ("CALLS", "app/main.py::main", "app/core.py::Base.run", 8, "constructed object", "certain"),
    ("CALLS", "app/main.py::main", "app/core.py::append", 10, "import", "certain"),  # wrong: a list's method
    ("CALLS", "app/main.py::main", "app/core.py::numbers", 11, "import", "certain"),
    ("CALLS", "app/main.py::main", "app/core.py::key", 12, "callback", "likely"),
    ("CALLS", "app/main.py::unused", "app/core.py::double", 18, "import", "certain"),
    ("CALLS", "app/main.py", "app/main.py::main", 21, "same module", "certain"),
    ("OVERRIDES", "app/core.py::Fast.step", "app/core.py::Base.step", None, None, None),
)
UNBOUND: tuple[UnboundRow, ...] = (
    ("app/main.py::main", "double", 14, "expression that is not followed"),
    ("app/main.py::main", "names.append", 10, "parameter without a known type"),
)


def make_traced_store(folder: Path, store: Path) -> EmbeddedStore:
    """Write the project into a folder, and its graph into a store."""
    found = EmbeddedStore(store, create=True)
    write_tree(folder, PROJECT)
    fill_store(found, PROJECT, LINKS, UNBOUND)
    set_root(found, folder)
    return found


def set_root(store: EmbeddedStore, folder: Path, revision: str | None = None, name: str = "shop") -> None:
    """Set the folder that the source was built from."""
    with store.write() as writer:
        writer.put_source(Source(name, "repository", str(folder), revision), "first")


def find_interpreters() -> list[str]:
    """Return this interpreter, and pyenv's newest of each version from 3.8 on."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found: dict[tuple[int, ...], Path] = {}
    for program in sorted(root.glob("versions/3.*/bin/python")):
        version = tuple(int(word) for word in program.parts[-3].split(".")[:2] if word.isdigit())
        if (3, 8) <= version != sys.version_info[:2]:
            found[version] = program
    return [sys.executable, *map(str, found.values())]
