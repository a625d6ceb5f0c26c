"""Find what a long question mentions in a graph: files by path, module or stack trace, and definitions by name.

A path in a trace is of another machine: only its end matches the graph. A name counts more the fewer definitions have
it: `eval` may mean a hundred, `tensor_product_simp` is one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pkg.graph.path_filter import is_test
from pkg.model import Label, Node
from pkg.retrieval.deps.paths import list_code_files
from pkg.retrieval.long.tracebacks import StackFrame
from pkg.retrieval.question import Question

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

MAX_NAMES = 100  # of a question that are looked up: a long log has thousands
MAX_SAME_NAMED = 3  # definitions of a name that is still specific


@dataclass(frozen=True, slots=True)
class Mentions:
    """Mentions of a question in one graph."""

    files: frozenset[str] = frozenset()  # named by their paths
    modules: frozenset[str] = frozenset()  # files of the modules named with dots
    frames: tuple[tuple[StackFrame, str], ...] = ()  # of stack traces, outermost first, with the file of the graph
    definers: Mapping[str, float] = field(default_factory=dict)  # files of named definitions: 1 for an unambiguous name
    functions: tuple[str, ...] = ()  # ids of the functions of rare names

    @property
    def paths(self) -> list[str]:
        """List all files, those of the last frames first."""
        framed = [path for _, path in reversed(self.frames)]
        return list(dict.fromkeys((*framed, *sorted(self.files), *sorted(self.modules), *sorted(self.definers))))


class _Known(NamedTuple):
    """A file: its path, and its parts from the top of the outermost package."""

    path: str
    parts: list[str]

    def ends_with(self, wanted: list[str]) -> bool:
        return self.parts[-len(wanted) :] == wanted


class PathIndex:
    """Paths of a graph by file name; packages may lie above the root of a source."""

    def __init__(self, paths: Iterable[str], package: str = "") -> None:
        self._by_name: dict[str, list[_Known]] = defaultdict(list)
        self.add(paths, package)

    def add(self, paths: Iterable[str], package: str) -> None:
        """Add the paths of a source whose root is the folder of a package, "" for none."""
        above = package.split(".") if package else []
        for path in paths:
            parts = path.split("/")
            self._by_name[parts[-1]].append(_Known(path, [*above, *parts]))

    def match_end(self, path: str) -> list[str]:
        """Return the paths that share the most trailing parts with a path.

        A path that shares only its file name does not match, unless either path has no folder: a `utils.py` of another
        project is a different file.
        """
        parts = path.strip("/").split("/")
        shared = [(_count_shared(parts, known.parts), known) for known in self._by_name.get(parts[-1], ())]
        best = max((count for count, _ in shared), default=0)
        found = [known for count, known in shared if count == best]
        if best == 1 < len(parts):
            found = [known for known in found if len(known.parts) == 1]
        return [known.path for known in found]

    def match_module(self, name: str) -> list[str]:
        """Return the files of the longest module that is a prefix of a dotted name, or of its package."""
        parts = name.split(".")
        for count in range(len(parts), 1, -1):
            for wanted in ([*parts[: count - 1], f"{parts[count - 1]}.py"], [*parts[:count], "__init__.py"]):
                found = [each.path for each in self._by_name.get(wanted[-1], ()) if each.ends_with(wanted)]
                if found:
                    return found
        return []


def _count_shared(first: list[str], second: list[str]) -> int:
    pairs = zip(reversed(first), reversed(second), strict=False)
    return next((number for number, (one, other) in enumerate(pairs) if one != other), min(len(first), len(second)))


def find_mentions(store: GraphStore, question: Question, source: str | None) -> Mentions:
    """Find what a question mentions among the repositories of a graph, or in one source."""
    index = _index_paths(store, source)
    dotted = [name for name in question.mentioned if "." in name][:MAX_NAMES]
    definitions = _find_definitions(store, question, source)
    return Mentions(
        frozenset(path for name in question.files for path in index.match_end(name)),
        frozenset(path for name in dotted for path in index.match_module(name)),
        tuple((frame, path) for frame in question.frames for path in index.match_end(frame.path)),
        dict(_weigh_definers(definitions)),
        tuple(sorted({node.id for node in definitions if node.label is Label.FUNCTION})),
    )


def _index_paths(store: GraphStore, source: str | None) -> PathIndex:
    """Index the files of repositories; no one writes the paths of a corpus's rows."""
    index = PathIndex(())
    for each in store.sources():
        if each.kind != "corpus" and source in (None, each.name):
            index.add(list_code_files(store, each.name), each.package)
    return index


def _find_definitions(store: GraphStore, question: Question, source: str | None) -> list[Node]:
    """Find the functions and classes that a question names, if the name is rare; tests repeat the names of others."""
    framed = (frame.function for frame in question.frames if frame.function)
    names = dict.fromkeys(part for name in (*question.mentioned, *framed) for part in name.split("."))
    same_named: dict[str, list[Node]] = defaultdict(list)
    for node in store.find_names([name for name in names if len(name) > 2][:MAX_NAMES], source):
        if not is_test(node.path):
            same_named[node.name].append(node)
    return [node for nodes in same_named.values() if len(nodes) <= MAX_SAME_NAMED for node in nodes]


def _weigh_definers(definitions: list[Node]) -> dict[str, float]:
    """Return for each file the largest share of the definitions of a name that it holds."""
    counts: dict[str, int] = defaultdict(int)
    for node in definitions:
        counts[node.name] += 1
    shares: dict[str, float] = {}
    for node in definitions:
        shares[node.path] = max(shares.get(node.path, 0.0), 1 / counts[node.name])
    return shares
