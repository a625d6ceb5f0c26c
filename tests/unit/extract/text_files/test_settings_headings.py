"""Parts of settings files."""

from __future__ import annotations

from pkg.extract.text_files.settings_headings import find_keys, find_tables


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
