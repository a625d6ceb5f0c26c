"""Pairs of a better and a worse answer from annotation records, and instructions held out for the bench (C-14, C-16).

The highest and the lowest rated answer of a record form a pair; the seed draws among equal ones. Equal ratings form no
pair (A-35). Answers that are cut or whose rating could not be read are in none. Held-out instructions are those with
the smallest hashes, so a later run with more records never moves one of its training instructions into the bench, and
those of an existing bench remain in it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from pkg.errors import InputError
from pkg.lab.datasets.dataset_rows import Row, StepCounts, hash_words
from pkg.lab.judge.items import ReadRows, parse_item, parse_rows, show_value
from pkg.lab.judge.judge_tasks import PREFERENCES

PAIRS, BENCH = "pairs", "bench"
ONE_ANSWER, CUT = "one answer alone", "fewer than two answers that are not cut"
UNREAD, EQUAL = "fewer than two ratings that could be read", "equal ratings"
DUPLICATE = "the same pair as an earlier record"
SAME_TEXT, HELD_OUT = "the same text as better and worse answer", "an instruction of the bench"
MIN_ANSWERS = 2


@dataclass(frozen=True, slots=True)
class RatedAnswer:
    """The answer of a model, with its rating; None for an unread one."""

    model: str
    text: str
    rating: float | None
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class AnnotatedRecord:
    """An instruction with the rated answers of its models (C-07)."""

    id: str
    instruction: str
    preference: str
    answers: tuple[RatedAnswer, ...]
    row: Row

    @property
    def instruction_hash(self) -> str:
        """Return a hash of the words of the instruction, by which it is held out."""
        return hash_instruction(self.instruction)


def hash_instruction(instruction: str) -> str:
    """Return a hash of the words of an instruction, whatever the space between them."""
    return hash_words("instruction", " ".join(instruction.split()))


def read_records(lines: Iterable[str]) -> ReadRows[AnnotatedRecord]:
    """Read the records of `pkg judge annotate`; invalid ones are returned with the reason."""
    return parse_rows(lines, parse_record, lambda record: (record.id, record.preference))


def parse_record(row: Any) -> AnnotatedRecord:
    """Parse a record; raises ValueError if it has no annotations, or none of a preference."""
    item = parse_item(row)
    annotations = row.get("annotations")
    if not (isinstance(annotations, list) and all(isinstance(each, dict) for each in annotations)):
        raise ValueError(
            f"'annotations' is {show_value(annotations)}; expected a list of model and rating, as written by"
            " pkg judge annotate --records"
        )
    _check_preference(item.preference)
    ratings = {str(each.get("model")): _parse_rating(each.get("rating")) for each in annotations}
    answers = tuple(
        RatedAnswer(model, text.strip(), ratings.get(model), model in item.truncated)
        for model, text in item.answers.items()
    )
    return AnnotatedRecord(item.id, item.question, item.preference, answers, row)


def _check_preference(name: str) -> None:
    if name not in PREFERENCES:
        raise ValueError(f"the preference is {show_value(name)}; expected one of {', '.join(PREFERENCES)}")


def _parse_rating(value: object) -> float | None:
    """Parse a rating from 1 to 5, also in quotes as in the published data set; None for an unread one."""
    if isinstance(value, str) and value.strip().isdigit():
        value = int(value)
    if value is None or isinstance(value, str):
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= 5:
        raise ValueError(f"a rating is {show_value(value)}; expected 1 to 5, or null")
    return value


def choose_bench(records: Sequence[AnnotatedRecord], count: int, known: Sequence[Row] = ()) -> list[Row]:
    """Return the rows of the bench: the known ones, and more up to `count` instructions of each preference.

    The instructions with the smallest hashes are taken.
    """
    rows = list(known)
    taken = {hash_instruction(str(row["instruction"])) for row in known}
    held = Counter(str(row["preference"]) for row in known)
    by_preference: dict[str, dict[str, AnnotatedRecord]] = defaultdict(dict)
    for record in records:
        by_preference[record.preference].setdefault(record.instruction_hash, record)
    for preference in sorted(by_preference):
        waiting = sorted(name for name in by_preference[preference] if name not in taken)
        chosen = waiting[: max(0, count - held[preference])]
        rows += [_make_bench_row(by_preference[preference][name]) for name in chosen]
    return rows


def _make_bench_row(record: AnnotatedRecord) -> Row:
    """Return a row of the bench, whose id depends on the instruction and the preference alone."""
    names = ("models", "responses", "annotations")
    kept: Row = {name: record.row[name] for name in names if name in record.row}
    return {
        "id": hash_words(BENCH, record.preference, record.instruction_hash),
        "instruction": record.instruction,
        "preference": record.preference,
        **kept,
        "source": record.id,
        "step": BENCH,
    }


def list_held_out(bench: Iterable[Row]) -> set[str]:
    """Return the hashes of the instructions of a bench."""
    return {hash_instruction(str(row["instruction"])) for row in bench}


def check_bench_row(row: Any) -> Row:
    """Return a row of a bench; raises ValueError if it is none."""
    item = parse_item(row)
    _check_preference(item.preference)
    return {**row, "id": item.id, "instruction": item.question, "preference": item.preference}


def read_bench(lines: Iterable[str], name: str) -> list[Row]:
    """Read the rows of a bench; raises InputError for an invalid one, because a lost row would join the training."""
    found = parse_rows(lines, check_bench_row, lambda row: row["id"])
    if found.bad:
        raise InputError(f"{name}, {found.bad[0]}; expected the bench of pkg data pairs --hold-out")
    return list(found.items)


def make_pairs(
    records: Iterable[AnnotatedRecord], held_out: Collection[str], seed: int, counts: StepCounts
) -> Iterator[Row]:
    """Yield a pair of each record that has one; the others are counted by reason.

    held_out: hashes of the instructions of the bench.
    """
    made: set[str] = set()
    for record in records:
        counts.taken += 1
        if record.instruction_hash in held_out:
            counts.drop(HELD_OUT)
            continue
        found = _make_pair(record, seed)
        if isinstance(found, str):
            counts.drop(found)
            continue
        if found["id"] in made:
            counts.drop(DUPLICATE)
            continue
        made.add(str(found["id"]))
        counts.written += 1
        yield found


def _make_pair(record: AnnotatedRecord, seed: int) -> Row | str:
    """Return the pair of a record, or the reason why there is none."""
    whole = [each for each in record.answers if not each.is_cut and each.text]
    rated = [(each.rating, each) for each in whole if each.rating is not None]
    if len(record.answers) < MIN_ANSWERS:
        return ONE_ANSWER
    if len(whole) < MIN_ANSWERS:
        return CUT
    if len(rated) < MIN_ANSWERS:
        return UNREAD
    high, low = max(rating for rating, _ in rated), min(rating for rating, _ in rated)
    if high == low:
        return EQUAL
    draw = Random(f"{seed}:{record.id}:{record.preference}")
    chosen = draw.choice([each for rating, each in rated if rating == high])
    rejected = draw.choice([each for rating, each in rated if rating == low])
    if chosen.text == rejected.text:
        return SAME_TEXT
    return {
        "id": hash_words(PAIRS, record.preference, record.instruction, chosen.text, rejected.text),
        "prompt": [{"role": "user", "content": record.instruction}],
        "chosen": [{"role": "assistant", "content": chosen.text}],
        "rejected": [{"role": "assistant", "content": rejected.text}],
        "preference": record.preference,
        "models": {"chosen": chosen.model, "rejected": rejected.model},
        "ratings": {"chosen": high, "rejected": low},
        "source": record.id,
    }


def count_left_out(records: Iterable[AnnotatedRecord]) -> dict[str, int]:
    """Count the answers that no pair can hold: cut or empty ones, and ones without a rating."""
    answers = [each for record in records for each in record.answers]
    cut = sum(each.is_cut or not each.text for each in answers)
    unread = sum(each.rating is None for each in answers if not each.is_cut and each.text)
    return {"cut": cut, "unread": unread}
