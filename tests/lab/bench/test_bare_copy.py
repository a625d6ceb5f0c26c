"""The bare copy has the code without the docstrings."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import pkg.sandbox
from pkg.extract.python import extract_unit
from pkg.graph.opening import open_store
from pkg.indexing.build import build
from pkg.lab.bench.bare_copy import BareCopy, copy_bare, draw_files, strip_docstrings

REAL = Path(pkg.sandbox.__file__).parent


def strip(code: str) -> str:
    return strip_docstrings(extract_unit(code.encode(), with_summary=False)).decode()


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BareCopy]:
    """Copy the sandbox of this package."""
    folder = tmp_path_factory.mktemp("bare")
    with closing(open_store(f"sqlite:///{folder / 'graph.db'}", create=True)) as store:
        build(str(REAL), store)
        (source,) = store.sources()
        yield copy_bare(store, source, folder / "copy")


def list_definitions(path: Path) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node


def test_all_docstrings_are_removed_and_all_definitions_kept(copied: BareCopy) -> None:
    files = sorted(path.relative_to(REAL) for path in REAL.rglob("*.py"))
    assert sorted(path.relative_to(copied.root) for path in copied.root.rglob("*.py")) == files
    for path in files:
        old, new = (list(list_definitions(root / path)) for root in (REAL, copied.root))
        assert [each.name for each in new] == [each.name for each in old]
        assert [each.name for each in new if ast.get_docstring(each)] == []


def test_no_file_has_a_question_and_each_function_is_in_its_file(copied: BareCopy) -> None:
    texts = {path: (copied.root / path).read_text(encoding="utf-8") for path in copied.functions}
    assert len(copied.documented) > 100
    for each in copied.documented:
        assert f"def {each.qualname.rpartition('.')[2]}(" in texts[each.path]
    whole = " ".join(" ".join(text.split()) for text in texts.values())
    said = [each.place for each in copied.documented if len(each.summary.split()) > 4 and each.summary in whole]
    assert said == []


def test_the_copy_has_the_name_of_the_package(copied: BareCopy) -> None:
    assert copied.root.parts[-2:] == ("pkg", "sandbox")
    assert (copied.root.parent / "__init__.py").exists()


def test_files_are_drawn_by_the_seed_up_to_the_number_of_functions(copied: BareCopy, tmp_path: Path) -> None:
    (drawn,) = draw_files([copied], 60, 1, tmp_path / "a")
    (again,) = draw_files([copied], 60, 1, tmp_path / "b")
    assert 50 <= sum(drawn.functions.values()) <= 60
    assert drawn.functions == again.functions
    assert {each.path for each in drawn.documented} <= set(drawn.functions)
    assert all((drawn.root / path).read_bytes() == (copied.root / path).read_bytes() for path in drawn.functions)


@pytest.mark.parametrize(
    ("code", "bare"),
    [
        pytest.param('def f():\n    """Say."""\n    return 1\n', "def f():\n    return 1\n", id="on its own lines"),
        pytest.param('def f():\n    """Say."""\n', "def f():\n    pass\n", id="all of the body"),
        pytest.param('def f():\n    """Say."""\n    # no\n', "def f():\n    pass\n    # no\n", id="with a comment"),
        pytest.param('def f(): """Say."""; return 1\n', "def f(): pass; return 1\n", id="on the line of the header"),
        pytest.param('class A:\n    """Say."""\n    x = 1\n', "class A:\n    x = 1\n", id="of a class"),
        pytest.param(
            'def f():\n    """Say."""\n    def g():\n        "Tell."\n    return g\n',
            "def f():\n    def g():\n        pass\n    return g\n", id="one inside of another",
        ),
        pytest.param('def f():\n    return """Say."""\n', 'def f():\n    return """Say."""\n', id="a value"),
    ],
)  # fmt: skip
def test_code_without_docstrings_is_valid(code: str, bare: str) -> None:
    assert strip(code) == bare
    ast.parse(bare)


def test_rows_of_a_corpus_become_files_of_their_functions(tmp_path: Path) -> None:
    code = 'import os\\n\\ndef add(a, b):\\n    \\"\\"\\"Add two numbers.\\"\\"\\"\\n    return a + b\\n'
    (tmp_path / "rows.jsonl").write_text(f'{{"id": "x/1", "output": "{code}"}}\n', encoding="utf-8")
    with closing(open_store(f"sqlite:///{tmp_path / 'graph.db'}", create=True)) as store:
        build(str(tmp_path / "rows.jsonl"), store)
        (source,) = store.sources()
        copy = copy_bare(store, source, tmp_path / "copy")
    ((path, count),) = copy.functions.items()
    assert count == 1
    assert (copy.root / path).read_text(encoding="utf-8").strip() == "def add(a, b):\n    return a + b"
    assert [(each.place, each.summary) for each in copy.documented] == [(f"{path}::add", "Add two numbers.")]
