"""The page of answers side by side in a real Chromium: filters, citations and legibility."""

from __future__ import annotations

from pathlib import Path

import pytest
from chromium import start_page
from page_contrast import find_contrast

from pkg.lab.evaluation.report.answers_page import write_answers_page
from pkg.lab.judge.items import Excerpt, JudgedItem
from pkg.lab.judge.judgements import Judgement

pytestmark = pytest.mark.browser

SHOWN = (
    "[...document.querySelectorAll('main > section')].filter((each) => each.checkVisibility()).map((each) => each.id)"
)


@pytest.fixture(name="address")
def answers_page(tmp_path: Path) -> str:
    evidence = (Excerpt("a.py", 1, 2, "x = 1\n" * 50),)
    items = [
        JudgedItem(f"q{n}", "Which?", {"graph": "a [1] [2]", "chunks": "b" * 300}, "ref", type=kind, evidence=evidence)
        for n, kind in enumerate(("meta", "syntax", "syntax"))
    ]
    judged = [
        Judgement("pairwise", f"q{n}", ("graph", "chunks"), "coder", verdict=verdict, text="Because of this.")
        for n, verdict in enumerate("AAB")
    ]
    path = tmp_path / "answers.html"
    path.write_text(write_answers_page(items, judged), encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("size", [(1280, 900), (360, 740)], ids=["wide", "small"])
def test_questions_are_filtered_by_winner_and_type(address: str, size: tuple[int, int]) -> None:
    with start_page(*size) as page:
        page.open(address)
        page.await_true("document.readyState === 'complete' && document.querySelector('section')")
        assert page.run(SHOWN) == ["q0", "q1", "q2"]
        page.point("#winner-1")  # graph
        assert page.run(SHOWN) == ["q0", "q1"]
        page.point("#type-1")  # syntax
        assert page.run(SHOWN) == ["q1"]
        page.point("section#q1 a")
        assert page.run("location.hash") == "#q1-1"
        assert page.run("document.documentElement.scrollWidth <= innerWidth")
        for scheme in ("light", "dark"):
            page.prefer_scheme(scheme)
            assert find_contrast(page, "h1, h2, h3, p, pre, td, th, a, mark, li, label, legend, summary") >= 4.5
