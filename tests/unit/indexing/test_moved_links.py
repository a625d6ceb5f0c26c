"""An edit without effect moves the links of its file; other links equal those of a build from nothing."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from trees import export_lines, open_graph_at, write_tree

from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.indexing.build import build
from pkg.resolution.machine import Machine
from pkg.resolution.program import Program

SHOP = {
    "prices.py": 'import json\n\n\nclass Price:\n    """What a thing costs."""\n\n    def net(self):\n'
    "        return json.loads(self.find()).value()\n\n    def find(self): return self.net() or unknown(self)\n",
    "cart.py": "from prices import Price\n\n\ndef total(items):\n    return [Price().net() for each in items]\n\n\n"
    "def check(cart):\n    return total(cart.list_all()), Price().find()\n",
    "tests/conftest.py": "import pytest\nfrom prices import Price\n\n\n"
    "@pytest.fixture\ndef price():\n    return Price()\n",
    "tests/test_cart.py": "from cart import check\n\n\ndef test_check(price):\n    check(price)\n    price.net()\n",
}
Edit = Callable[[list[str], int], list[str]]
"""Changes the lines of a file, some of them at a place."""

MOVING: tuple[Edit, ...] = (
    lambda text, at: [*text[:at], "", "# a comment", *text[at:]],
    lambda text, at: [*text[:at], "", *text[at:]],
    lambda text, at: [*text, "# the end"],
    lambda text, at: [line.replace("What a thing", "All that a thing") for line in text],
    lambda text, at: [line.replace("(self)", "(  # itself\n        self)") for line in text],
)
SAYING: tuple[Edit, ...] = (
    lambda text, at: [*text, "def more(given):", "    return given.net()"],
    lambda text, at: [line.replace(".net()", ".find()") for line in text],
    lambda text, at: text[: max(at, 1)],
)


def edit(path: Path, source: random.Random, kinds: tuple[Edit, ...]) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    tops = [
        number
        for number, line in enumerate(lines)
        if line and not line.startswith((" ", ")", "@", "#", "def ", "class "))
    ]
    lines = source.choice(kinds)(lines, source.choice([0, *tops]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def solved(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """List the calls of the solver."""
    found: list[str] = []

    def make(program: Program) -> Machine:
        found.append("solved")
        return Machine(program)

    monkeypatch.setattr("pkg.indexing.solved_links.Machine", make)
    return found


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    with closing(open_graph_at(tmp_path / "graph.db")) as opened:
        yield opened


def build_afresh(tree: Path, place: Path) -> list[str]:
    place.unlink(missing_ok=True)
    with closing(open_graph_at(place)) as fresh:
        build(str(tree), fresh)
        return export_lines(fresh)


@pytest.mark.parametrize("seed", range(8))
def test_links_after_edits_are_those_of_a_build_from_nothing(
    seed: int, tmp_path: Path, store: EmbeddedStore, solved: list[str]
) -> None:
    source, tree = random.Random(seed), write_tree(tmp_path / "tree", SHOP)
    build(str(tree), store)
    for _ in range(4):
        is_moving = source.random() < 0.6
        edit(tree / source.choice(sorted(SHOP)), source, MOVING if is_moving else SAYING)
        solved.clear()
        build(str(tree), store)
        assert not (is_moving and solved)
        assert export_lines(store) == build_afresh(tree, tmp_path / "fresh.db")


def test_files_that_come_and_go_leave_links_as_in_a_build_from_nothing(tmp_path: Path, store: EmbeddedStore) -> None:
    tree = write_tree(tmp_path / "tree", SHOP)
    build(str(tree), store)
    first, later = tree / "a_first.py", tree / "more.py"
    for change in (
        lambda: later.write_text("from cart import total\ntotal([])\n"),
        lambda: first.write_text("import more\ndef first():\n    return more.total\n"),
        later.unlink,
        first.unlink,
        (tree / "cart.py").unlink,
    ):
        change()
        build(str(tree), store)
        assert export_lines(store) == build_afresh(tree, tmp_path / "fresh.db")
