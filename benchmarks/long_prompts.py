"""Compare three ways to answer from long prompts: full attention, attention to the nearest keys, and packing.

    python benchmarks/long_prompts.py --model hf:FILE.gguf --data FOLDER

Measures CPU-seconds and memory of a prompt by its length, on four layers of the model's shape with random weights;
whether a number is found by its depth in a prompt; and right answers a second to questions of CoNaLa, of which FOLDER
has `conala/test.jsonl.gz`. Needs the extra hf. The model of the result file is SmolLM2-135M-Instruct, as in tuning.py.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from measure import Figures, open_folder, run_process, write_result

LENGTHS = (2048, 4096, 8192, 16384)
NEAREST = 64
SHAPE = {"hidden_size": 576, "intermediate_size": 1536, "num_attention_heads": 9, "num_key_value_heads": 3}  # SmolLM2
LAYERS = 4  # half of them with the nearest keys, as by default
SEED = 0

NEEDLE_TOKENS = (512, 1024)
DEPTHS = (0.1, 0.5, 0.9)
TOWNS = (
    "Arlen",
    "Bexley",
    "Corwen",
    "Dunmore",
    "Elstow",
    "Farway",
    "Garton",
    "Hexham",
    "Ilford",
    "Kelso",
    "Louth",
    "Melton",
)

DOCUMENTS = 24  # about 1,000 tokens, so that a run takes minutes on one processor
QUESTIONS = 8
BUDGET = 256  # tokens of the packed documents
ANSWER_TOKENS = 40


def measure_prompt(length: int, nearest: int) -> Figures:
    """Read one prompt of random tokens; return the CPU-seconds. nearest: 0 for full attention."""
    import torch
    import transformers

    from pkg.lab.unlimited.nearest_attention import set_nearest_attention

    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    config = transformers.LlamaConfig(
        vocab_size=1000, num_hidden_layers=LAYERS, max_position_embeddings=length, **SHAPE
    )
    model = transformers.LlamaForCausalLM(config).eval()
    if nearest:
        set_nearest_attention(model, nearest, LAYERS // 2)
    ids = torch.randint(0, 1000, (1, length))
    with torch.inference_mode():
        began = time.process_time()
        model(input_ids=ids, logits_to_keep=1, use_cache=False)
    return {"cpu": time.process_time() - began}


def measure_costs(work: Path) -> Iterator[Figures]:
    """Yield cost and peak memory by length and attention, each in a process of its own."""
    for length in (16, *LENGTHS):
        for nearest in (0, NEAREST):
            words = [sys.executable, __file__, "--prompt", str(length), "--nearest", str(nearest)]
            run = run_process(words, work)
            cpu = json.loads(run.output.splitlines()[-1])["cpu"]
            yield {"tokens": length, "nearest": nearest, "cpu": round(cpu, 2), "megabytes": round(run.memory)}


def open_all(name: str) -> dict[str, Any]:
    """Open the model with each attention."""
    from pkg.lab.unlimited.unlimited_model import open_unlimited
    from pkg.models.model_options import ModelOptions
    from pkg.models.registry import open_model

    full = open_model(name, ModelOptions(threads=1))
    return {"full": full, f"nearest {NEAREST}": open_unlimited(name, NEAREST)}


def ask(model: Any, text: str) -> tuple[str, float]:
    """Return the answer to a message, and the CPU-seconds."""
    from pkg.models.text_model import Decoding, Message

    began = time.process_time()
    written = model.chat([Message("user", text)], Decoding(ANSWER_TOKENS)).text
    return written, time.process_time() - began


def find_needles(models: dict[str, Any]) -> Iterator[Figures]:
    """Yield whether each model finds a number by the length of the prompt and its depth."""
    count = models["full"].count_tokens
    for tokens in NEEDLE_TOKENS:
        lines: list[str] = []
        while count("\n".join(lines)) < tokens:
            number = len(lines)
            lines.append(f"{TOWNS[number % 12]} lies {17 + 7 * number} miles from {TOWNS[(5 * number + 1) % 12]}.")
        for depth in DEPTHS:
            place = int(depth * len(lines))
            shown = [*lines[:place], "The secret number is 48213.", *lines[place:]]
            text = "\n".join((*shown, "", "What is the secret number?"))
            for name, model in models.items():
                answer, cpu = ask(model, text)
                row = {"tokens": tokens, "depth": depth, "attention": name}
                yield {**row, "found": "48213" in answer, "cpu": round(cpu, 1)}


def answer_questions(models: dict[str, Any], data: str) -> Iterator[Figures]:
    """Yield right answers and CPU-seconds: packed documents by full attention, and all documents by each attention."""
    from pkg.encode.registry import load_encoder
    from pkg.lab.evaluation.documents.document_index import DocumentIndex
    from pkg.lab.evaluation.documents.document_rows import read_documents

    path = f"{data}/conala/test.jsonl.gz"
    documents = read_documents([path]).documents[:DOCUMENTS]
    asked = read_questions(path)[: DOCUMENTS : DOCUMENTS // QUESTIONS]
    index, count = DocumentIndex(documents, load_encoder("static")), models["full"].count_tokens

    def pack(question: str) -> list[str]:
        texts: list[str] = []
        for document, _ in index.search(question, DOCUMENTS):
            if count("\n\n".join((*texts, document.text))) > BUDGET:
                break
            texts.append(document.text)
        return texts[::-1]  # the best one directly above the question

    every = [document.text for document in documents]
    conditions = {
        "packed": (models["full"], pack),
        **{name: (model, lambda _: every) for name, model in models.items()},
    }
    for name, (model, choose) in conditions.items():
        right, spent, tokens = 0, 0.0, 0
        for question, snippet in asked:
            began = time.process_time()
            text = "\n\n".join((*choose(question), f"Write one line of Python: {question}"))
            spent += time.process_time() - began
            answer, cpu = ask(model, text)
            right += "".join(snippet.split()) in "".join(answer.split())
            spent, tokens = spent + cpu, tokens + count(text)
        yield {
            "prompt": name, "questions": len(asked), "right": right, "cpu": round(spent, 1),
            "tokens": tokens // len(asked), "right_per_minute": round(60 * right / spent, 2),
        }  # fmt: skip


def read_questions(path: str) -> list[tuple[str, str]]:
    """Return the original question and the snippet of each row; the documents have the rewritten question."""
    import gzip

    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [(row["intent"], row["snippet"]) for row in rows]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure one prompt, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model")
    parser.add_argument("--data")
    parser.add_argument("--prompt", type=int, help="measure one prompt of this length")
    parser.add_argument("--nearest", type=int, default=0, help="keys of each head for it; 0 for all")
    options = parser.parse_args(arguments)
    if options.prompt:
        print(json.dumps(measure_prompt(options.prompt, options.nearest)))
        return
    figures: Figures = {"nearest": NEAREST, "layers": LAYERS, **SHAPE}
    with open_folder(None) as (_, work):  # before the model is loaded: the peak includes the starting process
        figures["costs"] = list(measure_costs(work))
    write_result("long_prompts", figures)
    models = open_all(options.model)
    figures["questions"] = list(answer_questions(models, options.data))
    write_result("long_prompts", figures)
    figures["needles"] = list(find_needles(models))
    write_result("long_prompts", figures)


if __name__ == "__main__":
    main()
