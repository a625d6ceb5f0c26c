"""Freed memory is returned to the system."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

BLOCKS = """
from pathlib import Path
from pkg.resources import return_free_memory

def read_pages():
    return int(Path("/proc/self/statm").read_text().split()[1])

blocks = [bytearray(2000) for _ in range(50_000)]
last = bytearray(2000)  # lies after all others, which are free from here on
before = read_pages()
del blocks
freed = read_pages()
return_free_memory()
print(before, freed, read_pages())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only the GNU C library gives pages back when asked")
def test_freed_blocks_are_returned_though_a_later_one_is_in_use() -> None:
    run = subprocess.run([sys.executable, "-c", BLOCKS], capture_output=True, text=True, check=True)
    before, freed, after = map(int, run.stdout.split())
    assert freed > 0.9 * before
    assert after < 0.5 * freed
