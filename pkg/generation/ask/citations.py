"""Check the statements of an answer: the cited pieces must exist and support them, and the graph must have their links.

A small model often cites nothing. Then the piece of evidence that best supports the statement is cited and marked as
added.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from pkg.generation.ask.repository_answer import Citation, Statement
from pkg.generation.ask.support import Verdict, judge_support
from pkg.retrieval.deps.link_facts import LinkClaim, LinkFact, LinkVerb
from pkg.retrieval.evidence.evidence import Evidence, PlacedLine

CheckLink = Callable[[LinkClaim], LinkFact | None]
"""Compares a claim about a link with the graph; None if the graph does not know its names."""

_RANKS: dict[Verdict, int] = {"unsupported": 0, "partly": 1, "supported": 2}
MOST_PLACES = 5  # of one citation of a list of links

_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_NUMBERS = re.compile(r"\[(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\]")
_ITEM = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
_SENTENCE_END = re.compile(r"(?<=[.!?:;])(?=\s+(?:[A-Z`\"'\[(*-]|$))")
_CODE_NAME = re.compile(r"`([^`\n]{1,80})`|\b(\w+(?:[._]\w+)+|_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*)\b|\b(\w+)\(")
_WORD = re.compile(r"[A-Za-z_]\w*")
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


def check_statements(
    text: str, pieces: Mapping[int, Evidence], question: str, check_link: CheckLink = lambda claim: None
) -> tuple[Statement, ...]:
    """Split an answer into statements, and check each against its cited pieces, and its links against the graph."""
    known = {word for piece in pieces.values() for word in _words(_read(piece))} | _words(question)
    return tuple(_check(statement, pieces, known, check_link) for statement in split_statements(text))


def split_statements(text: str) -> list[str]:
    """Split a text into sentences, list items and fenced code; a citation after a sentence belongs to it."""
    parts: list[str] = []
    position = 0
    for fence in _FENCE.finditer(text):
        parts += _split_prose(text[position : fence.start()])
        parts.append(fence[0])
        position = fence.end()
    parts += _split_prose(text[position:])
    return list(_join_numbers(part.strip() for part in parts if part.strip()))


def _split_prose(text: str) -> list[str]:
    return [part for line in text.splitlines() for part in _SENTENCE_END.split(_ITEM.sub("", line))]


def _join_numbers(parts: Iterator[str] | Sequence[str]) -> Iterator[str]:
    """Append separate citations to the statement before them."""
    held = ""
    for part in parts:
        alone = re.match(rf"(?:{_NUMBERS.pattern}[\s.,]*)+", part)
        if held and alone:
            held = f"{held} {alone[0].strip()}"
            part = part[alone.end() :].strip()
            if not part:
                continue
        if held:
            yield held
        held = part
    if held:
        yield held


def _check(statement: str, pieces: Mapping[int, Evidence], known: set[str], check_link: CheckLink) -> Statement:
    plain = _NUMBERS.sub(" ", statement)
    cited = list(dict.fromkeys(_list_numbers(statement)))
    names = list(dict.fromkeys(_list_names(plain)))
    citations = [_cite(number, pieces.get(number), plain, names) for number in cited]
    verdict = judge_support(plain, names, "\n".join(_read(pieces[number]) for number in cited if number in pieces))
    if not cited:
        verdicts = {number: judge_support(plain, names, _read(piece)) for number, piece in pieces.items()}
        ranks, words = {number: _RANKS[each] for number, each in verdicts.items()}, _words(plain)
        best = max(pieces, key=lambda number: (ranks[number], _is_named(pieces[number], words), -number), default=None)
        if best is not None and ranks[best]:
            verdict = verdicts[best]
            citations = [Citation(best, verdict, _find_places(pieces[best], plain), is_added=True)]
    links = tuple(fact for claim in list_link_claims(plain) if (fact := check_link(claim)) is not None)
    if links:
        verdict = "supported" if all(fact.holds for fact in links) else "unsupported"
    unknown = tuple(name for name in names if not _words(name) <= known)
    return Statement(statement, tuple(citations), unknown, verdict, links)


def _is_named(piece: Evidence, words: set[str]) -> bool:
    """Return whether the words of a statement include the name of the piece's definition."""
    return piece.kind == "code" and piece.title.rpartition(" ")[2].rpartition(".")[2] in words


def _cite(number: int, piece: Evidence | None, statement: str, names: Sequence[str]) -> Citation:
    if piece is None:
        return Citation(number, "missing")
    return Citation(number, judge_support(statement, names, _read(piece)), _find_places(piece, statement))


def _list_numbers(text: str) -> Iterator[int]:
    """Yield the numbers that a text cites: [2], [2][3], [2, 3] or [2-4]."""
    for found in _NUMBERS.finditer(text):
        for part in re.split(r"[,;]", found[1]):
            ends = [int(each) for each in re.split(r"[–-]", part)]
            yield from range(ends[0], min(ends[-1], ends[0] + 20) + 1)


def _list_names(text: str) -> Iterator[str]:
    """Yield the code names of a text."""
    for found in _CODE_NAME.finditer(text):
        name = next(group for group in found.groups() if group)
        yield from _WORD.findall(name) if "(" in name or " " in name else [name]


def _find_places(piece: Evidence, statement: str) -> tuple[str, ...]:
    """Return the place of a piece, or of a list of links the places of the lines that the statement names."""
    words = _words(statement)
    named = [line for line in piece.lines if _is_line_named(line, words)]
    return tuple(f"{line.path}:{line.line}" for line in named[:MOST_PLACES]) or (piece.place,)


def _is_line_named(line: PlacedLine, words: set[str]) -> bool:
    """Return whether words include the last part of a line's name, or its file if the line has no name."""
    name = line.name.rpartition("/")[2].removesuffix(".py") if "/" in line.name else line.name.rpartition(".")[2]
    return (name or line.path.rpartition("/")[2].partition(".")[0]) in words


def _read(piece: Evidence) -> str:
    return f"{piece.path} {piece.title}\n{piece.content}"


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text))


def list_link_claims(statement: str) -> Iterator[LinkClaim]:
    """Yield what a statement claims about links between two names (Q-16).

    A model mixes up the direction of a link, and the evidence of one definition names the other all the same. Such a
    claim is compared with the graph.
    """
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
