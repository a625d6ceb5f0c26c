"""A file that changed is resolved again; files that were worked out from it are where that has changed for them."""

from __future__ import annotations

import random

import pytest
from unit.resolve.test_changes import SHOP, Tree, put_at_random

LEDGER = """import os
from prices import Price, total


def same(function):
    return function


@same
def first(price):
    return os.path.join("a", "b")


class Ledger:
    def __init__(self):
        self.entries = []

    def add(self, price):
        self.entries.append(price)
        return self

    def sum(self):
        def one(price: Price):
            return price.net()

        return [one(each) for each in self.entries]

    def show(self):
        print(self.missing(), unknown())
        return total(self.sum())


def run():
    Ledger().add(Price()).show()
    return first(Price())
"""
HOOKS = """

HOOKS = []
BY_NAME = lambda price: price.net()


def same(hook):
    HOOKS.append(hook)


def call():
    for hook in HOOKS:
        hook(Price())
    register(first)
    return BY_NAME(Price())
"""
READER = "from ledger import Ledger\n\n\ndef read():\n    return Ledger().add(None).sum()\n"
TEXTS = SHOP | {"ledger.py": LEDGER, "reader.py": READER}


def change_ledger(old: str, new: str) -> Tree:
    """Change one text of the file, and compare all links with those of a build from nothing."""
    assert old in LEDGER
    tree = Tree(TEXTS)
    tree.change(TEXTS | {"ledger.py": LEDGER.replace(old, new)})
    assert tree.links == Tree(tree.texts).links
    return tree


def append(text: str) -> tuple[str, str]:
    return "\n\ndef run", f"\n\n{text}\n\n\ndef run"


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(("print(self", "size = 1\n        print(self"), id="a statement"),
        pytest.param(("        print(self.missing(), unknown())\n", ""), id="a statement less"),
        pytest.param(("unknown()", "self.sum()"), id="another call"),
        pytest.param(("return [one(each)", "return [len(each)"), id="a result that nobody asks for"),
        pytest.param(append("def more():\n    pass"), id="a function more"),
        pytest.param(append("class More:\n    def more(self):\n        pass"), id="a class more"),
        pytest.param(("    def show", "    def more(self):\n        pass\n\n    def show"), id="a method"),
        pytest.param(append("@os.same\ndef more():\n    pass"), id="a function with a decorator"),
        pytest.param(append("import json"), id="an import"),
        pytest.param(("        return self\n", "        return self  # for chains\n"), id="a comment"),
        pytest.param(("def same(function):", 'def same(function):\n    """Give it back."""'), id="a docstring"),
    ],
)
def test_a_file_is_resolved_alone_where_others_took_nothing_from_what_changed(edit: tuple[str, str]) -> None:
    tree = change_ledger(*edit)
    assert tree.resolved == {"ledger.py"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("self.entries.append(price)\n        return self", "return self", id="what another is handed"),
        pytest.param("        return self\n", "        return None\n", id="a result that others ask for"),
        pytest.param("        self.entries = []", "        self.entries = [self]", id="what an attribute holds"),
        pytest.param("def add(self, price)", "def add(self, *price)", id="a head"),
        pytest.param("return function", "return None", id="what a decorator gives"),
        pytest.param("Price, total", "Price, total as whole", id="a name that is gone"),
        pytest.param(
            "    def show", "    def missing(self):\n        pass\n\n    def show", id="a name that was missing"
        ),
        pytest.param(
            "price):\n    return os", "price):\n    global total\n    total = 1\n    return os", id="a global name"
        ),
        pytest.param('"b")', '"b") or same(total)', id="something handed elsewhere"),
    ],
)
def test_functions_that_are_worked_out_from_what_changed_come_out_anew(old: str, new: str) -> None:
    assert "ledger.py" in change_ledger(old, new).resolved


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("HOOKS = []", "HOOKS = [Price]", id="what a container of the module holds"),
        pytest.param("HOOKS = []", "OTHERS = {}\nHOOKS = []", id="where it stands"),
        pytest.param("HOOKS.append(hook)", "HOOKS.append(Price)", id="what is put into it"),
        pytest.param("register(first)", "register(total)", id="what is handed on to it"),
        pytest.param("BY_NAME =", "BY_PRICE = lambda price: price\nBY_NAME =", id="another lambda before"),
        pytest.param("import os\n", "import os\n\n\ndef more():\n    pass\n\n\n", id="a function before"),
    ],
)
def test_containers_and_lambdas_of_the_module_are_known_again(old: str, new: str) -> None:
    assert old in LEDGER + HOOKS
    tree = Tree(TEXTS | {"ledger.py": LEDGER + HOOKS})
    tree.change(tree.texts | {"ledger.py": (LEDGER + HOOKS).replace(old, new)})
    assert tree.links == Tree(tree.texts).links
    tree.change(tree.texts | {"ledger.py": tree.texts["ledger.py"].replace("register(first)", "register(os.getcwd)")})
    assert tree.links == Tree(tree.texts).links


