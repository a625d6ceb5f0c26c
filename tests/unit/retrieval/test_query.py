from __future__ import annotations

import pytest
from fakes import FakeEncoder, FakeStore
from graphs import make_store, make_unit
from linked import LinkRow, UnboundRow, put_rows

from pkg.errors import QueryError, UsageError
from pkg.retrieval.query import QueryOptions, run_query
from pkg.retrieval.query_options import PruneChoice

SENTENCES = '''\
def count_sentences(text):
    """Count boring sentences."""
    count = 0
    for sentence in split(text):
        if boring(sentence):
            count += 1
        if exciting:
            amazing(exciting, wonderful, splendid)
    return count


def split(text):
    return text.split(".")


def amazing(first, second, third):
    return first


class Zoo:
    def feed(self, zebra):
        """Feed a zebra."""
        if zebra.hungry:
            zebra.eat(grass)
        return zebra
'''


LINKS: list[LinkRow] = [
    ("CALLS", f"text/sentences.py::{start}", f"text/sentences.py::{end}", line, "same module", "certain")
    for start, end, line in (("count_sentences", "split", 4), ("count_sentences", "amazing", 8))
]
UNBOUND: list[UnboundRow] = [
    ("text/sentences.py::count_sentences", "boring", 5, "name that nothing here defines"),
    ("text/sentences.py::count_sentences", "wonderful", 8, "name that nothing here defines"),
]


@pytest.fixture(name="store")
def demo() -> FakeStore:
    store = make_store({"text/sentences.py": SENTENCES, "copy.py": SENTENCES.replace("amazing", "astounding")})
    put_rows(store, LINKS, UNBOUND, "demo")
    return store


def ask(store: FakeStore, text: str, **options: object) -> list[str]:
    result = run_query(store, FakeEncoder(), text, QueryOptions(**options))  # type: ignore[arg-type]
    return [f"{hit.path}:{hit.qualname}" for hit in result.hits]


def test_the_default_is_three_blocks_with_their_callees(store: FakeStore) -> None:
    options = QueryOptions(path="text/*", prune="paper", declarations=False)
    result = run_query(store, FakeEncoder(), "count boring sentence in split text", options)

    assert len(result.hits) == 3
    hit = result.hits[0]
    assert (hit.rank, hit.label, hit.qualname, hit.path) == (1, "Block", "count_sentences", "text/sentences.py")
    assert "amazing" in hit.content
    assert "amazing" not in hit.pruned_content
    assert [(cut.kind, cut.start_line, cut.end_line) for cut in hit.pruned] == [("if", 7, 8)]
    assert hit.score_pruned > hit.score
    assert [helper.qualname for helper in hit.helpers] == ["split"]
    assert (result.coverage.shown, result.coverage.without_code) == (3, 0)
    assert result.coverage.searched == 2 * 8
    assert result.coverage.filtered == 8


def test_a_function_hit_keeps_its_docstring(store: FakeStore) -> None:
    result = run_query(store, FakeEncoder(), "feed a zebra grass", QueryOptions(mode="function", declarations=False))

    hit = result.hits[0]
    assert hit.qualname == "Zoo.feed"
    assert '"""Feed a zebra."""' in hit.pruned_content


def test_callers_are_helpers_on_request(store: FakeStore) -> None:
    options = QueryOptions(mode="function", top_k=1, path="text/*", callers=True)

    (hit,) = run_query(store, FakeEncoder(), "split text", options).hits

    assert (hit.qualname, [(helper.qualname, helper.role) for helper in hit.helpers]) == (
        "split",
        [("count_sentences", "caller")],
    )


def test_needed_code_is_pruned_only_on_request(store: FakeStore) -> None:
    result = run_query(store, FakeEncoder(), "count boring sentence in split text", QueryOptions(path="text/*"))

    assert result.hits[0].pruned == ()
    assert "hit 1: if at lines 7-8 kept: it calls `amazing`" in result.explain


GUARDED = """\
def read_boring(sentence):
    count = 0
    while count < boring:
        count += read(boring)
        if zebra:
            print(quagga, okapi, gnu)
        if zebra < count:
            quagga = okapi(count)
    return quagga
"""


@pytest.mark.parametrize(
    ("choice", "gap"),
    [
        ("safe", "# ... lines 5-6 folded"),
        (True, "# ... lines 5-6 folded"),
        ("paper", None),
        ("none", "if zebra:"),
        (False, "if zebra:"),
    ],
)
def test_the_pruning_rule_is_applied(choice: PruneChoice | bool, gap: str | None) -> None:
    store = make_store({"text/sentences.py": GUARDED})
    options = QueryOptions(mode="function", prune=choice)

    (hit,) = run_query(store, FakeEncoder(), "read boring sentence while count", options).hits

    lines = hit.pruned_content.splitlines()
    assert lines[4].strip() == (gap or "if zebra < count:")
    assert ("print" in hit.pruned_content) == (choice in ("none", False))


def test_a_block_keeps_code_that_its_function_reads() -> None:
    text = GUARDED.replace("print(quagga, okapi, gnu)", "okapi = gnu").replace("return quagga", "return okapi")
    store = make_store({"text/sentences.py": text})

    result = run_query(store, FakeEncoder(), "while count boring read", QueryOptions(blocks="inner", top_k=1))

    (hit,) = result.hits
    assert (hit.kind, hit.pruned) == ("while", ())
    assert "hit 1: if at lines 5-6 kept: `okapi` is read elsewhere" in result.explain


def test_without_pruning_the_content_stays(store: FakeStore) -> None:
    options = QueryOptions(top_k=1, prune=False, hops=0)

    (hit,) = run_query(store, FakeEncoder(), "count boring sentence in split text", options).hits

    assert hit.pruned_content == hit.content
    assert (hit.score_pruned, hit.pruned, hit.helpers) == (hit.score, (), ())


