"""The page on prompts shows the output of the templates."""

from __future__ import annotations

import json
import re

from golden_prompts import HELPERS, STUB
from pages import ROOT

from pkg.generation.prompt_templates.own_templates import INSTRUCTIONS
from pkg.generation.prompt_templates.prompt_template import make_task
from pkg.generation.prompt_templates.self_contained_code import wrap_block
from pkg.generation.prompt_templates.template_choice import TEMPLATE_NAMES, TEMPLATES
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
    """Return the cells of the table below a heading."""
    table = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in re.findall(r"^\| `\w.*$", table, re.MULTILINE)]


def test_every_template_is_on_the_page() -> None:
    named = [name for cells in read_rows("Templates") for name in re.findall(r"`([\w]+)`", cells[0])]

    assert sorted(named) == sorted(TEMPLATE_NAMES)


def test_the_figures_of_the_templates_are_those_of_the_result_file() -> None:
    figures = json.loads((ROOT / "benchmarks" / "results" / "prompt_forms.json").read_text(encoding="utf-8"))
    names = ("solved", "mean_answer_tokens", "mean_prompt_tokens", "cut")
    rows = {cells[0].strip("`"): [float(cell) for cell in cells[1:]] for cells in read_rows("Costs of a template")}

    assert f"{figures['tasks']} tasks" in PAGE
    assert rows == {template: [each[name] for name in names] for template, each in figures["forms"].items()}


def test_the_prompt_on_the_page_is_what_the_template_writes() -> None:
    (shown,) = re.findall(r"^````text\n(.*?)^````$", PAGE, re.MULTILINE | re.DOTALL)
    messages = TEMPLATES["primed"].render(make_task(STUB), HELPERS[:1]).messages

    assert shown == "".join(f"======== {each.role} ========\n{each.content.rstrip()}\n" for each in messages)
    assert parse_question(STUB).stub == STUB


def test_the_task_types_on_the_page_have_the_instructions_of_the_prompt() -> None:
    rows = {cells[0].strip("`"): cells[1] for cells in read_rows("Task types")}

    assert rows == {name: each.task or "nothing: the text is the instruction" for name, each in INSTRUCTIONS.items()}


def test_the_block_on_the_page_is_what_is_shown_of_it() -> None:
    (shown,) = re.findall(r"^```python\n(from shop .*?)\n```$", PAGE, re.MULTILINE | re.DOTALL)
    lines = METHOD.splitlines()
    first = lines.index("    for coin in coins:")
    block = "\n".join(line[4:] for line in lines[first : first + 3])

    assert shown == f"from shop import prices\n{wrap_block(METHOD, (first + 1, first + 3), block)}"
