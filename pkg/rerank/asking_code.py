"""The code that asks a candidate: appended to what it wrote, it runs in the candidate's process and decides nothing.

Each call is run under its own `try` and with a timer of its own, and its answer is plain data: the value, with what
was printed where there is none, or the exception. Names begin with `_pkg_`, so that the place of a fault is looked for
in other frames.
"""

from __future__ import annotations

# What the values of later calls change must not change what an earlier one gave, hence the copies.
ASK_ALL = """

def _pkg_ask_all(seconds, most_hangs, *calls):
    import io, signal, sys
    from copy import deepcopy
    class Hang(BaseException):
        pass
    def stop(*_):
        raise Hang
    signal.signal(signal.SIGPROF, stop)
    answers, kept, raw = [], sys.stdout, io.BytesIO()
    caught = io.TextIOWrapper(raw, "utf-8", "replace", "", write_through=True)
    for call in calls:
        if answers.count("hung") == most_hangs:
            answers.append("not tried")
            continue
        raw.seek(0)
        raw.truncate()
        if getattr(call, "begins", True):
            sys.stdout = caught
        try:
            try:
                signal.setitimer(signal.ITIMER_PROF, seconds, seconds)
                value = call()
                if type(value).__name__ == "coroutine":
                    import asyncio
                    value = asyncio.run(value)
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            if isinstance(value, (list, dict, set, tuple)):
                value = deepcopy(value)
            answers.append([True, value] if value is not None else [True, None, raw.getvalue().decode()])
        except Hang:
            answers.append("hung")
        except (Exception, SystemExit) as fault:
            trace, line = fault.__traceback__, 0
            if isinstance(fault, MemoryError):  # lets go of what fills the memory
                trace = fault.__traceback__ = None
            while trace is not None:
                code = trace.tb_frame.f_code
                if code.co_filename == "<candidate>" and not code.co_name.startswith("_pkg_"):
                    line = trace.tb_lineno
                trace = trace.tb_next
            names = [each.__name__ for each in type(fault).__mro__[1:-2]]
            answers.append([False, type(fault).__name__, str(fault)[:200], line, names])
    sys.stdout = kept
    return answers
"""
"""Asks calls one after the other."""

MAKE_LINES = """

def _pkg_lines(*lines):
    names, loops = dict(globals()), []
    def wait(made):
        import asyncio
        if not loops:
            loops.append(asyncio.new_event_loop())
        return loops[0].run_until_complete(made)
    def make(place, mode, source):
        def _pkg_run():
            code = compile(source, "<step>", mode, 0x2000, True)
            value = eval(code, names)
            value = wait(value) if code.co_flags & 0x80 else value
            return wait(value) if type(value).__name__ == "coroutine" else value
        _pkg_run.begins = place == 0
        return _pkg_run
    return [make(place, *each) for place, each in enumerate(lines)]
"""
"""Makes calls of the lines of a script, which share names of their own beside those of the candidate.

A line may await (0x2000 is ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, 0x80 inspect.CO_COROUTINE), and a coroutine that it comes to
is awaited.
"""

MAKE_RUNS = """

def _pkg_runs(source, *inputs):
    import io, sys, types
    program = compile(source, "<candidate>", "exec", dont_inherit=True)
    def make(text):
        def _pkg_open(file, *given, **named):
            return sys.stdin if file in (0, "/dev/stdin") else open(file, *given, **named)
        def _pkg_run():
            main, kept = types.ModuleType("__main__"), (sys.stdin, sys.argv, sys.modules.get("__main__"))
            main.open = _pkg_open
            sys.stdin = io.TextIOWrapper(io.BytesIO(text.encode()), "utf-8")
            sys.argv, sys.modules["__main__"] = ["main.py"], main
            try:
                exec(program, main.__dict__)
            except SystemExit as fault:
                if fault.code not in (None, 0):
                    raise
            finally:
                sys.stdin, sys.argv, sys.modules["__main__"] = kept
        return _pkg_run
    return [make(each) for each in inputs]
"""
"""Makes calls that run a program as the main one, each with another text to read."""
