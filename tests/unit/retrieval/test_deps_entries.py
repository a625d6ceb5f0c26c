"""Entries into functions and classes from outside of the source's code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from trees import open_graph_at, write_tree

from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.indexing.build import build
from pkg.model import Label
from pkg.retrieval.deps.answer import Dependencies, DepsOptions, Unused
from pkg.retrieval.deps.entries import find_entries
from pkg.retrieval.deps.questions import run_deps

FILES = {
    # reading each end of the long word as a module took minutes
    "pyproject.toml": f'# {"x" * 200_000}\n[project.scripts]\nshop = "shop.start:launch"\n',
    "shop/__init__.py": "",
    "shop/start.py": "def launch():\n    pass\n\n\ndef forgotten():\n    pass\n",
    "shop/api.py": (
        "from fastapi import FastAPI\n\napp = FastAPI()\n\n\n@app.get('/items/{key}')\n"
        "async def read_item(key):\n    pass\n"
        "\n\n@app.route('/old', methods=['GET', 'POST'])\ndef old():\n    pass\n\n\n@cache.get('key')\ndef cached():\n"
        "    pass\n\n\n@app.errorhandler(404)\ndef missing(error):\n    pass\n"
    ),
    "shop/views.py": (
        "class ItemView(View):\n    def get(self, request):\n        pass\n\n\ndef index(request):\n    pass\n\n\n"
        "def detail(request):\n    pass\n"
    ),
    "shop/urls.py": (
        "from django.urls import path, re_path\n\nfrom . import views\n"
        "from .views import detail as shown\n\nurlpatterns = [\n"
        "    path('', views.index),\n    re_path(r'^item/$', login_required(shown), name='item'),\n"
        "    path('items/', view=views.ItemView.as_view()),\n]\n"
    ),
    "shop/cli.py": (
        "import click\nimport typer\n\napp = typer.Typer()\n\n\n@click.command()\ndef sell_all():\n    pass\n\n\n"
        "@app.command('buy')\ndef purchase():\n    pass\n"
    ),
    "shop/tasks.py": (
        "from celery import shared_task\n\n\n@shared_task\ndef send():\n    pass\n\n\n@app.task(name='shop.clean')\n"
        "def clean():\n    pass\n\n\n@receiver(post_save, sender=Item)\ndef saved(sender, **words):\n    pass\n"
    ),
    "shop/workers.py": (
        "import threading\n\n\nclass Worker:\n    def start(self):\n"
        "        threading.Thread(target=self.loop).start()\n\n"
        "    def loop(self):\n        pass\n"
    ),
    "tests/conftest.py": (
        "import pytest\n\n\n@pytest.fixture\ndef cart():\n    pass\n\n\ndef pytest_configure():\n    pass\n"
    ),
    "tests/test_shop.py": "def test_it():\n    pass\n\n\ndef helper():\n    pass\n",
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    write_tree(tmp_path / "code", FILES)
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(tmp_path / "code"), store)
        yield store


def ask(store: EmbeddedStore, name: str) -> Dependencies:
    answer = run_deps(store, name, DepsOptions())
    assert isinstance(answer, Dependencies)
    return answer


@pytest.mark.parametrize(
    ("name", "by"),
    [
        ("read_item", "GET /items/{key}"),
        ("old", "GET, POST /old"),
        ("missing", "error 404"),
        ("index", "URL"),
        ("detail", "URL ^item/$"),
        ("ItemView", "URL items/"),
        ("sell_all", "command sell-all"),
        ("purchase", "command buy"),
        ("send", "task send"),
        ("clean", "task shop.clean"),
        ("saved", "signal post_save"),
        ("Worker.loop", "Thread"),
        ("cart", "fixture cart"),
        ("pytest_configure", "hook of pytest"),
        ("test_it", "the test runner"),
    ],
)
def test_a_handler_has_its_entries(store: EmbeddedStore, name: str, by: str) -> None:
    assert [entry.by for entry in ask(store, name).entries] == [by]


def test_where_a_view_is_handed_on_is_its_place(store: EmbeddedStore) -> None:
    (entry,) = ask(store, "shop/views.py::index").entries
    assert (entry.path, entry.line) == ("shop/urls.py", 7)


@pytest.mark.parametrize("name", ["cached", "forgotten", "helper", "launch", "shop/api.py"])
def test_other_functions_have_no_entries(store: EmbeddedStore, name: str) -> None:
    assert ask(store, name).entries == ()


def test_all_at_once_are_found_as_one_by_one(store: EmbeddedStore) -> None:
    nodes = list(store.nodes((Label.FUNCTION, Label.CLASS), "code"))
    found = find_entries(store, "code", nodes)
    assert {key: [each] for key, each in find_entries(store, "code", nodes[:3]).items()} == {
        node.id: [found[node.id]] for node in nodes[:3] if node.id in found
    }


def test_only_unused_definitions_are_listed(store: EmbeddedStore) -> None:
    answer = run_deps(store, None, DepsOptions(question="unused"))
    assert isinstance(answer, Unused)
    assert {each.place.qualname for each in answer.found} == {"forgotten", "helper", "cached"}
    assert dict(answer.spared)["entry point of the package"] == 1


UNUSED = {
    "app/base.py": (
        "import ast\nfrom enum import Enum\nfrom typing import Protocol\n\n\nclass Closes(Protocol):\n"
        "    def close(self): ...\n\n\nclass File:\n    def close(self):\n        pass\n\n    def truncate(self):\n"
        "        pass\n\n\nclass Finder(ast.NodeVisitor):\n    def visit_Name(self, node):\n        pass\n\n\n"
        "class Color(Enum):\n    def shade(self):\n        pass\n\n\nclass Fault(Exception):\n    def describe(self):\n"
        "        pass\n"
    ),
    "app/writer.py": (
        "from app.base import Color, Fault, File, Finder\n\n__all__ = ['offered']\n\n\ndef offered():\n    pass\n\n\n"
        "class Writer:\n    def run(self, target, kind):\n        getattr(target, 'write_' + kind)()\n\n"
        "    def write_text(self):\n"
        "        pass\n\n    def __len__(self):\n        return 1\n\n    def lonely(self):\n        pass\n\n\n"
        "def make():\n    def inner():\n        pass\n\n    return inner\n\n\ndef hook():\n    pass\n\n\n"
        "TABLE = {'hook': hook, 'all': (Writer().run, make(), File, Finder, Color, Fault)}\n"
    ),
}


def test_python_libraries_protocols_and_names_count_as_uses(tmp_path: Path) -> None:
    write_tree(tmp_path / "app", UNUSED)
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(tmp_path / "app"), store)
        answer = run_deps(store, None, DepsOptions(question="unused", doubtful=True))
    assert isinstance(answer, Unused)
    found = {each.place.qualname: each.doubts for each in answer.found}
    assert [name for name, _ in list(found.items())[: answer.total]] == [
        "File.truncate", "Color.shade", "Fault.describe", "Writer.lonely",
    ]  # fmt: skip
    reasons = {name: doubts[0].partition(":")[0] for name, doubts in list(found.items())[answer.total :]}
    assert reasons["File.close"] == "part of a protocol"
    assert reasons["Finder.visit_Name"] == "called by a base outside of the source"
    assert reasons["Writer.write_text"] == "perhaps used by a composed name"
    assert reasons["Writer.__len__"] == "called by Python itself"
    assert reasons["offered"] == "exported"
    assert reasons["hook"] == "perhaps used by its name"
