from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from mail_graph import MAIL, MISFIT, QUESTION, UNKNOWN, ask_command, build_mail_graph, tell_hits, tell_metadata

import pkg
from pkg.errors import StoreMissingError, UsageError, name_install
from pkg.integrations.code_retriever import CodeRetriever
from pkg.retrieval.query_options import QueryOptions


@pytest.fixture
def address(tmp_path: Path) -> str:
    return build_mail_graph(tmp_path)


@pytest.mark.parametrize("mode", ["block", "function", "both", "declaration", "file"])
def test_passages_are_the_hits_of_the_command(address: str, mode: str) -> None:
    passages = CodeRetriever(address, mode=mode, top_k=4)(QUESTION)
    hits = ask_command(address, QUESTION, "--top-k", "4", "--mode", mode)
    assert hits
    assert [tell_metadata(each.metadata) for each in passages] == tell_hits(hits)
    assert [(each.id, each.score) for each in passages] == [(hit["id"], hit["score"]) for hit in hits]


def test_the_text_is_the_pruned_code_with_its_callees(address: str) -> None:
    (passage,) = CodeRetriever(address, mode="function", top_k=1)(QUESTION)
    assert passage.text == (
        "# class Mailer:\n"
        "def send_mail(self, customer, message):\n"
        '    """Send a message to a customer."""\n'
        "    # ... lines 6-7 folded\n"
        "    return deliver(customer.address, message)\n"
        "\n"
        "# mail.py:11-13 deliver\n"
        "def deliver(address, message):\n"
        '    """Hand a message over to the post office."""\n'
        "    return address, message"
    )
    assert passage.metadata | {"id": "", "score": 0, "why": ""} == {
        "id": "",
        "source": "shop",
        "path": "mail.py",
        "lines": "4-8",
        "qualname": "Mailer.send_mail",
        "label": "Function",
        "kind": "method",
        "rank": 1,
        "score": 0,
        "why": "",
        "fits": True,
        "stale": False,
        "has_code": True,
    }


def test_why_names_the_rank_and_the_helpers(address: str) -> None:
    (passage,) = CodeRetriever(address, mode="function", top_k=1)(QUESTION)
    rank, score, cosine, helper = str(passage.metadata["why"]).split("; ")
    assert (rank, score) == ("rank 1 of 1", f"score {passage.score:.3f}")
    assert cosine.startswith("cosine 0.")
    assert helper.startswith("deliver called at mail.py:8")


def test_the_text_of_a_file_is_its_best_functions(address: str) -> None:
    (passage,) = CodeRetriever(address, mode="file")(QUESTION)
    assert passage.text.splitlines()[0] == (
        "4-8  def send_mail(self, customer, message):  # Send a message to a customer."
    )


def test_a_section_of_a_text_file_is_unchanged(tmp_path: Path) -> None:
    address = build_mail_graph(
        tmp_path, {"README.md": "# Shop\n\nIt sends mails.\n\n## Refunds\n\nAsk for a refund.\n"}
    )
    passage, *_ = CodeRetriever(address, mode="text")("how to ask for a refund")
    assert "Ask for a refund." in passage.text
    assert passage.metadata["path"] == "README.md"


def test_a_hit_over_the_budget_has_its_header_as_text(address: str) -> None:
    *_, last = CodeRetriever(address, mode="function", top_k=4, budget=60)(QUESTION)
    assert last.metadata["has_code"] is False
    assert last.text.startswith("# def ")


@pytest.mark.parametrize("question", [MISFIT, UNKNOWN])
def test_a_question_that_nothing_fits_has_no_passages_but_a_reason(address: str, question: str) -> None:
    retriever = CodeRetriever(address)
    found = retriever.retrieve(question)
    assert (retriever(question), found.passages, found.fits) == ([], (), False)
    assert any("nothing fits" in note or "no word" in note for note in found.notes)


