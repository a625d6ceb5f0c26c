"""A small model learns a question set and a preference, and every command takes the result (Q-13, Q-15, C-12, C-13)."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from made_model import call, read_lines, run, write_gguf

from pkg.models.adapters import CARD
from pkg.models.model_options import ModelOptions
from pkg.models.prompt_batch import Conversation, write_all
from pkg.models.registry import open_model
from pkg.models.text_model import Decoding, Message

pytestmark = pytest.mark.tuning

SEVEN: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008,
    "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 32, "vocab_size": 32000,
    "max_position_embeddings": 4096, "rms_norm_eps": 1e-5, "tie_word_embeddings": False,
}  # fmt: skip
"""The configuration of Llama 2 7B."""


def read_card(folder: Path) -> dict[str, Any]:
    card: dict[str, Any] = json.loads((folder / CARD).read_text(encoding="utf-8"))
    return card


def write_answers(model: str, questions: list[str]) -> list[str]:
    with closing(open_model(model, ModelOptions(dtype="float32", device="cpu", threads=1))) as opened:
        prompts = [Conversation((Message("user", question),)) for question in questions]
        return [each.text for each in write_all(opened, prompts, Decoding(max_tokens=80))]


def test_the_loss_of_held_out_rows_falls(answering: Path) -> None:
    before, after = read_card(answering)["held_out_loss"]
    assert after < 0.85 * before


def test_pairs_that_were_held_out_are_told_apart(preferring: Path) -> None:
    lines = read_lines(preferring / "curves.jsonl")
    last = [line for line in lines if "held_out_accuracy" in line][-1]
    assert last["held_out_accuracy"] >= 0.7
    assert last["held_out_margin"] > 0.1
    assert lines[-1]["held_out_chosen_reward"] > lines[-1]["held_out_rejected_reward"]


def test_the_answers_move_the_preferred_way(answering: Path, preferring: Path, pairs: Path) -> None:
    questions = [pair["prompt"] for pair in read_lines(pairs)][:20]
    before = mean(map(len, write_answers(f"hf:{answering}", questions)))
    after = mean(map(len, write_answers(f"hf:{answering}+{preferring}", questions)))
    assert after < 0.8 * before


def test_the_result_has_curves_a_figure_and_a_card(answering: Path, preferring: Path, place: Path) -> None:
    for folder in (answering, preferring):
        assert "<svg" in (folder / "curves.svg").read_text()
        assert not folder.with_name(f".{folder.name}.part").exists()
    card = read_card(preferring)
    assert card["base"]["model"] == f"hf:{answering}"
    assert card["data"]["files"][0]["rows"] == len(read_lines(place / "pairs.jsonl"))
    assert card["run"]["recipe"]["learning_rate"] == 1e-3
    assert {"torch", "trl", "peft"} <= card["versions"].keys()
    first = read_lines(answering / "curves.jsonl")[1]
    assert {"step", "loss", "learning_rate"} <= first.keys()


def test_the_steps_are_those_of_the_estimate(place: Path, answering: Path, base: Path) -> None:
    files = (str(place / "rows.jsonl"), str(place / "meta.jsonl"))
    more = ("--set", "method=full", "--set", "epochs=6", "--dry-run")
    (estimate,) = run("tune", "sft", *files, "--model", f"hf:{base}", *more)
    card = read_card(answering)
    assert (estimate["steps"], estimate["tokens"]) == (card["steps"], card["data"]["tokens"])


def test_the_estimate_reads_no_weights(place: Path, base: Path, tmp_path: Path) -> None:
    shutil.copytree(base, tmp_path / "bare")
    (tmp_path / "bare" / "model.safetensors").unlink()
    (estimate,) = run("tune", "sft", str(place / "rows.jsonl"), "--model", f"hf:{tmp_path}/bare", "--dry-run")
    assert estimate["parameters"] == read_parameters(base)
    assert all(device["fits"] for device in estimate["devices"])


def test_a_dry_run_of_seven_billion_parameters_counts_them(
    place: Path, base: Path, pairs: Path, tmp_path: Path
) -> None:
    """The base is the configuration of Llama 2 7B with a tokenizer, without weights."""
    seven = tmp_path / "seven"
    shutil.copytree(base, seven, ignore=shutil.ignore_patterns("*.safetensors", "generation_config.json"))
    (seven / "config.json").write_text(json.dumps(SEVEN))
    for name, task, rows in (("spyder", "sft", place / "rows.jsonl"), ("ultrafeedback-dpo", "dpo", pairs)):
        words = ("tune", task, str(rows), "--model", f"hf:{seven}", "--recipe", name)
        (four_bits,) = run(*words, "--dry-run")
        (plain,) = run(*words, "--dry-run", "--set", "method=lora")
        assert (four_bits["parameters"], four_bits["trained"]) == (6_738_415_616, 159_907_840)
        assert [each["seconds"] is None for each in four_bits["devices"]] == [True, False, False, False]
        assert all(each["needed_bytes"] > 6_738_415_616 * 4 for each in plain["devices"] if each["is_here"])
        assert all(each["needed_bytes"] < 12 * 2**30 for each in four_bits["devices"])
        shown = call(*words, "--dry-run", "--no-json").output
        assert "on cpu it cannot run, because qlora needs a CUDA GPU" in " ".join(shown.split())
    for path in seven.glob("tokenizer*"):
        path.unlink()
    bare = call(*words, "--dry-run")
    assert (bare.exit_code, "it has no tokenizer; expected tokenizer.json" in bare.output) == (1, True)


def read_parameters(base: Path) -> int | None:
    with closing(open_model(f"hf:{base}", ModelOptions(device="cpu"))) as opened:
        return opened.parameters


def test_commands_take_the_tuned_model(place: Path, answering: Path, preferring: Path) -> None:
    store, model = f"sqlite:///{place}/graph.db", f"hf:{answering}+{preferring}"
    lines = run("query", "make orders", "--generate", "--model", model, "--store", store, "--max-tokens", "20")
    (answer,) = (line for line in lines if line["type"] == "answer")
    assert (answer["model"], bool(answer["text"])) == (model, True)
    asked = run("ask", "What is a kiosk?", "--model", model, "--store", store, "--budget", "60", "--max-tokens", "20")
    assert asked[-1]["model"] == model


def test_merged_weights_compute_as_base_and_adapter_do(answering: Path, preferring: Path, tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    from pkg.models.hf_model import load_weights

    run("tune", "merge", "--model", f"hf:{answering}+{preferring}", "--out", str(tmp_path / "merged"))
    adapted = load_weights(f"{answering}+{preferring}", "float32", False, "cpu")
    merged = AutoModelForCausalLM.from_pretrained(tmp_path / "merged", dtype=torch.float32)
    plain = AutoModelForCausalLM.from_pretrained(answering, dtype=torch.float32)
    ids = torch.tensor([adapted.tokenizer("What does the file `orders.py` import?")["input_ids"]])
    with torch.inference_mode():
        outputs = [model.eval()(ids).logits for model in (adapted.model, merged, plain)]
    assert (outputs[0] - outputs[1]).abs().max() < 1e-4
    assert (outputs[0] - outputs[2]).abs().max() > 1e-2


def test_an_adapter_is_tuned_on_top_of_an_adapter(place: Path, answering: Path, preferring: Path) -> None:
    model, out = f"hf:{answering}+{preferring}", place / "third"
    run("tune", "sft", str(place / "rows.jsonl"), "--model", model, "--out", str(out), "--set", "max_steps=1")
    assert write_answers(f"{model}+{out}", ["What does the file `orders.py` import?"])[0]
    refused = call(
        "query", "orders", "--generate", "--model", f"hf:{answering}+{out}", "--store", f"sqlite:///{place}/graph.db"
    )
    assert (refused.exit_code, "belongs to another base" in refused.output) == (1, True)


def test_a_model_in_a_gguf_file_is_tuned(place: Path, base: Path, tmp_path: Path) -> None:
    import torch

    from pkg.models.hf_model import load_weights

    file = write_gguf(base, tmp_path / "made.gguf")
    folder, read = (load_weights(str(path), "float32", False, "cpu") for path in (base, file))
    text = "What does the file `orders.py` import?"
    ids, same = (each.tokenizer(text)["input_ids"] for each in (folder, read))
    assert ids == same
    with torch.inference_mode():
        outputs = [each.model.eval()(torch.tensor([ids])).logits for each in (folder, read)]
    assert (outputs[0] - outputs[1]).abs().max() < 1e-4
    words = ("tune", "sft", str(place / "rows.jsonl"), "--model", f"hf:{file}", "--out", str(tmp_path / "tuned"))
    *_, tuned = run(*words, "--set", "max_steps=2")
    assert (tuned["steps"], tuned["model"]) == (2, f"hf:{file}+{tmp_path}/tuned")
    assert write_answers(tuned["model"], [text])


@pytest.mark.parametrize("name", ["spyder", "ultrafeedback-sft", "ultrafeedback-dpo"])
def test_the_recipes_of_the_papers_make_a_step(name: str, place: Path, base: Path, pairs: Path, tmp_path: Path) -> None:
    """On a small model with the adapter in float32, because 4 bits need a GPU."""
    task, rows = ("dpo", pairs) if name.endswith("dpo") else ("sft", place / "rows.jsonl")
    words = ("tune", task, str(rows), "--model", f"hf:{base}", "--recipe", name)
    (estimate,) = run(*words, "--dry-run")
    assert estimate["devices"][0]["seconds"] is None
    refused = call(*words, "--out", str(tmp_path / "out"))
    assert (refused.exit_code, "would run here: --set method=lora" in refused.output) == (1, True)
    changes = ("--set", "method=lora", "--set", "max_steps=1", "--set", "held_out=0", "--set", "batch=4")
    *_, tuned = run(*words, "--out", str(tmp_path / "out"), *changes)
    assert tuned["steps"] == 1


def test_bad_input_is_an_error_without_a_result(place: Path, base: Path, tmp_path: Path) -> None:
    out, rows = tmp_path / "out", str(place / "rows.jsonl")
    shutil.copytree(base, tmp_path / "bare")
    (tmp_path / "bare" / "chat_template.jinja").unlink()
    cases = [
        ((rows, "--model", f"hf:{tmp_path}/bare"), 1, "has no chat template"),
        ((rows, "--model", f"hf:{base}", "--set", "max_length=8"), 1, "rows are longer than the recipe allows"),
        ((rows, "--model", "hf:owner/none"), 1, "fetch it once: hf download owner/none"),
        ((rows, "--model", f"hf:{tmp_path}/none"), 1, "no model in"),
        ((rows, "--model", f"hf:{base}+{tmp_path}/none"), 1, "no adapter in"),
        (
            (rows, "--model", f"hf:{base}", "--set", "targets=nothing"),
            1,
            "no layer of the recipe's targets (nothing)",
        ),
    ]
    for words, code, message in cases:
        done = call("tune", "sft", *words, "--out", str(out))
        assert (done.exit_code, message in done.output) == (code, True), done.output
        assert not out.exists()


def test_too_little_memory_is_refused_before_the_start(
    place: Path, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pkg.lab.tuning.tuning_run.find_free_memory", lambda torch, device: 1 << 20)
    words = ("tune", "sft", str(place / "rows.jsonl"), "--model", f"hf:{base}", "--out", str(tmp_path / "out"))
    done = call(*words)
    assert (done.exit_code, "GiB on cpu, of which 0.0 are free; try" in done.output) == (1, True)
    assert list(tmp_path.iterdir()) == []
