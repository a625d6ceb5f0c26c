"""The use cases that build or update a graph: discover, extract, encode, store, resolve; and its sources again.

Only changed units are processed. Nothing heavy is imported here, so that a build without changes ends in 0.1 s.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pkg.errors import BuildInterrupted, InputError, PathError, StoreError
from pkg.extract.input_options import STDIN, parse_fingerprint
from pkg.graph.store import choose_sources
from pkg.indexing.build_plan import (
    DEFAULT_OPTIONS,
    BuildOptions,
    BuildPlan,
    BuildSession,
    KnownUnits,
    compare,
    describe_making,
    describe_resumption,
    is_current,
    list_lost,
    list_reread,
    load_generated,
)
from pkg.indexing.report import BuildReport, CutCount, StageClock
from pkg.local_errors import list_outdated
from pkg.model import Skip, Source

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore, StoreWriter
    from pkg.indexing.inputs import Input, LoadedUnit
    from pkg.model import LocalError

LOADED_BYTES = 1_000_000  # of a new source; a smaller one is built again in seconds
NAMES_AT_ONCE = 4096  # function names encoded per batch; all of a large corpus at once would take hundreds of megabytes


def build(
    path: str,
    store: GraphStore,
    options: BuildOptions = DEFAULT_OPTIONS,
    *,
    source: str | None = None,
    field: str | None = None,
    max_file_size: int | None = None,
    follow_links: bool = False,
    text: bool = True,
    reader: str | None = None,
    model: str | None = None,
) -> BuildReport:
    """Build or update the graph of a repository, an archive, a git revision or a corpus (docs/papers.md, 9.1).

    text: whether to read the text files of a repository as well.
    reader: makes facts of documents (P-12): structure, or model with the name of one; None only for rows of texts, none
    for no row.

    Raises InputError, StoreError or UsageError, and leaves the store as it was. Ctrl-C raises BuildInterrupted, which
    says whether the store has changed, and how many units the next build finds prepared.
    """
    from pkg.indexing.inputs import find_input

    clock, before, found = StageClock(), store.generation(), None
    try:
        with clock.stage("discover"):
            found = find_input(path, source, field, max_file_size, follow_links, text, reader, model)
        if reader == "model" and options.read_documents is None:
            from pkg.indexing.model_reader import open_reader

            with open_reader(found, store, model, options) as read:
                return build_input(found, store, replace(options, read_documents=read), clock)
        return build_input(found, store, options, clock)
    except KeyboardInterrupt as interrupt:
        kept = sum(each.units for each in store.unfinished() if found and each.source == found.source.name)
        raise BuildInterrupted(store.generation() != before, kept) from interrupt


def build_export(path: str, store: GraphStore, options: BuildOptions = DEFAULT_OPTIONS) -> list[BuildReport]:
    """Build every source of an export again; the resulting graph is byte-equal."""
    from pkg.indexing.export import open_export

    with open_export(path) as inputs:
        return [_build_exported(found, store, options) for found in inputs]


def _build_exported(found: Input, store: GraphStore, options: BuildOptions) -> BuildReport:
    """Build a source of an export; code that the store already has gets exactly the generated texts of the export."""
    was_there = found.source in store.sources()
    report = build_input(found, store, options, StageClock())
    if was_there:
        from pkg.encode.registry import load_encoder
        from pkg.indexing.generated_storage import match_generated

        match_generated(store, found.source.name, found.generated, load_encoder(store.encoder()[0]))
    return report


def drop_source(store: GraphStore, source: str) -> BuildReport:
    """Remove a source and its contents; an unknown name raises UsageError, which lists the sources."""
    choose_sources(store, source)
    removed = sum(1 for _ in store.fingerprints(source))
    with store.write() as writer:
        writer.delete_source(source)
    return BuildReport(source, store.address, store.generation(), removed=removed)


def build_input(found: Input, store: GraphStore, options: BuildOptions, clock: StageClock) -> BuildReport:
    """Bring one source of the store up to date with its input."""
    from pkg.indexing.store_encoder import set_encoder

    _check_source(store, found)
    encoder, reencoded = set_encoder(found, store, options, clock)
    options = replace(options, encoder=encoder)
    if _is_loaded(found, store):
        with store.load_source(found.source.name, describe_making(found, encoder), options.say) as target:
            target.ensure_schema(*store.encoder())
            report = _update(found, target, options, clock)
        clock.mark("store")
    else:
        report = _update(found, store, options, clock)
    stages = clock.rounded() if reencoded or report.stages else {}
    return replace(report, generation=store.generation(), stages=stages, reencoded=reencoded)


def _is_loaded(found: Input, store: GraphStore) -> bool:
    """Return whether a source is new and so large that a build of it should survive a kill."""
    is_known = any(each.name == found.source.name for each in store.sources())
    return not is_known and found.size >= LOADED_BYTES


def _update(found: Input, store: GraphStore, options: BuildOptions, clock: StageClock) -> BuildReport:
    """Write the new and changed units of a source, unless the store is up to date."""
    if is_current(found, store):
        return BuildReport(
            source=found.source.name,
            store=store.address,
            generation=store.generation(),
            unchanged=found.count,
            skipped=found.skipped,
            errors=store.errors(found.source.name),
        )
    # Compared only inside the transaction: another build of the same source may end while this one waits for it.
    with _without_collector(), store.write() as writer:
        known_sources = [each for each in store.sources() if each.name == found.source.name]
        errors = store.errors(found.source.name)
        outdated = [*list_outdated(errors), *list_reread(found, store)]
        writer.put_source(found.source)  # first: this removes leftovers of another import
        with closing(KnownUnits(store.fingerprints(found.source.name))) as known:
            is_resumed = known.count() > 0 and not (known_sources and store.generation())
            known.forget_content(outdated)
            if is_resumed:  # whose errors would have been noted at its end
                known.forget_content(list_lost(store, found.source.name))
            plan = replace(
                compare(found, known),
                is_moved=any(each.package != found.source.package for each in known_sources),
                is_resumed=is_resumed,
                errors=errors,
            )
            if plan.is_resumed:
                options.say(describe_resumption(found, plan))
            session = write_units(store, writer, found, plan, options, clock)
    clock.mark("store")
    return session.report(store, clock.rounded())


def write_units(
    store: GraphStore, writer: StoreWriter, found: Input, plan: BuildPlan, options: BuildOptions, clock: StageClock
) -> BuildSession:
    """Extract, encode, store and resolve the new and changed units of a source; return the finished session.

    The store is read only for data that the writer does not change: the texts of unchanged files.
    """
    from pkg.indexing.prepare import prepare_all, release_encoder
    from pkg.indexing.spool import Spool
    from pkg.resolution.record_version import is_outdated

    encoder = options.encoder or store.encoder()[0]
    is_resolved = found.source.kind != "corpus"
    records = Spool(store.link_notes(found.source.name) if is_resolved else ())  # replacing a file deletes its record
    generated = load_generated(found, store)  # kept for functions whose code is unchanged
    session = BuildSession(found, plan, store, writer, options.progress)
    cut = CutCount(encoder)

    loaded: Iterable[LoadedUnit] = session.load()
    if options.read_documents is not None:
        loaded = options.read_documents(loaded)
    if options.cluster is not None:
        from pkg.indexing.partitions import prepare_partitions

        rows = None if is_resolved else found.size
        prepared = prepare_partitions(
            found.source.name, loaded, encoder, options.cluster, clock.seconds, generated, rows
        )
    else:
        prepared = prepare_all(found.source.name, loaded, encoder, options.jobs, plan.size, clock.seconds, generated)
    for unit in prepared:
        with clock.stage("store"):
            session.put(unit)
    with clock.stage("store"):
        session.remove_unseen()
        writer.flush()
    options.enter("naming functions")
    with clock.stage("names"):
        _put_names(writer, found.source.name, encoder)
    session.skipped += cut.describe(found.source.name)
    release_encoder(encoder, plan.size)  # make room for resolution
    with clock.stage("resolve"):
        is_old = any(map(is_outdated, records.values())) or bool(list_outdated(plan.errors))
        is_resolved = is_resolved and (session.has_changed or is_old)
        if is_resolved:
            options.enter("resolving calls and imports")
            from pkg.indexing.solved_links import put_links

            change = session.change()
            session.skipped += put_links(
                store,
                writer,
                found.source.name,
                change,
                records,
                session.errors,
                options.cluster,
                clock.seconds,
            )
    left_out: list[Skip | LocalError] = [*session.skipped, *session.collect_errors(is_resolved)]
    writer.put_source(found.source, found.fingerprint, left_out, clock.rounded())
    return session


def _put_names(writer: StoreWriter, source: str, encoder: str) -> None:
    """Create node and vector of every new function name (P-03)."""
    from pkg.encode.registry import load_encoder
    from pkg.vectors.quantised import round_vectors

    names = [""]
    while names := writer.missing_names(source, names[-1], NAMES_AT_ONCE):
        vectors = round_vectors(load_encoder(encoder).encode([name.encode("utf-8", "replace") for name in names]))
        writer.put_names(source, dict(zip(names, vectors, strict=True)))


@contextmanager
def _without_collector() -> Iterator[None]:
    """Disable the cycle collector: a build makes many objects and no cycles, and collecting takes 10 % of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _check_source(store: GraphStore, found: Input) -> None:
    """Raise PathError for an input without Python files, StoreError for a source that was built from another input."""
    source = found.source
    known = {each.name: each for each in store.sources()}.get(source.name)
    if known is None and found.entries is not None and all(_is_unread(each.path, found) for each in found.entries):
        first = f"; {len(found.skipped)} left out, such as {found.skipped[0]}" if found.skipped else ""
        raise PathError(
            f"no Python files in {source.root} (expected at least one .py file{first}){_name_corpus(source.root)}"
        )
    is_moved = known is not None and (known.root, known.kind) != (source.root, source.kind)
    if known is not None and is_moved and not _is_revision_of_same(known, source):
        raise StoreError(
            f"source '{source.name}' in {store.address} was built from {known.root}, not from {source.root};"
            f" name this one with --source, or remove the other with: pkg build --remove {source.name}"
        )


