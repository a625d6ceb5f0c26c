"""Copies of the code of a graph without docstrings, so that the questions are not part of the searched text.

The docstrings of classes and modules are removed, too, since otherwise these would match better than functions.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from random import Random

from pkg.extract.python import extract_unit
from pkg.extract.recipe.docstring_removal import is_outermost, remove_spans, summarise_docstring
from pkg.graph.store import GraphStore
from pkg.lab.evaluation.retrieval.rank_scores import SEPARATOR
from pkg.model import CodeUnit, Function, Label, Source
from pkg.retrieval.deps.paths import list_code_files

ROW_LABELS = (Label.FUNCTION, Label.CLASS)
ROOT = "code"  # folder of a source that is not a package


@dataclass(frozen=True, slots=True)
class DocumentedFunction:
    """A function of the copy, and the summary of its removed docstring."""

    path: str
    qualname: str
    summary: str

    @property
    def place(self) -> str:
        """Return the place of the function in the format of judged questions."""
        return f"{self.path}{SEPARATOR}{self.qualname}"


@dataclass(frozen=True, slots=True)
class BareCopy:
    """The code of one source without docstrings, in files of the same layout."""

    source: str
    root: Path
    functions: dict[str, int]  # functions of each file, by its path
    documented: tuple[DocumentedFunction, ...]


def copy_bare(store: GraphStore, source: Source, folder: Path) -> BareCopy:
    """Write the code of a source into a new folder; each row of a corpus becomes a file.

    The root has the name of the package, so that imports of its modules still resolve.
    """
    root = _make_root(folder, source.package)
    functions: dict[str, int] = {}
    documented: list[DocumentedFunction] = []
    for path, text in _read_texts(store, source):
        target = root / path
        if not target.resolve().is_relative_to(root):
            continue
        code = extract_unit(text, with_summary=False)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(strip_docstrings(code))
        functions[path] = sum(isinstance(each, Function) for each in code.definitions)
        documented += _list_documented(path, code)
    return BareCopy(source.name, root, functions, tuple(documented))


def draw_files(copies: Sequence[BareCopy], count: int, seed: int, folder: Path) -> list[BareCopy]:
    """Copy drawn files into a new folder, up to `count` functions in all."""
    files = [(copy.source, path, number) for copy in copies for path, number in sorted(copy.functions.items())]
    Random(seed).shuffle(files)
    drawn: dict[str, set[str]] = {}
    for source, path, number in files:
        if number and number <= count:
            drawn.setdefault(source, set()).add(path)
            count -= number
    return [_copy_files(copy, drawn[copy.source], folder) for copy in copies if copy.source in drawn]


def strip_docstrings(code: CodeUnit) -> bytes:
    """Return a text without docstrings; one that is the whole body, or shares a line, becomes ``pass``."""
    ends = {(each.docstring.start, each.docstring.end): each.span.end for each in code.definitions if each.docstring}
    if code.module and code.module.docstring:
        ends[code.module.docstring.start, code.module.docstring.end] = len(code.text)
    spans = sorted(ends)
    kept = [span for span in spans if not _stands_alone(code.text, span, ends[span])]
    pieces, done = [], 0
    for low, high in kept:
        pieces += [remove_spans(code.text, done, low, [span for span in spans if done <= span[0] < low]), b"pass"]
        done = high
    pieces.append(remove_spans(code.text, done, len(code.text), [span for span in spans if span[0] >= done]))
    return b"".join(pieces)


def _stands_alone(text: bytes, span: tuple[int, int], end: int) -> bool:
    """Return whether a docstring shares no line with other code and a statement follows it before `end`."""
    low, high = span
    before = text[text.rfind(b"\n", 0, low) + 1 : low]
    after = text[high:].partition(b"\n")[0].strip()
    rest = (line.strip() for line in text[high:end].splitlines())
    has_more = any(line and not line.startswith(b"#") for line in rest)
    return not before.strip() and has_more and (not after or after.startswith(b"#"))


def _make_root(folder: Path, package: str) -> Path:
    """Create the folder of a source and its parent packages."""
    root = (folder / Path(*(package or ROOT).split("."))).resolve()
    root.mkdir(parents=True)
    for parent in root.parents:
        if parent == folder.resolve():
            break
        (parent / "__init__.py").touch()
    return root


def _read_texts(store: GraphStore, source: Source) -> Iterator[tuple[str, bytes]]:
    if source.kind == "corpus":
        yield from _read_rows(store, source.name)
    else:
        yield from store.texts(source.name, list_code_files(store, source.name))


def _read_rows(store: GraphStore, source: str) -> Iterator[tuple[str, bytes]]:
    """Yield each row as a file of its outermost functions and classes; a store does not keep the whole row."""
    rows: dict[str, list[str]] = {}
    ends: dict[str, int] = {}
    for node in sorted(store.nodes(ROW_LABELS, source), key=attrgetter("path", "start", "label")):
        if node.start >= ends.get(node.path, 0):
            rows.setdefault(node.path, []).append(node.content)
            ends[node.path] = node.end
    for number, pieces in enumerate(rows.values()):
        yield f"row{number:06}.py", "\n\n".join((*pieces, "")).encode("utf-8", "replace")


def _list_documented(path: str, code: CodeUnit) -> Iterator[DocumentedFunction]:
    """Yield the outermost functions that have a docstring and further code."""
    for each in (one for one in code.definitions if isinstance(one, Function)):
        summary = summarise_docstring(code.text, each)
        if summary and each.docstring and is_outermost(code, each) and _has_body(code, each):
            yield DocumentedFunction(path, each.qualname, summary)


def _has_body(code: CodeUnit, function: Function) -> bool:
    """Return whether code follows the docstring."""
    return any(each.kind == "body" and code.definitions[each.function] is function for each in code.blocks)


def _copy_files(copy: BareCopy, paths: Iterable[str], folder: Path) -> BareCopy:
    chosen = set(paths)
    root = folder / copy.source.replace("/", "_") / copy.root.name
    for path in sorted(chosen):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(copy.root / path, root / path)
    functions = {path: number for path, number in copy.functions.items() if path in chosen}
    return BareCopy(copy.source, root, functions, tuple(each for each in copy.documented if each.path in chosen))
