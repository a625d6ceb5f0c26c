"""Finding Python code in answers: fences, tags, prose, console sessions, and damaged text."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.extract.answers import Answer, find_code
from pkg.extract.parser import is_python_like
from pkg.extract.rows import Row, read_rows
from pkg.model import Status

DATA = os.environ.get("PKG_DATA")  # read here, because the tests run without the caller's variables

CLEAN = '''import os

class Stack:
    """A stack.

    >>> Stack().size()
    0

    ```python
    Stack().push(1)
    ```
    """

    @property
    def size(self):
        return len(self.items)

async def fetch(
    url: str,
    retries=3,
) -> bytes:
    for attempt in range(retries):
        try:
            return await get(url)
        except OSError:
            continue
'''

MIXED = """You can use this function:

def area(r):
    return 3.14 * r ** 2

It isn't hard. Call it:

```python
print(area(2))
```

```bash
python area.py
```

1. Or in a console:

   >>> area(1)
   3.14
"""


def corpus_texts() -> list[str]:
    """Sample rows of real corpora if PKG_DATA names their folder."""
    names = ("corpus/thealgorithms_functions", "tutorials/python_cheatsheet", "mbpp/mbpp") if DATA else ()
    rows = (row for name in names for row in islice(read_rows(str(Path(DATA or "") / f"{name}.jsonl.gz")), 100))
    return [row.text for row in rows if isinstance(row, Row)]


TEXTS = [CLEAN, MIXED, CLEAN.replace("    ", "\t"), f"Sure!\n\n```python\n{CLEAN}```\n{MIXED}", *corpus_texts()]


def code_of(text: str) -> str:
    return find_code(text).code.decode()


def check(answer: Answer, text: str) -> None:
    """Check the properties of every answer."""
    assert answer.code.count(b"\n") == text.encode("utf-8", "replace").count(b"\n")
    assert (answer.reason is None) == (answer.status is Status.OK)
    if answer.status is Status.OK:
        assert is_python_like(answer.code)
    if answer.status is Status.FAILED:
        assert not answer.code.strip()
    if answer.tree is not None:
        assert answer.tree.root_node.end_byte <= len(answer.code)


def test_an_answer_that_is_all_code_stays_as_it_is() -> None:
    answer = find_code(CLEAN)
    assert answer.code == CLEAN.encode()
    assert answer.status is Status.OK
    assert answer.tree is not None
    assert answer.tree.root_node.child_count == 3


def test_each_fence_keeps_its_lines_and_other_languages_are_left_out() -> None:
    text = "Here it's:\n```python\nx = f(1)\n```\n```bash\npip install y\n```\n~~~ py\nimport os\n~~~\n```\nz = 2\n```"
    assert code_of(text) == "\n\nx = f(1)\n\n\n\n\n\nimport os\n\n\nz = 2\n"


@pytest.mark.parametrize(
    "label", ["python", "Python3", "py", "python3.12", "{.python}", "python title=x", "ipython", ""]
)
def test_every_label_for_python_is_known(label: str) -> None:
    assert code_of(f"```{label}\ndef f(): pass\n```") == "\ndef f(): pass\n"


@pytest.mark.parametrize("label", ["bash", "json", "javascript", "text", "c++", "sql"])
def test_fences_of_other_languages_hold_no_python(label: str) -> None:
    assert find_code(f"```{label}\nx = f(1)\n```").status is Status.FAILED


def test_fences_in_a_list_lose_their_indentation() -> None:
    text = "1. Do:\n\n   ```py\n   def f():\n       return 1\n   ```\n2. - ```py\n     g()\n     ```"
    assert code_of(text) == "\n\n\ndef f():\n    return 1\n\n\ng()\n"
    assert code_of("- ```py\n  g()\n  ```") == "\ng()\n"


def test_a_fence_that_is_not_closed_ends_with_the_text_or_the_next_fence() -> None:
    assert code_of("So:\n```python\ndef f():\n    return 1\n") == "\n\ndef f():\n    return 1\n"
    assert code_of("```python\nf()\n```python\ng()\n```") == "\nf()\n\ng()\n"


def test_a_mark_beside_words_or_code_is_a_fence_too() -> None:
    assert code_of("Here: ```python\ndef f():\n    return 1```\nok") == "\ndef f():\n    return 1\n"


def test_a_closing_mark_alone_leaves_the_code_above_it() -> None:
    text = "def f():\n    return 1\n```\nThis function isn't long.\n"
    assert code_of(text) == "def f():\n    return 1\n\n\n"


def test_bare_code_beside_a_fence_with_output_is_found() -> None:
    assert code_of("def f():\n    return 1\n\n```\n1\n```") == "def f():\n    return 1\n\n\n\n"


def test_a_fence_inside_a_docstring_is_not_a_fence() -> None:
    text = 'def f():\n    """Do.\n\n```python\nf()\n```\n    """\n    return 1\n'
    assert find_code(text).code == text.encode()


def test_fences_inside_a_markdown_fence_count() -> None:
    assert code_of("````markdown\n# T\n```python\nf()\n```\n````\n") == "\n\n\nf()\n\n\n"


def test_tags_hold_the_code() -> None:
    text = "Sure.\n[PYTHON]def f():\n    return 1\n[/PYTHON]\nx = 1\n[PYTHON]\ng()"
    assert code_of(text) == "\ndef f():\n    return 1\n\n\n\ng()"


def test_prose_around_code_is_blanked() -> None:
    text = "You can write:\n\n@cache\ndef f(\n  a,\n):\n    '''Doc\nit's here\n'''\n    return a\n\nThat's all."
    expected = "\n\n@cache\ndef f(\n  a,\n):\n    '''Doc\nit's here\n'''\n    return a\n\n"
    assert code_of(text) == expected
    assert find_code(text).status is Status.OK


def test_code_between_paragraphs_does_not_become_part_of_what_is_above() -> None:
    text = "First this:\n\ndef f():\n    return 1\n\nThen:\n\n    y = f()\n    def g():\n        return 2\n\nSo be it."
    assert code_of(text) == "\n\ndef f():\n    return 1\n\n\n\ny = f()\ndef g():\n    return 2\n\n"


PROSE = ["Sure", "Sure, here you go.", "It is good", "from here on, use it", "class of problems: many", "Thanks (all)"]
PROSE += ["", " \n", "Note: this", "return value", "This is\n\nn = 5\n\nor so it is."]
DATA_ONLY = ["[1, 2]", '{"a": 1}', "42", "# x", "a - b"]


@pytest.mark.parametrize("text", PROSE + DATA_ONLY)
def test_prose_and_data_are_no_code_even_when_they_parse(text: str) -> None:
    answer = find_code(text)
    assert (answer.status, answer.reason, answer.tree) == (Status.FAILED, "no Python code", None)
    check(answer, text)


@pytest.mark.parametrize(
    "text", ["import os", "x = 1", "print('a')", "a.b(c)", "for x in y: pass", "    return a + b", "print 'x'"]
)
def test_statements_without_a_function_are_code(text: str) -> None:
    assert find_code(text).status is Status.OK


def test_console_sessions_lose_prompts_and_output() -> None:
    assert code_of("```pycon\n>>> import os\n>>> os.sep\n'/'\n```") == "\nimport os\nos.sep\n\n"
    text = "Try it out:\n\n>>> def f(x):\n...     return x\n...\n>>> f(2)\n2\n... more text\n"
    assert code_of(text) == "\n\ndef f(x):\n    return x\n\nf(2)\n\n\n"


def test_a_session_beside_a_definition_is_kept_with_it() -> None:
    text = 'Define this one:\n\ndef f():\n    """Do.\n\n    >>> f()\n    """\n\nAnd call it:\n\n>>> f()\n1\n'
    assert code_of(text) == '\n\ndef f():\n    """Do.\n\n    >>> f()\n    """\n\n\n\nf()\n\n'


@pytest.mark.parametrize(
    ("text", "expected", "reason"),
    [
        ("def f(x):\ny = x\nreturn y", "def f(x):\n    y = x\n    return y", "indentation repaired at line 2"),
        (
            "class A:\ndef f(self):\nreturn 1",
            "class A:\n    def f(self):\n        return 1",
            "indentation repaired at line 2",
        ),
        ("def f():\n    a = 1\n  return a", "def f():\n    a = 1\n    return a", "indentation repaired at line 3"),
        ("def f(a):\n\tif a:\n        c()", "def f(a):\n    if a:\n        c()", "indentation repaired at line 2"),
        ("def f(x):\n\u00a0\u00a0return x", "def f(x):\n  return x", "characters repaired at line 2"),
        ("def f(x):\u2028\n    return ‘a’", "def f(x): \n    return 'a'", "characters repaired at line 1"),
    ],
)
def test_damage_is_repaired_when_the_repair_parses(text: str, expected: str, reason: str) -> None:
    answer = find_code(text)
    assert (answer.code.decode(), answer.status, answer.reason) == (expected, Status.PARTIAL, reason)


def test_a_uniformly_indented_answer_is_dedented() -> None:
    assert code_of("\n    def f():\n        return 1\n\n    f()") == "\ndef f():\n    return 1\n\nf()"


def test_a_broken_function_is_dropped_and_the_others_stay() -> None:
    text = "```python\ndef a():\n    return 1\n\ndef b(:\n    return 2\n\nx = [\n1,\n]\n```"
    answer = find_code(text)
    assert answer.code.decode() == "\ndef a():\n    return 1\n\n\n\n\nx = [\n1,\n]\n"
    assert (answer.status, answer.reason) == (Status.PARTIAL, "line 5 does not parse")


def test_a_class_loses_its_broken_method_only() -> None:
    answer = find_code(
        "class A:\n    def a(self):\n        return 1\n\n    def b(self)\n        return 2\n\n    def c(self): pass\n"
    )
    assert answer.code.decode() == "class A:\n    def a(self):\n        return 1\n\n\n\n\n    def c(self): pass\n"
    assert answer.status is Status.PARTIAL


def test_an_answer_cut_off_in_a_function_keeps_what_came_before() -> None:
    answer = find_code("```python\ndef f():\n    return 1\n\ndef g(a,\n")
    assert (answer.code.decode(), answer.reason) == ("\ndef f():\n    return 1\n\n\n", "line 5 does not parse")


def test_a_fence_that_does_not_parse_is_named() -> None:
    assert find_code("```python\nf()\n```\n```python\ndef f(:\n```").reason == "fence 2 does not parse"
    answer = find_code("```python\ndef f(:\n```")
    assert (answer.status, answer.reason) == (Status.FAILED, "fence 1 does not parse")


def test_a_long_list_of_damage_is_shortened() -> None:
    answer = find_code("f()\n" + "```python\ndef f(:\n```\n" * 5)
    assert answer.reason == "fence 1 does not parse; fence 2 does not parse; fence 3 does not parse; and 2 more"


def test_a_header_without_a_body_is_not_a_function() -> None:
    assert find_code("def f(x):").status is Status.FAILED


def test_line_ends_marks_and_nul_of_other_systems_are_taken() -> None:
    assert code_of("It is:\r\n```python\r\ndef f():\r\n    return 1\r\n```\r\n") == "\n\ndef f():\r\n    return 1\r\n\n"
    assert code_of("\ufeffx = 1\0\n\x0cy = 2\n") == "x = 1 \n\x0cy = 2\n"
    assert find_code("x = '\ud800'").code == b"x = '?'"


HOSTILE = [
    "(" * 100_000,
    "```\n" * 20_000,
    "if " + ":#" * 20_000,
    '"""' * 20_001,
    "def f(:\n" * 2_000,
    " " * 50_000 + "x",
]
HOSTILE += ["\n" * 50_000, "[PYTHON]" * 5_000, ">>> " * 10_000, "a:b" * 20_000, "x = '" * 20_000, "class A:\n " * 2_000]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_answered(text: str) -> None:
    check(find_code(text), text)


@given(st.text(max_size=200))
def test_no_text_crashes(text: str) -> None:
    check(find_code(text), text)


PARTS = [
    "```python\n",
    "```\n",
    "~~~\n",
    ">>> ",
    "... ",
    "[PYTHON]",
    "[/PYTHON]",
    "def f(x):\n",
    "class A:\n",
    "    return 1\n",
]
PARTS += [
    "\t",
    "  ",
    "\n",
    "\n\n",
    '"""',
    "'",
    "(",
    ")",
    "x = 1\n",
    "Some prose, isn't it?\n",
    "import os\n",
    "@cache\n",
    "\r\n",
]


@given(st.lists(st.sampled_from(PARTS), max_size=30).map("".join))
def test_no_mixture_of_parts_crashes(text: str) -> None:
    check(find_code(text), text)


@given(st.sampled_from(TEXTS), st.data())
def test_no_mutation_of_a_real_row_crashes(text: str, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 40)))
        text = text[:start] + data.draw(st.sampled_from(["", *PARTS]) | st.text(max_size=3)) + text[end:]
    check(find_code(text), text)
