"""Find all examples of a query: each reader removes what it parses, and the next one reads the rest.

Also parses the examples of the caller, and hidden tests for research.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from pkg.errors import InputError, shorten
from pkg.rerank.candidates import Check, Example
from pkg.rerank.examples.arrows import find_arrows, find_labelled, find_misnamed
from pkg.rerank.examples.asserts import parse_condition
from pkg.rerank.examples.code_blocks import extract_tests
from pkg.rerank.examples.literals import parse_expression, parse_statements, write_value
from pkg.rerank.examples.script import add_imports
from pkg.rerank.examples.transcripts import extract_transcripts
from pkg.rerank.parsed_question import Question

MAX_EXAMPLES = 64  # each is a run; no query of HumanEval or MBPP shows more than 13

MAX_TEXT = 20_000  # characters of a query; the longest prompt of HumanEval has 1,400, and parsing is quadratic
_TYPESET = str.maketrans("‘’“”\u00a0", "''\"\" ")
SAMPLE = "sample"
MAX_SAMPLES = 16  # each is a run of the program
_READS = re.compile(r"\binput\(|\bstdin\b|\bopen\(0\)|\bfileinput\b")
_LABEL = re.compile(
    r"^[\s#*_=|\-]*(?P<sample>(?:sample|example|test)s?\b[\s\d:.#*_-]*)?"
    r"(?P<side>(?:standard[ \t]+|std|expected[ \t]+)?(?:input|in|output|out|result))"
    r"(?:[ \t]+(?:sample|example))?[ \t]*#?[ \t]*\d*[\s*_=\-]*(?:(?P<colon>[:|])[\s*_`]*(?P<inline>.*?)[`\s]*)?$",
    re.IGNORECASE,
)
_ARROW = re.compile(
    r"^[\s*_`-]*(?:sample |example |std)?in(?:put)?\b[ \t]*\d*[ \t*_]*:[ \t*_`]*(?P<given>.+?)[`\s,;|]*"
    r"(?:[-=]+>|→|\b(?:expected[ \t]+)?(?:std)?out(?:put)?\b[ \t]*\d*[ \t*_]*:)[ \t*_`]*"
    r"(?:(?:std)?out(?:put)?[ \t]*:[ \t`]*)?(?P<wanted>.+?)[`\s]*$",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"^[\s#*_=\-]*(?:explanations?|notes?|constraints?|examples?|samples?|test cases?|solution|hints?|limits?)\b"
    r"[\s\d.:*_#=\-]*(?:$|:)|^[\s#*_=\-]*(?:explanation|note)\b",
    re.IGNORECASE,
)
_SPOKEN = re.compile(
    r"^[^\n.]{0,60}\b(?:(?P<given>stdin|standard input|input)|stdout|standard output|outputs?|prints?)\b"
    r"[^\n.:]{0,30}:[ \t]*$",
    re.IGNORECASE,
)
_TABLE = re.compile(
    r"^[ \t]*\|?[ \t]*(?:sample )?(?:std)?in(?:put)?[ \t]*\|[ \t]*(?:std)?out(?:put)?[ \t]*\|?[ \t]*$", re.IGNORECASE
)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)")
_PROSE = re.compile(r"[A-Za-z]{2,}(?:[ ,]+[A-Za-z'`$]+){3}|[a-z]{2,}\.$|^(?:The|Each|An?|One|Print|Output)\b")


def find_examples(question: Question) -> tuple[Example, ...]:
    """Find the examples of a query (A-08), in their order: sessions, tests, arrows, and inputs with outputs."""
    text = question.text[:MAX_TEXT].translate(_TYPESET)
    candidate_names = question.candidate_names
    sessions, text = extract_transcripts(text, candidate_names)
    tests, text = extract_tests(text, candidate_names, question.entry or question.unanimous)
    found = [*sessions, *tests, *find_arrows(text, question), *find_labelled(text, question)]
    found = [each for each in found if _is_about(each, question)] or find_misnamed(text, question)
    ordered = sorted(keep_consistent(found), key=lambda each: each.line)[:MAX_EXAMPLES]
    return tuple(add_imports(each, question.imports, candidate_names) for each in ordered)


def keep_consistent(examples: Iterable[Example]) -> list[Example]:
    """Remove duplicates, and all examples that contradict each other, because at least one of them is wrong."""
    by_source: dict[tuple[tuple[str, ...], str], dict[str, Example]] = {}
    for each in examples:
        by_source.setdefault((each.before, each.source), {}).setdefault(f"{each.check} {each.expected!r}", each)
    return [example for found in by_source.values() if len(found) == 1 for example in found.values()]


def _is_about(example: Example, question: Question) -> bool:
    """Return whether an example calls the entry point, or any function if that is unknown."""
    called = list_called(example)
    return bool(called & question.candidate_names if question.entry else called)


def list_called(example: Example) -> set[str]:
    """Return the names that an example and its script call; builtins only if there are no others.

    `s.pop()` after `s = Stack()` calls Stack.
    """
    nodes = [
        node
        for line in (*example.before, example.source)
        for statement in parse_statements(line) or ()
        for node in ast.walk(statement)
    ]
    used = [each.func for each in nodes if isinstance(each, ast.Call)]
    used += [each for node in nodes for each in getattr(node, "decorator_list", [])]
    owners = [(each.attr, each.value) for each in used if isinstance(each, ast.Attribute)]
    names = {each.id for each in used if isinstance(each, ast.Name)}
    names |= {attribute for attribute, owner in owners if _is_candidate(owner, example)}
    names |= {owner.id for _, owner in owners if isinstance(owner, ast.Name) and owner.id[:1].isupper()}
    return {name for name in names if not hasattr(builtins, name)} or names - {"bool"}


def _is_candidate(node: ast.expr, example: Example) -> bool:
    """Return whether a name is that of a module that is replaced by the candidate."""
    return isinstance(node, ast.Name) and any(f"import candidate as {node.id}" in line for line in example.before)


def find_entry(question: Question, examples: Iterable[Example]) -> str | None:
    """Return the name of the entry point: from the query, or else the function of its examples that answers define."""
    if question.entry:
        return question.entry
    called = [list_called(each) for each in examples if each.check is not Check.ASSERTION or each.before]
    if question.defined:
        counts = Counter(name for names in called for name in names & question.defined)
        if counts:
            return max(sorted(counts), key=lambda name: counts[name])
        return question.fallback
    common = set.intersection(*called) if called else set()
    return common.pop() if len(common) == 1 else None


NOTATION = "handed over"


def parse_given(items: Iterable[Any], question: Question) -> list[Example]:
    """Parse examples of the caller: text in any notation of queries, or {"call" or "args", "expected"}.

    Raises an InputError for an invalid example.
    """
    return [example for item in items for example in _parse_item(item, question)]


def _parse_item(item: Any, question: Question) -> Iterator[Example]:
    if isinstance(item, str):
        yield from _parse_text(item, question)
    elif isinstance(item, dict) and "expected" in item and ("call" in item or "args" in item):
        call = item.get("call")
        if call is None:
            if question.entry is None or not isinstance(item["args"], list):
                raise InputError(f'{_show(item)} has no call and the query names no function; give "call": "f(2)"')
            call = f"{question.callee}({', '.join(map(write_value, item['args']))})"
        if not isinstance(call, str) or parse_expression(call) is None:
            raise InputError(f"the call of {_show(item)} is not an expression; expected one such as f(2)")
        yield Example(call, Check.VALUE, item["expected"], NOTATION)
    else:
        raise InputError(f'{_show(item)} is not an example; expected "f(2) == 4" or {{"call": "f(2)", "expected": 4}}')


def _parse_text(text: str, question: Question) -> Iterator[Example]:
    """Parse one text: a condition, examples in any notation, or statements that must not fail."""
    condition = parse_expression(text)
    if condition is not None:
        yield from parse_condition(condition, NOTATION, 0)
        return
    known = replace(question, text=text)
    found = find_examples(known)
    if found:
        yield from found
    elif parse_statements(text):
        yield Example(text, Check.ASSERTION, None, NOTATION)
    else:
        raise InputError(f'{_show(text)} is not an example; expected "f(2) == 4", an assert, or a session')


def parse_tests(tests: Any) -> tuple[Example, ...]:
    """Parse hidden tests: a list of asserts, or one program; code that cannot be split runs unchanged.

    Raises an InputError for an invalid test.
    """
    texts = tests if isinstance(tests, list) else [tests]
    found: list[Example] = []
    for text in texts:
        if not isinstance(text, str) or not text.strip():
            raise InputError(f"{_show(text)} is not a test; expected an assert, or a program of asserts")
        asserts, rest = extract_tests(text, ())
        found += asserts if asserts and not rest.strip() else [Example(text, Check.ASSERTION, None, "hidden")]
    return tuple(found)


def _show(item: Any) -> str:
    return shorten(repr(item), 80)


@dataclass(slots=True)
class _Block:
    """Text below a label."""

    is_input: bool
    is_sample: bool  # the label contains the word sample, example or test
    line: int
    text: str = ""


def find_samples(question: Question, answers: Sequence[str], examples: Sequence[Example]) -> tuple[Example, ...]:
    """Find the samples of a query whose answers read standard input; none if it has other examples."""
    if examples or not any(map(_READS.search, answers)):
        return ()
    pairs = [*_pair_blocks([*_find_blocks(question.text.split("\n"))]), *_find_pairs(question.text)]
    if any(given.is_sample for given, _ in pairs):
        pairs = [pair for pair in pairs if pair[0].is_sample]
    found = [
        Example(given.text + "\n", Check.PROGRAM, wanted.text, notation=SAMPLE, line=given.line)
        for given, wanted in pairs
        if wanted.text and not (_is_prose(given.text) or _is_prose(wanted.text))
    ]
    return tuple({each.source: each for each in found}.values())[:MAX_SAMPLES]


def _is_prose(text: str) -> bool:
    """Return whether a block describes the input or output instead of showing one."""
    return _PROSE.search(text.partition("\n")[0]) is not None and not text.isupper()


def _pair_blocks(blocks: Sequence[_Block]) -> Iterator[tuple[_Block, _Block]]:
    for one, other in pairwise(blocks):
        if one.is_input and not other.is_input:
            yield one, other


def _find_pairs(text: str) -> Iterator[tuple[_Block, _Block]]:
    """Yield inputs with their outputs on one line: `Input: 2 3 -> 5`, `Input: 4, Output: 16`."""
    for row, line in enumerate(text.split("\n")):
        found = _ARROW.match(line)
        if _TABLE.match(line):
            yield from _read_table(text.split("\n"), row + 1)
        elif found:
            given, wanted = (_unquote(found[name]) for name in ("given", "wanted"))
            yield _Block(True, False, row + 1, given), _Block(False, False, row + 1, wanted)


def _read_table(lines: Sequence[str], row: int) -> Iterator[tuple[_Block, _Block]]:
    """Parse the rows of a table with a column of inputs and one of outputs."""
    while row < len(lines) and "|" in lines[row]:
        cells = [each.strip(" \t`").replace("<br>", "\n") for each in lines[row].strip().strip("|").split("|")]
        row += 1
        if len(cells) == 2 and not set(cells[0]) <= {*"-: "}:
            yield _Block(True, False, row, cells[0]), _Block(False, False, row, cells[1])


def _unquote(text: str) -> str:
    text = text.strip()
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return (text[1:-1] if is_quoted else text).replace("\\n", "\n")


def _find_blocks(lines: Sequence[str]) -> Iterator[_Block]:
    """Yield the text below each label, up to the next label or heading."""
    row = 0
    while row < len(lines):
        label = _LABEL.match(lines[row])
        spoken = _SPOKEN.match(lines[row]) if label is None else None
        row += 1
        if spoken and any(map(_FENCE.match, lines[row : row + 2])):
            text, end = _take_lines(lines, row, True)
            yield _Block(spoken["given"] is not None, False, row, text)
            row = end
            continue
        if label is None or _ARROW.match(lines[row - 1]):
            continue
        is_input = "in" in label["side"].lower()
        block = _Block(is_input, label["sample"] is not None, row)
        inline = (label["inline"] or "").strip()
        if inline:
            block.text, row = _take_inline(inline, lines, row)
        else:
            block.text, row = _take_lines(lines, row, is_input)
        yield block


def _take_inline(first: str, lines: Sequence[str], row: int) -> tuple[str, int]:
    """Return a block that begins on the line of its label and continues while lines look like data, and its end."""
    taken = [_unquote(first)]
    while row < len(lines) and lines[row].strip() and not _ends(lines[row]) and not _is_prose(lines[row].strip()):
        taken.append(lines[row].strip())
        row += 1
    return "\n".join(taken), row


def _take_lines(lines: Sequence[str], row: int, is_input: bool) -> tuple[str, int]:
    """Return the block below a label and its end: a fence, or the lines up to the next label.

    An output also ends at a blank line.
    """
    while row < len(lines) and not lines[row].strip():
        row += 1
    if row < len(lines) and _FENCE.match(lines[row]):
        end = next((each for each in range(row + 1, len(lines)) if _FENCE.match(lines[each])), len(lines))
        return "\n".join(lines[row + 1 : end]).strip("\n"), end + 1
    start = row
    while row < len(lines) and not _ends(lines[row]) and (is_input or lines[row].strip()):
        row += 1
    return "\n".join(line.rstrip() for line in lines[start:row]).strip("\n"), row


def _ends(line: str) -> bool:
    return bool(_LABEL.match(line) or _OTHER.match(line) or _FENCE.match(line))
