"""Rows to tune on: questions with answers, or pairs of a preferred and a refused answer, and their split (C-12).

A question is either trained on or held out, with all its rows. The choice depends on its text and the seed alone.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pkg.errors import InputError, PathError, shorten
from pkg.lab.tuning.recipes import Recipe, Task

Turn = dict[str, str]  # role and content

ANSWERED = (("question", "answer"), ("instruction", "output"), ("instruction", "response"))
"""Names of the question and of the answer in rows to train on."""

EXPECTED = {
    "sft": "rows with question and answer, or instruction and output, as pkg data curate, dependencies and meta write",
    "dpo": "rows with prompt, chosen and rejected, as pkg data pairs writes",
}
_SHOWN = 80  # characters of an invalid line


@dataclass(frozen=True, slots=True)
class Example:
    """A conversation that ends with a question, and its answers: one, or the preferred before the refused one."""

    prompt: tuple[Turn, ...]
    answers: tuple[str, ...]

    def list_turns(self, answer: int) -> list[Turn]:
        """Return the whole conversation with one of the answers."""
        return [*self.prompt, {"role": "assistant", "content": self.answers[answer]}]

    def make_record(self) -> dict[str, list[Turn]]:
        """Return the conversational record that TRL reads."""
        answers = [[{"role": "assistant", "content": answer}] for answer in self.answers]
        names = ("completion",) if len(answers) == 1 else ("chosen", "rejected")
        return {"prompt": list(self.prompt), **dict(zip(names, answers, strict=True))}


class DataFile(NamedTuple):
    """A file of rows, with the hash of its content."""

    name: str
    sha256: str
    rows: int


@dataclass(slots=True)
class TuningRows:
    """Examples to train on and to hold out, and the number of rows left out by reason."""

    train: list[Example]
    held_out: list[Example]
    files: list[DataFile]
    left_out: Counter[str] = field(default_factory=Counter)


def read_tuning_rows(paths: Sequence[str], task: Task, recipe: Recipe) -> TuningRows:
    """Read and split the rows of files; raises PathError for a missing file and InputError for invalid rows."""
    files: list[DataFile] = []
    left_out: Counter[str] = Counter()
    examples: dict[Any, Example] = {}
    for path in paths:
        text = _read_file(path, task)
        count = 0
        for row in _parse_lines(text, path, task):
            count += 1
            example = _read_example(row, task, recipe.system, path, count)
            if isinstance(example, str):
                left_out[example] += 1
            elif examples.setdefault(_hash(example), example) is not example:
                left_out["same as an earlier row"] += 1
        files.append(DataFile(Path(path).name, hashlib.sha256(text.encode()).hexdigest(), count))
    train, held_out = split_examples(list(examples.values()), recipe.held_out, recipe.seed)
    if not train:
        raise InputError(f"no rows to train on in {', '.join(paths)} ({_tell(left_out)}); expected {EXPECTED[task]}")
    return TuningRows(train, held_out, files, left_out)


def split_examples(examples: Sequence[Example], share: float, seed: int) -> tuple[list[Example], list[Example]]:
    """Return the examples to train on and those to hold out, in their order; equal questions stay together."""
    ranked = sorted({_hash_prompt(each, seed) for each in examples})
    count = min(max(1, round(share * len(ranked))), len(ranked) - 1) if share else 0
    held = set(ranked[: max(0, count)])
    train = [each for each in examples if _hash_prompt(each, seed) not in held]
    return train, [each for each in examples if _hash_prompt(each, seed) in held]


def _read_file(path: str, task: Task) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise PathError(f"cannot read {path}: {fault}; expected {EXPECTED[task]}, as JSON lines") from None


def _parse_lines(text: str, path: str, task: Task) -> Iterator[Mapping[str, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict):
            shown = shorten(line, _SHOWN)
            raise InputError(f"{path}, line {number}: {shown!r} is no JSON object; expected {EXPECTED[task]}")
        yield row


def _read_example(row: Mapping[str, Any], task: Task, system: str, path: str, number: int) -> Example | str:
    """Return the example of a row, or the reason to leave it out; raises InputError for a row of another kind."""
    found = _read_pair(row) if task == "dpo" else _read_answered(row)
    if found is None:
        raise InputError(f"{path}, row {number} has {', '.join(sorted(row)) or 'nothing'}; expected {EXPECTED[task]}")
    prompt, answers = found
    if not prompt or not prompt[-1]["content"].strip():
        return "no question"
    if not all(answer.strip() for answer in answers):
        return "no answer" if task == "sft" else "one answer alone"
    if task == "dpo" and answers[0] == answers[1]:
        return "equal answers"
    if task == "dpo" and _has_equal_ratings(row.get("ratings")):
        return "equal ratings"
    if "length" in (row.get("finish"), row.get("finish_reason")):
        return "cut answer"
    begun: Iterable[Turn] = [{"role": "system", "content": system}] if system and prompt[0]["role"] != "system" else []
    return Example((*begun, *prompt), answers)


def _read_answered(row: Mapping[str, Any]) -> tuple[tuple[Turn, ...], tuple[str, ...]] | None:
    for question, answer in ANSWERED:
        if isinstance(row.get(question), str) and isinstance(row.get(answer), str):
            more = row.get("input")
            text = f"{row[question]}\n\n{more}" if isinstance(more, str) and more.strip() else row[question]
            return ({"role": "user", "content": text},), (row[answer],)
    return None


def _read_pair(row: Mapping[str, Any]) -> tuple[tuple[Turn, ...], tuple[str, ...]] | None:
    if "prompt" not in row or not {"chosen", "rejected"} & row.keys():
        return None
    prompt = _read_turns(row["prompt"], "user")
    answers = [_read_turns(row.get(name) or [], "assistant") for name in ("chosen", "rejected")]
    if prompt is None or None in answers:
        return None
    return prompt, tuple("".join(turn["content"] for turn in answer or ()) for answer in answers)


def _read_turns(value: Any, role: str) -> tuple[Turn, ...] | None:
    """Return the turns of a text or a list of messages; None for anything else."""
    if isinstance(value, str):
        return ({"role": role, "content": value},)
    if not isinstance(value, list):
        return None
    turns = [each for each in value if isinstance(each, dict)]
    texts = [each.get(key) for each in turns for key in ("role", "content")]
    if len(turns) < len(value) or not all(isinstance(text, str) for text in texts):
        return None
    return tuple({"role": each["role"], "content": each["content"]} for each in turns)


def _has_equal_ratings(ratings: Any) -> bool:
    values = list(ratings.values()) if isinstance(ratings, dict) else ratings
    return isinstance(values, list) and len(values) == 2 and values[0] == values[1]


def _hash(example: Example) -> str:
    written = json.dumps([example.prompt, example.answers], ensure_ascii=False)
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()


def _hash_prompt(example: Example, seed: int) -> str:
    written = json.dumps([seed, example.prompt], ensure_ascii=False)
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()


def _tell(left_out: Counter[str]) -> str:
    return ", ".join(f"{count:,} {reason}" for reason, count in left_out.most_common()) or "0 rows"
