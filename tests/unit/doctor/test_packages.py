"""The examination lists each missing extra with its install command."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pkg.doctor import examine
from pkg.errors import name_install


@pytest.mark.parametrize(("module", "extra"), [("usearch", "usearch"), ("watchfiles", "watch"), ("pyarrow", "parquet")])
def test_a_missing_extra_is_named_with_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    found = {finding.name: finding for finding in examine(f"sqlite:///{tmp_path / 'graph.db'}")}
    assert found[module].state == "missing"
    assert found[module].advice == name_install(extra)
