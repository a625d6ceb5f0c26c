"""Answers of calls are plain data, whatever a call does."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator

import pytest

from pkg.sandbox.inside.call_answers import make_lines, make_runs, run_calls


@pytest.fixture(autouse=True)
def close_loops(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close event loops that would end with the process of a candidate."""
    make, made = asyncio.new_event_loop, list[asyncio.AbstractEventLoop]()

    def remember() -> asyncio.AbstractEventLoop:
        made.append(make())
        return made[-1]

    monkeypatch.setattr(asyncio, "new_event_loop", remember)
    yield
    for loop in made:
        loop.close()


def ask(*lines: str, own: dict[str, object] | None = None) -> list[object]:
    return run_calls(1.0, 2, *make_lines(own or {}, *(("exec" if "=" in each else "eval", each) for each in lines)))


def test_lines_share_their_names_and_leave_those_of_the_candidate_alone() -> None:
    own: dict[str, object] = {"x": 1}
    assert ask("x = 5", "x", own=own)[1] == [True, 5]
    assert own == {"x": 1}


def test_a_line_that_fails_does_not_end_the_others() -> None:
    first, second = ask("1 / 0", "2")
    assert first == [False, "ZeroDivisionError", "division by zero", 0, ["ArithmeticError", "Exception"]]
    assert second == [True, 2]


def test_a_line_may_await_and_a_coroutine_is_awaited() -> None:
    async def add(one: int, other: int) -> int:
        return one + other

    assert ask("await add(1, 2)", "add(3, 4)", own={"add": add}) == [[True, 3], [True, 7]]


def test_the_output_is_returned_if_there_is_no_value() -> None:
    assert ask("print('a')", "print('b') or 3", "print('c')") == [[True, None, "a\n"], [True, 3], [True, None, "c\n"]]


def test_a_value_is_what_it_was_when_it_was_given() -> None:
    assert ask("x = [1]", "x", "x.append(2)", "x")[1::2] == [[True, [1]], [True, [1, 2]]]


def test_a_program_reads_each_input_from_its_beginning_and_leaves_the_streams_as_they_were() -> None:
    before = sys.stdin, sys.stdout, sys.argv, sys.modules["__main__"]
    program = "import sys\nif __name__ == '__main__':\n    print(input()[::-1])\n    sys.exit()"
    assert run_calls(1.0, 2, *make_runs(program, "ab\n", "cd\n")) == [[True, None, "ba\n"], [True, None, "dc\n"]]
    assert (sys.stdin, sys.stdout, sys.argv, sys.modules["__main__"]) == before


def test_a_program_that_ends_itself_with_a_fault_has_failed() -> None:
    ((is_right, name, *_),) = run_calls(1.0, 2, *make_runs("raise SystemExit(3)", ""))
    assert (is_right, name) == (False, "SystemExit")
