from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from fakes import FakeStore
from linked import LinkRow, UnboundRow, encoder, fill_store, make_linked_store

from pkg.graph.store import GraphStore
from pkg.model import Cut, Edge, Label, Node, RelationType
from pkg.resolution.reasons import Reason
from pkg.retrieval.context import Excerpt
from pkg.retrieval.helpers import Completer, Completion

MAIN = """\
import json
from other import strip_all, Shelf


def load(path):
    with open(path) as file:
        return parse(file.read(), find(path))


def parse(text, kind):
    def clean(line):
        return strip_all(line)

    return [clean(each) for each in json.loads(text)]


def find(path):
    return Shelf(path).get(path) or load(path)


class Plain:
    size = 1
"""
OTHER = """\
from __future__ import annotations


def strip_all(line):
    return shared(line)


def shared(x):
    return x


class Shelf:
    def __init__(self, path):
        self.path = path

    def get(self, path):
        return path


class Low(Shelf):
    def get(self, path):
        return shared(path)
"""
FILES = {"main.py": MAIN, "other.py": OTHER}
LINKS: list[LinkRow] = [
    ("CALLS", "main.py::load", "main.py::find", 7, "same module", "certain"),
    ("CALLS", "main.py::load", "main.py::parse", 7, "same module", "certain"),
    ("CALLS", "main.py::parse", "main.py::parse.clean", 14, "enclosing scope", "certain"),
    ("CALLS", "main.py::parse.clean", "other.py::strip_all", 12, "import", "certain"),
    ("CALLS", "main.py::find", "other.py::Shelf", 18, "constructor", "certain"),
    ("CALLS", "main.py::find", "other.py::Shelf.__init__", 18, "constructor", "certain"),
    ("CALLS", "main.py::find", "other.py::Shelf.get", 18, "constructed object", "likely"),
    ("CALLS", "main.py::find", "other.py::Low.get", 18, "override", "possible"),
    ("CALLS", "main.py::find", "main.py::load", 18, "same module", "certain"),
    ("CALLS", "other.py::strip_all", "other.py::shared", 5, "same module", "certain"),
    ("CALLS", "other.py::Low.get", "other.py::shared", 22, "same module", "certain"),
]
UNBOUND: list[UnboundRow] = [("main.py::load", "file.read", 7, "result of a call that is not bound")]


@pytest.fixture(name="store")
def demo(tmp_path: Path) -> Iterator[GraphStore]:
    with closing(make_linked_store(tmp_path / "graph.db", FILES, LINKS, UNBOUND)) as store:
        yield store


def find(store: GraphStore, qualname: str) -> Node:
    nodes = store.find_name(qualname.rpartition(".")[2])
    return next(node for node in nodes if node.qualname == qualname and node.label is Label.FUNCTION)


def complete(
    store: GraphStore, node: Node, hops: int = 1, cuts: Sequence[Cut] = (), callers: bool = False
) -> Completion:
    (found,) = Completer(store, encoder(), hops, callers).complete([Excerpt(node, tuple(cuts))])
    return found


def names(found: Completion) -> list[str]:
    return [f"{helper.path}:{helper.qualname}" for helper in found.helpers]


def test_callees_are_added_in_the_order_of_the_text_with_their_reasons(store: GraphStore) -> None:
    found = complete(store, find(store, "load"))

    assert names(found) == ["main.py:parse", "main.py:find"]
    assert [helper.reason for helper in found.helpers] == ["called at main.py:7 (certain: same module)"] * 2
    assert found.helpers[0].content.startswith("def parse(text, kind):")
    assert (found.helpers[0].start_line, found.helpers[0].end_line) == (10, 14)
    assert (found.bound, found.possible, found.unbound) == (2, 0, 1)


def test_a_helper_brings_the_imports_of_its_module_that_it_uses(store: GraphStore) -> None:
    parse, find_path = complete(store, find(store, "load")).helpers

    assert parse.imports == ("import json", "from other import strip_all")
    assert find_path.imports == ("from other import Shelf",)


def test_a_block_has_the_calls_on_its_lines(store: GraphStore) -> None:
    block = next(node for node in store.subtree(find(store, "load").id) if node.kind == "with")

    assert names(complete(store, block)) == ["main.py:parse", "main.py:find"]


def test_functions_inside_a_hit_are_part_of_it_and_their_calls_are_its_own(store: GraphStore) -> None:
    assert names(complete(store, find(store, "parse"))) == ["other.py:strip_all"]