def test_a_comment_before_a_container_that_others_fill_moves_it() -> None:
    shelf = "def fill(shelf):\n    shelf.append(Book())\n\n\nclass Book:\n    def read(self):\n        pass\n"
    read = (
        "from shelf import fill\n\n\ndef show():\n    books = []\n    fill(books)\n"
        "    for book in books:\n        book.read()\n"
    )
    tree = Tree(SHOP | {"shelf.py": shelf, "read.py": read})
    tree.change(tree.texts | {"read.py": read.replace("    books = []", "    # all of them\n    books = []")})
    assert tree.links == Tree(tree.texts).links
    assert [edge.rule for edge in tree.links["read.py"].edges if edge.line == 9] == ["constructed object"]


@pytest.mark.parametrize("old", ["pytestmark = pytest", "    pytestmark = pytest"])
def test_marks_of_a_file_or_class_count_for_its_tests(old: str) -> None:
    text = (
        "import pytest\n\npytestmark = pytest.mark.usefixtures('one')\n\n\n@pytest.fixture\ndef one():\n    pass\n\n\n"
        "class TestTwo:\n    pytestmark = pytest.mark.usefixtures('one')\n\n    def test_two(self):\n        pass\n"
    )
    tree = Tree(SHOP | {"test_marks.py": text})
    tree.change(tree.texts | {"test_marks.py": text.replace(f"\n{old}", f"\n{old.replace('pytestmark', 'marks')}")})
    assert tree.links == Tree(tree.texts).links


def test_a_new_name_of_a_class_counts_for_the_code_of_the_class() -> None:
    thing = "class Thing:\n    action = plain\n\n    def work(self):\n        self.action()\n"
    tree = Tree(SHOP | {"thing.py": f"def plain(self):\n    pass\n\n\n{thing}"})
    text = tree.texts["thing.py"].replace("Thing:\n", "Thing:\n    def plain(self):\n        pass\n\n")
    tree.change(tree.texts | {"thing.py": text})
    assert tree.links == Tree(tree.texts).links


def test_only_files_are_read_that_a_changed_file_speaks_of() -> None:
    tree = change_ledger("    def sum", "    def more(self):\n        return self\n\n    def sum")
    assert tree.read == {"ledger.py", "prices.py"}


def test_links_move_with_their_functions() -> None:
    tree = Tree(TEXTS)
    before = tree.links["ledger.py"]
    tree.change(TEXTS | {"ledger.py": LEDGER.replace("\n\ndef same", "\n\ndef more():\n    pass\n\n\ndef same")})
    after = tree.links["ledger.py"]
    assert [edge._replace(line=edge.line and edge.line + 4) for edge in before.edges] == list(after.edges)
    assert [each._replace(line=each.line + 4) for each in before.unbound] == list(after.unbound)


def test_a_function_that_changes_again_and_again_is_that_of_a_build_from_nothing() -> None:
    source, tree = random.Random(7), Tree(TEXTS)
    for _ in range(12):
        statement = source.choice(("total([])", "Ledger().show()", "self = Price()", "first(1)"))
        tree.change(tree.texts | {"ledger.py": put_at_random(tree.texts["ledger.py"], statement, source)})
        assert tree.links == Tree(tree.texts).links
