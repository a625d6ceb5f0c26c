"""Every error that PKG raises on purpose.

PkgError                       base class; the command line prints one line and exits 1
├── UsageError                 the call itself is wrong (exit 2)
├── TrustError                 an untrusted file would decide where credentials, code or models go
├── InputError                 the input cannot be used
│   ├── PathError              missing, unreadable, or of an unsupported kind
│   └── CorpusError            no field with code, or no readable row
├── StoreError                 the graph store cannot be used
│   ├── StoreMissingError      there is no graph yet
│   ├── StoreLockedError       another process is writing (transient: retry)
│   ├── StoreChangedError      the graph changed during a read (transient: retry)
│   ├── StoreCorruptError      damaged, truncated, or not a PKG store
│   ├── StoreVersionError      written by a newer PKG
│   ├── StoreFullError         no room, or no permission to write
│   └── EncoderMismatchError   made with another encoder or dimension
├── LocalErrorsFound           a strict build met internal errors; everything else is stored
├── NodeNotFoundError          no node has that id
├── EncoderError               the model of an encoder cannot be used
│   ├── EncoderBusyError       its service limits requests, times out or is unreachable (transient: retry)
│   └── EncoderAnswerError     it returned too few vectors, or an invalid one
├── ModelError                 a text model cannot be used
│   ├── ModelBusyError         its service limits requests, times out or is unreachable (transient: retry)
│   ├── ModelAnswerError       it returned no valid answer, such as an HTML page or half a stream
│   ├── ModelUnfitError        it lacks an ability, such as filling in the middle
│   └── ContextLengthError     prompt and answer exceed its context window
├── QueryError                 the question cannot be searched for
│   └── UnknownWordsError      none of its words is known
├── WeightsError               a file of learned weights is missing or damaged
├── SandboxError               code cannot be run safely here
└── MissingExtraError          an optional package is not installed

A message says what was seen, what was expected and what to do. Store addresses in messages pass through
conceal_address, because a mistyped one may hold a password.
"""

from __future__ import annotations

import os
import re
import unicodedata
from contextlib import suppress
from typing import Any
from urllib.parse import unquote

DISTRIBUTION = "programming-knowledge-graph"


class PkgError(Exception):
    """Base class of every error that PKG raises on purpose."""


class BuildInterrupted(KeyboardInterrupt):
    """A build was interrupted; ``is_stored`` says whether the graph holds its result.

    kept: files or rows that the next build finds prepared.
    """

    def __init__(self, is_stored: bool, kept: int = 0) -> None:
        super().__init__()
        self.is_stored, self.kept = is_stored, kept


class UsageError(PkgError):
    """The call itself is wrong."""


class TrustError(PkgError):
    """An untrusted file would decide where credentials, code or models go."""


class InputError(PkgError):
    """The input cannot be used."""


class PathError(InputError):
    """A path is missing, unreadable or of an unsupported kind."""


class CorpusError(InputError):
    """A corpus has no usable field or no readable row."""


class StoreError(PkgError):
    """The graph store cannot be used."""


class StoreMissingError(StoreError):
    """There is no graph at this address yet."""


class StoreLockedError(StoreError):
    """Another process is writing; a retry may help."""


class StoreChangedError(StoreError):
    """A write ended during a read; a retry reads the new graph."""


class StoreCorruptError(StoreError):
    """The store is damaged, or is not a PKG store."""


class StoreVersionError(StoreError):
    """The store was written by a newer PKG."""


class StoreFullError(StoreError):
    """The store cannot be written: no room or no permission."""


class EncoderMismatchError(StoreError):
    """The store was made with another encoder or dimension."""


class LocalErrorsFound(PkgError):  # noqa: N818  # the errors were handled
    """Internal errors cost files or call sites of a strict build."""


class NodeNotFoundError(PkgError):
    """No node has the given id."""


class EncoderError(PkgError):
    """The model of an encoder cannot be used."""


class EncoderBusyError(EncoderError):
    """A service limits requests, times out or is unreachable; a retry may help."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait  # seconds that the service asks for


class EncoderAnswerError(EncoderError):
    """A model returned too few vectors, or an invalid one."""


class ModelError(PkgError):
    """A text model cannot be used."""


class ModelBusyError(ModelError):
    """A service limits requests, times out or is unreachable; a retry may help."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait  # seconds that the service asks for


class ModelAnswerError(ModelError):
    """A model returned no valid answer."""


class ModelUnfitError(ModelError):
    """A model lacks an ability that the request needs."""


class ContextLengthError(ModelError):
    """Prompt and answer exceed the context window of a model."""


class QueryError(PkgError):
    """The question cannot be searched for."""


class UnknownWordsError(QueryError):
    """None of the words of the question is known, so nothing can match."""


class WeightsError(PkgError):
    """A file of learned weights is missing or of another version."""


