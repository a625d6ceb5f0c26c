"""Calls reach the last value stored in a name, attribute or item: each case is run and compared.

All calls of the run are found, and no others, except in listed cases.
"""

from __future__ import annotations

import sys
from types import FrameType

import pytest
from unit.resolution.resolving import resolve_tree

from pkg.model import RelationType

START = """
def early(*_): pass
def late(*_): pass
def other(*_): pass
class Job:
    def __init__(self, action=early):
        self.action = action
        self.steps = {}
        known[:] = [self]
    def swap(self):
        self.action = other
    def go(self, flag): pass
    def each(self): return [1]
known = []
def swap_known():
    for job in known: job.action = other
def swap(job): job.action = other
def change(table): table["k"] = other
"""
NAMES = {
    "last": "f = early\nf = late\nf()",
    "before and after": "f = early\nf()\nf = late\nf()",
    "branch": "f = early\nif flag: f = late\nf()",
    "both branches": "if flag: f = early\nelse: f = late\nf()",
    "in a branch": "f = other\nif flag:\n    f = early\n    f = late\n    f()",
    "made of itself in a branch": "f = early\nif flag:\n    f = (lambda g: late)(f)\n    f()",
    "in a branch, then after": "f = early\nif flag:\n    f = other\n    f = late\nf()",
    "try": "f = early\ntry:\n    f = late\n    f()\nexcept KeyError: f = other",
    "except": "f = early\ntry:\n    f = late\n    {}['k']\nexcept KeyError:\n    f()",
    "except that binds": "f = early\ntry:\n    {}['k']\n    f = other\nexcept KeyError:\n    f = late\nf()",
    "finally": "f = early\ntry:\n    if flag: f = late\nfinally:\n    f()",
    "bound in finally": "f = early\ntry: f = other\nfinally:\n    f = late\nf()",
    "for": "f = early\nfor _ in (1, 2):\n    f()\n    f = late",
    "for that binds first": "f = early\nfor _ in (1, 2):\n    f = late\n    f()\n    f = other",
    "for in a loop": (
        "for _ in (1, 2):\n    f = early\n    for _ in (1, 2):\n"
        "        f()\n        f = late\n    f = other"
    ),
    "continue": "f = early\nfor i in (1, 2):\n    if i > 1:\n        f = late\n        continue\n    f()",
    "continue, then again": (
        "f = early\nfor i in (1, 2):\n    f()\n    if i == 1:\n"
        "        f = late\n        continue\n    f = other"
    ),
    "while else": "f = early\nwhile flag:\n    f = other\n    flag = False\nelse:\n    f = late\nf()",
    "del": "f = early\ndel f\nf = late\nf()",
    "with": "import contextlib\nwith contextlib.nullcontext():\n    f = early\n    f = late\nf()",
    "several at once": "f, g = early, other\nf, g = late, other\nf()",
    "chain": "f = g = early\nf = late\nf()\ng()",
    "walrus": "f = early\n(f := late)()",
    "global": "global shared\nshared = early\nshared = late\nshared()",
    "nonlocal": "f = early\ndef inner():\n    nonlocal f\n    f = late\ninner()\nf()",
    "closure": "f = early\ndef inner(): f()\nf = late\ninner()",
    "closure in between": "f = early\ndef inner(): f()\ninner()\nf = late\ninner()",
    "lambda": "f = early\ncall = lambda: f()\nf = late\ncall()",
    "default": "f = early\ncall = lambda f=f: f()\nf = late\ncall()",
    "conditional expression": "f = early if flag else late\nf()",
    "or": "f = None or late\nf()",
    "match": "match flag:\n    case True: f = early\n    case _: f = late\nf()",
    "definition": "f = early\ndef f(): late()\nf()",
}  # fmt: skip
ATTRIBUTES = {
    "last": "job = Job()\njob.action = late\njob.action()",
    "twice": "job = Job()\njob.action = other\njob.action = late\njob.action()",
    "before": "job = Job()\njob.action()\njob.action = late",
    "branch": "job = Job()\nif flag: job.action = late\njob.action()",
    "branch after": "job = Job()\njob.action = other\nif flag: job.action = late\njob.action()",
    "changed by a function": "job = Job()\njob.action = late\nswap(job)\njob.action()",
    "changed by a method": "job = Job()\njob.action = late\njob.swap()\njob.action()",
    "changed by another name": "job = Job()\nsame = job\njob.action = late\nsame.action = other\njob.action()",
    "changed by setattr": "job = Job()\njob.action = late\nsetattr(job, 'action', other)\njob.action()",
    "other object": "job = Job()\njob.action = late\njob = Job()\njob.action()",
    "loop": "job = Job()\nfor _ in (1, 2):\n    job.action()\n    job.action = late",
    "loop that stores first": "job = Job()\nfor _ in (1, 2):\n    job.action = late\n    job.action()",
    "stored before a loop": (
        "job = Job()\njob.action = other\nfor _ in (1, 2):\n"
        "    job.action()\n    job.action = late"
    ),
    "argument": "def run(job):\n    job.action = late\n    job.action()\nrun(Job())",
    "inner function": "job = Job()\ndef change(): job.action = other\njob.action = late\nchange()\njob.action()",
    "deleted": "job = Job()\njob.action = late\nJob.action = other\ndel job.action\njob.action()\ndel Job.action",
    "deeper": "job = Job()\njob.inner = Job()\njob.inner.action = late\njob.inner.action()",
    "deeper, stored again": (
        "job = Job()\njob.inner = Job()\njob.inner.action = late\n"
        "job.inner = Job()\njob.inner.action()"
    ),
    "handed on": "job = Job()\njob.action = late\nf = job.action\nf()",
    "in an expression": "job = Job()\njob.action = late\n[job.action][0]()",
    "tested": "job = Job()\nif callable(job.action): job.action()",
}  # fmt: skip
ITEMS = {
    "last": "d = {}\nd['k'] = early\nd['k'] = late\nd['k']()",
    "written out, then stored": "d = {'k': early}\nd['k'] = late\nd['k']()",
    "other key": "d = {}\nd['k'] = late\nd['j'] = early\nd['k']()",
    "before": "d = {'k': early}\nd['k']()\nd['k'] = late",
    "branch": "d = {'k': early}\nif flag: d['k'] = late\nd['k']()",
    "list": "d = [early, other]\nd[0] = late\nd[0]()",
    "unknown key": "d = {'k': early}\nd['k'] = late\nfor key in list(d): d[key] = other\nd['k']()",
    "updated": "d = {'k': early}\nd['k'] = late\nd.update(k=other)\nd['k']()",
    "changed by a function": "d = {}\nd['k'] = late\nchange(d)\nd['k']()",
    "other dict": "d = {'k': early}\nd['k'] = other\nd = {'k': late}\nd['k']()",
    "same dict": "d = {'k': early}\ne = d\nd['k'] = late\ne['k'] = other\nd['k']()",
    "handed on": "d = {}\nd['k'] = early\nd['k'] = late\nf = d['k']\nf()",
    "number of a dict": "d = {}\nd[1] = early\nd[1] = late\nd[1]()",
    "loop": "d = {'k': early}\nfor _ in (1, 2):\n    d['k']()\n    d['k'] = late",
}  # fmt: skip
CASES = {
    f"{kind}: {name}": body
    for kind, cases in (("name", NAMES), ("attribute", ATTRIBUTES), ("item", ITEMS)) for name, body in cases.items()
}  # fmt: skip
METHODS = {
    "stored": "self.action = late\nself.action()",
    "stored after a call": "self.action = late\nself.swap()\nself.action()",
    "other call in between": "self.action = late\nlist((1, 2))\nself.action()",
    "given away in between": "self.action = late\nswap(self)\nself.action()",
    "other attribute in between": "self.action = late\nself.extra = Job()\nself.action()",
    "function in between": "self.action = late\nswap_known()\nself.action()",
    "function after": "self.action = late\nself.action(early)\nlen('')",
    "library in between": "import os\nself.action = late\nos.getcwd()\nself.action()",
    "library that calls in between": "import contextlib\nself.action = late\nwith contextlib.ExitStack() as stack:\n"
    "    stack.callback(swap_known)\nself.action()",
    "function for a library": "import functools as f\nself.action = late\nf.reduce(lambda *_: swap_known(), [1, 2])\n"
    "self.action()",
    "name for a library": "import functools\nself.action = late\nfunctools.partial(swap_known)()\nself.action()",
    "builtin that is bound again in between": "len = swap_known\nself.action = late\nlen()\nself.action()",
    "super in between": "self.action = late\nsuper().swap()\nself.action()",
    "item": "self.steps['k'] = early\nself.steps['k'] = late\nself.steps['k']()",
    "item of a given table": "self.steps['k'] = late\nchange(self.steps)\nself.steps['k']()",
    "in a loop": "for _ in self.each():\n    self.action = late\n    self.action()",
}
WIDER = frozenset((
    "name: except", "name: except that binds", "name: continue", "name: nonlocal", "name: closure", "name: lambda",

    "name: continue, then again",
    "attribute: before", "attribute: changed by a function", "attribute: changed by a method",
    "attribute: changed by setattr", "attribute: other object",
    "attribute: branch", "attribute: loop", "attribute: stored before a loop",
    "attribute: inner function", "attribute: deleted", "attribute: deeper, stored again", "attribute: tested",
    "library in between", "library that calls in between", "function for a library", "name for a library",
    "builtin that is bound again in between", "function in between",

    "item: before", "item: unknown key", "item: updated", "item: changed by a function",
    "stored after a call", "other attribute in between", "given away in between", "super in between",
    "item of a given table",
))  # fmt: skip
"""Cases with more calls than the run: in doubt, every value stored anywhere counts."""


