"""What is kept of a file for the next resolution: a digest of what its links depend on, and these by its sites.

A record is a store's to keep and nobody else's to read; one of another version or a damaged one counts as none.
"""

from __future__ import annotations

import json
import zlib
from hashlib import blake2b
from typing import NamedTuple

from pkg.extract.summary.file_summary import split_summary
from pkg.model import Class, Edge, RelationType
from pkg.resolution.placed_links import FileLinks, SiteLinks
from pkg.resolve.facts import file_records
from pkg.units import UnitText

_SIZE = 16  # bytes of a digest
NO_DIGEST = bytes(_SIZE)
"""Equal to that of no file: for what was resolved with a fault, and has to be resolved again."""


class LinkRecord(NamedTuple):
    """What was kept of a file."""

    digest: bytes
    links: bytes  # packed

    def pack(self) -> bytes:
        """Write the record."""
        return bytes([file_records.VERSION]) + self.digest + self.links


def cut_record(packed: bytes) -> LinkRecord | None:
    """Cut a record into its parts; None for one of another version."""
    if packed[:1] != bytes([file_records.VERSION]) or len(packed) <= _SIZE:
        return None
    return LinkRecord(packed[1 : _SIZE + 1], packed[_SIZE + 1 :])


def digest_unit(unit: UnitText) -> bytes:
    """Return the digest of all that links depend on in a file: its text but for comments, and where nothing stands."""
    definitions = [[isinstance(each, Class), each.qualname] for each in unit.definitions]
    imports = [list(each)[1:] for each in unit.imports]  # without their places
    told = json.dumps([definitions, imports], separators=(",", ":")).encode("utf-8", "surrogatepass")
    return blake2b(split_summary(unit.summary)[0] + b"\n" + told, digest_size=_SIZE).digest()


def pack_links(links: FileLinks) -> bytes:
    """Pack the links of a file. Ids stand once each."""
    ids: dict[str, int] = {}
    edges = [(each.type.value, _count(ids, each.start), _count(ids, each.end), *each[3:]) for each in links.edges]
    sites = [
        (
            site, definition, _count(ids, owner),
            [(_count(ids, identity), rule, confidence) for identity, rule, confidence in ends], reason,
        )
        for site, definition, owner, ends, reason in links.sites
    ]  # fmt: skip
    written = json.dumps([edges, sites, links.libraries, "".join(ids)], separators=(",", ":"))
    return zlib.compress(written.encode("utf-8", "surrogatepass"), 4)


def _count(ids: dict[str, int], identity: str) -> int:
    return ids.setdefault(identity, len(ids))


def unpack_links(packed: bytes) -> FileLinks | None:
    """Return the links of a file that were packed; None where they are damaged."""
    try:
        edges, sites, libraries, written = json.loads(zlib.decompress(packed))
    except (zlib.error, ValueError):
        return None
    ids = [written[start : start + 16] for start in range(0, len(written), 16)]
    return FileLinks(
        [Edge(RelationType(kind), ids[start], ids[end], *rest) for kind, start, end, *rest in edges],
        [
            SiteLinks(site, definition, ids[owner], [(ids[end], *rest) for end, *rest in ends], reason)
            for site, definition, owner, ends, reason in sites
        ],
        libraries,
    )
