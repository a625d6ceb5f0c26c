"""Detect whether code contains the body of a masked function: equal, equal except for names, or nearly so."""

from __future__ import annotations

import ast
from collections import Counter
from functools import lru_cache

from pkg.extract.syntax import is_string_statement, parse_code
from pkg.generation.aligned_code import align_code

NEARLY = 0.8  # share of common tokens of both bodies above which code counts as an edited copy
FEWEST = 12  # tokens: shorter bodies are similar by chance, and only equal ones count


def gives_away(code: str, masked: str) -> bool:
    """Return whether code contains a body equal, or nearly equal, to that of a masked function.

    masked: the whole code of that function.
    """
    wanted = max(_list_bodies(masked), key=lambda each: len(each[1]), default=None)
    if wanted is None:
        return False
    return any(_is_near(shape, tokens, *wanted) for shape, tokens in _list_bodies(code))


def _is_near(shape: str, tokens: tuple[str, ...], wanted: str, wanted_tokens: tuple[str, ...]) -> bool:
    if shape == wanted:
        return True
    if min(len(tokens), len(wanted_tokens)) < FEWEST:
        return False
    shared = (Counter(tokens) & Counter(wanted_tokens)).total()
    return 2 * shared >= NEARLY * (len(tokens) + len(wanted_tokens))


@lru_cache(maxsize=4096)
def _list_bodies(code: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the shape and the tokens of each function body in code; of all of the code if it has no functions."""
    aligned = align_code(code)
    tree = parse_code(aligned) or parse_code(f"def _():\n    {aligned}") or parse_code(f"def _():\n{code}")
    if tree is None:
        return ()
    found = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    bodies = [each.body for each in found] or [tree.body]
    return tuple(_describe(body) for body in bodies)


def _describe(body: list[ast.stmt]) -> tuple[str, tuple[str, ...]]:
    """Return statements as a text with local names numbered, and the tokens of the text."""
    kept = [each for each in body if not is_string_statement(each)]
    names: dict[str, str] = {}
    tokens: list[str] = []
    for statement in kept:
        for node in ast.walk(statement):
            tokens.append(type(node).__name__)
            if isinstance(node, ast.Name):
                tokens.append(names.setdefault(node.id, f"n{len(names)}"))
            elif isinstance(node, ast.arg):
                tokens.append(names.setdefault(node.arg, f"n{len(names)}"))
            elif isinstance(node, ast.Attribute):
                tokens.append(node.attr)
            elif isinstance(node, ast.Constant):
                tokens.append(repr(node.value))
    return " ".join(tokens), tuple(tokens)
