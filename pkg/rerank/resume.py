"""Go on where a run stopped: know which tasks an output file holds, and leave out the line that was cut off."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pkg.errors import PathError, UsageError
from pkg.model import Skip
from pkg.rerank.lines import make_key
from pkg.rerank.options import RerankOptions
from pkg.rerank.tasks import Item


def name_item(item: Item, options: RerankOptions, is_oracle: bool) -> str:
    """Give the key of a task under options: other options are other work."""
    if isinstance(item, Skip):
        return make_key(f"{item.path} {item.reason}")
    texts = [(each.id, each.text) for each in item.candidates]
    chosen = {name: value for name, value in asdict(options).items() if name != "jobs"}
    parts = [item.id, item.query, texts, list(item.examples), chosen, is_oracle]
    return make_key(json.dumps(parts, sort_keys=True, default=str))


def read_done(path: Path) -> Counter[str]:
    """Read the keys of what a file holds, and cut off a last line that was not finished."""
    try:
        content = path.read_bytes() if path.exists() else b""
    except OSError as fault:
        raise PathError(f"cannot read {path}: {fault.strerror}; expected the output of an earlier run") from None
    whole = content[: content.rfind(b"\n") + 1]
    done = Counter(_read_key(line, path, number) for number, line in enumerate(whole.splitlines(), 1))
    if len(whole) < len(content):
        os.truncate(path, len(whole))
    return done


def _read_key(line: bytes, path: Path, number: int) -> str:
    try:
        fields: Any = json.loads(line)
    except ValueError:
        fields = None
    if not isinstance(fields, dict) or not isinstance(fields.get("key"), str):
        raise UsageError(f"{path}, line {number} is not from pkg rerank --resume; name another file")
    key: str = fields["key"]
    return key


def leave_done(keyed: Iterable[tuple[str, Item]], done: Counter[str]) -> Iterator[tuple[str, Item]]:
    """Leave out what is done; of two equal tasks one that is done leaves the other."""
    left = done.copy()
    for key, item in keyed:
        if left[key] > 0:
            left[key] -= 1
        else:
            yield key, item
