"""Prompt templates with a real small coder: token counts are correct, and prefilled answers are continued."""

from __future__ import annotations

import pytest
from golden_prompts import HELPERS, STUB

from pkg.generation.prompt_templates.fitting import count_prompt
from pkg.generation.prompt_templates.prompt_template import make_task
from pkg.generation.prompt_templates.template_choice import TEMPLATES, choose_template
from pkg.generation.sample_writer import run_prompt
from pkg.models.text_model import Decoding, TextModel
from pkg.rerank.extraction import extract_code
from pkg.rerank.parsed_question import parse_question

pytestmark = pytest.mark.model


@pytest.mark.parametrize("name", ["brief", "primed", "raw", "codellama", "qwen"])
def test_a_prompt_has_no_more_tokens_than_counted(coder: TextModel, name: str) -> None:
    prompt = TEMPLATES[name].render(make_task(STUB), HELPERS)
    used = run_prompt(coder, prompt, Decoding(max_tokens=1)).usage.prompt_tokens

    assert used <= count_prompt(prompt, coder) <= used + 40


def test_a_prefilled_answer_is_a_whole_function(coder: TextModel) -> None:
    prompt = choose_template("auto", coder).render(make_task(STUB))
    written = run_prompt(coder, prompt, Decoding(max_tokens=200))
    code = extract_code(prompt.join(written.text, written.finish), parse_question(STUB)).code

    assert (prompt.template, written.finish) == ("primed/1", "stop")
    assert code.startswith("from typing import List\n")
    assert compile(code, "answer", "exec")
