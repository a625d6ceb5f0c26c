"""Read the fixture set of call shapes: small trees of files, each with the links that must and must not be found.

A file in shapes/ is one category. Its lines that start in column 0 with one of these words are the marks; all else
below a `---` line is the text of that file:

    === name of the shape                   then, if wanted: lines of prose, `roots src lib`, `static` (it is not run)
    --- pkg/mod.py                          a file; a run imports main.py
    must main.f -> pkg.mod.C.m likely       an edge that must be found, at least as sure as the word, if there is one;
                                            with the word `static`, a run does not show it
    must not main.f -> pkg.mod.g            an edge that must not be found, with whatever confidence
    weak main.f -> pkg.mod.g                an edge that may be found, with the confidence `possible` and no more
    may main.f -> pkg.mod.g                 an edge that may be found
    inherits main.B -> main.A 1             the class and its base, with the position of the base
    overrides main.B.m -> main.A.m
    imports main.name -> pkg.mod.C class    what the alias or the name that a module imports leads to, and its artifact
                                            type; a variable leads to its module, `library:json` is a library

Names are those of PyCG: the path of the file below the tree with dots for slashes (a package is its folder), then the
qualified name without `<locals>`. Code of a module is owned by the module, code in a lambda, a comprehension or a class
body by the function or module around it. An edge between functions of a shape that stands in no mark is false.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).with_name("shapes")
CONFIDENCES = ("certain", "likely", "possible")

_MARK = re.compile(r"(must not|must|weak|may|inherits|overrides|imports) (\S+) -> (\S+)((?: \w+)*)")
_HEADING, _FILE = re.compile(r"=== (.+)"), re.compile(r"--- (\S+)")

Pair = tuple[str, str]
Triple = tuple[str, str, str]


@dataclass(frozen=True)
class Shape:
    """A small tree of files with its required, allowed and forbidden links."""

    category: str
    name: str
    files: dict[str, str]
    must: tuple[Triple, ...] = ()  # caller, callee, least confidence allowed or ""
    must_not: tuple[Pair, ...] = ()
    weak: tuple[Pair, ...] = ()  # allowed as `possible` only, also where `must` names them
    may: tuple[Pair, ...] = ()
    inherits: tuple[Triple, ...] = ()  # class, base, position of the base from "1"
    overrides: tuple[Pair, ...] = ()
    imports: tuple[Triple, ...] = ()  # module.name, target, artifact type
    unseen: tuple[Pair, ...] = ()  # those of `must` that a run does not show
    runs: bool = True
    roots: tuple[str, ...] = (".",)  # folders of the tree that stand on sys.path

    @property
    def allowed(self) -> frozenset[Pair]:
        """Return every edge that is required or allowed."""
        return frozenset({(caller, callee) for caller, callee, _ in self.must}.union(self.weak, self.may))


@cache
def read_shapes(folder: Path = FOLDER) -> tuple[Shape, ...]:
    """Read the shapes of all categories of a folder, in the order of the files' names."""
    return tuple(shape for path in sorted(folder.glob("*.txt")) for shape in _read_category(path))


def _read_category(path: Path) -> Iterator[Shape]:
    before, *chunks = re.split(r"^(?==== )", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    if before.strip():
        raise ValueError(f"{path.name} begins with {before[:40]!r}, expected a line `=== name of the shape`")
    return (_read_shape(path.stem, chunk.splitlines()) for chunk in chunks)


def _read_shape(category: str, lines: list[str]) -> Shape:
    heading = _HEADING.fullmatch(lines[0])
    first_file = next(index for index, line in enumerate(lines) if _FILE.fullmatch(line))
    if heading is None:
        raise ValueError(f"{category}: {lines[0]!r}, expected `=== name of the shape`")
    files, marks = _split_files(lines[first_file:])
    options = [line.split() for line in lines[1:first_file] if line]
    roots = [tuple(words[1:]) for words in options if words[0] == "roots"]
    return Shape(
        category,
        heading[1],
        files,
        must=tuple((start, end, _find_confidence(words)) for start, end, words in marks["must"]),
        must_not=_drop_words(marks["must not"]),
        weak=_drop_words(marks["weak"]),
        may=_drop_words(marks["may"]),
        inherits=tuple((start, end, words[0]) for start, end, words in marks["inherits"]),
        overrides=_drop_words(marks["overrides"]),
        imports=tuple((start, end, words[0]) for start, end, words in marks["imports"]),
        unseen=tuple((start, end) for start, end, words in marks["must"] if "static" in words),
        runs=["static"] not in options,
        roots=roots[0] if roots else (".",),
    )


_Marks = dict[str, list[tuple[str, str, list[str]]]]


def _split_files(lines: list[str]) -> tuple[dict[str, str], _Marks]:
    texts: dict[str, list[str]] = {}
    marks: _Marks = {kind: [] for kind in ("must", "must not", "weak", "may", "inherits", "overrides", "imports")}
    path = ""
    for line in lines:
        if file := _FILE.fullmatch(line):
            path = file[1]
            texts[path] = []
        elif mark := _MARK.fullmatch(line):
            marks[mark[1]].append((mark[2], mark[3], mark[4].split()))
        else:
            texts[path].append(line)
    return {path: "\n".join(text).strip("\n") + "\n" for path, text in texts.items()}, marks


def _find_confidence(words: list[str]) -> str:
    return next((word for word in words if word in CONFIDENCES), "")


def _drop_words(marks: list[tuple[str, str, list[str]]]) -> tuple[Pair, ...]:
    return tuple((start, end) for start, end, _ in marks)
