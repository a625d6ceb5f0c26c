"""Every error that PKG raises on purpose.

PkgError                       anything below; the command line prints it as one line and exits 1
├── UsageError                 the call itself is wrong (exit 2)
├── TrustError                 what the user has not trusted would decide where credentials, code or models go
├── InputError                 what was to be read cannot be used
│   ├── PathError              missing, unreadable, or of a kind that is not read
│   └── CorpusError            no field with code, or no row that can be read
├── StoreError                 the graph store cannot be used
│   ├── StoreMissingError      there is no graph yet
│   ├── StoreLockedError       another process is writing (transient: try again)
│   ├── StoreChangedError      the graph changed while it was read (transient: try again)
│   ├── StoreCorruptError      damaged, truncated, or not a PKG store
│   ├── StoreVersionError      written by a newer PKG
│   ├── StoreFullError         no room, or no permission to write
│   └── EncoderMismatchError   made with another encoder or dimension
├── LocalErrorsFound           a strict build met internal errors; everything else is stored
├── NodeNotFoundError          no node has that id
├── EncoderError               the model behind an encoder cannot be used
│   ├── EncoderBusyError       its service limits, times out or cannot be reached (transient: try again)
│   └── EncoderAnswerError     it gave back too few vectors, or what is no vector
├── ModelError                 a text model cannot be used
│   ├── ModelBusyError         its service limits, times out or cannot be reached (transient: try again)
│   ├── ModelAnswerError       it gave back what is no answer, such as a page of HTML or half a stream
│   ├── ModelUnfitError        it cannot do what is asked, such as fill a hole
│   └── ContextLengthError     prompt and answer do not fit into its window
├── QueryError                 the question cannot be searched for
│   └── UnknownWordsError      no word of it is known
├── WeightsError               what was learned is missing or damaged
├── SandboxError               code cannot be run safely here
└── MissingExtraError          an optional package is not installed

A message says what was seen, what was expected and what to do. A store address that may be mistyped stands in it as
conceal_address shows it, because it may hold a password.
"""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import unquote


class PkgError(Exception):
    """Stand for any failure that PKG foresees."""


class BuildInterrupted(KeyboardInterrupt):
    """Say that a build was interrupted, and whether the graph holds what it built."""

    def __init__(self, is_stored: bool) -> None:
        super().__init__()
        self.is_stored = is_stored


class UsageError(PkgError):
    """Say that the call itself is wrong."""


class TrustError(PkgError):
    """Say that something the user has not trusted would decide where credentials, code or models go."""


class InputError(PkgError):
    """Say that the input cannot be used."""


class PathError(InputError):
    """Say that a path is missing, unreadable or of a kind that is not read."""


class CorpusError(InputError):
    """Say that a corpus has no usable field or no readable row."""


class StoreError(PkgError):
    """Say that the graph store cannot be used."""


class StoreMissingError(StoreError):
    """Say that there is no graph at this address yet."""


class StoreLockedError(StoreError):
    """Say that another process is writing; trying again may help."""


class StoreChangedError(StoreError):
    """Say that a write ended while a reader looked; trying again gives the new graph."""


class StoreCorruptError(StoreError):
    """Say that the store is damaged or is not ours."""


class StoreVersionError(StoreError):
    """Say that the store was written by a newer PKG."""


class StoreFullError(StoreError):
    """Say that the store cannot be written: no room or no permission."""


class EncoderMismatchError(StoreError):
    """Say that the store was made with another encoder or dimension."""


class LocalErrorsFound(PkgError):  # noqa: N818  # it tells of errors that were dealt with
    """Say that internal errors cost files or call sites of a strict build."""


class NodeNotFoundError(PkgError):
    """Say that no node has the given id."""


class EncoderError(PkgError):
    """Say that the model behind an encoder cannot be used."""


class EncoderBusyError(EncoderError):
    """Say that a service limits, times out or cannot be reached; trying again may help."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait  # seconds that the service asks for


class EncoderAnswerError(EncoderError):
    """Say that a model gave back too few vectors, or what is no vector."""


class ModelError(PkgError):
    """Say that a text model cannot be used."""


class ModelBusyError(ModelError):
    """Say that a service limits, times out or cannot be reached; trying again may help."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait  # seconds that the service asks for


class ModelAnswerError(ModelError):
    """Say that a model gave back what is no answer."""


