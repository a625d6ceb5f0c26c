"""Check the claims of a docstring against the function, and drop false ones (P-07).

Checked against the source: names, annotated types and defaults of parameters, whether a value is returned or yielded,
and the raised exceptions. Examples are dropped, because they have not been run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pkg.enhance.docstring_sections import Entry, Section, split_entries, split_sections
from pkg.enhance.function_facts import FunctionFacts, Parameter

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_RETURNS = re.compile(r"(?:(?:it|this (?:function|method)) )?(?:returns?|yields?)\b", re.IGNORECASE)
_AND_RETURNS = re.compile(r",? and (?:then )?(?:returns?|yields?) [^.]*", re.IGNORECASE)
_RAISES = re.compile(r"\b(?:raises?|throws?)\b(?P<rest>[^.]*)", re.IGNORECASE)
_ERROR_NAME = re.compile(r"\b[A-Z]\w*(?:Error|Exception|Warning|Exit|Interrupt|Iteration)\b|\b(?:exception|error)s?\b")
_NOTHING = re.compile(r"\W*(?:\w+\s*:\s*)?(?:none|nothing|no value)\b(?!.*\b(?:if|when|else|otherwise|or)\b)", re.I)
_MENTIONS_NOTHING = re.compile(r"\b(?:none|nothing|no value)\b", re.IGNORECASE)
_VALUE = r"[`'\"]?(?P<{}>[\w.+-]*\w)[`'\"]?"
_DEFAULT = re.compile(  # with a single value; several words, as in "the current user", are no value
    rf"[,;]?\s*\((?:[Dd]efaults? *(?:to|is|:|=)?) *{_VALUE.format('inside')}\)"
    rf"|[,;]?\s*(?:It )?\b[Dd]efaults to {_VALUE.format('plain')}(?:\.(?=\s|$)|(?=[,;)]|\s*$))"
)
_OUTPUT_WORD = re.compile(r"\b(?:[Rr]eturns?|[Oo]utputs?)\b")
_YIELD_WORD = re.compile(r"\b[Yy]ields?\b")
_RULE = re.compile(r"[-=~]{3,}")


def drop_false_claims(text: str, facts: FunctionFacts) -> str:
    """Return a docstring without the lines and sentences that are false for the function."""
    corrected = [(section, "\n".join(_correct(section, facts)).strip("\n")) for section in split_sections(text)]
    text, was_field = "", False
    for section, part in corrected:
        if part:
            text += ("\n" if was_field and section.is_field else "\n\n") * bool(text) + part
            was_field = section.is_field
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def states_inputs(text: str, facts: FunctionFacts) -> bool:
    """Return whether a docstring names each parameter."""
    return all(re.search(rf"\b{re.escape(each.name)}\b", text) for each in facts.parameters)


def states_output(text: str, facts: FunctionFacts) -> bool:
    """Return whether a docstring mentions the value of a function that returns or yields one."""
    has_no_value = not (facts.returned or facts.yields)
    return has_no_value or bool(re.search(r"\b(?:return|yield|output|generat)", text, re.IGNORECASE))


def states_purpose(text: str) -> bool:
    """Return whether a docstring begins with a paragraph of at least three words."""
    return len(re.findall(r"[^\W\d_]+", text.partition("\n\n")[0])) > 2


def _correct(section: Section, facts: FunctionFacts) -> tuple[str, ...]:
    if section.kind == "example" or any(line.lstrip().startswith(">>>") for line in section.lines):
        return tuple(_cut_examples(section))
    if section.kind == "inputs":
        return _correct_inputs(section, {each.name: each for each in facts.parameters})
    if section.kind == "errors":
        return _correct_errors(section, facts)
    if section.kind in ("output", "yield"):
        return _correct_output(section, facts)
    return tuple(_correct_text(section, facts))


def _cut_examples(section: Section) -> Iterator[str]:
    """Yield the lines before the first example."""
    if section.kind == "example":
        return
    for line in section.lines:
        if line.lstrip().startswith(">>>"):
            return
        yield line


def _correct_inputs(section: Section, parameters: dict[str, Parameter]) -> tuple[str, ...]:
    if section.names:  # of a Sphinx field: the name follows the type
        name = section.names.split()[-1].lstrip("*\\") if section.names.split() else ""
        return section.lines if name in parameters else ()
    kept = []
    for entry in split_entries(section.body):
        known = [parameters[name] for name in entry.names if name in parameters]
        if known and len(known) == len(entry.names):
            kept += _correct_entry(entry, known)
    return (*section.head, *kept) if kept else ()


def _correct_entry(entry: Entry, parameters: list[Parameter]) -> list[str]:
    """Replace a type by the annotated one, and drop a wrong default."""
    first, *rest = entry.lines
    annotation = parameters[0].annotation if len(parameters) == 1 else None
    if entry.type_place and annotation:
        first = first[: entry.type_place[0]] + annotation + first[entry.type_place[1] :]
    defaults = {(each.default or "").strip("'\"") for each in parameters}

    def check_default(found: re.Match[str]) -> str:
        if (found["inside"] or found["plain"]) in defaults:
            return found.group()
        is_end = found.group().endswith(".") and not found.string[: found.start()].endswith(".")
        return "." if is_end else ""

    return [_DEFAULT.sub(check_default, line).rstrip() for line in (first, *rest)]


def _correct_errors(section: Section, facts: FunctionFacts) -> tuple[str, ...]:
    if section.names:
        return section.lines if _is_raised(section.names.strip(), facts) else ()
    kept = [
        line
        for entry in split_entries(section.body)
        if entry.names and all(_is_raised(name, facts) for name in entry.names)
        for line in entry.lines
    ]
    return (*section.head, *kept) if kept else ()


def _is_raised(name: str, facts: FunctionFacts) -> bool:
    return name.strip("`*~").rpartition(".")[2] in facts.raises


def _correct_output(section: Section, facts: FunctionFacts) -> tuple[str, ...]:
    """Keep the description of a value if there is one, with the title Yields for a generator."""
    text = " ".join(section.body).strip() or section.head[0].rpartition(":")[2].strip()
    if facts.yields and not facts.returned:
        return section.lines if section.kind == "yield" else _rename(section, _OUTPUT_WORD, "Yields")
    if not facts.may_return:
        return section.lines if section.kind == "output" and _NOTHING.match(text) else ()
    if facts.returned and _NOTHING.fullmatch(text.rstrip(" .")):
        return ()
    return section.lines if section.kind == "output" or facts.yields else _rename(section, _YIELD_WORD, "Returns")


def _rename(section: Section, word: re.Pattern[str], title: str) -> tuple[str, ...]:
    if section.head[0].startswith(":"):
        return ()  # a field of returned values has another type than the yielded ones
    head = [
        word.sub(title, section.head[0], count=1),
        *(_RULE.sub("-" * len(title), each) for each in section.head[1:]),
    ]
    return (*head, *section.body)


def _correct_text(section: Section, facts: FunctionFacts) -> Iterator[str]:
    """Drop the sentences with a wrong return value or exception."""
    yield from section.head
    for line in section.body:
        before = line[: len(line) - len(line.lstrip())]
        sentences = _SENTENCE_END.split(line.strip())
        kept = " ".join(filter(None, (_correct_sentence(each, facts) for each in sentences)))
        if kept or not line.strip():
            yield before + kept if kept else ""


def _correct_sentence(sentence: str, facts: FunctionFacts) -> str:
    raised = _RAISES.search(sentence)
    if raised:
        names = [name for name in _ERROR_NAME.findall(raised["rest"]) if name[0].isupper()]
        claims = bool(names) or _ERROR_NAME.search(raised["rest"]) is not None
        if claims and not (facts.raises and all(name in facts.raises for name in names)):
            return ""
    if facts.may_return or facts.yields or _MENTIONS_NOTHING.search(sentence):
        return sentence
    return "" if _RETURNS.match(sentence) else _AND_RETURNS.sub("", sentence)
