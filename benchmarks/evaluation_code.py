"""The code that questions are asked about: 13 packages excluded from training, and the standard library."""

from __future__ import annotations

import platform
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

from packages import (
    ASTROPY,
    DJANGO,
    NETWORKX,
    NLTK,
    PANDAS,
    SCIKIT_IMAGE,
    SCIKIT_LEARN,
    SCIPY,
    SPHINX,
    SQLALCHEMY,
    STATSMODELS,
    SYMPY,
    TWISTED,
    unpack_package,
)

PACKAGES = (
    ASTROPY, DJANGO, NETWORKX, NLTK, PANDAS, SCIKIT_IMAGE, SCIKIT_LEARN, SCIPY, SPHINX, SQLALCHEMY, STATSMODELS, SYMPY,
    TWISTED,
)  # fmt: skip
STANDARD_LIBRARY = f"python-{platform.python_version()}"
"""The only part not pinned by a hash: that of the Python running the benchmark."""

_LEFT_OUT = {"site-packages", "dist-packages", "test", "lib-dynload"}  # of the standard library


def read_files(cache: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (path, text) of every UTF-8 Python file, the packages' as installed, sorted."""
    for package in PACKAGES:
        with tempfile.TemporaryDirectory(dir=cache) as work:
            yield from _read_tree(unpack_package(package, cache, Path(work)), "")
    library = Path(sysconfig.get_paths()["stdlib"])
    yield from _read_tree(library, "python/", _LEFT_OUT)


def _read_tree(root: Path, prefix: str, left_out: set[str] | None = None) -> Iterator[tuple[str, bytes]]:
    for path in sorted(root.rglob("*.py")):
        inside = path.relative_to(root)
        if left_out and inside.parts[0] in left_out:
            continue
        text = path.read_bytes()
        if is_utf8(text):
            yield prefix + inside.as_posix(), text


def is_utf8(text: bytes) -> bool:
    """Return whether bytes are UTF-8."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
