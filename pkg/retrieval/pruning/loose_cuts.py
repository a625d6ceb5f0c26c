"""Judge branches of a text that the running Python cannot parse, such as Python 2.

Only tree-sitter parses such a text, and little is known of its names. So only an `if` that refuses or reports may be
removed: it raises, prints and asserts, and calls only functions that inspect or report.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pkg.retrieval.pruning.branch_effects import is_harmless

if TYPE_CHECKING:
    from tree_sitter import Node

_HARMLESS = ("if", "raise", "print", "assert", "pass", "expression")  # statements
_HARMFUL = ("assignment", "augmented_assignment", "await", "lambda", "named_expression", "yield")
_CATCHING = ("while_statement", "try_statement", "with_statement")


def find_loose_objection(text: bytes, start: int) -> str:
    """Return why the branch at this byte of a text must stay; "" if it may be removed."""
    from pkg.extract.parser import parse

    root = parse(text).root_node
    if root.has_error:
        return "no parser can judge the text"
    branch = root.descendant_for_byte_range(start, start + 1)
    while branch is not None and branch.parent is not None and not branch.type.endswith("_statement"):
        branch = branch.parent
    if branch is None or branch.type != "if_statement" or branch.start_byte != start:
        return "Python does not parse the text, and only a plain `if` could be judged"
    if any(map(_is_harmful, _walk(branch))):
        return "Python does not parse the text, and the branch does more than raise and print"
    if any(node.type == "raise_statement" for node in _walk(branch)) and _is_caught(branch):
        return "an error of it may be caught"
    siblings = [] if branch.parent is None else branch.parent.named_children
    return "" if any(each != branch and each.type != "comment" for each in siblings) else "nothing else would be left"


def _is_harmful(node: Node) -> bool:
    if node.type == "call":
        called = node.child_by_field_name("function")
        words = (called.text or b"").decode("utf-8", "replace") if called is not None else ""
        return not is_harmless(words.rpartition(".")[2])
    statement, mark, _ = node.type.partition("_statement")
    return node.type in _HARMFUL or node.type.endswith("_definition") or (bool(mark) and statement not in _HARMLESS)


def _is_caught(branch: Node) -> bool:
    owner = branch.parent
    while owner is not None:
        if owner.type in _CATCHING:
            return True
        owner = owner.parent
    return False


def _walk(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _walk(child)
