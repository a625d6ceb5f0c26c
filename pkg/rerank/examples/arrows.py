"""Parse examples such as `f(2) => 4`, `f(2) returns 4`, `f(2) should be 4` and `f(2) -> 1 + 3 = 4`.

Also accepts another function name, and strings without quotes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from pkg.rerank.candidates import Check, Example
from pkg.rerank.examples.calls import FoundCall, find_calls
from pkg.rerank.examples.literals import (
    MAX_VALUE,
    NotLiteral,
    find_literal_end,
    parse_expression,
    parse_literal,
    write_value,
)
from pkg.rerank.parsed_question import Question

_VERB = (
    r"(?:returns?|gives?|outputs?|prints?|produces?|yields?|evaluates?\s+to|results?\s+in|equals?|is\s+equal\s+to|be"
    r"|is|becomes?|return(?:ing|ed))"
)
_LINK = re.compile(
    r"[`*'\"]{0,2}[ \t]*(?:\#[ \t]*)?,?[ \t]*(?:"
    r"(?:[-=]+>|➞|→|⇒|➜|⟶|⟹|↦|={1,3}|:=?)[ \t]*(?:\b" + _VERB + r"\b)?"
    r"|(?:(?:should|must|will|would|shall|can|has\s+to)\s+)?\b" + _VERB + r"\b"
    r")(?:\s+(?:the|a|an))?(?:\s+(?:value|string|list|integer|number|result|answer|output|boolean|tuple|dictionary))?"
    r"[ \t]*[:=]?\s*`?"
)
_RAISES = re.compile(
    r"[`*'\"]{0,2}[ \t]*(?:\#[ \t]*)?,?[ \t]*(?:[-=]+>|➞|→|⇒)?[ \t]*"
    r"(?:(?:(?:should|must|will|would|shall)\s+)?(?:raises?|throws?|raising)\s+(?:an?\s+)?[`'\"]?(?:[a-z_]\w*\.)*([A-Z]\w{3,})"
    r"|(?:(?<=[>➞→⇒])|(?<=[>➞→⇒] ))[`'\"]?([A-Z]\w*(?:Error|Exception|Interrupt|Exit|Warning|Iteration)))\b"
)
_NUMBERS = re.compile(r"-?\d[\d.]*(?:[ ,]+-?\d[\d.]*)+(?=[ \t.]*$)", re.MULTILINE)
_PRINTS = re.compile(r"\bprints?\b")
_COMMENT = re.compile(r"\)?[ \t]*#[ \t]*(?:(?i:output|result|returns?|prints?|expected|gives)\b)?[ \t]*[:=]?[ \t]*")
_END = re.compile(r"[ \t]*[.;`]?[ \t]*(?:\n|$)")
_HEADING = re.compile(r"^[ \t]*examples?\b[^\n]*:", re.IGNORECASE | re.MULTILINE)
_OTHER_CASE = re.compile(r"[ \t]*(?:or|if|unless|when|depending|otherwise)\b")
_GOES_ON = re.compile(r"[ \t]*(?:(?!--?[ \t]+[A-Za-z]{2})[-+*/%<>&^!]|\*\*|=)|[\w(\[{]|\.\w|[ \t]*,[ \t]*[-\d'\"\[({]")
_SUM = re.compile(r"[-+*/%() \d._]+")
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


def find_arrows(text: str, question: Question) -> Iterator[Example]:
    """Yield the examples of a text in which a value follows a call."""
    defined = _find_definition(text, question)
    for call in find_calls(text, question):
        if defined <= call.start < _find_heading(text, defined):
            continue
        raised = _RAISES.match(text, call.end)
        if raised:
            line = text.count("\n", 0, call.start) + 1
            yield Example(call.source, Check.RAISES, raised[1] or raised[2], notation="arrow", line=line)
            continue
        try:
            value = _parse_following(text, call.end)
        except NotLiteral:
            continue
        yield _make_example(call, value, text)


def _make_example(call: FoundCall, value: object, text: str) -> Example:
    line = text.count("\n", 0, call.start) + 1
    link = _LINK.match(text, call.end)
    if link and _PRINTS.search(link.group()) and value is not None:
        several = _NUMBERS.match(text, link.end())
        return Example(call.source, Check.OUTPUT, several[0] if several else str(value), notation="arrow", line=line)
    return Example(call.source, Check.VALUE, value, notation="arrow", line=line)


def _find_definition(text: str, question: Question) -> int:
    """Return the offset of a mathematical definition such as `f(n) = f(n - 1) + 1`; the end of the text if none.

    Values beside it are terms of a series, which the function does not necessarily return.
    """
    pattern = rf"\b{re.escape(question.entry or '')}\([a-z]\)[ \t]*=[ \t]*[\w(]"
    found = re.search(pattern, text) if question.entry else None
    return max(0, text.rfind("\n\n", 0, found.start())) if found else len(text)


def _find_heading(text: str, start: int) -> int:
    found = _HEADING.search(text, start)
    return found.start() if found else len(text)


def _parse_following(text: str, end: int) -> object:
    """Parse the value that follows a call after an arrow, a verb, or a comment that contains nothing else."""
    link = _LINK.match(text, end)
    if link and (link.group().strip() != ":" or "\n" not in link.group()):
        return parse_result(text, link.end())
    comment = _COMMENT.match(text, end)
    literal = find_literal_end(text, comment.end()) if comment else -1
    if comment is None or literal < 0 or not _END.match(text, literal):
        raise NotLiteral(text[end : end + 40])
    return parse_literal(text[comment.end() : literal])


def parse_result(text: str, start: int) -> object:
    """Parse the value at an offset; raises NotLiteral if there is none or its end is ambiguous."""
    end = find_literal_end(text, start)
    if end < 0:
        raise NotLiteral(text[start : start + 40])
    rest = text[end:].partition("\n")[0]
    if text[start] == "(" and "," not in text[start:end]:
        raise NotLiteral("one value in brackets, which may mean a tuple")
    if not _GOES_ON.match(rest):
        if _OTHER_CASE.match(rest):
            raise NotLiteral("one of several cases")
        return parse_literal(text[start:end])
    return _parse_sum(text[start:].partition("\n")[0])


def _parse_sum(line: str) -> object:
    """Parse a sum with an optional value, such as `19 - 5 - 6 = 8`."""
    parts = [part.strip() for part in re.split(r"={1,2}|#", line)]
    if not _SUM.fullmatch(parts[0]) or not parts[0]:
        raise NotLiteral(line)
    value = parse_literal(parts[0])
    for part in parts[1:]:
        number = re.match(r"-?\d+(?:\.\d+)?", part)
        if number is None:
            break
        if parse_literal(number.group()) != value:
            raise NotLiteral(line)
    return value


_BARE = re.compile(r"\(([a-z]{1,40})\)(?=[ \t]*(?:[-=]+>|➞|→))")
_MIN_WORDS = 3  # calls with unquoted words; fewer may be variables


def find_misnamed(text: str, question: Question) -> list[Example]:
    """Find examples of a query that has none under the name of the entry point (A-08); [] if that is ambiguous."""
    if question.entry is None or question.parameters is None:
        return []
    return _find_renamed(text, question) or _find_bare(text, question)


def _find_renamed(text: str, question: Question) -> list[Example]:
    """Rename the calls of the only other function to the entry point, as if it was renamed later."""
    found = list(find_arrows(text, replace(question, entry=None)))
    calls = [parse_expression(each.source) for each in found]
    named = {call.func.id for call in calls if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)}
    if len(named) != 1 or len(calls) != len(found) or re.search(rf"\bdef {min(named)}\b", question.text):
        return []
    examples = []
    for example, call in zip(found, calls, strict=True):
        if isinstance(call, ast.Call) and question.takes(len(call.args) + len(call.keywords)):
            call.func = ast.Name(question.entry or "")
            examples.append(replace(example, source=ast.unparse(call)))
    return examples


def _find_bare(text: str, question: Question) -> list[Example]:
    """Quote the words in `f(abcd) => True` if there are several of them and none is a parameter."""
    words = {found.group(1) for found in _BARE.finditer(text)}
    names = {each.name for each in question.parameters or ()}
    if len(words) < _MIN_WORDS or words & names or max(map(len, words)) < _MIN_WORDS:
        return []
    return list(find_arrows(_BARE.sub(r"('\1')", text), question))


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
            yield Example(call, Check.VALUE, value, notation=notation, line=line)


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
