"""Insert a docstring into the source of a function that has none; all other statements stay unchanged (P-07)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import cleandoc

from tree_sitter import Node

from pkg.errors import InputError, shorten
from pkg.extract import node_fields as f
from pkg.extract.docstring_places import find_docstring
from pkg.extract.parser import find_first_child, parse

_SURROGATE = re.compile("[\ud800-\udfff]")  # a byte that did not decode; UTF-8 cannot encode it
_INDENTED_HEADER = re.compile(r"^([ \t]+)(?:@|async\b|def\b)", re.MULTILINE)
_REST_OF_HEADER = re.compile(r"[ \t\f]*(?:#[^\n]*)?\r?\n")
_TYPE_COMMENT = re.compile(r"[ \t]*# *type:[^\n]*\n")  # of the whole function, on the line below the header
_ESCAPED = re.compile("[\\\\\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")  # control characters except tab and line feed
_WRAP = "if 1:\n"  # indented code needs an enclosing statement


def insert_docstring(content: str, text: str, indent: str = "") -> str:
    """Write a docstring below the header of a function (P-07).

    The content is as the graph keeps it: the first line without its indentation, which may be given as indent, the
    others with theirs. The docstring reads back as exactly the text that inspect.cleandoc returns.
    Raises InputError if the content is no function, or has a docstring.
    """
    code = _SURROGATE.sub("?", content)
    header, colon, body = _find_places(code, indent)
    newline = "\r\n" if "\r\n" in content else "\n"
    rest = _REST_OF_HEADER.match(code, colon)
    if rest is None:  # the body is on the line of the header
        outer = _read_indent(code, header) or indent
        inner = outer + ("\t" if "\t" in outer else "    ")
        literal = render_docstring(text, inner, newline)
        return f"{content[:colon]}{newline}{inner}{literal}{newline}{inner}{content[body:]}"
    comment = _TYPE_COMMENT.match(code, rest.end(), body)
    place = comment.end() if comment else rest.end()
    inner = _read_indent(code, body)
    return f"{content[:place]}{inner}{render_docstring(text, inner, newline)}{newline}{content[place:]}"


def render_docstring(text: str, indent: str, newline: str = "\n") -> str:
    """Render a text as the literal of a docstring, whose later lines have the given indentation."""
    escaped = _ESCAPED.sub(_escape, cleandoc(text)).replace('"""', '\\"\\"\\"')
    if escaped.endswith('"'):
        escaped = escaped[:-1] + '\\"'
    first, *rest = escaped.split("\n")
    if not rest:
        return f'"""{first}"""'
    return newline.join([f'"""{first}', *(indent + line if line else "" for line in rest), f'{indent}"""'])


def _escape(found: re.Match[str]) -> str:
    character = found.group()
    if character == "\\":
        return "\\\\"
    return f"\\x{ord(character):02x}" if ord(character) < 0x100 else f"\\u{ord(character):04x}"


def _find_places(code: str, indent: str) -> tuple[int, int, int]:
    """Return the starts of a function's header and of its first statement, and the end of the header's colon."""
    for before in _list_indents(code, indent):
        start = _WRAP + before if before else ""
        text = (start + code).encode()
        root = parse(text).root_node
        function = None if root.has_error else _find_function(root)
        if function is None:
            continue
        body = function.child_by_field_id(f.BODY)
        first = find_first_child(body) if body else None
        colon = next(each for each in function.children if each.type == ":")
        if body is None or first is None:
            continue
        if find_docstring(text, body) is not None:
            raise InputError(f"a function without docstring was expected, this one has one: {_show(code)}")
        header, end, inner = (
            len(text[:at].decode()) - len(start) for at in (function.start_byte, colon.end_byte, first.start_byte)
        )
        return header, end, inner
    raise InputError(f"the source of a function was expected, not: {_show(code)}")


def _list_indents(code: str, indent: str) -> Iterator[str]:
    """Yield the possible indentations of the first line; below a decorator the header shows it."""
    yield from dict.fromkeys((indent, "", *_INDENTED_HEADER.findall(code)))


def _find_function(module: Node) -> Node | None:
    """Return the function that is the first statement of a module, or of the block added around it."""
    first = find_first_child(module)
    if first is not None and first.type == "if_statement":
        block = first.child_by_field_id(f.CONSEQUENCE)
        first = find_first_child(block) if block else None
    if first is not None and first.type == "decorated_definition":
        first = first.child_by_field_id(f.DEFINITION)
    return first if first is not None and first.type == "function_definition" else None


def _read_indent(code: str, place: int) -> str:
    """Return the white space between the start of a line and a place; "" if there is anything else."""
    before = code[code.rfind("\n", 0, place) + 1 : place]
    return before if not before.strip() else ""


def _show(code: str) -> str:
    return repr(shorten(code.lstrip().partition("\n")[0], 60))
