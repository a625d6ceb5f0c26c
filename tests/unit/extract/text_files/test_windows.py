"""Windows of characters: exact places, never too long, and nothing of the text lost."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.extract.text_files.windows import Window, cut_windows

SUFFIXES = (".py", ".md", ".rst", ".toml", ".yml", ".txt", "")
PIECES = (
    *(
        "class A:\n",
        "def f():\n",
        "    def g(self):\n",
        "    return 1\n",
        "# Head\n",
        "```\n",
        "---\n",
        "Title\n=====\n",
    ),
    *("[table]\n", "key: value\n", "word ", "x" * 40, "é🙂\t", "\x00", "\f", "\x85", "\n", "\r\n", " "),
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)


def find_places(text: str, window: Window) -> list[int]:
    """Return all possible places of this window in the text, by its lines."""
    found = re.finditer(f"(?={re.escape(window.content)})", text)
    return [start for place in found if text.count("\n", 0, start := place.start()) + 1 == window.start_line]


@given(text=TEXTS, suffix=st.sampled_from(SUFFIXES), size=st.integers(1, 120), share=st.integers(0, 99))
def test_windows_cover_the_text_within_their_size_and_overlap_and_stand_where_they_say(
    text: str, suffix: str, size: int, share: int
) -> None:
    overlap = size * share // 100
    covered = {0}  # ends that the windows may reach: short ones fit in several places
    for window in cut_windows(text, suffix, size, overlap):
        assert 0 < len(window.content) <= size
        assert window.start_line + window.content.count("\n") == window.end_line
        covered = {
            start + len(window.content)
            for start in find_places(text, window)
            for end in covered
            if end - overlap <= start and not text[end:start].strip() and end < start + len(window.content)
        }
        assert covered
    assert any(not text[end:].strip() for end in covered)


def test_python_is_cut_at_classes_then_functions_then_methods() -> None:
    methods = "".join(f"    def method_{number}(self):\n        return {number}\n\n" for number in range(4))
    text = f"import os\n\n\nclass A:\n{methods}\ndef f():\n    return os\n"
    first_lines = [window.content.split("\n")[0] for window in cut_windows(text, ".py", size=110, overlap=0)]
    assert first_lines == ["import os", "class A:", "    def method_2(self):", "def f():"]
    assert cut_windows(text, ".py", size=400)[0] == Window(1, 19, text.rstrip())


def test_a_small_class_is_not_joined_with_the_rest_of_a_long_one() -> None:
    long = "class Long:\n" + "".join(f"    value_{number} = {number}\n" for number in range(9))
    windows = cut_windows(f"{long}class Small:\n    pass\n", ".py", size=100, overlap=0)
    assert [(window.start_line, window.end_line) for window in windows] == [(1, 6), (7, 10), (11, 12)]


@pytest.mark.parametrize(
    ("suffix", "heads"),
    [
        (".md", ["# One", "# Two"]),
        (".rst", ["One\n===", "Two\n==="]),
        (".toml", ["[one]", "[two]"]),
        (".yml", ["one:", "two:"]),
    ],
)
def test_each_kind_of_file_is_cut_at_its_own_marks(suffix: str, heads: list[str]) -> None:
    body = "\n  - some words\n\n  - and some more\n\n"
    windows = cut_windows("".join(head + body for head in heads), suffix, size=50, overlap=0)
    assert [window.content.startswith(head) for window, head in zip(windows, heads, strict=True)] == [True, True]


def test_words_of_one_line_are_repeated_up_to_the_overlap() -> None:
    words = " ".join(f"word{number:02}" for number in range(30))
    first, second = cut_windows(words, ".txt", size=140, overlap=30)[:2]
    assert first.content.split()[-4:] == second.content.split()[:4]
    assert (second.start_line, second.end_line) == (1, 1)


def test_one_long_line_is_cut_anywhere_and_quickly() -> None:
    windows = cut_windows("x" * 5_000_000, ".md")
    assert [len(window.content) for window in windows[:2]] == [1500, 1500]
    assert len(windows) == 3846


def test_carriage_returns_stay_in_the_text() -> None:
    (window,) = cut_windows("\r\none\r\ntwo\r\n", ".txt")
    assert window == Window(2, 3, "one\r\ntwo")


@pytest.mark.parametrize("text", ["", "\n\n", " \t\r\n"])
def test_no_window_holds_white_space_alone(text: str) -> None:
    assert cut_windows(text, ".py") == []


def test_an_overlap_of_the_whole_size_is_refused() -> None:
    with pytest.raises(ValueError, match="an overlap of 10 and a size of 10"):
        cut_windows("text", ".txt", size=10, overlap=10)
