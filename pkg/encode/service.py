"""What is known of the services behind encoders before anything is imported or sent, prefixes of models included."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

from pkg.errors import EncoderError, UsageError

_CODE_QUERY = "Represent this query for searching relevant code: "
_PASSAGE_QUERY = "Represent this sentence for searching relevant passages: "

_PREFIXES = (  # part of the model's name, before a question, before a document; the first that fits
    ("nomic-embed-code", _CODE_QUERY, ""),
    ("coderankembed", _CODE_QUERY, ""),
    ("nomic-embed-text", "search_query: ", "search_document: "),
    ("snowflake-arctic-embed-l-v2", "query: ", ""),
    ("snowflake-arctic-embed-m-v2", "query: ", ""),
    ("snowflake-arctic-embed", _PASSAGE_QUERY, ""),
    ("mxbai-embed-large", _PASSAGE_QUERY, ""),
    ("bge-m3", "", ""),
    ("bge-", _PASSAGE_QUERY, ""),
    ("multilingual-e5-large-instruct", "", ""),
    ("e5-", "query: ", "passage: "),
)


def find_prefix(model: str, is_query: bool) -> str:
    """Give what a model wants before a text, by its name; "" for models that are not known to want any."""
    name = model.lower()
    for part, query, document in _PREFIXES:
        if part in name:
            return query if is_query else document
    return ""


TIMEOUT_SECONDS = 120.0  # of one request: a small server without a graphics card needs long for a batch


@dataclass(frozen=True, slots=True)
class Service:
    """A kind of service: its own address, the variables that name another one and the key, and its models."""

    url: str
    url_variable: str
    key_variable: str
    dimensions: dict[str, int] = field(default_factory=dict)  # of models that are known; others are asked once

    def choose_url(self, url: str | None) -> str:
        """Choose the address: the one of the encoder's name, else that of the environment, else the service's own."""
        return url or os.environ.get(self.url_variable, "").rstrip("/") or self.url

    def read_key(self, url: str) -> str:
        """Read the key from the environment, or raise an EncoderError; a server on this machine may need none."""
        key = os.environ.get(self.key_variable, "").strip()
        if key:
            return key
        if is_here(url):
            return "none"
        raise EncoderError(f"no key for {url}; set {self.key_variable} to the key that the service gave you")


SERVICES = {
    "openai": Service(
        "https://api.openai.com/v1",
        "OPENAI_BASE_URL",
        "OPENAI_API_KEY",
        {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536},
    ),
    "voyage": Service(
        "https://api.voyageai.com/v1",
        "VOYAGE_BASE_URL",
        "VOYAGE_API_KEY",
        {
            "voyage-code-2": 1536, "voyage-code-3": 1024, "voyage-large-2": 1536, "voyage-2": 1024, "voyage-3": 1024,
            "voyage-3-large": 1024, "voyage-3-lite": 512, "voyage-3.5": 1024, "voyage-3.5-lite": 1024,
        },
    ),
}  # fmt: skip


def split_address(detail: str, word: str) -> tuple[str, str | None]:
    """Split NAME@URL; the URL may be missing, and a name may hold an @ of its own; a UsageError without a name."""
    model, at, url = detail.rpartition("@")
    if not at or "://" not in url:
        model, url = detail, ""
    if not model or (url and (urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname)):
        raise UsageError(
            f"no model in the encoder '{word}:{detail}'; expected {word}:NAME or {word}:NAME@http://host/v1"
        )
    return model, url.rstrip("/") or None


def is_here(url: str) -> bool:
    """Tell whether an address is this machine's own."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
