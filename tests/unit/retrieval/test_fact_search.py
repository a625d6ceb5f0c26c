"""Documents are built into facts, which questions find, pruned, and which evidence contains."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pkg
from pkg.errors import QueryError
from pkg.generation.prompt_templates.fact_text import show_fact
from pkg.retrieval.pruning.prune_facts import MAX_SHOWN_BYTES

GUIDE = """# Guide

## Retries

A request is sent again three times.

```python
def retry(times):
    return times
```

## Colours

- **red**: the colour of errors
- **green**: the colour of success

## Long

"""
LONG = "".join(
    f"Paragraph {number} is about gardens, trees and flowers of the {number}th park.\n\n" for number in range(90)
)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("facts")
    (folder / "docs").mkdir()
    (folder / "docs" / "guide.md").write_text(f"{GUIDE}{LONG}The lighthouse stands at the harbour.\n")
    (folder / "docs" / "page.html").write_text("<h1>Page</h1><p>The kettle boils water for tea.</p>")
    store = f"sqlite:///{folder / 'graph.db'}"
    report = pkg.build_graph(folder / "docs", store=store, reader="structure")
    assert (report.written, report.partial) == (2, 0)
    return store


def test_a_fact_is_found_with_its_keys(address: str) -> None:
    with pkg.open_graph(address) as graph:
        (hit,) = graph.query("how often is a request sent again?", mode="fact", top_k=1).hits
        assert (hit.label, hit.qualname.split(" > ")[:2]) == ("Fact", ["Guide", "Retries"])
        (tea,) = graph.query("boil water for tea", mode="fact", top_k=1).hits
    assert (tea.path, tea.qualname, tea.content) == ("page.html", "Page", "# Page\n\nThe kettle boils water for tea.")


def test_each_section_is_shown_once(address: str) -> None:
    with pkg.open_graph(address) as graph:
        hits = graph.query("colour of errors and of success", mode="fact", top_k=5).hits
    owners = [
        hit.qualname.rpartition(" > ")[0] if hit.kind in ("item", "text", "code") else hit.qualname for hit in hits
    ]
    assert len(set(owners)) == len(owners)


def test_a_long_section_is_shown_without_the_farthest_facts(address: str) -> None:
    from pkg.encode.registry import load_encoder
    from pkg.model import Label
    from pkg.retrieval.fact_search import FactOpener

    with pkg.open_graph(address) as graph:
        (long,) = [each for each in graph.store.nodes([Label.FACT]) if each.name == "Long"]
        encoder = load_encoder(graph.store.encoder()[0])
        pruned = (
            FactOpener(graph.store, encoder, encoder.encode_query("the lighthouse at the harbour")).open(long).pruned
        )
    assert "lighthouse" in pruned.text
    assert pruned.text.startswith("## Long")
    assert len(pruned.text) <= MAX_SHOWN_BYTES < len(long.content)
    assert len(pruned.cuts) > 40


def test_a_fact_is_shown_to_a_model_as_code_and_comments(address: str) -> None:
    with pkg.open_graph(address) as graph:
        hits = graph.query("request sent again retry", mode="fact", top_k=1, prune="none").hits
    shown = show_fact(hits[0])
    assert shown.code.startswith("# Guide > Retries")
    assert all(line.startswith("#") or "retry" in line or "return" in line for line in shown.code.splitlines())
    compile(shown.code, "shown", "exec")


def test_facts_are_evidence(address: str) -> None:
    from pkg.encode.registry import load_encoder
    from pkg.retrieval.evidence.gather_evidence import gather_evidence

    with pkg.open_graph(address) as graph:
        encoder = load_encoder(graph.store.encoder()[0])
        found = gather_evidence(graph.store, encoder, "what boils water for tea?")
    assert [(piece.kind, piece.path) for piece in found.pieces if "kettle" in piece.content] == [("fact", "page.html")]
    assert found.looked_at["fact"] > 0


def test_a_graph_without_facts_says_how_to_make_some(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("def f():\n    return 1\n")
    store = f"sqlite:///{tmp_path / 'graph.db'}"
    pkg.build_graph(tmp_path, store=store)
    with pkg.open_graph(store) as graph, pytest.raises(QueryError, match="--reader structure"):
        graph.query("anything", mode="fact")


def test_an_unchanged_input_writes_nothing_and_another_reader_reads_again(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n\nText of a.\n")
    (tmp_path / "docs" / "b.md").write_text("# B\n\nText of b.\n")
    (tmp_path / "docs" / "code.py").write_text("def f():\n    return 1\n")
    store = f"sqlite:///{tmp_path / 'graph.db'}"

    def build(reader: str | None = None) -> tuple[int, int]:
        report = pkg.build_graph(tmp_path / "docs", store=store, reader=reader)
        return report.written, report.generation

    assert build() == (3, 1)
    assert build(reader="structure") == (2, 2)
    assert build(reader="structure") == (0, 2)
    (tmp_path / "docs" / "a.md").write_text("# Changed\n\nText of a.\n")
    assert build(reader="structure") == (1, 3)
    with pkg.open_graph(store) as graph:
        assert graph.stats().nodes["Fact"] == 2
        assert "Chunk" not in graph.stats().nodes
    assert build() == (2, 4)
    with pkg.open_graph(store) as graph:
        assert "Fact" not in graph.stats().nodes


def test_rows_of_texts_are_documents_and_rows_of_code_are_not(tmp_path: Path) -> None:
    texts = [
        {"id": "x", "path": "guide/sets.md", "heading": "Adding", "text": "Use `add` to add an item.\n"},
        {"id": "y", "text": 7},
        {"id": "z", "text": ""},
        {"id": "w", "text": "# Head\n\nSome words of prose here.\n"},
    ]
    code = [{"id": str(number), "text": f"def f{number}():\n    return {number}\n"} for number in range(3)]
    for name, rows in (("texts", texts), ("code", code)):
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    store = f"sqlite:///{tmp_path / 'graph.db'}"
    report = pkg.build_graph(tmp_path / "texts.jsonl", store=store)
    assert (report.written, [skip.path for skip in report.skipped]) == (3, ["y"])
    pkg.build_graph(tmp_path / "code.jsonl", store=store)
    with pkg.open_graph(store) as graph:
        (hit,) = graph.query("add an item", mode="fact", top_k=1).hits
        assert graph.stats("code").nodes["Function"] == 3
        assert "Fact" not in graph.stats("code").nodes
    assert (hit.path, hit.qualname) == ("x", "sets > Adding")
