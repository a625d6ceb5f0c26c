"""The first stage: whether Python takes the code (P-23)."""

from __future__ import annotations

from collections.abc import Sequence
from time import thread_time

from pkg.rerank.case import Case, Contender
from pkg.rerank.nouns import Verdict
from pkg.rerank.syntax import find_fault, parse_code

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