def write(body: str) -> str:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"{START}\ndef go(flag):\n{lines}\ndef main():\n    go(True)\n    go(False)\n"


def write_method(body: str) -> str:
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    method = f"class Kid(Job):\n    def go(self, flag):\n{lines}\n"
    return f"{START}\n{method}def go(flag): Kid().go(flag)\ndef main():\n    go(True)\n    go(False)\n"


def trace(text: str) -> set[str]:
    """Return the functions that a function, or an inner one, calls when it is run."""
    seen: set[str] = set()

    def profile(frame: FrameType, event: str, _argument: object) -> None:
        caller = frame.f_back
        if event == "call" and frame.f_code.co_name in ("early", "late", "other") and caller is not None:
            seen.add(frame.f_code.co_name)

    scope: dict[str, object] = {"__name__": "main"}
    exec(compile(text, "main.py", "exec"), scope)
    run = scope["main"]
    assert callable(run)
    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(None)
    return seen


def find(text: str) -> set[str]:
    """Return the functions that a function, or an inner one, calls by the resolver."""
    calls = resolve_tree({"main.py": text}).pairs(RelationType.CALLS)
    return {
        callee.removeprefix("main.") for (caller, callee), edge in calls.items()
        if caller.startswith(("main.go", "main.Kid.go")) and callee in ("main.early", "main.late", "main.other")
    }  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_was_bound_last_is_called(case: str) -> None:
    text = write(CASES[case])
    found, shown = find(text), trace(text)
    assert shown <= found
    assert (found == shown) is (case not in WIDER)


@pytest.mark.parametrize("case", METHODS)
def test_what_a_method_stored_last_is_called(case: str) -> None:
    text = write_method(METHODS[case])
    found, shown = find(text), trace(text)
    assert shown <= found
    assert (found == shown) is (case not in WIDER)


def test_the_function_of_another_module_may_store_something_else() -> None:
    text = (
        "import helper\ndef early(): pass\ndef late(): pass\nclass Job:\n    def __init__(self): self.action = early\n"
        "    def go(self):\n        self.action = late\n        helper.run()\n        self.action()\n"
    )
    calls = resolve_tree({"main.py": text, "helper.py": "def run(): pass\n"})
    ends = {callee for caller, callee in calls.pairs(RelationType.CALLS) if caller == "main.Job.go"}
    assert {"main.early", "main.late"} <= ends
