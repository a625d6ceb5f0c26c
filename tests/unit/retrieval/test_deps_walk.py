from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fakes import FakeStore
from linked import SHOP, SHOP_LINKS, SHOP_UNBOUND, LinkRow, fill_store, make_linked_store, make_shop

from pkg.errors import QueryError, UsageError
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.graph.store import GraphStore
from pkg.retrieval.deps.answer import Chains, Dependencies, DepsOptions
from pkg.retrieval.deps.paths import relate_path
from pkg.retrieval.deps.questions import run_deps


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    with closing(make_shop(tmp_path / "graph.db")) as store:
        yield store


def ask(store: GraphStore, name: str, **options: Any) -> Dependencies:
    answer = run_deps(store, name, DepsOptions(**options))
    assert isinstance(answer, Dependencies)
    return answer


def ask_chains(store: GraphStore, start: str, end: str, **options: Any) -> Chains:
    answer = run_deps(store, start, DepsOptions(question="path", to=end, **options))
    assert isinstance(answer, Chains)
    return answer


def names(answer: Dependencies, relation: str) -> list[tuple[int, str]]:
    found = [each for each in answer.found if each.relation == relation]
    is_in = relation in ("callers", "importers", "subclasses", "overridden by")
    return [(each.depth, (each.link.start if is_in else each.link.end).qualname) for each in found]


def test_a_function_has_callers_and_callees_certain_ones_first(store: EmbeddedStore) -> None:
    answer = ask(store, "Cart.add")
    assert names(answer, "callers") == [(1, "main"), (1, "test_add")]
    assert names(answer, "callees") == [(1, "find_price"), (1, "Cart.check"), (1, "BigCart.check")]
    call = next(each.link for each in answer.found if each.link.end.qualname == "find_price")
    assert (call.start.path, call.lines, call.rule, call.confidence) == ("shop/cart.py", (8,), "import", "certain")


def test_the_direction_narrows_the_answer(store: EmbeddedStore) -> None:
    assert {each.relation for each in ask(store, "Cart.add", direction="in").found} == {"callers"}
    assert {each.relation for each in ask(store, "Cart.add", direction="out").found} == {"callees"}


def test_a_class_has_subclasses_and_importers_and_the_dependencies_of_its_methods(store: EmbeddedStore) -> None:
    answer = ask(store, "Cart")
    assert names(answer, "subclasses") == [(1, "BigCart")]
    assert names(answer, "importers") == [(1, "shop/main.py")]
    assert names(answer, "overridden by") == [(1, "BigCart.check")]
    assert names(answer, "callees") == [(1, "find_price"), (1, "BigCart.check")]
    assert names(ask(store, "BigCart"), "bases") == [(1, "Cart")]
    assert names(ask(store, "BigCart"), "overrides") == [(1, "Cart.check")]


def test_a_file_has_imports_and_importers_of_what_is_in_it(store: EmbeddedStore) -> None:
    answer = ask(store, "shop/prices.py")
    assert names(answer, "imports") == [(1, "json")]
    assert names(answer, "importers") == [(1, "shop/cart.py"), (1, "shop/cart.py")]
    assert sorted(each.link.text for each in answer.found if each.relation == "importers") == [
        "from . import prices",
        "from .prices import find_price",
    ]
    assert names(answer, "callers") == [(1, "Cart.add")]  # count calls itself, and not the file


def test_an_unresolved_import_is_shown_as_written(store: EmbeddedStore) -> None:
    (found,) = [each.link for each in ask(store, "shop/spare.py").found if each.relation == "imports"]
    assert (found.end.label, found.text, found.confidence) == ("Import", "from shop import missing", "possible")


def test_unresolved_calls_come_with_their_reasons(store: EmbeddedStore) -> None:
    answer = ask(store, "main", direction="out")
    found = [(each.link.end.qualname, each.link.rule) for each in answer.found if each.relation == "unresolved calls"]
    assert found == [("queue.run_me", "queue is not defined"), ("unknown.find_price", "unknown is not defined")]


def test_depth_follows_level_by_level_under_each_place(store: EmbeddedStore) -> None:
    answer = ask(store, "load", depth=3, direction="in")
    assert names(answer, "callers") == [(1, "find_price"), (2, "Cart.add"), (3, "main"), (3, "test_add")]
    places = {each.link.start.id: each for each in answer.found}
    main = next(each for each in answer.found if each.link.start.qualname == "main")
    assert places[main.of].link.start.qualname == "Cart.add"
    with pytest.raises(UsageError, match="depth is 0"):
        ask(store, "load", depth=0)


