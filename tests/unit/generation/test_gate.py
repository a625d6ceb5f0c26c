"""The gate: rules are read, chosen by model size, and keep code out of prompts of questions without examples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scripted_model import ScriptedModel

from pkg.errors import InputError, PathError
from pkg.generation.cascade import write_answer
from pkg.generation.gate import GateRule, list_rules, read_rules, write_rules
from pkg.generation.generate_options import GenerateOptions
from pkg.generation.prompt_templates.prompt_template import HelperText
from pkg.generation.sample_writer import Context
from pkg.rerank.reranker import Reranker

PLAIN = "Write a function named `double` that gives twice a number."
HELPER = HelperText("sums.py:1-2 add", "def add(a, b):\n    return a + b")


def make_context(margin: float) -> Context:
    signals = {"margin": margin}
    return Context(code=(HELPER,), signatures=(HELPER,), signals={"code": signals, "signatures": signals})


def write(tmp_path: Path, bounds: dict[str, float] | None) -> str:
    path = tmp_path / "gate.json"
    path.write_text(
        write_rules([{"context": each, "below": None, "bounds": bounds} for each in ("code", "signatures")])
    )
    return str(path)


@pytest.mark.parametrize(
    ("bounds", "margin", "is_shown"),
    [({"margin": 0.2}, 0.3, True), ({"margin": 0.2}, 0.1, False), ({}, 0.0, True), (None, 9.0, False)],
)
def test_a_rule_decides_whether_code_is_shown(
    tmp_path: Path, bounds: dict[str, float] | None, margin: float, is_shown: bool
) -> None:
    model = ScriptedModel(["def double(n):\n    return 2 * n\n"] * 2)
    options = GenerateOptions(gate=write(tmp_path, bounds))
    with Reranker() as reranker:
        answer = write_answer(PLAIN, model, make_context(margin), options, reranker)
    sent = "".join(message.content for message in model.asked[0])
    assert ("def add(a, b)" in sent) is is_shown
    assert any("not shown: " in each for each in answer.decisions) is not is_shown


def test_a_context_of_the_options_is_shown(tmp_path: Path) -> None:
    model = ScriptedModel(["def double(n):\n    return 2 * n\n"])
    with Reranker() as reranker:
        write_answer(
            PLAIN, model, make_context(0.0), GenerateOptions(gate=write(tmp_path, None), context="code"), reranker
        )
    assert "def add(a, b)" in "".join(message.content for message in model.asked[0])


def test_a_rule_applies_to_models_below_its_size() -> None:
    small, any_size = GateRule("code", 1e9, None), GateRule("code", None, {})
    rules = (small, any_size)
    assert list_rules(rules, 5e8) == [small, any_size]
    assert list_rules(rules, 7e9) == list_rules(rules, None) == [any_size]


def test_the_first_rule_that_admits_decides(tmp_path: Path) -> None:
    path = tmp_path / "gate.json"
    rules: list[dict[str, Any]] = [
        {"context": "code", "below": None, "bounds": {"own": 1}},
        {"context": "signatures", "below": None, "bounds": {}},
    ]
    path.write_text(write_rules(rules))
    code, signature = (
        HelperText("a.py:1-2 add", "def add(a, b):\n    return a + b"),
        HelperText("a.py:1 add", "def add(a, b)"),
    )
    for own, shown in ((1.0, "code"), (0.0, "signatures")):
        model = ScriptedModel(["def double(n):\n    return 2 * n\n"])
        context = Context((code,), (signature,), signals={"code": {"own": own}, "signatures": {"own": own}})
        with Reranker() as reranker:
            answer = write_answer(PLAIN, model, context, GenerateOptions(gate=str(path)), reranker)
        assert answer.samples[0].variant.context == shown


def test_the_packaged_rules_are_valid() -> None:
    for rule in read_rules():
        assert rule.context in ("code", "signatures")


def test_a_file_without_rules_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gate.json"
    for text in (
        "{}",
        "[]",
        "no json",
        '{"version": 1, "rules": [{"context": "code", "below": 1, "bounds": {"x": 1}}]}',
    ):
        path.write_text(text)
        read_rules.cache_clear()
        with pytest.raises(InputError, match="pkg eval calibrate"):
            read_rules(path)
    with pytest.raises(PathError):
        read_rules(tmp_path / "missing.json")
