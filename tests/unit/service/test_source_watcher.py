"""A running service updates the graph when files change."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from queue import Queue

import pytest
from click.testing import CliRunner
from trees import write_tree

import pkg
from pkg.cli import main
from pkg.errors import MissingExtraError, name_install
from pkg.service import source_watcher
from pkg.service.graph_service import GraphService, ServiceOptions
from pkg.service.source_watcher import watch_sources

WAIT_SECONDS = 60


def test_a_change_is_built_and_appears_in_answers(tmp_path: Path) -> None:
    root, store = write_tree(tmp_path / "tea", {"tea.py": "def brew():\n    return 1\n"}), f"sqlite:///{tmp_path}/g.db"
    pkg.build_graph(root, store=store)
    service, told = GraphService(ServiceOptions(store)), Queue[tuple[str, str]]()
    (thread,) = watch_sources(service, lambda *each: told.put(each), poll=True)
    time.sleep(1)
    (root / "cups.py").write_text("def pour():\n    return 2\n")
    assert told.get(timeout=WAIT_SECONDS) == ("tea", "rebuilt: 1 written, 0 removed")
    assert "cups.py:1" in service.run("show", {"name": "pour"}).text

    (root / "cups.py").unlink()
    (root / "tea.py").unlink()
    root.rmdir()
    while not told.get(timeout=WAIT_SECONDS)[1].startswith("no longer watched"):
        pass
    thread.join(WAIT_SECONDS)
    assert not thread.is_alive()


def test_a_missing_notification_package_is_an_error_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    root, store = write_tree(tmp_path / "tea", {"tea.py": "def brew():\n    return 1\n"}), f"sqlite:///{tmp_path}/g.db"
    pkg.build_graph(root, store=store)
    with pytest.raises(MissingExtraError, match=re.escape(name_install("watch"))):
        watch_sources(GraphService(ServiceOptions(store)), lambda *_: None)
    for command in (["mcp"], ["mcp", "--http", "--port", "0"], ["serve", "--port", "0"]):
        run = CliRunner().invoke(main, [*command, "--watch", "--store", store])
        assert run.exit_code == 1
        assert name_install("watch") in run.stderr


def test_a_failed_watch_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(**_: object) -> Iterator[object]:
        raise RecursionError("too deep")

    monkeypatch.setattr(source_watcher, "watch_graph", break_down)
    root, store = write_tree(tmp_path / "tea", {"tea.py": "def brew():\n    return 1\n"}), f"sqlite:///{tmp_path}/g.db"
    pkg.build_graph(root, store=store)
    told = Queue[tuple[str, str]]()
    watch_sources(GraphService(ServiceOptions(store)), lambda *each: told.put(each), poll=True)
    source, said = told.get(timeout=WAIT_SECONDS)
    assert source == "tea"
    assert said == "no longer watched, because of an internal error: RecursionError: too deep"
