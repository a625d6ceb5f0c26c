"""The files of a run, which can be resumed after an interruption.

`run.json` identifies the run. Every figure is computed from `records.jsonl` (a line for each answer with its score),
`tasks.jsonl` (topic of each task) and `costs.json` (costs of the graph); `contexts.jsonl` and `generations.jsonl` hold
retrieved code and generated texts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pkg.errors import InputError, PathError, UsageError
from pkg.lab.evaluation.code.benchmarks import TaskFacts
from pkg.local_errors import INTERNAL
from pkg.quoting.hidden_characters import escape_json

VERSION = 1  # format version of the files
RUN, RECORDS, CONTEXTS, GENERATIONS = "run.json", "records.jsonl", "contexts.jsonl", "generations.jsonl"
TASKS, COSTS, MODELS = "tasks.jsonl", "costs.json", "models.jsonl"


@dataclass(frozen=True, slots=True)
class Record:
    """One answer to one item, with its origin and its score by the hidden tests."""

    column: str
    item: str
    sample: int
    passed: bool
    error: str  # class of the failure (P-33); "" if all pass
    detail: str = ""
    form: str = ""
    leaks: tuple[str, ...] | None = None  # tasks whose solution is shown, with the kind; None if not searched
    shown: tuple[str, ...] = ()  # places of the code in the prompt
    linked: tuple[str, ...] = ()  # places of the helpers linked into the answer
    score: float | None = None  # of the best hit
    fits: bool | None = None
    signals: Mapping[str, float] = field(default_factory=dict)  # signals that predict whether the code helps
    is_shown_right: bool | None = None  # whether the examples of the task hold; None if it has none
    attempts: int = 1  # answers up to this one, each written after the failures of those before
    chosen: str = ""  # the column of the chosen answer
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0  # of the model
    retrieval_seconds: float = 0.0  # search time of the code; shared preparation counts for the first item
    is_cut: bool = False
    code: str = ""

    @property
    def is_lost(self) -> bool:
        """Return whether an internal error has cost the answer, which does not count against the model."""
        return self.detail.startswith(INTERNAL)

    @property
    def key(self) -> tuple[str, str, int]:
        """Return the key of the record in its run."""
        return self.column, self.item, self.sample


class RunFolder:
    """A folder of one run; results are appended as lines, and an incomplete last line is dropped."""

    def __init__(self, path: Path, head: dict[str, Any]) -> None:
        """Open or create a run.

        Raises UsageError if the folder holds a different run, PathError if it cannot be created.
        """
        self.path = path
        self.head = json.loads(json.dumps({"version": VERSION, **head}))
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise PathError(f"cannot make the folder {path}: {fault.strerror}") from None
        if (path / RUN).exists():
            check_head(path, self.head)
        elif any((path / name).exists() for name in (RECORDS, CONTEXTS, GENERATIONS)):
            raise UsageError(f"{path} holds results that are not in {RUN}; expected an empty folder")
        else:
            (path / RUN).write_text(json.dumps(self.head, indent=1) + "\n", encoding="utf-8")
        self.records = {record.key: record for record in read_records(path)}
        self.contexts = {(row["finder"], row["item"]): row["context"] for row in read_lines(path / CONTEXTS)}
        self.generations = {row["key"]: row for row in read_lines(path / GENERATIONS)}

    def add_record(self, record: Record) -> None:
        """Store the record of an answer."""
        self.records[record.key] = record
        append_line(self.path / RECORDS, asdict(record))

    def add_context(self, finder: str, item: str, context: dict[str, Any]) -> None:
        """Store the code found for an item, which columns of the same finder share."""
        self.contexts[finder, item] = context
        append_line(self.path / CONTEXTS, {"finder": finder, "item": item, "context": context})

    def add_generation(self, key: str, row: dict[str, Any]) -> None:
        """Store a generated text."""
        self.generations[key] = row = {"key": key, **row}
        append_line(self.path / GENERATIONS, row)


def check_head(path: Path, wanted: Mapping[str, Any]) -> None:
    """Raise UsageError, with the differences, if a folder holds a different run.

    Raises what read_head raises.
    """
    known = read_head(path)
    differing = [name for name in wanted if known.get(name) != wanted[name]]
    if differing:
        told = ", ".join(f"{name} {known.get(name)!r}, not {wanted[name]!r}" for name in differing)
        raise UsageError(f"{path} holds a run of {told}; give another folder with --out, or the same options")


def check_model(path: Path, label: str, identity: str) -> None:
    """Store the identity of a model in a run of several.

    Raises UsageError if the folder has answers of another model of this label.
    """
    known = {row["label"]: row["identity"] for row in read_lines(path / MODELS)}
    if label not in known:
        append_line(path / MODELS, {"label": label, "identity": identity})
    elif known[label] != identity:
        raise UsageError(
            f"{path} holds answers of another model called {label}: {known[label]}, not {identity}; give another"
            " folder with --out"
        )


def write_tasks(path: Path, describe: Callable[[], Iterable[TaskFacts]]) -> None:
    """Write the topics of a run, unless the file exists; describe computes them."""
    if not (path / TASKS).exists():
        lines = (escape_json(json.dumps(asdict(each), ensure_ascii=False)) + "\n" for each in describe())
        (path / TASKS).write_text("".join(lines), encoding="utf-8")


def read_tasks(path: Path) -> dict[str, TaskFacts]:
    """Read the facts of the tasks of a run by id; empty without a file; raises InputError for an invalid line."""
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
    """Write the costs of the graph, unless the file exists."""
    if costs and not (path / COSTS).exists():
        (path / COSTS).write_text(json.dumps(costs, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def read_costs(path: Path) -> dict[str, Any]:
    """Read the costs of the graph; empty for a run without one; raises InputError for invalid JSON."""
    try:
        found = json.loads((path / COSTS).read_text(encoding="utf-8")) if (path / COSTS).exists() else {}
    except ValueError as fault:
        raise InputError(f"{path / COSTS}: {fault}; delete it, and run the evaluation again") from None
    return found if isinstance(found, dict) else {}


def read_head(path: Path) -> dict[str, Any]:
    """Read the head of a run; raises PathError if there is none, InputError for another version."""
    try:
        head = json.loads((path / RUN).read_text(encoding="utf-8"))
    except (OSError, ValueError) as fault:
        raise PathError(f"no run in {path}: {fault}; expected a folder that pkg eval has written") from None
    if not isinstance(head, dict) or head.get("version") != VERSION:
        raise InputError(f"{path / RUN} is of another version; expected version {VERSION}")
    return head


def read_records(path: Path) -> Iterator[Record]:
    """Yield the records of a run, of which the last of a key counts; raises InputError for an invalid line."""
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
    """Append a row to a file."""
    with path.open("a", encoding="utf-8") as file:
        file.write(escape_json(json.dumps(row, ensure_ascii=False)) + "\n")


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the complete lines of a file, and remove an incomplete last one.

    Raises InputError for a line that is not JSON.
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
