"""Readers of a constant: in its module, through imports and re-exports, through classes and subclasses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from trees import open_graph_at, write_rows, write_tree

from pkg.errors import QueryError
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.indexing.build import build
from pkg.retrieval.deps.answer import Dependencies, DepsOptions, Impact
from pkg.retrieval.deps.questions import run_deps

FILES = {
    "shop/__init__.py": "from .conf import RETRIES as TRIES, Color\nfrom . import conf\n",
    "shop/conf.py": (
        "RETRIES = 3\nHIDDEN = Missing = 1\n\n\nclass Color(Enum):\n    RED = 1\n\n    def mix(self):\n"
        "        return self.RED\n\n\ndef retry():\n    return range(RETRIES)\n"
    ),
    "shop/send.py": "from .conf import RETRIES\n\nLIMIT = RETRIES\n\n\ndef send():\n    return RETRIES\n",
    "shop/module.py": "from . import conf as c\nimport shop\n\n\ndef f():\n    return c.RETRIES + shop.conf.RETRIES\n",
    "shop/again.py": "from shop import TRIES, Color as C\n\n\ndef f(x):\n    return TRIES, C.RED, x.RED\n",
    "shop/star.py": "from .conf import *\n\n\ndef f():\n    return RETRIES\n",
    "shop/shadow.py": "from .conf import RETRIES\n\n\ndef f(RETRIES):\n    return RETRIES\n",
    "shop/loop.py": "import shop.module\nfrom .conf import *\nfrom . import again, loop\n",
    "shop/base.py": "class Base:\n    size = 1\n\n    def f(self):\n        return self.size\n",
    "shop/below.py": (
        "from .base import Base\n\n\nclass Near(Base):\n    def f(self):\n        return self.size, Near.size\n\n\n"
        "class Far(Base):\n    size = 2\n\n    def f(self):\n        return self.size\n\n\nclass Other:\n    size = 3\n"
    ),
    "shop/old.py": "print shop.RETRIES\n",
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    write_tree(tmp_path / "tree", FILES)
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(tmp_path / "tree"), store, source="shop")
        yield store


def ask(store: EmbeddedStore, name: str, **options: object) -> Dependencies:
    answer = run_deps(store, name, DepsOptions(**options))  # type: ignore[arg-type]
    assert isinstance(answer, Dependencies)
    return answer


def list_readers(answer: Dependencies) -> list[tuple[str, str, tuple[int, ...], str]]:
    assert {each.relation for each in answer.found} <= {"readers"}
    links = [each.link for each in answer.found]
    return [(link.start.path, link.start.qualname, link.lines, link.confidence) for link in links]


def test_a_constant_is_read_in_its_module_and_through_every_kind_of_import(store: EmbeddedStore) -> None:
    answer = ask(store, "RETRIES")
    assert list_readers(answer) == [
        ("shop/again.py", "f", (5,), "certain"),
        ("shop/conf.py", "retry", (13,), "certain"),
        ("shop/module.py", "f", (6,), "certain"),
        ("shop/send.py", "shop/send.py", (3,), "certain"),
        ("shop/send.py", "send", (7,), "certain"),
        ("shop/star.py", "f", (5,), "certain"),
        ("shop/old.py", "shop/old.py", (1,), "possible"),
    ]
    assert (answer.target.label, answer.target.path, answer.target.line) == ("Constant", "shop/conf.py", 1)
    coverage = answer.coverage
    assert (coverage.what, coverage.bound, coverage.possible) == ("reads", 7, 1)
    assert coverage.notes == ("1 of the files that hold the name do not parse",)


def test_a_member_is_read_through_its_class_wherever_that_is_imported_from(store: EmbeddedStore) -> None:
    assert list_readers(ask(store, "Color.RED")) == [
        ("shop/again.py", "f", (5,), "certain"),
        ("shop/conf.py", "Color.mix", (9,), "certain"),
        ("shop/again.py", "f", (5,), "possible"),
    ]


def test_subclasses_read_a_field_unless_they_redefine_it(store: EmbeddedStore) -> None:
    assert list_readers(ask(store, "Base.size")) == [
        ("shop/base.py", "Base.f", (5,), "certain"),
        ("shop/below.py", "Near.f", (6,), "certain"),
    ]
    assert list_readers(ask(store, "Far.size")) == [
        ("shop/below.py", "Far.f", (13,), "certain"),
        ("shop/below.py", "Near.f", (6,), "possible"),
    ]


def test_readers_over_the_limit_are_counted(store: EmbeddedStore) -> None:
    answer = ask(store, "RETRIES", limit=2)
    assert (len(answer.found), answer.left_out) == (2, (("readers", 5),))
    assert ask(store, "RETRIES", direction="out").found == ()


def test_a_constant_is_named_by_path_and_line_as_well(store: EmbeddedStore) -> None:
    assert ask(store, "shop/conf.py:1").target.qualname == "RETRIES"
    assert ask(store, "shop/conf.py::HIDDEN").target.qualname == "HIDDEN"
    assert ask(store, "conf.Missing").target.line == 2


def test_another_question_about_a_constant_is_refused(store: EmbeddedStore) -> None:
    with pytest.raises(QueryError, match="'RETRIES' is a constant, which has only readers; expected a function"):
        run_deps(store, "retry", DepsOptions(question="path", to="RETRIES"))


def test_readers_of_a_constant_are_affected_by_its_change(store: EmbeddedStore) -> None:
    answer = run_deps(store, "Color.RED", DepsOptions(question="impact"))
    assert isinstance(answer, Impact)
    nearest = {(e.place.path, e.place.qualname, e.link.type) for e in answer.affected if e.distance == 1}
    assert {("shop/conf.py", "Color.mix", "READS"), ("shop/again.py", "f", "READS")} <= nearest


def test_the_name_of_a_constant_is_suggested(store: EmbeddedStore) -> None:
    with pytest.raises(QueryError, match="did you mean: RETRIES"):
        run_deps(store, "RETRIE", DepsOptions())


def test_a_field_in_a_row_is_read_in_its_own_class(tmp_path: Path) -> None:
    text = "x = 1\n\n\nclass Cart:\n    limit = 3\n\n    def add(self):\n        return self.limit\n"
    rows = write_rows(tmp_path / "rows.jsonl", {"output": f"```python\n{text}```"})
    with closing(open_graph_at(tmp_path / "rows.db")) as store:
        build(str(rows), store)
        (reader,) = list_readers(ask(store, "Cart.limit"))
    assert reader[1:] == ("Cart.add", (9,), "certain")  # the fence is a line of the row
