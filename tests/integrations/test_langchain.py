"""The retriever of LangChain: the standard tests of langchain-tests, and the hits of `pkg query`."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import create_retriever_tool
from langchain_tests.integration_tests import RetrieversIntegrationTests
from mail_graph import MAIL, MISFIT, QUESTION, UNKNOWN, ask_command, tell_hits, tell_metadata

from pkg.errors import StoreMissingError, UsageError
from pkg.integrations.langchain import PkgRetriever
from pkg.retrieval.query_options import QueryOptions

pytestmark = [pytest.mark.integrations, pytest.mark.anyio]


class TestStandard(RetrieversIntegrationTests):
    """The standard tests of LangChain retrievers."""

    @pytest.fixture(autouse=True)
    def find_store(self, address: str) -> None:
        self.address = address

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return PkgRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"store": self.address, "mode": "function"}

    @property
    def retriever_query_example(self) -> str:
        return QUESTION

    @property
    def num_results_arg_name(self) -> str:
        return "top_k"


def test_documents_are_the_hits_of_the_command(address: str) -> None:
    documents = PkgRetriever(address, top_k=4).invoke(QUESTION)
    hits = ask_command(address, QUESTION, "--top-k", "4")
    assert len(hits) == 4
    assert [tell_metadata(each.metadata) for each in documents] == tell_hits(hits)
    assert [each.id for each in documents] == [hit["id"] for hit in hits]


async def test_batch_results_equal_single_results(address: str) -> None:
    retriever = PkgRetriever(address, QueryOptions(mode="function"))
    questions = [QUESTION, "count words", "read a price from a text", MISFIT] * 4
    one_by_one = [retriever.invoke(each) for each in questions]
    assert retriever.batch(questions) == one_by_one
    assert await retriever.abatch(questions) == one_by_one
    assert len({each[0].id for each in one_by_one if each}) == 3


async def test_options_of_one_question_pass_through(address: str) -> None:
    retriever = PkgRetriever(address, mode="function", top_k=3)
    (document,) = await retriever.bind(top_k=1, helpers="none").ainvoke(QUESTION)
    assert (document.metadata["qualname"], "def deliver" in document.page_content) == ("Mailer.send_mail", False)
    assert "def deliver" in retriever.invoke(QUESTION)[0].page_content


def test_an_unknown_option_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="unknown option 'k'; expected one of: mode, top_k"):
        PkgRetriever(address, k=1)
    with pytest.raises(UsageError, match="unknown option 'k'; expected one of: mode, top_k"):
        PkgRetriever(address).invoke(QUESTION, k=1)


@pytest.mark.parametrize("question", [MISFIT, UNKNOWN])
async def test_a_question_that_nothing_fits_has_no_documents(address: str, question: str) -> None:
    assert PkgRetriever(address).invoke(question) == []
    assert await PkgRetriever(address).ainvoke(question) == []


def test_misfits_are_kept_on_request_and_marked(address: str) -> None:
    documents = PkgRetriever(address, keep_misfits=True).invoke(MISFIT)
    assert [tell_metadata(each.metadata) for each in documents] == tell_hits(ask_command(address, MISFIT))
    assert {each.metadata["fits"] for each in documents} == {False}


def test_a_changed_file_is_reported_and_rebuilt_on_request(address: str, tmp_path: Path) -> None:
    (tmp_path / "shop" / "mail.py").write_text(f"import os\n\n\n{MAIL}", encoding="utf-8")
    (stale,) = PkgRetriever(address, mode="function", top_k=1).invoke(QUESTION)
    (fresh,) = PkgRetriever(address, mode="function", top_k=1, fresh=True).invoke(QUESTION)
    assert (stale.metadata["stale"], stale.metadata["lines"]) == (True, "4-8")
    assert (fresh.metadata["stale"], fresh.metadata["lines"]) == (False, "7-11")


def test_a_missing_store_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StoreMissingError):
        PkgRetriever(f"sqlite:///{tmp_path / 'none.db'}").invoke(QUESTION)


def test_it_can_be_pickled_and_copied(address: str) -> None:
    retriever = PkgRetriever(address, mode="function", top_k=1)
    kept = pickle.loads(pickle.dumps(retriever))
    assert kept.invoke(QUESTION) == retriever.model_copy(deep=True).invoke(QUESTION) == retriever.invoke(QUESTION)


def test_an_agent_can_take_it_as_a_tool(address: str) -> None:
    tool = create_retriever_tool(PkgRetriever(address, mode="function"), "find_code", "Find code.")
    assert "def send_mail(self, customer, message):" in tool.invoke({"query": QUESTION})


def test_fields_of_the_base_retriever_are_accepted(address: str) -> None:
    retriever = PkgRetriever(address, tags=["shop"], metadata={"team": "mail"})
    assert (retriever.tags, retriever.metadata) == (["shop"], {"team": "mail"})
