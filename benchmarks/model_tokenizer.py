"""The tokenizer of a model, read from its GGUF file, for the true cost of a text to an agent."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pkg.errors import MissingExtraError, ModelError

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _LIST = 8, 9
_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""Pattern by which Qwen2 and similar models split a text before merging pairs; a GGUF file only names it."""


def read_token_counter(path: Path) -> Callable[[str], int]:
    """Read the tokenizer of a GGUF file and return a function that counts tokens; a ModelError for another kind."""
    try:
        from tokenizers import Regex, Tokenizer
        from tokenizers.models import BPE
        from tokenizers.pre_tokenizers import ByteLevel, Sequence, Split
    except ImportError as fault:
        raise MissingExtraError("tokenizers", "minilm", "counting the tokens of a model") from fault
    head = _read_head(path)
    if head.get("tokenizer.ggml.pre") != "qwen2":
        raise ModelError(f"{path} has the tokenizer '{head.get('tokenizer.ggml.pre')}'; expected qwen2")
    words = {word: number for number, word in enumerate(head["tokenizer.ggml.tokens"])}
    pairs = [tuple(pair.split(" ", 1)) for pair in head["tokenizer.ggml.merges"]]
    tokenizer = Tokenizer(BPE(words, pairs))
    tokenizer.pre_tokenizer = Sequence(
        [Split(Regex(_WORDS), "isolated"), ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def _read_head(path: Path) -> dict[str, Any]:
    """Read all settings of the header, including the lists of tokens."""
    with path.open("rb") as file:

        def number(code: str) -> Any:
            return struct.unpack(f"<{code}", file.read(struct.calcsize(f"<{code}")))[0]

        def value(kind: int) -> Any:
            if kind == _TEXT:
                return file.read(number("Q")).decode("utf-8", "replace")
            if kind == _LIST:
                inner, length = number("I"), number("Q")
                return [value(inner) for _ in range(length)]
            return number(_NUMBERS[kind])

        file.seek(8)  # after magic and version
        _, count = number("Q"), number("Q")
        return {value(_TEXT): value(number("I")) for _ in range(count)}