def _name_corpus(root: str) -> str:
    """Return what to do with the row files in a folder, those of the first one's kind; nothing where there are none."""
    import shlex

    from pkg.extract.files import print_path, restore_path
    from pkg.extract.records import find_suffix, is_corpus

    folder = restore_path(root)
    names = sorted(filter(is_corpus, os.listdir(folder))) if os.path.isdir(folder) else []
    if not names:
        return ""
    suffix = find_suffix(names[0])
    is_alone = sum(find_suffix(name) == suffix for name in names) == 1
    path = shlex.quote(print_path(f"{folder}/{names[0] if is_alone else f'*{suffix}'}"))
    return f"; {names[0]} in it may hold rows: pkg build {path}"


def _is_unread(path: str, found: Input) -> bool:
    """Return whether a file is neither code nor a document that a reader makes facts of."""
    from pkg.extract.documents.document_kinds import find_document_kind, is_prose

    return is_prose(path) and (found.reader is None or find_document_kind(path) is None)


def _is_revision_of_same(one: Source, other: Source) -> bool:
    """Return whether two sources are revisions of one folder, so that a build may move from one to the other."""
    from pkg.extract.discovery import split_revision
    from pkg.extract.files import restore_path

    if one.revision is None or other.revision is None:
        return False
    first, second = (split_revision(restore_path(each.root)) for each in (one, other))
    return first is not None and second is not None and first[0] == second[0]