def test_callers_in_the_product_come_before_sure_ones_in_tests_and_the_most_used_first(tmp_path: Path) -> None:
    callers = {
        "a_tests/test_a.py": "def test_a():\n    find()\n",
        "docs/b.py": "def show():\n    find()\n",
        "shop/c.py": "def once():\n    find()\n",
        "shop/d.py": "def often():\n    find()\n\n\ndef first():\n    often()\n",
        "shop/e.py": "def maybe(it):\n    it.find()\n",
    }
    calls: list[LinkRow] = [
        ("CALLS", f"{path}::{name}", "shop/find.py::find", 2, "import", confidence)
        for path, name, confidence in [
            ("a_tests/test_a.py", "test_a", "certain"),
            ("docs/b.py", "show", "certain"),
            ("shop/c.py", "once", "certain"),
            ("shop/d.py", "often", "certain"),
            ("shop/e.py", "maybe", "possible"),
        ]
    ]
    calls.append(("CALLS", "shop/d.py::first", "shop/d.py::often", 6, "same module", "certain"))
    files = callers | {"shop/find.py": "def find():\n    return 1\n"}
    with closing(make_linked_store(tmp_path / "m.db", files, calls)) as store:
        assert names(ask(store, "find"), "callers") == [
            (1, "often"), (1, "once"), (1, "maybe"), (1, "test_a"), (1, "show"),
        ]  # fmt: skip
        answer = ask(store, "find", limit=3)
        assert [each.place.qualname for each in answer.found if each.relation == "callers"] == [
            "often",
            "once",
            "maybe",
        ]
        assert dict(answer.left_out) == {"callers": 2}


def test_imports_are_followed_from_file_to_file(store: EmbeddedStore) -> None:
    assert names(ask(store, "shop/main.py", depth=3), "imports") == [
        (1, "Cart"), (2, "find_price"), (2, "shop/prices.py"), (3, "json"),
    ]  # fmt: skip
    assert names(ask(store, "find_price", depth=2), "importers") == [
        (1, "shop/cart.py"), (2, "shop/main.py"), (2, "tests/test_cart.py"),
    ]  # fmt: skip


def test_recursion_ends_and_is_shown_once(store: EmbeddedStore) -> None:
    assert names(ask(store, "count", depth=50), "callers") == [(1, "count")]


def test_every_answer_counts_bound_possible_and_unbound_call_sites(store: EmbeddedStore) -> None:
    covered = ask(store, "Cart").coverage
    assert (covered.bound, covered.possible, covered.unbound) == (2, 0, 1)


def test_inner_functions_do_not_make_a_function_its_own_caller(tmp_path: Path) -> None:
    files = {
        "m.py": "def report(rows):\n    def line(row):\n        return write(row)\n\n    def again():\n"
        "        return report([])\n\n    return line(rows)\n\n\ndef write(row):\n    return str(row)\n\n\n"
        "def main():\n    report(1).line(2)\n"
    }
    calls: list[LinkRow] = [
        ("CALLS", "m.py::report", "m.py::report.line", 8, "enclosing scope", "certain"),
        ("CALLS", "m.py::report.line", "m.py::write", 3, "same module", "certain"),
        ("CALLS", "m.py::report.again", "m.py::report", 6, "same module", "certain"),
        ("CALLS", "m.py::main", "m.py::report.line", 16, "returned", "certain"),
    ]
    with closing(make_linked_store(tmp_path / "m.db", files, calls)) as store:
        found = ask(store, "report").found
    said = [(each.relation, each.place.qualname, each.describe_inside()) for each in found]
    assert said == [
        ("callers", "report.again", ""),
        ("callers", "main", "to report.line inside it"),
        ("callees", "report.line", ""),
        ("callees", "report", "from report.again inside it"),
        ("callees", "write", "from report.line inside it"),
    ]


def test_a_class_is_not_called_by_its_own_methods(tmp_path: Path) -> None:
    files = {"m.py": "class Tree:\n    def walk(self):\n        self.walk()\n\n\ndef main(tree):\n    tree.walk()\n"}
    calls: list[LinkRow] = [
        ("CALLS", "m.py::Tree.walk", "m.py::Tree.walk", 3, "self", "certain"),
        ("CALLS", "m.py::main", "m.py::Tree.walk", 7, "annotation", "certain"),
    ]
    with closing(make_linked_store(tmp_path / "m.db", files, calls)) as store:
        (found,) = ask(store, "Tree").found
        assert (found.place.qualname, found.describe_inside()) == ("main", "to Tree.walk inside it")
        assert names(ask(store, "Tree.walk"), "callers") == [(1, "Tree.walk"), (1, "main")]


def test_unknown_is_never_shown_as_no_callers(store: EmbeddedStore) -> None:
    answer = ask(store, "run_me")
    assert (names(answer, "callers"), answer.coverage.same_name) == ([], 1)
    assert ask(store, "hook").coverage.same_name == 0
    assert ask(store, "Cart.add").coverage.same_name == 0


def test_hubs_are_truncated_and_omitted_links_counted(tmp_path: Path) -> None:
    files = {"hub.py": "def hub():\n    pass\n" + "".join(f"def f{n}():\n    hub()\n" for n in range(30))}
    calls: list[LinkRow] = [
        ("CALLS", f"hub.py::f{n}", "hub.py::hub", 2 * n + 4, "module", "certain") for n in range(30)
    ]
    with closing(make_linked_store(tmp_path / "hub.db", files, calls)) as store:
        answer = ask(store, "hub", limit=7)
        assert (len(answer.found), answer.left_out) == (7, (("callers", 23),))
        assert len(ask(store, "hub", limit=0).found) == 30


