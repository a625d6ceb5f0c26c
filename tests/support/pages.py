"""Read the pages of the documentation: their code blocks, and their commands with the shown output."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def read_blocks(page: str, language: str) -> list[str]:
    """Return the code blocks of one language, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [content for found, content in _BLOCK.findall(text) if found == language]


def split_transcript(block: str) -> list[tuple[str, str]]:
    """Return each command of a console block (a line that begins with ``$ ``) with the output below it."""
    pieces = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(command, output.strip("\n")) for command, _, output in (piece.partition("\n") for piece in pieces)]


def read_transcripts(page: str) -> list[tuple[str, str]]:
    """Return the commands of a page with output."""
    pairs = [pair for block in read_blocks(page, "console") for pair in split_transcript(block)]
    return [(command, output) for command, output in pairs if output]
