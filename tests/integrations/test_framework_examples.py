"""Examples of docs/integrations.md that need a framework."""

from __future__ import annotations

from pathlib import Path

import pytest
from integrations_page import run_page

pytestmark = pytest.mark.integrations


@pytest.mark.parametrize("framework", ["LangChain", "LlamaIndex", "Haystack", "neo4j-graphrag"])
def test_the_examples_of_a_framework_run(framework: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_page("No framework", framework) > 15