class ModelUnfitError(ModelError):
    """Say that a model cannot do what is asked of it."""


class ContextLengthError(ModelError):
    """Say that prompt and answer do not fit into the window of a model."""


class QueryError(PkgError):
    """Say that the question cannot be searched for."""


class UnknownWordsError(QueryError):
    """Say that no word of the question is known, so that nothing can fit."""


class WeightsError(PkgError):
    """Say that a file of learned weights is missing or is not the one that belongs here."""


class SandboxError(PkgError):
    """Say that code cannot be run safely here."""


class MissingExtraError(PkgError):
    """Say that an optional package is missing, with the command that installs it."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package '{package}', which is not installed;"
            f" run: pip install 'programming-knowledge-graph[{extra}]'"
        )


def count_things(number: int, thing: str) -> str:
    """Say how many of a thing there are, in words for people: 1 file, 2,000 files."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def refuse_file(path: object, fault: OSError) -> PathError:
    """Make the error for a file that cannot be written."""
    return PathError(f"cannot write {path}: {fault.strerror}; expected a file in a folder that exists")


def shorten(text: str, longest: int) -> str:
    """Cut a text at a number of characters, and show that it was cut."""
    return text if len(text) <= longest else text[: longest - 3] + "..."


FILE_SCHEME = "sqlite:///"
_SCHEME = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*://|(?:neo4j|bolt|sqlite)(?:\+s|\+ssc)?:/*)", re.IGNORECASE)
_LOG_IN = re.compile(r"(?![a-z]:[\\/])/*[^/:]*:.*@", re.IGNORECASE | re.DOTALL)  # but for a drive, as in C:/me@work
_KEY = re.compile(r"[?&;#][^=]*(?:pass|pwd|secret|token|auth|key)[^=]*=", re.IGNORECASE)
_PLACE = re.compile(
    r"""(?:\[[0-9a-f:.]*\]|[a-z]:(?=[\\/]))?  # an address in brackets, or a drive
    [\w.\-~+/\\]*                            # a host or a path
    (?::\d{0,5}(?![^/]))?                     # a port, and nothing else behind a colon
    (?:/[\w.\-~+/\\]*)?""",
    re.IGNORECASE | re.VERBOSE,
)
HIDDEN = "***"


def conceal_address(address: str) -> str:
    """Show a store address without what is a password, or might have been meant as one.

    What stands before the last @ is hidden, and behind it whatever is no host, port or path: the address is often one
    that could not be understood. Percent-encoding and letters that only look like @ or : make no difference.
    """
    plain = _spell_plainly(address)
    if plain.startswith(FILE_SCHEME) and not holds_log_in(address):
        return address
    found = _SCHEME.match(plain)
    scheme, rest = (plain[: found.end()], plain[found.end() :]) if found else ("", plain)
    _, at, place = rest.rpartition("@")
    # A blank may stand in the path of a file; behind a scheme what follows it is no part of the address.
    kept = " ".join(map(_cut_place, place.split(" "))) if not found else _cut_place(place.rstrip())
    kept = kept.partition(HIDDEN)[0] + HIDDEN if HIDDEN in kept else kept
    shown = scheme + (HIDDEN + at if at else "") + kept
    return address if shown == plain.rstrip() else shown


def refuse_password(address: str, place: str, reader: str) -> None:
    """Raise UsageError for a store address with a password that would be written into a file that others may read.

    place: where it would stand, such as 'the file of the agent'. reader: who starts from it, such as 'the agent'.
    """
    if conceal_address(address) != address:
        raise UsageError(
            f"{conceal_address(address)} holds a password, which would stand in {place}; give the address without it,"
            f" and the password by PKG_NEO4J_PASSWORD where {reader} starts"
        )


def holds_log_in(address: str) -> bool:
    """Tell whether the path of a file's address looks like a user and a password, which a file does not have."""
    path = _spell_plainly(address).removeprefix(FILE_SCHEME)
    return _LOG_IN.match(path) is not None or _KEY.search(path) is not None


def _cut_place(text: str) -> str:
    found = _PLACE.match(text)
    kept = found.group() if found else ""
    return kept if kept == text else kept + HIDDEN


def _spell_plainly(address: str) -> str:
    """Undo percent-encoding, however often it was done, and turn letters of other forms into plain ones."""
    while (plain := unicodedata.normalize("NFKC", unquote(address))) != address:
        address = plain
    return plain
