"""Find the shared corpora and questions in the user's data folder, and check that they are the pinned ones."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packages import check_hash

CORPORA = {
    "corpus/30_seconds_of_python.jsonl.gz": "37cd305e2d4ac166fbf3f00ab2a5f704b5b006b7fe36611595e74af4aa4ad71a",
    "corpus/exercism_python.jsonl.gz": "8803c4c57ac7ba427134fb656028b74ea0f6079271de74bfb3c1ec7d0eea2d6e",
    "corpus/geekcomputers_functions.jsonl.gz": "cd988012f6f1818fa091151569c69cd5ea69c965d054992807221bfe7d47733f",
    "corpus/kamyu104_leetcode_functions.jsonl.gz": "1d5d7b2df28d0c77f80246f526629c3f3d07654f60439b82cc5df1d7949dba0f",
    "corpus/keon_algorithms_functions.jsonl.gz": "1f26ab5a0c7d57c8619848f5e18bbcf43d50623108f3e264eb47a73dea646482",
    "corpus/learn_python_functions.jsonl.gz": "3c53eea13bf72bd7a7bb12fc5cdefc5781907619317320d5cb802322e977914a",
    "corpus/thealgorithms_functions.jsonl.gz": "b8deea5648c42cdd155fa54b4357ffce2fd849e236cba5c4168b37e78f246f08",
}
COSQA = {"cosqa/corpus.jsonl.gz": "80310cfd07558935c7f0a4bcca673f0f487519cea9deeb915adf189d0223bdc5"}
COSQA_QUESTIONS = {
    "cosqa/queries.jsonl": "54b25b7e170ba255fc626fb92a12ca7004d301684f7ce5c9b065e0b16239389a",
    "cosqa/qrels.tsv": "50a74d0418d322e0975bcc40ec4130d49af5e3eb8fae637a6dc00ebd8de55155",
}
CONALA = {"conala/test.jsonl.gz": "5ead3c1db8317db286258e45afca8a54734251cb480260adb91a97008b1e424c"}
PYCG = {"pycg/micro_benchmark_icse21.jsonl.gz": "69615eb9c7f2bf5473c25fba603d311935980329b2ce7b47917950e2035fc2d2"}
QUESTIONS = {
    "humaneval/humaneval.jsonl.gz": "ee991eb1dbd5a6e54ebaf588a452cd1d432147c8444ed84aeae7d305876f7469",
    "mbpp/mbpp.jsonl.gz": "ef95064f9ff56085033ec44344740ff1d57626997823b42f55430e9180815e57",
}

SPYDER_QUESTIONS = {
    "spydercodeqa/spydercodeqa_dev.jsonl": "73c2c3431793ed974d6aefb44a2ca8a2164d19005e3721689258b775a1a13ba2"
}
LOCALISE = {"localise/dev.jsonl": "740144b743182d40b1fdd7cf07bcf8d442c53f5f1940fb037c6e03970ce49e4d"}


def find_files(data: Path, pinned: dict[str, str]) -> list[Path]:
    """Return the paths of some pinned files."""
    paths = [data.resolve() / name for name in pinned]
    for path, sha256 in zip(paths, pinned.values(), strict=True):
        check_hash(path, sha256)
    return paths


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a compressed JSON lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def read_questions(data: Path) -> list[str]:
    """Return all HumanEval prompts, then all MBPP texts, as questions (A-07)."""
    humaneval, mbpp = find_files(data, QUESTIONS)
    return [row["prompt"] for row in read_rows(humaneval)] + [row["text"] for row in read_rows(mbpp)]
