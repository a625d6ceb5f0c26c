"""Calls chosen at run time follow every change of their possible targets, in any file."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest
from trees import export_lines, open_graph_at, write_tree

from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.indexing.build import build
from pkg.model import RelationType

RESOLVED = (RelationType.CALLS, RelationType.UNRESOLVED, RelationType.INHERITS, RelationType.RESOLVES_TO)


class Case(NamedTuple):
    """A file that changes between two texts, beside others that stay."""

    others: Mapping[str, str]
    path: str
    before: str
    after: str


VISITOR = "class V:\n    def visit(self, kind):\n        getattr(self, 'visit_' + kind)()\n"
CHILD = "from base import V\n\n\nclass W(V):\n    def other(self):\n        pass\n"
DESCRIBED = "from lib import D\n\n\nclass C:\n    x = D()\n\n\ndef go():\n    C().x.run()\n"
GENERIC = "from functools import singledispatch\n\n\n@singledispatch\ndef show(x):\n    pass\n"
USER = "from gen import show\n\n\ndef go():\n    show(1)\n"
IMPLEMENTED = "from gen import show\n\n\n@show.register(int)\ndef show_int(x):\n    pass\n"
HOOK = (
    "class Base:\n    known = {}\n\n    def __init_subclass__(cls):\n        Base.known[cls.__name__] = cls\n\n\n"
    "def make(name):\n    return Base.known[name]()\n"
)
PROTOCOL = (
    "from typing import Protocol\n\n\nclass Runner(Protocol):\n    def run(self): ...\n\n\n"
    "def drive(r: Runner):\n    r.run()\n"
)
RESULT = "class R:\n    def run(self):\n        pass\n\n\n"
RECORD = "class D:\n    act: object\n\n    def run(self):\n        self.act()\n"
PARTIAL = "from functools import partial\nfrom lib import call\n\n\ndef act():\n    pass\n\n\n"
REAL = "from lib import drive\n\n\nclass Real:\n    def run(self):\n        pass\n"
MADE = "from meta import M\n\n\nclass K(metaclass=M):\n    pass\n"
TESTED = (
    "from lib import K\n\n\nclass A:\n    def run(self):\n        pass\n\n\n"
    "def go():\n    x = A()\n    if isinstance(x, K):\n        x.run()\n"
)
DERIVED = (
    "from dataclasses import dataclass\nfrom base import E\n\n\n@dataclass\nclass D(E):\n    act: object\n\n"
    "    def run(self):\n        self.act()\n"
)
GIVING = "from lib import D\n\n\ndef a():\n    pass\n\n\ndef b():\n    pass\n\n\ndef go():\n    D(a, b)\n"
BASE = "from dataclasses import dataclass, field\n\n\ndef make():\n    return []\n\n\n@dataclass\nclass E:\n    pass\n"
CASES = {
    "a class is registered for an abstract one": Case(
        {
            "main.py": TESTED,
            "lib.py": "import abc\n\n\nclass K(abc.ABC):\n    pass\n",
        },
        "other.py",
        "from lib import K\nfrom main import A\n",
        "from lib import K\nfrom main import A\n\nK.register(A)\n",
    ),
    "a class is no abstract one any more": Case(
        {"main.py": TESTED, "other.py": "from lib import K\nfrom main import A\n\nK.register(A)\n"},
        "lib.py",
        "import abc\n\n\nclass K(metaclass=abc.ABCMeta):\n    pass\n",
        "class K:\n    pass\n",
    ),
    "a class makes a class method of a function": Case(
        {"main.py": "from lib import K\n\n\ndef go():\n    K.make().run()\n    K().make().run()\n"},
        "lib.py",
        "class K:\n    def make(cls):\n        return cls()\n\n    def run(self):\n        pass\n",
        "class K:\n    def make(cls):\n        return cls()\n\n    make = classmethod(make)\n\n"
        "    def run(self):\n        pass\n",
    ),
    "a base takes its fields by name alone": Case(
        {"lib.py": DERIVED, "main.py": GIVING},
        "base.py",
        BASE.replace("pass\n", "x: object\n"),
        BASE.replace("@dataclass\nclass E:\n    pass", "@dataclass(kw_only=True)\nclass E:\n    x: object"),
    ),
    "a base whose constructor super asks for gets one of its fields": Case(
        {
            "lib.py": "from base import E\n\n\nclass D(E):\n    def __init__(self, x):\n        super().__init__(x)\n",
            "main.py": "from lib import D\n\n\ndef a():\n    pass\n\n\ndef go():\n    D(a).run()\n",
        },
        "base.py",
        "class E:\n    x: object = None\n\n    def run(self):\n        self.x()\n",
        "from dataclasses import dataclass\n\n\n@dataclass\nclass E:\n    x: object = None\n\n"
        "    def run(self):\n        self.x()\n",
    ),
    "a class of classes is called": Case(
        {"lib.py": MADE, "main.py": "from lib import K\n\n\ndef go():\n    K()\n"},
        "meta.py",
        "class M(type):\n    pass\n",
        "class M(type):\n    def __call__(cls):\n        pass\n",
    ),
    "a class of classes tells what passes a test": Case(
        {"lib.py": MADE, "main.py": TESTED},
        "meta.py",
        "class M(type):\n    pass\n",
        "class Z(type):\n    def __instancecheck__(cls, x):\n        return True\n\n\nclass M(Z):\n    pass\n",
    ),
    "a field of a base that precedes those of its subclasses": Case(
        {"lib.py": DERIVED, "main.py": GIVING}, "base.py", BASE, BASE.replace("    pass", "    first: object")
    ),
    "a factory of a field of a base": Case(
        {"lib.py": DERIVED, "main.py": GIVING},
        "base.py",
        BASE.replace("    pass", "    first: list = None"),
        BASE.replace("    pass", "    first: list = field(default_factory=make)"),
    ),
    "a name of a module that code elsewhere assigns to": Case(
        {"lib.py": "X = None\n\n\ndef go():\n    X()\n"},
        "main.py",
        "import lib\n\n\ndef act():\n    pass\n",
        "import lib\n\n\ndef act():\n    pass\n\n\nlib.X = act\n",
    ),
    "a method of a name that is put together": Case(
        {"base.py": VISITOR}, "child.py", CHILD, CHILD + "\n    def visit_x(self):\n        pass\n"
    ),
    "a field of such a name": Case(
        {"base.py": VISITOR},
        "child.py",
        CHILD,
        CHILD + "\n    def two(self):\n        self.visit_y = self.other\n",
    ),
    "a derived class with such a method": Case(
        {"base.py": VISITOR}, "child.py", "x = 1\n", CHILD + "\n    def visit_x(self):\n        pass\n"
    ),
    "a function of such a name": Case(
        {"main.py": "import lib\n\n\ndef go(kind):\n    getattr(lib, f'op_{kind}')()\n"},
        "lib.py",
        "def op_a():\n    pass\n",
        "def op_a():\n    pass\n\n\ndef op_b():\n    pass\n",
    ),
    "a method that is asked for what an object lacks": Case(
        {"main.py": "from lib import P\n\n\ndef go():\n    P().foo()\n"},
        "lib.py",
        "class P:\n    pass\n",
        "class P:\n    def __getattr__(self, name):\n        pass\n",
    ),
    "a class that becomes a descriptor": Case(
        {"main.py": DESCRIBED},
        "lib.py",
        RESULT + "class D:\n    pass\n",
        RESULT + "class D:\n    def __get__(self, one, kind):\n        return R()\n",
    ),
    "a class that becomes a descriptor by its base": Case(
        {"main.py": DESCRIBED, "root.py": "class G:\n    def __get__(self, one, kind):\n        return self\n"},
        "lib.py",
        "from root import G\n\n\nclass D:\n    pass\n",
        "from root import G\n\n\nclass D(G):\n    pass\n",
    ),
    "an implementation of a generic function": Case(
        {"gen.py": GENERIC, "main.py": USER}, "more.py", "x = 1\n", IMPLEMENTED
    ),
    "an implementation that is renamed": Case(
        {"gen.py": GENERIC, "main.py": USER}, "more.py", IMPLEMENTED, IMPLEMENTED.replace("show_int", "show_number")
    ),
    "a class that a hook is told of": Case(
        {"base.py": HOOK}, "child.py", "x = 1\n", "from base import Base\n\n\nclass Kid(Base):\n    pass\n"
    ),
    "a metaclass": Case(
        {"main.py": "from lib import C\n\n\ndef go():\n    C()\n"},
        "lib.py",
        "class M(type):\n    def __call__(cls):\n        pass\n\n\nclass C:\n    pass\n",
        "class M(type):\n    def __call__(cls):\n        pass\n\n\nclass C(metaclass=M):\n    pass\n",
    ),
    "an object that is passed for a protocol": Case(
        {"lib.py": PROTOCOL}, "main.py", REAL, REAL + "\n\ndef go():\n    drive(Real())\n"
    ),
    "a class that becomes a protocol": Case(
        {"main.py": REAL + "\n\ndef go():\n    drive(Real())\n"},
        "lib.py",
        PROTOCOL.replace("(Protocol)", ""),
        PROTOCOL,
    ),
    "a constructor that is made of fields": Case(
        {"main.py": "from lib import D\n\n\ndef act():\n    pass\n\n\ndef go():\n    D(act).run()\n"},
        "lib.py",
        RECORD,
        "from dataclasses import dataclass\n\n\n@dataclass\n" + RECORD,
    ),
    "an item that is put into a table": Case(
        {"lib.py": "T = {}\n\n\ndef go():\n    for key in T:\n        T[key]()\n"},
        "main.py",
        "import lib\n\n\ndef act():\n    pass\n",
        "import lib\n\n\ndef act():\n    pass\n\n\nlib.T['a'] = act\n",
    ),
    "an argument of a partial function": Case(
        {"lib.py": "def call(f, x):\n    f()\n"},
        "main.py",
        PARTIAL + "def go():\n    partial(call)(1)\n",
        PARTIAL + "def go():\n    partial(call, act)(1)\n",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_links_after_a_change_and_back_are_those_of_builds_from_nothing(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    texts = {"before": case.before, "after": case.after}
    afresh = {each: build_afresh(tmp_path / each, {**case.others, case.path: text}) for each, text in texts.items()}
    assert afresh["before"] != afresh["after"]
    tree = write_tree(tmp_path / "before", {})
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        for each in ("before", "after", "before"):
            (tree / case.path).write_text(texts[each], encoding="utf-8")
            build(str(tree), store, source="tree")
            assert list_links(store) == afresh[each]


def build_afresh(tree: Path, files: Mapping[str, str]) -> list[str]:
    write_tree(tree, files)
    with closing(open_graph_at(tree.with_suffix(".db"))) as store:
        build(str(tree), store, source="tree")
        return list_links(store)


def list_links(store: EmbeddedStore) -> list[str]:
    return [line for line in export_lines(store) if any(f'"{each.value}"' in line for each in RESOLVED)]
