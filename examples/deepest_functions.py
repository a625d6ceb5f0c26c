"""Read an export and list the functions with the deepest nesting of blocks.

    pkg export | python examples/deepest_functions.py

An export is JSON lines, so any language can read it; docs/schema.md describes them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable

SHOWN = 5


def measure_depths(lines: Iterable[str]) -> dict[tuple[str, str], int]:
    """Map (path, qualified name) of each function to the depth of its deepest block; the body alone is 0."""
    depths: dict[tuple[str, str], int] = {}
    for line in map(json.loads, lines):
        if line.get("label") == "Block":
            place = line["path"], line["qualname"]
            depths[place] = max(depths.get(place, 0), line["name"].count("/"))  # such as body/if[0]/for[1]
    return depths


def main() -> None:
    """Print the deepest first, ties by place."""
    depths = measure_depths(sys.stdin)
    for (path, qualname), depth in sorted(depths.items(), key=lambda item: (-item[1], item[0]))[:SHOWN]:
        print(f"{depth} {path} {qualname}")


if __name__ == "__main__":
    main()
