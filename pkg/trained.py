"""Read the trained weights that are part of PKG (training/), and their revision.

Vectors of different revisions cannot be compared.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from pkg.errors import WeightsError

WEIGHTS = Path(__file__).with_name("weights")
MANIFEST = "static.json"
REVISION_DIGITS = 8  # of the digest: enough to distinguish revisions, and readable


@lru_cache(maxsize=4)
def read_revision(folder: Path = WEIGHTS) -> str:
    """Return the digest of the manifest, which has the digests of the other files and all settings of vectors."""
    return sha256(read_weights(folder, MANIFEST)).hexdigest()[:REVISION_DIGITS]


def read_weights(folder: Path, name: str) -> bytes:
    """Read one file of the weights; raise WeightsError if it is missing."""
    try:
        return (folder / name).read_bytes()
    except OSError as fault:
        raise WeightsError(
            f"cannot read {folder / name} ({fault.strerror}); expected the weights of the encoder 'static' there;"
            " install the package again"
        ) from fault
