"""The tutorial of an own model leads a real small coder to an answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from terminal import blur, list_commands, make_shell, run_in_terminal, write_page_files

PAGE = "docs/tutorials/own_model.md"

pytestmark = pytest.mark.model


def test_the_model_writes_what_the_page_shows(coder_file: Path, tmp_path: Path) -> None:
    shell = make_shell(tmp_path) | {"PKG_MODEL": f"gguf:{coder_file}", "PKG_MODEL_THREADS": "1"}
    write_page_files(PAGE, tmp_path)
    ((command, shown),) = [pair for pair in list_commands(PAGE) if "--generate" in pair[0]]
    output = run_in_terminal(f"{command} 2>&1", shell, tmp_path).replace(
        str(coder_file.resolve()), "~/models/coder.gguf"
    )
    assert list_reports(output) == list_reports(shown)
    assert "def median(numbers):" in output


def list_reports(output: str) -> list[str]:
    """Return the lines about the answer, not its code: another processor may round to other words."""
    return [blur(line).partition(" requests")[0] for line in output.splitlines() if line.startswith(("pkg:", "gguf:"))]
