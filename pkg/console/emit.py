"""Write results: JSON lines into a pipe, a view for a person into a terminal."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rich.console import RenderableType


def emit(as_json: bool, lines: Iterable[dict[str, Any]], view: Callable[[], Iterable[RenderableType]]) -> None:
    """Write JSON lines into a pipe or when asked to, and a view for a person into a terminal."""
    if as_json or not sys.stdout.isatty():
        for line in lines:
            click.echo(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace"))
    else:
        show(view())


def show(parts: Iterable[RenderableType]) -> None:
    """Write a view for a person."""
    from rich.console import Console

    console = Console(soft_wrap=True, highlight=False)
    for part in parts:
        console.print(part)
