"""Store the learned rows in the work folder, so that an interrupted run resumes after them."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import numpy as np
from learned import Learned

HERE = Path(__file__).parent
MADE_BY = (
    "packages.json",
    "requirements.txt",
    "mining.py",
    "word_list.py",
    "matrices.py",
    "pairs.py",
    "batches.py",
    "known_words.py",
    "start_rows.py",
    "rows.py",
    "learning.py",
)
"""Files that determine the rows: when one of them changes, the rows are learned again."""


def keep_model(work: Path, dimension: int, seed: int, learn: Callable[[], Learned]) -> Learned:
    """Return the stored rows, or learn and store them."""
    recipe = b"\0".join([(HERE / name).read_bytes() for name in MADE_BY] + [f"{dimension} {seed}".encode()])
    target = work / f"rows-{blake2b(recipe, digest_size=6).hexdigest()}.npz"
    if not target.exists():
        learned = learn()
        unfinished = target.with_suffix(".tmp.npz")
        np.savez(unfinished, **learned._asdict())
        unfinished.rename(target)
    with np.load(target) as found:
        return Learned(**found)
