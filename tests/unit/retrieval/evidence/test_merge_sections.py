"""Code comes before documents for questions about code, and documents keep a bounded share."""

from __future__ import annotations

import pytest

from pkg.retrieval.evidence.evidence import Evidence, EvidenceKind
from pkg.retrieval.evidence.gather_evidence import asks_documents, merge_sections


def make_pieces(kind: EvidenceKind, *scores: float) -> list[Evidence]:
    return [Evidence(kind, "shop", f"{kind}{n}", 1, 2, "", "", score) for n, score in enumerate(scores)]


def merge(code: list[Evidence], sections: list[Evidence], by_score: bool = False) -> list[str]:
    return [each.path for each in merge_sections(code, sections, by_score)]


def test_code_comes_first_with_two_sections_beside_it() -> None:
    code, sections = make_pieces("code", 0.3, 0.2, 0.2, 0.1, 0.1), make_pieces("text", 0.6, 0.5, 0.4)
    assert merge(code, sections) == ["code0", "code1", "code2", "code3", "text0", "code4", "text1"]


def test_sections_that_fit_much_better_come_first() -> None:
    assert merge(make_pieces("code", 0.1), make_pieces("text", 0.6, 0.55)) == ["text0", "text1", "code0"]


def test_a_question_about_documents_is_merged_by_score() -> None:
    assert merge(make_pieces("code", 0.3, 0.1), make_pieces("text", 0.4, 0.2), by_score=True) == [
        "text0",
        "code0",
        "text1",
        "code1",
    ]


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("How do I install the shop?", True),
        ("Under which licence is it released?", True),
        ("Which versions of Python are supported?", True),
        ("What does CHANGELOG.md say about prices?", True),
        ("how is the price of an item found", False),
        ("where are expired results deleted", False),
    ],
)
def test_words_of_a_question_decide_whether_it_is_about_documents(text: str, asks: bool) -> None:
    assert asks_documents(text) is asks