class SandboxError(PkgError):
    """Code cannot be run safely here."""


class MissingExtraError(PkgError):
    """An optional package is missing; the message holds the command that installs it."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package '{package}', which is not installed; run: {name_install(extra)}")


def name_install(extra: str) -> str:
    """Return the command that installs an extra: from the folder that pip installed this from, else by the name alone.

    https://packaging.python.org/en/latest/specifications/direct-url/
    """
    import json
    import shlex
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    found: Any = None
    with suppress(PackageNotFoundError, ValueError):
        found = json.loads(distribution(DISTRIBUTION).read_text("direct_url.json") or "null")
    address = urlsplit(str(found.get("url", ""))) if isinstance(found, dict) and "dir_info" in found else None
    folder = url2pathname(address.path) if address is not None and address.scheme == "file" else ""
    if not os.path.isdir(folder):
        return f"pip install '{DISTRIBUTION}[{extra}]'"
    option = "-e " if found["dir_info"].get("editable") else ""
    return f"pip install {option}{shlex.quote(f'{folder}[{extra}]')}"


def count_things(number: int, thing: str) -> str:
    """Return a count with its noun, as in "1 file" and "2,000 files"."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def refuse_file(path: object, fault: OSError) -> PathError:
    """Build the error for a file that cannot be written."""
    return PathError(f"cannot write {path}: {fault.strerror}; expected a file in a folder that exists")


def shorten(text: str, longest: int) -> str:
    """Truncate a text to a number of characters, with an ellipsis at the cut."""
    return text if len(text) <= longest else text[: longest - 3] + "..."


FILE_SCHEME = "sqlite:///"
SET_SCHEME = "sqlite-set:///"
_SCHEME = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*://|(?:neo4j|bolt|sqlite)(?:\+s|\+ssc)?:/*)", re.IGNORECASE)
_LOG_IN = re.compile(r"(?![a-z]:[\\/])/*[^/:]*:.*@", re.IGNORECASE | re.DOTALL)  # but for a drive, as in C:/me@work
_KEY = re.compile(r"[?&;#][^=]*(?:pass|pwd|secret|token|auth|key)[^=]*=", re.IGNORECASE)
_PLACE = re.compile(
    r"""(?:\[[0-9a-f:.]*\]|[a-z]:(?=[\\/]))?  # an address in brackets, or a drive
    [\w.\-~+/\\]*                            # a host or a path
    (?::\d{0,5}(?![^/]))?                     # a port, and nothing else after a colon
    (?:/[\w.\-~+/\\]*)?""",
    re.IGNORECASE | re.VERBOSE,
)
HIDDEN = "***"


def conceal_address(address: str) -> str:
    """Return a store address without its password, or any part that may have been meant as one.

    Everything before the last @ is hidden, and after it everything but host, port and path: the address is often one
    that could not be parsed. Percent-encoding and characters that only look like @ or : make no difference.
    """
    plain = _spell_plainly(address)
    if plain.startswith((FILE_SCHEME, SET_SCHEME)) and not holds_log_in(address):
        return address
    found = _SCHEME.match(plain)
    scheme, rest = (plain[: found.end()], plain[found.end() :]) if found else ("", plain)
    _, at, place = rest.rpartition("@")
    # The path of a file may contain a blank; with a scheme, the address ends at the first blank.
    kept = " ".join(map(_cut_place, place.split(" "))) if not found else _cut_place(place.rstrip())
    kept = kept.partition(HIDDEN)[0] + HIDDEN if HIDDEN in kept else kept
    shown = scheme + (HIDDEN + at if at else "") + kept
    return address if shown == plain.rstrip() else shown


def refuse_password(address: str, place: str, reader: str) -> None:
    """Raise UsageError for a store address with a password that would be written into a file that others may read.

    place: the file, such as 'the file of the agent'. reader: the program that reads it, such as 'the agent'.
    """
    if conceal_address(address) != address:
        raise UsageError(
            f"{conceal_address(address)} holds a password, which would stand in {place}; give the address without it,"
            f" and the password by PKG_NEO4J_PASSWORD where {reader} starts"
        )


def holds_log_in(address: str) -> bool:
    """Return whether the path of a file address looks like a user and a password."""
    path = _spell_plainly(address).removeprefix(FILE_SCHEME).removeprefix(SET_SCHEME)
    return _LOG_IN.match(path) is not None or _KEY.search(path) is not None


def _cut_place(text: str) -> str:
    found = _PLACE.match(text)
    kept = found.group() if found else ""
    return kept if kept == text else kept + HIDDEN


def _spell_plainly(address: str) -> str:
    """Undo nested percent-encoding and normalise characters to NFKC."""
    while (plain := unicodedata.normalize("NFKC", unquote(address))) != address:
        address = plain
    return plain