def test_calls_on_lines_that_were_cut_are_left_out(store: GraphStore) -> None:
    found = complete(store, find(store, "load"), 1, [Cut("x", "with", 6, 7, 0.1, 0.2)])

    assert found == Completion()


def test_a_class_is_shown_by_its_own_init_and_counts_as_one_call(store: GraphStore) -> None:
    found = complete(store, find(store, "find"))

    assert names(found) == ["other.py:Shelf.__init__", "other.py:Shelf.get", "main.py:load"]
    assert (found.bound, found.possible) == (3, 0)


def test_a_possible_target_is_left_out_where_a_surer_one_is_known(store: GraphStore) -> None:
    assert "other.py:Low.get" not in names(complete(store, find(store, "find"), 9))


def link(start: str, end: str, line: int, rule: str, sure: str) -> LinkRow:
    return "CALLS", start, end, line, rule, sure


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ([link("a.py::go", "b.py::A.run", 2, "override", "possible")], ["b.py:A.run"]),
        ([link("a.py::go", f"b.py::{each}.run", 2, "override", "possible") for each in "AB"], []),
        ([link("a.py::go", f"b.py::{each}.run", 2, "self", "likely") for each in "AB"], ["b.py:A.run", "b.py:B.run"]),
        ([link("a.py::go", "b.py::B", 2, "constructor", "certain")], ["b.py:B"]),
    ],
)
def test_a_site_reaches_bound_targets_or_a_single_possible_one(
    tmp_path: Path, links: list[LinkRow], expected: list[str]
) -> None:
    method = "    def run(self):\n        pass\n"
    files = {"a.py": "def go(x):\n    return x.run()\n", "b.py": f"class A:\n{method}\n\nclass B:\n{method}"}
    with closing(make_linked_store(tmp_path / "graph.db", files, links)) as store:
        found = complete(store, find(store, "go"))

    assert names(found) == expected
    if not expected:
        assert found.explain == ("run at a.py:2 not guessed: 2 functions are possible, none is likely",)
    assert found.bound + found.possible == 1


def test_a_single_possible_target_is_marked_as_possible(tmp_path: Path) -> None:
    files = {"a.py": "def go(x):\n    return x.run()\n\n\nclass A:\n    def run(self):\n        pass\n"}
    links = [link("a.py::go", "a.py::A.run", 2, "only class with these attributes", "possible")]
    with closing(make_linked_store(tmp_path / "graph.db", files, links)) as store:
        (helper,) = complete(store, find(store, "go")).helpers

    assert helper.reason == "called at a.py:2 (possible: only class with these attributes; nothing else is known)"


def test_hops_go_breadth_first_and_end_where_nothing_is_new(store: GraphStore) -> None:
    load = find(store, "load")

    depths = [names(complete(store, load, hops)) for hops in (0, 1, 2, 3, 99)]

    first = ["main.py:parse", "main.py:find"]
    second = [*first, "other.py:strip_all", "other.py:Shelf.__init__", "other.py:Shelf.get"]
    assert depths == [[], first, second, [*second, "other.py:shared"], [*second, "other.py:shared"]]


class CountingStore(FakeStore):
    """A store that counts queries for relationships or nodes."""

    asked = 0

    def neighbours(
        self, ids: Sequence[str], types: object = None, direction: str = "both", depth: int = 1
    ) -> list[Edge]:
        self.asked += 1
        return super().neighbours(ids, types, direction, depth)  # type: ignore[arg-type]

    def get(self, ids: Sequence[str]) -> list[Node]:
        self.asked += 1
        return super().get(ids)


def test_many_hits_cost_no_more_questions_than_one() -> None:
    counts = []
    for number in (1, 30):
        store = CountingStore()
        goes = "\n\n".join(f"def go{i}():\n    return help{i}()\n\n\ndef help{i}():\n    pass\n" for i in range(number))
        links = [link(f"a.py::go{i}", f"a.py::help{i}", 8 * i + 2, "same module", "certain") for i in range(number)]
        fill_store(store, {"a.py": goes}, links)
        hits = [Excerpt(find(store, f"go{i}")) for i in range(number)]
        store.asked = 0
        found = Completer(store, encoder(), 1).complete(hits)
        assert [names(each) for each in found] == [[f"a.py:help{i}"] for i in range(number)]
        counts.append(store.asked)
    assert counts[0] == counts[1] <= 4


