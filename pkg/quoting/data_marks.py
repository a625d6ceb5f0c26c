"""Put texts between marks that they cannot close, so that nothing in them passes for the words around them."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable

from pkg.quoting.hidden_characters import spell_hidden
from pkg.quoting.special_tokens import break_tokens

_TAG_LENGTH = 8  # hexadecimal digits


def quote_data(text: str) -> str:
    """Quote a text for a prompt: its hidden characters are spelled, and its control tokens are broken."""
    return break_tokens(spell_hidden(text))


def quote_line(text: str) -> str:
    """Quote a name or place for a prompt on one line, whatever it holds."""
    return quote_data(" ".join(text.split()))


def fence_data(text: str) -> str:
    """Quote a text for a prompt, and put it into a fence that it cannot close."""
    quoted = quote_data(text)
    fence = choose_fence([quoted])
    return f"{fence}\n{quoted}\n{fence}"


def choose_tag(texts: Iterable[str]) -> str:
    """Return a word that none of the texts holds, the same for the same texts: prompts are keys of caches."""
    joined = "\0".join(texts)
    tag, seed = "", joined.encode("utf-8", "replace")
    while not tag or tag in joined:
        seed = hashlib.sha256(seed).digest()
        tag = seed.hex()[:_TAG_LENGTH]
    return tag


def tag_data(text: str, name: str, tag: str) -> str:
    """Quote a text for a prompt, and put it between tags of a name with a word from choose_tag."""
    return f"<{name}-{tag}>\n{quote_data(text)}\n</{name}-{tag}>"


def mark_data(text: str) -> str:
    """Put a text for an agent between tags that it does not hold, with its hidden characters spelled.

    The name of the tags is drawn for each text: whoever wrote the code has not seen it, and cannot close it.
    """
    shown = spell_hidden(text)
    tag = _draw_tag()
    while tag in shown:
        tag = _draw_tag()
    return f"<{tag}>\n{shown}\n</{tag}>"


def _draw_tag() -> str:
    return f"data-{secrets.token_hex(8)}"


def choose_fence(texts: Iterable[str], least: int = 3) -> str:
    """Return a run of backticks that none of the texts holds, so that they can neither end it nor pass for it."""
    longest = max((len(run) for text in texts for run in re.findall("`+", text)), default=0)
    return "`" * max(least, longest + 1)
