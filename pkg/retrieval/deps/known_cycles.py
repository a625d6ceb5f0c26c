"""Compare cycles of imports with a list of known ones."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pkg.errors import InputError, PathError
from pkg.retrieval.deps.answer import Cycle, Cycles


def keep_new_imports(answer: Cycles, known: Sequence[frozenset[str]] = ()) -> Cycles:
    """Keep the cycles of imports with a file outside of each known cycle: a known one may shrink, not grow."""
    imports = [each for each in answer.cycles if each.kind == "import"]
    new = [each for each in imports if not any({place.path for place in each.members} <= group for group in known)]
    spared = len(imports) - len(new)
    notes = (f"{spared:,} known cycles of imports are left out",) if spared else ()
    coverage = replace(answer.coverage, notes=(*answer.coverage.notes, *notes))
    return replace(answer, cycles=tuple(new), imports=len(new), coverage=coverage)


def format_cycle(cycle: Cycle) -> str:
    """Format a cycle as one line, with the line of each import."""
    steps = [f"{link.start.path}:{link.lines[0] if link.lines else 0}" for link in cycle.around]
    more = cycle.size - len(steps)
    return " -> ".join([*steps, cycle.around[0].start.path]) + (f", and {more:,} more files" if more else "")


def read_known_cycles(path: str) -> list[frozenset[str]]:
    """Read the paths of each cycle of imports from JSON lines, as written by `pkg deps --cycles --limit 0 --json`.

    Raises InputError for an invalid line, and PathError if the file cannot be read.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise PathError(f"cannot read {path}: {fault}; expected the JSON lines of pkg deps --cycles") from fault
    return list(_read_lines(path, text))


def _read_lines(path: str, text: str) -> Iterator[frozenset[str]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            read: Any = json.loads(line)
            if read["type"] == "cycle" and read["kind"] == "import":
                yield frozenset(str(member["path"]) for member in read["members"])
        except (ValueError, KeyError, TypeError, RecursionError) as fault:
            raise InputError(
                f"line {number} of {path} is no line of pkg deps --cycles; write the file again: pkg deps --cycles"
                f" --limit 0 --json > {path}"
            ) from fault
