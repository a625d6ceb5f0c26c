"""Calls chosen at run time have a reason why they may lead elsewhere, and loops end."""

from __future__ import annotations

import pytest
from unit.resolution.resolving import resolve_tree

from pkg.model import RelationType

CLASS = "class P:\n    def __getattr__(self, name):\n        return 1\n"


def test_an_attribute_that_is_made_at_run_time_stays_unbound_beside_the_method_that_makes_it() -> None:
    resolved = resolve_tree({"main.py": f"{CLASS}\n\ndef go():\n    P().foo()\n"})
    assert [call.reason for call in resolved.unbound()] == ["attribute made at run time (__getattr__)"]
    assert resolved.pairs(RelationType.CALLS)["main.go", "main.P.__getattr__"].confidence == "likely"


def test_a_name_of_which_nothing_is_known_says_so() -> None:
    resolved = resolve_tree({"main.py": f"{CLASS}\n\ndef go(p, name):\n    getattr(p, name)()\n"})
    assert [call.reason for call in resolved.unbound()] == ["attribute whose name is made at run time (getattr)"]


@pytest.mark.parametrize(
    "line",
    [
        "name = 'a' + name + 'b'",
        "name += 'c'",
        "name = f'{name}d{name}'",
        "name = '%s_e' % name",
        "act = partial(act, 1)",
        "act = partial(partial(act, name), name)",
    ],
)
def test_what_grows_in_a_loop_ends(line: str) -> None:
    head = "from functools import partial\n\n\nclass V:\n    def ab(self):\n        pass\n\n"
    loop = f"        for _ in range(9):\n            {line}\n        getattr(self, name)()\n"
    text = f"{head}    def go(self, name, act):\n{loop}"
    assert ("main.V.go", "main.V.go") not in resolve_tree({"main.py": text}).pairs(RelationType.CALLS)


VISITOR = (
    "class V:\n    def a_z(self): pass\n    def b_z(self): pass\n    def go(self, x, y):\n"
    "        getattr(self, f'{x}{y}_z')()\n"
)


@pytest.mark.parametrize(
    "calls",
    [
        "V().go(input(), 1)\n",
        "V().go(input(), 1)\nV().go('a', 1)\n",
        "KNOWN = []\nV().go(KNOWN[0], 1)\nKNOWN.append('a')\n",
        "KNOWN = []\nKNOWN.append('a')\nV().go(KNOWN[0], 1)\n",
    ],
)
def test_a_text_of_which_more_is_known_does_not_hide_what_else_it_may_be(calls: str) -> None:
    found = resolve_tree({"lib.py": VISITOR, "main.py": f"from lib import V\n{calls}"}).pairs(RelationType.CALLS)
    assert {("lib.V.go", "lib.V.a_z"), ("lib.V.go", "lib.V.b_z")} <= found.keys()


def test_what_a_call_is_given_may_be_known_late() -> None:
    """A library value that replaces an unknown argument is dropped once the argument is known."""
    head = (
        "from functools import reduce\nfrom collections import defaultdict\nclass A:\n    def run(self): pass\n"
        "KNOWN = []\ndef give(): return KNOWN[0]\n"
    )
    uses = (
        "class P:\n    x = property(give())\n"
        "def go():\n    P().x.run()\ndef fold():\n    reduce(give(), []).run()\n"
        "def make():\n    defaultdict(give())['k'].run()\n"
    )
    late = "def made(*_): return A()\nKNOWN.append(made)\n"
    found = [
        resolve_tree({"main.py": text}).pairs(RelationType.CALLS) for text in (head + uses + late, head + late + uses)
    ]
    ends = [{pair: edge.confidence for pair, edge in each.items()} for each in found]
    assert ends[0] == ends[1]
    assert {("main.go", "main.A.run"), ("main.fold", "main.A.run"), ("main.make", "main.A.run")} <= ends[0].keys()


def test_how_sure_a_decorator_is_does_not_depend_on_when_it_is_found() -> None:
    table = "KNOWN = []\ndef pick(key): return KNOWN[key]\n"
    user = "import table\n@table.pick(0)\ndef x(): pass\n"
    makers = {f"{name}.py": f"import table\ndef {name}(f): return f\ntable.KNOWN.append({name})\n" for name in "bcz"}
    found = []
    for first in ("table", "user", "b"):
        files = {"table.py": table, "user.py": user, **makers}
        ordered = dict(sorted(files.items(), key=lambda each: each[0] != f"{first}.py"))
        pairs = resolve_tree(ordered).pairs(RelationType.CALLS)
        found.append({pair: edge.confidence for pair, edge in pairs.items()})
    assert found[0] == found[1] == found[2]
    assert {found[0]["user", f"{name}.{name}"] for name in "bcz"} == {"possible"}


def test_what_two_decorators_may_be_is_as_sure_as_the_surer_one_says() -> None:
    head = "KNOWN = []\ndef a(f): return f\ndef b(f): return f\nKNOWN.append(a)\nKNOWN.append(b)\nd = KNOWN[0]\n"
    files = {f"m{i}.py": f"{head}@a\n@d\ndef x(): pass\n" for i in range(8)}
    found = resolve_tree(files).pairs(RelationType.CALLS)
    assert {(found[f"m{i}", f"m{i}.a"].confidence, found[f"m{i}", f"m{i}.b"].confidence) for i in range(8)} == {
        ("certain", "likely")
    }
