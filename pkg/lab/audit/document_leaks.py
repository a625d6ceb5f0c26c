"""Find the documents whose solution leaks that of a benchmark, as an audit does for the functions of a graph (A-16)."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from pkg.extract.syntax import parse_statements
from pkg.lab.audit.code_shape import CodeShape, find_shape
from pkg.lab.audit.leak_audit import LeakMatcher, SolutionSet
from pkg.lab.evaluation.documents.document_rows import Document
from pkg.model import Leak


def mark_documents(documents: Sequence[Document], solutions: SolutionSet) -> Mapping[str, tuple[Leak, ...]]:
    """Return the leaks of documents by their places; a solution without a function leaks nothing."""
    matcher = LeakMatcher(solutions.name, solutions.solutions)
    found = {
        document.place: tuple(sorted({leak for shape in _list_shapes(document) for leak in matcher.match(shape)}))
        for document in documents
    }
    return {place: leaks for place, leaks in found.items() if leaks}


def _list_shapes(document: Document) -> Iterator[CodeShape]:
    for statement in parse_statements(document.solution.encode("utf-8", "replace")):
        for node in ast.walk(statement):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (shape := find_shape(node)):
                yield shape
