"""Record the calls between functions of one repository, inside the processes of a traced command.

A copy of this file, named sitecustomize.py, is in the first folder of PYTHONPATH, so that every Python process of the
command runs it at its start; plan.json in the same folder describes the repository. Hence it is one file and uses only
the standard library, of Python 3.8 and newer. Each process writes its own file into that folder.

Python 3.12 and newer report every call with its callee (sys.monitoring). Before, sys.setprofile reports which frame was
entered from which; generators and coroutines are entered where they are consumed, not where they are called, and are
left out.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
import threading
from importlib import import_module
from types import (
    BuiltinFunctionType,
    CodeType,
    FrameType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    WrapperDescriptorType,
)
from typing import Any

SUSPENDING = 0x2A0  # co_flags of generators, coroutines and asynchronous generators
BATCH = 512  # records kept in memory before they are written
GENERATED = "<"  # prefix of the file names of code generated at run time, which decorators may return
TOOLS = (4, 3)  # ids of sys.monitoring that are not reserved for a kind of tool
NAMED = (BuiltinFunctionType, MethodDescriptorType, MethodWrapperType, WrapperDescriptorType, type)


class Recorder:
    """Records each distinct call once, and writes it to a file."""

    def __init__(self, folder: str, plan: dict[str, Any]) -> None:
        self._folder = folder
        self._roots = tuple({plan["root"], os.path.realpath(plan["root"])})
        self._paths = frozenset(plan["paths"])
        self._wrappers = {(path, line): frozenset(names) for path, line, names in plan["wrappers"]}
        self._decorated = {(path, line): frozenset(names) for path, line, names in plan["decorated"]}
        self._places: dict[str, str] = {}
        self._tails = frozenset(path.rpartition("/")[2] for path in self._paths if "/" in path)
        self._copies: set[str] = set()
        self._seen: set[tuple[object, ...]] = set()
        self._kept: dict[int, CodeType] = {}  # code objects by id, kept alive so that no id is reused
        self._names: dict[int, frozenset[str]] = {}  # names of the decorators by id of the code
        self._pending: list[list[object]] = []

    def place(self, filename: str) -> str:
        """Return the path of a code's file in the repository; "" for files outside."""
        found = self._places.get(filename)
        if found is None:
            found = self._places[filename] = self._find_place(filename)
        return found

    def _find_place(self, filename: str) -> str:
        for full in (os.path.abspath(filename), os.path.realpath(filename)):
            for root in self._roots:
                if full.startswith(root.rstrip(os.sep) + os.sep):
                    path = full[len(root.rstrip(os.sep)) + 1 :].replace(os.sep, "/")
                    if path in self._paths:
                        return path
        if os.path.basename(filename) in self._tails:
            self._note_copy(os.path.abspath(filename))
        return ""

    def _note_copy(self, full: str) -> None:
        """Record, once per package, a module that ran from elsewhere although the repository has it too."""
        for entry in sys.path:
            folder = os.path.abspath(entry).rstrip(os.sep) + os.sep
            module = full[len(folder) :].replace(os.sep, "/") if full.startswith(folder) else ""
            package = module.partition("/")[0]
            if package == module or package in self._copies or package in ("test", "tests"):
                continue
            if any(path == module or path.endswith("/" + module) for path in self._paths):
                self._copies.add(package)
                self._put(["copy", full])

    def note_call(self, code: CodeType, frame: FrameType | None) -> None:
        """Record that code was entered from a frame, its caller."""
        if frame is None:
            return
        caller = frame.f_code
        path, inside = self.place(code.co_filename), self.place(caller.co_filename)
        if not path:
            if inside:
                self.note_outside(frame, code.co_name)
            return
        if inside:
            self._note("direct", frame, code)
        names = self._names.get(id(code))
        if names is None:
            self._kept[id(code)] = code
            names = self._names[id(code)] = self._decorated.get((path, code.co_firstlineno), frozenset())
        if not inside or (names and self._is_wrapper(inside, caller, names)):
            self._note_ancestor("through", frame, code, names)

    def note_outside(self, frame: FrameType, name: str) -> None:
        """Record that a frame of the repository called something outside it, which shows that its line ran."""
        caller = frame.f_code
        key = (id(caller), frame.f_lasti, name)  # the line number is computed only for new keys, because that is slow
        if key not in self._seen:
            self._seen.add(key)
            self._kept[id(caller)] = caller
            self._put(["outside", *self._describe(frame), name])

    def _note_ancestor(self, kind: str, frame: FrameType | None, code: CodeType, names: frozenset[str]) -> None:
        """Record as caller the nearest frame of the repository that is not a wrapper of the code's own decorators."""
        while frame is not None:
            inside = self.place(frame.f_code.co_filename)
            if inside and not self._is_wrapper(inside, frame.f_code, names):
                return self._note(kind, frame, code)
            kind = "wrapped" if inside else kind
            frame = frame.f_back
        return None

    def _is_wrapper(self, path: str, code: CodeType, names: frozenset[str]) -> bool:
        return not names.isdisjoint(self._wrappers.get((path, code.co_firstlineno), ()))

    def _note(self, kind: str, frame: FrameType, code: CodeType) -> None:
        caller = frame.f_code
        key = (kind, id(caller), frame.f_lasti, id(code))
        if key not in self._seen:
            self._seen.add(key)
            self._kept.update({id(caller): caller, id(code): code})
            callee = [self.place(code.co_filename), code.co_firstlineno, code.co_name]
            self._put([kind, *self._describe(frame), *callee])

    def _describe(self, frame: FrameType) -> list[object]:
        code = frame.f_code
        return [self.place(code.co_filename), code.co_firstlineno, code.co_name, frame.f_lineno or 0]

    def _put(self, record: list[object]) -> None:
        self._pending.append(record)
        if len(self._pending) >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Write the pending records; if the folder is gone, they are no longer needed."""
        pending, self._pending = self._pending, []
        lines = "".join(json.dumps(record) + "\n" for record in pending)
        try:
            with open(os.path.join(self._folder, f"{os.getpid()}.jsonl"), "a", encoding="utf-8") as file:
                file.write(lines)
        except OSError:
            pass

    def start(self, hook: str) -> None:
        """Record that this process is traced, and flush the records at its end."""
        self._put(["process", list(sys.version_info[:2]), hook])
        self.flush()
        atexit.register(self.flush)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._pending_of_parent)
        leave = os._exit

        def flush_and_leave(status: int) -> None:  # multiprocessing ends its workers with os._exit, without atexit
            self.flush()
            leave(status)

        os._exit = flush_and_leave  # type: ignore[assignment]

    def _pending_of_parent(self) -> None:
        """Drop the records that the parent of a forked process will write itself."""
        self._pending = []


def install_profile(recorder: Recorder) -> None:
    """Trace by sys.setprofile, in this thread and in new ones."""
    recorder.start("setprofile")
    place, note_call, note_outside = recorder.place, recorder.note_call, recorder.note_outside

    def hook(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            if not frame.f_code.co_flags & SUSPENDING:
                note_call(frame.f_code, frame.f_back)
        elif event == "c_call" and place(frame.f_code.co_filename):
            note_outside(frame, argument.__name__)

    threading.setprofile(hook)
    sys.setprofile(hook)


def install_monitoring(recorder: Recorder, monitoring: Any) -> bool:
    """Trace by sys.monitoring: function starts everywhere, calls in the repository; return False without a free id."""
    events = monitoring.events
    tool = next((each for each in TOOLS if monitoring.get_tool(each) is None), None)
    if tool is None:
        return False
    monitoring.use_tool_id(tool, "pkg")
    recorder.start("monitoring")
    place, note_call, note_outside = recorder.place, recorder.note_call, recorder.note_outside
    armed: dict[int, CodeType] = {}

    def note_start(code: CodeType, offset: int) -> object:
        inside = place(code.co_filename)
        if not inside and not code.co_filename.startswith(GENERATED):
            return monitoring.DISABLE
        if id(code) not in armed:
            armed[id(code)] = code
            monitoring.set_local_events(tool, code, events.CALL)
        caller = sys._getframe(1).f_back
        is_noted = code.co_flags & SUSPENDING and not code.co_name.startswith("__")
        if is_noted and caller is not None and place(caller.f_code.co_filename):
            return None  # recorded at its call; special methods called by a loop have none
        note_call(code, caller)
        return None

    def note_site(code: CodeType, offset: int, callee: object, argument: object) -> None:
        frame = sys._getframe(1)
        function = callee.__func__ if type(callee) is MethodType else callee
        if type(function) is FunctionType:
            if function.__code__.co_flags & SUSPENDING or not place(function.__code__.co_filename):
                note_call(function.__code__, frame)
        elif place(code.co_filename):
            note_outside(frame, function.__name__ if type(function) in NAMED else type(function).__name__)  # type: ignore[attr-defined]

    monitoring.register_callback(tool, events.PY_START, note_start)
    monitoring.register_callback(tool, events.CALL, note_site)
    monitoring.set_events(tool, events.PY_START)
    return True


def run_next_customization(folder: str) -> None:
    """Run the sitecustomize that this one hides, if there is one."""
    sys.path[:] = [each for each in sys.path if os.path.abspath(each) != folder]
    own = sys.modules.pop("sitecustomize")
    try:
        import_module("sitecustomize")
    except ImportError as fault:
        if fault.name != "sitecustomize":
            raise
    finally:
        sys.modules.setdefault("sitecustomize", own)


def install(folder: str) -> None:
    """Start tracing with the plan in a folder."""
    with open(os.path.join(folder, "plan.json"), encoding="utf-8") as file:
        recorder = Recorder(folder, json.load(file))
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is None or not install_monitoring(recorder, monitoring):
        install_profile(recorder)


if __name__ == "sitecustomize":
    FOLDER = os.path.dirname(os.path.abspath(__file__))
    try:
        run_next_customization(FOLDER)
    finally:
        install(FOLDER)
