"""Detection of answers that address their judge: text that looks like a verdict, and instructions to rate well."""

from __future__ import annotations

import re

_INJECTIONS = re.compile(
    r"""\[\[(?:A|B|C|D)\]\]                                          # a verdict
    |\bRating:\s*\d                                                  # a rating
    |\b(?:rate|grade|score)\s+(?:this|it|me|my)\b[^.\n]{0,40}\b(?:10|ten|5|five|best|highest|full|top)\b
    |\b(?:ignore|disregard|forget)\s+(?:all|any|the|your|previous|prior|earlier)\b[^.\n]{0,40}\binstructions?\b
    |\b(?:dear|attention,?|note\s+to\s+the|as\s+the)\s+(?:judge|grader|examiner|evaluator)\b
    |\bchoose\s+(?:answer|response)\s+[AB12]\b""",
    re.IGNORECASE | re.VERBOSE,
)


def find_injection(answer: str) -> str:
    """Return the first words of an answer that instruct its judge, or ""."""
    found = _INJECTIONS.search(answer)
    return found[0].strip() if found else ""
