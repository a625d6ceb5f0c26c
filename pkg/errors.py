"""Every error that PKG raises on purpose.

PkgError                       anything below; the command line prints it as one line and exits 1
├── UsageError                 the call itself is wrong (exit 2)
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
├── NodeNotFoundError          no node has that id
├── EncoderError               the model behind an encoder cannot be used
│   ├── EncoderBusyError       its service limits, times out or cannot be reached (transient: try again)
│   └── EncoderAnswerError     it gave back too few vectors, or what is no vector
├── QueryError                 the question cannot be searched for
├── WeightsError               what was learned is missing or damaged
├── SandboxError               code cannot be run safely here
└── MissingExtraError          an optional package is not installed

A message says what was seen, what was expected and what to do.
"""

from __future__ import annotations


class PkgError(Exception):
    """Stand for any failure that PKG foresees."""


class UsageError(PkgError):
    """Say that the call itself is wrong."""


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


class QueryError(PkgError):
    """Say that the question cannot be searched for."""


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


def shorten(text: str, longest: int) -> str:
    """Cut a text at a number of characters, and show that it was cut."""
    return text if len(text) <= longest else text[: longest - 3] + "..."
