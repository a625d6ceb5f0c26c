"""The page of raters in a real Chromium: writing and rating by keys and mouse, without losses."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from chromium import Page, start_page
from page_contrast import find_contrast
from rate_process import read_rows, start_rate

pytestmark = pytest.mark.browser

SIZE = (1280, 900)
SNIPPETS = [{"id": f"s{n}", "content": f"def f{n}():\n    return {n}\n", "path": f"m{n}.py"} for n in range(5)]


def write_rows(path: Path, rows: Sequence[Any]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def await_item(page: Page, number: int) -> None:
    page.await_true(f"document.getElementById('position').textContent === 'item {number}'")


def write_by_keys(page: Page, number: int) -> Callable[[], None]:
    """Write question and answer by keys: the question has the focus when an item is opened."""
    page.type(f"What does f{number} give?")
    page.press("Tab")
    page.type(f"It gives {number}.")
    return lambda: page.press("Enter", control=True)


def write_by_mouse(page: Page, number: int) -> Callable[[], None]:
    """Write question and answer, and press the button, by mouse."""
    page.point("#text-answer")
    page.type(f"It gives {number}.")
    page.point("#text-question")
    page.type(f"What does f{number} give?")
    return lambda: page.point("#save")


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    write_rows(path, [{"id": f"p{n}", "question": f"What is {n}?", "answer": f"It is {n}."} for n in range(5)])
    return path


@pytest.mark.parametrize("write", [write_by_keys, write_by_mouse], ids=["keys", "mouse"])
def test_five_pairs_are_written_through_a_reload_and_a_closed_browser(
    tmp_path: Path, write: Callable[[Page, int], Callable[[], None]]
) -> None:
    write_rows(tmp_path / "snippets.jsonl", SNIPPETS)
    with start_rate(tmp_path, "snippets.jsonl", "--create", "--rater", "ana") as rate:
        with start_page(*SIZE) as page:
            page.open(rate.wait_for_addresses(1)[0])
            for number in range(2):
                await_item(page, number + 1)
                write(page, number)()
            await_item(page, 3)
            write(page, 2)  # and not saved
            page.reload()
            page.await_true("document.getElementById('state').textContent.includes('kept from before')")
            assert page.run("document.getElementById('text-question').value") == "What does f2 give?"
            page.press("Enter", control=True)
            await_item(page, 4)
            write(page, 3)  # the browser is closed before this is saved

        assert [row["snippet"] for row in read_rows(tmp_path / "snippets.created.jsonl")] == ["s0", "s1", "s2"]
        with start_page(*SIZE) as page:
            page.open(rate.wait_for_addresses(2)[1])
            for number in (3, 4):
                await_item(page, number + 1)
                write(page, number)()
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
    page.point("#slider-question", at=0.5)  # the middle value, which moves nothing
    page.point("#slider-answer", at=0.98)
    page.point("#save")


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        pytest.param(rate_by_keys, [{"question": n, "answer": 9} for n in range(5)], id="keys"),
        pytest.param(rate_by_mouse, [{"question": 5, "answer": 10}] * 5, id="mouse"),
    ],
)
def test_five_pairs_are_rated_through_a_reload_and_a_closed_browser(
    pairs: Path, act: Callable[[Page, int], None], expected: Any
) -> None:
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


def choose_by_keys(page: Page, number: int) -> None:
    page.press("1234a"[number])
    if number == 2:
        page.press("ArrowDown")
    page.press("Enter")


def choose_by_mouse(page: Page, number: int) -> None:
    page.point(f"#verdict-{'ABDDA'[number]}")
    page.point("#save")


@pytest.mark.parametrize("act", [choose_by_keys, choose_by_mouse], ids=["keys", "mouse"])
def test_five_answers_are_chosen_blindly(tmp_path: Path, act: Callable[[Page, int], None]) -> None:
    answers = {"secret-one": "One.", "secret-two": "Two."}
    write_rows(tmp_path / "rows.jsonl", [{"id": f"c{n}", "question": "Which?", "answers": answers} for n in range(5)])
    with start_rate(tmp_path, "rows.jsonl", "--rater", "ana") as rate, start_page(*SIZE) as page:
        page.open(rate.wait_for_addresses(1)[0])
        for number in range(5):
            await_item(page, number + 1)
            assert "secret" not in page.run("document.documentElement.outerHTML")
            act(page, number)
        rate.wait()
    rows = read_rows(tmp_path / "rows.ratings.jsonl")
    assert [row["verdict"] for row in rows] == list("ABDDA")
    assert {tuple(sorted(row["systems"])) for row in rows} == {("secret-one", "secret-two")}


def test_keys_navigate_mark_bad_code_and_show_help(pairs: Path) -> None:
    with start_rate(pairs.parent, pairs.name, "--rater", "ana") as rate, start_page(*SIZE) as page:
        page.open(rate.wait_for_addresses(1)[0])
        await_item(page, 1)
        page.press("7")
        for key, number in (("n", 2), ("n", 3), ("p", 2), ("p", 1)):
            page.press(key)
            await_item(page, number)
        assert page.run("document.querySelector('output').textContent") == "7"  # kept as unsaved draft
        page.press("?")
        page.await_true("document.getElementById('help').open")
        page.press("n")
        page.press("Escape")
        page.await_true("!document.getElementById('help').open")
        assert page.run("document.getElementById('position').textContent") == "item 1"
        page.press("Enter")
        page.await_true("document.getElementById('fault').textContent.includes('answer: not set yet')")
        page.press("x")
        page.point("#comment")
        page.type("broken")
        page.press("n")  # a letter of the comment
        page.press("Enter", control=True)
        await_item(page, 2)
        page.press("3")
        page.press("Tab")
        page.press("4")
        page.run("document.getElementById('save').click(); document.getElementById('save').click()")
        await_item(page, 3)
    first, second = read_rows(pairs.parent / "pairs.ratings.jsonl")
    assert (first["bad_code"], first["comment"], first["ratings"]) == (True, "brokenn", {"question": 7})
    assert second["ratings"] == {"question": 3, "answer": 4}


def test_a_second_tab_shows_saved_ratings_of_the_first_before_it_replaces_them(pairs: Path) -> None:
    with (
        start_rate(pairs.parent, pairs.name, "--rater", "ana") as rate,
        start_page(*SIZE) as one,
        start_page(*SIZE) as other,
    ):
        for number, page in enumerate((one, other)):
            page.open(rate.wait_for_addresses(number + 1)[number])
            await_item(page, 1)
        rate_by_keys(one, 3)
        await_item(one, 2)
        rate_by_keys(other, 5)
        other.await_true("document.getElementById('fault').textContent.includes('in another tab')")
        assert "question 3, answer 9" in other.run("document.getElementById('notice').textContent")
        other.press("Enter")
        await_item(other, 2)
    assert [row["ratings"]["question"] for row in read_rows(pairs.parent / "pairs.ratings.jsonl")] == [3, 5]


def test_typed_text_is_kept_after_the_command_has_ended(pairs: Path) -> None:
    with start_page(*SIZE) as page:
        with start_rate(pairs.parent, pairs.name, "--rater", "ana") as rate:
            address = rate.wait_for_addresses(1)[0]
            page.open(address)
            await_item(page, 1)
            rate.interrupt()
        rate_by_keys(page, 3)
        page.await_true("document.getElementById('fault').textContent.includes('does not answer any more')")
        port = address.partition("/?")[0].rpartition(":")[2]
        with start_rate(pairs.parent, pairs.name, "--rater", "ana", port=port) as rate:
            page.open(rate.wait_for_addresses(1)[0])
            page.await_true("document.getElementById('state').textContent.includes('kept from before')")
            page.press("Enter")
            await_item(page, 2)
    assert [row["ratings"] for row in read_rows(pairs.parent / "pairs.ratings.jsonl")] == [{"question": 3, "answer": 9}]


def test_hostile_texts_are_shown_literally_and_do_not_run(tmp_path: Path) -> None:
    hostile = "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script>\x1b[31m\u202ex"
    rows = [{"id": hostile, "question": hostile, "answer": hostile + "A" * 1_900_000, "path": hostile}]
    write_rows(tmp_path / "rows.jsonl", rows)
    with start_rate(tmp_path, "rows.jsonl") as rate, start_page(*SIZE) as page:
        page.open(rate.wait_for_addresses(1)[0])
        page.await_true("!document.getElementById('enter').hidden")
        page.type("Ana <b>")
        page.press("Enter")
        await_item(page, 1)
        shown = page.run("document.querySelector('#content pre').textContent")
        assert shown.startswith("<img src=x onerror=")
        assert shown.endswith("\\x1b[31m\\u202ex")
        assert page.run("document.querySelectorAll('#content pre')[1].textContent.length") == 100_000 + 3 + 5
        page.point("section:nth-of-type(2) > button")
        assert page.run("document.querySelectorAll('#content pre')[1].textContent.length") == 200_000 + 3 + 5
        assert page.run("[document.title, document.images.length, document.scripts.length]") == [
            "Rate question and answer", 0, 1,
        ]  # fmt: skip
        asked = page.run("performance.getEntriesByType('resource').map((each) => new URL(each.name).origin)")
        assert set(asked) == {page.run("location.origin")}
        assert page.run("location.search") == ""
        rate_by_keys(page, 3)
        rate.wait()
    assert read_rows(tmp_path / "rows.ratings.jsonl")[0]["rater"] == "Ana <b>"


def test_a_participant_answers_by_keys_or_skips(pairs: Path) -> None:
    people = pairs.parent / "people.jsonl"
    with start_rate(pairs.parent, pairs.name, "--raters", "2", "--participants", "people.jsonl") as rate:
        one, other = rate.wait_for_addresses(2)
        with start_page(*SIZE) as page:
            page.open(one)
            page.await_true("!document.getElementById('about').hidden")
            page.press("ArrowDown")
            page.press("ArrowDown")
            page.press("Enter")  # opens the list or submits the form, depending on the browser
            page.point("#field")
            page.type("biology")
            page.press("Enter")
            await_item(page, 1)
            page.open(other)
            page.await_true("!document.getElementById('about').hidden")
            page.point("#skip")
            await_item(page, 1)
    (told,) = read_rows(people)
    assert told["field"] == "biology"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 900), (360, 740)], ids=["wide", "small"])
def test_every_text_has_contrast_and_nothing_is_cut(pairs: Path, scheme: str, size: tuple[int, int]) -> None:
    with start_rate(pairs.parent, pairs.name, "--rater", "ana") as rate, start_page(*size) as page:
        page.prefer_scheme(scheme)
        page.open(rate.wait_for_addresses(1)[0])
        await_item(page, 1)
        page.press("x")
        page.press("Enter")
        await_item(page, 2)
        page.press("Enter")  # shows an error and a notice
        page.press("x")
        page.await_true("document.getElementById('fault').textContent")
        assert page.run("document.documentElement.scrollWidth <= innerWidth")
        assert find_contrast(page, "h1, h2, p, label, button:not(:disabled), pre, output, span, textarea") >= 4.5
        page.press("?")
        assert find_contrast(page, "dialog h2, dialog th, dialog td, dialog button") >= 4.5
        page.press("Escape")
        nameless = "[...document.querySelectorAll('input, textarea, select')].filter((each) => !each.labels.length)"
        assert page.run(f"{nameless}.length") == 0
