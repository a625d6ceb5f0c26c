"""Facts of documents are a tree of nodes with the code in them, found by vector and by words."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from contract.units import FILES, encode, encoder, find_id, prepare, put

from pkg.extract.documents.reading import Reading
from pkg.graph.store import GraphStore
from pkg.indexing.inputs import LoadedUnit, hash_text
from pkg.indexing.prepare import Preparer
from pkg.model import HEADINGS, Label, NodeFilter, RelationType
from pkg.terms.term_weights import weigh_terms
from pkg.units import UnitGraph

GUIDE = """# Guide

Read the settings of a folder.

## Retries

- **times**: how often a request is sent again
- how long it waits

```python
def retry(times):
    for _ in range(times):
        yield
```

## Retries

| key | value |
| --- | --- |
| wait | seconds |
"""
TEXTS = {"docs/guide.md": GUIDE, "docs/other.md": "# Other\n\nNothing of that.\n"}


def read_documents(texts: Mapping[str, str]) -> list[UnitGraph]:
    loaded = [
        LoadedUnit(
            path, f"seen-{hash_text(text.encode())}", Label.FILE, hash_text(text.encode()), text.encode(),
            reading=Reading("markdown"),
        )
        for path, text in texts.items()
    ]  # fmt: skip
    return Preparer("demo", encoder()).prepare(loaded)[0]


@pytest.fixture
def taught(store: GraphStore) -> GraphStore:
    store.ensure_schema(encoder().name, encoder().dimension)
    with store.write() as writer:
        put(writer, "demo", [*prepare("demo", FILES), *read_documents(TEXTS)])
    return store


def test_a_fact_has_its_keys_its_kind_and_the_text_at_its_place(taught: GraphStore) -> None:
    facts = sorted(taught.nodes([Label.FACT]), key=lambda each: (each.path, each.start, -each.end))
    assert [(each.qualname, each.kind) for each in facts if each.path == "docs/guide.md"] == [
        ("Guide", "section"),
        ("Guide > text", "text"),
        ("Guide > Retries", "section"),
        ("Guide > Retries > times", "item"),
        ("Guide > Retries > [1]", "item"),
        ("Guide > Retries > code", "code"),
        ("Guide > Retries (2)", "section"),
        ("Guide > Retries (2) > table", "table"),
        ("Guide > Retries (2) > table > wait", "row"),
    ]
    for each in facts:
        assert each.content == TEXTS[each.path].encode()[each.start : each.end].decode()
        assert TEXTS[each.path].encode()[: each.start].count(b"\n") + 1 == each.start_line
    assert {each.properties.get("language") for each in facts} == {None, "python"}


def test_facts_are_children_of_facts_and_contain_the_code_in_them(taught: GraphStore) -> None:
    facts = {each.qualname: each.id for each in taught.nodes([Label.FACT])}
    below = {
        (edge.type, edge.end)
        for edge in taught.neighbours(list(facts.values()), direction="out")
        if edge.end in facts.values()
    }
    assert below == {(RelationType.CHILD, each) for name, each in facts.items() if HEADINGS in name}
    (function,) = [each for each in taught.find_name("retry") if each.label is Label.FUNCTION]
    assert function.content == "def retry(times):\n    for _ in range(times):\n        yield"
    around = taught.neighbours([function.id], [RelationType.CONTAINS], "in")
    assert [edge.start for edge in around] == [facts["Guide > Retries > code"]]
    file = find_id(taught, Label.FILE, "docs/guide.md")
    tops = taught.neighbours([file], [RelationType.CONTAINS], "out")
    assert [(edge.end, edge.line) for edge in tops] == [(facts["Guide"], 1)]
    stats = taught.stats()
    assert (stats.nodes["Fact"], stats.fact_relations) == (10, 8)


def test_facts_are_found_by_vector_and_by_words(taught: GraphStore) -> None:
    vector = encode("docs/guide Guide > Retries > [1]\nhow long it waits")
    found = taught.vector_search(Label.FACT, vector, 3)
    assert (found.searched, taught.get([found.matches[0].id])[0].content) == (10, "how long it waits")
    assert found.matches[0].score == pytest.approx(1, abs=0.01)
    only = taught.vector_search(Label.FACT, vector, 3, NodeFilter(paths=("docs/other.md",)))
    assert {each.path for each in taught.get([match.id for match in only.matches])} == {"docs/other.md"}
    lexical = taught.text_search(Label.FACT, weigh_terms("request sent again"), 3)
    assert taught.get([lexical.matches[0].id])[0].name == "times"


def test_a_changed_heading_rewrites_its_document_alone(taught: GraphStore) -> None:
    before = {each.id for each in taught.nodes([Label.FACT]) if each.path == "docs/other.md"}
    with taught.write() as writer:
        for unit in read_documents({"docs/guide.md": GUIDE.replace("# Guide", "# Manual", 1)}):
            writer.replace_file(unit)
    after = {each.qualname.partition(HEADINGS)[0] for each in taught.nodes([Label.FACT])}
    assert after == {"Manual", "Other"}
    assert {each.id for each in taught.nodes([Label.FACT]) if each.path == "docs/other.md"} == before
    with taught.write() as writer:
        writer.delete_file("demo", "docs/guide.md")
    assert {each.path for each in taught.nodes([Label.FACT])} == {"docs/other.md"}
    assert taught.check() == []
