"""The retriever of LlamaIndex: the hits of `pkg query`, in its query engines, fusion and evaluation of retrievers."""

from __future__ import annotations

import pytest
from llama_index.core.evaluation import RetrieverEvaluator
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import MetadataMode, QueryBundle
from llama_index.core.tools import RetrieverTool
from mail_graph import MISFIT, QUESTION, UNKNOWN, ask_command, tell_hits, tell_metadata

from pkg.errors import UsageError
from pkg.integrations.llama_index import PkgRetriever
from pkg.retrieval.query_options import QueryOptions

pytestmark = [pytest.mark.integrations, pytest.mark.anyio]


def test_nodes_are_the_hits_of_the_command(address: str) -> None:
    nodes = PkgRetriever(address, top_k=4).retrieve(QUESTION)
    hits = ask_command(address, QUESTION, "--top-k", "4")
    assert len(hits) == 4
    assert [tell_metadata(each.metadata) for each in nodes] == tell_hits(hits)
    assert [(each.node_id, each.score) for each in nodes] == [(hit["id"], hit["score"]) for hit in hits]


async def test_the_answer_is_the_same_when_awaited(address: str) -> None:
    retriever = PkgRetriever(address, QueryOptions(mode="function"), top_k=2)
    awaited = await retriever.aretrieve(QueryBundle(QUESTION))
    assert len(awaited) == 2
    assert awaited == retriever.retrieve(QUESTION)


@pytest.mark.parametrize("question", [MISFIT, UNKNOWN])
async def test_a_question_that_nothing_fits_has_no_nodes(address: str, question: str) -> None:
    assert PkgRetriever(address).retrieve(question) == []
    assert await PkgRetriever(address).aretrieve(question) == []


def test_misfits_are_kept_on_request_and_marked(address: str) -> None:
    nodes = PkgRetriever(address, keep_misfits=True).retrieve(MISFIT)
    assert [tell_metadata(each.metadata) for each in nodes] == tell_hits(ask_command(address, MISFIT))
    assert {each.metadata["fits"] for each in nodes} == {False}


def test_a_model_is_shown_the_place_and_no_other_metadata(address: str) -> None:
    (node,) = PkgRetriever(address, mode="function", top_k=1, helpers="none").retrieve(QUESTION)
    shown = node.node.get_content(MetadataMode.LLM)
    assert shown.startswith("path: mail.py\nlines: 4-8\nqualname: Mailer.send_mail\n")
    assert "score" not in shown


async def test_the_retriever_evaluator_finds_the_expected_node_first(address: str) -> None:
    retriever = PkgRetriever(address, mode="function")
    expected = ask_command(address, QUESTION, "--mode", "function")[0]["id"]
    evaluator = RetrieverEvaluator.from_metric_names(["mrr", "hit_rate"], retriever=retriever)
    found = await evaluator.aevaluate(QUESTION, expected_ids=[expected])
    assert found.metric_vals_dict == {"mrr": 1.0, "hit_rate": 1.0}


def test_it_can_be_fused_with_others_and_be_a_tool(address: str) -> None:
    function, block = PkgRetriever(address, mode="function", top_k=1), PkgRetriever(address, mode="block", top_k=1)
    fused = QueryFusionRetriever([function, block], llm=MockLLM(), num_queries=1, use_async=False)
    ids = {each.node_id for each in fused.retrieve(QUESTION)}
    assert ids == {ask_command(address, QUESTION, "--mode", mode)[0]["id"] for mode in ("function", "block")}
    tool = RetrieverTool.from_defaults(function, name="find_code", description="Find code.")
    assert "def send_mail(self, customer, message):" in str(tool.call(QUESTION))


def test_an_unknown_option_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="unknown option 'similarity_top_k'"):
        PkgRetriever(address, similarity_top_k=2)
