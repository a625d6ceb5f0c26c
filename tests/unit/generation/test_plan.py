"""The variants of an answer."""

from __future__ import annotations

import pytest
from scripted_model import ScriptedModel

from pkg.errors import UsageError
from pkg.generation.generate_options import GenerateOptions
from pkg.generation.plan import is_small, list_templates, plan_variants
from pkg.generation.prompt_templates.prompt_template import make_task

AUTO = GenerateOptions()
STUB = 'def double(n):\n    """Give twice a number."""\n'


def plan(options: GenerateOptions, *, examples: bool, context: bool = True, small: bool = False) -> list[str]:
    made = plan_variants(options, ("primed", "brief"), examples, context, small)
    return [f"{each.template} {each.context} {each.decoding.temperature:g}" for each in made]


def test_with_examples_the_least_harmful_variant_comes_first() -> None:
    assert plan(AUTO, examples=True) == ["primed none 0", "primed code 0", "primed signatures 0", "brief none 0"]
    assert plan(AUTO, examples=True, small=True)[1] == "primed signatures 0"


def test_without_examples_there_is_one_answer() -> None:
    assert plan(AUTO, examples=False) == ["primed code 0"]
    assert plan(AUTO, examples=False, small=True) == ["primed signatures 0"]
    assert plan(AUTO, examples=False, context=False) == ["primed none 0"]


def test_a_context_of_the_options_is_shown_first() -> None:
    assert plan(GenerateOptions(context="code"), examples=True) == ["primed code 0", "brief code 0"]
    assert plan(GenerateOptions(context="none"), examples=True) == ["primed none 0", "brief none 0"]


def test_further_samples_have_a_temperature_and_another_seed() -> None:
    made = plan_variants(GenerateOptions(samples=5, context="none", seed=7), ("primed", "brief"), True, True, False)
    assert [each.decoding.temperature for each in made] == [0.0, 0.0, 0.8, 0.8, 0.8]
    assert [each.decoding.seed for each in made] == [7, 7, 8, 8, 9]


def test_the_templates_that_serve_a_model_are_listed() -> None:
    model = ScriptedModel([""])
    assert list_templates("auto", model, make_task(STUB)) == ("primed", "brief", "raw")
    assert list_templates("auto", model, make_task("Sort numbers.")) == ("brief",)
    assert list_templates("auto", model, make_task("What is this?", "explain")) == ("primed",)
    assert list_templates("raw", model, make_task(STUB)) == ("raw",)
    assert list_templates("auto", ScriptedModel([""], can_prime=False), make_task(STUB)) == ("brief", "raw")
    with pytest.raises(UsageError, match="no prompt template 'haiku'"):
        list_templates("haiku", model, make_task(STUB))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gguf:models/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf", True),
        ("hf:Qwen/Qwen2.5-Coder-1.5B-Instruct", True),
        ("hf:bigcode/starcoder2-7b", False),
        ("openai:gpt-5@https://host/v1", False),
        ("openai:llama3.2:1b@http://127.0.0.1:11434/v1", True),
    ],
)
def test_a_small_model_is_recognized_by_the_size_in_its_name(name: str, expected: bool) -> None:
    assert is_small(ScriptedModel([""], name=name)) is expected


def test_a_reported_size_takes_precedence_over_the_name() -> None:
    assert is_small(ScriptedModel([""], name="gguf:coder.gguf", parameters=494_000_000))
    assert not is_small(ScriptedModel([""], name="gguf:test-0.5b.gguf", parameters=7_000_000_000))


def test_invalid_options_are_refused() -> None:
    with pytest.raises(UsageError, match="unknown context 'all'; expected one of: auto, none, signatures, code"):
        GenerateOptions(context="all")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="attempts is 0; expected 1 or more"):
        GenerateOptions(attempts=0)
