"""Functions are written in parallel, each once, and every paid docstring is stored."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripted_model import Asked, ScriptedModel

from pkg.enhance.batch import Written, write_all
from pkg.enhance.docstring_cache import DocstringCache
from pkg.enhance.function_facts import FunctionText
from pkg.enhance.writer import DocstringWriter, Failure, open_writer
from pkg.errors import ModelBusyError
from pkg.model import Docstring


def make_functions(count: int) -> list[FunctionText]:
    return [FunctionText(f"def task_{n}(a):\n    return a + {n}", f"task_{n}") for n in range(count)]


def make_writer(model: ScriptedModel) -> DocstringWriter:
    return open_writer("scripted", model, "chat")


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[DocstringCache]:
    cache = DocstringCache(tmp_path / "docstrings.db")
    yield cache
    cache.close()


def read_texts(written: list[Written]) -> list[str]:
    ordered = sorted(written, key=lambda each: each.index)
    return [
        each.result.reason if isinstance(each.result, Failure) else getattr(each.result, "text", "") for each in ordered
    ]


def test_each_function_is_written_with_its_index() -> None:
    model = ScriptedModel(lambda asked: f"Do what is called {name_task(asked)}.", parallel=4)
    written = list(write_all(make_functions(20), make_writer(model)))
    assert sorted(each.index for each in written) == list(range(20))
    assert read_texts(written) == [f"Do what is called task_{n}." for n in range(20)]
    assert all(each.is_new and each.function.qualname == f"task_{each.index}" for each in written)


def name_task(asked: Asked) -> str:
    return asked[-1].content.partition("def ")[2].partition("(")[0]


def test_functions_are_written_in_parallel() -> None:
    together = threading.Barrier(3, timeout=20)

    def answer(asked: Asked) -> str:
        together.wait()  # three must be there at the same time, or it breaks
        return "Add a number."

    assert len(list(write_all(make_functions(6), make_writer(ScriptedModel(answer, parallel=3))))) == 6


def test_cached_docstrings_are_reused(cache: DocstringCache) -> None:
    model = ScriptedModel(["Add a number."])
    first = list(write_all(make_functions(5), make_writer(model), cache))
    again = list(write_all(make_functions(7), make_writer(model), cache))
    assert len(model.asked) == 7
    assert [each.is_new for each in sorted(again, key=lambda each: each.index)] == [False] * 5 + [True] * 2
    assert read_texts(again)[:5] == read_texts(first)


def test_failures_are_cached_and_retried_on_request(cache: DocstringCache) -> None:
    silent, talking = ScriptedModel([""]), ScriptedModel(["Add a number."])
    (failed,) = write_all(make_functions(1), make_writer(silent), cache)
    (known,) = write_all(make_functions(1), make_writer(talking), cache)
    assert failed.result == known.result == Failure("empty")
    (mended,) = write_all(make_functions(1), make_writer(talking), cache, retry_failed=True)
    assert isinstance(mended.result, Docstring)
    (kept,) = write_all(make_functions(1), make_writer(silent), cache)
    assert kept.result == mended.result


def test_equal_functions_are_written_once() -> None:
    model = ScriptedModel(["Add a number."], parallel=2)
    written = list(write_all(make_functions(3) * 4, make_writer(model)))
    assert len(model.asked) == 3
    assert sorted(each.index for each in written) == list(range(12))
    assert sum(each.is_new for each in written) == 3


def test_an_error_of_the_model_is_raised_after_all_results(cache: DocstringCache) -> None:
    def answer(asked: Asked) -> str | Exception:
        return ModelBusyError("the service is busy") if name_task(asked) == "task_5" else "Add a number."

    model = ScriptedModel(answer, parallel=2)
    written: list[Written] = []
    with pytest.raises(ModelBusyError, match="the service is busy"):
        written.extend(write_all(make_functions(50), make_writer(model), cache))
    calm = ScriptedModel(["Add a number."])
    known = [each.is_new for each in write_all(make_functions(50), make_writer(calm), cache)].count(False)
    assert known >= 5
    assert len(model.asked) < 12  # it does not go on for long
    assert known == len(model.asked) - 1


def test_results_before_an_error_are_yielded() -> None:
    model = ScriptedModel(["Add a number.", "Add a number.", ModelBusyError("busy")])
    run = write_all(make_functions(5), make_writer(model))
    assert {next(run).index, next(run).index} == {0, 1}
    with pytest.raises(ModelBusyError):
        next(run)


def test_pending_docstrings_are_cached_if_the_caller_stops(cache: DocstringCache) -> None:
    model = ScriptedModel(["Add a number."], parallel=2)
    run = write_all(make_functions(50), make_writer(model), cache)
    next(run)
    run.close()
    asked = len(model.asked)
    assert asked < 10
    known = [each.is_new for each in write_all(make_functions(50), make_writer(model), cache)].count(False)
    assert known == asked


def test_pending_docstrings_are_cached_after_an_interrupt(cache: DocstringCache) -> None:
    started = threading.Event()

    def answer(asked: Asked) -> str:
        started.set()
        return "Add a number."

    def functions() -> Iterator[FunctionText]:
        yield make_functions(1)[0]
        started.wait(20)
        raise KeyboardInterrupt

    model = ScriptedModel(answer)
    with pytest.raises(KeyboardInterrupt):
        list(write_all(functions(), make_writer(model), cache))
    (kept,) = write_all(make_functions(1), make_writer(model), cache)
    assert not kept.is_new
    assert len(model.asked) == 1


def test_no_functions_give_no_results() -> None:
    assert list(write_all([], open_writer("template"))) == []


def test_an_unexpected_exception_fails_one_function_and_is_not_cached(cache: DocstringCache) -> None:
    def answer(asked: Asked) -> str:
        if "task_1" in "".join(message.content for message in asked):
            raise KeyError("boom")
        return "Add a number."

    functions, writer = make_functions(3), make_writer(ScriptedModel(answer))
    texts = read_texts(list(write_all(functions, writer, cache)))
    assert [text.startswith("internal error: KeyError: 'boom'") for text in texts] == [False, True, False]
    mended = make_writer(ScriptedModel(lambda asked: "Add a number."))
    assert "internal error" not in "".join(read_texts(list(write_all(functions, mended, cache))))
