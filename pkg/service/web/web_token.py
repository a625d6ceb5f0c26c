"""The token that lets programs in: where it is from, when there must be one, and whether a request bears it."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass

from pkg.errors import UsageError
from pkg.service.web.web_access import equals
from pkg.service.web.web_server import is_loopback

TOKEN_VARIABLE = "PKG_SERVE_TOKEN"
SHORTEST_TOKEN = 16  # characters; shorter ones can be tried out


@dataclass(frozen=True, slots=True)
class WebToken:
    """A token, and whether it was made for this run: then whoever started it has to be told."""

    text: str
    is_new: bool


def choose_token(host: str, is_wanted: bool = False) -> WebToken | None:
    """Choose the token: the one that the environment holds, else a new one; None where none is needed.

    Any other address than loopback needs one. A UsageError for one that could be guessed, or that no header can hold.
    """
    kept = os.environ.get(TOKEN_VARIABLE, "").strip()
    if kept and (len(kept) < SHORTEST_TOKEN or not kept.isascii() or not kept.isprintable() or " " in kept):
        raise UsageError(
            f"{TOKEN_VARIABLE} has {len(kept)} characters, or other than letters, digits and signs; expected at least"
            f" {SHORTEST_TOKEN}, such as: {secrets.token_urlsafe(32)}"
        )
    if kept:
        return WebToken(kept, is_new=False)
    return WebToken(secrets.token_urlsafe(32), is_new=True) if is_wanted or not is_loopback(host) else None


def bears_token(header: str, token: str) -> bool:
    """Tell whether the header Authorization bears the token, in a time that tells nothing of it."""
    scheme, _, given = header.partition(" ")
    return scheme.lower() == "bearer" and equals(token, given.strip())
