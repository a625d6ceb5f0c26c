"""Scripts: lines that run in order in one namespace, with claims between them.

Each claim becomes an example with the lines before it. It is also a line of the script for later claims, because it may
have side effects: `s.pop() == 2` removes an item.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from pkg.rerank.candidates import Check, Example
from pkg.rerank.examples.literals import parse_statements, write_code
from pkg.rerank.examples.substitution import list_stored

MAX_LINES = 200  # of one script; tests in queries are far shorter

KNOWN_IMPORTS = {
    **dict.fromkeys(("date", "time", "timedelta", "timezone"), "from datetime import {}"),
    **dict.fromkeys(("Counter", "OrderedDict", "defaultdict", "deque", "namedtuple"), "from collections import {}"),
    **dict.fromkeys(("Any", "Dict", "List", "Optional", "Set", "Tuple", "Union"), "from typing import {}"),
    "Decimal": "from decimal import Decimal",
    "Fraction": "from fractions import Fraction",
    "Path": "from pathlib import Path",
    "SimpleNamespace": "from types import SimpleNamespace",
    "np": "import numpy as np",
    "pd": "import pandas as pd",
    **{
        name: f"import {name}"
        for name in (
            *("asyncio", "collections", "contextlib", "copy", "datetime", "decimal", "fractions", "functools", "io"),
            *(
                "inspect",
                "itertools",
                "json",
                "math",
                "numpy",
                "operator",
                "os",
                "random",
                "re",
                "statistics",
                "string",
            ),
            *("sys", "textwrap", "types", "typing"),
        )
    },
}
"""Imports of names that examples often use without one; used unless the candidate defines the name."""


@dataclass(slots=True)
class Script:
    """Lines of a test, with the claims between them."""

    notation: str
    candidate_names: Collection[str] = ()
    lines: list[str] = field(default_factory=list)
    claims: list[tuple[int, Example]] = field(default_factory=list)  # with the number of lines before each
    bound: set[str] = field(default_factory=set)
    has_effect: bool = False  # a line may affect a later claim

    def add_line(self, statement: ast.stmt) -> None:
        """Add a statement that is not a claim."""
        source = write_code(statement)
        if source is None or len(self.lines) >= MAX_LINES:
            return
        self.lines.append(source)
        self.bound |= list_stored(statement)
        self.has_effect = self.has_effect or not isinstance(
            statement, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign
        )

    def add_import(self, statement: ast.Import | ast.ImportFrom, candidate_names: Collection[str]) -> None:
        """Add an import, unless all of its names belong to the candidate."""
        names = statement.names if isinstance(statement, ast.ImportFrom) else []
        if len(self.lines) >= MAX_LINES or (
            names and all(not each.asname and each.name in candidate_names for each in names)
        ):
            return
        self.lines.append(write_import(statement))
        self.bound |= list_stored(statement)

    def add_claims(self, examples: Iterable[Example]) -> None:
        """Add claims, each also as a line."""
        for example in examples:
            if len(self.lines) < MAX_LINES:
                self.claims.append((len(self.lines), example))
                self.lines.append(example.source)

    def copy(self) -> Script:
        """Return a script with the lines of this one, without its claims."""
        claimed = {index for index, _ in self.claims}
        lines = [line for index, line in enumerate(self.lines) if index not in claimed]
        return Script(self.notation, self.candidate_names, lines, [], {*self.bound}, self.has_effect)

    def list_examples(self) -> list[Example]:
        """List the claims as examples, with the lines before them if any claim depends on them."""
        given = _list_given(self.lines, self.bound.union(self.candidate_names))
        if not (given or self._has_state()):
            return [each for _, each in self.claims]
        lines = [*given, *self.lines]
        return [replace(each, before=tuple(lines[: len(given) + index])) for index, each in self.claims]

    def _has_state(self) -> bool:
        """Return whether a claim depends on the lines before it."""
        if self.has_effect or any(each.check is Check.ASSERTION for _, each in self.claims[:-1]):
            return True
        if any(_list_read(each.source) & self.bound for _, each in self.claims):
            return True
        seen: dict[str, object] = {}
        return any(repr(seen.setdefault(each.source, each.expected)) != repr(each.expected) for _, each in self.claims)


def add_imports(example: Example, imports: Mapping[str, str], candidate_names: Collection[str]) -> Example:
    """Add the imports of the names that an example without a script reads.

    imports: of the query, by the name that they bind; other names are imported as in KNOWN_IMPORTS.
    """
    if example.before or example.check is Check.PROGRAM:
        return example
    shown = dict.fromkeys(imports[name] for name in sorted(_list_read(example.source) & imports.keys()))
    given = _list_given([example.source], {*imports, *candidate_names})
    return replace(example, before=(*shown, *given)) if shown or given else example


def _list_given(sources: Iterable[str], bound: Collection[str]) -> list[str]:
    """List the imports of known names that lines use without importing them."""
    names = {name for each in sources for name in _list_read(each)}.difference(bound)
    return [
        f"try:\n    {name}\nexcept NameError:\n    {KNOWN_IMPORTS[name].format(name)}"
        for name in sorted(names & KNOWN_IMPORTS.keys())
    ]


def _list_read(source: str) -> set[str]:
    nodes = [node for each in parse_statements(source) or () for node in ast.walk(each)]
    return {each.id for each in nodes if isinstance(each, ast.Name)}


def write_import(statement: ast.Import | ast.ImportFrom) -> str:
    """Return the source of an import; a missing module is replaced by the candidate, as in `from solution import f`."""
    is_relative = isinstance(statement, ast.ImportFrom) and (statement.level > 0 or statement.module is None)
    modules = [each.name for each in statement.names] if isinstance(statement, ast.Import) else [str(statement.module)]
    if is_relative:
        return _write_own_import(statement)
    source = ast.unparse(statement)
    if all(each.partition(".")[0] in sys.stdlib_module_names for each in modules):
        return source
    return f"try:\n    {source}\nexcept ImportError:\n    {_write_own_import(statement)}"


def _write_own_import(statement: ast.Import | ast.ImportFrom) -> str:
    if isinstance(statement, ast.ImportFrom):
        return f"from candidate import {', '.join(map(ast.unparse, statement.names))}"
    names = [each.asname or each.name.partition(".")[0] for each in statement.names]
    return "\n    ".join(f"import candidate as {name}" for name in names)
