from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.model import Helper, Label, Node, Unfolded
from pkg.retrieval.heads import Head
from pkg.retrieval.helpers import Completion
from pkg.retrieval.hits import OpenedHit, ReadHit, list_hit
from pkg.retrieval.pack import COMPLETION_BATCH, MIN_CODE, Packed, pack_hits
from pkg.retrieval.ranking import Ranked
from pkg.retrieval.token_count import count_tokens


def read_hit(rank: int, words: int) -> ReadHit:
    """Build a candidate whose text has this number of tokens; path and name take two."""
    code = " ".join(["word"] * words)
    node = Node(f"{rank:016x}", Label.FUNCTION, "s", "p", "f", "f", None, 0, 0, 1, 2, 0, code, "")
    return ReadHit(rank, Ranked(node.id, 0.5, 0.5, ""), Unfolded(node, (), ()), node, Head("def f():"))


def make_helper(name: str, words: int) -> Helper:
    return Helper(name, "p", name, 1, 2, " ".join(["word"] * words), "called")


class Source:
    """Counts of opened and completed hits."""

    def __init__(self, sizes: list[int], helpers: dict[int, list[Helper]] | None = None) -> None:
        self.sizes, self.helpers = sizes, helpers or {}
        self.opened: list[int] = []
        self.completed: list[list[int]] = []

    def open(self, read: ReadHit) -> OpenedHit:
        self.opened.append(read.rank)
        return OpenedHit(list_hit(read), read.unfolded, (f"hit {read.rank} opened",))

    def complete(self, batch: Sequence[OpenedHit]) -> list[Completion]:
        ranks = [opened.hit.rank for opened in batch]
        self.completed.append(ranks)
        return [Completion(tuple(self.helpers.get(rank, ())), (f"completed {rank}",), rank, 1, 2) for rank in ranks]

    def pack(self, budget: int) -> Packed:
        read = (read_hit(rank, size) for rank, size in enumerate(self.sizes, 1))
        return pack_hits(read, self.open, self.complete, budget)


def list_shown(packed: Packed) -> list[int]:
    """List the ranks of the hits with code."""
    return [hit.rank for hit in packed.hits if hit.has_code]


def test_all_is_packed_without_a_limit() -> None:
    packed = Source([10, 5000, 20]).pack(0)

    assert list_shown(packed) == [1, 2, 3]
    assert (packed.over_budget, packed.without_code, packed.notes) == (0, 0, ())


def test_a_hit_that_does_not_fit_is_listed_without_its_code_and_the_next_may_fit() -> None:
    source = Source([10, 10, 90, 20])

    packed = source.pack(100)

    assert [hit.rank for hit in packed.hits] == [1, 2, 3, 4]
    assert list_shown(packed) == [1, 2, 4]
    assert [(hit.content, hit.pruned_content, hit.signature) for hit in packed.hits[2:3]] == [("", "", "def f():")]
    assert (packed.over_budget, packed.without_code) == (1, 1)
    assert "hit 3 (f at p:1-2) without its code: about 92 tokens, and 76 of 100 are left" in packed.explain
    assert packed.notes == (
        "1 of 4 hits are listed without code: the budget of 100 tokens has no room for it;"
        " give a larger one, or 0 for no limit",
    )
    assert (packed.bound, packed.possible, packed.unbound) == (1 + 2 + 4, 3, 6)


def test_nothing_is_opened_where_hardly_any_room_is_left() -> None:
    source = Source([10, 10, 1, 1, 1])

    packed = source.pack(24 + MIN_CODE - 1)

    assert (list_shown(packed), source.opened, source.completed) == ([1, 2], [1, 2], [[1, 2]])
    assert [hit.rank for hit in packed.hits] == [1, 2, 3, 4, 5]
    assert packed.explain[-1] == f"hit 5 (f at p:1-2) without its code: {MIN_CODE - 1} of 53 are left"


def test_hits_that_may_fit_are_completed_together() -> None:
    source = Source([1] * (COMPLETION_BATCH + 2))

    assert len(source.pack(0).hits) == COMPLETION_BATCH + 2
    assert [len(ranks) for ranks in source.completed] == [COMPLETION_BATCH, 2]


def test_helpers_may_take_the_room_of_a_later_hit() -> None:
    packed = Source([30, 30], {1: [make_helper("a", 30)]}).pack(70)

    assert [(hit.has_code, len(hit.helpers)) for hit in packed.hits] == [(True, 1), (False, 0)]
    assert packed.over_budget == 1


def test_the_imports_of_a_helper_count() -> None:
    helper = Helper("a", "p", "a", 1, 2, "word", "called", ("import one", "import two"))

    assert Source([10], {1: [helper]}).pack(12 + 6).over_budget == 1
    assert Source([10], {1: [helper]}).pack(12 + 7).over_budget == 0


def test_the_first_hit_stays_with_a_note_if_too_large() -> None:
    packed = Source([100, 1]).pack(40)

    assert list_shown(packed) == [1]
    assert packed.notes[0] == "hit 1 alone takes about 102 tokens, more than the budget of 40; it stays"
    assert packed.over_budget == 1


def test_helpers_follow_their_hit_and_excess_ones_are_named() -> None:
    helpers = {1: [make_helper("a", 10), make_helper("b", 100), make_helper("c", 3)]}

    packed = Source([10], helpers).pack(40)

    assert [helper.qualname for helper in packed.hits[0].helpers] == ["a", "c"]
    assert packed.over_budget == 1
    assert "hit 1: helper b at p:1-2 left out: about 102 tokens, and 16 of 40 are left" in packed.explain
    assert "hit 1: helper a at p:1-2 added: called" in packed.explain


def test_a_helper_is_shown_once_whichever_hits_call_it() -> None:
    helpers = {1: [make_helper("a", 1)], 2: [make_helper("a", 1), make_helper(f"{1:016x}", 1)]}

    packed = Source([10, 10], helpers).pack(0)

    assert [len(hit.helpers) for hit in packed.hits] == [1, 0]
    assert "hit 2: helper a at p:1-2 left out: shown with hit 1" in packed.explain


@given(st.lists(st.integers(0, 60), min_size=1, max_size=8), st.integers(1, 200))
def test_all_hits_are_listed_and_their_code_never_exceeds_the_budget_but_for_a_first_hit(
    sizes: list[int], budget: int
) -> None:
    source = Source(sizes, {rank: [make_helper(f"h{rank}", 7)] for rank in range(1, 9)})

    packed = source.pack(budget)

    assert [hit.rank for hit in packed.hits] == list(range(1, len(sizes) + 1))
    texts = [t for hit in packed.hits for t in (hit.content, *(helper.content for helper in hit.helpers))]
    total = sum(count_tokens(text) for text in texts)
    assert total <= max(budget, sizes[0])
    assert packed.without_code == len(sizes) - len(list_shown(packed))
    assert packed.over_budget == sum(len(hit.helpers) == 0 for hit in packed.hits)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("x = 1", 3),
        ("getattr(a, 'b')", 8),
        ("internationalisation", 3),
        ("a_b", 3),
        ("12345", 2),
        (" \n\t ", 0),
    ],
)
def test_tokens_are_words_digits_and_symbols(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


@given(st.text(st.characters(max_codepoint=127) | st.sampled_from("ab1_ ")))
def test_tokens_of_ascii_are_counted_as_those_of_other_text(text: str) -> None:
    assert count_tokens(text) == count_tokens(f"{text} \N{GREEK SMALL LETTER ALPHA}") - 1
