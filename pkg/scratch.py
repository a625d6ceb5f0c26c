"""Tables that a build needs for itself, kept on disk without a name, so that memory does not grow with its input."""

from __future__ import annotations

import sqlite3


def open_scratch(schema: str) -> sqlite3.Connection:
    """Make tables in a temporary file that is gone when the connection is closed; nothing in it is ever undone."""
    connection = sqlite3.connect("", isolation_level=None)
    connection.execute("PRAGMA journal_mode = OFF")
    connection.executescript(schema)
    connection.execute("BEGIN")
    return connection
