"""Examples of docs/integrations.md that need no framework; tests/integrations runs the others."""

from __future__ import annotations

from pathlib import Path

import pytest
from integrations_page import run_page


def test_the_examples_without_a_framework_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_page("No framework") > 10
