"""Parse examples with labelled arguments: `Input: arr = [3, 1], k = 2` with `Output: [1, 3]`, and `For N = 5 the output
should be "101"`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pkg.rerank.candidates import Check, Example
from pkg.rerank.examples.arrows import parse_result
from pkg.rerank.examples.literals import MAX_VALUE, NotLiteral, find_literal_end, parse_literal, write_value
from pkg.rerank.parsed_question import Question

_LABELLED = re.compile(
    r"\binputs?(?:[ \t]*\d+)?[ \t]*(?:[:=]|[-=]+>)[ \t]*(?P<given>.{1,2000}?)"
    r"[\s.,;|]*\b(?:expected[ \t]+)?(?:outputs?|results?|returns?)(?:[ \t]*\d+)?[ \t]*(?:[:=]|[-=]+>)\s*",
    re.IGNORECASE | re.DOTALL,
)
_TOLD = re.compile(
    r"\b(?:for|if|when|given|with)[ \t]+(?P<given>[A-Za-z_]\w*[ \t]*(?:={1,2}|:|is)[ \t]*.{1,2000}?)[\s,:;]*"
    r"\b(?:output|result|answer|returns?|return[ \t]+value|outputs|gives?)\b\s*"
    r"(?:\b(?:should|must|will|would)\b\s*)?(?:\b(?:be|is|return|equals?|equal[ \t]+to)\b)?\s*(?:[:=]|[-=]+>|➞|→)*\s*",
    re.IGNORECASE | re.DOTALL,
)
_ASSIGNED = re.compile(
    r"^[ \t]*(?P<given>[A-Za-z_]\w*[ \t]*=[ \t]*[^\n]{1,2000})(?:\n[ \t]*(?:[-=]+>|➞|→)[^\n]*){0,4}"
    r"\n[ \t]*(?:returns?|outputs?|result)\b[ \t]*(?:[:=]|[-=]+>)?[ \t]*",
    re.MULTILINE,
)
_BOLD = re.compile(
    r"(?:\*\*|__|<(?:strong|b)>)((?:in|out)puts?)[ \t]*:?(?:\*\*|__|</(?:strong|b)>)[ \t]*:?", re.IGNORECASE
)
_READERS = ((_LABELLED, "input and output"), (_TOLD, "given"), (_ASSIGNED, "given"))
_NAME = re.compile(r"[\s,;&]*(?:and\s+)?(?:([A-Za-z_]\w*)\s*(?:={1,2}|:|\bis\b)\s*)?")
_ASIDE = re.compile(r"[ \t]*,?[ \t]*(?!and\b)[A-Za-z][^\n=]{0,80}")  # such as: the sum of digits will be 1


def find_labelled(text: str, question: Question) -> Iterator[Example]:
    """Yield the examples of a text whose arguments are labelled with their names or the word input."""
    if question.entry is None or question.parameters is None:
        return
    text = _BOLD.sub(lambda found: f"{found[1]}:".ljust(len(found[0])), text)
    for pattern, notation in _READERS:
        position = 0
        while found := pattern.search(text, position):
            position = found.start() + 1
            try:
                call = _write_call(_parse_arguments(found["given"], notation == "given"), question)
                value = parse_result(text, found.end())
            except NotLiteral:
                continue
            position = found.end()
            line = text.count("\n", 0, found.start()) + 1
            yield Example(call, Check.VALUE, value, notation, line)


def _parse_arguments(text: str, is_named: bool) -> list[tuple[str | None, object]]:
    """Parse consecutive values with or without names, to the end of the text."""
    found: list[tuple[str | None, object]] = []
    position = 0
    while text[position:].strip(" \t\n,;.`"):
        name = _NAME.match(text, position)
        start = name.end() if name else position
        end = find_literal_end(text, start)
        if found and end < 0 and is_named and _ASIDE.fullmatch(text, position):
            break
        if end < 0 or end - start > MAX_VALUE or (is_named and not (name and name.group(1))):
            raise NotLiteral(text[start : start + 40])
        found.append((name.group(1) if name else None, parse_literal(text[start:end])))
        position = end
    return found


def _write_call(arguments: list[tuple[str | None, object]], question: Question) -> str:
    """Return the call with its arguments in the order of the parameters; raises NotLiteral if they do not fit."""
    names = [each.name for each in question.parameters or ()]
    if len(arguments) == 1 and len(names) == 1:
        values = [arguments[0][1]]
    elif [name for name, _ in arguments] == [None] * len(names):
        values = [value for _, value in arguments]
    else:
        values = _order(arguments, names)
    if not values:
        raise NotLiteral("no arguments")
    return f"{question.callee}({', '.join(map(write_value, values))})"


def _order(arguments: list[tuple[str | None, object]], names: list[str]) -> list[object]:
    """Return named values in the order of the parameters; one of several names may differ."""
    given = [(name or "").lower() for name, _ in arguments]
    wanted = [name.lower() for name in names]
    by_name = {name: value for name, (_, value) in zip(given, arguments, strict=True)}
    if len(by_name) != len(arguments) or len(given) != len(wanted):
        raise NotLiteral("arguments that do not fit the parameters")
    if set(by_name) == set(wanted):
        return [by_name[name] for name in wanted]
    if sum(one != other for one, other in zip(given, wanted, strict=True)) == 1:
        return [value for _, value in arguments]
    raise NotLiteral("names that are not parameters")
