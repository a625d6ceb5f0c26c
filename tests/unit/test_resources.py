"""Cores that are idle are counted from two readings of the processor times."""

from __future__ import annotations

from pathlib import Path

import pytest
from trees import write_tree

from pkg import resources
from pkg.errors import DISTRIBUTION, name_install


@pytest.mark.parametrize(("busy", "idle", "expected"), [(0, 80, 4), (80, 0, 1), (40, 40, 4), (60, 20, 2), (70, 10, 1)])
def test_idle_cores_are_at_most_the_physical_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, busy: int, idle: int, expected: int
) -> None:
    """Eight processors of four cores, of which a share is idle."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(8)), raising=False)
    write_tree(
        tmp_path, {f"cpu{core}/topology/thread_siblings_list": f"{core % 4},{core % 4 + 4}\n" for core in range(8)}
    )
    write_tree(tmp_path, {"stat": "cpu  100 0 0 500 0 0 0 0 0 0\ncpu0 1\n"})
    after = f"cpu  {100 + busy} 0 0 {500 + idle} 0 0 0 0 0 0\n"
    monkeypatch.setattr(resources, "sleep", lambda _: write_tree(tmp_path, {"stat": after}))
    assert resources.count_idle_cores(tmp_path, tmp_path) == expected


def test_without_processor_times_all_cores_are_idle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 5}, raising=False)
    assert resources.count_idle_cores(tmp_path, tmp_path) == 3


class _Installed:
    def __init__(self, written: str | None) -> None:
        self._written = written

    def read_text(self, name: str) -> str | None:
        return self._written if name == "direct_url.json" else None


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('{{"url": "{url}", "dir_info": {{}}}}', "pip install '{folder}[gguf]'"),
        ('{{"url": "{url}", "dir_info": {{"editable": true}}}}', "pip install -e '{folder}[gguf]'"),
        ('{{"url": "{url}/gone", "dir_info": {{}}}}', f"pip install '{DISTRIBUTION}[gguf]'"),
        ('{{"url": "https://example.org/pkg.whl"}}', f"pip install '{DISTRIBUTION}[gguf]'"),
        ("not JSON", f"pip install '{DISTRIBUTION}[gguf]'"),
        (None, f"pip install '{DISTRIBUTION}[gguf]'"),
    ],
)
def test_an_extra_is_installed_from_where_the_rest_came_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str | None, expected: str
) -> None:
    folder = tmp_path / "a clone"
    folder.mkdir()
    text = None if written is None else written.format(url=folder.as_uri())
    monkeypatch.setattr("importlib.metadata.distribution", lambda _: _Installed(text))
    assert name_install("gguf") == expected.format(folder=folder)
