"""Loss and implicit rewards of TRL are those of the formula, computed by hand (C-13, A-31); packing changes no loss."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from pkg.lab.tuning.recipes import read_recipe
from pkg.lab.tuning.tuning_run import build_trainer, plan_run
from pkg.models.model_options import ModelOptions

pytestmark = pytest.mark.tuning

OPTIONS = ModelOptions(device="cpu", dtype="float32", threads=1)


def sum_log_shares(model: Any, tokenizer: Any, turns: list[dict[str, str]], prompt: list[dict[str, str]]) -> Any:
    """Return the logarithm of the probability of the last answer, in float64."""
    import torch

    begun = tokenizer.apply_chat_template(prompt, tokenize=False, add_generation_prompt=True)
    whole = tokenizer.apply_chat_template(turns, tokenize=False)
    start = len(tokenizer(begun, add_special_tokens=False)["input_ids"])
    ids = torch.tensor([tokenizer(whole, add_special_tokens=False)["input_ids"]])
    with torch.no_grad():
        shares = model(input_ids=ids).logits.double().log_softmax(-1)
    return shares[0, start - 1 : -1].gather(-1, ids[0, start:, None]).sum()


def test_loss_and_rewards_are_those_of_the_formula(answering: Path, pairs: Path, tmp_path: Path) -> None:
    import torch

    recipe = read_recipe("tiny", ["micro_batch=64", "beta=0.3", "held_out=0.1"])
    plan = plan_run("dpo", f"hf:{answering}", [str(pairs)], recipe, OPTIONS)
    trainer = build_trainer(plan, tmp_path, lambda done, total: None)
    torch.manual_seed(0)
    for name, weights in trainer.model.named_parameters():
        if "lora_B" in name:  # 0 at the start, when policy and reference are the same
            weights.data.normal_(std=0.05)
    found = trainer.evaluate()

    policy, tokenizer = trainer.model.eval(), trainer.processing_class
    rewards = torch.zeros(len(plan.rows.held_out), 2, dtype=torch.float64)
    for row, example in enumerate(plan.rows.held_out):
        for answer in (0, 1):
            turns, prompt = example.list_turns(answer), list(example.prompt)
            ours = sum_log_shares(policy, tokenizer, turns, prompt)
            with policy.disable_adapter():
                reference = sum_log_shares(policy, tokenizer, turns, prompt)
            rewards[row, answer] = 0.3 * (ours - reference)
    margins = rewards[:, 0] - rewards[:, 1]
    assert len(margins) > 3
    assert margins.abs().min() > 1e-4
    expected = {
        "eval_loss": -torch.nn.functional.logsigmoid(margins).mean(),
        "eval_rewards/chosen": rewards[:, 0].mean(),
        "eval_rewards/rejected": rewards[:, 1].mean(),
        "eval_rewards/margins": margins.mean(),
        "eval_rewards/accuracies": (margins > 0).double().mean(),
    }
    assert {name: found[name] for name in expected} == pytest.approx(
        {name: float(value) for name, value in expected.items()}, abs=1e-5
    )


def test_rows_of_one_packed_sequence_do_not_see_each_other(answering: Path, place: Path, tmp_path: Path) -> None:
    """The loss of a packed batch is the mean over the answer tokens of its rows, each computed alone."""
    recipe = read_recipe("tiny", ["packing=true", "micro_batch=1", "max_length=400"])
    plan = plan_run("sft", f"hf:{answering}", [str(place / "rows.jsonl")], recipe, OPTIONS)
    trainer = build_trainer(plan, tmp_path, lambda done, total: None)
    import torch

    model = trainer.model.eval()
    batch = next(iter(trainer.get_train_dataloader()))
    with torch.no_grad():
        packed = float(trainer.compute_loss(model, dict(batch)))
    ids, labels = batch["input_ids"][0], batch["labels"][0]
    starts = [*(batch["position_ids"][0] == 0).nonzero()[:, 0].tolist(), len(ids)]
    assert len(starts) > 3
    logarithms: list[Any] = []
    for start, end in pairwise(starts):
        with torch.no_grad():
            shares = model(input_ids=ids[None, start:end]).logits[0, :-1].log_softmax(-1)
        wanted = labels[start + 1 : end]
        logarithms.append(shares.gather(-1, wanted.clamp(min=0)[:, None])[:, 0][wanted >= 0])
    assert packed == pytest.approx(-float(torch.cat(logarithms).mean()), abs=1e-5)
    assert plan.estimate.sequences == len(trainer.train_dataset)
