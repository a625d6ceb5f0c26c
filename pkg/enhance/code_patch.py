"""Render written docstrings as a unified diff of their files; the files themselves are never changed."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pkg.errors import UsageError
from pkg.extract.files import SUFFIXES, decode_source
from pkg.graph.graph_records import find_docstring
from pkg.graph.store import choose_sources
from pkg.indexing.written_docstrings import fill_function, unpack_comments
from pkg.model import Docstring, Label, Node, Skip, Source

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

FILES_AT_ONCE = 100  # texts held in memory at a time


@dataclass(frozen=True, slots=True)
class FilePatch:
    """The unified diff of one file."""

    path: str
    diff: bytes
    docstrings: int


def list_all_patches(
    store: GraphStore, source: str | None, fresh: Mapping[str, Docstring] | None = None
) -> Iterator[FilePatch | Skip]:
    """Iterate over the diffs of one repository, or of all, against the files on disk; a corpus has none.

    fresh: as for list_patches. Raises UsageError for a source that is unknown or has no files, and what reading a
    store raises.
    """
    known = choose_sources(store, source)
    chosen = [each for each in known if each.kind != "corpus"]
    if not chosen:
        names = ", ".join(each.name for each in known)
        raise UsageError(f"{names or store.address} has no files to patch; expected the source of a repository")
    for each in chosen:
        yield from list_patches(store, each, choose_reader(each), fresh)


def list_patches(
    store: GraphStore,
    source: Source,
    read: Callable[[str, bytes], bytes | Skip],
    fresh: Mapping[str, Docstring] | None = None,
) -> Iterator[FilePatch | Skip]:
    """Iterate over the diffs of the files of a repository in which docstrings were written, sorted by path.

    read: returns the text of a file by its path and its text in the graph, or a Skip if it cannot be changed.
    fresh: docstrings by content hash (16 hex digits) that are not in the graph yet; then only these are included.
    Raises what reading a store raises.
    """
    found: dict[str, list[tuple[Node, Docstring]]] = defaultdict(list)
    for node in store.nodes([Label.FUNCTION], source.name):
        written = find_docstring(node.properties) if fresh is None else fresh.get(node.content_hash)
        if written is not None:
            found[node.path].append((node, written))
    paths = sorted(found)
    for start in range(0, len(paths), FILES_AT_ONCE):
        for path, stored in store.texts(source.name, paths[start : start + FILES_AT_ONCE]):
            base = read(path, stored)
            yield base if isinstance(base, Skip) else make_patch(path, base, found[path])


def read_stored(path: str, stored: bytes) -> bytes:
    """Return the text in the graph: the files of a revision or an archive do not change."""
    return stored


class FileReader:
    """Read the files that a source was built from, as long as they match the graph."""

    def __init__(self, source: Source) -> None:
        self._root = Path(source.root)

    def __call__(self, path: str, stored: bytes) -> bytes | Skip:
        """Read the file at a path of the source; return a Skip if it cannot be patched."""
        place = self._root if self._root.is_file() else self._root / path
        try:
            text = place.read_bytes()
        except OSError as fault:
            return Skip(path, f"cannot be read: {fault.strerror}")
        if text == stored:
            return text
        if decode_source(text)[0] == stored:
            return Skip(path, "is not UTF-8, as the inserted text would be")
        return Skip(path, "has changed since it was read; run pkg build first")


def choose_reader(source: Source) -> Callable[[str, bytes], bytes | Skip]:
    """Return the reader of a source's files: from the graph for revisions and archives, else from disk."""
    root = Path(source.root)
    is_on_disk = source.revision is None and (root.is_dir() or root.suffix in SUFFIXES)
    return FileReader(source) if is_on_disk else read_stored


def make_patch(path: str, text: bytes, functions: Sequence[tuple[Node, Docstring]]) -> FilePatch:
    """Return the diff of a file whose functions get docstrings, and comments if there are any."""
    edits: dict[tuple[int, int, int], bytes] = {}
    for node, written in sorted(functions, key=lambda each: each[0].start, reverse=True):
        for place, new in _list_edits(text, node, written):
            edits.setdefault(place, new)  # an inner function's block may have a comment from each: keep one
    return FilePatch(path, render_diff(path, text, apply_edits(text, edits)), len(functions))


def _list_edits(text: bytes, node: Node, written: Docstring) -> Iterator[tuple[tuple[int, int, int], bytes]]:
    """Yield the edits that insert a docstring; functions may be nested, but their edits never overlap."""
    content = text[node.start : node.end]
    filled = fill_function(content, replace(written, comments=()), node.start_col)
    if filled is None:
        return
    same = _count_same(content, filled)
    rest = _count_same(content[same:][::-1], filled[same:][::-1])
    new = filled[same : len(filled) - rest]
    indent = content[content.rfind(b"\n", 0, same) + 1 : same]
    if same + rest == len(content) and new.endswith(indent):  # whole lines: comments may follow
        same, rest, new = same - len(indent), rest + len(indent), indent + new[: len(new) - len(indent)]
    yield (node.start + same, node.end - rest, 0), new
    lines = content.splitlines(keepends=True)
    for comment in unpack_comments(written.comments):
        start = node.start + sum(map(len, lines[: comment.line - 1]))
        below = lines[comment.line - 1]
        before, end = below[: len(below) - len(below.lstrip())], b"\r\n" if below.endswith(b"\r\n") else b"\n"
        yield (start, start, 1), before + b"# " + comment.text.encode("utf-8", "replace") + end


def _count_same(one: bytes, other: bytes) -> int:
    """Return the length of the common prefix of two texts."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def apply_edits(text: bytes, edits: Mapping[tuple[int, int, int], bytes]) -> bytes:
    """Replace spans that do not overlap; the third number of a span orders edits at the same place."""
    parts, end = [], 0
    for (start, stop, _), new in sorted(edits.items()):
        parts += [text[end:start], new]
        end = stop
    return b"".join([*parts, text[end:]])


def render_diff(path: str, before: bytes, after: bytes) -> bytes:
    """Render a unified diff as git and patch read it; only line feeds end lines."""
    # Bytes as Latin-1 characters, which is one to one: difflib compares any sequences, but writes text.
    old, new = (_split_lines(text.decode("latin-1")) for text in (before, after))
    name = path.encode("utf-8", "surrogateescape").decode("latin-1")
    end = "\t" if " " in name else ""  # as git does: the tab marks the end of the name
    lines = difflib.unified_diff(old, new, f"a/{name}{end}", f"b/{name}{end}")
    return "".join(map(_end_line, lines)).encode("latin-1")


def _split_lines(text: str) -> list[str]:
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _end_line(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
