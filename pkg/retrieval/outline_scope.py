"""Find the scope of an outline: a file, a folder, or a whole source."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pkg.errors import QueryError
from pkg.extract.files import restore_path
from pkg.model import Node, Source
from pkg.retrieval.deps.paths import (
    find_files,
    find_modules,
    holds_code,
    list_code_files,
    list_sources,
    looks_like_path,
    relate_path,
)

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

SHOWN_CANDIDATES = 20  # of an ambiguous path


@dataclass(frozen=True, slots=True)
class Scope:
    """Files of an outline, and all files of their source."""

    source: str
    path: str  # "" for the whole source
    files: Sequence[str]
    all_files: Sequence[str]
    is_file: bool = False
    is_text: bool = False  # a text file


def find_scope(store: GraphStore, path: str | None, source: str | None) -> Scope:
    """Find the files below a path; raises QueryError for a missing or ambiguous path.

    A path is relative to the root of a source, complete or only its end; one that is absolute or begins with a dot is a
    path on disk. A dotted module means its file, or its folder if it is a package.
    """
    repositories = [each for each in list_sources(store, source) if each.kind == "repository"]
    if not repositories:
        raise QueryError("an outline is of files, and these sources are corpora of rows; see them with: pkg stats")
    files = {each.name: list_code_files(store, each.name) for each in repositories}
    if path is None or not path.strip("/"):
        return _choose([Scope(each.name, "", files[each.name], files[each.name]) for each in repositories], None)
    wanted = os.path.abspath(path) if path.startswith(".") else path
    found = _find_folders(wanted, repositories, files) or _find_folders(wanted.replace(".", "/"), repositories, files)
    found = found or [_make_file_scope(node, files) for node in _find_files(store, wanted, repositories)]
    if not found:
        shown = ", ".join(sorted({known.partition("/")[0] for each in files.values() for known in each})[:5])
        raise QueryError(f"no file or folder '{path}' in {store.address}; expected one such as: {shown or 'none'}")
    return _choose(found, path)


def _find_folders(path: str, sources: Sequence[Source], files: dict[str, list[str]]) -> list[Scope]:
    """Return the folders with exactly this path, or else those whose path ends with it, each as a scope."""
    found = {}
    for each in sources:
        folder = relate_path(path, restore_path(each.root)).strip("/")
        for known in files[each.name]:
            start = 0 if known.startswith(f"{folder}/") else known.find(f"/{folder}/") + 1
            if start or known.startswith(f"{folder}/"):
                found[each.name, known[: start + len(folder)]] = start == 0
        if folder == ".":
            found[each.name, ""] = True
    best = [key for key, is_whole in found.items() if is_whole] or list(found)
    return [
        Scope(name, folder, [known for known in files[name] if known.startswith(f"{folder}/" if folder else "")],
              files[name])
        for name, folder in sorted(best)
    ]  # fmt: skip


def _find_files(store: GraphStore, path: str, sources: Sequence[Source]) -> list[Node]:
    return find_files(store, path, sources) or ([] if looks_like_path(path) else find_modules(store, path, sources))


def _make_file_scope(node: Node, files: dict[str, list[str]]) -> Scope:
    return Scope(node.source, node.path, [node.path], files[node.source], is_file=True, is_text=not holds_code(node))


def _choose(found: Sequence[Scope], path: str | None) -> Scope:
    """Return the only scope; raises QueryError, which lists them, for several. Without a path all are whole sources."""
    if len(found) == 1:
        return found[0]
    lines = [f"  {each.path or 'all'}  (in {each.source})" for each in found[:SHOWN_CANDIDATES]]
    lines += [f"  and {len(found) - SHOWN_CANDIDATES} more"] if len(found) > SHOWN_CANDIDATES else []
    listed = "\n".join(lines)
    if path is None:
        raise QueryError(f"the graph has {len(found)} sources; expected one; name it with --source:\n{listed}")
    raise QueryError(
        f"'{path}' may be any of {len(found)}; expected one; write more of the path, or narrow with --source:\n{listed}"
    )
