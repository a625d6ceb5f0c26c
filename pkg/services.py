"""What encoders and text models share of the services behind them: addresses, keys, waiting and trying again.

Nothing is imported or sent here. A password has no place in the address of a service: keys come from the environment.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timezone
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import Literal, TypeVar
from urllib.parse import urlsplit

from pkg.errors import EncoderBusyError, ModelBusyError, PkgError, UsageError, conceal_address

TIMEOUT_SECONDS = 120.0  # of one request: a small server without a graphics card needs long for a batch
WORST_BYTES_A_TOKEN = 3  # of code: identifiers and signs split finer than prose, which has four


@dataclass(frozen=True, slots=True)
class Service:
    """A kind of service: its own address, and the variables that name another one and the key."""

    url: str
    url_variable: str
    key_variable: str

    def choose_url(self, url: str | None) -> str:
        """Choose the address: the one that was named, else that of the environment, else the service's own.

        Raises UsageError for an address in the environment that is none, or that holds a password.
        """
        if url:
            return url
        written = os.environ.get(self.url_variable, "").strip().rstrip("/")
        return check_url(written, self.url_variable) if written else self.url

    def read_key(self, url: str, fault: type[PkgError]) -> str:
        """Read the key from the environment; a server on this machine may need none.

        Without a key raises the fault that is asked for, such as an EncoderError.
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
    """Split NAME@URL; the URL may be missing, and a name may hold an @ of its own.

    Raises UsageError without a name, for a URL that is none, and for one that holds a password.
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
    """Give an address of a service back; a UsageError for what is none, and where a password may stand in it."""
    if not url:
        return url
    shown = conceal_address(url)
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:  # a port that is no number, a bracket that is not closed
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
    """Show what may be the name of a model or an encoder without a password that its address may hold."""
    head, mark, tail = name.partition("://")
    if not mark:
        return "***" if _seems_log_in(name) else name
    before, at, scheme = head.rpartition("@")
    return f"{before}{at}{conceal_address(f'{scheme}://{tail}')}"


def _seems_log_in(text: str) -> bool:
    """Tell whether a text looks like an address without its scheme: something, user:password@host."""
    before, _, login = text.rpartition("@")[0].rpartition("@")
    return bool(before) and ":" in login


def is_here(url: str) -> bool:
    """Tell whether an address is this machine's own."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text from its bytes, rather too many than too few."""
    return -(-len(text.encode("utf-8", "replace")) // WORST_BYTES_A_TOKEN)


Judgement = Literal["busy", "spent", "key", "missing", "refused"]
"""What a refusal means: try later, no more money, a wrong key, no such model or page, no for good."""


def judge_refusal(status: int, code: object) -> Judgement:
    """Tell from the status of an answer, and from the code of its fault, what a refusal means."""
    if code == "insufficient_quota" or status == 402:
        return "spent"
    if status in (408, 409, 425, 429) or status >= 500:
        return "busy"
    if status in (401, 403):
        return "key"
    return "missing" if status == 404 else "refused"


TRIES = 7  # with the waits below about two minutes: limits are mostly by the minute
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0  # seconds

Found = TypeVar("Found")


def call_patiently(call: Callable[[], Found], sleep: Callable[[float], None] = time.sleep) -> Found:
    """Call until it works; wait as long as the service asks for, else twice as long as before."""
    wait = FIRST_WAIT
    for _ in range(TRIES - 1):
        try:
            return call()
        except (EncoderBusyError, ModelBusyError) as fault:
            sleep(min(wait if fault.wait is None else max(fault.wait, 0.0), LONGEST_WAIT))
            wait *= 2
    return call()


def parse_wait(headers: Mapping[str, str]) -> float | None:
    """Read from the headers of an answer how many seconds a service asks to wait; None where it does not say.

    A moment is counted from the one at which the service says that it answered: its clock is not ours.
    """
    lowered = {str(name).lower(): value for name, value in headers.items()}
    written = lowered.get("retry-after", "")
    try:
        return float(written)
    except ValueError:
        then, now = _parse_moment(written), _parse_moment(lowered.get("date", ""))
    return None if then is None else then - (time.time() if now is None else now)


def _parse_moment(written: str) -> float | None:
    """Read a moment as headers write it, in seconds since 1970; None for what is none."""
    try:
        moment = parsedate_to_datetime(written)
    except (TypeError, ValueError):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()
