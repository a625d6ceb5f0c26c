"""Static stages: whether the code parses (P-23), and whether its names and parameters fit (A-08)."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from time import thread_time
from typing import Protocol

from pkg.extract.syntax import find_syntax_error, parse_code
from pkg.rerank.candidates import Verdict
from pkg.rerank.case import Case, DistinctCandidate
from pkg.rerank.examples.calls import list_calls
from pkg.rerank.extraction import list_defined
from pkg.rerank.undefined_names import find_undefined


class Stage(Protocol):
    """A way to judge candidates."""

    name: str
    drops: bool  # a candidate that fails is dropped

    def judge(self, case: Case, candidates: Sequence[DistinctCandidate]) -> list[Verdict]:
        """Return a verdict on each candidate, in their order."""


MISSING = "no "  # prefix of the warning about a missing entry point
CUT = 0.5  # score of code whose incomplete end was removed: it runs, but may lack essential parts


class SyntaxStage:
    """Drops candidates that are not valid Python."""

    name = "syntax"
    drops = True

    def judge(self, case: Case, candidates: Sequence[DistinctCandidate]) -> list[Verdict]:
        """Compile each candidate, and keep its tree for later stages."""
        return [self._judge_one(each) for each in candidates]

    def _judge_one(self, candidate: DistinctCandidate) -> Verdict:
        start = thread_time()
        fault = find_syntax_error(candidate.code)
        if fault is None and not candidate.code.strip():
            fault = "no code", 1
        if fault is not None:
            return Verdict(self.name, False, 0.0, f"{fault[0]} (line {fault[1]})", thread_time() - start)
        candidate.tree = parse_code(candidate.code)
        score = CUT if candidate.extracted.is_cut else 1.0
        return Verdict(self.name, True, score, candidate.extracted.note, thread_time() - start)


class StaticStage:
    """Warns about candidates that cannot work; they are dropped unless every example of the query holds."""

    name = "static"
    drops = False

    def judge(self, case: Case, candidates: Sequence[DistinctCandidate]) -> list[Verdict]:
        """Check each candidate without running it.

        If no candidate matches the entry point, the query was probably misread, and the warning is not counted.
        """
        trees = [each.tree or parse_code(each.code) for each in candidates]
        warnings = [find_entry_warning(case, tree) for tree in trees if tree is not None]
        if warnings and all(warnings) and len({each.startswith(MISSING) for each in warnings}) == 1:
            case.ignores_entry = True
            case.notes.append(f"not counted, because it is true of every candidate: {warnings[0]}")
        return [self._judge_one(case, each) for each in candidates]

    def _judge_one(self, case: Case, candidate: DistinctCandidate) -> Verdict:
        start = thread_time()
        tree = candidate.tree or parse_code(candidate.code)
        warnings = [] if tree is None else list_warnings(case, candidate.code, tree)
        reason = warnings[0] if warnings else ""
        return Verdict(self.name, not reason, float(not reason), reason, thread_time() - start)


def list_warnings(case: Case, code: str, tree: ast.Module) -> list[str]:
    """List the faults of code: undefined names, a missing entry point, or different parameters."""
    warnings = [_describe_undefined(code, tree), "" if case.ignores_entry else find_entry_warning(case, tree)]
    return [each for each in warnings if each]


def _describe_undefined(code: str, tree: ast.Module) -> str:
    undefined = find_undefined(code, tree)
    if not undefined:
        return ""
    name, line = undefined[0]
    more = f" and {len(undefined) - 1} more" if len(undefined) > 1 else ""
    return f"name '{name}' is not defined (line {line}){more}"


def find_entry_warning(case: Case, tree: ast.Module) -> str:
    """Return a warning if the entry point is missing or has different parameters; "" for none."""
    if case.entry is None:
        return ""
    found = next((each for each in reversed(tree.body) if getattr(each, "name", None) == case.entry), None)
    if found is None:
        defined = list_defined(tree)
        return (
            "" if case.entry in defined else f"{MISSING}'{case.entry}' (found: {', '.join(defined[:5]) or 'nothing'})"
        )
    if not isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef):
        return ""
    count = count_arguments(case)
    if count is None or takes(found.args, count):
        return ""
    return f"'{case.entry}' cannot be called with {count} argument{'s' * (count != 1)} (line {found.lineno})"


def count_arguments(case: Case) -> int | None:
    """Return the number of arguments of the entry point, from the query's header or its first call; None if unknown."""
    if case.question.parameters is not None:
        return sum(not each.is_optional for each in case.question.parameters)
    call = next(list_calls(case.examples, case.entry), None)
    if call is None or any(isinstance(each, ast.Starred) for each in call.args):
        return None
    return len(call.args)


def takes(given: ast.arguments, count: int) -> bool:
    """Return whether a function can be called with that many positional arguments."""
    most = len(given.posonlyargs) + len(given.args)
    if any(default is None for default in given.kw_defaults):
        return False
    return most - len(given.defaults) <= count and (given.vararg is not None or count <= most)
