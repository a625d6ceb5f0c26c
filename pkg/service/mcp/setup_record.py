"""Remember what `pkg setup` has written, so that it can be taken back byte by byte."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from pkg.config import find_data_folder
from pkg.errors import PathError, refuse_file
from pkg.private_files import make_folder, replace_file
from pkg.service.mcp.agent_configs import Installation, install, uninstall

RECORD = "setup.json"


@dataclass(frozen=True, slots=True)
class WrittenEntry:
    """An entry in the file of an agent, and what the file had in its place."""

    root: str  # folder of the repository that was set up
    agent: str
    path: str
    sha256: str  # of the file with the entry
    start: int  # byte offset of the difference to the file before
    written: str  # what stands there, in hexadecimal digits
    replaced: str  # what stood there, in hexadecimal digits; mostly ""
    made: tuple[str, ...]  # the file and the folders that did not exist before, the innermost first


@dataclass(frozen=True, slots=True)
class BuiltSource:
    """A source that a set-up has added to a graph."""

    root: str
    store: str
    source: str


@dataclass(frozen=True, slots=True)
class SetupRecord:
    """All that set-ups of this user have written."""

    entries: tuple[WrittenEntry, ...] = ()
    sources: tuple[BuiltSource, ...] = ()

    def list_entries(self, root: str) -> list[WrittenEntry]:
        """List the entries that the set-up of a folder has written, the latest first."""
        return [each for each in reversed(self.entries) if each.root == root]

    def forget(self, done: WrittenEntry | BuiltSource) -> SetupRecord:
        """Return the record without what was taken back."""
        return SetupRecord(
            tuple(each for each in self.entries if each != done), tuple(each for each in self.sources if each != done)
        )

    def list_sources(self, root: str) -> list[BuiltSource]:
        """List the sources that the set-up of a folder has added."""
        return [each for each in self.sources if each.root == root]


def find_record() -> Path:
    """Return the file of the record, in the user's data folder."""
    return find_data_folder() / RECORD


def read_record() -> SetupRecord:
    """Read the record; one that does not exist is empty. Raises PathError for one that cannot be read or parsed."""
    path = find_record()
    try:
        data: Any = json.loads(path.read_text("utf-8")) if path.exists() else {}
        entries = [WrittenEntry(**{**each, "made": tuple(each["made"])}) for each in data.get("entries", ())]
        return SetupRecord(tuple(entries), tuple(BuiltSource(**each) for each in data.get("sources", ())))
    except OSError as fault:
        raise PathError(f"cannot read {path}: {fault.strerror}") from fault
    except (ValueError, TypeError, KeyError, AttributeError) as fault:
        raise PathError(f"{path} is no record of pkg setup ({fault}); delete it, then --undo knows nothing") from fault


def write_record(record: SetupRecord) -> None:
    """Replace the record; raises PathError where it cannot be written."""
    path = find_record()
    text = json.dumps(asdict(record), ensure_ascii=False, indent=1)
    try:
        make_folder(path.parent)
        with replace_file(path) as temporary:
            temporary.write_text(text + "\n", "utf-8")
    except OSError as fault:
        raise refuse_file(path, fault) from fault


def install_recorded(root: str, plan: Installation) -> None:
    """Write the entry of an agent, and record the difference before the file changes; raises the errors of install."""
    made = tuple(str(each) for each in (plan.path, *plan.path.parents) if not each.exists())
    before = plan.path.read_bytes() if plan.path.exists() else b""
    install(plan)
    after = plan.path.read_bytes()
    start, written, replaced = _find_difference(before, after)
    digest = sha256(after).hexdigest()
    entry = WrittenEntry(root, plan.agent, str(plan.path), digest, start, written.hex(), replaced.hex(), made)
    record = read_record()
    write_record(SetupRecord((*record.entries, entry), record.sources))


def _find_difference(before: bytes, after: bytes) -> tuple[int, bytes, bytes]:
    """Return where two texts differ, and what the second and the first have there, as short as possible."""
    start = _count_equal(before, after)
    end = _count_equal(before[start:][::-1], after[start:][::-1])
    return start, after[start : len(after) - end], before[start : len(before) - end]


def _count_equal(first: bytes, second: bytes) -> int:
    """Return the length of the common beginning of two texts."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(first), len(second)))


def undo_entry(entry: WrittenEntry) -> str:
    """Take one entry back and return what was done.

    A file that nothing has changed since gets its former bytes; from any other, the entry alone is removed.
    Raises PathError where the file cannot be changed.
    """
    path = Path(entry.path)
    if not path.exists():
        return f"{path} does not exist any more"
    content = path.read_bytes()
    if sha256(content).hexdigest() != entry.sha256:
        return f"{path} has changed since: the entry was {'removed' if uninstall(entry.agent, path) else 'not there'}"
    if entry.path in entry.made:
        return _remove(entry)
    written, replaced = bytes.fromhex(entry.written), bytes.fromhex(entry.replaced)
    _write(path, content[: entry.start] + replaced + content[entry.start + len(written) :])
    return f"{path} is as it was"


def _remove(entry: WrittenEntry) -> str:
    """Delete a file that has nothing but the entry, and its folders if they are empty."""
    path = Path(entry.path)
    try:
        path.unlink()
    except OSError as fault:
        raise refuse_file(path, fault) from fault
    with suppress(OSError):  # a folder that others use now stays
        for each in entry.made[1:]:
            Path(each).rmdir()
    return f"{path} did not exist before: deleted"


def _write(path: Path, content: bytes) -> None:
    try:
        with replace_file(path.resolve()) as temporary:
            temporary.write_bytes(content)
    except OSError as fault:
        raise refuse_file(path, fault) from fault
