"""Recognise questions about links by their wording.

A question is reduced to a skeleton: verbs and nouns of links become tokens, filler words vanish, and each phrase of
other words becomes a subject. Only skeletons of a table are recognised, so a question with any further content is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from pkg.retrieval.link_questions.link_lexicon import (
    ASPECTS,
    CHOOSERS,
    DETERMINERS,
    FILLERS,
    KINDS,
    NAMING,
    OBJECTS,
    PREPOSITIONS,
    TOKENS,
)  # fmt: skip
from pkg.retrieval.link_questions.link_skeletons import LinkKind, list_skeletons

LONGEST_QUESTION = 300  # characters: a longer text is more than a question about a link

_PIECE = re.compile(
    r"`(?P<tick>[^`\n]+)`|\"(?P<double>[^\"\n]+)\"|(?<!\w)'(?P<single>[^'\n]+)'(?!\w)|[‘“](?P<curly>[^’”\n]+)[’”]"
    r"|(?P<word>[^\W\d_][\w'’-]*(?<![-'’]))(?![\w./:(\[])|(?P<code>[^\s,;?!\"`]+)|(?P<mark>[,;])"
)
_LOOKS_NAMED = re.compile(r"\w[._/:]+\w|^_|_|[a-z\d][A-Z]|[A-Z]{2,}|^[A-Z][a-z]+|\d|\(")
_ORDINARY = TOKENS.keys() | FILLERS | PREPOSITIONS | {"and", "or", "i"}
_LEAD = re.compile(
    r"(?:(?:i|we)(?:'d| would)? (?:want|need|like|wish|have) to (?:know|see|find(?: out)?|understand|learn)"
    r"|(?:i|we) (?:wonder|am wondering|was wondering)|do you know|any idea)\b[ ,:]*",
    re.IGNORECASE,
)


_ELSEWHERE = re.compile(
    r" (?:(?:outside(?: of)?|beyond) (?:its|their|the|his)(?: own)? (?:file|module)"
    r"|(?:in|from|by) (?:any |some |the )?other (?:files?|modules?))\b",
    re.IGNORECASE,
)
_ASKING = ("who", "what", "where")
"""First words of a part of a question that are not those of a relative clause."""


class Phrase(NamedTuple):
    """A phrase that may name a definition or file: its candidates for the name, and where that is."""

    names: tuple[str, ...]  # the likeliest first
    kind: str = ""  # label of the definition, if a noun says it
    inside: tuple[str, ...] = ()  # names of the class, module or folder around it
    is_plain: bool = False  # an ordinary word without a sign that it is a name


@dataclass(frozen=True, slots=True)
class LinkClause:
    """One recognised question."""

    kind: LinkKind
    subjects: tuple[Phrase, ...]
    other: Phrase | None = None  # of a link between two subjects, its end
    within: Phrase | None = None  # the place that the results must be in
    is_elsewhere: bool = False  # whether the results must be in other files than the subject


@dataclass(frozen=True, slots=True)
class _Part:
    token: str  # a token of the lexicon, a preposition, or X for a subject
    phrase: Phrase | None = None
    word: str = ""


class LinkQuestion(NamedTuple):
    """Questions about links in a text, and whether all of it does."""

    clauses: tuple[LinkClause, ...]
    is_whole: bool = True


def parse_link_question(text: str) -> LinkQuestion:
    """Return what a question asks about links; of a question that asks more, the parts that name a definition."""
    if len(text) > LONGEST_QUESTION:
        return LinkQuestion(())
    plain = _LEAD.sub("", " ".join(text.split()).strip(" .?!"), count=1)
    kept = _ELSEWHERE.sub("", plain)
    words = _read_words(kept)
    parts = _read_parts(words)
    found = _parse(parts)
    if words and not any(each.token in ("X", "?") for each in parts):
        # A name that is also a word of the lexicon: who calls run.
        found = _parse(_read_parts([*words[:-1], words[-1]._replace(is_quoted=True)]))
    is_elsewhere = kept != plain
    return found._replace(clauses=tuple(replace(each, is_elsewhere=is_elsewhere) for each in found.clauses))


def _parse(parts: list[_Part]) -> LinkQuestion:
    within = None
    if len(parts) > 2 and [each.token for each in parts[:2]] == ["in", "X"]:  # in the package kombu, who ...
        within = parts[1].phrase
        parts = parts[3:] if parts[2].token == "and" else parts[2:]
    found = _match_all(parts)
    clauses = (each if within is None else replace(each, within=each.within or within) for each in found.clauses)
    return found._replace(clauses=tuple(clauses))


def _match_all(parts: Sequence[_Part]) -> LinkQuestion:
    if whole := _match(parts):
        return LinkQuestion((whole,))
    groups = list(_split(parts))
    found: list[LinkClause] = []
    asked: list[LinkClause] = []
    for group in groups:
        clause = _match(_refer(group, found))
        if clause is not None:
            found.append(clause)
            if group[0].word in _ASKING and not any(phrase.is_plain for phrase in clause.subjects):
                asked.append(clause)
    if len(found) == len(groups):
        return LinkQuestion(tuple(found))
    return LinkQuestion(tuple(asked), False)


def _split(parts: Sequence[_Part]) -> Iterator[list[_Part]]:
    """Yield the parts between `and` and commas."""
    group: list[_Part] = []
    for part in parts:
        if part.token != "and":
            group.append(part)
        elif group:
            yield group
            group = []
    if group:
        yield group


def _refer(group: Sequence[_Part], before: Sequence[LinkClause]) -> list[_Part]:
    """Replace a pronoun by the subject of the question before."""
    if not before:
        return list(group)
    return [_Part("X", before[-1].subjects[0]) if each.token == "IT" else each for each in group]


def _match(parts: Sequence[_Part]) -> LinkClause | None:
    """Match a skeleton with the table."""
    phrases = [each.phrase for each in parts if each.phrase is not None]
    if not phrases or not all(each.names for each in phrases):
        return None
    whole = _join_subjects([each.token for each in parts])
    starts = [whole, re.sub(r"^(?:FIND |CAN FIND |IT )+", "", whole)]
    if whole.startswith("IF "):
        starts.append(whole.replace(" and ", " "))
    for skeleton in dict.fromkeys(starts):
        for kind, pattern in list_skeletons():
            if clause := _match_row(kind, pattern, skeleton, phrases):
                if clause.kind == "needs" and "FILE" in skeleton.split() and _is_file(clause.subjects[0]):
                    return replace(clause, kind="imports")  # which libraries are used in cart.py
                return clause
    return None


def _is_file(phrase: Phrase) -> bool:
    return phrase.kind == "File" or "/" in phrase.names[0] or phrase.names[0].endswith(".py")


def _join_subjects(tokens: Sequence[str]) -> str:
    """Return a skeleton in which several subjects are one: callers of X and X."""
    return re.sub(r"\bX(?: and X)+$", "X", " ".join(tokens))


def _match_row(kind: str, pattern: re.Pattern[str], skeleton: str, phrases: Sequence[Phrase]) -> LinkClause | None:
    text = pattern.pattern
    names = skeleton.split().count("X")
    if "Y" in re.findall(r"\b[A-Z]\b", text):
        if names != 2 or len(phrases) != 2 or not pattern.fullmatch(_second(skeleton, "Y")):
            return None
        if all(each.is_plain for each in phrases):
            return None
        first, second = phrases if not kind.startswith("-") else phrases[::-1]
        return LinkClause(_kind(kind.lstrip("-")), (first,), second)
    if " N" in text:
        only = phrases[0]
        is_name = not only.is_plain or bool(only.kind)
        is_found = names == 1 and is_name and pattern.fullmatch(skeleton.replace("X", "N"))
        return LinkClause(_kind(kind), tuple(phrases)) if is_found else None
    if names == 2 and "in Z" in text:
        placed = re.sub(r"\bX\b", "Z", skeleton, count=1)
        return LinkClause(_kind(kind), (phrases[1],), within=phrases[0]) if pattern.fullmatch(placed) else None
    return LinkClause(_kind(kind), tuple(phrases)) if names == 1 and pattern.fullmatch(skeleton) else None


def _second(skeleton: str, letter: str) -> str:
    head, _, tail = skeleton.rpartition("X")
    return f"{head}{letter}{tail}"


def _kind(kind: str) -> LinkKind:
    return kind  # type: ignore[return-value]


class _Word(NamedTuple):
    """A word of a question; quoted: written as code or in quotes."""

    text: str
    is_quoted: bool = False

    @property
    def lower(self) -> str:
        return self.text.lower().replace("’", "'")

    @property
    def is_code(self) -> bool:
        """Return whether it is written as only a name is."""
        return self.is_quoted or bool(_LOOKS_NAMED.search(self.text))

    @property
    def token(self) -> str:
        """Return its token of the lexicon; "" for content."""
        if self.is_quoted:
            return ""
        word = self.lower
        return TOKENS.get(word, "") or (word if word in PREPOSITIONS else "")


def _read_words(text: str) -> list[_Word]:
    words: list[_Word] = []
    for found in _PIECE.finditer(text):
        quoted = found["tick"] or found["double"] or found["single"] or found["curly"]
        if quoted is not None:
            name = quoted.strip()
            words += [_Word(name, True)] if " " not in name else [_Word(each) for each in name.split()]
        elif found["mark"]:
            words.append(_Word("and"))
        else:
            words += _read_plain(found[0].strip(".,:!?"))
    # The first word of a sentence has a capital letter in any case.
    if words and not words[0].is_quoted and words[0].text.istitle() and words[0].lower in _ORDINARY:
        words[0] = _Word(words[0].lower)
    return words


def _read_plain(word: str) -> Iterator[_Word]:
    owner = re.fullmatch(r"(.+)['’]s", word)
    if owner and owner[1].lower() in ("what", "who", "where", "it", "that"):
        yield _Word(owner[1])
    elif owner:
        yield from (_Word(owner[1]), _Word("'s"))
    elif word:
        yield _Word(word)


def _read_parts(words: Sequence[_Word]) -> list[_Part]:
    """Reduce a question to tokens, prepositions and subjects."""
    parts: list[_Part] = []
    place = 0
    while place < len(words):
        end, phrase = _read_phrase(words, place)
        if phrase is not None:
            is_asked = phrase.is_plain and bool(parts) and parts[-1].word in ("which", "what")
            follows = words[end].token if end < len(words) else ""
            if is_asked and follows in _VERBS and words[end].lower != "called":  # which transports call
                parts.append(_Part("THING"))
            else:
                is_noun = is_asked or (phrase.is_plain and bool(parts) and parts[-1].word == "test")  # test runner
                parts.append(_Part("X", phrase._replace(names=()) if is_noun else phrase))
            place = end
            continue
        word = words[place]
        place += 1
        if word.lower in ("and", "or"):
            parts.append(_Part("and"))
        elif word.token == "MANY" and parts and parts[-1].token == "HOW":
            parts[-1] = _Part("WHO")
        elif word.token:
            parts.append(_Part(word.token, word=word.lower))
        elif word.lower not in FILLERS:
            parts.append(_Part("?"))
    return _drop_scope(parts)


_VERBS = frozenset({"CALL", "USE", "IMPORT", "INHERIT", "OVERRIDE", "CREATE", "READ", "IMPLEMENT"})
_BEFORE_SCOPE = frozenset({"X", "CALLED", "USED", "IMPORTED", "THING", "FILE", "TESTED", "WHO"})
_AFTER_SCOPE = frozenset({"", "and", "CALL", "USE", "IMPORT", "INHERIT", "CREATE", "OVERRIDE"})


def _drop_scope(parts: list[_Part]) -> list[_Part]:
    """Drop prepositions that lost their noun, such as those of `in the project`; not that of `which file is X in`."""
    kept: list[_Part] = []
    for number, part in enumerate(parts):
        following = parts[number + 1].token if number + 1 < len(parts) else ""
        is_place = part.token in ("in", "within", "inside", "of", "at", "with")
        is_bare = is_place and following in _AFTER_SCOPE and bool(kept) and kept[-1].token in _BEFORE_SCOPE
        asks_file = not following and any(each.token == "FILE" for each in kept)
        if not is_bare or asks_file:
            kept.append(part)
    return kept


def _read_phrase(words: Sequence[_Word], start: int) -> tuple[int, Phrase | None]:
    """Read a phrase that starts at a word: a name with its determiners, kind and place."""
    place, is_definite, kind, is_named = start, False, "", False
    while place < len(words) and words[place].lower in DETERMINERS and not words[place].is_code:
        is_definite, place = True, place + 1
    head: list[_Word] = []
    while place < len(words):
        word = words[place]
        follows = words[place + 1] if place + 1 < len(words) else None
        if word.lower in KINDS and not word.is_quoted and (head or _names_kind(words, place, is_definite)):
            kind, place = KINDS[word.lower], place + 1
            if head and not (follows is not None and follows.lower in NAMING):
                break
        elif (
            word.lower in NAMING
            and kind
            and not word.is_quoted
            and follows is not None
            and not _is_function_word(follows)
        ):
            is_named, head, place = True, [], place + 1
        elif word.is_code or (not word.token and word.lower not in FILLERS and word.lower not in ("and", "or", "'s")):
            head.append(word)
            place += 1
        elif is_definite and not head and _is_before_kind(words, place):
            head.append(word)  # a name that is also a word of the lexicon: the call method
            place += 1
        else:
            break
    if not head:
        return start, None
    if place < len(words) and words[place].lower == "'s":
        end, inner = _read_phrase(words, place + 1)
        if inner is not None:
            return end, inner._replace(inside=(*inner.inside, _pick(head)[0]))
        if place + 1 < len(words) and words[place + 1].lower in ASPECTS:
            place += 2
    if place < len(words) and words[place].lower in OBJECTS and (head[-1].is_code or is_named or kind):
        place += 1
    end, inside = _read_places(words, place)
    names = _pick(head, is_named, bool(kind))
    plain = not any(each.is_code for each in head) and not is_named
    if plain and len(head) > 1 and not kind:
        return end, Phrase((), kind, inside, True)
    if plain and is_definite and not kind and not inside:
        return end, Phrase((), kind, inside, True)  # an ordinary noun, such as the timeout
    return end, Phrase(names, kind, inside, plain)


def _names_kind(words: Sequence[_Word], place: int, is_definite: bool) -> bool:
    """Return whether a noun of a kind is followed by the name, as in `class Worker`, and not asked for itself."""
    if place + 1 >= len(words) or (place and words[place - 1].lower in CHOOSERS):
        return False
    follows = words[place + 1]
    return follows.is_code or (is_definite and (follows.lower in NAMING or not _is_function_word(follows)))


def _is_before_kind(words: Sequence[_Word], place: int) -> bool:
    """Return whether a noun of a kind follows, which has no other name after it."""
    after = words[place + 1 : place + 3]
    return bool(after) and after[0].lower in KINDS and not (len(after) > 1 and after[1].is_code)


def _is_function_word(word: _Word) -> bool:
    return not word.is_code and (bool(word.token) or word.lower in FILLERS or word.lower in ("and", "or", "'s"))


def _read_places(words: Sequence[_Word], place: int) -> tuple[int, tuple[str, ...]]:
    """Read the places after a name: of Connection, in the module kombu.connection."""
    found: tuple[str, ...] = ()
    while place + 1 < len(words) and words[place].lower in ("of", "in", "on", "from", "inside", "within", "at"):
        end, inner = _read_phrase(words, place + 1)
        if inner is None or not inner.names:
            break
        found, place = (*found, inner.names[0], *inner.inside), end
    return place, found


def _pick(head: Sequence[_Word], is_named: bool = False, has_kind: bool = False) -> tuple[str, ...]:
    """Return the names that words may stand for: the one that looks like a name, or all joined as names are."""
    for word in head if not is_named else head[:1]:
        if word.is_code or is_named:
            return (re.sub(r"\(.*$", "", word.text).strip(".,:"),)
    words = [each.text for each in head]
    joined = "_".join(words).replace("-", "_")
    names = [words[0]] if len(words) == 1 else []
    if has_kind or len(words) > 1:
        camel = "".join(each[:1].upper() + each[1:] for each in joined.split("_"))
        names += [joined, camel]
    return tuple(dict.fromkeys(names))
