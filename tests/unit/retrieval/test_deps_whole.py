"""Questions about whole graphs: impact, cycles, unused definitions, the table of imports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fakes import FakeStore
from linked import SHOP, SHOP_LINKS, SHOP_UNBOUND, LinkRow, fill_store, make_linked_store, make_shop

from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.graph.store import GraphStore
from pkg.retrieval.deps.answer import (
    Answer,
    Cycles,
    DepsOptions,
    Impact,
    ImportTable,
    Place,
    QuestionKind,
    Unused,
    is_test,
)
from pkg.retrieval.deps.questions import run_deps


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    with closing(make_shop(tmp_path / "graph.db")) as store:
        yield store


def ask(store: GraphStore, question: QuestionKind, name: str | None = None, **options: Any) -> Answer:
    return run_deps(store, name, DepsOptions(question=question, **options))


def ask_impact(store: GraphStore, name: str, **options: Any) -> Impact:
    answer = ask(store, "impact", name, **options)
    assert isinstance(answer, Impact)
    return answer


def ask_cycles(store: GraphStore, name: str | None = None, **options: Any) -> Cycles:
    answer = ask(store, "cycles", name, **options)
    assert isinstance(answer, Cycles)
    return answer


def ask_unused(store: GraphStore, name: str | None = None, **options: Any) -> Unused:
    answer = ask(store, "unused", name, **options)
    assert isinstance(answer, Unused)
    return answer


def ask_imports(store: GraphStore, name: str | None = None, **options: Any) -> ImportTable:
    answer = ask(store, "imports", name, **options)
    assert isinstance(answer, ImportTable)
    return answer


def reached(answer: Impact) -> list[tuple[int, str, str]]:
    return [(each.distance, each.place.qualname, each.confidence) for each in answer.affected]


def test_impact_goes_on_through_callers_and_importers(store: EmbeddedStore) -> None:
    answer = ask_impact(store, "load")
    assert reached(answer) == [
        (1, "find_price", "certain"),
        (2, "shop/cart.py", "certain"),
        (2, "Cart.add", "certain"),
        (3, "main", "likely"),
        (3, "test_add", "likely"),
        (4, "shop/main.py", "likely"),
    ]


def test_impact_names_the_tests_that_reach_a_place(store: EmbeddedStore) -> None:
    answer = ask_impact(store, "find_price")
    assert [each.place.qualname for each in answer.affected if each.is_test] == ["test_add"]
    assert answer.tests == 1


def test_impact_reaches_subclasses_and_overriding_methods(store: EmbeddedStore) -> None:
    assert (1, "BigCart.check", "certain") in reached(ask_impact(store, "Cart.check"))
    assert (1, "BigCart", "certain") in reached(ask_impact(store, "Cart"))


def test_places_reached_only_by_possible_links_come_last(store: EmbeddedStore) -> None:
    answer = ask_impact(store, "BigCart.check")
    assert reached(answer)[0] == (1, "Cart.add", "possible")
    assert answer.possible == answer.total == len(answer.affected)


def test_a_longer_bound_chain_counts_more_than_a_shorter_possible_one(tmp_path: Path) -> None:
    files = {"m.py": "".join(f"def {name}():\n    pass\n" for name in "abc")}
    links: list[LinkRow] = [
        ("CALLS", "m.py::c", "m.py::a", 6, "name", "possible"),
        ("CALLS", "m.py::c", "m.py::b", 6, "module", "likely"),
        ("CALLS", "m.py::b", "m.py::a", 4, "module", "certain"),
    ]
    with closing(make_linked_store(tmp_path / "m.db", files, links)) as store:
        assert reached(ask_impact(store, "a")) == [(1, "b", "certain"), (2, "c", "likely")]


def test_impact_reports_when_it_stops_at_its_depth(store: EmbeddedStore) -> None:
    short = ask_impact(store, "load", depth=1)
    assert (reached(short), len(short.coverage.notes)) == ([(1, "find_price", "certain")], 1)
    assert ask_impact(store, "load").coverage.notes == ()


def test_impact_counts_unbound_call_sites_that_may_be_callers(store: EmbeddedStore) -> None:
    covered = ask_impact(store, "find_price").coverage
    assert (covered.same_name, covered.unbound) == (1, 1)


def test_impact_of_a_file_with_many_definitions_is_that_of_all_of_them(tmp_path: Path) -> None:
    """More starts than are walked one by one: the links of the source are read at once."""
    names = [f"f{number}" for number in range(12)]
    files = {"m.py": "".join(f"def {name}():\n    pass\n" for name in names), "n.py": "def user():\n    pass\n"}
    links: list[LinkRow] = [("CALLS", "n.py::user", f"m.py::{name}", 2, "import", "certain") for name in names]
    with closing(make_linked_store(tmp_path / "m.db", files, links)) as store:
        assert reached(ask_impact(store, "m.py")) == [(1, "user", "certain")]


@pytest.mark.parametrize(
    ("path", "qualname", "expected"),
    [
        ("tests/helpers.py", "make", True),
        ("app/test_cart.py", "make", True),
        ("app/cart_test.py", "make", True),
        ("app/cart.py", "TestCart.test_add", True),
        ("conftest.py", "conftest.py", True),
        ("app/contest.py", "latest", False),
        ("app/cart.py", "protest_all", False),
    ],
)
def test_tests_are_known_by_their_names(path: str, qualname: str, expected: bool) -> None:
    assert is_test(Place("0" * 16, "Function", "shop", path, 1, qualname)) is expected


RING: dict[str, str] = {
    "p/a.py": "from p.b import g\n\n\ndef f():\n    g()\n",
    "p/b.py": "import p.c\n\n\ndef g():\n    p.c.h()\n",
    "p/c.py": "from p.a import f\n\n\ndef h():\n    f()\n    h()\n",
    "p/d.py": "import p.a\n",
}
RING_LINKS: list[LinkRow] = [
    ("RESOLVES_TO", "p/a.py@1", "p/b.py::g", None, "function", "certain"),
    ("RESOLVES_TO", "p/b.py@1", "p/c.py", None, "module", "certain"),
    ("RESOLVES_TO", "p/c.py@1", "p/a.py::f", None, "function", "certain"),
    ("RESOLVES_TO", "p/d.py@1", "p/a.py", None, "module", "certain"),
    ("CALLS", "p/a.py::f", "p/b.py::g", 5, "import", "certain"),
    ("CALLS", "p/b.py::g", "p/c.py::h", 5, "attribute", "likely"),
    ("CALLS", "p/c.py::h", "p/a.py::f", 5, "import", "certain"),
    ("CALLS", "p/c.py::h", "p/c.py::h", 6, "module", "certain"),
]


def test_cycles_of_imports_and_of_calls_are_found_with_a_way_around(tmp_path: Path) -> None:
    with closing(make_linked_store(tmp_path / "ring.db", RING, RING_LINKS)) as store:
        answer = ask_cycles(store)
    assert (answer.imports, answer.calls, answer.recursive) == (1, 1, 1)
    imports, calls = answer.cycles
    assert [place.path for place in imports.members] == ["p/a.py", "p/b.py", "p/c.py"]
    assert [place.qualname for place in calls.members] == ["f", "g", "h"]
    for cycle in answer.cycles:
        assert [link.end for link in cycle.around] == [link.start for link in (*cycle.around[1:], cycle.around[0])]
        assert len(cycle.around) == 3
    assert {link.text for link in imports.around} >= {"import p.c"}


def test_cycles_of_a_name_are_those_that_hold_it(tmp_path: Path) -> None:
    with closing(make_linked_store(tmp_path / "ring.db", RING, RING_LINKS)) as store:
        assert ask_cycles(store, "p/a.py::f").calls == 1
        assert ask_cycles(store, "p/a.py::f").imports == 0
        assert ask_cycles(store, "p/d.py").cycles == ()


def test_a_possible_call_closes_no_cycle(tmp_path: Path) -> None:
    links = [(*row[:5], "possible" if row[5] == "likely" else row[5]) for row in RING_LINKS]
    with closing(make_linked_store(tmp_path / "ring.db", RING, links)) as store:
        assert ask_cycles(store).calls == 0


def test_large_cycles_are_cut_and_counted(tmp_path: Path) -> None:
    files = {"m.py": "".join(f"def f{n}():\n    pass\n" for n in range(30))}
    links: list[LinkRow] = [
        ("CALLS", f"m.py::f{n}", f"m.py::f{(n + 1) % 30}", 1, "module", "certain") for n in range(30)
    ]
    with closing(make_linked_store(tmp_path / "m.db", files, links)) as store:
        (cycle,) = ask_cycles(store, limit=5).cycles
        assert (cycle.size, len(cycle.members), len(cycle.around)) == (30, 5, 30)


def test_unused_definitions_come_with_their_doubts_the_least_doubtful_first(store: EmbeddedStore) -> None:
    answer = ask_unused(store)
    assert {each.place.qualname: each.doubts for each in answer.found} == {
        "_left": (),
        "count": ("public: others may use it",),
        "run_me": ("public: others may use it",),
    }
    assert (answer.total, answer.definitions) == (3, 16)


def test_possible_uses_without_a_link_are_counted_and_listed_on_demand(store: EmbeddedStore) -> None:
    answer = ask_unused(store, doubtful=True)
    assert {each.place.qualname: each.doubts for each in answer.found[3:]} == {
        "Visitor.visit": ("called by a base outside of the source: Base",),
        "hook": ("entered from outside: by registration",),
        "export": ("exported: listed in __all__",),
        "Visitor": ("contains a used definition",),
        "test_add": ("run by the test runner",),
    }
    assert dict(ask_unused(store).spared) == {
        "called by a base outside of the source": 1, "entered from outside": 1, "exported": 1,
        "contains a used definition": 1,
        "run by the test runner": 1,
    }  # fmt: skip


def test_a_function_that_only_calls_itself_is_unused(store: EmbeddedStore) -> None:
    assert "count" in {each.place.qualname for each in ask_unused(store).found}


def test_called_imported_subclassed_or_overridden_definitions_are_used(store: EmbeddedStore) -> None:
    unused = {each.place.qualname for each in ask_unused(store).found}
    assert not unused & {"find_price", "load", "Cart", "Cart.add", "Cart.check", "BigCart", "BigCart.check", "main"}


def test_unused_can_be_narrowed_to_a_file_and_is_cut_at_the_limit(store: EmbeddedStore) -> None:
    assert {each.place.path for each in ask_unused(store, "shop/prices.py").found} == {"shop/prices.py"}
    answer = ask_unused(store, limit=2)
    assert (len(answer.found), answer.total, answer.left_out) == (2, 3, 1)


def test_the_table_of_imports_has_one_record_for_each_alias(store: EmbeddedStore) -> None:
    table = ask_imports(store)
    rows = [
        (each.file_name, each.category, each.target_file or each.library_name, each.artifact_type)
        for each in table.records
    ]
    assert rows == [
        ("shop/cart.py", "file_import_from", "shop/prices.py", "function"),
        ("shop/cart.py", "file_import_from", "shop/prices.py", "module"),
        ("shop/main.py", "file_import_from", "shop/cart.py", "class"),
        ("shop/prices.py", "library_import_direct", "json", "module"),
        ("shop/spare.py", "library_import_from", "shop", "unknown"),
        ("tests/test_cart.py", "file_import_from", "shop/cart.py", "class"),
    ]
    assert (table.total, table.files) == (6, 5)
    assert dict(table.categories) == {"file_import_from": 4, "library_import_direct": 1, "library_import_from": 1}
    assert sum(count for _, _, count in table.artifact_types) == table.total
    assert table.coverage.notes == ("1 imports lead to nothing that was found",)


def test_a_relative_import_that_leads_nowhere_is_one_of_a_file(tmp_path: Path) -> None:
    with closing(make_linked_store(tmp_path / "m.db", {"m.py": "from .gone import x, y as z\n"})) as store:
        table = ask_imports(store)
    assert [(each.category, each.artifact, each.target_file) for each in table.records] == [
        ("file_import_from", "x", None),
        ("file_import_from", "y", None),
    ]


def test_the_table_can_be_that_of_one_file(store: EmbeddedStore) -> None:
    assert [each.artifact for each in ask_imports(store, "shop/cart.py").records] == ["find_price", "prices"]
    assert ask_imports(store, limit=2).left_out == 4


def test_a_source_narrows_every_question(store: EmbeddedStore, tmp_path: Path) -> None:
    with closing(make_linked_store(tmp_path / "graph.db", RING, RING_LINKS, source="ring")):
        pass
    assert ask_cycles(store, source="shop").cycles == ()
    assert ask_cycles(store, source="ring").imports == 1
    assert {each.source for each in ask_imports(store, source="ring").records} == {"ring"}
    assert ask_unused(store, source="ring").definitions == 3
    assert ask_imports(store).total == 10


def test_the_store_in_memory_gives_the_same_answers(store: EmbeddedStore) -> None:
    twin = FakeStore()
    fill_store(twin, SHOP, SHOP_LINKS, SHOP_UNBOUND)
    asked: dict[QuestionKind, str | None] = {"impact": "load", "cycles": None, "unused": None, "imports": None}
    for question, name in asked.items():
        assert ask(twin, question, name) == ask(store, question, name)


def test_a_graph_without_links_answers_every_question(tmp_path: Path) -> None:
    with closing(make_linked_store(tmp_path / "m.db", {"m.py": "def f():\n    pass\n", "empty.py": ""})) as store:
        assert ask_cycles(store).cycles == ()
        assert ask_imports(store).records == ()
        assert [each.place.qualname for each in ask_unused(store).found] == ["f"]
        assert ask_impact(store, "f").affected == ()
