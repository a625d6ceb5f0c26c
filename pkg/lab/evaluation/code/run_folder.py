"""The files of a run: what was asked for, what was found, written and judged; a run that was cut off goes on there.

`run.json` says what the run is of, and refuses another; `records.jsonl` has a line for each answer with its verdict and
with `tasks.jsonl` (the topic of each task) and `costs.json` (what the graph cost) makes every figure; `contexts.jsonl`
and `generations.jsonl` hold code that was found and texts of the model.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pkg.errors import InputError, PathError, UsageError
from pkg.lab.evaluation.code.benchmark_items import TaskFacts
from pkg.local_errors import INTERNAL
from pkg.quoting.hidden_characters import escape_json

VERSION = 1  # of the files of a run
RUN, RECORDS, CONTEXTS, GENERATIONS = "run.json", "records.jsonl", "contexts.jsonl", "generations.jsonl"
TASKS, COSTS = "tasks.jsonl", "costs.json"


@dataclass(frozen=True, slots=True)
class Record:
    """One answer to one item: how it came about, and how the hidden tests end."""

    column: str
    item: str
    sample: int
    passed: bool
    error: str  # class of what fails (P-33); "" where all pass
    detail: str = ""
    form: str = ""
    leaks: tuple[str, ...] | None = None  # tasks that the shown code gives away, with how; None where nobody looked
    shown: tuple[str, ...] = ()  # places of the code that the prompt shows
    linked: tuple[str, ...] = ()  # places of helpers that were put into the answer
    score: float | None = None  # of the best hit
    fits: bool | None = None
    signals: Mapping[str, float] = field(default_factory=dict)  # of whether what is shown will help
    is_shown_right: bool | None = None  # whether what the task shows holds; None where it shows nothing
    attempts: int = 1  # answers that led to this one, each told what those before had failed
    chosen: str = ""  # the column whose answer was chosen
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0  # of the model
    retrieval_seconds: float = (
        0.0  # until the code that is shown was found; what is made ready once counts for the first
    )
    is_cut: bool = False
    code: str = ""

    @property
    def is_lost(self) -> bool:
        """Return whether an internal error has cost the answer; that says nothing of the model."""
        return self.detail.startswith(INTERNAL)

    @property
    def key(self) -> tuple[str, str, int]:
        """Tell it from every other record of the run."""
        return self.column, self.item, self.sample


class RunFolder:
    """A folder that holds one run; lines are added as they are done, and one that was cut off is dropped."""

    def __init__(self, path: Path, head: dict[str, Any]) -> None:
        """Open a run, or begin one; a UsageError where the folder holds another one."""
        self.path = path
        self.head = json.loads(json.dumps({"version": VERSION, **head}))
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise PathError(f"cannot make the folder {path}: {fault.strerror}") from None
        if (path / RUN).exists():
            check_head(path, self.head)
        elif any((path / name).exists() for name in (RECORDS, CONTEXTS, GENERATIONS)):
            raise UsageError(f"{path} holds results of which {RUN} says nothing; expected an empty folder")
        else:
            (path / RUN).write_text(json.dumps(self.head, indent=1) + "\n", encoding="utf-8")
        self.records = {record.key: record for record in read_records(path)}
        self.contexts = {(row["finder"], row["item"]): row["context"] for row in read_lines(path / CONTEXTS)}
        self.generations = {row["key"]: row for row in read_lines(path / GENERATIONS)}

    def add_record(self, record: Record) -> None:
        """Keep the verdict of an answer."""
        self.records[record.key] = record
        append_line(self.path / RECORDS, asdict(record))

    def add_context(self, finder: str, item: str, context: dict[str, Any]) -> None:
        """Keep what was found for an item; columns of one finder share it."""
        self.contexts[finder, item] = context
        append_line(self.path / CONTEXTS, {"finder": finder, "item": item, "context": context})

    def add_generation(self, key: str, row: dict[str, Any]) -> None:
        """Keep a text of the model."""
        self.generations[key] = row = {"key": key, **row}
        append_line(self.path / GENERATIONS, row)


def check_head(path: Path, wanted: Mapping[str, Any]) -> None:
    """Refuse a folder that holds another run than the wanted one, with a UsageError that tells the differences.

    Raises what read_head raises.
    """
    known = read_head(path)
    differing = [name for name in wanted if known.get(name) != wanted[name]]
    if differing:
        told = ", ".join(f"{name} {known.get(name)!r}, not {wanted[name]!r}" for name in differing)
        raise UsageError(f"{path} holds a run of {told}; give another folder with --out, or the same options")


def write_tasks(path: Path, describe: Callable[[], Iterable[TaskFacts]]) -> None:
    """Say once what the tasks of a run are about; describe finds it out, where that is not known yet."""
    if not (path / TASKS).exists():
        lines = (escape_json(json.dumps(asdict(each), ensure_ascii=False)) + "\n" for each in describe())
        (path / TASKS).write_text("".join(lines), encoding="utf-8")


def read_tasks(path: Path) -> dict[str, TaskFacts]:
    """Read what the tasks of a run are about, by their ids; nothing where none tells, an InputError for other lines."""
    try:
        found = [
            TaskFacts(row["item"], row["topic"], (row["place"][0], row["place"][1])) for row in read_lines(path / TASKS)
        ]
    except (TypeError, KeyError, IndexError) as fault:
        raise InputError(
            f"a line of {path / TASKS} is none ({fault!r}); delete it, and run the evaluation again"
        ) from None
    return {each.item: each for each in found}


def write_costs(path: Path, costs: dict[str, Any]) -> None:
    """Say once what the graph of a run cost."""
    if costs and not (path / COSTS).exists():
        (path / COSTS).write_text(json.dumps(costs, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def read_costs(path: Path) -> dict[str, Any]:
    """Read what the graph of a run cost; nothing for a run without one, an InputError for what is no JSON."""
    try:
        found = json.loads((path / COSTS).read_text(encoding="utf-8")) if (path / COSTS).exists() else {}
    except ValueError as fault:
        raise InputError(f"{path / COSTS}: {fault}; delete it, and run the evaluation again") from None
    return found if isinstance(found, dict) else {}


def read_head(path: Path) -> dict[str, Any]:
    """Read what a run is of; a PathError where there is none, an InputError for one of another version."""
    try:
        head = json.loads((path / RUN).read_text(encoding="utf-8"))
    except (OSError, ValueError) as fault:
        raise PathError(f"no run in {path}: {fault}; expected a folder that pkg eval has written") from None
    if not isinstance(head, dict) or head.get("version") != VERSION:
        raise InputError(f"{path / RUN} is of another version; expected version {VERSION}")
    return head


def read_records(path: Path) -> Iterator[Record]:
    """Read the records of a run, of which the last of a key counts; an InputError for a line that is none."""
    for row in read_lines(path / RECORDS):
        try:
            leaks = None if row.get("leaks") is None else tuple(row["leaks"])
            places = {name: tuple(row.get(name, ())) for name in ("shown", "linked")}
            yield Record(**{**row, **places, "leaks": leaks})
        except (TypeError, KeyError) as fault:
            raise InputError(
                f"a line of {path / RECORDS} is no record ({fault}); expected those of one version"
            ) from None


def append_line(path: Path, row: dict[str, Any]) -> None:
    """Write a row behind the others of a file."""
    with path.open("a", encoding="utf-8") as file:
        file.write(escape_json(json.dumps(row, ensure_ascii=False)) + "\n")


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Read whole lines; the end of a file behind the last of them was cut off, and is taken away.

    An InputError for a line that is no JSON.
    """
    if not path.exists():
        return
    raw = path.read_bytes()
    whole = raw[: raw.rfind(b"\n") + 1]
    if len(whole) < len(raw):
        os.truncate(path, len(whole))
    for number, line in enumerate(whole.decode("utf-8").split("\n")[:-1], 1):
        try:
            yield json.loads(line)
        except ValueError as fault:
            raise InputError(f"{path}, line {number}: {fault}; expected a line that pkg eval has written") from None
