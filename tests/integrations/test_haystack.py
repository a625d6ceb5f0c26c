"""The retriever of Haystack: the hits of `pkg query`, as a component of serialised pipelines."""

from __future__ import annotations

from pathlib import Path

import pytest
from haystack import Pipeline
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers import MultiQueryTextRetriever
from mail_graph import MAIL, MISFIT, QUESTION, UNKNOWN, ask_command, tell_hits, tell_metadata

from pkg.errors import UsageError
from pkg.integrations.haystack import PkgRetriever

pytestmark = [pytest.mark.integrations, pytest.mark.anyio]


def test_documents_are_the_hits_of_the_command(address: str) -> None:
    documents = PkgRetriever(address).run(QUESTION, top_k=4)["documents"]
    hits = ask_command(address, QUESTION, "--top-k", "4")
    assert len(hits) == 4
    assert [tell_metadata(each.meta) for each in documents] == tell_hits(hits)
    assert [(each.id, each.score) for each in documents] == [(hit["id"], hit["score"]) for hit in hits]


async def test_the_answer_is_the_same_when_awaited(address: str) -> None:
    retriever = PkgRetriever(address, mode="function", top_k=2)
    awaited = await retriever.run_async(QUESTION)
    assert len(awaited["documents"]) == 2
    assert awaited == retriever.run(QUESTION)


@pytest.mark.parametrize("question", [MISFIT, UNKNOWN])
async def test_a_question_that_nothing_fits_has_no_documents_but_a_reason(address: str, question: str) -> None:
    found = PkgRetriever(address).run(question)
    assert (found["documents"], len(found["notes"])) == ([], 1)
    assert await PkgRetriever(address).run_async(question) == found


def test_misfits_are_kept_on_request_and_marked(address: str) -> None:
    documents = PkgRetriever(address, keep_misfits=True).run(MISFIT)["documents"]
    assert [tell_metadata(each.meta) for each in documents] == tell_hits(ask_command(address, MISFIT))
    assert {each.meta["fits"] for each in documents} == {False}


def test_a_changed_file_is_reported(address: str, tmp_path: Path) -> None:
    (tmp_path / "shop" / "mail.py").write_text(f"import os\n\n\n{MAIL}", encoding="utf-8")
    found = PkgRetriever(address, mode="function", top_k=1).run(QUESTION)
    assert found["documents"][0].meta["stale"] is True
    assert "changed since the build: mail.py (changed)" in found["notes"]


def test_a_pipeline_can_be_serialised(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAYSTACK_DESERIALIZATION_ALLOWLIST", "pkg.integrations.*")
    pipeline = Pipeline()
    pipeline.add_component("code", PkgRetriever(address, mode="function", top_k=2, path=["*.py"], fresh=True))
    pipeline.add_component("join", DocumentJoiner())
    pipeline.connect("code.documents", "join.documents")
    written = pipeline.dumps()
    read = Pipeline.loads(written)
    assert read.dumps() == written
    assert "floor" not in written
    asked = {"code": {"query": QUESTION}}
    assert read.run(asked)["join"] == pipeline.run(asked)["join"]
    assert len(pipeline.run(asked)["join"]["documents"]) == 2


def test_it_replaces_a_text_retriever_in_a_pipeline(address: str) -> None:
    several = MultiQueryTextRetriever(retriever=PkgRetriever(address, mode="function", top_k=1))
    found = several.run(queries=[QUESTION, "count words"], retriever_kwargs={"top_k": 1})["documents"]
    assert {each.meta["qualname"] for each in found} == {"Mailer.send_mail", "count_words"}


def test_filters_are_refused(address: str) -> None:
    filters = {"field": "meta.path", "operator": "==", "value": "mail.py"}
    with pytest.raises(UsageError, match="expected the options source, path, kind or tests"):
        PkgRetriever(address).run(QUESTION, filters=filters)


def test_a_password_is_not_serialised() -> None:
    pipeline = Pipeline()
    pipeline.add_component("code", PkgRetriever("neo4j://me:secret@host"))
    with pytest.raises(UsageError, match=r"holds a password.*PKG_NEO4J_PASSWORD") as caught:
        pipeline.dumps()
    assert "secret" not in str(caught.value)
    assert PkgRetriever("neo4j://host").to_dict()["init_parameters"]["store"] == "neo4j://host"
    assert PkgRetriever().to_dict()["init_parameters"]["store"] is None
