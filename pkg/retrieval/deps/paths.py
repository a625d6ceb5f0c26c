"""Find the files and rows of a path or a dotted module name."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import PurePath
from typing import TYPE_CHECKING

from pkg.errors import NodeNotFoundError, QueryError
from pkg.extract.documents.document_kinds import is_prose
from pkg.model import Label, Node, Source
from pkg.units import format_id, hash_key

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

SUFFIXES = (".py", ".pyi", ".pyw")


def list_sources(store: GraphStore, name: str | None) -> list[Source]:
    """List all sources, or the named one; raises QueryError for an unknown one, and for an empty graph."""
    sources = store.sources()
    if not sources:
        raise QueryError(f"the graph {store.address} holds no code; run: pkg build PATH")
    chosen = [source for source in sources if name in (None, source.name)]
    if not chosen:
        known = ", ".join(source.name for source in sources)
        raise QueryError(
            f"no source '{name}' in {store.address}; sources that are there: {known}; name one, or run: pkg build PATH"
        )
    return chosen


def looks_like_path(name: str) -> bool:
    """Return whether a name can only be a path."""
    return "/" in name or "\\" in name or name.endswith(SUFFIXES)


def find_files(store: GraphStore, path: str, sources: Iterable[Source]) -> list[Node]:
    """Find files and rows by their whole path, else by its end; absolute paths are made relative to a source's root."""
    chosen = list(sources)
    exact = [node for each in chosen for node in _get_unit(store, each.name, relate_path(path, each.root))]
    return exact or _find_ends(store, {relate_path(path, each.root): None for each in chosen}, chosen)


def find_modules(store: GraphStore, name: str, sources: Iterable[Source]) -> list[Node]:
    """Find the files of a dotted module name below any root."""
    base = name.replace(".", "/")
    ends = {f"{base}{tail}{suffix}": None for tail in ("", "/__init__") for suffix in SUFFIXES}
    return _find_ends(store, ends, list(sources))


def name_unit(source: str, path: str, label: Label = Label.FILE) -> str:
    """Return the id of a file or row (docs/schema.md)."""
    return format_id(hash_key(source, path, label.value))


def derive_module(path: str, package: str = "") -> str:
    """Return the dotted module name of a path; package: that of the root of its source."""
    whole = _write_whole(path, package)
    stem = whole.rpartition(".")[0] if whole.endswith(SUFFIXES) else whole
    return stem.removesuffix("/__init__").replace("/", ".")


def _write_whole(path: str, package: str) -> str:
    """Return a path from the top of the outermost package."""
    return f"{package.replace('.', '/')}/{path}" if package else path


def holds_code(unit: Node) -> bool:
    """Return whether a file or row holds code: all except text files."""
    return unit.label is Label.ROW or not is_prose(unit.path)


def list_code_files(store: GraphStore, source: str) -> list[str]:
    """List the paths of the files of a repository in order, without text files."""
    return sorted(path for path, _, _ in store.fingerprints(source) if not is_prose(path))


def list_text_files(store: GraphStore, source: str) -> list[str]:
    """List the paths of the text files of a repository in order."""
    return sorted(path for path, _, _ in store.fingerprints(source) if is_prose(path))


def relate_path(path: str, root: str) -> str:
    """Return a path relative to a root that contains it; else unchanged, with slashes.

    A path that leads up from the current folder is a path on disk.
    """
    plain = (os.path.abspath(path) if leads_from_here(path) else path).replace("\\", "/")
    with suppress(ValueError):
        plain = PurePath(plain).relative_to(PurePath(root.replace("\\", "/"))).as_posix()
    while plain.startswith("./"):
        plain = plain[2:]
    return plain


def leads_from_here(path: str) -> bool:
    """Return whether a path must be relative to the current folder."""
    return path in (".", "..") or path.startswith(("../", "..\\"))


def _get_unit(store: GraphStore, source: str, path: str) -> list[Node]:
    for label in (Label.FILE, Label.ROW):
        with suppress(NodeNotFoundError):
            return store.get([name_unit(source, path, label)])
    return []


def _find_ends(store: GraphStore, ends: Iterable[str], sources: list[Source]) -> list[Node]:
    """Find the units whose path, including the packages above it, equals one of these or ends with it after a slash."""
    wanted = set(ends) - {""}
    tails = tuple(f"/{end}" for end in wanted)
    found: list[Node] = []
    for source in sources:
        paths = sorted(path for path, _, _ in store.fingerprints(source.name))
        for path in paths:
            whole = _write_whole(path, source.package)
            if whole in wanted or whole.endswith(tails):
                found += _get_unit(store, source.name, path)
    return found
