"""Rows of a corpus have no links: their calls are bound by name if it is unambiguous."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from linked import encoder
from trees import open_graph_at, write_rows

from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.indexing.build import build
from pkg.model import Label, Node
from pkg.retrieval.context import Excerpt
from pkg.retrieval.helpers import Completer, Completion

MAIN = """\
import os
from math import sqrt


def load(path):
    with open(path) as file:
        return parse(sqrt(file.read()))


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

    def fetch(self):
        return self.missing(os.path.join("a"), super().read())


def many(again):
    return shared(nowhere(again()))


def open_reader():
    return Reader()
"""
OTHER = """\
def strip_all(line):
    return shared(line)


def fetch(thing):
    return fetch(thing)


def shared(x):
    return x
"""
THIRD = """\
def sqrt(x):
    return x


def shared(y):
    return len(y)


class Box:
    def strip_all(self):
        pass
"""


@pytest.fixture(name="store")
def corpus(tmp_path: Path) -> Iterator[EmbeddedStore]:
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(write_rows(tmp_path / "rows.jsonl", MAIN, OTHER, THIRD)), store)
        yield store


def find(store: EmbeddedStore, qualname: str) -> Node:
    nodes = store.find_name(qualname.rpartition(".")[2])
    return next(node for node in nodes if node.qualname == qualname and node.label is Label.FUNCTION)


def complete(store: EmbeddedStore, qualname: str, hops: int = 1) -> Completion:
    (found,) = Completer(store, encoder(), hops).complete([Excerpt(find(store, qualname))])
    return found


def names(found: Completion) -> list[str]:
    return [helper.qualname for helper in found.helpers]


def test_a_function_of_the_same_row_is_added_with_its_reason(store: EmbeddedStore) -> None:
    found = complete(store, "load")

    assert names(found) == ["parse"]
    assert found.helpers[0].reason == "called at row-0000000:7; the only function of this name in the same row"
    assert (found.bound, found.possible, found.unbound) == (1, 0, 0)


def test_the_only_function_of_a_name_in_the_corpus_is_added_from_another_row(store: EmbeddedStore) -> None:
    (helper,) = complete(store, "parse").helpers

    assert (helper.path, helper.qualname) == ("row-0000001", "strip_all")
    assert helper.reason == "called at row-0000000:14; the only function of this name in rows"


def test_self_reaches_methods_of_the_class_and_a_bare_name_does_not(store: EmbeddedStore) -> None:
    found = complete(store, "Reader.read")

    assert names(found) == ["Reader.fetch", "fetch"]
    assert found.helpers[0].reason == "called at row-0000000:20; the only function of this name in class Reader"


def test_an_ambiguous_name_is_counted_and_not_guessed(store: EmbeddedStore) -> None:
    found = complete(store, "many")

    assert found.helpers == ()
    assert found.explain == ("shared at row-0000000:30 not guessed: 2 functions of this name in rows",)
    assert (found.bound, found.possible, found.unbound) == (0, 1, 1)  # nowhere; again is a parameter


def test_classes_foreign_attributes_and_builtins_are_left_alone(store: EmbeddedStore) -> None:
    assert names(complete(store, "open_reader")) == []
    assert names(complete(store, "Reader.fetch", 2)) == []


def test_hops_go_on_by_name(store: EmbeddedStore) -> None:
    assert names(complete(store, "load", 2)) == ["parse", "strip_all"]
