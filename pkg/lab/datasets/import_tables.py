"""The import table of a graph by file, each row as its statement has it (Q-04, Q-05)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from pkg.lab.datasets.dataset_rows import Place
from pkg.lab.datasets.import_questions import ImportingFile, group_records
from pkg.lab.datasets.repository_texts import list_repositories
from pkg.model import Label
from pkg.retrieval.deps.answer import DepsOptions, ImportRecord, ImportTable
from pkg.retrieval.deps.questions import run_deps

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore
    from pkg.model import Source


class _Statement(NamedTuple):
    """The module that an import statement names."""

    module: str
    level: int  # leading dots


def read_importing_files(store: GraphStore, source: str | None) -> list[ImportingFile]:
    """Return each file with imports and its rows of the table, sorted by source and path."""
    with store.snapshot():
        return [file for each in list_repositories(store, source) for file in _read_source(store, each)]


def _read_source(store: GraphStore, source: Source) -> list[ImportingFile]:
    places = {
        path: Place(source.name, source.revision, path, content_hash=content_hash)
        for path, _, content_hash in store.fingerprints(source.name)
    }
    statements: dict[tuple[str, int, str], _Statement] = {}
    words: dict[str, set[str]] = defaultdict(set)
    for node in store.nodes((Label.IMPORT,), source.name):
        module, name = (str(node.properties.get(each) or "") for each in ("module", "imported"))
        statement = _Statement(module, int(str(node.properties.get("level") or 0)))
        statements[node.path, node.start_line, name or module] = statement
        words[node.path].update(word for each in (module, name) for word in each.split(".") if word)
    table = run_deps(store, None, DepsOptions(question="imports", source=source.name, limit=0))
    assert isinstance(table, ImportTable)
    records = []
    for record in table.records:
        statement = statements[record.file_name, record.line, record.artifact]
        if record.library_name is not None:
            words[record.file_name].add(record.library_name)
        records.append(_keep_to_statement(record, statement, places.keys()))
    return group_records(records, places, words)


def _keep_to_statement(record: ImportRecord, statement: _Statement, paths: Collection[str]) -> ImportRecord:
    """Return the record of a library name that a file of the repository re-exports as an import from that file."""
    is_own = not statement.level and statement.module.partition(".")[0] == record.library_name
    if record.library_name is None or is_own:
        return record
    category = record.category.replace("library", "file")
    target = _find_file(record.file_name, statement, paths)
    return replace(record, category=category, target_file=target, library_name=None, artifact_type="unknown")


def _find_file(path: str, statement: _Statement, paths: Collection[str]) -> str | None:
    """Return the file that a statement names; None if none or several match."""
    inside = statement.module.replace(".", "/")
    if statement.level:
        folder = PurePosixPath(path).parents[min(statement.level, len(PurePosixPath(path).parents)) - 1]
        wanted = {(folder / each).as_posix() for each in (f"{inside}.py", f"{inside}/__init__.py")}
        found = [each for each in paths if each in wanted]
    else:
        ends = (f"/{inside}.py", f"/{inside}/__init__.py")
        found = [each for each in paths if f"/{each}".endswith(ends)]
    return found[0] if len(found) == 1 else None
