"""Many texts at once."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from threading import Event

import pytest
from scripted_model import Asked, ScriptedModel

from pkg.errors import ModelBusyError
from pkg.models.prompt_batch import Conversation, Hole, Prompt, write_all, write_each
from pkg.models.text_model import Decoding, Generation, Message, Usage

PATIENCE = 60  # seconds for what takes less than one


def test_each_prompt_gets_its_text_in_order() -> None:
    model = ScriptedModel(lambda asked: " ".join(each.content for each in asked))
    prompts: list[Prompt] = ["text", Hole("before", "after"), Conversation((Message("user", "question"),))]
    assert [each.text for each in write_all(model, prompts, Decoding())] == ["text", "before after", "question"]


def test_parallel_requests_are_limited_to_the_useful_number() -> None:
    both_are_there = threading.Barrier(2, timeout=10)

    def meet(asked: Asked) -> str:
        both_are_there.wait()
        return asked[0].content

    model = ScriptedModel(meet, parallel=2)
    assert [each.text for each in write_all(model, ["a", "b", "c", "d"], Decoding())] == ["a", "b", "c", "d"]


class Batcher(ScriptedModel):
    """Write whole batches."""

    batch_size = 2

    def write_batch(self, prompts: Sequence[Prompt], decoding: Decoding) -> list[Generation]:
        return [Generation(f"{number} of {len(prompts)}", "stop", Usage()) for number, _ in enumerate(prompts, 1)]


def test_a_batching_model_gets_all_prompts_at_once() -> None:
    assert [each.text for each in write_all(Batcher([]), ["a", "b"], Decoding())] == ["1 of 2", "2 of 2"]


def test_each_text_is_there_before_the_next_is_requested() -> None:
    model = ScriptedModel(lambda asked: asked[0].content)
    texts = write_each(model, ["a", "b"], Decoding())
    assert (next(texts)[1].text, len(model.asked)) == ("a", 1)
    assert (next(texts)[1].text, len(model.asked)) == ("b", 2)
    batcher = Batcher([])
    found = [(index, each.text) for index, each in write_each(batcher, ["a", "b", "c"], Decoding())]
    assert found == [(0, "1 of 2"), (1, "2 of 2"), (2, "1 of 1")]


@pytest.mark.parametrize("parallel", [1, 3])
def test_texts_before_an_error_are_kept(parallel: int) -> None:
    def answer(asked: Asked) -> str:
        if asked[0].content == "c":
            assert all(each.wait(PATIENCE) for each in written)
            raise ModelBusyError("busy")
        for each, letter in zip(written, "ab", strict=True):
            if asked[0].content == letter:
                each.set()
        return asked[0].content

    written = Event(), Event()
    texts = write_each(ScriptedModel(answer, parallel=parallel), [*"abcd"], Decoding())
    found: list[str] = []
    with pytest.raises(ModelBusyError):
        found.extend(text.text for _, text in texts)
    assert sorted(found)[:2] == ["a", "b"]
    assert "c" not in found


def test_a_text_that_is_written_before_an_earlier_one_is_yielded_first() -> None:
    is_second_kept = Event()

    def answer(asked: Asked) -> str:
        assert asked[0].content == "b" or is_second_kept.wait(PATIENCE)
        return asked[0].content

    texts = write_each(ScriptedModel(answer, parallel=2), ["a", "b"], Decoding())
    assert next(texts)[0] == 1
    is_second_kept.set()
    assert next(texts)[0] == 0


def test_a_text_in_progress_is_yielded_before_the_error_of_another() -> None:
    both_run = threading.Barrier(2, timeout=PATIENCE)

    def answer(asked: Asked) -> str:
        both_run.wait()
        if asked[0].content == "a":
            raise ModelBusyError("busy")
        return asked[0].content

    texts = write_each(ScriptedModel(answer, parallel=2), ["a", "b"], Decoding())
    assert next(texts)[0] == 1
    with pytest.raises(ModelBusyError):
        next(texts)
