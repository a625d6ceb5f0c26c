"""Headings of Markdown, reStructuredText and plain text, and lines that only look like one."""

from __future__ import annotations

import pytest

from pkg.extract.text_files.markup_headings import (
    find_keys,
    find_markdown_headings,
    find_tables,
    find_underlined_headings,
)


def list_lines(text: str) -> list[bytes]:
    return text.encode().splitlines(keepends=True)


def list_markdown(text: str) -> list[tuple[int, str]]:
    return [(each.level, each.title) for each in find_markdown_headings(list_lines(text))]


def list_underlined(text: str) -> list[tuple[int, int, str]]:
    return [(each.line, each.level, each.title) for each in find_underlined_headings(list_lines(text))]


def test_headings_of_markdown_have_the_level_of_their_signs() -> None:
    text = "# One\n## Two ##\n###### Six\n####### seven\n#none\n#\nSetext\n===\n\nLower\n---\n"
    assert list_markdown(text) == [(1, "One"), (2, "Two"), (6, "Six"), (1, "Setext"), (2, "Lower")]


@pytest.mark.parametrize("fence", ["```", "~~~~", "   ```python"])
def test_code_of_markdown_has_no_headings(fence: str) -> None:
    closing = fence.strip().rstrip("python")
    assert list_markdown(f"# A\n{fence}\n# comment\nx\n---\n{closing}\n# B\n") == [(1, "A"), (1, "B")]
    assert list_markdown(f"# A\n{fence}\n# comment\n") == [(1, "A")]
    assert list_markdown("# A\n\n    # indented code\n") == [(1, "A")]
    assert list_markdown("# A\n`` ```x``` ``\n# B\n") == [(1, "A"), (1, "B")]


def test_a_longer_fence_holds_shorter_ones() -> None:
    assert list_markdown("````\n```\n# no\n```\n# no\n````\n# yes\n") == [(1, "yes")]


def test_settings_before_a_text_comments_and_dashes_are_no_headings() -> None:
    assert list_markdown("---\ntitle: x\n# no\n---\n# Yes\n") == [(1, "Yes")]
    assert list_markdown("<!--\n# no\n-->\n# Yes\n<!-- # no -->\n") == [(1, "Yes")]
    assert list_markdown("- item\n---\n\n| a |\n|---|\n\ntwo lines\nof text\n---\n") == []


def test_titles_lose_their_markup() -> None:
    text = "# The `cart` of [Shop](http://x) ![logo](y.png) *now* __init__ &amp; a_b {#cart}\n"
    text += "<h2 align=x>Big <b>one</b></h2>\n"
    assert list_markdown(text) == [(1, "The cart of Shop logo now init & a_b"), (2, "Big one")]


def test_a_title_that_is_a_paragraph_is_cut() -> None:
    ((_, title),) = list_markdown(f"# {'word ' * 100}\n")
    assert (len(title), title[-3:]) == (123, "...")


def test_levels_of_underlines_come_by_their_first_mention() -> None:
    text = "=====\nTitle\n=====\n\nOne\n===\n\nTwo\n---\n\nThree\n~~~~~\n\nAgain\n====\n\n"
    assert list_underlined(text) == [(0, 1, "Title"), (4, 2, "One"), (7, 3, "Two"), (10, 4, "Three"), (13, 2, "Again")]


def test_tables_dashes_and_text_above_a_line_are_no_titles() -> None:
    assert list_underlined("====  ====\nA     B\n====  ====\n\n----\n\ntext\nmore\n----\n\n  indented\n  ----\n") == []
    assert list_underlined("much longer title\n--\n") == []


def test_roles_are_left_out_of_titles() -> None:
    assert list_underlined("The :py:func:`run <shop.run>` step\n===\n\n") == []
    assert list_underlined("The :py:func:`run <shop.run>` step\n=====\n\n") == [(0, 1, "The run step")]


@pytest.mark.parametrize(
    "line",
    ["# " + " " * 400_000 + "x", "`" * 400_000 + "x`", "#" * 400_000, "<h1" * 100_000, ":" * 400_000, "[" * 400_000],
)
def test_a_line_of_a_whole_file_takes_no_time(line: str) -> None:
    text = f"{line}\n====\n" * 2
    list_markdown(text)
    list_underlined(text)


def list_tables(text: str) -> list[tuple[int, str]]:
    return [(each.line, each.title) for each in find_tables(text.encode().splitlines(keepends=True))]


def list_keys(text: str) -> list[tuple[int, int, str]]:
    return [(each.line, each.level, each.title) for each in find_keys(text.encode().splitlines(keepends=True))]


def test_tables_and_sections_are_found_by_their_brackets() -> None:
    text = '[project]\nname = "x"\n[[tool.x]] # two\r\nlist = [\n  [1],\n]\n[metadata]\n'
    assert list_tables(text) == [(0, "project"), (2, "tool.x"), (6, "metadata")]


def test_a_text_of_several_lines_holds_no_tables() -> None:
    assert list_tables('a = """\n[no]\n\'\'\'\n"""\n[yes]\n') == [(4, "yes")]


def test_keys_of_two_levels_are_found() -> None:
    text = "name: CI\non:\n  push:\n    branches: [main]\n'quoted key':  # why\n- item: 1\njobs:\n    build:\n"
    text += "        steps:\n        - run: x\n"
    assert list_keys(text) == [
        (0, 1, "name"), (1, 1, "on"), (2, 2, "push"), (4, 1, "quoted key"), (6, 1, "jobs"), (7, 2, "build"),
    ]  # fmt: skip


def test_a_text_comments_and_addresses_are_no_keys() -> None:
    assert list_keys("text: |\n  Note: this\n# no: key\nhttp://host\n- a: 1\nnext: >-\n  b: 2\n") == [
        (0, 1, "text"),
        (5, 1, "next"),
    ]
