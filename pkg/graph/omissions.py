"""Skips and local errors of a build, stored as JSON in one text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TypeAlias

from pkg.model import LocalError, Skip

Omission: TypeAlias = Skip | LocalError


def pack_omissions(omissions: Sequence[Omission]) -> str:
    """Return omissions as JSON, without the tracebacks of local errors."""
    rows = [{name: value for name, value in asdict(each).items() if name != "trace"} for each in omissions]
    return json.dumps(rows)


def read_skips(packed: str) -> Iterator[Skip]:
    """Yield the skipped units."""
    return (Skip(**row) for row in json.loads(packed) if "stage" not in row)


def read_errors(packed: str) -> Iterator[LocalError]:
    """Yield the local errors."""
    return (LocalError(**row) for row in json.loads(packed) if "stage" in row)
