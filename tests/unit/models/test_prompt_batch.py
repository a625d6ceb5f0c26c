"""Many texts at once."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from scripted_model import Asked, ScriptedModel

from pkg.models.prompt_batch import Conversation, Hole, Prompt, write_all
from pkg.models.text_model import Decoding, Generation, Message, Usage


def test_each_prompt_gets_its_text_in_order() -> None:
    model = ScriptedModel(lambda asked: " ".join(each.content for each in asked))
    prompts: list[Prompt] = ["text", Hole("before", "behind"), Conversation((Message("user", "question"),))]
    assert [each.text for each in write_all(model, prompts, Decoding())] == ["text", "before behind", "question"]


def test_parallel_requests_are_limited_to_the_useful_number() -> None:
    both_are_there = threading.Barrier(2, timeout=10)

    def meet(asked: Asked) -> str:
        both_are_there.wait()
        return asked[0].content

    model = ScriptedModel(meet, parallel=2)
    assert [each.text for each in write_all(model, ["a", "b", "c", "d"], Decoding())] == ["a", "b", "c", "d"]


class Batcher(ScriptedModel):
    """Write whole batches."""

    def write_batch(self, prompts: Sequence[Prompt], decoding: Decoding) -> list[Generation]:
        return [Generation(f"{number} of {len(prompts)}", "stop", Usage()) for number, _ in enumerate(prompts, 1)]


def test_a_batching_model_gets_all_prompts_at_once() -> None:
    assert [each.text for each in write_all(Batcher([]), ["a", "b"], Decoding())] == ["1 of 2", "2 of 2"]
