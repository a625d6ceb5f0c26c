"""Last stage: similarity of each candidate to the query (P-25), without comments and docstrings (A-07)."""

from __future__ import annotations

import ast
import threading
from collections.abc import Sequence
from time import thread_time

from pkg.extract.syntax import is_string_statement, parse_code
from pkg.rerank.candidates import Verdict
from pkg.rerank.case import Case, DistinctCandidate
from pkg.rerank.parsed_question import Definition


def strip_code(code: str) -> str:
    """Return code without comments, docstrings and layout; invalid code is unchanged."""
    tree = parse_code(code)
    if tree is None:
        return code
    for node in ast.walk(tree):
        if isinstance(node, Definition | ast.Module):
            body = [each for each in node.body if not is_string_statement(each)]
            node.body = body if body or isinstance(node, ast.Module) else [ast.Pass()]
    try:
        return ast.unparse(tree)
    except RecursionError:
        return code


_ENCODING = threading.Lock()  # an encoder caches words, and tasks run in several threads

DIGITS = 6  # of a cosine; further digits depend on the order of additions


class SimilarityStage:
    """Measure the cosine between the query and each candidate."""

    name = "similarity"
    drops = False

    def judge(self, case: Case, candidates: Sequence[DistinctCandidate]) -> list[Verdict]:
        """Return the cosine of each candidate."""
        from pkg.encode.registry import load_encoder

        start = thread_time()
        is_raw = case.options.compare == "raw"
        texts = [each.code if is_raw else each.stripped for each in candidates]
        encoder = load_encoder(case.options.encoder)
        with _ENCODING:
            query = encoder.encode_query(case.question.text.encode("utf-8", "replace").decode())
            vectors = encoder.encode([text.encode("utf-8", "replace") for text in texts])
        cosines = [round(float(each), DIGITS) for each in vectors @ query]
        seconds = (thread_time() - start) / max(1, len(candidates))
        return [Verdict(self.name, True, cosine, "", seconds) for cosine in cosines]
