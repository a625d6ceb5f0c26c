"""The bearer token of a service: its source, when one is required, and its check."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass

from pkg.errors import UsageError
from pkg.service.web.web_access import compare_secrets
from pkg.service.web.web_server import is_loopback

TOKEN_VARIABLE = "PKG_SERVE_TOKEN"
SHORTEST_TOKEN = 16  # characters; shorter ones can be guessed


@dataclass(frozen=True, slots=True)
class WebToken:
    """A token, and whether it was generated for this run and has to be printed."""

    text: str
    is_new: bool


def choose_token(host: str, is_wanted: bool = False) -> WebToken | None:
    """Return the token of the environment, else a new one; None if none is needed.

    Every address but loopback needs one. Raises UsageError for a token that is short or cannot stand in a header.
    """
    kept = os.environ.get(TOKEN_VARIABLE, "").strip()
    if kept and (len(kept) < SHORTEST_TOKEN or not kept.isascii() or not kept.isprintable() or " " in kept):
        raise UsageError(
            f"{TOKEN_VARIABLE} has {len(kept)} characters; expected at least {SHORTEST_TOKEN} printable ASCII"
            f" characters without spaces, such as: {secrets.token_urlsafe(32)}"
        )
    if kept:
        return WebToken(kept, is_new=False)
    return WebToken(secrets.token_urlsafe(32), is_new=True) if is_wanted or not is_loopback(host) else None


def has_bearer_token(header: str, token: str) -> bool:
    """Return whether the header Authorization holds the token, compared in constant time."""
    scheme, _, given = header.partition(" ")
    return scheme.lower() == "bearer" and compare_secrets(token, given.strip())
