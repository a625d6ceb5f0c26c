"""Run statements on a server without the driver spelling out what travels with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neo4j import ManagedTransaction, Result, Session, Transaction


class Runner:
    """Run statements in a transaction or session.

    The driver writes all parameters into a message for its log before it asks whether anybody keeps that: for a list of
    vectors, this takes ten times as long as to send it. And a log is no place for analysed code.
    """

    def __init__(self, inner: ManagedTransaction | Transaction | Session) -> None:
        self._inner = inner

    def run(self, statement: str, /, **parameters: Any) -> Result:
        """Send a statement; lists are the parameters that may be long."""
        hidden = {name: _Unspelled(each) if isinstance(each, list) else each for name, each in parameters.items()}
        return self._inner.run(statement, hidden)


class _Unspelled(list[Any]):
    """A list that tells only its length."""

    def __repr__(self) -> str:
        return f"[{len(self)} items]"
