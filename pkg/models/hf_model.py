"""Models in this process by transformers and torch: a folder, a name in the user's cache, or a GGUF file (P-22).

Each may have adapters of `pkg tune` (Q-15).
"""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from io import StringIO
from pathlib import Path
from typing import Any, cast

from pkg.errors import MissingExtraError, ModelError, ModelUnfitError, PathError
from pkg.models.adapters import CARD, add_adapter, split_adapters
from pkg.models.answer_text import AnswerText
from pkg.models.fim import FAMILIES, FimFamily, Order, find_family
from pkg.models.gguf_file import identify, read_gguf
from pkg.models.model_options import ModelOptions
from pkg.models.prompt_batch import Conversation, Hole, Prompt
from pkg.models.text_model import Decoding, Finish, Generation, Listen, Message, Usage, check_room

BATCH = 64  # sequences: more are no faster on a CPU, and need more memory
WEIGHTS = ("*.safetensors", "*.bin", "*.gguf")


def open_model(detail: str, options: ModelOptions) -> HfModel:
    """Load a model, with adapters as BASE+ADAPTER.

    Raises MissingExtraError without the packages, PathError for a missing file, and ModelError if loading fails or an
    adapter belongs to another base.
    """
    torch, _ = import_packages(detail, options.allow_download)
    device = options.device or choose_device(torch)
    dtype = options.dtype or _choose_dtype(torch, device)
    if options.threads:
        torch.set_num_threads(options.threads)
    loaded = load_weights(detail, dtype, options.allow_download, device)
    loaded.model.eval()
    return HfModel(f"hf:{detail}", f"hf {loaded.identity} {dtype}", torch, loaded.tokenizer, loaded.model, options)


@dataclass(frozen=True, slots=True)
class BaseFiles:
    """A base without its weights: how to load them, tokenizer, configuration, adapters, and the identity of all."""

    name: str
    place: str  # a folder, or a name in the user's cache
    settings: dict[str, Any]  # to load each part
    tokenizer: Any
    config: Any
    adapters: list[Path]
    identity: str  # depends on the files alone


@dataclass(frozen=True, slots=True)
class LoadedWeights:
    """A model of transformers with its tokenizer, and an identity that depends on its files alone."""

    tokenizer: Any
    model: Any
    identity: str


def import_packages(detail: str, allow_download: bool) -> tuple[Any, Any]:
    """Import torch and transformers, which read once whether they may use the network; raises MissingExtraError."""
    if not allow_download:
        os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        import torch
        import transformers
    except ImportError as fault:
        raise MissingExtraError(fault.name or "transformers", "hf", f"the model 'hf:{detail}'") from None
    return torch, transformers


def load_weights(
    detail: str, dtype: str, allow_download: bool, device: str, merge: bool = False, **more: Any
) -> LoadedWeights:
    """Load a base and its adapters; all adapters but the last are merged into it, and with `merge` that one too.

    more: further arguments for the weights of the base. Raises the errors of open_model, such as ModelError.
    """
    torch, transformers = import_packages(detail, allow_download)
    read = read_base(detail, allow_download)
    with quiet_packages(transformers), explain_faults(read.name):
        try:
            model = transformers.AutoModelForCausalLM.from_pretrained(
                read.place, config=read.config, dtype=getattr(torch, dtype), **read.settings, **more
            )
            if "gguf_file" in read.settings:
                _drop_quantisation(model)
            for number, adapter in enumerate(read.adapters, 1):
                model = _adapt(model, adapter, merge or number < len(read.adapters))
            if not more:  # quantised weights are already on their device
                model.to(device)
        except torch.OutOfMemoryError:
            raise ModelError(
                f"hf:{detail} does not fit into the memory of {device}; try PKG_MODEL_DEVICE=cpu"
            ) from None
    return LoadedWeights(read.tokenizer, model, read.identity)


def read_base(detail: str, allow_download: bool) -> BaseFiles:
    """Read all of a base but its weights.

    Raises PathError for a missing file, and ModelError if it cannot be read or an adapter belongs to another base.
    """
    _, transformers = import_packages(detail, allow_download)
    name, adapters = split_adapters(detail)
    place, arguments, identity = find_weights(name)
    settings = {**arguments, "local_files_only": not allow_download, "trust_remote_code": False}
    with quiet_packages(transformers), explain_faults(name):
        tokenizer = transformers.AutoTokenizer.from_pretrained(place, **settings)
        config = transformers.AutoConfig.from_pretrained(place, **settings)
    identity = identity or str(getattr(config, "_commit_hash", None) or name)
    folders = [Path(each).expanduser() for each in adapters]
    for folder in folders:
        identity = add_adapter(folder, name, identity)
    return BaseFiles(name, place, settings, tokenizer, config, folders, identity)


