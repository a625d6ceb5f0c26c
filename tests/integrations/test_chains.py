"""One chain per framework: a text model gets the code that was found, and none if none fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from haystack import Pipeline, component
from haystack.components.builders import PromptBuilder
from langchain_core.documents import Document
from langchain_core.prompts import PromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from llama_index.core.llms import CompletionResponse, CompletionResponseGen, CustomLLM, LLMMetadata
from llama_index.core.prompts import PromptTemplate as LlamaTemplate
from llama_index.core.query_engine import RetrieverQueryEngine
from mail_graph import MISFIT
from neo4j_graphrag.generation import GraphRAG, RagTemplate
from neo4j_graphrag.llm import LLMInterface, LLMResponse
from pydantic import PrivateAttr
from scripted_model import ScriptedModel

from pkg.integrations import graphrag, haystack, langchain, llama_index
from pkg.models.text_model import Decoding, Message, TextModel

pytestmark = pytest.mark.integrations

QUESTION = "Which function does send_mail call with the address of the customer?"
ASKED = "Code:\n{code}\n\nAnswer in one short sentence by this code alone. {question}"
NOTHING = "no code fits"

Chain = Callable[[str, TextModel, str], str]
"""Answers a question from the address of the graph, the model and the question."""


def ask(model: TextModel, prompt: str) -> str:
    return model.chat((Message("user", prompt),), Decoding(max_tokens=48)).text


def answer_by_langchain(address: str, model: TextModel, question: str) -> str:
    def join(documents: list[Document]) -> str:
        return "\n\n".join(each.page_content for each in documents) or NOTHING

    retriever = langchain.PkgRetriever(address, mode="function", top_k=1)
    chain = (
        {"code": retriever | join, "question": RunnablePassthrough()}
        | PromptTemplate.from_template(ASKED)
        | RunnableLambda(lambda prompt: ask(model, prompt.to_string()))
    )
    return str(chain.invoke(question))


class AskedModel(CustomLLM):
    """A text model with the interface of LlamaIndex."""

    _model: Any = PrivateAttr()

    def __init__(self, model: TextModel) -> None:
        super().__init__()
        self._model = model

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=4096, num_output=48, model_name=self._model.name)

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        return CompletionResponse(text=ask(self._model, prompt))

    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponseGen:
        yield self.complete(prompt)


def answer_by_llama_index(address: str, model: TextModel, question: str) -> str:
    engine = RetrieverQueryEngine.from_args(
        llama_index.PkgRetriever(address, mode="function", top_k=1),
        llm=AskedModel(model),
        text_qa_template=LlamaTemplate(ASKED.replace("{code}", "{context_str}").replace("{question}", "{query_str}")),
    )
    return str(engine.query(question))


def answer_by_haystack(address: str, model: TextModel, question: str) -> str:
    @component
    class Asked:
        """A text model as a component of Haystack."""

        @component.output_types(text=str)
        def run(self, prompt: str) -> dict[str, str]:
            return {"text": ask(model, prompt)}

    code = "{% for each in documents %}{{ each.content }}\n{% else %}" + NOTHING + "{% endfor %}"
    template = ASKED.replace("{question}", "{{ question }}").replace("{code}", code)
    pipeline = Pipeline()
    pipeline.add_component("retriever", haystack.PkgRetriever(address, mode="function", top_k=1))
    pipeline.add_component("prompt", PromptBuilder(template, required_variables=["documents", "question"]))
    pipeline.add_component("model", Asked())
    pipeline.connect("retriever.documents", "prompt.documents")
    pipeline.connect("prompt.prompt", "model.prompt")
    done = pipeline.run({"retriever": {"query": question}, "prompt": {"question": question}})
    return str(done["model"]["text"])


class GraphRagModel(LLMInterface):
    """A text model with the interface of neo4j-graphrag."""

    def __init__(self, model: TextModel) -> None:
        super().__init__(model.name)
        self._model = model

    def invoke(self, input: str, *_: Any, **__: Any) -> LLMResponse:
        return LLMResponse(content=ask(self._model, input))

    async def ainvoke(self, input: str, *_: Any, **__: Any) -> LLMResponse:
        return self.invoke(input)


def answer_by_graphrag(address: str, model: TextModel, question: str) -> str:
    template = RagTemplate(
        ASKED.replace("{code}", "{context}").replace("{question}", "{query_text}"), ["context", "query_text"]
    )
    chain = GraphRAG(graphrag.PkgRetriever(address, mode="function"), GraphRagModel(model), template)
    return str(chain.search(question, retriever_config={"top_k": 1}, return_context=False).answer)


CHAINS = pytest.mark.parametrize(
    "answer", [answer_by_langchain, answer_by_llama_index, answer_by_haystack, answer_by_graphrag]
)


@CHAINS
def test_a_model_is_shown_the_code_that_was_found(address: str, answer: Chain) -> None:
    model = ScriptedModel(["It calls deliver."])
    assert answer(address, model, QUESTION) == "It calls deliver."
    ((asked,),) = model.asked
    assert "return deliver(customer.address, message)" in asked.content
    assert "def deliver(address, message):" in asked.content
    assert QUESTION in asked.content
    assert "count_words" not in asked.content


@CHAINS
def test_a_model_is_shown_no_code_where_none_fits(address: str, answer: Chain) -> None:
    model = ScriptedModel(["I do not know."])
    answer(address, model, MISFIT)
    assert not any("def " in message.content for asked in model.asked for message in asked)


@pytest.mark.model
@CHAINS
def test_a_real_model_answers_by_the_code(address: str, coder: TextModel, answer: Chain) -> None:
    assert "deliver" in answer(address, coder, QUESTION)
