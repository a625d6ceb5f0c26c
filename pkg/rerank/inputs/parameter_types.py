"""Guess the types of parameters from annotations and names, and list alternatives to try."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pkg.rerank.parsed_question import Parameter

_BY_NAME = {
    "int": "n k m x y z i j a b c p q r h w num number count size length len index limit year age row col target start"
    " end low high key val value digit digits base power side radius step level position pos width height capacity",
    "float": "price rate ratio weight threshold tolerance",
    "str": "s st str string text word sentence line char ch name pattern sub substring message paragraph txt date",
    "list[int]": "lst list arr array nums numbers l li xs ls values vals data items elements seq sequence integers"
    " array_nums list_nums series sequence",
    "list[str]": "words strings names strs lines",
    "list[list[int]]": "matrix grid mat board lists lol nested cost",
    "tuple[int, ...]": "tup tuple tupl tuplex",
    "list[tuple[int, int]]": "pairs tuples intervals points edges tuple_list",
    "dict[str, int]": "d dict dictionary mapping dic",
}
_KINDS = {name: kind for kind, names in _BY_NAME.items() for name in names.split()}

ALTERNATIVES = (
    *("int", "str", "list[int]", "list[str]", "list[list[int]]", "tuple[int, ...]", "dict[str, int]", "float"),
    *("list[float]", "list[tuple[int, int]]", "list[tuple[str, int]]", "list[list[str]]", "list[dict[str, int]]"),
)
"""Types to try if a guess was wrong."""

_WORDS = {
    "str": re.compile(r"\b(?:strings?|words?|texts?|sentences?|characters?)\b", re.IGNORECASE),
    "list": re.compile(r"\b(?:lists?|arrays?|matrix|sequences?)\b", re.IGNORECASE),
    "tuple": re.compile(r"\b(?:tuples?|pairs?|points?)\b", re.IGNORECASE),
    "dict": re.compile(r"\b(?:dict|dictionary|dictionaries)\b", re.IGNORECASE),
    "float": re.compile(r"\b(?:floats?|floating|real)\b", re.IGNORECASE),
}
"""Words of a query that suggest a type."""

ArgumentTypes = tuple[str, ...]  # of all arguments of a call


def guess_type(parameter: Parameter) -> str:
    """Return the type of a parameter: its annotation, or a guess from its name, by default int."""
    if parameter.annotation and parameter.annotation not in ("Any", "object"):
        return parameter.annotation
    name = parameter.name.lower().removeprefix("test_").strip("_").rstrip("0123456789").rstrip("_")
    for key in (name, name.rpartition("_")[2], name.partition("_")[0], name.removesuffix("s")):
        if key in _KINDS:
            return _KINDS[key]
    return "int"


def list_alternatives(guessed: ArgumentTypes, query: str) -> Iterator[ArgumentTypes]:
    """Yield alternative types: another type for one argument, or for all arguments of the same type.

    Types that the query mentions come first.
    """
    spoken = {part for part, words in _WORDS.items() if words.search(query)}
    kinds = sorted(ALTERNATIVES, key=lambda kind: -_rate_kind(kind, spoken))
    seen = {guessed}
    for kind in kinds:
        for indices in _list_index_sets(guessed):
            profile = tuple(kind if index in indices else each for index, each in enumerate(guessed))
            if profile not in seen:
                seen.add(profile)
                yield profile


def _rate_kind(kind: str, spoken: set[str]) -> int:
    """Return twice the number of parts of a type that the query mentions, minus the number of other parts."""
    parts = {part for part in _WORDS if part in kind}
    return 2 * len(parts & spoken) - len(parts - spoken)


def _list_index_sets(guessed: Sequence[str]) -> list[set[int]]:
    equal = [{index for index, each in enumerate(guessed) if each == kind} for kind in dict.fromkeys(guessed)]
    return [*equal, *({index} for index in range(len(guessed)))]
