"""Answers of a real small coder end to end: the commands of the page, and a repaired attempt."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pages import read_blocks, split_transcript

import pkg
from pkg.api import enhance_graph
from pkg.models.text_model import Decoding, Generation, Listen, Message, TextModel, Usage

pytestmark = pytest.mark.model

ROOT = Path(__file__).parents[2]
PAGE = "docs/generate.md"
INSTALLED = ("make install", ".venv/bin/pip install")  # commands that this environment has already run

SHOP = """\
def parse_price(text):
    return round(float(text.strip().lstrip("$")) * 100)


def sum_prices(texts):
    return sum(parse_price(text) for text in texts)


def count_words(text):
    return len(text.split())


def reverse_words(text):
    return " ".join(reversed(text.split()))


def is_even(number):
    return number % 2 == 0
"""


@pytest.mark.full  # three minutes on a busy core; the next test does the same in Python
def test_the_commands_of_the_page_lead_from_a_clone_to_an_answer(coder_file: Path, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "pkg").symlink_to(ROOT / "pkg" / "retrieval")  # a part is enough for the questions of the page
    (block,) = read_blocks(PAGE, "console")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    outputs: list[str] = []
    for command, _ in split_transcript(block):
        if command.startswith("export"):
            settings = dict(re.findall(r"(\w+)=(\S+)", command))
            environment |= settings | {"PKG_MODEL": f"gguf:{coder_file}"}
        elif not command.startswith(INSTALLED):
            line = command.replace(".venv/bin/pkg", str(Path(sys.executable).with_name("pkg")))
            done = subprocess.run(line, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
            assert done.returncode == 0, f"{command}\n{done.stderr}"
            outputs.append(done.stdout)
    assert len(outputs) == 5
    enhanced, answer, mended, told = outputs[1:]
    assert enhanced.count('"docstring"') >= 3
    for output in (answer, mended, told):
        assert json.loads(output.splitlines()[-1])["type"] == "answer"
    assert "def add_durations" in json.loads(answer.splitlines()[-1])["code"]
    assert json.loads((tmp_path / "trace.jsonl").read_text().splitlines()[0])["type"] == "sample"


def test_from_undocumented_code_to_a_chosen_answer(coder: TextModel, tmp_path: Path) -> None:
    """Build, enhance five functions, query, generate, rerank."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "prices.py").write_text(SHOP)
    store = f"sqlite:///{tmp_path / 'graph.db'}"
    pkg.build_graph(tmp_path / "shop", store=store)
    (report,) = enhance_graph(coder.name, store=store, limit=5)
    assert report.written >= 4
    question = 'def total(texts):\n    """Sum prices in cents.\n\n    >>> total(["$1.50", "$2"])\n    350\n    """\n'
    with pkg.open_graph(store) as graph:
        result = graph.query("sum of prices in a list", mode="function", top_k=3)
        assert "sum_prices" in [hit.qualname for hit in result.hits]
        answer = graph.generate(question, coder, pkg.GenerateOptions(samples=4, max_tokens=120))
    assert len(answer.samples) == 4
    assert answer.examples == ("total(['$1.50', '$2']) == 350",)
    assert answer.best.passed == max(each.passed for each in answer.samples)
    ranking = pkg.rank_candidates(question, [each.text for each in answer.samples])
    assert ranking.code in [each.code for each in answer.samples]


class FailingFirst:
    """The real coder with a wrong first answer, to test the prompt of the second attempt."""

    def __init__(self, coder: TextModel, first: str) -> None:
        self._coder, self._first = coder, first
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._coder, name)

    def chat(self, messages: Sequence[Message], decoding: Decoding, listen: Listen | None = None) -> Generation:
        self.asked.append("\n".join(each.content for each in messages))
        if len(self.asked) == 1:
            return Generation(self._first, "stop", Usage(1, 0, 0, 0.0))
        return self._coder.chat(messages, decoding, listen)


def test_a_failed_attempt_is_repaired_by_its_feedback(coder: TextModel) -> None:
    question = 'def mean(numbers):\n    """Give the mean.\n\n    >>> mean([1, 3])\n    2.0\n    """\n'
    model = FailingFirst(coder, "    return fsum(numbers) / len(numbers)\n")
    options = pkg.GenerateOptions(attempts=3, form="primed", max_tokens=80)
    answer = pkg.generate_answer(question, model, options)
    assert not answer.samples[0].holds
    assert "NameError: name 'fsum' is not defined" in model.asked[1]
    assert answer.best.hop > 1
    assert answer.best.holds
