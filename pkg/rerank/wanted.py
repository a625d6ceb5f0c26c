"""Read what a query says about the code that it wants: its name, its parameters, and the code that stands around it."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from pkg.extract.syntax import MAX_CODE
from pkg.rerank.examples.literals import parse_expression, parse_statements

_HEADER = re.compile(
    r"^[ \t]*((?:async[ \t]+)?def[ \t]+\w+[ \t]*\(.*?\)[ \t]*(?:->[^:\n]+)?:)", re.MULTILINE | re.DOTALL
)
_NAMED = re.compile(
    r"\b(?:function|method|class)\b[^.\n]{0,30}?\b(?:named|called)\s+[`'\"*]*(?P<name>[A-Za-z_]\w*)"
    r"|\b(?:function|method|class)\s+`(?P<quoted>[A-Za-z_]\w*)"
    r"|\b(?:function|method)\s+(?P<bare>[A-Za-z_]\w*)\([\w, =*:]*\)"
)
_SIGNATURE = re.compile(r"[ \t]*(\([\w, =*:\[\]\"'.]*\))")
_SCRIPT = re.compile(
    r"\bstdin\b|\bstandard input\b|\binput\(\)|\bsys\.argv\b|\bcommand[- ]line\b|\bscript\b"
    r"|\b(?:reads?|takes?|asks?|prompts?)\b[^.\n]{0,60}\b(?:user|keyboard|console|terminal)\b"
    r"|\bprograms? (?:that|which|to) (?:reads?|asks?|prompts?)\b",
    re.IGNORECASE,
)
_MAX_HEADER = 2_000
_MAX_PROSE = 20_000  # characters that are searched for a name; whoever has not said it by then will not

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of the function that is wanted."""

    name: str
    annotation: str = ""
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """What a query says about the code that it wants."""

    text: str
    entry: str | None = None  # the function or class to write
    parameters: tuple[Parameter, ...] | None = None  # None where the query does not tell, or takes any number
    context: str = ""  # imports and definitions that the query brings
    stub: str | None = None  # code that breaks off where an answer may go on, such as a header with its docstring

    @property
    def is_script(self) -> bool:
        """Tell whether a program is wanted that reads its input itself, and no function."""
        return self.entry is None and _SCRIPT.search(self.text[:_MAX_PROSE]) is not None

    def takes(self, count: int) -> bool:
        """Tell whether a call with so many arguments fits what is known."""
        if self.parameters is None:
            return True
        needed = sum(not each.is_optional for each in self.parameters)
        return needed <= count <= len(self.parameters)


def parse_question(text: str) -> Question:
    """Read a query: a piece of code that breaks off, code in a fence, a header in prose, or prose that gives a name."""
    text = text.replace("\r\n", "\n")
    for code in _list_codes(text):
        question = _parse_code(text, code)
        if question is not None:
            return question
    return _parse_prose(text)


def _list_codes(text: str) -> list[str]:
    """List what may be the code of a query: all of it, or what stands in fences and between prose."""
    if len(text) > MAX_CODE or not re.search(r"^[ \t]*(?:async[ \t]+)?(?:def|class)\b", text, re.MULTILINE):
        return []
    from pkg.extract.answers import find_code

    found = find_code(text).code.decode("utf-8", "replace").strip("\n")
    return [text, found] if found.strip() else [text]


def _parse_code(text: str, code: str) -> Question | None:
    """Read code that defines something; the last stub is what is wanted, or else the last definition."""
    stub, statements = None, parse_statements(code)
    if statements is None:
        statements = parse_statements(f"{code.rstrip()}\n    pass\n")
    definitions = [each for each in statements or [] if isinstance(each, Definition)]
    if not definitions or statements is None:
        return None
    wanted = next((each for each in reversed(definitions) if is_stub(each)), definitions[-1])
    if wanted is statements[-1] and is_stub(wanted) and code is text:
        stub = code
    context = "\n".join(ast.unparse(each) for each in statements if each is not wanted and _is_context(each))
    return Question(text, wanted.name, list_parameters(wanted), context, stub)


def is_stub(definition: Definition) -> bool:
    """Tell whether a definition still has to be written: no more than a docstring, imports, `pass`, or an ellipsis."""
    return all(
        isinstance(each, ast.Pass | ast.Import | ast.ImportFrom)
        or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
        for each in definition.body
    )


def _is_context(statement: ast.stmt) -> bool:
    if isinstance(statement, Definition):
        return not is_stub(statement)
    return isinstance(statement, ast.Import | ast.ImportFrom | ast.Assign | ast.AnnAssign)


def list_parameters(definition: Definition) -> tuple[Parameter, ...] | None:
    """List the parameters of a function; None for a class and for one that takes any number of arguments."""
    if isinstance(definition, ast.ClassDef):
        return None
    given = definition.args
    if given.vararg or given.kwarg or any(default is None for default in given.kw_defaults):
        return None
    plain = [*given.posonlyargs, *given.args]
    first_optional = len(plain) - len(given.defaults)
    return tuple(
        Parameter(each.arg, ast.unparse(each.annotation) if each.annotation else "", index >= first_optional)
        for index, each in enumerate(plain)
    )


def write_header(question: Question) -> str | None:
    """Write the header of the function that is wanted; None where the query does not tell its parameters."""
    if question.entry is None or question.parameters is None or any(each.is_optional for each in question.parameters):
        return None
    return f"def {question.entry}({', '.join(each.name for each in question.parameters)}):"


def _parse_prose(text: str) -> Question:
    """Find a header in the text, or a name that the text says outright."""
    told = text[:_MAX_PROSE]
    for header in _HEADER.finditer(told):
        statements = parse_statements(f"{header.group(1)} pass") if len(header.group(1)) < _MAX_HEADER else None
        if statements and isinstance(statements[0], Definition):
            return Question(text, statements[0].name, list_parameters(statements[0]))
    named = _NAMED.search(told)
    name = named and (named["name"] or named["quoted"] or named["bare"])
    if not named or not name or not _is_told(named, text):
        return Question(text)
    return Question(text, name, _parse_signature(text, named.end(named.lastgroup or 0)))


def _is_told(named: re.Match[str], text: str) -> bool:
    """Tell a name from a word: it has an underscore or a digit, or stands in quotes, or a bracket follows."""
    kind = named.lastgroup or "name"
    around = text[named.start(kind) - 1 : named.start(kind)] + text[named.end(kind) : named.end(kind) + 1]
    return kind != "name" or not named[kind].isalpha() or any(sign in "`'\"*(" for sign in around)


def _parse_signature(text: str, start: int) -> tuple[Parameter, ...] | None:
    """Read the parameters behind a name, where they are written as names."""
    found = _SIGNATURE.match(text, start)
    if found is None or parse_expression(f"lambda {found.group(1)[1:-1]}: 0") is None:
        return None
    statements = parse_statements(f"def signature{found.group(1)}: pass")
    wanted = statements[0] if statements else None
    return list_parameters(wanted) if isinstance(wanted, ast.FunctionDef) else None
