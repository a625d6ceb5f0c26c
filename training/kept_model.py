"""Keep the learned rows in the work folder, so that a run that was cut off goes on behind them."""

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
"""What the rows depend on: when one of these files changes, they are learned anew."""


def keep_model(work: Path, dimension: int, seed: int, learn: Callable[[], Learned]) -> Learned:
    """Give the rows that are kept, or learn and keep them."""
    recipe = b"\0".join([(HERE / name).read_bytes() for name in MADE_BY] + [f"{dimension} {seed}".encode()])
    target = work / f"rows-{blake2b(recipe, digest_size=6).hexdigest()}.npz"
    if not target.exists():
        learned = learn()
        unfinished = target.with_suffix(".tmp.npz")
        np.savez(unfinished, **learned._asdict())
        unfinished.rename(target)
    with np.load(target) as found:
        return Learned(**found)
