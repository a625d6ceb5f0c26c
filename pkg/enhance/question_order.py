"""Order the hits of one query by questions that a model writes for the best candidates when they are first found.

The questions are kept in the user's cache by the code of the function, where `pkg enhance --questions` finds them too;
the graph is only read, because a query must not wait for another process that writes.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING

from pkg.cache_file import find_cache_file
from pkg.enhance.docstring_cache import FILE_NAME, DocstringCache, make_key
from pkg.enhance.question_writer import QuestionWriter
from pkg.enhance.undocumented import read_function_text
from pkg.enhance.writer import Failure
from pkg.errors import PkgError, UsageError, count_things, shorten
from pkg.graph.graph_records import find_questions
from pkg.local_errors import describe_local
from pkg.model import Label, Node, Questions
from pkg.models.registry import find_remote, open_model
from pkg.retrieval.question_mix import DEPTH, match_questions, mix_matches

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder
    from pkg.enhance.function_facts import FunctionText
    from pkg.graph.store import GraphStore
    from pkg.models.text_model import TextModel
    from pkg.retrieval.ranking import Ranked

NAME = "questions"  # value of --rerank-hits, before the name of the model
SECONDS = 30.0  # of waiting for a model in one query; the next query continues with the rest
_SHOWN_REASON = 120  # characters of a failure in a note


def open_question_order(value: str | None) -> QuestionOrder | None:
    """Return the order of a value of rerank_hits such as questions:gguf:FILE; None for the name of another model.

    Raises UsageError without the name of a model.
    """
    word, _, model = (value or "").partition(":")
    if word != NAME:
        return None
    if not model:
        raise UsageError(f"'{NAME}' needs a text model; expected {NAME}:gguf:FILE, {NAME}:openai:NAME@URL or --model")
    return QuestionOrder(model)


@dataclass(frozen=True, slots=True)
class _Answers:
    """Questions and failures by cache key, and the number of functions without an answer in time."""

    results: Mapping[bytes, Questions | Failure]
    late: int
    fault: str = ""  # of the model, which ended the run


class QuestionOrder:
    """Orders the best candidates by the mean of their score and of their questions' match with the user's."""

    depth = DEPTH
    explain: tuple[str, ...] = ()  # its notes say all

    def __init__(self, model: str, seconds: float | None = None) -> None:
        self._model, self._seconds = model, SECONDS if seconds is None else seconds
        self._notes: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Return how many questions were known, written, refused and too late in the latest order."""
        return self._notes

    def order(self, store: GraphStore, encoder: Encoder, text: str, ranked: Sequence[Ranked]) -> tuple[Ranked, ...]:
        """Return the candidates with the best ones reordered; raises UsageError and the errors of opening a model."""
        best = ranked[:DEPTH]
        functions = _read_functions(store, best)
        questions = self._find_questions(functions)
        texts = [questions[owner].texts if (owner := each.owner or each.id) in questions else () for each in best]
        return (*mix_matches(best, match_questions(encoder, text, texts)), *ranked[DEPTH:])

    def _find_questions(self, functions: Mapping[str, Node]) -> dict[str, Questions]:
        """Return the questions of functions by id: those of the graph, else of the cache, else of the model."""
        found = {each: known for each, node in functions.items() if (known := find_questions(node.properties))}
        missing = {each: read_function_text(node) for each, node in functions.items() if each not in found}
        counts, reasons = [(len(found), "stored")], list[str]()
        if missing:
            found |= self._add_missing(missing, counts, reasons)
        told = ", ".join(f"{count:,} {word}" for count, word in counts if count)
        about = f"{count_things(len(functions), 'function')} of the best {DEPTH} candidates"
        shown = [f"no questions: {shorten(each, _SHOWN_REASON)}" for each in reasons[:1]]
        self._notes = (f"questions of {about} by {self._model}: {told or 'none'}", *shown)
        return found

    def _add_missing(
        self, missing: Mapping[str, FunctionText], counts: list[tuple[int, str]], reasons: list[str]
    ) -> dict[str, Questions]:
        """Return questions of the cache or the model, and add their counts and the reasons for none."""
        model = open_model(self._model)
        writer = QuestionWriter(model)
        keys = {identity: make_key(function, writer) for identity, function in missing.items()}
        with closing(DocstringCache(find_cache_file(FILE_NAME))) as cache:
            known = {key: result for key in keys.values() if (result := cache.find(key)) is not None}
            asked = {keys[identity]: function for identity, function in missing.items() if keys[identity] not in known}
            answers = _write_in_time(model, writer, asked, self._seconds, find_remote(self._model) is not None)
            for key, result in answers.results.items():
                cache.put(key, result)
        results = {**known, **answers.results}
        cached = {each: result for each in missing if isinstance(result := results.get(keys[each]), Questions)}
        written = sum(isinstance(each, Questions) for each in answers.results.values())
        failed = [each.reason for each in results.values() if isinstance(each, Failure)]
        counts += [(sum(isinstance(each, Questions) for each in known.values()), "cached"), (written, "written")]
        counts += [(len(failed), "failed"), (answers.late, f"not written within {self._seconds:g} seconds")]
        reasons += [answers.fault] if answers.fault else failed
        return cached


def _read_functions(store: GraphStore, ranked: Sequence[Ranked]) -> dict[str, Node]:
    """Return the functions of candidates by id; classes, constants and modules have no questions."""
    ids = dict.fromkeys(each.owner or each.id for each in ranked)
    return {node.id: node for node in store.get(list(ids)) if node.label is Label.FUNCTION}


def _write_in_time(
    model: TextModel, writer: QuestionWriter, functions: Mapping[bytes, FunctionText], seconds: float, is_remote: bool
) -> _Answers:
    """Write the questions of functions in parallel until the time is over; the model is closed.

    A request to a service is abandoned then; one to a model in this process, which cannot be, is finished.
    """
    end = time.monotonic() + seconds
    waiting: SimpleQueue[tuple[bytes, FunctionText]] = SimpleQueue()
    done: SimpleQueue[tuple[bytes, Questions | Failure] | str | None] = SimpleQueue()
    for each in functions.items():
        waiting.put(each)
    threads = [
        Thread(target=_work, args=(writer, waiting, done, end), daemon=True)
        for _ in range(min(len(functions), writer.parallel))
    ]
    for thread in threads:
        thread.start()
    results: dict[bytes, Questions | Failure] = {}
    fault, working = "", len(threads)
    while working:
        try:
            answer = done.get(timeout=max(0.0, end - time.monotonic()) if is_remote else None)
        except Empty:
            break
        if answer is None:
            working -= 1
        elif isinstance(answer, str):
            fault = fault or answer
        else:
            results[answer[0]] = answer[1]
    if not working:
        model.close()  # an abandoned thread still uses it
    return _Answers(results, 0 if fault else len(functions) - len(results), fault)


def _work(
    writer: QuestionWriter,
    waiting: SimpleQueue[tuple[bytes, FunctionText]],
    done: SimpleQueue[tuple[bytes, Questions | Failure] | str | None],
    end: float,
) -> None:
    """Write questions until all are written, the time is over or the model fails; None is the last answer."""
    try:
        while time.monotonic() < end:
            key, function = waiting.get_nowait()
            done.put((key, writer.write(function)))
    except Empty:
        pass
    except PkgError as fault:
        done.put(str(fault))
    except Exception as fault:
        done.put(describe_local(fault))
    finally:
        done.put(None)
