"""The use case that documents functions: choose, write, store; what was written once is never paid for again (P-07)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pkg.enhance.writer import TEMPLATE, Failure
from pkg.indexing.docstring_storage import DocstringStorage
from pkg.indexing.undocumented import Census, Target, Undocumented
from pkg.model import Docstring, Skip
from pkg.models.text_model import Usage

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder
    from pkg.enhance.writer import DocstringWriter
    from pkg.graph.store import GraphStore

STORE_SECONDS = 30.0
"""How long what was written waits to be stored: each write makes the files beside the database anew, a second for
40,000 functions, and until then a kill leaves it in the cache alone."""
STORE_AT_ONCE = 2_000  # codes of one write, where they come faster than a model writes
SAMPLE = 20  # functions that an estimate has written for it
