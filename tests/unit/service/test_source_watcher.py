"""While a service answers, a change on disk comes into the graph by itself."""

from __future__ import annotations

import time
from pathlib import Path
from queue import Queue

from trees import write_tree

import pkg
from pkg.service.graph_service import GraphService, ServiceOptions
from pkg.service.source_watcher import watch_sources

WAIT_SECONDS = 60


def test_a_change_is_built_and_answered(tmp_path: Path) -> None:
    root, store = write_tree(tmp_path / "tea", {"tea.py": "def brew():\n    return 1\n"}), f"sqlite:///{tmp_path}/g.db"
    pkg.build_graph(root, store=store)
    service, told = GraphService(ServiceOptions(store)), Queue[tuple[str, str]]()
    (thread,) = watch_sources(service, lambda *each: told.put(each), poll=True)
    time.sleep(1)
    (root / "cups.py").write_text("def pour():\n    return 2\n")
    assert told.get(timeout=WAIT_SECONDS) == ("tea", "built again: 1 written, 0 removed")
    assert "cups.py:1" in service.run("show", {"name": "pour"}).text

    (root / "cups.py").unlink()
    (root / "tea.py").unlink()
    root.rmdir()
    while not told.get(timeout=WAIT_SECONDS)[1].startswith("not watched any more"):
        pass
    thread.join(WAIT_SECONDS)
    assert not thread.is_alive()
