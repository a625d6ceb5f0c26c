from __future__ import annotations

from fakes import FakeStore
from graphs import add_files, make_store

from pkg.model import Cut, Helper, Label, Node
from pkg.retrieval.complete import complete_calls

MAIN = """\
def load(path):
    with open(path) as file:
        return parse(file.read())


def parse(text):
    def clean(line):
        return line.strip()

    return [clean(strip_all(line)) for line in text]


class Reader:
    def read(self):
        def again():
            return self.fetch()

        self.fetch()
        return fetch(again)

    @classmethod
    def fetch(cls):
        return cls.missing(os.path.join("a"), super().read())
"""

OTHER = """\
def strip_all(line):
    return shared(line)


def fetch(thing):
    return fetch(thing)


def shared(x):
    return x
"""


def make_demo() -> FakeStore:
    return make_store({"main.py": MAIN, "other.py": OTHER, "third.py": "def shared(y):\n    return len(y)\n"})


def find(store: FakeStore, qualname: str, path: str = "main.py") -> Node:
    nodes = store.find_name(qualname.rpartition(".")[2])
    return next(n for n in nodes if (n.qualname, n.path, n.label) == (qualname, path, Label.FUNCTION))


def names(helpers: list[Helper]) -> list[str]:
    return [f"{helper.path}:{helper.qualname}" for helper in helpers]


def test_a_function_of_the_same_file_is_added_with_its_reason() -> None:
    store = make_demo()

    helpers, explain = complete_calls(store, find(store, "load"), 1)

    assert names(helpers) == ["main.py:parse"]
    assert helpers[0].reason == "called at main.py:3; the only function of this name in the same file"
    assert helpers[0].content.startswith("def parse(text):")
    assert (helpers[0].start_line, helpers[0].end_line) == (6, 10)
    assert explain == []


def test_the_only_function_of_a_name_in_the_source_is_added_from_another_file() -> None:
    store = make_demo()

    helpers, _ = complete_calls(store, find(store, "parse"), 1)

    assert names(helpers) == ["other.py:strip_all"]
    assert helpers[0].reason == "called at main.py:10; the only function of this name in demo"


def test_what_the_text_contains_already_is_not_added() -> None:
    store = make_demo()

    helpers, _ = complete_calls(store, find(store, "parse"), 3)

    assert "main.py:parse.clean" not in names(helpers)


def test_a_block_gets_the_functions_nested_beside_it() -> None:
    text = "def outer(x):\n    def step(y):\n        return y\n    for each in x:\n        step(each)\n"
    store = make_store({"a.py": text, "b.py": "def step(z):\n    return z\n"})
    block = next(node for node in store.subtree(find(store, "outer", "a.py").id) if node.kind == "for")

    helpers, _ = complete_calls(store, block, 1)

    assert names(helpers) == ["a.py:outer.step"]


def test_self_and_cls_reach_methods_of_the_same_class_alone() -> None:
    store = make_demo()

    helpers, _ = complete_calls(store, find(store, "Reader.read"), 1)

    assert names(helpers) == ["main.py:Reader.fetch", "other.py:fetch"]
    assert helpers[0].reason == "called at main.py:16; the only function of this name in class Reader"


def test_a_bare_name_does_not_reach_a_method() -> None:
    store = make_store(
        {"a.py": "class A:\n    def go(self):\n        return run()\n    def run(self):\n        pass\n"}
    )

    assert complete_calls(store, find(store, "A.go", "a.py"), 1) == ([], [])


def test_unknown_names_builtins_and_foreign_attributes_are_left_alone() -> None:
    store = make_demo()

    assert complete_calls(store, find(store, "Reader.fetch"), 2) == ([], [])


def test_a_builtin_that_the_file_defines_anew_is_its_own() -> None:
    store = make_store({"a.py": "def open(path):\n    return path\n\n\ndef go():\n    return open('x')\n"})

    helpers, _ = complete_calls(store, find(store, "go", "a.py"), 1)

    assert names(helpers) == ["a.py:open"]


def test_an_ambiguous_name_is_counted_and_not_guessed() -> None:
    store = make_store({"a.py": "def go():\n    return shared()\n", "b.py": OTHER, "c.py": "def shared():\n    pass\n"})

    helpers, explain = complete_calls(store, find(store, "go", "a.py"), 1)

    assert helpers == []
    assert explain == ["shared at a.py:2 not guessed: 2 functions of this name in demo"]


def test_a_name_of_another_source_is_not_taken() -> None:
    store = make_store({"a.py": "def go():\n    return far()\n"})
    add_files(store, {"a.py": "def far():\n    pass\n"}, "elsewhere")

    assert complete_calls(store, find(store, "go", "a.py"), 1) == ([], [])


def test_a_class_of_that_name_hides_functions_elsewhere() -> None:
    text = "class shared_thing:\n    pass\n\n\ndef go():\n    return shared_thing()\n"
    store = make_store({"a.py": text, "b.py": "def shared_thing():\n    pass\n"})

    assert complete_calls(store, find(store, "go", "a.py"), 1) == ([], [])


def test_hops_go_breadth_first_and_end_where_nothing_is_new() -> None:
    store = make_demo()
    load = find(store, "load")

    depths = [names(complete_calls(store, load, hops)[0]) for hops in (0, 1, 2, 9)]

    assert depths[:3] == [[], ["main.py:parse"], ["main.py:parse", "other.py:strip_all"]]
    assert depths[3] == [*depths[2], "other.py:shared"]


def test_functions_that_call_each_other_are_added_once() -> None:
    text = "def ping():\n    return pong()\n\n\ndef pong():\n    return ping() or pong()\n"
    store = make_store({"a.py": text})

    helpers, _ = complete_calls(store, find(store, "ping", "a.py"), 50)

    assert names(helpers) == ["a.py:pong"]


def test_calls_on_lines_that_were_cut_are_left_out() -> None:
    store = make_demo()

    helpers, _ = complete_calls(store, find(store, "load"), 1, [Cut("x", "with", 2, 3, 0.1, 0.2)])

    assert helpers == []
