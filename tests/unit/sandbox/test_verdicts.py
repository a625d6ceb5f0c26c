"""Each way to end has its own kind, and each step its own process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pkg.sandbox import Kind, Limits, Program, Sandbox, Step, open_sandbox

QUICK = Limits(cpu_seconds=0.5, wall_seconds=1.0)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with open_sandbox("process", jobs=1) as opened:
        yield opened


@pytest.mark.parametrize(
    ("code", "kind", "detail"),
    [
        ("def f(x):\n    return x", Kind.OK, ""),
        ("", Kind.OK, ""),
        ("def f(:\n    pass", Kind.SYNTAX, "SyntaxError: invalid syntax: def f(: (line 1, column 7)"),
        ("if True:\nx = 1", Kind.INDENTATION, "IndentationError: expected an indented block"),
        ("if 1:\n\tx = 1\n        y = 2", Kind.INDENTATION, "TabError: "),
        ("x = 1\ny = x + z", Kind.NAME, "NameError: name 'z' is not defined (line 2)"),
        ("def f():\n    print(n)\n    n = 1\nf()", Kind.NAME, "UnboundLocalError: "),
        ("1 + 'a'", Kind.TYPE, "TypeError: unsupported operand type(s) for +: 'int' and 'str' (line 1)"),
        ("assert 1 == 2, 'one is\\nnot two'", Kind.ASSERTION, "AssertionError: one is not two (line 1)"),
        ("import nowhere_to_be_found", Kind.OTHER, "ModuleNotFoundError: "),
        ("1 / 0", Kind.OTHER, "ZeroDivisionError: division by zero (line 1)"),
        ("raise KeyboardInterrupt", Kind.EXIT, "KeyboardInterrupt"),
        ("import sys\nsys.exit('enough')", Kind.EXIT, "SystemExit: enough (line 2)"),
        ("open('missing.txt')", Kind.OTHER, "FileNotFoundError: "),
    ],
)
def test_a_load_ends_in_its_kind_and_says_why(sandbox: Sandbox, code: str, kind: Kind, detail: str) -> None:
    verdict = sandbox.run(Program(code)).load
    assert verdict.kind is kind
    assert verdict.detail.startswith(detail)


@pytest.mark.parametrize(
    "code",
    [
        "import asyncio\nasync def f():\n    await asyncio.sleep(0)\nasyncio.run(f())",
        "import threading\nt = threading.Thread(target=print)\nt.start()\nt.join()",
        "import os\nif os.fork() == 0:\n    os._exit(0)\nos.wait()",
        "with open('a.txt', 'w') as f:\n    f.write('x')\nassert open('a.txt').read() == 'x'",
        "import tempfile\nwith tempfile.TemporaryFile() as f:\n    f.write(b'x')",
        "import secrets, uuid, hashlib, zlib, sqlite3\nsqlite3.connect(':memory:').execute('select 1')",
        "import datetime, zoneinfo, locale, decimal, fractions, statistics\ndatetime.datetime.now()",
        "import numpy\nassert numpy.linalg.inv(numpy.eye(50)).sum() == 50",
        "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: 'int' = 1\nassert A() == A(1)",
        "import pickle\nclass A: pass\npickle.loads(pickle.dumps(A()))",
        "import socket\na, b = socket.socketpair()\na.send(b'x')\nassert b.recv(1) == b'x'",
        "import asyncio\nasync def f():\n    return await asyncio.gather(*(asyncio.to_thread(int) for _ in range(9)))\n"
        "assert asyncio.run(f()) == [0] * 9",
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(4) as pool:\n"
        "    assert sum(pool.map(abs, range(100))) == 4950",
        "import mmap\nwith open('a', 'wb+') as f:\n    f.write(b'x' * 9000)\n    f.flush()\n"
        "    m = mmap.mmap(f.fileno(), 0)\n    m[0] = 65\n    assert m[:2] == b'Ax'",
        "import multiprocessing\np = multiprocessing.get_context('fork').Process(target=print)\np.start()\np.join()\n"
        "assert p.exitcode == 0",
        "import multiprocessing\na, b = multiprocessing.Pipe()\na.send([1])\nassert b.recv() == [1]",
        "import ctypes\nf = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(lambda n: n + 1)\nassert f(1) == 2",
        "import fcntl\nwith open('a', 'w') as f:\n    fcntl.flock(f, fcntl.LOCK_EX)",
        "data = bytearray(200 << 20)\nfor n in range(0, len(data), 4096):\n    data[n] = 1",
        "import typing\ndef f(x: 'int') -> 'str': ...\ntyping.get_type_hints(f)",
        "if __name__ == '__main__':\n    raise SystemExit('definitions alone are wanted')",
    ],
)
def test_what_honest_code_does_is_allowed(sandbox: Sandbox, code: str) -> None:
    assert sandbox.run(Program(code)).load.kind is Kind.OK


def test_a_step_gives_the_value_of_its_expression(sandbox: Sandbox) -> None:
    program = Program("def f(x): return {x: [x, (x,)]}", (Step("f(2)", True), Step("f('a')", True)))
    assert [step.value for step in sandbox.run(program).steps] == [
        '{"dict":[[2,[2,{"tuple":[2]}]]]}',
        '{"dict":[["a",["a",{"tuple":["a"]}]]]}',
    ]


def test_statements_have_no_value(sandbox: Sandbox) -> None:
    (good, bad) = sandbox.run(Program("x = 1", (Step("assert x == 1", False), Step("assert x == 2", False)))).steps
    assert (good.kind, good.value) == (Kind.OK, None)
    assert (bad.kind, bad.value) == (Kind.ASSERTION, None)


def test_a_step_that_fails_or_hangs_ends_only_itself(sandbox: Sandbox) -> None:
    code = "import os\ndef f(n):\n    if n == 0: return 1 / 0\n    if n == 1:\n        while True: pass\n"
    code += "    if n == 2: os._exit(3)\n    return n"
    result = sandbox.run(Program(code, tuple(Step(f"f({n})", True) for n in range(5))), QUICK)
    assert [step.kind.value for step in result.steps] == ["other", "timeout", "exit", "ok", "ok"]
    assert [step.value for step in result.steps[3:]] == ["3", "4"]


def test_no_step_sees_what_another_changed(sandbox: Sandbox) -> None:
    program = Program(
        "seen = []\ndef f(x):\n    seen.append(x)\n    return seen", (Step("f(1)", True), Step("f(2)", True))
    )
    assert [step.value for step in sandbox.run(program).steps] == ["[1]", "[2]"]


def test_a_step_reads_its_own_input(sandbox: Sandbox) -> None:
    steps = (Step("f()", True, "first\nsecond\n"), Step("f()", True, "ünï\nx"))
    result = sandbox.run(Program("def f():\n    return [input(), input()]", steps))
    assert [step.value for step in result.steps] == ['["first","second"]', '["\\u00fcn\\u00ef","x"]']


def test_what_load_and_step_print_is_kept_apart(sandbox: Sandbox) -> None:
    result = sandbox.run(Program("print('loading')\ndef f(): print('stepping')", (Step("f()", True),)))
    assert (result.load.output, result.steps[0].output) == ("loading\n", "stepping\n")


def test_output_is_cut_where_the_limit_says(sandbox: Sandbox) -> None:
    verdict = sandbox.run(Program("print('x' * 1000)"), Limits(output_bytes=100)).load
    assert (verdict.kind, verdict.output) == (Kind.OK, "x" * 100)


def test_a_load_that_fails_is_the_verdict_of_every_step(sandbox: Sandbox) -> None:
    result = sandbox.run(Program("x = y", (Step("1", True), Step("2", True))))
    assert {verdict.kind for verdict in (result.load, *result.steps)} == {Kind.NAME}
    assert {step.detail for step in result.steps} == {result.load.detail}


def test_the_time_of_a_run_is_its_cpu_time(sandbox: Sandbox) -> None:
    busy = sandbox.run(Program("while True: pass"), Limits(cpu_seconds=QUICK.cpu_seconds, wall_seconds=60.0)).load
    lazy = sandbox.run(Program("import time\ntime.sleep(9)"), QUICK).load
    assert busy.kind is lazy.kind is Kind.TIMEOUT
    assert lazy.seconds < QUICK.cpu_seconds < busy.seconds


def test_the_same_program_gives_the_same_values_in_another_sandbox(sandbox: Sandbox) -> None:
    steps = tuple(Step(text, True) for text in ("list({'a', 'b', 'c', 'd'})", "random.random()", "hash('text')"))
    program = Program("import random", steps)
    with open_sandbox("process", jobs=1) as other:
        values = [[step.value for step in place.run(program).steps] for place in (sandbox, other, sandbox)]
    assert values[0] == values[1] == values[2]


def test_the_sandbox_says_which_walls_stand(sandbox: Sandbox) -> None:
    assert sandbox.name == "process"
    assert (
        sandbox.run(Program("import sys", (Step("[m for m in sys.modules if m.startswith('pkg')]", True),)))
        .steps[0]
        .value
        == "[]"
    )