def refresh(
    store: GraphStore, source: str | None = None, options: BuildOptions = DEFAULT_OPTIONS
) -> list[BuildReport | Skip]:
    """Build all sources that can be read again, or the named one; only changed units are processed.

    A Skip gives the reason why a source cannot be read, such as a deleted folder: the graph keeps its nodes.
    Raises UsageError for an unknown source, StoreError if the store cannot be written.
    """
    return [_build_again(store, each, options) for each in choose_sources(store, source) if each.root != STDIN]


def _build_again(store: GraphStore, source: Source, options: BuildOptions) -> BuildReport | Skip:
    from pkg.extract.row_files import is_address

    settings = read_settings(store, source)
    if is_address(settings["path"]):  # a graph, perhaps a stranger's, names it
        return Skip(source.name, f"its rows are in a bucket, which only pkg build {source.root} reads")
    if settings["model"] is not None and options.read_documents is None:  # a graph, perhaps a stranger's, names it
        return Skip(
            source.name, f"its documents are read by {settings['model']}: pkg build PATH --reader model --model"
        )
    try:
        return build(store=store, options=options, **settings)
    except InputError as fault:
        return Skip(source.name, str(fault))


def read_settings(store: GraphStore, source: Source) -> dict[str, Any]:
    """Return the path and the keyword arguments of a build that reads a source as its last build did."""
    from pkg.extract.files import restore_path

    _, read = parse_fingerprint(store.source_fingerprint(source.name) or "")
    return {
        "path": restore_path(source.root),
        "source": source.name,
        "field": read.field,
        "max_file_size": read.max_file_size,
        "follow_links": read.follow_links,
        "text": not read.code_only,
        "reader": read.reader,
        "model": read.model,
    }
