"""Count the imports of spyder by `pkg deps --imports`, against the published counts and the published method (Q-04).

    python benchmarks/imports.py [--cache FOLDER]

The published method looks for a file of the imported name below the repository's root, or below the importer's folder,
and for the artifact among all definitions and assignments of that file only.
"""

from __future__ import annotations

import ast
import json
import posixpath
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from measure import Figures, make_parser, open_folder, read_options, run_pkg, write_result
from packages import SPYDER, unpack_package

PUBLISHED: Figures = {
    "imports": 7907, "files": 686,
    "categories": {
        "library_import_direct": 3305, "library_import_from": 1553, "file_import_direct": 27, "file_import_from": 3022,
    },
    "artifact_types": {"class": 1265, "function": 1048, "variable": 569, "unknown": 140},
}  # fmt: skip
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def count_by_pkg(tree: Path, work: Path) -> Figures:
    """Count by the graph: the target of each import, through re-exports, roots and alternatives."""
    store = ["--store", f"sqlite:///{work / 'spyder.db'}", "--source", SPYDER.name]
    run_pkg(["build", str(tree), *store], work)
    lines = run_pkg(["deps", "--imports", *store, "--json"], work).output.splitlines()
    totals = next(line for line in map(json.loads, lines) if line["type"] == "totals")
    types = {
        each["artifact_type"]: each["count"]
        for each in totals["artifact_types"]
        if each["category"] == "file_import_from"
    }
    kept = {name: totals[name] for name in ("imports", "files", "categories")}
    return kept | {"artifact_types": types}


class Published:
    """The published method."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._paths = {path.relative_to(root).as_posix() for path in root.rglob("*.py")}

    def count(self) -> Figures:
        """Count the imports of all files that Python parses."""
        categories: Counter[str] = Counter()
        types: Counter[str] = Counter()
        files = set()
        for path in sorted(self._paths):
            for category, kind in self._list_imports(path):
                files.add(path)
                categories[category] += 1
                types.update([kind] if kind else [])
        counted = {"imports": categories.total(), "files": len(files)}
        return counted | {"categories": dict(categories), "artifact_types": dict(types)}

    def _list_imports(self, path: str) -> Iterator[tuple[str, str]]:
        for node in _walk(self._root / path):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield f"{self._say_where(self._find(alias.name, path, 0))}_import_direct", ""
            elif isinstance(node, ast.ImportFrom):
                found = self._find(node.module or "", path, node.level)
                for alias in node.names:
                    kind = self._find_kind(found, alias.name) if found is not None else ""
                    yield f"{self._say_where(found)}_import_from", kind

    def _say_where(self, found: str | None) -> str:
        return "library" if found is None else "file"

    def _find(self, name: str, importer: str, level: int) -> str | None:
        folder = posixpath.join(posixpath.dirname(importer), *[".."] * (level - 1)) if level else ""
        place = posixpath.normpath(posixpath.join(folder, name.replace(".", "/")))
        return next((each for each in (f"{place}.py", f"{place}/__init__.py") if each in self._paths), None)

    def _find_kind(self, path: str, name: str) -> str:
        for node in _walk(self._root / path):
            if isinstance(node, _DEFINITIONS) and node.name == name:
                return "class" if isinstance(node, ast.ClassDef) else "function"
            if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
                return "variable"
        return "unknown"


@cache
def _walk(path: Path) -> tuple[ast.AST, ...]:
    """Return all nodes of a file; none if Python cannot parse it."""
    try:
        return tuple(ast.walk(ast.parse(path.read_bytes())))
    except SyntaxError:
        return ()


LONG_FILE = 500  # lines: the example of LangChain's LanguageParser


def count_segments(root: Path) -> Figures:
    """Count files, and the segments of a parser that cuts long files at their definitions (A-22).

    A file of at least LONG_FILE lines becomes one segment for each function and class of the module, and one for the
    rest; others stay whole, as do those that Python cannot parse.
    """
    files, segments = 0, 0
    for path in root.rglob("*.py"):
        files, segments = files + 1, segments + 1
        if len(path.read_text("utf-8", "replace").splitlines()) >= LONG_FILE:
            module = next(iter(_walk(path)), ast.Module([], []))
            segments += sum(isinstance(each, _DEFINITIONS) for each in ast.iter_child_nodes(module))
    return {"files": files, "segments": segments}


def main() -> None:
    options = read_options(make_parser(__doc__))
    with open_folder(options.cache) as (cached, work):
        tree = unpack_package(SPYDER, cached, work / "tree")
        root = next(tree.iterdir())
        figures = {
            "published": PUBLISHED,
            "published_method": Published(root).count(),
            "pkg": count_by_pkg(root, work),
            "segments": count_segments(root),
        }
    write_result("imports", {"package": f"{SPYDER.name} {SPYDER.version}", **figures})


if __name__ == "__main__":
    main()