def test_every_decision_is_explained(store: FakeStore) -> None:
    options = QueryOptions(path="text/*", prune="paper", top_k=1)
    result = run_query(store, FakeEncoder(), "count boring sentence in split text", options)

    (cut,) = result.hits[0].pruned
    scores = f"{cut.score_before:.4f} -> {cut.score_after:.4f}"
    assert result.explain[0].startswith(f"pruned by cosines of {FakeEncoder().name}, which compares ")
    assert result.explain[1] == "whole bodies among the block hits: 1 of 1"
    assert f"hit 1: cut if at lines 7-8: cosine {scores}" in result.explain
    assert result.explain[2] == "calls of the hits: 1 bound, 0 possible, 1 not bound"
    helper = "hit 1: helper split at text/sentences.py:12-13 added: called at text/sentences.py:4"
    assert f"{helper} (certain: same module)" in result.explain


def test_equal_content_counts_once_and_is_reported(store: FakeStore) -> None:
    result = run_query(store, FakeEncoder(), "feed a zebra grass", QueryOptions(mode="function", top_k=2))

    assert [hit.qualname for hit in result.hits].count("Zoo.feed") == 1
    assert result.hits[0].same_content == 1
    assert "hit 1: 1 more of equal content" in result.explain


def test_filters_narrow_by_source_path_and_kind(store: FakeStore) -> None:
    assert ask(store, "feed a zebra", mode="function", path="copy*", declarations=False)[0] == "copy.py:Zoo.feed"
    assert ask(store, "feed a zebra", source="demo", path="copy*", kind="for") == ["copy.py:count_sentences"]
    assert (
        ask(store, "feed a zebra", mode="function", path=["*.py", "!*/*"], declarations=False)[0] == "copy.py:Zoo.feed"
    )


def test_tests_are_searched_alone_or_never_on_request() -> None:
    store = make_store(
        {"zoo.py": "def feed(zebra):\n    eat(grass)\n", "test_zoo.py": "def test_feed(zebra):\n    feed(zebra)\n"}
    )

    for tests, found in (("only", ["test_zoo.py:test_feed"]), ("no", ["zoo.py:feed"])):
        assert ask(store, "feed a zebra", tests=tests) == found
    assert len(ask(store, "feed a zebra")) == 2


@pytest.mark.parametrize("mode", ["block", "function", "both"])
def test_k_asked_is_k_returned(store: FakeStore, mode: str) -> None:
    assert len(ask(store, "zebra sentence", mode=mode, top_k=4, budget=0)) == 4


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_an_empty_question_is_refused(store: FakeStore, text: str) -> None:
    with pytest.raises(QueryError, match="the question is empty"):
        ask(store, text)


def test_a_question_without_known_words_is_refused(store: FakeStore) -> None:
    with pytest.raises(
        QueryError, match=r"no word of the question '\?\?\? 123' occurs in the code or is known to .* 'fake'"
    ):
        ask(store, "??? 123")
    with pytest.raises(QueryError, match=r"no word of the question '\?\?\? 123' is known to the encoder 'fake'"):
        ask(store, "??? 123", ranking="dense")


def test_options_out_of_range_are_usage_errors(store: FakeStore) -> None:
    with pytest.raises(UsageError, match="top_k is 0"):
        ask(store, "zebra", top_k=0)


def test_an_unknown_source_is_named_with_those_that_exist(store: FakeStore) -> None:
    with pytest.raises(QueryError, match=r"no source 'nowhere' in .*; sources that are there: demo;"):
        ask(store, "zebra", source="nowhere")


def test_an_empty_graph_is_refused() -> None:
    with pytest.raises(QueryError, match="holds no code; run: pkg build PATH"):
        run_query(FakeStore(), FakeEncoder(), "zebra")


def test_a_filter_that_excludes_everything_has_a_note(store: FakeStore) -> None:
    result = run_query(store, FakeEncoder(), "zebra", QueryOptions(tests="only"))

    assert result.hits == ()
    assert result.coverage.notes == (
        "none of the 18 nodes that may answer passes the filter; widen source, path, tests, kind or blocks",
    )


def test_a_question_of_a_megabyte_is_answered(store: FakeStore) -> None:
    assert ask(store, "zebra grass eat hungry " * 50_000)[0].endswith("Zoo.feed")


def test_a_question_with_lone_surrogates_is_answered(store: FakeStore) -> None:
    assert len(ask(store, "zebra \udcff")) == 3


def test_a_budget_cuts_code_and_lists_all_hits(store: FakeStore) -> None:
    result = run_query(store, FakeEncoder(), "zebra", QueryOptions(top_k=10**9, budget=30, hops=0, declarations=False))

    assert (result.coverage.shown, len({(hit.path, hit.qualname) for hit in result.hits})) == (5, 5)
    assert 0 < result.coverage.without_code == sum(not hit.has_code for hit in result.hits) < len(result.hits)
    assert {hit.signature for hit in result.hits} >= {"def feed(self, zebra):", "def split(text):"}


def test_invalid_utf_8_is_shown_unpruned_with_a_reason() -> None:
    store = make_store({})
    text = b"def feed(zebra):\n    x = '\xff'\n    if okapi:\n        gnu(okapi)\n    return zebra\n"
    with store.write() as writer:
        writer.replace_file(make_unit("demo", "bad.py", text))

    result = run_query(store, FakeEncoder(), "zebra", QueryOptions(mode="function"))

    assert result.hits[0].pruned_content == result.hits[0].content
    assert "hit 1: not pruned: the text holds bytes that are not UTF-8" in result.explain
