"""Call every tool of `pkg mcp` with the MCP Inspector's command line, and print the result of each call as JSON.

    python checks/inspect_tools.py [--inspector "npx -y @modelcontextprotocol/inspector"]

Exits with status 1 if a call fails that should succeed, or the reverse. Needs Node.js; builds its own graph.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pkg

CODE = '''\
"""Prices and their taxes."""


def find_price(item):
    """Find the price of an item."""
    return add_tax(item.price)


def add_tax(amount):
    """Add the tax to an amount."""
    return amount * 1.2
'''
CALLS: tuple[tuple[str, dict[str, str], str], ...] = (
    ("explore", {"text": "how is the price of an item found"}, "prices.py:4-6  find_price"),
    ("show", {"name": "find_price"}, "prices.py:9 add_tax"),
    ("deps", {"question": "callers", "name": "add_tax"}, "prices.py:6 find_price"),
    ("deps", {"question": "impact", "name": "add_tax"}, "1 place"),
    ("rerank", {"query": "double n", "candidates": json.dumps(["def double(n):\n    return n * 2"])}, "candidate 0"),
    ("more", {}, "outline("),
    ("more", {"operation": "status"}, "1 File"),
    ("more", {"operation": "outline", "arguments": json.dumps({"path": "prices.py"})}, "def add_tax"),
    ("show", {"name": "nothing_like_it"}, "expected a name"),
    ("grep", {}, "expected one of: explore"),
)
"""A tool, its arguments in the Inspector's syntax, and a part of the answer."""


def run_inspector(inspector: str, store: str, words: list[str]) -> str:
    """Run the Inspector once, and return its output."""
    server = [sys.executable, "-m", "pkg.cli", "mcp", "--store", store]
    command = [*shlex.split(inspector), "--cli", *server, *words]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, env=dict(os.environ), check=False)
    return run.stdout or run.stderr


def check_call(inspector: str, store: str, tool: str, arguments: dict[str, str], part: str) -> dict[str, Any]:
    """Call a tool, and return whether the answer contains the expected part."""
    given = [word for name, value in arguments.items() for word in ("--tool-arg", f"{name}={value}")]
    said = run_inspector(inspector, store, ["--method", "tools/call", "--tool-name", tool, *given])
    return {"tool": tool, "arguments": arguments, "is_right": part in said, "characters": len(said)}


def main() -> None:
    """Build a graph, list the tools and call each of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--inspector", default="npx -y @modelcontextprotocol/inspector", help="how it is started")
    inspector: str = parser.parse_args().inspector
    with tempfile.TemporaryDirectory() as folder:
        store = f"sqlite:///{folder}/graph.db"
        (Path(folder) / "shop").mkdir()
        (Path(folder) / "shop" / "prices.py").write_text(CODE, encoding="utf-8")
        pkg.build_graph(Path(folder) / "shop", store=store)
        listed = json.loads(run_inspector(inspector, store, ["--method", "tools/list"]))
        found = [check_call(inspector, store, *each) for each in CALLS]
    print(json.dumps({"tools": [each["name"] for each in listed["tools"]], "calls": found}, indent=1))
    if not all(each["is_right"] for each in found):
        sys.exit(1)


if __name__ == "__main__":
    main()
