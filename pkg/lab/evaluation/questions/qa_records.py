"""The files of an evaluation of questions, which can be resumed after an interruption.

`run.json` identifies the run; `answers.jsonl` has a line for each question and system.
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
    """The result of one system for one question."""

    id: str
    system: str
    type: str
    rank: int | None  # of the right file among those of the evidence, from 1; None if absent
    has_gold: bool  # whether the right file is known and in the graph
    fits: bool | None = None
    pieces: int = 0
    text: str = ""  # of the answer; "" without a model
    is_refused: bool = False
    reason: str = ""
    statements: int = 0
    supported: int = 0  # statements that a piece of evidence supports
    citations: int = 0  # written by the model
    wrong: int = 0  # wrong ones among the citations
    cites_gold: bool = False  # whether a valid citation leads to the right file
    evidence: tuple[Mapping[str, Any], ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0

    @property
    def key(self) -> tuple[str, str]:
        """Return the key of the record in its run."""
        return self.system, self.id


class QaFolder:
    """The folder of an evaluation; without a path nothing is stored."""

    def __init__(self, path: Path | None, head: Mapping[str, Any]) -> None:
        """Open or create a run; raises UsageError if the folder holds another one, PathError if writing fails."""
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
        """Store a record."""
        self.records[record.key] = record
        if self.path is not None:
            append_line(self.path / ANSWERS, asdict(record))


def read_qa_records(path: Path) -> Iterator[QaRecord]:
    """Yield the records of a run; raises InputError for an invalid line."""
    for row in read_lines(path / ANSWERS):
        try:
            yield QaRecord(**{**row, "evidence": tuple(row.get("evidence", ()))})
        except TypeError as fault:
            raise InputError(f"a line of {path / ANSWERS} is no record ({fault}); delete it") from None


def make_judged(
    items: Iterable[QaItem], records: Mapping[tuple[str, str], QaRecord], systems: Sequence[str]
) -> list[JudgedItem]:
    """Combine the answers of all systems by question, with the evidence of the first system that has any."""
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
