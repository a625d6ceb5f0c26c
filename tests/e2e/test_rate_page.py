"""The page of raters in a real Chromium: five items written and rated with keys and with the mouse, and nothing lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Page, start_page
from rate_process import RateProcess, read_rows, start_rate

pytestmark = pytest.mark.browser

SIZE = (1280, 900)
SNIPPETS = [{"id": f"s{n}", "content": f"def f{n}():\n    return {n}\n", "path": f"m{n}.py"} for n in range(5)]


def write_rows(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def await_item(page: Page, number: int) -> None:
    page.await_true(f"document.getElementById('position').textContent === 'item {number}'")


def write_pair(page: Page, number: int) -> None:
    """Write question and answer with keys alone: the question has the focus when an item is opened."""
    page.type(f"What does f{number} give?")
    page.press("Tab")
    page.type(f"It gives {number}.")


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    write_rows(path, [{"id": f"p{n}", "question": f"What is {n}?", "answer": f"It is {n}."} for n in range(5)])
    return path


def test_five_pairs_are_written_with_keys_through_a_reload_and_a_closed_browser(tmp_path: Path) -> None:
    write_rows(tmp_path / "snippets.jsonl", [dict(row) for row in SNIPPETS])
    with start_rate(tmp_path, "snippets.jsonl", "--create", "--rater", "ana") as rate:
        with start_page(*SIZE) as page:
            page.open(rate.wait_for_addresses(1)[0])
            for number in range(2):
                await_item(page, number + 1)
                write_pair(page, number)
                page.press("Enter", control=True)
            await_item(page, 3)
            write_pair(page, 2)  # and not saved
            page.reload()
            page.await_true("document.getElementById('state').textContent.includes('kept from before')")
            assert page.run("document.getElementById('text-question').value") == "What does f2 give?"
            page.press("Enter", control=True)
            await_item(page, 4)
            write_pair(page, 3)  # the browser is closed before this is saved

        assert [row["snippet"] for row in read_rows(tmp_path / "snippets.created.jsonl")] == ["s0", "s1", "s2"]
        with start_page(*SIZE) as page:
            page.open(rate.wait_for_addresses(2)[1])
            for number in (3, 4):
                await_item(page, number + 1)
                write_pair(page, number)
                page.press("Enter", control=True)
            page.await_true("!document.getElementById('end').hidden")
        code, _ = rate.wait()

    rows = read_rows(tmp_path / "snippets.created.jsonl")
    assert code == 0
    assert [(row["snippet"], row["question"], row["answer"], row["path"], row["rater"]) for row in rows] == [
        (f"s{n}", f"What does f{n} give?", f"It gives {n}.", f"m{n}.py", "ana") for n in range(5)
    ]
    assert all(row["seconds"] > 0 for row in rows)


def rate_by_keys(page: Page, number: int) -> None:
    page.press(str(number))
    page.press("Tab")
    page.press("1")
    page.press("0")
    page.press("ArrowLeft")
    page.press("Enter")


def rate_by_mouse(page: Page, number: int) -> None:
    page.point("#slider-question", at=0.5)  # in the middle, which moves nothing
    page.point("#slider-answer", at=0.98)
    page.point("#save")


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        pytest.param(rate_by_keys, [{"question": n, "answer": 9} for n in range(5)], id="keys"),
        pytest.param(rate_by_mouse, [{"question": 5, "answer": 10}] * 5, id="mouse"),
    ],
)
def test_five_pairs_are_rated_through_a_reload_and_a_closed_browser(pairs: Path, act: object, expected: object) -> None:
    assert callable(act)
    folder = pairs.parent
    with start_rate(folder, pairs.name, "--rater", "ben") as rate:
        with start_page(*SIZE) as page:
            page.open(rate.wait_for_addresses(1)[0])
            for number in range(3):
                await_item(page, number + 1)
                act(page, number)
                if number == 1:
                    await_item(page, 3)
                    page.reload()
            await_item(page, 4)
        with start_page(*SIZE) as page:
            page.open(rate.wait_for_addresses(2)[1])
            for number in (3, 4):
                await_item(page, number + 1)
                act(page, number)
            page.await_true("!document.getElementById('end').hidden")
        code, lines = rate.wait()

    rows = read_rows(folder / "pairs.ratings.jsonl")
    assert code == 0
    assert [row["id"] for row in rows] == [f"p{n}" for n in range(5)]
    assert [row["ratings"] for row in rows] == expected
    assert lines[0]["ratings"] == 5
