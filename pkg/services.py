"""Addresses, keys, retries and waiting times of the services that encoders and text models use.

Nothing is imported or sent here. Keys come from the environment; the address of a service holds no password.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timezone
from ipaddress import ip_address
from typing import Literal, TypeVar
from urllib.parse import urlsplit

from pkg.errors import EncoderBusyError, ModelBusyError, PkgError, UsageError, conceal_address

TIMEOUT_SECONDS = 120.0  # of one request: a small server without a GPU needs long for a batch
WORST_BYTES_A_TOKEN = 3  # of code: identifiers and punctuation split finer than prose, which has four


@dataclass(frozen=True, slots=True)
class Service:
    """A kind of service: its default address, and the variables for another address and the key."""

    url: str
    url_variable: str
    key_variable: str

    def choose_url(self, url: str | None) -> str:
        """Return the given address, else that of the environment, else the default.

        Raises UsageError for an address in the environment that is invalid or holds a password.
        """
        if url:
            return url
        written = os.environ.get(self.url_variable, "").strip().rstrip("/")
        return check_url(written, self.url_variable) if written else self.url

    def read_key(self, url: str, fault: type[PkgError]) -> str:
        """Read the key from the environment; a server on this machine may need none.

        Without a key raises ``fault``, such as EncoderError.
        """
        key = os.environ.get(self.key_variable, "").strip()
        if key:
            return key
        if is_here(url):
            return "none"
        raise fault(f"no key for {url}; set {self.key_variable} to the key that the service gave you")


OPENAI = Service("https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY")
VOYAGE = Service("https://api.voyageai.com/v1", "VOYAGE_BASE_URL", "VOYAGE_API_KEY")


def split_address(detail: str, word: str, what: str) -> tuple[str, str | None]:
    """Split NAME@URL; the URL may be missing, and the name may contain an @.

    Raises UsageError without a name, for an invalid URL, and for one that holds a password.
    """
    head, mark, tail = detail.partition("://")
    model, at, scheme = head.rpartition("@")
    if not mark:
        model, at = detail, ""
    url = f"{scheme}://{tail}" if at else ""
    if not model or (mark and not at) or (not mark and _seems_log_in(detail)):
        raise UsageError(
            f"no model in the {what} '{word}:{conceal_name(detail)}';"
            f" expected {word}:NAME or {word}:NAME@http://host/v1"
        )
    return model, check_url(url.rstrip("/"), f"the {what} '{word}:{model}'", f"{word}:NAME or {word}:NAME@") or None


def check_url(url: str, where: str, before: str = "") -> str:
    """Return the address of a service unchanged; raise UsageError where it is invalid or may hold a password."""
    if not url:
        return url
    shown = conceal_address(url)
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:  # such as an invalid port or an unclosed bracket
        is_address = False
    if shown != url:
        raise UsageError(
            f"{where} has a log-in or a question in its address: {shown}; expected {before}http://host/v1,"
            " and the key in the environment"
        )
    if not is_address:
        raise UsageError(f"{where} has no address: {shown}; expected {before}http://host/v1")
    return url


def conceal_name(name: str) -> str:
    """Return the name of a model or an encoder without the password that its address may hold."""
    head, mark, tail = name.partition("://")
    if not mark:
        return "***" if _seems_log_in(name) else name
    before, at, scheme = head.rpartition("@")
    return f"{before}{at}{conceal_address(f'{scheme}://{tail}')}"


def _seems_log_in(text: str) -> bool:
    """Return whether a text looks like an address without its scheme, such as name@user:password@host."""
    before, _, login = text.rpartition("@")[0].rpartition("@")
    return bool(before) and ":" in login


def is_here(url: str) -> bool:
    """Return whether an address is on this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def estimate_tokens(text: str) -> int:
    """Return an upper estimate of the tokens of a text, from its bytes."""
    return -(-len(text.encode("utf-8", "replace")) // WORST_BYTES_A_TOKEN)


Judgement = Literal["busy", "spent", "key", "missing", "refused"]
"""The meaning of a refusal: retry later, quota used up, wrong key, unknown model or page, permanent refusal."""


def judge_refusal(status: int, code: object) -> Judgement:
    """Classify a refusal by the status and the error code of a response."""
    if code == "insufficient_quota" or status == 402:
        return "spent"
    if status in (408, 409, 425, 429) or status >= 500:
        return "busy"
    if status in (401, 403):
        return "key"
    return "missing" if status == 404 else "refused"


TRIES = 7  # about two minutes with the waits below: most limits are per minute
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0  # seconds

Found = TypeVar("Found")


def call_patiently(call: Callable[[], Found], sleep: Callable[[float], None] = time.sleep) -> Found:
    """Retry a call while the service is busy, after the wait that it asks for, else with exponential backoff."""
    wait = FIRST_WAIT
    for _ in range(TRIES - 1):
        try:
            return call()
        except (EncoderBusyError, ModelBusyError) as fault:
            sleep(min(wait if fault.wait is None else max(fault.wait, 0.0), LONGEST_WAIT))
            wait *= 2
    return call()


def parse_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the headers of a response ask to wait; None without such a header.

    A date is measured from the Date header, because the clock of the service may differ.
    """
    lowered = {str(name).lower(): value for name, value in headers.items()}
    written = lowered.get("retry-after", "")
    try:
        return float(written)
    except ValueError:
        then, now = _parse_moment(written), _parse_moment(lowered.get("date", ""))
    return None if then is None else then - (time.time() if now is None else now)


def _parse_moment(written: str) -> float | None:
    """Parse a date of a header into seconds since 1970; None where it is invalid."""
    from email.utils import parsedate_to_datetime  # with the modules of sockets, which few commands need

    try:
        moment = parsedate_to_datetime(written)
    except (TypeError, ValueError):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()