def test_calls_of_one_pair_are_one_link_with_all_lines(tmp_path: Path) -> None:
    calls: list[LinkRow] = [("CALLS", "m.py::a", "m.py::b", line, "module", "certain") for line in (3, 2)]
    calls.append(("CALLS", "m.py::a", "m.py::b", 4, "name", "possible"))
    files = {"m.py": "def a():\n    b()\n    b()\n    x.b()\n\n\ndef b():\n    pass\n"}
    with closing(make_linked_store(tmp_path / "m.db", files, calls)) as store:
        (found,) = ask(store, "b").found
        assert (found.link.lines, found.link.rule, found.link.confidence) == ((2, 3, 4), "module", "certain")


def test_the_store_in_memory_gives_the_same_answer(store: EmbeddedStore) -> None:
    twin = FakeStore()
    fill_store(twin, SHOP, SHOP_LINKS, SHOP_UNBOUND)
    for name in ("Cart", "Cart.add", "shop/prices.py", "main"):
        assert ask(twin, name, depth=2) == ask(store, name, depth=2)


def test_a_chain_has_a_link_for_each_hop(store: EmbeddedStore) -> None:
    answer = ask_chains(store, "main", "load")
    assert [[link.end.qualname for link in chain] for chain in answer.chains] == [["Cart.add", "find_price", "load"]]
    assert [link.confidence for link in answer.chains[0]] == ["likely", "certain", "certain"]
    assert answer.coverage.unbound == 4


def test_a_file_begins_a_chain_with_all_that_is_inside_it(store: EmbeddedStore) -> None:
    answer = ask_chains(store, "tests/test_cart.py", "shop/prices.py")
    assert [link.end.qualname for link in answer.chains[0]] == ["Cart.add", "find_price"]


def test_no_chain_within_the_bound_is_an_answer(store: EmbeddedStore) -> None:
    assert ask_chains(store, "load", "main").chains == ()
    assert ask_chains(store, "main", "load", depth=2).chains == ()
    assert len(ask_chains(store, "main", "load", depth=3).chains) == 1


def test_a_chain_back_to_itself_is_recursion(store: EmbeddedStore) -> None:
    ((link,),) = ask_chains(store, "count", "count").chains
    assert (link.start.qualname, link.end.qualname) == ("count", "count")


def test_possible_calls_make_a_chain_only_where_bound_ones_make_none(tmp_path: Path) -> None:
    files = {"m.py": "".join(f"def {name}():\n    pass\n" for name in "abcd")}
    calls: list[LinkRow] = [
        ("CALLS", "m.py::a", "m.py::d", 1, "name", "possible"),
        ("CALLS", "m.py::a", "m.py::b", 1, "module", "certain"),
        ("CALLS", "m.py::b", "m.py::d", 1, "module", "certain"),
        ("CALLS", "m.py::d", "m.py::c", 1, "name", "possible"),
    ]
    with closing(make_linked_store(tmp_path / "m.db", files, calls)) as store:
        assert [link.end.qualname for link in ask_chains(store, "a", "d").chains[0]] == ["b", "d"]
        answer = ask_chains(store, "a", "c")
        assert [link.end.qualname for link in answer.chains[0]] == ["d", "c"]
        assert answer.coverage.notes


def test_very_many_chains_are_counted_without_being_made(tmp_path: Path) -> None:
    """Twelve layers of four functions, each calling the whole next layer: 4 ** 11 shortest chains from each start."""
    files = {"m.py": "".join(f"def f{layer}_{n}():\n    pass\n" for layer in range(12) for n in range(4))}
    calls: list[LinkRow] = [
        ("CALLS", f"m.py::f{layer}_{a}", f"m.py::f{layer + 1}_{b}", 1, "module", "certain")
        for layer in range(11) for a in range(4) for b in range(4)
    ]  # fmt: skip
    with closing(make_linked_store(tmp_path / "m.db", files, calls)) as store:
        answer = ask_chains(store, "f0_0", "f11_0", depth=11, limit=5)
        assert (len(answer.chains), answer.left_out) == (5, 4**10 - 5)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("Cart", {"depth": -1}),
        ("Cart", {"limit": -1}),
        ("Cart", {"direction": "up"}),
        ("Cart", {"question": "why"}),
        ("Cart", {"question": "path"}),
        ("Cart", {"to": "load"}),
        (None, {}),
        ("", {"question": "impact"}),
    ],
)
def test_invalid_options_are_usage_errors(store: EmbeddedStore, name: str | None, options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        run_deps(store, name, DepsOptions(**options))


def test_a_path_with_one_unknown_end_is_refused(store: EmbeddedStore) -> None:
    with pytest.raises(QueryError, match="no function, class, constant or file 'nowhere'"):
        ask_chains(store, "main", "nowhere")


def test_a_path_that_leads_up_starts_at_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shop" / "deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "shop" / "deep")
    assert relate_path("../cart.py", str(tmp_path / "shop")) == "cart.py"
    assert relate_path("..", str(tmp_path)) == "shop"
    assert relate_path("./cart.py", str(tmp_path)) == "cart.py"
