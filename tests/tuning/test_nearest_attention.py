"""Attention to the nearest keys equals full attention where it takes all keys, and nears it as it takes more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from pkg.cli import main
from pkg.errors import UsageError
from pkg.lab.unlimited.nearest_attention import set_nearest_attention
from pkg.lab.unlimited.unlimited_model import open_unlimited
from pkg.models.registry import open_model
from pkg.models.text_model import Decoding

pytestmark = pytest.mark.tuning

LENGTH, LAYERS = 48, 3


@pytest.fixture(name="model", params=["Llama", "Qwen2"])
def make(request: pytest.FixtureRequest) -> Any:
    import torch
    import transformers

    torch.manual_seed(1)
    config = getattr(transformers, f"{request.param}Config")(
        vocab_size=99, hidden_size=32, intermediate_size=64, num_hidden_layers=LAYERS, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=64, initializer_range=0.4,
    )  # fmt: skip
    return getattr(transformers, f"{request.param}ForCausalLM")(config).eval()


def run(model: Any, padding: int = 0) -> Any:
    import torch

    ids = torch.randint(0, 99, (2, LENGTH), generator=torch.Generator().manual_seed(2))
    mask = torch.ones_like(ids)
    mask[0, :padding] = 0
    with torch.inference_mode():
        logits = model(input_ids=ids, attention_mask=mask, position_ids=mask.cumsum(1).sub(1).clamp(min=0)).logits
    return logits[:, padding:]


@pytest.mark.parametrize("padding", [0, 5])
def test_with_all_keys_the_logits_are_those_of_full_attention(
    model: Any, padding: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = run(model, padding)
    monkeypatch.setattr("pkg.lab.unlimited.nearest_attention.BLOCK_SCORES", 2 * 4 * LENGTH * 7)  # seven queries a block
    set_nearest_attention(model, LENGTH, 0)
    assert (run(model, padding) - full).abs().max() < 1e-4


def test_with_fewer_keys_the_difference_grows_slowly(model: Any) -> None:
    full = run(model).log_softmax(-1)

    def measure(nearest: int, layer_begin: int = 0) -> float:
        set_nearest_attention(model, nearest, layer_begin)
        return float((full.exp() * (full - run(model).log_softmax(-1))).sum(-1).mean())  # Kullback-Leibler divergence

    found = [measure(nearest) for nearest in (1, 4, 16, LENGTH)]
    assert found == sorted(found, reverse=True)
    assert found[3] < 1e-6 < found[2] < 0.3 * found[0]
    assert 1e-6 < measure(1, LAYERS - 1) < found[0]
    assert measure(1, LAYERS) < 1e-6  # full attention in all layers


def test_a_model_writes_with_its_own_identity(base: Path) -> None:
    decoding = Decoding(12)
    full, every, one = (
        open_model(f"hf:{base}"),
        open_unlimited(f"hf:{base}", 512, 0),
        open_unlimited(f"hf:{base}", 1, 0),
    )
    prompt = "make_orders imports json and csv, and calls make_prices"
    assert every.complete(prompt, decoding).text == full.complete(prompt, decoding).text
    assert (every.layers, one.identity) == (2, f"{full.identity} nearest 1 from 0")
    with pytest.raises(UsageError, match="the model has no layer 2; expected one from 0 to 1"):
        open_unlimited(f"hf:{base}", 4, 2)


def test_the_command_evaluates_with_the_nearest_keys(base: Path, tmp_path: Path) -> None:
    row = {
        "task_id": "HumanEval/0", "prompt": 'def add(a, b):\n    """Add."""\n', "entry_point": "add",
        "canonical_solution": "    return a + b\n", "test": "def check(candidate):\n    assert candidate(2, 3) == 5\n",
    }  # fmt: skip
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    words = ["--data", str(tmp_path / "rows.jsonl"), "--any-data", "--columns", "none", "--max-tokens", "8"]
    words += ["--model", f"hf:{base}", "--out", str(tmp_path / "run"), "--unlimited", "4"]
    result = CliRunner().invoke(main, ["eval", "humaneval", *words])
    assert result.exit_code == 0, result.output
    head, column, *_ = map(json.loads, result.stdout.splitlines())
    assert (column["column"], column["items"], column["lost"]) == ("none", 1, 0)
    assert head["identity"].endswith(" nearest 4 from 1")
    again = CliRunner().invoke(main, ["eval", "humaneval", *words, "--layer-begin", "0"])
    assert again.exit_code == 2
    assert "nearest 4 from 0" in again.stderr