def test_misfits_are_kept_on_request_and_marked(address: str) -> None:
    passages = CodeRetriever(address, keep_misfits=True)(MISFIT)
    assert [tell_metadata(each.metadata) for each in passages] == tell_hits(ask_command(address, MISFIT))
    assert {each.metadata["fits"] for each in passages} == {False}
    assert all("nothing fits" in str(each.metadata["why"]) for each in passages)


def test_without_a_judgement_all_passages_are_returned(address: str) -> None:
    found = CodeRetriever(address, floor=False).retrieve(MISFIT)
    assert (len(found.passages), found.fits) == (3, None)


def test_options_are_set_as_object_by_keyword_and_per_question(address: str) -> None:
    retriever = CodeRetriever(address, QueryOptions(mode="function", top_k=2), helpers="none")
    assert [len(retriever(QUESTION)), len(retriever(QUESTION, top_k=1)), len(retriever(QUESTION))] == [2, 1, 2]
    assert "def deliver" not in retriever(QUESTION)[0].text


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"k": 3}, r"unknown option 'k'; expected one of: mode, top_k, .*"),
        ({"mode": "chunk"}, "unknown mode 'chunk'; expected one of: block, .*"),
        ({"top_k": 0}, "top_k is 0; expected 1 or more"),
    ],
)
def test_an_invalid_option_is_refused_at_once(address: str, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        CodeRetriever(address, **changes)
    with pytest.raises(UsageError, match=said):
        CodeRetriever(address)(QUESTION, **changes)


def test_a_missing_store_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StoreMissingError):
        CodeRetriever(f"sqlite:///{tmp_path / 'none.db'}")(QUESTION)


def test_a_changed_file_is_reported_and_rebuilt_on_request(address: str, tmp_path: Path) -> None:
    (tmp_path / "shop" / "mail.py").write_text(f"import os\n\n\n{MAIL}", encoding="utf-8")
    found = CodeRetriever(address, mode="function", top_k=1).retrieve(QUESTION)
    assert found.stale == ("mail.py (changed)",)
    (passage,) = found.passages
    assert (passage.metadata["stale"], passage.metadata["lines"]) == (True, "4-8")
    assert "changed since the build" in str(passage.metadata["why"])
    (passage,) = CodeRetriever(address, mode="function", top_k=1, fresh=True)(QUESTION)
    assert (passage.metadata["stale"], passage.metadata["lines"]) == (False, "7-11")


def test_a_rebuilt_graph_is_used_at_the_next_question(address: str, tmp_path: Path) -> None:
    retriever = CodeRetriever(address, mode="function")
    assert retriever("refund an order") == []
    (tmp_path / "shop" / "refund.py").write_text("def refund_order(order):\n    return order.total\n")
    pkg.build_graph(tmp_path / "shop", store=address)
    assert retriever("refund an order")[0].metadata["qualname"] == "refund_order"


def test_concurrent_threads_are_answered(address: str) -> None:
    retriever = CodeRetriever(address, mode="function")
    questions = [QUESTION, "count words", "read a price", MISFIT] * 5
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(retriever, questions)) == [retriever(each) for each in questions]


@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [
        ("langchain", "langchain_core", "langchain"),
        ("llama_index", "llama_index", "llama-index"),
        ("haystack", "haystack", "haystack"),
        ("graphrag", "neo4j_graphrag", "graphrag"),
    ],
)
def test_a_missing_framework_is_reported_with_the_install_command(module: str, package: str, extra: str) -> None:
    code = f"import sys; sys.modules['{package}'] = None; import pkg.integrations.{module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    *_, said = done.stderr.splitlines()
    assert said.startswith("pkg.errors.MissingExtraError: a retriever of ")
    assert said.endswith(f"which is not installed; run: {name_install(extra)}")


def test_the_plain_callable_needs_no_framework() -> None:
    code = "import sys, pkg.integrations.code_retriever; print(sys.modules.keys() & {'langchain_core', 'pydantic'})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
