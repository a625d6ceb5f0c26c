"""One store of a set: it is only read, and another member answers for some of its fragments."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pkg.errors import StoreMissingError
from pkg.graph.embedded import sql
from pkg.graph.embedded.checksums import find_damage
from pkg.graph.embedded.database_file import READ_CACHE_KB
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.graph.embedded.indexes import EmbeddedTerms, EmbeddedVectors
from pkg.graph.sets.repeats import Repeat
from pkg.graph.sqlite_rows import translate_faults
from pkg.model import Label
from pkg.units import format_id

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class SetMember(EmbeddedStore):
    """A store of a set of several, whose relationships may end in another member."""

    _checks: ClassVar[Mapping[str, str]] = {
        fault: statement for fault, statement in sql.CHECKS.items() if fault != sql.LOOSE
    }

    def __init__(self, path: Path, members: int) -> None:
        """Open a store of a set; raise StoreMissingError for one without a graph.

        members: number of members, which share the memory for pages.
        """
        super().__init__(path)
        self.name = path.name
        self.repeats: list[Repeat] = []
        self._repeated: set[int] = set()
        with translate_faults(self.address):
            self._connection.execute(f"PRAGMA cache_size = -{READ_CACHE_KB // members:d}")
        if not self.generation():
            self.close()
            raise StoreMissingError(
                f"the first build of {self.address} has not ended; run it again, or delete the file"
            )

    def leave_out(self, repeats: list[Repeat]) -> None:
        """Set the fragments that another member answers for."""
        self.repeats, self._repeated = repeats, {each.fragment for each in repeats}

    @property
    def connection(self) -> sqlite3.Connection:
        """Return the connection, for relationships that lead from member to member."""
        return self._connection

    @property
    def vectors(self) -> EmbeddedVectors:
        """Return the vectors, with those that another member answers for."""
        return self._vectors

    @property
    def terms(self) -> EmbeddedTerms:
        """Return the terms, with those that another member answers for."""
        return self._terms

    def locate(self, statement: str, numbers: str) -> Iterator[tuple[int, str]]:
        """Yield (signed id, path of an unresolved call) of the nodes that this member answers for.

        statement: of sql.LOCATE; numbers: signed ids as JSON.
        """
        for identity, fragment, path in self._connection.execute(statement, (numbers,)):
            if fragment not in self._repeated:
                yield identity, path

    def list_repeated(self, source: str | None = None) -> dict[str, Label]:
        """Return the nodes of a source, or of all, in the fragments that another member answers for."""
        rows = self._connection.execute(sql.LIST_NODES_OF, (json.dumps(sorted(self._repeated)), source))
        return {format_id(identity % (1 << 64)): sql.LABELS[label] for identity, label in rows}

    def list_shared_ids(self, source: str | None) -> dict[Label, npt.NDArray[np.int64]]:
        """Return the ids of the nodes of a source, or of all, that another member may also have: int64 [n] by label."""
        import numpy as np

        found: dict[Label, npt.NDArray[np.int64]] = {}
        for label in (Label.FUNCTION_NAME, Label.LIBRARY, Label.CALL):
            rows = self._connection.execute(sql.LIST_SHARED_IDS[label], (source,))
            found[label] = np.fromiter((identity for (identity,) in rows), np.int64)
        return found

    def list_loose_ends(self) -> list[str]:
        """Return the ends of relationships that are not in this member."""
        return [format_id(end % (1 << 64)) for (end,) in self._connection.execute(sql.LIST_LOOSE_ENDS)]

    def export_nodes(self, vectors: bool) -> Iterator[dict[str, Any]]:
        """Yield every node as a JSON-ready line, ordered by label and id."""
        return self._reader.export_nodes(vectors)

    def find_damage(self) -> list[str]:
        """Return descriptions of rows that differ from their checksums."""
        return find_damage(self._connection)
