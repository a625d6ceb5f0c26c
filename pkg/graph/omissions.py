"""What a build left out of a source, as every store keeps it: one text of JSON with skips and local errors."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, TypeAlias

from pkg.model import LocalError, Skip

Omission: TypeAlias = Skip | LocalError


def pack_omissions(left_out: Sequence[Omission]) -> str:
    """Return the text; of a local error, the traceback is not kept."""
    return json.dumps([_describe(each) for each in left_out])


def _describe(each: Omission) -> dict[str, Any]:
    return {name: value for name, value in asdict(each).items() if name != "trace"}


def read_skips(packed: str) -> Iterator[Skip]:
    """Yield the units that were left out."""
    return (Skip(**row) for row in json.loads(packed) if "stage" not in row)


def read_errors(packed: str) -> Iterator[LocalError]:
    """Yield the local errors."""
    return (LocalError(**row) for row in json.loads(packed) if "stage" in row)
