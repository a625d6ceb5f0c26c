"""Find what a cut breaks in a function, independently of pruning: by bytecode, symbol tables and counts.

A definition-use chain is broken if a value stored by a cut line can be read on a remaining line: the control flow of
the compiled code is followed, with no rule of the syntax. Variables shared with nested functions (cells) count wherever
they are read.
"""

from __future__ import annotations

import ast
import dis
import symtable
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import CodeType

Lines = Sequence[tuple[int, int]]  # first and last, of the text, from 1
_ENDS = ("RETURN", "RAISE", "RERAISE", "JUMP_FORWARD", "JUMP_ABSOLUTE", "JUMP_BACKWARD")  # control ends at these
_STORES, _READS = (
    ("STORE_FAST", "DELETE_FAST", "STORE_DEREF", "STORE_NAME"),
    ("LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE"),
)


@dataclass(frozen=True, slots=True)
class Breakage:
    """Defects in the remaining text of a function."""

    undefined: tuple[str, ...]  # names bound in the whole text but not in the remaining one
    chains: tuple[str, ...]  # names whose value from a cut line is read on a remaining one
    exits_lost: int  # return and yield
    loops_lost: bool  # every loop was cut


def find_breakage(whole: str, remaining: str, cut: Lines) -> Breakage | None:
    """Compare the remaining text of a function with the whole; None if the running Python cannot compile the whole."""
    whole, remaining = textwrap.dedent(whole), textwrap.dedent(remaining)
    try:
        code = compile(whole, "whole", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    trees = ast.parse(whole), ast.parse(remaining)
    exits = [_count(tree, ast.Return, ast.Yield, ast.YieldFrom) for tree in trees]
    loops = [_count(tree, ast.For, ast.AsyncFor, ast.While) for tree in trees]
    return Breakage(
        tuple(sorted(_list_free(remaining) - _list_free(whole))),
        tuple(sorted(set(_list_chains(code, cut)))),
        exits[0] - exits[1],
        loops[0] > 0 == loops[1],
    )


def count_cut_statements(whole: str, cut: Lines) -> Counter[str]:
    """Count the cut statements without nested statements, by node type."""
    simple = (node for node in ast.walk(ast.parse(textwrap.dedent(whole))) if isinstance(node, ast.stmt))
    gone = (node for node in simple if not hasattr(node, "body") and _is_cut(node.lineno, cut))
    return Counter(type(node.value if isinstance(node, ast.Expr) else node).__name__.lower() for node in gone)


def _count(tree: ast.Module, *kinds: type[ast.AST]) -> int:
    return sum(isinstance(node, kinds) for node in ast.walk(tree))


def _list_free(text: str) -> set[str]:
    """Return the free names of code."""
    waiting, free = [symtable.symtable(text, "text", "exec")], set[str]()
    bound = {each.get_name() for each in waiting[0].get_symbols() if each.is_assigned() or each.is_imported()}
    while waiting:
        table = waiting.pop()
        free |= {each.get_name() for each in table.get_symbols() if each.is_referenced() and each.is_global()}
        waiting += table.get_children()
    return free - bound


def _is_cut(line: int | None, cut: Lines) -> bool:
    return line is not None and any(first <= line <= last for first, last in cut)


def _list_chains(code: CodeType, cut: Lines) -> Iterator[str]:
    """Yield the names whose values flow from cut lines to others, in a function and in nested ones."""
    steps = list(dis.get_instructions(code))
    lines = _list_lines(steps)
    follows = _find_follows(code, steps)
    for number, step in enumerate(steps):
        if _is_cut(lines[number], cut):
            for name in _name(step, _STORES):
                is_shared = "DEREF" in step.opname
                if _is_read(code, name, cut) if is_shared else _reaches(number, name, steps, lines, follows, cut):
                    yield name
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _list_chains(constant, cut)


def _is_read(code: CodeType, name: str, cut: Lines) -> bool:
    """Return whether a remaining line reads a variable, in a function or in nested ones."""
    steps = list(dis.get_instructions(code))
    lines = _list_lines(steps)
    reads = (not _is_cut(line, cut) for step, line in zip(steps, lines, strict=True) if name in _name(step, _READS))
    return any(reads) or any(_is_read(each, name, cut) for each in code.co_consts if isinstance(each, CodeType))


def _list_lines(steps: Sequence[dis.Instruction]) -> list[int | None]:
    """Return the line of each instruction."""
    lines: list[int | None] = []
    current: int | None = None
    for step in steps:
        positions = getattr(step, "positions", None)  # of Python 3.11
        starts = getattr(step, "line_number", step.starts_line)
        current = positions.lineno if positions is not None and positions.lineno else (starts or current)
        lines.append(current)
    return lines


def _find_follows(code: CodeType, steps: Sequence[dis.Instruction]) -> list[list[int]]:
    """Return for each instruction its possible successors, including exception handlers."""
    places = {step.offset: number for number, step in enumerate(steps)}
    follows: list[list[int]] = []
    for number, step in enumerate(steps):
        is_last = number + 1 == len(steps) or step.opname.startswith(_ENDS)
        after = [] if is_last and not step.opname.startswith("JUMP_IF") else [number + 1]
        if step.opcode in (*dis.hasjrel, *dis.hasjabs):
            after.append(places[step.argval])
        follows.append(after)
    parse = getattr(dis, "_parse_exception_table", None)  # of Python 3.11; before it handlers are reached by jumps
    for entry in parse(code) if parse else ():
        for number, step in enumerate(steps):
            if entry.start <= step.offset < entry.end:
                follows[number].append(places[entry.target])
    return follows


def _reaches(
    start: int, name: str, steps: Sequence[dis.Instruction], lines: Sequence[int | None],
    follows: Sequence[Sequence[int]], cut: Lines,
) -> bool:  # fmt: skip
    """Return whether a value stored at one instruction can be read on a remaining line."""
    waiting, seen = list(follows[start]), set[int]()
    while waiting:
        number = waiting.pop()
        if number in seen:
            continue
        seen.add(number)
        if name in _name(steps[number], _READS) and not _is_cut(lines[number], cut):
            return True
        if name not in _name(steps[number], _STORES) or name in _name(steps[number], _READS):
            waiting += follows[number]
    return False


def _name(step: dis.Instruction, prefixes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the variables that an instruction stores or reads; newer Pythons have instructions for two at once."""
    names = step.argval if isinstance(step.argval, tuple) else (step.argval,)
    parts = step.opname.replace("_LOAD_", "|LOAD_").replace("_STORE_", "|STORE_").split("|")
    if len(parts) != len(names):
        return tuple(names) if step.opname.startswith(prefixes) else ()
    return tuple(name for part, name in zip(parts, names, strict=True) if part.startswith(prefixes))
