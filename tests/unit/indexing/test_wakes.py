"""Waiting for changes: when polling counts a change, and the report if the system sends no notifications."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest
import watchfiles

from pkg.errors import MissingExtraError, PathError, name_install
from pkg.indexing import watch
from pkg.indexing.watch import await_notices, check_notices, poll_files


def poll(looks: str) -> str:
    """Poll states, one letter each; return a letter for each poll at which a change counted."""
    seen = iter(looks)
    woken = poll_files(lambda: next(seen), lambda seconds: None)
    return "".join("!" if each else "." for each in islice(woken, len(looks) - 1))


@pytest.mark.parametrize(
    ("looks", "expected"),
    [
        ("aaaa", "..."),
        ("abbb", ".!."),
        ("abcddd", "...!."),
        ("abab", "..."),
        ("abbbccaa", ".!..!.!"),
        ("abaa", "..."),
        ("abcdefghijkl", "....!....!."),
    ],
)
def test_a_change_counts_after_a_quiet_interval(looks: str, expected: str) -> None:
    assert poll(looks) == expected


def test_slow_polls_are_less_frequent() -> None:
    clock, naps = iter([0.0, 3.0, 40.0, 40.01, 50.0, 50.0]), list[float]()
    woken = poll_files(lambda: "a", naps.append, lambda: next(clock))
    assert [next(woken) for _ in range(3)] == [False] * 3
    assert naps == [1.0, 30.0, 1.0]


def test_a_missing_package_is_reported_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(MissingExtraError, match="--poll.*" + re.escape(name_install("watch"))):
        check_notices()


@pytest.mark.parametrize("fault", [OSError("OS file watch limit reached."), RuntimeError("Too many open files")])
def test_the_limit_of_watches_is_reported_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fault: Exception
) -> None:
    def refuse(*_: object, **__: object) -> Iterator[object]:
        yield set()
        raise fault

    monkeypatch.setattr(watchfiles, "watch", refuse)
    woken = await_notices(str(tmp_path), lambda place: True, is_recursive=True)
    assert next(woken) is False
    with pytest.raises(PathError, match=f"{fault}.*--poll.*sysctl"):
        next(woken)


@pytest.fixture
def hasten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "QUIET_MS", 20)
    monkeypatch.setattr(watch, "MOMENT_MS", 20)


@pytest.mark.usefixtures("hasten")
def test_only_accepted_notifications_start_a_build(tmp_path: Path) -> None:
    asked: list[str] = []

    def keep(name: str) -> Callable[[str], bool]:
        return lambda place: asked.append(place) or place.endswith(name)  # type: ignore[func-returns-value]

    woken = await_notices(str(tmp_path), keep("b.py"), is_recursive=True)
    assert next(woken) is False  # the watch has begun
    (tmp_path / "a.py").write_text("")
    while not asked:
        assert next(woken) is False
    (tmp_path / "b.py").write_text("")
    assert any(next(woken) for _ in range(1000))
    assert set(asked) == {str(tmp_path / "a.py"), str(tmp_path / "b.py")}
