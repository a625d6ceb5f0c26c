"""Read the weights that were trained (training/) and come with PKG, and tell which revision they are of.

Vectors that were made with other weights cannot be compared with those of these.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from pkg.errors import WeightsError

WEIGHTS = Path(__file__).with_name("weights")
MANIFEST = "static.json"
DIGITS = 8  # of the digest: what tells a few revisions apart, and can still be read


@lru_cache(maxsize=4)
def read_revision(folder: Path = WEIGHTS) -> str:
    """Give the digest of the manifest, which holds those of the other files and all else that vectors depend on."""
    return sha256(read_weights(folder, MANIFEST)).hexdigest()[:DIGITS]


def read_weights(folder: Path, name: str) -> bytes:
    """Read one file of the weights; a WeightsError where it is missing."""
    try:
        return (folder / name).read_bytes()
    except OSError as fault:
        raise WeightsError(
            f"cannot read {folder / name} ({fault.strerror}); expected the weights of the encoder 'static' there;"
            " install the package again"
        ) from fault
