"""What encoding, building and storing agree on about terms: the number that stands for one in an index.

A term is a stemmed word (pkg.terms.stems). 32 bits are enough: of 100,000 terms, one pair in all shares its number.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b


@lru_cache(maxsize=50_000)
def hash_term(term: str) -> int:
    """Give the number of a term: unsigned 32 bit, the same on every machine."""
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=4).digest(), "little")
