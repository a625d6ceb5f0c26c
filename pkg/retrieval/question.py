"""Parse a question: its terms and their abbreviations, and the identifiers and files it names (P-13).

A long question, such as an issue, is also parsed part by part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from keyword import iskeyword
from typing import TYPE_CHECKING

from pkg.retrieval.long.long_question import Part, is_long
from pkg.terms.term_weights import Related, find_related, weigh_terms
from pkg.terms.words import find_numbers, split_terms, split_words, stem_word

if TYPE_CHECKING:
    from pkg.retrieval.long.tracebacks import StackFrame

SHORTEST, LONGEST = 3, 6  # letters of an abbreviated word; most of two letters are words of their own
INITIALS = (3, 4)
MAX_WORDS = 100  # from the beginning of a question; one with more is mostly code


def list_abbreviations(text: bytes) -> list[str]:
    """List the terms that may abbreviate words of a text, each once; most of them occur nowhere."""
    words = split_words(text)[:MAX_WORDS]
    return list(dict.fromkeys(map(stem_word, (*_list_starts(words), *_list_initials(words)))))


def _list_starts(words: list[str]) -> Iterator[str]:
    """Yield beginnings of words, at least two letters shorter: others are inflections, not abbreviations."""
    for word in dict.fromkeys(words):
        for length in range(SHORTEST, min(LONGEST, len(word) - 2) + 1):
            yield word[:length]


def _list_initials(words: list[str]) -> Iterator[str]:
    """Yield the initials of adjacent words."""
    initials = "".join(word[0] for word in words)
    for length in INITIALS:
        for start in range(len(initials) - length + 1):
            yield initials[start : start + length]


MAX_TEXT = 50_000  # characters of a question that are read: no issue is as long, and logs repeat themselves
MAX_NAMES = 8  # a piece of code has dozens: then none of them is the subject of the question
MAX_MODULES = 2  # names with dots that are also searched as paths of modules: each search costs a millisecond
FRAME_PARTS = 2  # last parts of a path in a stack trace: those before may be the place of an installation
_WORD = r"[^\W\d]\w*"
_FILE = re.compile(r"(?:[\w.-]+/)*[\w-]+\.py\b|(?:[\w-]+/){2,}[\w-]*|(?:[\w-]+/)+(?![\w-])")  # not and/or
_LINE = re.compile(r"(?<![\w./-])((?:[\w.-]+/)*[\w-]+\.py):(\d{1,7})\b")
_NO_PATH = re.compile(r"[\w./-]{300,}")  # too long for a path, and searching it for paths would take quadratic time
_DOTTED = rf"{_WORD}(?:\.{_WORD})*"
_NAME = re.compile(rf"(?<![\w.]){_DOTTED}")
_LOOKS_NAMED = re.compile(r"\w[._]+\w|^_|[a-z\d][A-Z]|[A-Z]{2,}[a-z]")  # a.b, a_b, _a, aB or HTMLParser
_MODULE = re.compile(r"[a-z_]\w+(?:\.[a-z_]\w+)+")  # a.b may be a name, or the end of the path a/b.py
_AS_CODE = re.compile(rf"`({_DOTTED})(?:\(\))?`|\b({_DOTTED})\(")
_IN_QUOTES = re.compile(rf"(?<!\w)['\"‘“]({_DOTTED})['\"’”](?!\w)")
ABBREVIATED = 0.5
"""Weight of a possible abbreviation of a question's word: with .3 to .7, as many of the development questions have
theirs among the matches, and with 1, rare abbreviations outweigh the words themselves."""
MAX_RELATED = 20  # terms of a question whose related words are looked up: a longer one contains the right words itself
_ASKS_TESTS = re.compile(
    r"\btests? (?:for|of|cover\w*|check\w*|cases?|suites?|methods?|functions?)\b"
    r"|\b(?:unit ?|regression )tests?\b|\btested\b"
    r"|\b(?:which|what|where are|list|show|find)(?: me)?(?: the| all)? (?:unit )?tests?\b"
    r"|\b(?:in|among|from) (?:the )?tests?\b|\btest_\w|\bTest[A-Z]\w",
)
"""Phrases that ask for tests themselves; `test` in other phrases, such as `run my tests`, mostly asks for a test
runner."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question in the form that searches and features use."""

    text: str
    terms: tuple[str, ...]  # distinct, in order
    weights: Mapping[str, float]  # weight of each term (pkg.terms.term_weights)
    abbreviations: Mapping[str, float]  # the same for possible abbreviations of its words that are not among its terms
    names: tuple[str, ...] = ()  # identifiers, with dots; none if there are too many
    files: tuple[str, ...] = ()  # paths or ends of paths
    lines: tuple[tuple[str, int], ...] = ()  # lines of files, written path.py:36; at most MAX_MODULES
    asks_tests: bool = False
    related: Related = field(default_factory=dict)  # related words of each term (pkg.terms.term_weights)
    parts: Mapping[Part, Question] = field(default_factory=dict)  # of a long question; otherwise empty
    mentioned: tuple[str, ...] = ()  # of a long question: all names that may be code, those of its title first
    frames: tuple[StackFrame, ...] = ()  # of a long question: the calls of its stack traces

    @property
    def search_weights(self) -> dict[str, float]:
        """Return the weights for lexical search: those of the terms, then those of the abbreviations."""
        return {**self.weights, **self.abbreviations}


