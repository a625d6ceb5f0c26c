"""Fill-in-the-middle prompts of model families."""

from __future__ import annotations

import pytest

from pkg.models.fim import FAMILIES, FimFamily, Order, find_family

NAMES = {
    "Qwen2.5-Coder": ("Qwen/Qwen2.5-Coder-7B-Instruct", "qwen2.5-coder:7b", "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"),
    "StarCoder2": ("bigcode/starcoder2-7b", "starcoder2:3b"),
    "Granite Code": ("ibm-granite/granite-8b-code-base-4k", "granite-code:8b"),
    "DeepSeek-Coder": ("deepseek-ai/deepseek-coder-6.7b-base", "deepseek-coder:6.7b"),
    "CodeGemma": ("google/codegemma-7b",),
    "Code Llama": ("codellama/CodeLlama-13b-hf", "codellama:7b-instruct", "meta-llama/CodeLlama-7b-Instruct-hf"),
    "Codestral": ("mistralai/Codestral-22B-v0.1", "codestral-latest"),
}

SHOWN = {
    "Qwen2.5-Coder": "<|fim_prefix|>before<|fim_suffix|>after<|fim_middle|>",
    "StarCoder2": "<fim_prefix>before<fim_suffix>after<fim_middle>",
    "Granite Code": "<fim_prefix>before<fim_suffix>after<fim_middle>",
    "DeepSeek-Coder": "<｜fim▁begin｜>before<｜fim▁hole｜>after<｜fim▁end｜>",
    "CodeGemma": "<|fim_prefix|>before<|fim_suffix|>after<|fim_middle|>",
    "Code Llama": "<PRE> before <SUF>after <MID>",
    "Codestral": "[SUFFIX]after[PREFIX]before",
}


@pytest.mark.parametrize(("family", "name"), [(family, name) for family, names in NAMES.items() for name in names])
def test_a_family_is_recognized_by_the_names_of_its_models(family: str, name: str) -> None:
    found = find_family(name)
    assert found is not None
    assert found.name == family


@pytest.mark.parametrize(
    "name", ["gpt-4o", "meta-llama/Llama-3.1-8B", "codellama/CodeLlama-34b-hf", "codellama/CodeLlama-7b-Python-hf", "m"]
)
def test_a_model_that_was_not_trained_on_holes_has_no_family(name: str) -> None:
    assert find_family(name) is None


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_prompt_has_the_tokens_and_order_of_its_family(family: FimFamily) -> None:
    assert family.write("before", "after") == SHOWN[family.name]
    assert family.source.startswith("https://")


@pytest.mark.parametrize(
    ("name", "order", "shown"),
    [
        ("starcoder2", "spm", "<fim_prefix><fim_suffix>after<fim_middle>before"),
        ("codellama", "spm", "<PRE>  <SUF>after <MID>before"),
        ("qwen2.5-coder", "spm", "<|fim_prefix|>before<|fim_suffix|>after<|fim_middle|>"),  # it knows one only
        ("codestral", "psm", "[SUFFIX]after[PREFIX]before"),
    ],
)
def test_the_other_order_is_used_if_the_family_has_it(name: str, order: Order, shown: str) -> None:
    family = find_family(name)
    assert family is not None
    assert family.write("before", "after", order) == shown


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_tokens_in_the_texts_of_a_user_are_broken(family: FimFamily) -> None:
    tokens = [token.strip("\u2581") for token in (*family.tokens, *family.stop)]
    empty = family.write("", "")
    for token in tokens:
        if token not in ("[SUFFIX]", "[PREFIX]"):  # ordinary code holds them, after the name of a table
            assert family.write(token, token).count(token) == empty.count(token)
