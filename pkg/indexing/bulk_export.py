"""Write the graph of a store as files for `neo4j-admin database import`, rebuilding its units from its export."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pkg.errors import PathError, StoreFullError, StoreMissingError, UsageError
from pkg.indexing.build import write_units
from pkg.indexing.build_plan import BuildOptions, KnownUnits, compare
from pkg.indexing.export import open_export
from pkg.indexing.inputs import Input, LoadedUnit
from pkg.indexing.report import BulkReport, StageClock
from pkg.model import Label, Skip

if TYPE_CHECKING:
    from pkg.graph.neo4j.bulk_import import BulkWriter
    from pkg.graph.store import GraphStore

_READ = (Label.SOURCE.value, Label.FILE.value, Label.ROW.value, Label.FACT.value)  # the rest is derived from them


def export_bulk(
    store: GraphStore, folder: str | os.PathLike[str], jobs: int = 1, part_bytes: int | None = None
) -> BulkReport:
    """Write CSV files, the command that imports them and the schema into a new or empty folder (P-10).

    jobs: worker processes, 0 for one per processor. If writing fails, the folder is left empty.
    part_bytes: size from which the rows of a label continue in another file; None: 64 MB.
    Raises StoreMissingError without a graph, UsageError for vectors of a service, and PathError or StoreFullError
    for the folder.
    """
    from pkg.graph.neo4j.bulk_import import BulkWriter, CsvFiles, write_guide
    from pkg.graph.neo4j.neo4j_store import SCHEMA_VERSION

    encoder, dimension = store.encoder()
    if not encoder:
        raise StoreMissingError(f"no graph in {store.address} yet; run: pkg build PATH")
    _check_offline(encoder)
    options = BuildOptions(encoder, jobs)
    with (
        _fill_folder(Path(folder)) as place,
        closing(CsvFiles(place, part_bytes)) as files,
        closing(BulkWriter(files)) as writer,
    ):
        with _spool_units(store) as path, open_export(path) as inputs:
            for found in inputs:
                _write_source(writer, store, found, options)
        writer.finish(encoder, dimension, SCHEMA_VERSION)
        write_guide(place, files, encoder, dimension)
        return BulkReport(str(place), dict(sorted(files.nodes.items())), dict(sorted(files.relations.items())))


def _check_offline(encoder: str) -> None:
    """Raise UsageError if the vectors come from a service: no one has consented to sending the code again."""
    from pkg.encode.registry import find_service

    address = find_service(encoder)
    if address is not None:
        raise UsageError(
            f"the vectors of encoder '{encoder}' come from {address}, and these files would send all code there again;"
            " build into the server instead: pkg build PATH --store neo4j://host --encoder NAME"
        )


@contextmanager
def _fill_folder(folder: Path) -> Iterator[Path]:
    """Create the folder; if writing fails, remove the written files."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise PathError(f"{folder} is not empty; expected a new or empty folder for the files of an import")
    except OSError as fault:
        raise PathError(f"cannot write into {folder}: {fault.strerror}; expected a folder that can be made") from fault
    try:
        yield folder
    except BaseException as fault:
        for file in folder.iterdir():
            file.unlink()
        if isinstance(fault, OSError):
            raise StoreFullError(
                f"cannot write {folder}: {fault.strerror}; free some space, or write elsewhere"
            ) from fault
        raise


@contextmanager
def _spool_units(store: GraphStore) -> Iterator[str]:
    """Write the part of an export from which the rest is derived to a temporary file."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".jsonl") as spool:
        with store.snapshot():
            for line in store.export():
                if line["type"] == "relation":
                    break
                if line["type"] == "graph" or line["label"] in _READ:
                    spool.write(json.dumps(line) + "\n")
        spool.flush()
        yield spool.name


def _write_source(writer: BulkWriter, store: GraphStore, found: Input, options: BuildOptions) -> None:
    """Write one source; its files keep their fingerprints, so that the next build reads only changed files."""
    with closing(KnownUnits(store.fingerprints(found.source.name))) as before, closing(KnownUnits(())) as nothing:
        marked = replace(found, stream=lambda: _mark_units(found, before))
        writer.put_source(found.source)
        write_units(store, writer, marked, compare(marked, nothing), options, StageClock())


def _mark_units(found: Input, before: KnownUnits) -> Iterator[LoadedUnit | Skip]:
    """Yield each unit with its stored fingerprint."""
    for unit in found.stream():
        yield unit if isinstance(unit, Skip) else replace(unit, fingerprint=before.find(unit.path)[0])