def _drop_quantisation(model: Any) -> None:
    """Remove the signs of a GGUF file from a model, whose weights are plain once loaded: others would refuse it."""
    for name in ("is_quantized", "quantization_method", "hf_quantizer"):
        model.__dict__.pop(name, None)
    model.config.__dict__.pop("quantization_config", None)
    model.__dict__.pop("_weight_conversions", None)  # names of the file, under which it would be saved


def _adapt(model: Any, adapter: Path, merge: bool) -> Any:
    """Return a model with an adapter in its layers."""
    try:
        from peft import PeftModel
    except ImportError as fault:
        raise MissingExtraError(fault.name or "peft", "train", f"the adapter '{adapter}'") from None
    adapted = PeftModel.from_pretrained(model, str(adapter))
    return adapted.merge_and_unload() if merge else adapted.get_base_model()


def find_weights(detail: str) -> tuple[str, dict[str, str], str]:
    """Return the folder or name to load, more arguments, and the identity if it is known from files.

    Raises PathError for a path without a model.
    """
    path = Path(detail).expanduser()
    if detail.endswith(".gguf"):
        return str(path.parent), {"gguf_file": path.name}, read_gguf(path).identity
    if path.is_dir():
        files = sorted(file for pattern in WEIGHTS for file in path.glob(pattern))
        settings = sorted(file for file in path.glob("*.json") if file.name != CARD)
        return str(path), {}, identify([*files, *settings])
    if path.exists() or detail.startswith((".", "/", "~")):
        raise PathError(f"no model in {path}; expected a folder with weights and a tokenizer, or a GGUF file")
    return detail, {}, ""


def choose_device(torch: Any) -> str:
    """Return the name of the best device of this machine."""
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _choose_dtype(torch: Any, device: str) -> str:
    if device.startswith("cuda"):
        return "bfloat16" if torch.cuda.is_bf16_supported() else "float16"
    if device == "mps":
        return "float16"
    # Reading half the memory makes it about twice as fast, but only if the processor computes bfloat16 itself.
    return "bfloat16" if torch.ops.mkldnn._is_mkldnn_bf16_supported() else "float32"


@contextmanager
def explain_faults(detail: str) -> Iterator[None]:
    """Raise the faults of the packages while they read a base as ModelError."""
    try:
        yield
    except (OSError, ValueError, KeyError, RuntimeError, AttributeError) as fault:
        raise ModelError(_explain_fault(detail, fault)) from None


def _explain_fault(detail: str, fault: Exception) -> str:
    message = " ".join(str(fault).split())[:300]
    folder = Path(detail).expanduser()
    if folder.is_dir() and not any(folder.glob("tokenizer*")):
        return f"hf:{detail} cannot be loaded: it has no tokenizer; expected tokenizer.json beside config.json"
    if isinstance(fault, OSError) and not folder.exists():
        return (
            f"no model '{detail}' on this machine; fetch it once: hf download {detail}, or set PKG_ALLOW_DOWNLOAD=1"
            f" ({message})"
        )
    return f"hf:{detail} cannot be loaded ({message})"


