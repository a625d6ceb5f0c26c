"""Parse what a query says about the required code: its name, its parameters, and the surrounding code."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pkg.extract.syntax import MAX_CODE
from pkg.rerank.examples.constructors import CONSTRUCTORS
from pkg.rerank.examples.literals import find_name, parse_expression, parse_statements
from pkg.rerank.examples.script import KNOWN_IMPORTS, write_import
from pkg.rerank.examples.substitution import list_stored

_HEADER = re.compile(
    r"^[ \t]*((?:async[ \t]+)?def[ \t]+\w+[ \t]*\(.*?\)[ \t]*(?:->[^:\n]+)?:)", re.MULTILINE | re.DOTALL
)
_NAMED = re.compile(
    r"\b(?:function|method|class)\b[^.\n]{0,30}?\b(?:named|called)\s+[`'\"*]*(?P<name>[A-Za-z_]\w*)"
    r"|\b(?:function|method|class)\s+`(?P<quoted>[A-Za-z_]\w*)"
    r"|\b(?:function|method)\s+(?P<bare>[A-Za-z_]\w*)\([\w, =*:]*\)"
)
_DEFINES = re.compile(r"^[ \t]*(?:async[ \t]+)?(?:def|class)\b", re.MULTILINE)
_BEGINS = re.compile(r"^(?:@|def\b|class\b|async[ \t]+def\b|import\b|from\b)", re.MULTILINE)
MAX_TAILS = 16  # lines at which the code at the end of a query may begin; each is tried
_IMPORT = re.compile(r"[ \t]*(?:import|from)[ \t]+[A-Za-z_.]")
_SIGNATURE = re.compile(r"[ \t]*(\([\w, =*:\[\]\"'.]*\))")
_SCRIPT = re.compile(
    r"\bstdin\b|\bstandard input\b|\binput\(\)|\bsys\.argv\b|\bcommand[- ]line\b|\bscript\b"
    r"|\b(?:reads?|takes?|asks?|prompts?)\b[^.\n]{0,60}\b(?:user|keyboard|console|terminal)\b"
    r"|\bprograms? (?:that|which|to) (?:reads?|asks?|prompts?)\b",
    re.IGNORECASE,
)
_MAX_HEADER = 2_000
_MAX_PROSE = 20_000  # characters that are searched for a name

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_DEFINED = re.compile(r"\b(?:def|class)[ \t]+([A-Za-z_]\w*)")
_ASSIGNED = re.compile(r"^[ \t>]*([A-Za-z_]\w*)[ \t]*(?::[^=\n]{1,80})?=(?!=)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Parameter:
    """Parameter of the required function."""

    name: str
    annotation: str = ""
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """Parsed query: what it says about the required code; the entry point is the function or class to write."""

    text: str
    entry: str | None = None  # name of the entry point, if known
    parameters: tuple[Parameter, ...] | None = None  # None if unknown, or for any number
    context: str = ""  # imports and definitions in the query
    stub: str | None = None  # code that an answer may continue, such as a header with its docstring
    method: str | None = None  # the single method of the required class, to which the parameters belong
    defined: frozenset[str] = frozenset()  # names that answers define; empty without answers
    common: frozenset[str] = frozenset()  # names that at least half of the answers define
    unanimous: str | None = None  # the only function or class that all answers define
    fallback: str | None = None  # likely entry point that the query defines itself
    imports: Mapping[str, str] = field(default_factory=dict)  # of the query, by the name that each binds
    is_program: bool = False  # the required code reads standard input and prints

    @property
    def is_script(self) -> bool:
        """Return whether the query asks for a program that reads its input, not for a function."""
        return self.is_program or (self.entry is None and _SCRIPT.search(self.text[:_MAX_PROSE]) is not None)

    @property
    def candidate_names(self) -> frozenset[str]:
        """Return the names that belong to the candidates, even if they shadow builtins."""
        return self.common if self.entry is None else self.common | {self.entry}

    @property
    def callee(self) -> str:
        """Return the expression to call: the function, or the method of an instance."""
        return f"{self.entry}().{self.method}" if self.method else str(self.entry)

    def takes(self, count: int) -> bool:
        """Return whether a call with that many arguments fits the signature."""
        if self.parameters is None:
            return True
        needed = sum(not each.is_optional for each in self.parameters)
        return needed <= count <= len(self.parameters)


def parse_question(text: str, answers: Iterable[str] = ()) -> Question:
    """Parse a query: incomplete code, code in a fence, a header in prose, or prose with a name.

    answers: texts of the candidates. A name that no candidate defines is not the entry point: a query may also show a
    test, or a function that calls the entry point.
    """
    text = text.replace("\r\n", "\n")
    texts = list(answers)
    counts = Counter(name for each in texts for name in list_possible_names(each) if not _TEST.match(name))
    defined = frozenset(counts)
    may_continue = any(not list_defined_names(each) for each in texts)  # a body alone, which continues the query
    found = [read for code in _list_codes(text) if (read := _parse_code(text, code, defined, may_continue)) is not None]
    question = next((each for each in found if each.entry), None) or _parse_prose(text, defined, may_continue)
    fallback = next((each.fallback for each in found if each.fallback), None)
    imports = next((each.imports for each in (question, *found) if each.imports), _find_imports(text))
    context = question.context or next((each.context for each in found), "")
    everywhere = set.intersection(*map(list_defined_names, texts)) if texts else set()
    return replace(
        question,
        defined=defined,
        common=list_common_names(counts, len(texts), imports),
        unanimous=everywhere.pop() if len(everywhere) == 1 else None,
        fallback=question.fallback or fallback,
        imports={name: line for name, line in imports.items() if name not in defined},
        context=context,
    )


def _find_imports(text: str) -> Mapping[str, str]:
    """Return the imports on lines of their own in a text."""
    lines = [line.strip() for line in text[:_MAX_PROSE].split("\n") if _IMPORT.match(line)]
    return _list_imports([each for line in lines for each in parse_statements(line) or ()])


def _list_imports(statements: Sequence[ast.stmt]) -> dict[str, str]:
    imports = [each for each in statements if isinstance(each, ast.Import | ast.ImportFrom)]
    return {name: write_import(each) for each in imports for name in list_stored(each)}


def _list_codes(text: str) -> list[str]:
    """List the texts that may be the code of a query: all of it, its fences and the code between prose, and its end."""
    if len(text) > MAX_CODE or not _DEFINES.search(text):
        return []
    from pkg.extract.answers import find_code

    found = find_code(text).code.decode("utf-8", "replace").strip("\n")
    return [text, *([found] if found.strip() else []), *_list_tails(text)]


def _list_tails(text: str) -> list[str]:
    """List the longest code at the end of a text, which may be incomplete."""
    starts = [0, *(each.start() for each in _BEGINS.finditer(text))][-MAX_TAILS:]
    return [next((text[each:] for each in starts if each and _parse_stub(text[each:])), "")]


def _parse_code(text: str, code: str, defined: frozenset[str], may_continue: bool) -> Question | None:
    """Parse code with definitions; the last stub, or else the last definition, is the entry point.

    If the answers are known and do not define it, the entry point is None.
    """
    stub, statements = None, _parse_stub(code)
    definitions = [each for each in statements or [] if isinstance(each, Definition)]
    if not definitions or statements is None:
        return None
    stubs = [each for each in definitions if is_stub(each)]
    written = [each for each in definitions if each not in stubs and not is_test(each) and not _asserts(each)]
    fitting = [each for each in stubs if may_continue or not defined or each.name in defined]
    chosen = (fitting or ([] if defined else [*written, *stubs]))[-1:]
    imports = _list_imports(statements)
    if not chosen:
        fallback = next((each.name for each in reversed((*written, *stubs)) if each.name in defined), None)
        context = _write_context([each for each in statements if getattr(each, "name", "") not in defined])
        return Question(text, context=context, fallback=fallback, imports=imports)
    (entry_node,) = chosen
    if entry_node is statements[-1] and is_stub(entry_node) and text.endswith(code):
        first = next(each for each in statements if not _is_label(each))
        stub = "\n".join(code.split("\n")[first.lineno - 1 - len(getattr(first, "decorator_list", [])) :])
    context = _write_context([each for each in statements if each is not entry_node])
    typing = _list_typing_imports(entry_node, context)
    method = find_method(entry_node)
    parameters = list_parameters(method, is_method=True) if method is not None else list_parameters(entry_node)
    name = method.name if method is not None else None
    context = "\n".join(filter(None, (*typing, context)))
    return Question(text, entry_node.name, parameters, context, stub, name, imports=imports)


def _parse_stub(code: str) -> list[ast.stmt] | None:
    """Parse code that may end after the header of a function or method."""
    lines = code.rstrip().split("\n")
    indent = len(lines[-1]) - len(lines[-1].lstrip())
    for end in ("", "\n    pass", f"\n{' ' * (indent + 4)}pass"):
        statements = parse_statements(code.rstrip() + end + "\n")
        if statements is not None:
            return statements
    return None


def _list_typing_imports(definition: Definition, context: str) -> list[str]:
    """List the missing imports of names of `typing` in headers, which online judges provide."""
    headers = [each for each in ast.walk(definition) if isinstance(each, Function)]
    kinds = [each for header in headers for each in (*_list_annotations(header.args), header.returns) if each]
    names = {node.id for each in kinds for node in ast.walk(each) if isinstance(node, ast.Name)}
    imports = [KNOWN_IMPORTS[name].format(name) for name in sorted(names) if name in KNOWN_IMPORTS]
    typing = [each for each in imports if each.startswith("from typing")]
    return [each for each in typing if each.rpartition(" ")[2] not in context]


def _list_annotations(given: ast.arguments) -> list[ast.expr | None]:
    return [each.annotation for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def find_method(definition: Definition) -> Function | None:
    """Return the only public method of a class if it is a stub and the constructor takes no arguments; else None."""
    if not isinstance(definition, ast.ClassDef):
        return None
    methods = [each for each in definition.body if isinstance(each, Function)]
    public = [each for each in methods if not each.name.startswith("_")]
    starts = [each for each in methods if each.name == "__init__" and len(each.args.args) > 1]
    return public[0] if len(public) == 1 and not starts and is_stub(public[0]) else None


def _write_context(statements: Sequence[ast.stmt]) -> str:
    return "\n".join(ast.unparse(each) for each in statements if _is_context(each))


_TEST = re.compile(r"test_|Test|tests?$|run_tests?$|main$|demo$")


def is_test(definition: Definition) -> bool:
    """Return whether a definition is a test or driver, by its name or base."""
    bases = definition.bases if isinstance(definition, ast.ClassDef) else []
    return bool(_TEST.match(definition.name)) or any(find_name(each).endswith("TestCase") for each in bases)


def _is_test_header(definition: Definition) -> bool:
    """Return whether a header is that of a test, such as `check(candidate)`."""
    takes = isinstance(definition, Function) and any(each.arg == "candidate" for each in definition.args.args)
    return takes or is_test(definition)


def _asserts(definition: Definition) -> bool:
    """Return whether a function consists of asserts, such as `check(candidate)`."""
    return any(isinstance(each, ast.Assert) for each in definition.body)


def is_stub(definition: Definition) -> bool:
    """Return whether a definition is a stub: only a docstring, imports, `pass`, an ellipsis, or NotImplementedError.

    All methods of a stub class are stubs.
    """
    return all(
        isinstance(each, ast.Pass | ast.Import | ast.ImportFrom)
        or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
        or (isinstance(definition, ast.ClassDef) and isinstance(each, ast.FunctionDef) and is_stub(each))
        or _raises_not_implemented(each)
        for each in definition.body
    )


def _raises_not_implemented(statement: ast.stmt) -> bool:
    raised = statement.exc if isinstance(statement, ast.Raise) else None
    return getattr(raised.func if isinstance(raised, ast.Call) else raised, "id", "") == "NotImplementedError"


def _is_label(statement: ast.stmt) -> bool:
    """Return whether a statement is prose that is valid Python, such as `Input: n = 6` or a single word."""
    is_word = isinstance(statement, ast.Expr) and not isinstance(statement.value, ast.Constant)
    return is_word or isinstance(statement, ast.AnnAssign)


def _is_context(statement: ast.stmt) -> bool:
    if isinstance(statement, Definition):
        return not (is_stub(statement) or is_test(statement) or _asserts(statement))
    return isinstance(statement, ast.Import | ast.ImportFrom | ast.Assign | ast.AnnAssign)


def list_parameters(definition: Definition, is_method: bool = False) -> tuple[Parameter, ...] | None:
    """Return the parameters of a function; None for a class and for any number of arguments.

    is_method: skip the first parameter.
    """
    if isinstance(definition, ast.ClassDef):
        return None
    given = definition.args
    if given.vararg or given.kwarg or any(default is None for default in given.kw_defaults):
        return None
    plain = [*given.posonlyargs, *given.args][int(is_method) :]
    first_optional = len(plain) - len(given.defaults)
    return tuple(
        Parameter(each.arg, ast.unparse(each.annotation) if each.annotation else "", index >= first_optional)
        for index, each in enumerate(plain)
    )


def write_header(question: Question) -> str | None:
    """Return the header of the required function; None if its parameters are unknown or optional."""
    if question.entry is None or question.parameters is None or any(each.is_optional for each in question.parameters):
        return None
    return f"def {question.entry}({', '.join(each.name for each in question.parameters)}):"


def _parse_prose(text: str, defined: frozenset[str], may_continue: bool) -> Question:
    """Find a header or an explicit name in prose that the answers define, if they are known."""
    first: Question | None = None
    for question in _list_named(text):
        if may_continue or not defined or question.entry in defined:
            return question
        first = first or question
    return Question(text, fallback=first.entry if first else None)


def _list_named(text: str) -> Iterator[Question]:
    prose = text[:_MAX_PROSE]
    for header in _HEADER.finditer(prose):
        statements = parse_statements(f"{header.group(1)} pass") if len(header.group(1)) < _MAX_HEADER else None
        if statements and isinstance(statements[0], Definition) and not _is_test_header(statements[0]):
            yield Question(text, statements[0].name, list_parameters(statements[0]))
    for named in _NAMED.finditer(prose):
        name = named["name"] or named["quoted"] or named["bare"]
        if _is_identifier(named, text):
            yield Question(text, name, _parse_signature(text, named.end(named.lastgroup or 0)))


def _is_identifier(named: re.Match[str], text: str) -> bool:
    """Return whether a match is a name, not a word: it has an underscore or digit, is quoted, or a bracket follows."""
    kind = named.lastgroup or "name"
    around = text[named.start(kind) - 1 : named.start(kind)] + text[named.end(kind) : named.end(kind) + 1]
    return kind != "name" or not named[kind].isalpha() or any(character in "`'\"*(" for character in around)


def _parse_signature(text: str, start: int) -> tuple[Parameter, ...] | None:
    """Parse the parameters after a name; None if they are not a valid signature."""
    found = _SIGNATURE.match(text, start)
    if found is None or parse_expression(f"lambda {found.group(1)[1:-1]}: 0") is None:
        return None
    statements = parse_statements(f"def signature{found.group(1)}: pass")
    entry_node = statements[0] if statements else None
    return list_parameters(entry_node) if isinstance(entry_node, ast.FunctionDef) else None


def list_defined_names(text: str) -> set[str]:
    """List the functions and classes that an answer defines."""
    return {*_DEFINED.findall(text[:MAX_CODE].replace("\\n", "\n"))}


def list_possible_names(text: str) -> set[str]:
    """List the names that an answer may define or assign."""
    text = text[:MAX_CODE].replace("\\n", "\n")
    return {*_DEFINED.findall(text), *_ASSIGNED.findall(text)}


def list_common_names(counts: Mapping[str, int], answers: int, imports: Mapping[str, str]) -> frozenset[str]:
    """List the names that at least half of the answers define, so that one answer cannot change how the query is read.

    A name of the standard library counts only if the query does not import it.
    """
    known = {*KNOWN_IMPORTS, *CONSTRUCTORS} & imports.keys()
    return frozenset(name for name, count in counts.items() if 2 * count >= answers and name not in known)
