"""Append an answer to the incomplete code of a query, or to the header that it lacks (U-15)."""

from __future__ import annotations

import re

from pkg.extract.syntax import cut_tail, find_syntax_error
from pkg.rerank.candidates import Extracted
from pkg.rerank.parsed_question import Question, write_header

_DEFINITION = re.compile(r"^(?:@|def\b|class\b|async\b)", re.MULTILINE)
_CODE_BEGIN = re.compile(r"^(?:return|if|for|while|with|try|import|from|[A-Za-z_][\w., \[\]]*[-+*/]?=)")


def continue_stub(text: str, question: Question) -> list[Extracted]:
    """Return the answer as a continuation of the query's code; its first line may have lost its indentation."""
    body = text.strip("\n")
    stub = question.stub or (write_header(question) if _lacks_header(body) else None)
    is_body = body[:1] in (" ", "\t") or _is_body(body)
    if stub is None or not (is_body or find_syntax_error(body) is not None):
        return []
    whole = stub.rstrip() + "\n"
    note = "continues the query" if question.stub else "its header is missing and was added"
    indented = (
        [body, "    " + body] if body[0] in " \t" else ["    " + body, re.sub(r"^(?=.)", "    ", body, flags=re.M)]
    )
    for piece in indented:
        if find_syntax_error(whole + piece) is None:
            return [Extracted(whole + piece, note)]
    kept = cut_tail(whole + indented[0]) if is_body else ""
    if len(kept) <= len(whole):
        return []
    if is_prose((whole + indented[0])[len(kept) :]):
        return [Extracted(kept.rstrip("\n"), f"{note}; the text after it is not code")]
    return [Extracted(kept, f"{note}; its incomplete end is removed", is_cut=True)]


def _lacks_header(body: str) -> bool:
    """Return whether a text is only the body of a function: it returns outside a function."""
    fault = find_syntax_error(body if body[:1] not in " \t" else f"if 1:\n{body}")
    return fault is not None and "outside function" in fault[0]


def is_prose(rest: str) -> bool:
    """Return whether the text after code is an explanation rather than incomplete code."""
    from pkg.extract.fences import BEGINS, has_prose

    line = rest.strip("\n").partition("\n")[0].encode("utf-8", "replace")
    return has_prose(line + b"\n") or (bool(line[:1].strip()) and not BEGINS.match(line))


def _is_body(text: str) -> bool:
    """Return whether a text may be the body of a function that lost its indentation: statements without definitions."""
    first = re.sub(r"\A(?:[ \t]*#.*\n)+", "", text)
    return bool(_CODE_BEGIN.match(first.lstrip(" \t"))) and _DEFINITION.search(text) is None