@contextmanager
def quiet_packages(transformers: Any) -> Iterator[None]:
    """Suppress progress bars and warnings of the packages while they load."""
    logging = transformers.utils.logging
    before = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        with redirect_stderr(StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(before)


@dataclass(slots=True)
class _Row:
    """The state of one text of a batch."""

    answer: AnswerText
    ids: list[int]
    decoded: int = 0  # tokens whose text is in the answer
    context: int = 0  # start of the tokens that are decoded again, because one character may take several tokens
    has_ended: bool = False  # by a token of the model


class HfModel:
    """A model in this process, which writes one batch at a time."""

    parallel = 1

    def __init__(self, name: str, identity: str, torch: Any, tokenizer: Any, model: Any, options: ModelOptions) -> None:
        self.name, self.identity = name, identity
        self._torch, self._tokenizer, self._model, self._options = torch, tokenizer, model, options
        self._lock = threading.Lock()

    @property
    def parameters(self) -> int | None:
        """Return the number of parameters."""
        return int(self._model.num_parameters())

    @property
    def batch_size(self) -> int:
        """Return the number of texts that it writes together."""
        return self._options.parallel or BATCH

    @property
    def layers(self) -> int:
        """Return the number of layers."""
        return int(self._model.config.num_hidden_layers)

    def change_attention(self, description: str, change: Callable[[Any], None]) -> None:
        """Change the attention of the loaded model; the description becomes part of its identity."""
        change(self._model)
        self.identity = f"{self.identity} {description}"

    @property
    def window(self) -> int | None:
        """Return the most tokens of prompt and answer together."""
        return self._options.window or getattr(self._model.config, "max_position_embeddings", None)

    @property
    def can_fill(self) -> bool:
        """Return whether its vocabulary has the fill-in-the-middle tokens of a family."""
        return self._family is not None

    @property
    def can_prime(self) -> bool:
        """Return whether it continues a begun answer: if it has a chat template."""
        return self._tokenizer.chat_template is not None

    @cached_property
    def _family(self) -> FimFamily | None:
        words = self._tokenizer.get_vocab()
        named = find_family(self.name)
        return next((each for each in (named, *FAMILIES) if each and all(map(words.__contains__, each.tokens))), None)

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text."""
        return len(self._tokenize(text))

    def complete(self, prompt: str, decoding: Decoding, listen: Listen | None = None) -> Generation:
        """Continue a text; raises ContextLengthError if prompt and answer do not fit."""
        return self._write([prompt], decoding, listen)[0]

    def fill(self, prefix: str, suffix: str, decoding: Decoding) -> Generation:
        """Write the text between two texts (P-07, A-14).

        Raises ModelUnfitError if it cannot, and ContextLengthError if texts and answer do not fit.
        """
        return self._write([Hole(prefix, suffix)], decoding)[0]

    def chat(self, messages: Sequence[Message], decoding: Decoding, listen: Listen | None = None) -> Generation:
        """Answer a conversation.

        Raises ModelUnfitError if it has no chat template, and ContextLengthError if conversation and answer do not fit.
        """
        return self._write([Conversation(tuple(messages))], decoding, listen)[0]

    def write_batch(self, prompts: Sequence[Prompt], decoding: Decoding) -> list[Generation]:
        """Write a text for each prompt, in batches of prompts with similar length."""
        ids = [self._read_prompt(prompt) for prompt in prompts]
        order = sorted(range(len(prompts)), key=lambda number: len(ids[number]))
        size = self.batch_size
        written: dict[int, Generation] = {}
        for start in range(0, len(order), size):
            batch = order[start : start + size]
            written.update(zip(batch, self._write([prompts[number] for number in batch], decoding), strict=True))
        return [written[number] for number in range(len(prompts))]

    def close(self) -> None:
        """Free the model."""
        self._model = None

    def _tokenize(self, text: str, begins: bool = False) -> list[int]:
        return cast("list[int]", self._tokenizer(text, add_special_tokens=begins)["input_ids"])

    def _read_prompt(self, prompt: Prompt) -> list[int]:
        """Return the tokens of a prompt."""
        if isinstance(prompt, Hole):
            return self._read_hole(prompt)
        if isinstance(prompt, Conversation):
            return self._read_conversation(prompt)
        return self._tokenize(prompt, begins=True)

    def _read_hole(self, hole: Hole) -> list[int]:
        if self._family is None:
            raise ModelUnfitError(f"{self.name} has no fill-in-the-middle tokens; use a conversation instead")
        ids = self._tokenize("", begins=True)
        for part in self._family.arrange(*hole, order=cast("Order | None", self._options.order)):
            token = self._tokenizer.convert_tokens_to_ids(part.text) if part.is_token else None
            ids += self._tokenize(self._family.quote(part.text)) if token is None else [token]
        return ids

    def _read_conversation(self, conversation: Conversation) -> list[int]:
        if self._tokenizer.chat_template is None:
            raise ModelUnfitError(f"{self.name} has no chat template; complete a text instead")
        turns = [{"role": each.role, "content": each.content} for each in conversation.messages]
        begun = turns.pop()["content"] if turns[-1]["role"] == "assistant" else ""
        text = self._tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        return self._tokenize(text + begun)

    def _write(self, prompts: Sequence[Prompt], decoding: Decoding, listen: Listen | None = None) -> list[Generation]:
        ids = [self._read_prompt(prompt) for prompt in prompts]
        check_room(self, max(map(len, ids)), decoding)
        stop = decoding.stop
        rows = [_Row(AnswerText(stop, decoding.max_tokens, listen), []) for _ in prompts]
        family_ends = self._family.stop if self._family and any(isinstance(each, Hole) for each in prompts) else ()
        began = time.monotonic()
        with self._lock:
            self._run(ids, rows, decoding, self._find_ends(family_ends))
        seconds = (time.monotonic() - began) / len(prompts)  # each prompt's share
        return [
            Generation(row.answer.finish(), _read_finish(row), Usage(1, len(prompt), len(row.ids), seconds))
            for row, prompt in zip(rows, ids, strict=True)
        ]

    def _find_ends(self, spelled: Sequence[str]) -> frozenset[int]:
        """Return the tokens that end a text: those of the model's configuration, and the given ones."""
        configured = self._model.generation_config.eos_token_id
        named = configured if isinstance(configured, list) else [configured]
        words = self._tokenizer.get_vocab()
        ids = [*named, self._tokenizer.eos_token_id, *(words.get(token) for token in spelled)]
        return frozenset(each for each in ids if each is not None)

    def _run(self, ids: list[list[int]], rows: list[_Row], decoding: Decoding, ends: frozenset[int]) -> None:
        """Write all texts of a batch, token by token, until each has ended."""
        torch, device = self._torch, self._model.device
        longest = max(map(len, ids))
        fill = self._tokenizer.pad_token_id or self._tokenizer.eos_token_id or 0
        padded = torch.tensor([[fill] * (longest - len(each)) + each for each in ids], device=device)
        mask = torch.tensor([[0] * (longest - len(each)) + [1] * len(each) for each in ids], device=device)
        generator = torch.Generator(device).manual_seed(decoding.seed)
        cache = self._new_cache()
        tokens, positions = padded, mask.cumsum(1).sub(1).clamp(min=0)
        with torch.inference_mode():
            for _ in range(decoding.max_tokens):
                out = self._model(
                    input_ids=tokens,
                    attention_mask=mask,
                    position_ids=positions,
                    **cache,
                    use_cache=True,
                    logits_to_keep=1,
                )
                chosen = self._choose(out.logits[:, -1].float(), decoding, generator)
                for row, token in zip(rows, chosen.tolist(), strict=True):
                    self._take(row, token, ends)
                if all(row.has_ended or row.answer.has_ended for row in rows):
                    return
                tokens, positions = chosen[:, None], positions[:, -1:] + 1
                mask = torch.cat((mask, mask.new_ones(len(rows), 1)), dim=1)

    def _new_cache(self) -> dict[str, Any]:
        """Make the cache of keys and values; its argument has one of two names."""
        from transformers import DynamicCache

        name = "cache" if "cache" in signature(self._model.forward).parameters else "past_key_values"
        return {name: DynamicCache(config=self._model.config)}

    def _choose(self, logits: Any, decoding: Decoding, generator: Any) -> Any:
        """Choose the next token of each row, from logits float32 [rows, words]."""
        torch = self._torch
        if decoding.temperature <= 0:
            return logits.argmax(-1)
        shares = (logits / decoding.temperature).softmax(-1)
        if decoding.top_p < 1:
            ordered, places = shares.sort(dim=-1, descending=True)
            ordered[ordered.cumsum(-1) - ordered >= decoding.top_p] = 0  # the likeliest token always stays
            shares = torch.zeros_like(shares).scatter_(-1, places, ordered)
        return torch.multinomial(shares, 1, generator=generator)[:, 0]

    def _take(self, row: _Row, token: int, ends: frozenset[int]) -> None:
        """Add a token to a text that has not ended, once its characters are complete."""
        if row.has_ended or row.answer.has_ended:
            return
        row.ids.append(token)
        if token in ends:
            row.has_ended = True
            return
        before = self._decode(row.ids[row.context : row.decoded])
        text = self._decode(row.ids[row.context :])
        if len(text) > len(before) and not text.endswith("\ufffd"):
            row.answer.add(text[len(before) :])
            row.context, row.decoded = row.decoded, len(row.ids)

    def _decode(self, ids: list[int]) -> str:
        return str(self._tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False))


def _read_finish(row: _Row) -> Finish:
    return "stop" if row.has_ended or row.answer.is_cut else "length"
