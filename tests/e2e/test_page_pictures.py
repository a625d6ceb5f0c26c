"""The pictures of docs/page.md can be taken, and the docs show each of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from screenshot_page import take_pictures

pytestmark = pytest.mark.browser

DOCS = Path(__file__).parents[2] / "docs"


def test_every_picture_is_taken_and_shown(tmp_path: Path) -> None:
    taken = take_pictures(tmp_path)
    shown = (DOCS / "page.md").read_text(encoding="utf-8")
    for path in taken:
        assert path.read_bytes()[8:12] == b"WEBP"
        assert f"(images/{path.name})" in shown
        assert (DOCS / "images" / path.name).exists()
