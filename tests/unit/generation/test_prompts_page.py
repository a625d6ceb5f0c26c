"""The page on prompts shows what the forms write."""

from __future__ import annotations

import json
import re

from golden_prompts import HELPERS, STUB
from pages import ROOT

from pkg.generation.forms.brief import WORDS
from pkg.generation.forms.choice import FORM_NAMES, FORMS
from pkg.generation.forms.prompt_form import make_task
from pkg.generation.forms.standing_code import wrap_block
from pkg.rerank.parsed_question import parse_question

PAGE = (ROOT / "docs" / "prompts.md").read_text(encoding="utf-8")
METHOD = '''\
def count(self, coins: list[float], limit=3):
    """Count the coins.

    All of them.
    """
    total = 0.0
    self.opened += 1
    for coin in coins:
        if coin > limit:
            total += coin * prices.rate
    return total
'''


def read_rows(heading: str) -> list[list[str]]:
    """Give the cells of the table behind a heading."""
    table = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in re.findall(r"^\| `\w.*$", table, re.MULTILINE)]


def test_every_form_is_on_the_page() -> None:
    named = [name for cells in read_rows("Forms") for name in re.findall(r"`([\w]+)`", cells[0])]

    assert sorted(named) == sorted(FORM_NAMES)


def test_the_figures_of_the_forms_are_those_of_the_result_file() -> None:
    figures = json.loads((ROOT / "benchmarks" / "results" / "prompt_forms.json").read_text(encoding="utf-8"))
    names = ("solved", "mean_answer_tokens", "mean_prompt_tokens", "cut")
    rows = {cells[0].strip("`"): [float(cell) for cell in cells[1:]] for cells in read_rows("What a form is worth")}

    assert f"{figures['tasks']} tasks" in PAGE
    assert rows == {form: [each[name] for name in names] for form, each in figures["forms"].items()}


def test_the_prompt_on_the_page_is_what_the_form_writes() -> None:
    (shown,) = re.findall(r"^````text\n(.*?)^````$", PAGE, re.MULTILINE | re.DOTALL)
    messages = FORMS["primed"].render(make_task(STUB), HELPERS[:1]).messages

    assert shown == "".join(f"======== {each.role} ========\n{each.content.rstrip()}\n" for each in messages)
    assert parse_question(STUB).stub == STUB


def test_the_frames_on_the_page_say_what_the_prompt_says() -> None:
    rows = {cells[0].strip("`"): cells[1] for cells in read_rows("Frames")}

    assert rows == {frame: words.task or "nothing: the text says all" for frame, words in WORDS.items()}


def test_the_block_on_the_page_is_what_is_shown_of_it() -> None:
    (shown,) = re.findall(r"^```python\n(from shop .*?)\n```$", PAGE, re.MULTILINE | re.DOTALL)
    lines = METHOD.splitlines()
    first = lines.index("    for coin in coins:")
    block = "\n".join(line[4:] for line in lines[first : first + 3])

    assert shown == f"from shop import prices\n{wrap_block(METHOD, (first + 1, first + 3), block)}"