def test_callers_are_added_on_request_after_callees(store: GraphStore) -> None:
    found = complete(store, find(store, "find"), 1, (), callers=True)

    assert names(found)[-1] == "main.py:load"
    assert found.helpers[-1].role == "callee"  # it is called too, which comes first
    (caller,) = complete(store, find(store, "strip_all"), 0, (), callers=True).helpers
    assert (caller.qualname, caller.role) == ("parse.clean", "caller")
    assert caller.reason == "calls strip_all at main.py:12 (certain: import)"


def test_possible_callers_and_module_code_are_reported_but_not_shown(tmp_path: Path) -> None:
    files = {"a.py": "def run():\n    pass\n\n\ndef go(x):\n    x.run()\n\n\nrun()\n"}
    links = [
        link("a.py::go", "a.py::run", 6, "only class with these attributes", "possible"),
        link("a.py", "a.py::run", 9, "same module", "certain"),
    ]
    with closing(make_linked_store(tmp_path / "graph.db", files, links)) as store:
        found = complete(store, find(store, "run"), 1, (), callers=True)

    assert found.helpers == ()
    assert found.explain == (
        "callers that are only possible, left out: 1",
        "called by module code at a.py:9 (certain: same module), which is not shown",
    )


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("clear_cache", ["a.py:_clear_cache"]),
        ("self.cache_clear", ["a.py:_clear_cache"]),
        ("other.clear_cache", []),
        ("clear", []),
        ("twice", []),
        ("len", []),
        ("(...).clear_cache", []),
    ],
)
def test_the_last_rule_guesses_the_one_function_of_the_same_words(
    tmp_path: Path, expression: str, expected: list[str]
) -> None:
    twice = "class {}:\n    def twice(self):\n        pass\n\n\n"
    text = twice.format("A") + twice.format("B") + "def go():\n    pass\n\n\ndef _clear_cache():\n    pass\n"
    with closing(
        make_linked_store(tmp_path / "g.db", {"a.py": text}, (), [("a.py::go", expression, 12, Reason.UNDEFINED)])
    ) as store:
        found = complete(store, find(store, "go"))

    assert names(found) == expected
    assert found.unbound == 1
    for helper in found.helpers:
        assert helper.reason == f"called as {expression} at a.py:12, which is not bound (a guess by name alone)"


@pytest.mark.parametrize("reason", [Reason.PARAMETER, Reason.ARGUMENT, Reason.ITEM, Reason.RESULT, Reason.MANY])
def test_names_of_values_are_not_guessed(tmp_path: Path, reason: Reason) -> None:
    text = "def go(clear_cache):\n    clear_cache()\n\n\ndef _clear_cache():\n    pass\n"
    with closing(
        make_linked_store(tmp_path / "g.db", {"a.py": text}, (), [("a.py::go", "clear_cache", 2, reason)])
    ) as store:
        assert complete(store, find(store, "go")) == Completion(unbound=1)


def test_bare_names_are_not_guessed_as_methods_or_inner_functions(tmp_path: Path) -> None:
    text = (
        "class A:\n    def _clear_cache(self):\n        pass\n\n\ndef go():\n    clear_cache()\n    do_find()\n"
        "\n\ndef outer():\n    def find_do():\n        pass\n"
    )
    calls = [("a.py::go", "clear_cache", 7, Reason.UNDEFINED), ("a.py::go", "do_find", 8, Reason.UNDEFINED)]
    with closing(make_linked_store(tmp_path / "g.db", {"a.py": text}, (), calls)) as store:
        assert complete(store, find(store, "go")) == Completion(unbound=2)


def test_functions_that_call_each_other_are_added_once(tmp_path: Path) -> None:
    files = {"a.py": "def ping():\n    return pong()\n\n\ndef pong():\n    return ping() or pong()\n"}
    links = [
        link("a.py::ping", "a.py::pong", 2, "same module", "certain"),
        link("a.py::pong", "a.py::ping", 6, "same module", "certain"),
        link("a.py::pong", "a.py::pong", 6, "same module", "certain"),
    ]
    with closing(make_linked_store(tmp_path / "graph.db", files, links)) as store:
        assert names(complete(store, find(store, "ping"), 50)) == ["a.py:pong"]


def test_relationships_of_other_types_are_not_followed(tmp_path: Path) -> None:
    files = {"a.py": "class A:\n    def run(self):\n        pass\n\n\nclass B(A):\n    def run(self):\n        pass\n"}
    rows: list[LinkRow] = [(RelationType.OVERRIDES.value, "a.py::B.run", "a.py::A.run", 7, None, "certain")]
    with closing(make_linked_store(tmp_path / "graph.db", files, rows)) as store:
        assert complete(store, find(store, "B.run")) == Completion()
