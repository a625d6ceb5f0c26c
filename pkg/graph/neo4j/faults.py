"""Translate errors of the server, the driver and the connection into StoreError with actionable messages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pkg.errors import StoreError, StoreFullError, StoreLockedError

if TYPE_CHECKING:
    from pkg.graph.neo4j.address import Address

_ADVICE = {
    "Unauthorized": "set PKG_NEO4J_USER and PKG_NEO4J_PASSWORD to a user of the server",
    "AuthenticationRateLimit": "wait a few seconds, then try again with the right password",
    "CredentialsExpired": "the password must be changed first, in the Browser or with ALTER CURRENT USER",
    "DatabaseNotFound": "name one that exists: neo4j://host/DATABASE, or PKG_NEO4J_DATABASE",
    "Forbidden": "use a user that may do this, such as one with the role publisher",
    "AccessMode": "queries use read-only sessions; use pkg build to change the graph",
    "ConstraintCreationFailed": "nodes of another program conflict; use another database",
    "IndexAlreadyExists": "an index of another program conflicts; drop it, or use another database",
    "ProcedureCallFailed": "run pkg build again, which makes indexes that are missing",
    "DatabaseUnavailable": "see the logs of the server, and start it again",
}
_ENDED = ("Terminated", "TransactionTimedOut", "TransactionTimedOutClientConfiguration", "LockClientStopped")
"""Codes of a transaction that the server or an administrator has terminated."""
_NO_MEMORY = ("MemoryPoolOutOfMemoryError", "TransactionOutOfMemoryError", "OutOfMemoryError")
_NO_SPACE = ("no space left", "disk", "file too large", "quota")


@contextmanager
def translate_faults(address: Address, is_writing: bool = False) -> Iterator[None]:
    """Raise StoreError for errors of the driver; the message names the server.

    is_writing: a loss of the connection interrupts a write.
    """
    from neo4j import exceptions

    try:
        yield
    except exceptions.IncompleteCommit as fault:
        raise StoreError(
            f"the connection to {address} was lost during a commit ({find_reason(fault)}); the graph is whole, as it"
            " was before or as it is after this write; see that the server runs, then run the same again"
        ) from fault
    except (exceptions.ServiceUnavailable, exceptions.SessionExpired) as fault:
        raise StoreError(_describe_loss(address, find_reason(fault), is_writing)) from fault
    except exceptions.Neo4jError as fault:
        raise _translate(address, fault.code or "", _first_line(fault.message or fault)) from fault
    except exceptions.DriverError as fault:
        raise StoreError(f"{address}: {_first_line(fault)}; see that the server runs, then try again") from fault


def was_ended(fault: BaseException) -> bool:
    """Return whether the server terminated a transaction, as it does when a wait for a lock times out."""
    return str(getattr(fault, "code", None)).rpartition(".")[2] in _ENDED


def find_reason(fault: BaseException) -> str:
    """Return the innermost cause of a fault, such as the system's message about the connection."""
    from ssl import SSLError

    while inner := _find_cause(fault):
        fault = inner
    if isinstance(fault, OSError) and fault.strerror and not isinstance(fault, SSLError):
        return fault.strerror
    reason = str(fault).strip().rpartition("\n")[2]
    return _CLOSED if "defunct" in reason or reason in ("", "No data") else reason


_CLOSED = "closed by the other end"


def _find_cause(fault: BaseException) -> BaseException | None:
    from neo4j.exceptions import DriverError

    group: tuple[BaseException, ...] = getattr(fault, "exceptions", ())
    if group or fault.__cause__:
        return group[0] if group else fault.__cause__
    around = fault.__context__  # may be any exception being handled
    return around if isinstance(around, (DriverError, OSError)) or hasattr(around, "exceptions") else None


def _describe_loss(address: Address, reason: str, is_writing: bool) -> str:
    if is_writing:
        return (
            f"the connection to {address} was lost ({reason}); the graph is as it was before this write; see that the"
            " server runs, then run the same again"
        )
    if "SSL" in reason or "certificate" in reason:
        return (
            f"cannot reach {address} ({reason}); expected encryption with a certificate that this machine trusts; use"
            " neo4j+ssc:// or bolt+ssc:// for one that signs itself, neo4j:// or bolt:// for none"
        )
    if "looks like HTTP" in reason:
        return f"{address} is the port of a web page; expected that of Bolt, which is 7687 unless it was changed"
    return f"cannot reach {address} ({reason}); start the server, or check host and port"


def _translate(address: Address, code: str, message: str) -> StoreError:
    title, message = code.rpartition(".")[2], message.rstrip(" .")
    if "missing key `scheme`" in message:  # the server's message for a missing user
        message = "no password was given"
    if title in _ADVICE:
        return StoreError(f"{address} refuses: {message}; {_ADVICE[title]}")
    if title in _NO_MEMORY:
        return StoreFullError(
            f"{address}: the write does not fit the memory for transactions ({message}); raise"
            " server.memory.heap.max_size and db.memory.transaction.max, or remove the source and build it again"
        )
    if title in _ENDED:
        return StoreError(
            f"{address} ended the transaction ({message}); expected no timeout, or a longer one; raise"
            " db.transaction.timeout and run the same again"
        )
    if title == "LockAcquisitionTimeout":
        return StoreLockedError(f"another process is writing {address}; wait for it to end, then try again")
    if title == "TransactionLogError" or any(words in message.lower() for words in _NO_SPACE):
        return StoreFullError(
            f"{address} cannot write ({message.partition(':')[0]}); free some space on the server's disk, start the"
            " server again, then run the same again"
        )
    if code.startswith("Neo.TransientError"):
        return StoreLockedError(f"{address} is busy ({message}); try again")
    return StoreError(f"{address}: {message} ({code})")


def _first_line(fault: object) -> str:
    return (str(fault).strip().splitlines() or [type(fault).__name__])[0]
