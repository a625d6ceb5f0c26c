"""List the benchmarks with the first lines of their docstrings."""

from __future__ import annotations

import ast
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


def read_summary(path: Path) -> str:
    """Return the first line of a module's docstring."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    return docstring.splitlines()[0] if docstring else ""


def main() -> None:
    """Print one line for each benchmark that runs as a command."""
    for path in sorted(BENCHMARKS.glob("*.py")):
        if "__main__" in path.read_text(encoding="utf-8"):
            print(f"make bench NAME={path.stem:<12} {read_summary(path)}")


if __name__ == "__main__":
    main()
