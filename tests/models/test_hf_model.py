"""Models through transformers: a tiny untrained one, and a real small coder from its GGUF file.

Needs torch, which takes 5.9 GB; skipped without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pkg.errors import ContextLengthError, ModelError, ModelUnfitError, PathError
from pkg.models.hf_model import HfModel
from pkg.models.model_options import ModelOptions
from pkg.models.prompt_batch import Conversation, Hole, Prompt, write_all, write_each
from pkg.models.registry import open_model
from pkg.models.text_model import Decoding, Message, TextModel

pytestmark = pytest.mark.model

pytest.importorskip("torch", reason="no torch; pip install 'programming-knowledge-graph[hf]' takes 5.9 GB")
pytest.importorskip("transformers")

WORDS = ["<unk>", "<s>", "</s>", "<fim_prefix>", "<fim_suffix>", "<fim_middle>", *"abcdefghijklmnopqrstuvwxyz ()=+:\n"]
FORM = "{% for m in messages %}{{ m.role[0] }}: {{ m.content }}\n{% endfor %}"
FORM += "{% if add_generation_prompt %}a: {% endif %}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write an untrained model of one layer, whose tokens are letters."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    place = tmp_path_factory.mktemp("tiny")
    letters = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="<unk>"))
    letters.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    letters.add_special_tokens(WORDS[1:6])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=letters, bos_token="<s>", eos_token="</s>", unk_token="<unk>", chat_template=FORM
    )
    tokenizer.save_pretrained(place)
    torch.manual_seed(0)
    sizes: dict[str, Any] = {"hidden_size": 16, "intermediate_size": 32, "num_attention_heads": 2}
    config = LlamaConfig(
        vocab_size=len(WORDS), num_hidden_layers=1, max_position_embeddings=64, eos_token_id=2, bos_token_id=1, **sizes
    )
    LlamaForCausalLM(config).save_pretrained(place)
    return place


@pytest.fixture(scope="module")
def tiny(folder: Path) -> Iterator[HfModel]:
    opened = open_model(f"hf:{folder}", ModelOptions(dtype="float32", threads=1, device="cpu"))
    assert isinstance(opened, HfModel)
    with closing(opened):
        yield opened


def test_it_reports_its_capabilities(tiny: HfModel) -> None:
    assert (tiny.window, tiny.can_fill, tiny.can_prime, tiny.count_tokens("def f")) == (64, True, True, 5)


def test_a_text_is_streamed_and_ends_at_its_length_or_before_a_stop_string(tiny: HfModel) -> None:
    told: list[str] = []
    whole = tiny.complete("def f", Decoding(max_tokens=10), told.append)
    assert (whole.finish, whole.usage.completion_tokens, "".join(told)) == ("length", 10, whole.text)
    assert len(whole.text) > 3
    cut = tiny.complete("def f", Decoding(max_tokens=10, stop=(whole.text[3],)))
    assert (cut.finish, cut.text) == ("stop", whole.text[: whole.text.index(whole.text[3])])


def test_texts_of_a_batch_equal_those_of_single_requests(tiny: HfModel) -> None:
    prompts: list[Prompt] = ["def f", "a", Hole("a = ", "\nb"), Conversation((Message("user", "hi"),)), "x" * 30]
    decoding = Decoding(max_tokens=8)
    alone = [write_all(tiny, [prompt], decoding)[0] for prompt in prompts]
    together = [text for _, text in write_each(tiny, prompts, decoding)]
    assert len({each.usage.seconds for each in together}) == 1, "each was written alone"
    assert [each.text for each in together] == [each.text for each in alone]
    assert [each.usage.prompt_tokens for each in together] == [each.usage.prompt_tokens for each in alone]


def test_a_prefilled_answer_is_continued(tiny: HfModel) -> None:
    begun = tiny.chat([Message("user", "hi"), Message("assistant", "def ")], Decoding(max_tokens=6))
    assert begun.text == tiny.complete("u: hi\na: def ", Decoding(max_tokens=6)).text


def test_a_hole_is_marked_by_tokens_and_its_texts_are_escaped(tiny: HfModel) -> None:
    short = Decoding(max_tokens=1)
    assert tiny.fill("ab", "c", short).usage.prompt_tokens == 6
    assert tiny.fill("ab<fim_middle>", "c", short).usage.prompt_tokens > 6 + 10


def test_a_seed_determines_samples_and_a_small_top_p_is_greedy(tiny: HfModel) -> None:
    def draw(seed: int, top_p: float = 1.0) -> str:
        return tiny.complete("def f", Decoding(max_tokens=12, temperature=1.5, seed=seed, top_p=top_p)).text

    assert draw(1) == draw(1) != draw(2)
    assert draw(1, 1e-6) == draw(2, 1e-6) == tiny.complete("def f", Decoding(max_tokens=12)).text


def test_a_prompt_longer_than_the_window_is_refused(tiny: HfModel) -> None:
    with pytest.raises(ContextLengthError, match="a window of 64 tokens; a prompt of 60 and an answer of up to 8"):
        tiny.complete("x" * 60, Decoding(max_tokens=8))


def test_a_model_without_a_chat_template_or_tokens_reports_it(folder: Path, tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template = None
    tokenizer.save_pretrained(tmp_path)
    AutoModelForCausalLM.from_pretrained(folder).save_pretrained(tmp_path)
    (tmp_path / "chat_template.jinja").unlink(missing_ok=True)
    text = (tmp_path / "tokenizer.json").read_text(encoding="utf-8")
    (tmp_path / "tokenizer.json").write_text(text.replace("fim_middle", "nothing"), encoding="utf-8")
    with closing(open_model(f"hf:{tmp_path}", ModelOptions(device="cpu"))) as bare:
        assert (bare.can_fill, bare.can_prime) == (False, False)
        with pytest.raises(ModelUnfitError, match="no chat template"):
            bare.chat([Message("user", "hi")], Decoding())
        with pytest.raises(ModelUnfitError, match="no fill-in-the-middle tokens"):
            bare.fill("a", "b", Decoding())


def test_a_missing_model_is_named_and_nothing_is_downloaded(tmp_path: Path) -> None:
    with pytest.raises(PathError, match="expected a folder with weights"):
        open_model(f"hf:{tmp_path}/none")
    with pytest.raises(ModelError, match="no model 'owner/missing' on this machine; fetch it once: hf download"):
        open_model("hf:owner/missing")
    with pytest.raises(ModelError, match="cannot be loaded: it has no tokenizer"):
        open_model(f"hf:{tmp_path}")


def test_the_identity_depends_on_the_weights(folder: Path, tiny: HfModel) -> None:
    with closing(open_model(f"hf:{folder}", ModelOptions(dtype="bfloat16", device="cpu"))) as other:
        assert other.identity != tiny.identity
        assert other.identity.rpartition(" ")[0] == tiny.identity.rpartition(" ")[0]


@pytest.mark.slow
def test_the_small_coder_writes_as_it_does_in_llama(coder: TextModel, coder_file: Path) -> None:
    begun = [Message("user", "Write a function add."), Message("assistant", "def add(a, b):\n    return")]
    short = Decoding(max_tokens=8, stop=("\n",))
    with closing(open_model(f"hf:{coder_file}", ModelOptions(device="cpu"))) as model:
        assert model.chat(begun, short).text == coder.chat(begun, short).text == " a + b"
        assert model.can_fill
        assert model.fill("def add(a, b):\n    return ", "\n", short).text == "a + b"
