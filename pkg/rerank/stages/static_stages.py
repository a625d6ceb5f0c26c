"""The stages that read: whether Python takes the code (P-23), and whether its names and parameters fit (A-08)."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from time import thread_time
from typing import Protocol

from pkg.extract.syntax import find_fault, parse_code
from pkg.rerank.candidates import Verdict
from pkg.rerank.case import Case, Contender
from pkg.rerank.examples.calls import list_calls
from pkg.rerank.extraction import list_defined
from pkg.rerank.undefined_names import find_undefined


class Stage(Protocol):
    """One way to judge candidates."""

    name: str
    drops: bool  # a candidate that fails is out

    def judge(self, case: Case, contenders: Sequence[Contender]) -> list[Verdict]:
        """Say something about each contender, in their order."""


MISSING = "no "  # begins the doubt about code that does not define what is wanted
CUT = 0.5  # the score of code whose broken end was left out: it runs, and may lack what mattered


class SyntaxStage:
    """Drop what is no Python."""

    name = "syntax"
    drops = True

    def judge(self, case: Case, contenders: Sequence[Contender]) -> list[Verdict]:
        """Compile each candidate, and keep its tree for the stages that follow."""
        return [self._judge_one(each) for each in contenders]

    def _judge_one(self, contender: Contender) -> Verdict:
        start = thread_time()
        fault = find_fault(contender.code)
        if fault is None and not contender.code.strip():
            fault = "no code", 1
        if fault is not None:
            return Verdict(self.name, False, 0.0, f"{fault[0]} (line {fault[1]})", thread_time() - start)
        contender.tree = parse_code(contender.code)
        score = CUT if contender.found.is_cut else 1.0
        return Verdict(self.name, True, score, contender.found.note, thread_time() - start)


class StaticStage:
    """Doubt what cannot work: it is dropped unless every example that the query shows says otherwise."""

    name = "static"
    drops = False

    def judge(self, case: Case, contenders: Sequence[Contender]) -> list[Verdict]:
        """Look at each candidate without running it.

        Where all of them differ from what the query was read to want, it was read wrongly.
        """
        trees = [each.tree or parse_code(each.code) for each in contenders]
        doubts = [find_entry_doubt(case, tree) for tree in trees if tree is not None]
        if doubts and all(doubts) and len({each.startswith(MISSING) for each in doubts}) == 1:
            case.is_doubted = True
            case.notes.append(f"not counted, for it is so of every candidate: {doubts[0]}")
        return [self._judge_one(case, each) for each in contenders]

    def _judge_one(self, case: Case, contender: Contender) -> Verdict:
        start = thread_time()
        tree = contender.tree or parse_code(contender.code)
        reason = "" if tree is None else find_doubt(case, contender.code, tree)
        return Verdict(self.name, not reason, float(not reason), reason, thread_time() - start)


def find_doubt(case: Case, code: str, tree: ast.Module) -> str:
    """Say what cannot work about the code; "" for nothing."""
    return next(iter(list_doubts(case, code, tree)), "")


def list_doubts(case: Case, code: str, tree: ast.Module) -> list[str]:
    """Say all that cannot work about the code: names that nothing gives, no wanted function, other parameters."""
    doubts = [_describe_undefined(code, tree), "" if case.is_doubted else find_entry_doubt(case, tree)]
    return [each for each in doubts if each]


def _describe_undefined(code: str, tree: ast.Module) -> str:
    undefined = find_undefined(code, tree)
    if not undefined:
        return ""
    name, line = undefined[0]
    more = f" and {len(undefined) - 1} more" if len(undefined) > 1 else ""
    return f"name '{name}' is not defined (line {line}){more}"


def find_entry_doubt(case: Case, tree: ast.Module) -> str:
    """Say how code differs from what the query was read to want: another name, other parameters; "" for nothing."""
    if case.entry is None:
        return ""
    wanted = next((each for each in reversed(tree.body) if getattr(each, "name", None) == case.entry), None)
    if wanted is None:
        defined = list_defined(tree)
        return (
            "" if case.entry in defined else f"{MISSING}'{case.entry}' (found: {', '.join(defined[:5]) or 'nothing'})"
        )
    if not isinstance(wanted, ast.FunctionDef | ast.AsyncFunctionDef):
        return ""
    count = count_arguments(case)
    if count is None or takes(wanted.args, count):
        return ""
    return f"'{case.entry}' cannot be called with {count} argument{'s' * (count != 1)} (line {wanted.lineno})"


def count_arguments(case: Case) -> int | None:
    """Count the arguments that the wanted function is called with: those of the query's header or of its first call."""
    if case.question.parameters is not None:
        return sum(not each.is_optional for each in case.question.parameters)
    call = next(list_calls(case.examples, case.entry), None)
    if call is None or any(isinstance(each, ast.Starred) for each in call.args):
        return None
    return len(call.args)


def takes(given: ast.arguments, count: int) -> bool:
    """Tell whether a function can be called with so many arguments by position."""
    most = len(given.posonlyargs) + len(given.args)
    if any(default is None for default in given.kw_defaults):
        return False
    return most - len(given.defaults) <= count and (given.vararg is not None or count <= most)
