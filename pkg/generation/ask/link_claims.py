"""Find the statements of an answer about links: that one definition calls, imports, inherits from or contains another.

A model mixes up the direction of a link, and the evidence of one definition names the other all the same. Such a claim
is compared with the graph (Q-16).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pkg.retrieval.deps.link_facts import LinkClaim, LinkVerb

_NAME = re.compile(
    r"`([A-Za-z_][\w./-]*)(?:\(\))?`"
    r"|(?<![\w./])((?:[A-Za-z_]\w*/)*[A-Za-z_]\w*\.py|[A-Za-z_]\w*(?:\.\w+)+|\w*_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*)(?![\w(])"
    r"|\b([A-Za-z_][\w.]*)\(\)"
)
_VERBS: dict[LinkVerb, str] = {
    "calls": r"(?:directly\s+)?(?:calls?|invokes?)",
    "imports": r"imports?",
    "inherits from": r"(?:inherits?|derives?)\s+from|extends?|subclasses|is\s+(?:not\s+)?(?:a|the)\s+subclass\s+of",
    "overrides": r"overrides?",
    "is defined in": r"(?:is|are)\s+(?:not\s+)?(?:defined|declared|located|implemented)\s+in|lives\s+in",
}
_PASSIVE: dict[LinkVerb, str] = {
    "calls": r"(?:is|are)\s+(?:not\s+)?(?:called|invoked)\s+by",
    "imports": r"(?:is|are)\s+(?:not\s+)?imported\s+by",
    "inherits from": r"is\s+(?:not\s+)?(?:extended|subclassed)\s+by|is\s+(?:not\s+)?(?:a|the)\s+base\s+(?:class\s+)?of",
    "overrides": r"is\s+(?:not\s+)?overridden\s+by",
}
_ALL = [(verb, False, pattern) for verb, pattern in _VERBS.items()] + [
    (verb, True, pattern) for verb, pattern in _PASSIVE.items()
]
_VERB = re.compile("|".join(rf"(?P<v{number}>\b(?:{pattern})\b)" for number, (_, _, pattern) in enumerate(_ALL)))
_BETWEEN = re.compile(
    r"^[\s,]*(?:(?:and|or|both|the|a|an|its|function|method|class|module|file|functions|methods)[\s,]+)*$"
)
_SUBJECT_GAP = 40  # characters from a subject to its verb
_NEGATED = re.compile(r"\b(?:(?:do|does|did)\s+not|\w+n['’]t|never|not)\s+$", re.IGNORECASE)
_CLAUSE = re.compile(r"[.;:]\s|\b(?:which|that|because|when|if|while)\b")


def list_link_claims(statement: str) -> Iterator[LinkClaim]:
    """Yield what a statement claims about links between two names."""
    names = [(found.start(), found.end(), next(filter(None, found.groups()))) for found in _NAME.finditer(statement)]
    for found in _VERB.finditer(statement):
        verb, is_passive, _ = _ALL[int(str(found.lastgroup)[1:])]
        before = [each for each in names if each[1] <= found.start()]
        if not before or found.start() - before[-1][1] > _SUBJECT_GAP:
            continue
        if _CLAUSE.search(statement[before[-1][1] : found.start()]):
            continue
        subject, position = before[-1][2], found.end()
        is_negated = bool(_NEGATED.search(statement[before[-1][1] : found.start()]) or " not " in found[0])
        for start, end, name in (each for each in names if each[0] >= found.end()):
            if not _BETWEEN.match(statement[position:start]):
                break
            ends = (name, subject) if is_passive else (subject, name)
            yield LinkClaim(verb, *ends, is_negated)
            position = end
