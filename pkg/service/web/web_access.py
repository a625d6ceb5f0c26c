"""Let in who has the address that the terminal shows, once; refuse other hosts, other pages and everybody else.

A page on the network can make a browser ask this machine: by a form, or by a name that it lets point here. So a
request counts only if it names this machine as its host and, where it changes something, if the page that asks is
ours. A cookie that an address was exchanged for, or a token, tells who asks.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

COOKIE_DAYS = 30  # a browser that was closed comes back, while the command runs

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""What every answer says: nothing from elsewhere, in no frame, kept nowhere."""

_SHOWN = 100  # characters of a wrong host or origin that its error shows
_OWN_SITES = ("same-origin", "none")
"""What browsers say of what our own page or a person asks for; what others embed they could cause, and not read."""

VisitorT = TypeVar("VisitorT")


@dataclass(frozen=True, slots=True)
class WebHosts:
    """The names under which something is served, and what is refused whoever asks."""

    names: tuple[str, ...]
    """What a request may name as its host, with the port; the first one stands in addresses."""
    has_programs: bool = False
    """Whether programs ask too: they name no page. A browser names it with all that changes something."""

    @property
    def first(self) -> str:
        """Name the host that stands in addresses."""
        return self.names[0]

    def refuse(self, method: str, headers: Mapping[str, str]) -> str | None:
        """Say why a request is refused whoever asks; None where it is not."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if host not in self.names:
            return f"nothing is served here as '{host[:_SHOWN]}'; expected {self.first}"
        is_unnamed = origin is None and (method in ("GET", "HEAD") or self.has_programs)
        if not is_unnamed and origin not in self.list_origins():
            return f"a page of '{(origin or 'no origin')[:_SHOWN]}' may not ask for anything here"
        if headers.get("sec-fetch-site", "none") not in _OWN_SITES and headers.get("sec-fetch-mode") != "navigate":
            return "a page of another site may not ask for anything here; open the address itself"
        return None

    def list_origins(self) -> list[str]:
        """List where our own page may have come from."""
        return [f"http://{name}" for name in self.names]


@dataclass(slots=True)
class BrowserAccess(Generic[VisitorT]):
    """The addresses that are given out, each for one browser, and the browsers that came in by them."""

    hosts: WebHosts
    purpose: str
    """A word for the name of the cookie: two commands may run side by side."""
    _tokens: dict[str, VisitorT] = field(default_factory=dict)
    _visitors: dict[str, VisitorT] = field(default_factory=dict)

    @property
    def cookie(self) -> str:
        """Name the cookie: browsers do not tell the ports of one host apart, so the port is in the name."""
        return f"pkg_{self.purpose}_{self.hosts.first.rpartition(':')[2]}"

    def make_address(self, visitor: VisitorT) -> str:
        """Make an address that lets one browser in, as the visitor that is given."""
        token = secrets.token_urlsafe(32)
        self._tokens[token] = visitor
        return f"http://{self.hosts.first}/?token={token}"

    def exchange(self, token: str) -> str | None:
        """Take a token back for the value of a cookie; None if it is none or was used."""
        known = next((each for each in self._tokens if equals(each, token)), None)
        if known is None:
            return None
        key = secrets.token_urlsafe(32)
        self._visitors[key] = self._tokens.pop(known)
        return key

    def find_visitor(self, key: str | None) -> VisitorT | None:
        """Find the browser that has a cookie of this value."""
        return next((found for each, found in self._visitors.items() if equals(each, key or "")), None)


def equals(one: str, other: str) -> bool:
    """Compare a secret with what was given for it, in a time that tells nothing of it."""
    return hmac.compare_digest(one.encode(), other.encode("utf-8", "replace"))
