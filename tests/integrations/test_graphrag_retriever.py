"""The retriever of neo4j-graphrag: the hits of `pkg query`, whatever the store."""

from __future__ import annotations

import pytest
from mail_graph import MISFIT, QUESTION, UNKNOWN, ask_command, tell_hits, tell_metadata

from pkg.integrations.graphrag import PkgRetriever

pytestmark = pytest.mark.integrations


def test_items_are_the_hits_of_the_command(address: str) -> None:
    items = PkgRetriever(address).search(query_text=QUESTION, top_k=4).items
    hits = ask_command(address, QUESTION, "--top-k", "4")
    assert len(hits) == 4
    assert [tell_metadata(each.metadata or {}) for each in items] == tell_hits(hits)


@pytest.mark.parametrize("question", [MISFIT, UNKNOWN])
def test_a_question_that_nothing_fits_has_no_items_but_a_reason(address: str, question: str) -> None:
    found = PkgRetriever(address).search(query_text=question)
    assert (found.items, (found.metadata or {})["fits"], len((found.metadata or {})["notes"])) == ([], False, 1)


def test_misfits_are_kept_on_request_and_marked(address: str) -> None:
    items = PkgRetriever(address, keep_misfits=True).search(query_text=MISFIT).items
    assert [(each.metadata or {})["fits"] for each in items] == [False] * 3


def test_a_model_can_call_it_as_a_tool(address: str) -> None:
    tool = PkgRetriever(address, mode="function").convert_to_tool("find_code", "Find code.")
    assert sorted(tool.get_parameters()["properties"]) == ["query_text", "top_k"]
    assert "def send_mail(self, customer, message):" in str(tool.execute(query_text=QUESTION))
