"""Sections of text files are separate nodes, found by vector and by words, never among code."""

from __future__ import annotations

import pytest
from contract.units import FILES, encode, fill, find_id, prepare, put_names

from pkg.graph.store import GraphStore
from pkg.model import DECLARATION_LABELS, Label, NodeFilter, RelationType
from pkg.terms.term_weights import weigh_terms

ABOUT = "It reads the settings of a folder, one file after the other, and says what is wrong with them.\n" * 3
README = f"# Settings\n\n{ABOUT}\n## Usage\n\n{ABOUT}\n### Retries\n\nA request is sent again three times.\n\n{ABOUT}"
TABLES = '[project]\nname = "settings"\n\n[tool.ruff]\nline-length = 120\n'
TEXTS = {"README.md": README, "docs/copy.md": README, "pyproject.toml": TABLES}


@pytest.fixture
def told(store: GraphStore) -> GraphStore:
    fill(store, FILES | TEXTS)
    return store


def test_chunks_have_heading_path_lines_and_exact_text(told: GraphStore) -> None:
    nodes = {(each.path, each.qualname): each for each in told.nodes([Label.CHUNK])}
    assert len(nodes) == 7
    retries = nodes["README.md", "Settings > Usage > Retries"]
    lines = README.split("\n")
    assert (retries.name, retries.kind, retries.start_col) == ("Retries", None, 0)
    assert retries.content == "\n".join(lines[retries.start_line - 1 : retries.end_line])
    assert retries.content == README.encode()[retries.start : retries.end].decode()
    assert told.get([retries.id]) == [retries]
    assert nodes["pyproject.toml", "project / tool.ruff"].content == TABLES.rstrip()


def test_a_file_contains_its_chunks_and_nothing_else_does(told: GraphStore) -> None:
    file = find_id(told, Label.FILE, "README.md")
    inside = told.subtree(file)
    assert [each.qualname for each in inside] == ["Settings", "Settings > Usage", "Settings > Usage > Retries"]
    edges = told.neighbours([inside[2].id])
    assert [(each.type, each.start, each.line) for each in edges] == [
        (RelationType.CONTAINS, file, inside[2].start_line)
    ]
    assert told.subtree(inside[0].id) == []
    assert told.calls(inside[0].id) == []


def test_chunks_are_found_by_their_vector_without_duplicates(told: GraphStore) -> None:
    (chunk, *_) = [each for each in told.nodes([Label.CHUNK]) if each.name == "Retries" and each.path == "README.md"]
    vector = encode(f"README Settings > Usage > Retries\n{chunk.content}")
    found = told.vector_search(Label.CHUNK, vector, 9)
    assert (found.searched, found.folded, len(found.matches)) == (7, 3, 4)
    assert found.matches[0].score == pytest.approx(1, abs=0.01)
    assert told.get([found.matches[0].id])[0].name == "Retries"
    only = told.vector_search(Label.CHUNK, vector, 9, NodeFilter(paths=("docs/*",)))
    assert {each.path for each in told.get([match.id for match in only.matches])} == {"docs/copy.md"}


def test_chunks_are_found_by_their_words_and_by_their_headings(told: GraphStore) -> None:
    found = told.text_search(Label.CHUNK, weigh_terms("request sent again"), 5)
    assert (found.searched, [node.name for node in told.get([each.id for each in found.matches])]) == (7, ["Retries"])
    for question, name in (("usage", "Usage"), ("ruff", "project / tool.ruff")):
        best = told.text_search(Label.CHUNK, weigh_terms(question), 1).matches[0]
        assert told.get([best.id])[0].name == name
    parts = told.text_parts([found.matches[0].id], weigh_terms("request sent again"), Label.CHUNK)
    assert parts.scores.sum() == pytest.approx(found.matches[0].score, rel=1e-5)


def test_code_is_searched_as_if_there_were_no_text(store: GraphStore) -> None:
    question, vector = weigh_terms("read the settings of a path"), encode("read the settings of a path")
    searches = (
        lambda: [store.vector_search(label, vector, 9) for label in (Label.FUNCTION, Label.BLOCK, *DECLARATION_LABELS)],
        lambda: [store.text_search(label, question, 9) for label in (Label.FUNCTION, Label.BLOCK, Label.IMPORT)],
        lambda: store.search_declarations(vector, question, 9),
        lambda: [store.find_name(name) for name in ("read", "Reader", "Usage")],
    )
    fill(store, FILES)
    before = [search() for search in searches]
    fill(store, TEXTS)
    assert [search() for search in searches] == before


def test_an_edited_text_keeps_the_ids_of_its_sections(told: GraphStore) -> None:
    before = {each.qualname: each for each in told.nodes([Label.CHUNK]) if each.path == "README.md"}
    (unit,) = prepare("demo", {"README.md": README.replace("three times", "five times").replace("# Usage", "# Use")})
    with told.write() as writer:
        writer.replace_file(unit)
        put_names(writer, "demo")
    after = {each.qualname: each for each in told.nodes([Label.CHUNK]) if each.path == "README.md"}
    assert after["Settings"].id == before["Settings"].id
    assert set(after) == {"Settings", "Settings > Use", "Settings > Use > Retries"}
    assert told.text_search(Label.CHUNK, weigh_terms("five"), 5).matches != ()
    with told.write() as writer:
        writer.delete_file("demo", "README.md")
    assert {each.path for each in told.nodes([Label.CHUNK])} == {"docs/copy.md", "pyproject.toml"}
    assert told.check() == []


def test_stats_and_an_export_include_chunks(told: GraphStore) -> None:
    assert told.stats().nodes["Chunk"] == 7
    assert told.check() == []
    lines = [line for line in told.export(vectors=True) if line.get("label") == "Chunk"]
    assert [line["id"] for line in lines] == sorted(line["id"] for line in lines)
    assert {len(line["vector"]) for line in lines} == {told.stats().dimension}
