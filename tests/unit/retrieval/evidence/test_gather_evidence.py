"""Evidence for questions in words, from a real build of a small shop with documents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from shop_repository import SHOP, open_shop
from trees import write_tree

from pkg.api import Graph, build_graph, open_graph
from pkg.errors import QueryError, UsageError
from pkg.retrieval.evidence.evidence import Gathered
from pkg.retrieval.evidence.evidence_options import EvidenceOptions
from pkg.retrieval.token_count import count_tokens


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    with open_shop(tmp_path_factory.mktemp("evidence")) as opened:
        yield opened


def gather(graph: Graph, text: str, **options: object) -> Gathered:
    found = graph.ask(text, options=make_options(**options))
    assert not found.written  # no model was given
    return found.gathered


def make_options(**options: object):  # type: ignore[no-untyped-def] # of AskOptions, which tests pass on
    from pkg.generation.ask.ask_options import AskOptions

    return AskOptions(EvidenceOptions(**options))  # type: ignore[arg-type]


def test_code_that_a_question_describes_comes_first(graph: Graph) -> None:
    first = gather(graph, "How is the tax added to an amount?").pieces[0]
    assert (first.kind, first.path, first.title) == ("code", "shop/prices.py", "function add_tax")
    assert "decimal.Decimal(amount)" in first.content


def test_a_named_file_is_summarised_by_imports_and_definitions(graph: Graph) -> None:
    first = gather(graph, "Which libraries are loaded first in shop/orders.py?").pieces[0]
    assert (first.kind, first.path) == ("file", "shop/orders.py")
    assert "imports libraries: import json (line 1)" in first.content
    assert "imports from this repository: from shop.prices import find_price (line 3)" in first.content
    assert "class GiftOrder (line 17)" in first.content


def test_among_files_of_one_name_the_one_with_named_definitions_comes_first(graph: Graph) -> None:
    assert gather(graph, "What does cancel_order in orders.py do?").list_files()[0][1] == "shop/admin/orders.py"
    assert gather(graph, "What does GiftOrder in orders.py do?").list_files()[0][1] == "shop/orders.py"


def test_links_have_places(graph: Graph) -> None:
    pieces = gather(graph, "Which functions call find_price?").pieces
    callers = next(piece for piece in pieces if piece.title == "callers of shop.prices.find_price")
    assert "shop/orders.py:11 Order.total" in callers.content
    assert ("shop/orders.py", 11) in [(line.path, line.line) for line in callers.lines]


def test_callers_without_links_are_answered_by_occurrences(graph: Graph) -> None:
    pieces = gather(graph, "Which functions call cancel_order?").pieces
    callers = next(piece for piece in pieces if piece.title == "callers of shop.admin.orders.cancel_order")
    assert callers.content == "no callers found: the source has no call expression of cancel_order"


def test_links_of_inner_definitions_are_not_those_of_outer_ones(tmp_path: Path) -> None:
    code = "def write_report(rows):\n    def line(row):\n        return str(row)\n\n    return line(rows)\n"
    store = f"sqlite:///{tmp_path}/graph.db"
    build_graph(
        write_tree(tmp_path / "repo", {"report.py": f"{code}\n\ndef main():\n    return write_report([])\n"}),
        store=store,
    )
    with open_graph(store) as graph:
        pieces = {piece.title: piece.content for piece in gather(graph, "How does write_report call line?").pieces}
        assert pieces["callers of write_report"] == "main calls write_report (report.py:9)"
        assert pieces["callees of write_report"] == "write_report calls write_report.line (report.py:5)"


def test_subclasses_have_the_line_of_the_class(graph: Graph) -> None:
    pieces = gather(graph, "Which classes inherit from Order?").pieces
    assert "shop/orders.py:17 GiftOrder" in next(
        piece.content for piece in pieces if piece.title == "subclasses of shop.orders.Order"
    )


def test_the_uses_of_a_library_are_its_imports(graph: Graph) -> None:
    first = gather(graph, "Which modules use decimal?").pieces[0]
    assert first.title == "importers of the library decimal"
    assert first.lines[0][:2] == ("shop/prices.py", 3)


def test_questions_about_the_project_find_sections_of_its_documents(graph: Graph) -> None:
    found = gather(graph, "Under which license is the shop released?")
    assert (found.pieces[0].kind, found.pieces[0].path) == ("text", "README.md")
    assert "MIT" in found.pieces[0].content
    assert found.fits


def test_tests_are_held_back_unless_they_are_asked_for(graph: Graph) -> None:
    assert not any(piece.path.startswith("tests/") for piece in gather(graph, "How is a price found?").pieces)
    asked = gather(graph, "Which tests cover find_price?")
    assert any(path.startswith("tests/") for _, path in asked.list_files())


def test_questions_about_other_subjects_do_not_fit(graph: Graph) -> None:
    assert gather(graph, "Where are JPEG images resized before the upload?").fits is False


def test_chunks_are_windows_of_all_files_with_their_lines(graph: Graph) -> None:
    pieces = gather(graph, "Add the tax to an amount", retriever="chunks").pieces
    assert {piece.kind for piece in pieces} == {"window"}
    assert {"README.md", "shop/prices.py"} <= {piece.path for piece in pieces}
    window = next(piece for piece in pieces if piece.path == "shop/prices.py")
    lines = SHOP["shop/prices.py"].split("\n")
    assert window.content == "\n".join(lines[window.start_line - 1 : window.end_line])


def test_both_has_pieces_of_the_graph_and_chunks(graph: Graph) -> None:
    kinds = [piece.kind for piece in gather(graph, "How is the tax added to an amount?", retriever="both").pieces]
    assert kinds[0] == "code"
    assert "window" in kinds


def test_paths_narrow_all_that_is_gathered(graph: Graph) -> None:
    for retriever in ("graph", "chunks", "both"):
        found = gather(graph, "What does find_price in prices.py do?", retriever=retriever, path="shop/orders.py")
        assert {piece.path for piece in found.pieces} == {"shop/orders.py"}


def test_all_pieces_together_keep_the_budget(graph: Graph) -> None:
    found = gather(graph, "Which functions call find_price in shop/orders.py?", budget=120)
    assert found.pieces
    assert sum(count_tokens(f"{each.span} {each.title}\n{each.content}") for each in found.pieces) <= 120
    assert found.left_out


def test_no_more_pieces_than_asked_for(graph: Graph) -> None:
    assert len(gather(graph, "How is the tax added to an amount?", top_k=2).pieces) == 2


def test_an_unknown_source_is_refused(graph: Graph) -> None:
    with pytest.raises(QueryError, match="no source 'other'"):
        gather(graph, "anything", source="other")


def test_an_unknown_retriever_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown retriever 'web'"):
        EvidenceOptions("web")  # type: ignore[arg-type]


def test_changed_files_are_reported(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "repo", SHOP)
    store = f"sqlite:///{tmp_path}/graph.db"
    build_graph(tree, store=store)
    (tree / "shop/prices.py").write_text("def other():\n    pass\n")
    with open_graph(store) as opened:
        stale = gather(opened, "How is the tax added to an amount?").stale
    assert [each.path for each in stale] == ["shop/prices.py"]


def test_a_question_does_not_count_the_whole_graph(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    """Statistics read every node, which takes longer than the rest of an answer."""
    monkeypatch.setattr(type(graph.store), "stats", None)
    assert gather(graph, "How is the tax added to an amount?").pieces
