"""One-line comments are inserted before blocks, and the code is unchanged (P-08)."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest
from scripted_model import ScriptedModel

from pkg.enhance.comments import clean_comment, list_block_lines, write_comments
from pkg.enhance.function_facts import FunctionText
from pkg.errors import ContextLengthError, ModelUnfitError
from pkg.indexing.written_docstrings import InlineComment, insert_comments

CODE = dedent('''
    def load(path, seen):
        text = """
    if it looks like a block
    """
        if path in seen:
            return None
        elif not path:
            raise ValueError
        # a person's own words
        with open(path) as file:
            for line in file:
                text += line
        return [x for x in text if x]
''').strip()
LOAD = FunctionText(CODE, "load")


def test_each_block_without_a_comment_gets_one() -> None:
    assert [CODE.split("\n")[line - 1].strip() for line in list_block_lines(CODE)] == [
        "if path in seen:",
        "for line in file:",
    ]


def test_lines_are_counted_from_the_first_decorator() -> None:
    assert list_block_lines("@one\n    @two\n    def f(self):\n        for a in self:\n            yield a") == [4]


def test_a_block_within_another_statement_gets_no_comment() -> None:
    assert list_block_lines("def f(a):\n    a = 1; b = [c for c in a]\n    return a") == []
    assert list_block_lines("def f(a): return a") == []
    assert list_block_lines("no function") == []


def test_each_comment_fills_a_hole_before_its_line() -> None:
    model = ScriptedModel(["Skip what was seen", "Read line by line"])
    written = write_comments(LOAD, model)
    assert written.usage.requests == len(model.asked) == 2
    assert written.comments == (InlineComment(5, "Skip what was seen."), InlineComment(11, "Read line by line."))
    before, after = model.asked[0]
    assert before.content.endswith('"""\n    # ')
    assert after.content.startswith(".\n    if path in seen:\n")
    assert model.decodings[0].stop == ("\n",)


def test_a_model_that_fills_no_holes_continues_the_code() -> None:
    model = ScriptedModel(["Skip what was seen."], can_fill=False)
    assert write_comments(LOAD, model, most=1).comments == (InlineComment(5, "Skip what was seen."),)
    assert model.asked[0][-1].role == "assistant"
    assert model.asked[0][-1].content.endswith("    # ")


def test_a_model_that_can_do_neither_is_refused() -> None:
    with pytest.raises(ModelUnfitError, match="can neither fill holes nor continue an answer"):
        write_comments(LOAD, ScriptedModel([""], can_fill=False, can_prime=False))


def test_comments_are_indented_and_change_no_code() -> None:
    changed = insert_comments(CODE, [InlineComment(5, "Skip it."), InlineComment(11, "Read it.")])
    assert "    # Skip it.\n    if path in seen:" in changed
    assert "        # Read it.\n        for line in file:" in changed
    assert ast.dump(ast.parse(changed)) == ast.dump(ast.parse(CODE))


def test_comments_have_the_line_ends_of_the_file() -> None:
    changed = insert_comments("def f(a):\r\n\tif a:\r\n\t\tpass\r\n", [InlineComment(2, "Ask a.")])
    assert changed == "def f(a):\r\n\t# Ask a.\r\n\tif a:\r\n\t\tpass\r\n"


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("Skip what was seen", "Skip what was seen."),
        ("# Skip what\n# was seen.\n", "Skip what was seen."),
        ("Skip what was seen<|endoftext|>more", "Skip what was seen."),
        ("", ""),
        ("Skip", ""),
        ("return seen", ""),
        ("for x in seen: pass", ""),
        ("noqa: all of it", ""),
        ("type: ignore it all", ""),
        ("word " * 60, ""),
    ],
)
def test_an_invalid_comment_is_left_out(text: str, cleaned: str) -> None:
    assert clean_comment(text) == cleaned


def test_the_same_comment_is_not_written_twice() -> None:
    assert len(write_comments(LOAD, ScriptedModel(["Do the work here"])).comments) == 1


def test_a_truncated_comment_is_left_out() -> None:
    assert write_comments(LOAD, ScriptedModel(["word " * 60])).comments == ()


def test_a_function_that_is_too_long_gets_no_comment() -> None:
    assert write_comments(LOAD, ScriptedModel([ContextLengthError("too long")])).comments == ()
