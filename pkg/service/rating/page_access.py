"""Let in who has the address that the terminal shows, once; refuse other hosts, other pages and everybody else.

A page on the network can make a browser ask this machine: by a form, or by a name that it lets point here. So a
request counts only with the cookie that the address was exchanged for, if it names this machine as its host, and,
where it changes something, if the page that asks is ours.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field

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


@dataclass(slots=True)
class Visitor:
    """A browser that was let in, and who sits before it, once that is known."""

    rater: str | None
    is_asked: bool = False
    """Whether the participant has told of themselves, or wants not to."""


@dataclass(slots=True)
class PageAccess:
    """The addresses that are given out, and the browsers that came in by them."""

    hosts: tuple[str, ...]
    """What a request may name as its host, with the port; the first one stands in addresses."""
    _tokens: dict[str, str | None] = field(default_factory=dict)
    _visitors: dict[str, Visitor] = field(default_factory=dict)

    @property
    def cookie(self) -> str:
        """Name the cookie: browsers do not tell the ports of one host apart, so the port is in the name."""
        return f"pkg_rate_{self.hosts[0].rpartition(':')[2]}"

    def make_address(self, rater: str | None) -> str:
        """Make an address that lets one browser in, for one rater or for who will give a name."""
        token = secrets.token_urlsafe(32)
        self._tokens[token] = rater
        return f"http://{self.hosts[0]}/?token={token}"

    def exchange(self, token: str) -> str | None:
        """Take a token back for the value of a cookie; None if it is none or was used."""
        known = next((each for each in self._tokens if _equals(each, token)), None)
        if known is None:
            return None
        key = secrets.token_urlsafe(32)
        self._visitors[key] = Visitor(self._tokens.pop(known))
        return key

    def find_visitor(self, key: str | None) -> Visitor | None:
        """Find the browser that has a cookie of this value."""
        return next((found for each, found in self._visitors.items() if _equals(each, key or "")), None)

    def refuse(self, method: str, host: str, origin: str | None) -> str | None:
        """Say why a request is refused whoever asks; None where it is not."""
        if host not in self.hosts:
            return f"this page is not served as '{host[:100]}'; expected {self.hosts[0]}"
        if method not in ("GET", "HEAD") and origin not in self.list_origins():
            return f"a page of '{(origin or 'no origin')[:100]}' may not change anything here"
        return None

    def list_origins(self) -> list[str]:
        """List where our own page may have come from."""
        return [f"http://{host}" for host in self.hosts]


def _equals(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode("utf-8", "replace"))