def parse_question(text: str) -> Question:
    """Parse a question, and each part of a long one."""
    text = text[:MAX_TEXT]
    if is_long(text):
        return _read_long(_read_question(text))
    return _add_lines(_add_modules(_add_frames(_read_question(text, _IN_QUOTES.findall(text)))))


def _read_question(text: str, quoted: Iterable[str] = ()) -> Question:
    """Parse a text; quoted: words that are names besides those written as code."""
    searched = _NO_PATH.sub(" ", text)
    files = tuple(dict.fromkeys(_FILE.findall(searched)))
    names = tuple(dict.fromkeys((*quoted, *_list_names(_FILE.sub(" ", searched) if files else searched))))
    if len(names) > MAX_NAMES:
        names = ()
    encoded, weights = text.encode("utf-8", "ignore"), {**weigh_terms(text), **dict.fromkeys(find_numbers(text), 1.0)}
    terms = tuple(dict.fromkeys(split_terms(encoded)))
    abbreviations = {term: ABBREVIATED for term in list_abbreviations(encoded) if term not in weights}
    asks_tests = _ASKS_TESTS.search(text) is not None
    related = find_related(weights) if len(weights) <= MAX_RELATED else {}
    return Question(
        text=text,
        terms=terms,
        weights=weights,
        abbreviations=abbreviations,
        names=names,
        files=files,
        asks_tests=asks_tests,
        related=related,
    )


def _add_frames(question: Question) -> Question:
    """Add the function and the end of the path of the last frames of a stack trace, or of a line of one."""
    if 'File "' not in question.text:
        return question
    from pkg.retrieval.long.tracebacks import read_frames

    frames = read_frames(question.text)[: -MAX_MODULES - 1 : -1]
    functions = (frame.function for frame in frames if frame.function)
    files = ("/".join(frame.path.split("/")[-FRAME_PARTS:]) for frame in frames)
    return replace(
        question,
        names=tuple(dict.fromkeys((*functions, *question.names)))[:MAX_NAMES],
        files=tuple(dict.fromkeys(files)) or question.files,
    )


def _add_modules(question: Question) -> Question:
    """Add the paths of modules that names with dots may stand for: ascii.rst for io/ascii/rst.py."""
    modules = [f"{name.replace('.', '/')}.py" for name in question.names if _MODULE.fullmatch(name)]
    return replace(question, files=tuple(dict.fromkeys((*question.files, *modules[:MAX_MODULES]))))


def _add_lines(question: Question) -> Question:
    """Add the lines of files that a question names as path.py:36."""
    found = _LINE.findall(_NO_PATH.sub(" ", question.text)) if ".py:" in question.text else []
    lines = dict.fromkeys((path, int(line)) for path, line in found)
    return replace(question, lines=tuple(lines)[:MAX_MODULES])


def _read_long(question: Question) -> Question:
    """Parse the parts of a long question; it never asks for tests: an issue mentions a failing one."""
    from pkg.retrieval.long.question_parts import read_parts
    from pkg.retrieval.long.tracebacks import read_frames

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
    """Yield names that are written as code: in backticks, called, or spelled unlike prose."""
    for found in _AS_CODE.finditer(text):
        yield found[1] or found[2]
    yield from (name for name in _NAME.findall(text) if _LOOKS_NAMED.search(name))
