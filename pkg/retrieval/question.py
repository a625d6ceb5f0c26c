"""Read a question: its terms and what these may be called in short, and the identifiers and files it names (P-13).

A long question, such as an issue, is read part by part as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from keyword import iskeyword

from pkg.retrieval.long.question_parts import Part, is_long, read_parts
from pkg.retrieval.long.tracebacks import StackFrame, read_frames
from pkg.terms.related import Related, find_related
from pkg.terms.term_weights import weigh_terms
from pkg.terms.words import split_terms, split_words, stem_word

SHORTEST, LONGEST = 3, 6  # letters that a word is cut to; of two, most are words of their own
INITIALS = (3, 4)
MOST_WORDS = 100  # of a question, from its beginning; one with more is mostly code


def list_abbreviations(text: bytes) -> list[str]:
    """List the terms that may abbreviate words of a text, each once; many of them nobody ever wrote."""
    words = split_words(text)[:MOST_WORDS]
    return list(dict.fromkeys(map(stem_word, (*_list_starts(words), *_list_initials(words)))))


def _list_starts(words: list[str]) -> Iterator[str]:
    """Cut words; what is left must be shorter by two letters, or it is no abbreviation but another form."""
    for word in dict.fromkeys(words):
        for length in range(SHORTEST, min(LONGEST, len(word) - 2) + 1):
            yield word[:length]


def _list_initials(words: list[str]) -> Iterator[str]:
    """Give the initials of words that follow one another."""
    initials = "".join(word[0] for word in words)
    for length in INITIALS:
        for start in range(len(initials) - length + 1):
            yield initials[start : start + length]


MOST_TEXT = 50_000  # characters of a question that are read: no issue is as long, and a log says the same in fewer
MOST_NAMES = 8  # a piece of code names dozens: then none of them is what the question is about
_WORD = r"[^\W\d]\w*"
_FILE = re.compile(r"(?:[\w.-]+/)*[\w-]+\.py\b|(?:[\w-]+/){2,}[\w-]*|(?:[\w-]+/)+(?![\w-])")  # but no and/or
_NO_PATH = re.compile(r"[\w./-]{300,}")  # too long for any: to look for paths in it would take the square of its length
_NAME = re.compile(rf"(?<![\w.]){_WORD}(?:\.{_WORD})*")
_LOOKS_NAMED = re.compile(r"\w[._]+\w|^_|[a-z\d][A-Z]|[A-Z]{2,}[a-z]")  # a.b, a_b, _a, aB or HTMLParser
_QUOTED = re.compile(rf"`({_WORD}(?:\.{_WORD})*)(?:\(\))?`|\b({_WORD}(?:\.{_WORD})*)\(")
ABBREVIATED = 0.5
"""Weight of what may abbreviate a word of the question: with .3 to .7, as many of the development questions have theirs
among what the searches find, and with 1, what stands in few functions outweighs the words themselves."""
MOST_RELATED = 20  # terms of a question of which related words are looked up: a longer one says what it means itself
_ASKS_TESTS = re.compile(
    r"\btests? (?:for|of|cover\w*|check\w*|cases?|suites?|methods?|functions?)\b"
    r"|\b(?:unit ?|regression )tests?\b|\btested\b"
    r"|\b(?:which|what|where are|list|show|find)(?: me)?(?: the| all)? (?:unit )?tests?\b"
    r"|\b(?:in|among|from) (?:the )?tests?\b|\btest_\w|\bTest[A-Z]\w",
)
"""What asks for tests themselves; who says `test` otherwise, such as `run my tests`, mostly asks for what runs them."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question as searches and features want it."""

    text: str
    terms: tuple[str, ...]  # distinct, in their order
    weights: Mapping[str, float]  # how much each term counts (pkg.terms.term_weights)
    abbreviations: Mapping[str, float]  # the same for what may abbreviate words of it, and is none of its terms
    names: tuple[str, ...] = ()  # identifiers, dots kept; none where there are too many
    files: tuple[str, ...] = ()  # paths or ends of paths
    asks_tests: bool = False
    related: Related = field(default_factory=dict)  # what is used like each term (pkg.terms.related)
    parts: Mapping[Part, Question] = field(default_factory=dict)  # of a long question; a short one has none
    mentioned: tuple[str, ...] = ()  # of a long question: all names that may be of code, those of its title first
    frames: tuple[StackFrame, ...] = ()  # of a long question: the calls of its stack traces

    @property
    def sought(self) -> dict[str, float]:
        """Give all that the lexical search looks for: the weights of the terms, then those of the abbreviations."""
        return {**self.weights, **self.abbreviations}


def parse_question(text: str) -> Question:
    """Find out what a question says, and of a long one each of its parts."""
    text = text[:MOST_TEXT]
    question = _read_question(text)
    return _read_long(question) if is_long(text) else question


def _read_question(text: str) -> Question:
    searched = _NO_PATH.sub(" ", text)
    files = tuple(dict.fromkeys(_FILE.findall(searched)))
    names = tuple(dict.fromkeys(_list_names(_FILE.sub(" ", searched) if files else searched)))
    if len(names) > MOST_NAMES:
        names = ()
    encoded, weights = text.encode("utf-8", "ignore"), weigh_terms(text)
    terms = tuple(dict.fromkeys(split_terms(encoded)))
    abbreviations = {term: ABBREVIATED for term in list_abbreviations(encoded) if term not in weights}
    asks_tests = _ASKS_TESTS.search(text) is not None
    related = find_related(weights) if len(weights) <= MOST_RELATED else {}
    return Question(text, terms, weights, abbreviations, names, files, asks_tests, related=related)


def _read_long(question: Question) -> Question:
    """Read the parts of a long question; it asks for no tests, whatever it says: an issue tells of one that fails."""
    texts = read_parts(question.text)
    parts = {part: _read_question(text) for part, text in texts.items()}
    prose = "\n".join(texts.get(part, "") for part in (Part.TITLE, Part.PROSE))
    code = (name for name in _NAME.findall(texts.get(Part.CODE, "")) if not iskeyword(name))
    title = _NAME.findall(texts[Part.TITLE])
    return replace(
        question,
        asks_tests=False,
        parts=parts,
        mentioned=tuple(dict.fromkeys((*title, *_list_names(prose), *code))),
        frames=tuple(read_frames(question.text)),
    )


def _list_names(text: str) -> Iterator[str]:
    """Give what is written as code is: quoted, called, or of a form that prose does not have."""
    for found in _QUOTED.finditer(text):
        yield found.group(1) or found.group(2)
    yield from (name for name in _NAME.findall(text) if _LOOKS_NAMED.search(name))
