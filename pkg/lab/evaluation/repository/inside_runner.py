"""Run the tests of a project inside the sandbox, and tell how each ended and which functions it reached.

The text of this file is sent into the sandbox, hence one file: the standard library and pytest alone, Python 3.8 and
newer. The project comes along as a packed archive and lies in the folder that a run may write to.
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

ERRORS = ("AssertionError", "NameError", "IndentationError", "SyntaxError", "TypeError")  # the narrower first
MOST_REACHING = 200  # tests that are kept of a function, the fastest
TOOL = 4  # an id of sys.monitoring that no kind of tool has been given
ARGUMENTS = ("-q", "-p", "no:cacheprovider", "-p", "no:faulthandler", "--capture=sys", "--tb=no", "--no-header")
OWN_OPTIONS = ("-o", "addopts=", "-o", "required_plugins=")  # plugins are not loaded


def unpack(packed: str, files: dict[str, str], box: str) -> str:
    """Lay out the project, and files in the place of its own; give its folder, which is the current one then."""
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
    """A plugin of pytest that notes how each test ends."""

    def __init__(self) -> None:
        self.ends: dict[str, list[Any]] = {}  # by test: outcome, seconds, class of what was raised, its message
        self.broken: list[str] = []  # what could not be collected

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        """Note what a test raised."""
        end = self._open(item.nodeid)
        end[1] += call.duration
        if call.excinfo is not None and not end[2]:
            kind = call.excinfo.type
            end[2:] = [name_error(kind), f"{kind.__name__}: {call.excinfo.value}"[:300]]

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note what pytest makes of it: a test passes once its call has passed and its teardown too."""
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
        """Note what could not be collected."""
        if report.failed:
            lines = [line for line in str(report.longrepr).splitlines() if line.strip()]
            self.broken.append("{}: {}".format(report.nodeid, lines[-1].strip() if lines else "")[:300])


def name_error(kind: Any) -> str:
    """Name the class of failures that an exception belongs to; pytest's own is what a test says."""
    names = [each.__name__ for each in kind.__mro__]
    if names[0] == "Failed":
        return "AssertionError"
    return next((name for name in ERRORS if name in names), "Other")


class Tracer:
    """A plugin of pytest that notes which functions of the project each test enters."""

    def __init__(self, root: str) -> None:
        self._root = root + os.sep
        self._places: dict[CodeType, str] = {}
        self._seen: set[str] = set()
        self.reached: dict[str, set[str]] = {}  # tests, by path:line of a function

    def note(self, code: CodeType) -> None:
        """Note that a function was entered."""
        place = self._places.get(code)
        if place is None:
            path = os.path.abspath(code.co_filename)
            inside = path.startswith(self._root) and code.co_name[:1] != "<"
            place = f"{path[len(self._root) :]}:{code.co_firstlineno}" if inside else ""
            self._places[code] = place
        if place:
            self._seen.add(place)

    def pytest_runtest_logstart(self, nodeid: str, location: Any) -> None:
        """Begin with a test."""
        self._seen = set()
        self.start()

    def pytest_runtest_logfinish(self, nodeid: str, location: Any) -> None:
        """End with a test."""
        self.stop()
        for place in self._seen:
            self.reached.setdefault(place, set()).add(nodeid)

    def start(self) -> None:
        """Listen, in this thread and in those to come."""

        def hook(frame: FrameType, event: str, argument: object) -> None:
            if event == "call":
                self.note(frame.f_code)

        threading.setprofile(hook)
        sys.setprofile(hook)

    def stop(self) -> None:
        """Listen no more."""
        sys.setprofile(None)
        threading.setprofile(None)


class MonitoringTracer(Tracer):
    """The same by sys.monitoring, which tells each function once a test and so costs next to nothing."""

    def __init__(self, root: str, monitoring: Any) -> None:
        super().__init__(root)
        self._monitoring = monitoring
        monitoring.use_tool_id(TOOL, "pkg")
        monitoring.register_callback(TOOL, monitoring.events.PY_START, self._note_start)

    def _note_start(self, code: CodeType, offset: int) -> object:
        self.note(code)
        return self._monitoring.DISABLE

    def start(self) -> None:
        """Listen, to functions that were told before too."""
        self._monitoring.restart_events()
        self._monitoring.set_events(TOOL, self._monitoring.events.PY_START)

    def stop(self) -> None:
        """Listen no more."""
        self._monitoring.set_events(TOOL, 0)


def make_tracer(root: str) -> Tracer:
    """Make the tracer that this Python can have."""
    monitoring = getattr(sys, "monitoring", None)
    return Tracer(root) if monitoring is None else MonitoringTracer(root, monitoring)


def run_tests(root: str, names: list[str], is_traced: bool) -> str:
    """Run tests, or until the first that fails where nothing is traced, and tell as JSON what came of it."""
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
