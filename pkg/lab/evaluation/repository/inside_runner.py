"""Run the tests of a project inside the sandbox, and report their outcomes and the functions that they reached.

The text of this file is sent into the sandbox, so it is one file and imports only the standard library and pytest, for
Python 3.8 and newer. The project is passed as an archive and unpacked into the writable folder of the run.
"""

from __future__ import annotations

import base64
import io
import json
import os
import sys
import tarfile
import threading
from types import CodeType, FrameType
from typing import Any

ERRORS = ("AssertionError", "NameError", "IndentationError", "SyntaxError", "TypeError")  # narrower classes first
MOST_REACHING = 200  # tests kept per function, the fastest
TOOL = 4  # an id of sys.monitoring that is not reserved for a kind of tool
ARGUMENTS = ("-q", "-p", "no:cacheprovider", "-p", "no:faulthandler", "--capture=sys", "--tb=no", "--no-header")
OWN_OPTIONS = ("-o", "addopts=", "-o", "required_plugins=")  # plugins are not loaded


def unpack(packed: str, files: dict[str, str], box: str) -> str:
    """Unpack the project, replace some files, and return its folder, which becomes the current one."""
    root = os.path.join(box, "project")
    with tarfile.open(fileobj=io.BytesIO(base64.b64decode(packed)), mode="r:gz") as archive:
        archive.extractall(root)
    for path, text in files.items():
        with open(os.path.join(root, path), "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    os.makedirs(os.path.join(box, "tmp"))
    os.environ.update(HOME=box, TMPDIR=os.path.join(box, "tmp"), USER="user", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    os.environ["PYTHONPATH"] = os.pathsep.join([root])
    os.chdir(root)
    sys.dont_write_bytecode = True
    sys.path[:0] = [root, *(os.path.join(root, name) for name in ("src", "lib") if os.path.isdir(name))]
    return root


class Listener:
    """A pytest plugin that records the outcome of each test."""

    def __init__(self) -> None:
        self.ends: dict[str, list[Any]] = {}  # by test: outcome, seconds, class of the exception, its message
        self.broken: list[str] = []  # collection errors

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        """Record the duration and the exception of a test."""
        end = self._open(item.nodeid)
        end[1] += call.duration
        if call.excinfo is not None and not end[2]:
            kind = call.excinfo.type
            end[2:] = [name_error(kind), f"{kind.__name__}: {call.excinfo.value}"[:300]]

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Record the outcome: a test has passed if its call and its teardown have."""
        end = self._open(report.nodeid)
        if end[0] not in ("started", "called"):
            return
        if report.outcome != "passed":
            end[0] = report.outcome
        elif hasattr(report, "wasxfail"):
            end[0] = "xpassed"
        elif report.when == "call":
            end[0] = "called"
        elif report.when == "teardown" and end[0] == "called":
            end[0] = "passed"

    def _open(self, name: str) -> list[Any]:
        return self.ends.setdefault(name, ["started", 0.0, "", ""])

    def pytest_collectreport(self, report: Any) -> None:
        """Record collection errors."""
        if report.failed:
            lines = [line for line in str(report.longrepr).splitlines() if line.strip()]
            self.broken.append("{}: {}".format(report.nodeid, lines[-1].strip() if lines else "")[:300])


def name_error(kind: Any) -> str:
    """Return the class of failures of an exception; pytest's own count as failed assertions."""
    names = [each.__name__ for each in kind.__mro__]
    if names[0] == "Failed":
        return "AssertionError"
    return next((name for name in ERRORS if name in names), "Other")


class Tracer:
    """A pytest plugin that records the functions of the project that each test enters."""

    def __init__(self, root: str) -> None:
        self._root = root + os.sep
        self._places: dict[CodeType, str] = {}
        self._seen: set[str] = set()
        self.reached: dict[str, set[str]] = {}  # tests by path:line of a function

    def note(self, code: CodeType) -> None:
        """Record that a function was entered."""
        place = self._places.get(code)
        if place is None:
            path = os.path.abspath(code.co_filename)
            inside = path.startswith(self._root) and code.co_name[:1] != "<"
            place = f"{path[len(self._root) :]}:{code.co_firstlineno}" if inside else ""
            self._places[code] = place
        if place:
            self._seen.add(place)

    def pytest_runtest_logstart(self, nodeid: str, location: Any) -> None:
        """Start recording for a test."""
        self._seen = set()
        self.start()

    def pytest_runtest_logfinish(self, nodeid: str, location: Any) -> None:
        """Stop recording and store the functions of the test."""
        self.stop()
        for place in self._seen:
            self.reached.setdefault(place, set()).add(nodeid)

    def start(self) -> None:
        """Install the profile hook, in this thread and in new ones."""

        def hook(frame: FrameType, event: str, argument: object) -> None:
            if event == "call":
                self.note(frame.f_code)

        threading.setprofile(hook)
        sys.setprofile(hook)

    def stop(self) -> None:
        """Remove the profile hook."""
        sys.setprofile(None)
        threading.setprofile(None)


class MonitoringTracer(Tracer):
    """A tracer based on sys.monitoring, which reports each function once per test and so costs next to nothing."""

    def __init__(self, root: str, monitoring: Any) -> None:
        super().__init__(root)
        self._monitoring = monitoring
        monitoring.use_tool_id(TOOL, "pkg")
        monitoring.register_callback(TOOL, monitoring.events.PY_START, self._note_start)

    def _note_start(self, code: CodeType, offset: int) -> object:
        self.note(code)
        return self._monitoring.DISABLE

    def start(self) -> None:
        """Enable the events, also for functions reported before."""
        self._monitoring.restart_events()
        self._monitoring.set_events(TOOL, self._monitoring.events.PY_START)

    def stop(self) -> None:
        """Disable the events."""
        self._monitoring.set_events(TOOL, 0)


def make_tracer(root: str) -> Tracer:
    """Return the best tracer that this Python supports."""
    monitoring = getattr(sys, "monitoring", None)
    return Tracer(root) if monitoring is None else MonitoringTracer(root, monitoring)


def run_tests(root: str, names: list[str], is_traced: bool) -> str:
    """Run tests and return the results as JSON; without tracing, stop at the first failure."""
    import pytest

    listener = Listener()
    tracer = make_tracer(root) if is_traced else None
    options = ["--rootdir", root, *ARGUMENTS, *OWN_OPTIONS, *([] if is_traced else ["-x"])]
    code = pytest.main([*options, *names], plugins=[listener, *([tracer] if tracer else [])])
    found = {"code": int(code), "ends": listener.ends, "broken": listener.broken, "python": sys.version.split()[0]}
    if tracer is not None:
        found["reached"] = {
            place: sorted(tests, key=lambda test: (listener.ends[test][1], test))[:MOST_REACHING]
            for place, tests in tracer.reached.items()
        }
    return json.dumps(found)
