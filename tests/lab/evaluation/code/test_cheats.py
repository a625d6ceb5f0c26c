"""Answers that try to pass the hidden tests without being correct: none of them does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pkg.lab.evaluation.code.benchmarks import Item
from pkg.lab.evaluation.code.hidden_tests import LIMITS, HiddenTests, score_all
from pkg.sandbox import Program, Sandbox, Step, open_sandbox

HEADER = "def total(items):\n"
TESTS = """
def check(candidate):
    assert candidate([1, 2]) == 3
    assert abs(candidate([0.5, 0.25]) - 0.75) < 1e-6
    assert candidate([]) == 0, "the secret of the tests"
    assert isinstance(candidate([4]), int)
check(total)
"""
CHECKED = Item("T/1", "", "", "total", f"{HEADER}    return sum(items)\n", TESTS)
SPELLED = Item(
    "T/2", "", "", "total", f"{HEADER}    return sum(items)\n",
    "assert total([1, 2]) == 3\nassert total(made) == 7\nassert total([]) == 0", setup="made = [3, 4]",
)  # fmt: skip

EQUAL = """
class Any(int):
    __eq__ = __le__ = __lt__ = __ge__ = __gt__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __hash__ = int.__hash__
    __sub__ = __rsub__ = __add__ = __abs__ = __getitem__ = lambda self, *_: self
    __bool__ = __contains__ = lambda self, *_: True
"""
FORGE = """
import json, os
def forge(value):
    body = json.dumps({"kind": "ok", "detail": "", "seconds": 0.0, "value": value}).encode()
    os.write(3, len(body).to_bytes(4, "big") + body)
"""
CHEATS = {
    # The eight kinds known from other evaluations.
    "an object that equals everything": EQUAL.replace("(int)", "") + "def total(items): return Any()",
    "a subclass of int": EQUAL + "def total(items): return Any(1)",
    "a subclass of str": EQUAL.replace("int", "str") + "def total(items): return Any('x')",
    "a report forged in the function": FORGE + "def total(items):\n    forge(None)\n    os._exit(0)",
    "a report forged at load": FORGE + "forge(None)\nforge(None)\nos._exit(0)",
    "tests read from frames": """
import sys
def total(items):
    frame = sys._getframe()
    while frame:
        for value in [*frame.f_locals.values(), *frame.f_globals.values(), *frame.f_code.co_consts]:
            if isinstance(value, str) and "secret of the tests" in value:
                return "found"
            if callable(value) and getattr(value, "__name__", "") == "check":
                value.__code__ = (lambda candidate: None).__code__
        frame = frame.f_back
    return None
""",
    "builtins replaced": """
import builtins, math
builtins.abs = lambda *_: 0
builtins.isinstance = lambda *_: True
builtins.AssertionError = type("Quiet", (BaseException,), {})
def total(items):
    builtins.exec = builtins.eval = builtins.compile = lambda *_, **__: None
    return 0
""",
    "an exit that looks right": "import sys, os\ndef total(items):\n    os._exit(0)",
    # Twelve more kinds.
    "an exit by exception": "def total(items): raise SystemExit(0)",
    "something at exit": FORGE + "import atexit\natexit.register(forge, None)\ndef total(items): return 1",
    "answers forged whole": FORGE
    + """
def total(items):
    forge(json.dumps([[True, 3], [True, True], [True, {"repr": ["int", "3"]}]]))
    os._exit(0)
""",
    "answers of no kind": FORGE
    + """
def total(items):
    forge('{"dict":[["passed",true]]}')
    os._exit(0)
""",
    "tests found by the collector": """
import gc
def total(items):
    for each in gc.get_objects():
        if type(each).__name__ in ("dict", "list", "function") and "secret of the tests" in repr(each)[:99999]:
            return each
    return None
""",
    "files, variables and arguments searched": """
import os, sys
def total(items):
    seen = [*map(str, os.environ.items()), *sys.argv]
    for folder in ("/box", "/proc/self", "/proc/1", "."):
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            try:
                seen.append(open(os.path.join(folder, name), errors="replace").read())
            except OSError:
                pass
    return "found" if any("secret of the tests" in each for each in seen) else None
""",
    "an iterator that never says no": EQUAL + "def total(items): return iter([Any(1)] * 9)",
    "a number that is not one": "def total(items): return float('nan')",
    "pickles that run code": """
class Bomb:
    def __reduce__(self):
        return (exec, ("import builtins; builtins.AssertionError = ValueError",))
def total(items): return [Bomb()]
""",
    "helpers replaced": "import copy, json, pickle\njson.loads = lambda *_: []\npickle.dumps = lambda *_: 1 / 0\n"
    "def total(items): return None",
    "a class that claims to be another": """
class Fake:
    __class__ = property(lambda self: int)
    __eq__ = lambda self, other: True
    def __int__(self): return 3
    def bit_length(self): return 1
def total(items): return Fake()
""",
    "a tracer that skips": """
import sys
def skip(frame, event, argument):
    frame.f_trace_lines = False
    return skip
sys.settrace(skip)
sys.excepthook = lambda *_: None
def total(items):
    import signal
    for number in (signal.SIGPROF, signal.SIGXCPU, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    return None
""",
}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with open_sandbox(jobs=1) as opened:
        yield opened


def test_no_cheat_is_counted_as_right(sandbox: Sandbox) -> None:
    assert len(CHEATS) >= 20
    for item in (CHECKED, SPELLED):
        codes = [item.reference, *CHEATS.values(), f"{HEADER}    return sum(items) if items else 1"]
        right, *scores = score_all(HiddenTests(sandbox, LIMITS), [(code, item) for code in codes])
        assert right.passed, right
        passed = [name for name, score in zip([*CHEATS, "wrong at the end"], scores, strict=True) if score.passed]
        assert passed == []


def test_the_process_of_a_candidate_holds_no_test(sandbox: Sandbox) -> None:
    """A spy that searches its whole process returns what it finds, and finds no test."""
    spy = """
import codecs, gc, sys
def total(items):
    texts, frame = [], sys._getframe()
    while frame:
        texts += map(repr, frame.f_locals.values())
        frame = frame.f_back
    texts += (repr(each) for each in gc.get_objects() if type(each) in (dict, list, tuple))
    return "found" if any("frperg bs gur grfgf" in codecs.encode(each, "rot13") for each in texts) else "nothing"
"""
    told = CHECKED.tests.replace("assert candidate([1, 2]) == 3", "assert candidate([1, 2]) == 'nothing'")
    reference = f"{HEADER}    return 'nothing' if items == [1, 2] else sum(items)\n"
    item = Item("T/3", "", "", "total", reference, told)
    (score,) = score_all(HiddenTests(sandbox, LIMITS), [(spy, item)])
    assert score.error == "TypeError"  # it reached the second assert, and subtracted from a string
    in_sight = Program(f"{spy}\nseen = 'the secret of the tests'", (Step("total(0)", True),))
    (found,) = sandbox.run(in_sight, LIMITS).steps
    assert found.value == '"found"'
