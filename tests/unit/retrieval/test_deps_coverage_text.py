"""An answer says in one sentence what it may lack because of calls that could not be resolved, and else nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from linked import make_linked_store

from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.retrieval.deps.answer import Answer, DepsOptions, Impact
from pkg.retrieval.deps.coverage_text import describe_affected, describe_doubt, describe_unlisted, explain_coverage
from pkg.retrieval.deps.questions import run_deps

FILES = {
    "till.py": "def close(bag):\n    count(bag)\n    bag.run()\n\n\ndef count(bag):\n    return 1\n",
    "bags.py": "def run():\n    return 1\n\n\ndef start():\n    run()\n",
    "size.py": "class Bag:\n    def __len__(self):\n        return 0\n",
}
LINKS = [
    ("CALLS", "till.py::close", "till.py::count", 2, "same module", "certain"),
    ("CALLS", "bags.py::start", "bags.py::run", 6, "same module", "certain"),
]
UNBOUND = [("till.py::close", "bag.run", 3, "parameter without a known type")]


@pytest.fixture(name="store")
def _store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    with closing(make_linked_store(tmp_path / "graph.db", FILES, LINKS, UNBOUND)) as store:
        yield store


def ask(store: EmbeddedStore, name: str | None, **options: Any) -> Answer:
    return run_deps(store, name, DepsOptions(**options))


@pytest.mark.parametrize(
    ("name", "options", "doubt"),
    [
        ("count", {}, ""),
        ("run", {}, "1 caller; 1 more call of run could not be resolved"),
        ("run", {"direction": "out"}, ""),
        ("close", {"question": "path", "to": "count"}, ""),
        (
            "close",
            {"question": "path", "to": "start"},
            "1 call on the way could not be resolved, so a chain may be missing",
        ),
        ("count", {"question": "impact"}, ""),
        ("run", {"question": "impact"}, "1 call of run could not be resolved, so more may break"),
        (None, {"question": "cycles"}, "1 of 3 calls could not be resolved, so a cycle of calls may be missing"),
        (None, {"question": "unused"}, "1 of 3 calls could not be resolved, and may use what is listed here"),
        (None, {"question": "imports"}, ""),
    ],
)
def test_only_an_answer_that_may_lack_something_says_so(
    store: EmbeddedStore, name: str | None, options: dict[str, Any], doubt: str
) -> None:
    assert describe_doubt(ask(store, name, **options)) == doubt


def test_unresolved_calls_of_the_target_are_counted_where_they_are_not_listed(store: EmbeddedStore) -> None:
    assert describe_unlisted(ask(store, "close")) == ""
    assert (
        describe_unlisted(ask(store, "close", relations=("calls",)))
        == "1 call in it could not be resolved; see pkg deps"
    )
    assert describe_unlisted(ask(store, "close", relations=("calls",), direction="in")) == ""


def test_the_counts_behind_a_doubt_are_explained_with_their_reasons(store: EmbeddedStore) -> None:
    counts, reason = explain_coverage(ask(store, "run"))
    assert counts.endswith("unbound call sites of the name run in all of the source: 1")
    assert reason == "  1 parameter without a known type"
    _, heading, *uses = explain_coverage(ask(store, None, question="unused"))
    assert (heading, len(uses) > 0) == ("no link leads to these either, but they may be used:", True)


def test_affected_places_are_counted_in_one_sentence(store: EmbeddedStore) -> None:
    answer = ask(store, "run", question="impact")
    assert isinstance(answer, Impact)
    assert describe_affected(answer) == "1 place may break, none of them in tests"
    more = replace(answer, total=5, tests=2, possible=3)
    assert describe_affected(more) == "5 places may break (3 only possibly), 2 of them in tests"
    assert describe_affected(replace(answer, total=0)) == "nothing is known that may break"
