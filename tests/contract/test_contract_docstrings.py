"""Generated docstrings are set and removed; code, ids and links are kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from contract.units import FILES, READER, encoder, fill, find_id, prepare, put, put_edges

from pkg.enhance.enhancement import EnhanceOptions, enhance
from pkg.enhance.writer import open_writer
from pkg.errors import StoreError
from pkg.graph.store import GraphStore
from pkg.indexing.generated_storage import list_changes, remove_generated
from pkg.indexing.inputs import LoadedUnit, hash_text
from pkg.indexing.prepare import Preparer
from pkg.indexing.written_docstrings import GeneratedTexts
from pkg.model import Docstring, Edge, Generated, Label, Questions, RelationType, Source
from pkg.terms.term_weights import weigh_terms
from pkg.units import GeneratedChange, UnitGraph

WRITTEN = Docstring("Look for configuration\n\nin a folder.", "fim", "gguf:coder", "hole/1", "2026-01-31")
ASKED = Questions(("Where are settings read?", "How is a folder found?"), "gguf:coder", "questions/1", "2026-01-31")
ROWS = {"row-1": "def take(item):\n    return item\n", "row-2": "x = 1\n\n\ndef take(item):\n    return item\n"}


def export(store: GraphStore) -> list[dict[str, Any]]:
    return list(store.export(vectors=True))


def line_of(store: GraphStore, name: str) -> dict[str, Any]:
    (line,) = (line for line in store.export() if line.get("label") == "Function" and line["name"] == name)
    return line


def change(store: GraphStore, docstrings: GeneratedTexts, *hashes: int) -> None:
    """Set or remove the texts of functions by content hash."""
    ids = [node.id for node in store.nodes([Label.FUNCTION], "demo") if int(node.content_hash, 16) in hashes]
    with store.write() as writer:
        writer.put_generated("demo", list_changes(store.fragments(ids), docstrings, hashes, hashes, encoder()))


def document(store: GraphStore, name: str, docstring: Docstring | None = WRITTEN) -> None:
    """Set or remove the only generated docstring."""
    hashed = int(line_of(store, name)["content_hash"], 16)
    change(store, {hashed: Generated(docstring)} if docstring else {}, hashed)


def prepare_with(texts: dict[str, str], docstrings: GeneratedTexts, label: Label = Label.FILE) -> list[UnitGraph]:
    """Prepare files or rows like a build with known docstrings."""
    loaded = [
        LoadedUnit(path, f"seen-{hash_text(text.encode())}", label, hash_text(text.encode()), text.encode())
        for path, text in texts.items()
    ]
    return Preparer("demo", encoder(), docstrings).prepare(loaded)[0]


def test_a_generated_docstring_has_its_origin_and_keeps_the_code(store: GraphStore) -> None:
    fill(store, FILES)
    before = line_of(store, "find_settings")
    document(store, "find_settings")
    assert line_of(store, "find_settings") == before | {
        "docstring": WRITTEN.text,
        "docstring_source": "fim",
        "docstring_model": "gguf:coder",
        "docstring_prompt": "hole/1",
        "docstring_date": "2026-01-31",
    }
    node = store.get([find_id(store, Label.FUNCTION, "find_settings")])[0]
    assert node.properties["docstring"] == WRITTEN.text
    assert store.generation() == 2
    assert store.check() == []


def test_a_store_lists_the_docstrings_of_a_source(store: GraphStore) -> None:
    fill(store, FILES)
    fill(store, {"other.py": "def find():\n    return 1\n"}, "other")
    assert list(store.generated_texts("demo")) == []
    document(store, "find_settings")
    hashed = int(line_of(store, "find_settings")["content_hash"], 16)
    assert list(store.generated_texts("demo")) == [(hashed, Generated(WRITTEN))]
    assert list(store.generated_texts("other")) == list(store.generated_texts("unknown")) == []


def test_the_written_graph_equals_that_of_a_build(store: GraphStore) -> None:
    fill(store, FILES)
    hashed = int(line_of(store, "find_settings")["content_hash"], 16)
    document(store, "find_settings")
    written = export(store)
    with store.write() as writer:
        for unit in prepare_with(FILES, {hashed: Generated(WRITTEN)}):
            writer.replace_file(unit)
    assert export(store) == written


def test_questions_are_stored_beside_docstrings_and_removed_apart(store: GraphStore) -> None:
    fill(store, FILES)
    before, own = export(store), line_of(store, "read")
    hashes = [int(line_of(store, name)["content_hash"], 16) for name in ("find_settings", "read")]
    both = {
        hashes[0]: Generated(WRITTEN, ASKED),
        hashes[1]: Generated(None, ASKED),
    }
    change(store, both, *hashes)
    assert dict(store.generated_texts("demo")) == both
    assert line_of(store, "read") == own | {
        "questions": list(ASKED.texts),
        "questions_model": "gguf:coder",
        "questions_prompt": "questions/1",
        "questions_date": "2026-01-31",
    }
    assert store.check() == []
    written = export(store)
    with store.write() as writer:
        for unit in prepare_with(FILES, both):
            writer.replace_file(unit)
    assert export(store) == written
    document(store, "find_settings")
    assert dict(store.generated_texts("demo")) == {hashes[0]: Generated(WRITTEN), hashes[1]: Generated(None, ASKED)}
    change(store, {}, *hashes)
    assert export(store) == before


def test_a_function_is_found_by_the_words_of_its_questions(store: GraphStore) -> None:
    fill(store, FILES)
    terms, query = weigh_terms("configuration"), encoder().encode_query("configuration")
    wanted = find_id(store, Label.FUNCTION, "find_settings")
    assert store.text_search(Label.FUNCTION, terms, 5).matches == ()
    assert not store.outlines([wanted], query)[wanted].has_questions
    hashed = int(line_of(store, "find_settings")["content_hash"], 16)
    asked = replace(ASKED, texts=("Where is the configuration looked up?",))
    change(store, {hashed: Generated(None, asked)}, hashed)
    assert [match.id for match in store.text_search(Label.FUNCTION, terms, 5).matches] == [wanted]
    assert store.outlines([wanted], query)[wanted].has_questions
    asked_words = store.text_search(Label.FUNCTION, terms, 5).matches[0].score
    change(store, {hashed: Generated(replace(WRITTEN, text=asked.texts[0]))}, hashed)
    assert store.text_search(Label.FUNCTION, terms, 5).matches[0].score > asked_words  # a docstring counts more


def test_a_removed_docstring_restores_the_graph(store: GraphStore) -> None:
    fill(store, FILES)
    before = export(store)
    document(store, "find_settings")
    assert export(store) != before
    document(store, "find_settings", None)
    assert export(store) == before
    assert store.check() == []


def test_a_generated_docstring_is_found_by_terms_and_by_vector(store: GraphStore) -> None:
    fill(store, FILES)
    terms = weigh_terms("configuration")
    assert store.text_search(Label.FUNCTION, terms, 5).matches == ()
    query = encoder().encode_query("look for configuration in a folder")
    before = {match.id: match.score for match in store.vector_search(Label.FUNCTION, query, 9).matches}
    document(store, "find_settings")
    wanted = find_id(store, Label.FUNCTION, "find_settings")
    assert [match.id for match in store.text_search(Label.FUNCTION, terms, 5).matches] == [wanted]
    after = {match.id: match.score for match in store.vector_search(Label.FUNCTION, query, 9).matches}
    assert after[wanted] > before[wanted] + 0.05
    assert {each: score for each, score in after.items() if each != wanted} == {
        each: score for each, score in before.items() if each != wanted
    }


def test_links_of_a_function_stay_when_it_gets_a_docstring(store: GraphStore) -> None:
    fill(store, FILES)
    start, end = (find_id(store, Label.FUNCTION, name) for name in ("find_settings", "read"))
    put_edges(store, "pack/reader.py", Edge(RelationType.CALLS, start, end, 16, "type", "likely"))
    edges = store.neighbours([start])
    document(store, "find_settings")
    assert store.neighbours([start]) == edges


def test_an_unchanged_docstring_makes_no_generation(store: GraphStore) -> None:
    fill(store, FILES)
    document(store, "find_settings")
    document(store, "find_settings")
    assert store.generation() == 2


def test_a_docstring_of_a_row_is_written_once_for_all_rows_that_hold_it(store: GraphStore) -> None:
    fill(store, ROWS, label=Label.ROW)
    before = export(store)
    document(store, "take")
    written = export(store)
    assert [line["docstring"] for line in written if line.get("label") == "Function"] == [WRITTEN.text]
    hashed = int(line_of(store, "take")["content_hash"], 16)
    with store.write() as writer:
        writer.delete_source("demo")
    with store.write() as writer:
        put(writer, "demo", prepare_with(ROWS, {hashed: Generated(WRITTEN)}, Label.ROW))
    assert export(store) == written
    document(store, "take", None)
    assert export(store) == before


def test_a_docstring_in_the_code_is_never_overwritten(store: GraphStore) -> None:
    fill(store, FILES)
    node = store.get([find_id(store, Label.FUNCTION, "read")])[0]
    before = export(store)
    change(store, {int(node.content_hash, 16): Generated(WRITTEN)}, int(node.content_hash, 16))
    assert export(store) == before
    (fragment,) = store.fragments([node.id])
    vector = np.zeros(encoder().dimension, np.float16)
    forced = GeneratedChange(fragment.key, {node.id: Generated(WRITTEN)}, {node.id: vector}, fragment.terms)
    with pytest.raises(StoreError, match="has a docstring in its code"), store.write() as writer:
        writer.put_generated("demo", [forced])
    assert export(store) == before


@pytest.mark.parametrize(("key", "identity"), [(7, None), (None, "0" * 16)])
def test_a_missing_fragment_or_function_is_named(store: GraphStore, key: int | None, identity: str | None) -> None:
    fill(store, FILES)
    known = find_id(store, Label.FUNCTION, "find_settings")
    (fragment,) = store.fragments([known, "0" * 16])
    vector = np.zeros(encoder().dimension, np.float16)
    gone = GeneratedChange(
        key or fragment.key, {identity or known: Generated(WRITTEN)}, {known: vector}, fragment.terms
    )
    with pytest.raises(StoreError, match="run the command again"), store.write() as writer:
        writer.put_generated("demo", [gone])
    assert store.generation() == 1


def test_a_fragment_is_returned_with_its_text_and_path(store: GraphStore) -> None:
    fill(store, FILES)
    ids = [find_id(store, Label.FUNCTION, name) for name in ("read", "find_settings")]
    ((source, key, path, text, terms),) = store.fragments(ids)
    (part,) = prepare("demo", FILES)[0].parts
    assert part.fragment is not None
    assert (source, key, path, text, terms) == (
        "demo",
        part.key,
        "pack/reader.py",
        READER.encode(),
        part.fragment.terms,
    )
    with store.write() as writer:
        writer.put_source(Source("rows", "corpus", "-"))
        writer.replace_file(prepare("rows", {"row-1": READER}, Label.ROW)[0])
    row = find_row_function(store, "rows")
    assert [(each.source, each.path) for each in store.fragments([row])] == [("rows", "")]


def find_row_function(store: GraphStore, source: str) -> str:
    return next(node.id for node in store.nodes([Label.FUNCTION], source) if node.name == "find_settings")


def test_functions_are_enhanced_and_undone_in_every_store(store: GraphStore) -> None:
    fill(store, FILES)
    before = export(store)
    report = enhance(store, "demo", open_writer("template"), encoder(), EnhanceOptions("template"))
    assert (report.written, len(report.failed), report.human, report.left) == (3, 0, 1, 0)
    assert {texts.docstring and texts.docstring.model for _, texts in store.generated_texts("demo")} == {"template"}
    assert store.check() == []
    assert remove_generated(store, "demo", "template", encoder()) == 3
    assert export(store) == before
