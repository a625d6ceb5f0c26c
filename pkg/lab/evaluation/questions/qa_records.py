"""The files of an evaluation of questions; one that was cut off goes on there.

`run.json` says what the run is of, and refuses another; `answers.jsonl` has a line for each question and system.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pkg.errors import InputError, PathError
from pkg.lab.evaluation.code.run_folder import RUN, VERSION, append_line, check_head, read_lines
from pkg.lab.evaluation.questions.qa_items import QaItem
from pkg.lab.judge.items import Excerpt, JudgedItem

ANSWERS, JUDGEMENTS, PAGE = "answers.jsonl", "judgements.jsonl", "answers.html"


@dataclass(frozen=True, slots=True)
class QaRecord:
    """What one system did with one question."""

    id: str
    system: str
    type: str
    rank: int | None  # of the right file among those of the evidence, from 1 on; None where it is not among them
    has_gold: bool  # whether the right file is known and in the graph
    fits: bool | None = None
    pieces: int = 0
    text: str = ""  # of the answer; "" without a model
    is_refused: bool = False
    reason: str = ""
    statements: int = 0
    supported: int = 0  # statements that a piece of evidence says
    citations: int = 0  # that the model wrote
    wrong: int = 0  # of these
    cites_gold: bool = False  # whether a citation that holds leads to the right file
    evidence: tuple[Mapping[str, Any], ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0

    @property
    def key(self) -> tuple[str, str]:
        """Tell it from every other record of the run."""
        return self.system, self.id


class QaFolder:
    """A folder that holds one evaluation, or nothing at all where none is named."""

    def __init__(self, path: Path | None, head: Mapping[str, Any]) -> None:
        """Open a run, or begin one; a UsageError where the folder holds another, a PathError where it cannot be."""
        self.path = path
        self.records: dict[tuple[str, str], QaRecord] = {}
        if path is None:
            return
        wanted = json.loads(json.dumps({"version": VERSION, "benchmark": "qa", **head}))
        try:
            path.mkdir(parents=True, exist_ok=True)
            if (path / RUN).exists():
                check_head(path, wanted)
            else:
                (path / RUN).write_text(json.dumps(wanted, indent=1) + "\n", encoding="utf-8")
        except OSError as fault:
            raise PathError(f"cannot write into the folder {path}: {fault.strerror}") from None
        self.records = {record.key: record for record in read_qa_records(path)}

    def add(self, record: QaRecord) -> None:
        """Keep a record."""
        self.records[record.key] = record
        if self.path is not None:
            append_line(self.path / ANSWERS, asdict(record))


def read_qa_records(path: Path) -> Iterator[QaRecord]:
    """Read the records of a run; an InputError for a line that is none."""
    for row in read_lines(path / ANSWERS):
        try:
            yield QaRecord(**{**row, "evidence": tuple(row.get("evidence", ()))})
        except TypeError as fault:
            raise InputError(f"a line of {path / ANSWERS} is no record ({fault}); delete it") from None


def make_judged(
    items: Iterable[QaItem], records: Mapping[tuple[str, str], QaRecord], systems: Sequence[str]
) -> list[JudgedItem]:
    """Put the answers of all systems to a question beside each other, with the evidence of the first that has any."""
    judged = []
    for each in items:
        found = [records[system, each.item.id] for system in systems if (system, each.item.id) in records]
        answers = {record.system: record.text for record in found if record.text}
        shown = next((record.evidence for record in found if record.evidence), ())
        item = each.item
        judged.append(
            JudgedItem(
                item.id, item.question, answers, item.reference, item.tests, item.preference, item.type,
                tuple(Excerpt(row["path"], row["start_line"], row["end_line"], row["content"]) for row in shown),
            )
        )  # fmt: skip
    return judged
