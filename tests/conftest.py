"""Shared settings (one thread, Ctrl-C, hypothesis profile), immediate reports of failures, and fixtures.

Fixtures import their modules themselves, because the settings must precede the import of numpy.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from toy_models import LetterModel

    from pkg.graph.embedded.embedded_store import EmbeddedStore
    from pkg.models.text_model import TextModel

os.environ["PKG_JSON"] = "1"  # most tests parse the output of commands; those of text pass --no-json
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read once, when numpy is imported

# In memory, because tests make thousands of stores, and each commit would wait for the disk.
MEMORY, ROOM = "/dev/shm", 2 << 30  # bytes
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)

# A shell starts background processes that ignore Ctrl-C, and children inherit that; a program under nohup should
# keep ignoring it, but tests send interrupts and wait for their effect.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("quick", max_examples=25, deadline=None)
settings.register_profile("default", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=15, deadline=None, derandomize=True)
settings.register_profile("full", max_examples=100, deadline=None)
settings.register_profile("nightly", max_examples=10_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Report failures as they happen, in the process that writes to the terminal."""
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None:
        session.config.pluginmanager.register(FailureLines(terminal))


class FailureLines:
    """Writes a line for each failure at once, with test and message; the full report follows at the end."""

    def __init__(self, terminal: pytest.TerminalReporter) -> None:
        self._terminal = terminal

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            reason = (crash.message if crash else str(report.longrepr)).strip().partition("\n")[0]
            self._terminal.write(f"\nFAILED {report.nodeid} ({report.when}): {reason}\n", red=True)


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Hide the caller's settings, and set separate folders for data, configuration and cache of each test."""
    folder = tmp_path_factory.mktemp("user")
    for name in os.environ:
        if name.startswith(("PKG_", "OPENAI_", "VOYAGE_", "PYTEST_DEBUG")) and name != "PKG_JSON":
            monkeypatch.delenv(name)
    for name in ("data", "config", "cache"):  # made when something is written there
        monkeypatch.setenv(f"XDG_{name.upper()}_HOME", f"{folder}/{name}")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Write a small repository."""
    from trees import SHOP, write_tree

    return write_tree(tmp_path / "repo", SHOP)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    """Return an empty store in a file."""
    from trees import open_graph_at

    with closing(open_graph_at(tmp_path / "graph.db")) as opened:
        yield opened


@pytest.fixture(scope="session")
def coder_file() -> Path:
    """Return the GGUF file of a small real coder: PKG_TEST_MODEL, else the download of `make test-models`."""
    from coder_model import find_coder

    return find_coder()


@pytest.fixture(scope="session")
def coder(coder_file: Path) -> Iterator[TextModel]:
    """Open the small coder, once for all tests, on one thread: more would spin while another test runs."""
    from pkg.models.model_options import ModelOptions
    from pkg.models.registry import open_model

    with closing(open_model(f"gguf:{coder_file}", ModelOptions(window=4096, threads=1))) as opened:
        yield opened


@pytest.fixture
def models() -> Iterator[dict[str, LetterModel]]:
    """Register toy models (toy_models.register_toys); return the opened ones by name."""
    from toy_models import register_toys

    with register_toys() as made:
        yield made
