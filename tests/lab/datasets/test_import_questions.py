"""Answers about imports are true: they are checked against Python's own parser."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from trees import open_graph_at, write_tree

import pkg.indexing
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.indexing.build import build
from pkg.lab.datasets.dataset_rows import Row, StepCounts, drop_duplicates
from pkg.lab.datasets.import_questions import INVENTED, KINDS, read_importing_files, write_questions

REAL = Path(pkg.indexing.__file__).parent
SHOP = {
    "shop/__init__.py": "from .cart import Cart\nfrom .prices import *\n",
    "shop/cart.py": "import os.path\nfrom .compat import urlparse, urljoin, Missing\n"
    "from .prices import find_price as price, RATE\n\n\n"
    "class Cart:\n    pass\n",
    "shop/prices.py": "import json\n\nRATE = 2\n\n\ndef find_price(item):\n    return json.loads(item)\n",
    "shop/compat.py": "try:\n    from urlparse import urlparse\nexcept ImportError:\n"
    "    from urllib.parse import urlparse\nfrom urllib.parse import urljoin\n",
    "shop/lost.py": "from . import nothing\nfrom .gone import away\n",
    "main.py": "import shop\nfrom shop import Cart\n",
    "alone.py": "x = 1\n",
}


def ask(store: EmbeddedStore, seed: int = 0) -> tuple[list[Row], StepCounts]:
    counts = StepCounts("dependencies")
    files = read_importing_files(store, None)
    return list(drop_duplicates(write_questions(files, seed, counts), counts)), counts


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[EmbeddedStore]:
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(write_tree(tmp_path / "shop-1.0", SHOP)), store)
        yield store


def answer(rows: list[Row], path: str, kind: str) -> str:
    (found,) = (row["answer"] for row in rows if (row["path"], row["kind"]) == (path, kind))
    return str(found)


def test_each_importing_file_has_a_question_of_each_kind_that_names_it(shop: EmbeddedStore) -> None:
    rows, counts = ask(shop)
    files = {path for path in SHOP if path != "alone.py"}
    assert {row["path"] for row in rows} == files
    assert set(Counter(row["kind"] for row in rows)) == set(KINDS)
    assert all(f"`{row['path']}`" in row["question"] for row in rows)
    assert (counts.taken, counts.written) == (len(files), len(rows))
    assert len(rows) + counts.dropped.total() == len(KINDS) * len(files)


def test_answers_match_the_import_statements(shop: EmbeddedStore) -> None:
    rows, _ = ask(shop)
    assert answer(rows, "shop/cart.py", "table").splitlines() == [
        "`shop/cart.py` imports:",
        "- the library `os`, by `import os.path` (import in line 1)",
        "- `Missing` of this repository, from `shop/compat.py` (import in line 2)",
        "- `urljoin` of this repository, from `shop/compat.py` (import in line 2)",
        "- the variable `urlparse` of this repository, from `shop/compat.py` (import in line 2)",
        "- the variable `RATE` of this repository, from `shop/prices.py` (import in line 3)",
        "- the function `find_price` of this repository, which is defined in `shop/prices.py` (import in line 3)",
    ]
    assert answer(rows, "shop/cart.py", "libraries") == "`shop/cart.py` imports `os`."
    assert answer(rows, "shop/cart.py", "files") == (
        "What `shop/cart.py` imports of this repository comes from `shop/compat.py`, `shop/prices.py`."
    )
    assert answer(rows, "main.py", "libraries") == "None: `main.py` imports files of this repository alone."
    assert answer(rows, "shop/prices.py", "files") == "From none: `shop/prices.py` imports libraries alone."
    assert "was not found" in answer(rows, "shop/lost.py", "table")


def test_both_branches_of_a_try_are_in_the_answer(shop: EmbeddedStore) -> None:
    told = next(
        answer(rows, "shop/compat.py", "row")
        for rows in (ask(shop, seed)[0] for seed in range(50))
        if "`urlparse`" in answer(rows, "shop/compat.py", "row")
    )
    assert "`urlparse` from the library `urlparse` (import in line 2)" in told
    assert "`urlparse` from the library `urllib` (import in line 4)" in told


def test_a_question_answered_no_is_not_about_an_indirect_import(shop: EmbeddedStore) -> None:
    questions = {
        (row["path"], row["question"]) for seed in range(20) for row in ask(shop, seed)[0] if row["kind"] == "no"
    }
    asked = {(path, re.findall(r"`([^`]+)`", question)[1]) for path, question in questions}
    assert ("shop/cart.py", "urllib") not in asked  # compat re-exports it
    assert not {name for path, name in asked if path in ("main.py", "shop/__init__.py") and name.endswith(".py")}
    assert ("shop/prices.py", "shop/cart.py") in asked


def test_the_same_seed_gives_the_same_rows(shop: EmbeddedStore) -> None:
    assert ask(shop, 3) == ask(shop, 3)
    assert ask(shop, 3)[0] != ask(shop, 4)[0]


class Statements:
    """Imports of a file as found by Python's parser: names by line, and the libraries and files of absolute ones."""

    def __init__(self, path: Path) -> None:
        self.names: dict[int, list[str]] = {}
        self.tops: set[str] = set()
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                self.names.setdefault(node.lineno, []).extend(each.name for each in node.names)
            if isinstance(node, ast.Import):
                self.tops.update(each.name.partition(".")[0] for each in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                self.tops.add(str(node.module).partition(".")[0])


def test_on_a_real_repository_answers_match_the_files(tmp_path: Path) -> None:
    """Use a part of this project as the repository."""
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(REAL), store)
        rows, _ = ask(store)
    assert len(rows) > 100
    statements = {path: Statements(REAL / path) for path in {row["path"] for row in rows}}
    for row in rows:
        found = statements[row["path"]]
        assert set(row["lines"]) <= set(found.names)
        quoted = re.findall(r"`([^`]+)`", row["answer"])
        if row["kind"] == "libraries":
            libraries = set(quoted) - {row["path"]}
            assert libraries <= found.tops
            assert {each for each in found.tops - libraries if each != "pkg"} == set(), row
        elif row["kind"] == "table":
            assert row["answer"].count("\n- ") == len({(line, n) for line, names in found.names.items() for n in names})
        elif row["kind"] == "category":
            assert set(quoted) - {row["path"]} <= {name for names in found.names.values() for name in names}
        elif row["kind"] == "absent":
            assert set(re.findall(r"`([^`]+)`", row["question"])) & set(INVENTED)
