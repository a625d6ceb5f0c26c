"""The page of answers side by side is complete, escaped, and filtered by winner."""

from __future__ import annotations

import re

import pytest

from pkg.lab.evaluation.report.answers_page import DISPUTED, UNJUDGED, find_outcome, write_answers_page
from pkg.lab.judge.items import Excerpt, JudgedItem
from pkg.lab.judge.judgements import TIE_BAD, TIE_GOOD, Judgement
from pkg.lab.judge.ratings import Rating

SYSTEMS = ("graph", "chunks")
ITEM = JudgedItem(
    "q1", "Where is it decided?", {"graph": "In retry [1], not [7].", "chunks": "Nowhere."}, "In retry.", type="syntax",
    evidence=(Excerpt("a/retry.py", 3, 9, "def retry(): ..."),),
)  # fmt: skip


def judge(verdict: str, run: int = 0, item: str = "q1", case: str = "") -> Judgement:
    return Judgement("pairwise", item, SYSTEMS, "coder", run=run, verdict=verdict, text="Because.", case=case)


def choose(verdict: str, *systems: str) -> Rating:
    return Rating("q1", "ana", "pairwise", verdict=verdict, systems=systems, comment="Right.")


@pytest.mark.parametrize(
    ("verdicts", "chosen", "expected"),
    [
        ("", [], UNJUDGED), ("AA", [], "graph"), ("AB", [], DISPUTED), ("C", [], TIE_GOOD), ("D", [], TIE_BAD),
        ("A", [("B", "chunks", "graph")], "graph"), ("A", [("A", "chunks", "graph")], DISPUTED),
    ],
)  # fmt: skip
def test_an_item_is_won_where_all_comparisons_agree(
    verdicts: str, chosen: list[tuple[str, str, str]], expected: str
) -> None:
    judgements = [judge(verdict, run) for run, verdict in enumerate(verdicts)]
    assert find_outcome(judgements, [choose(*each) for each in chosen]) == expected


def test_question_answers_evidence_and_all_that_was_said_stand_in_one_section() -> None:
    grade = Judgement("grade", "q1", ("graph",), "coder", "overall", ratings=(8,), rationales=("Names the place.",))
    page = write_answers_page([ITEM], [judge("A"), grade], [choose("A", *SYSTEMS)])
    (section,) = re.findall(r"<section.*?</section>", page, re.DOTALL)
    told = (
        "Where is it decided?",
        "In retry.",
        "Nowhere.",
        "a/retry.py:3-9",
        "Because.",
        "graph 8",
        "Names the place.",
    )
    assert [text for text in (*told, "ana", "Right.") if text not in section] == []


def test_a_citation_leads_to_its_evidence_and_one_of_nothing_is_marked() -> None:
    page = write_answers_page([ITEM])
    assert '<a href="#q0-1">[1]</a>' in page
    assert '<li id="q0-1">' in page
    assert "<mark>[7]</mark>" in page


def test_planted_cases_are_left_out() -> None:
    assert "Because." not in write_answers_page([ITEM], [judge("A", case="identical")])


def test_items_are_chosen_by_winner_and_by_type() -> None:
    other = JudgedItem("q2", "Which?", ITEM.answers, type="meta")
    page = write_answers_page([ITEM, other], [judge("A"), judge("B", item="q2")])
    ids = re.findall(r'<input type="radio" name="\w+" id="([\w-]+)"', page)
    assert len(ids) == 4
    assert all(f"body:has(#{name}:checked) main > section:not(.{name})" in page for name in ids)
    assert '<section class="winner-1 type-1" id="q0">' in page
    assert "fieldset>" not in write_answers_page([ITEM], [judge("A")])  # nothing to select


def test_hostile_texts_stay_texts() -> None:
    bad = "</pre></style><script>alert(1)</script>\0\x1b[31m\u202e\"'"
    item = JudgedItem(bad, bad, {bad: bad, "b": bad}, bad, type=bad, evidence=(Excerpt(bad, 1, 2, bad),))
    said = Judgement("pairwise", bad, (bad, "b"), bad, verdict="A", text=bad)
    person = Rating(bad, bad, "pair", {bad: 1}, comment=bad)
    page = write_answers_page([item, ITEM], [said], [person])
    assert "<script" not in page
    assert page.count("</style>") == 1
    assert "\\x00\\x1b[31m\\u202e" in page
    assert not re.search("[\0\x1b\u202e]", page)


def test_the_page_needs_nothing_else() -> None:
    page = write_answers_page([ITEM])
    assert "default-src 'none'" in page
    assert "://" not in page
    assert " src=" not in page


def test_of_a_very_long_text_the_page_says_how_much_it_does_not_show() -> None:
    page = write_answers_page([JudgedItem("q1", "Where?", {"graph": "A" * 2_000_000, "chunks": "b"})])
    assert "A\n[1,900,000 more characters]" in page
    assert len(page) < 200_000
