"""Mutated real modules: extraction never fails, and all its places in the text are right."""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Sequence
from functools import cache
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pkg.encode.encoder import Vectors
from pkg.extract.python import extract_unit
from pkg.indexing.inputs import LoadedUnit
from pkg.indexing.prepare import Preparer
from pkg.model import Block, Class, CodeUnit, Function, Import, Label, Span
from pkg.units import UnitGraph, hash_bytes

MAX_BYTES = 30_000  # of a module before it is mutated: enough for every construct, little enough for many examples
MODULES_OF_EACH = 200
SCALE = 1 << 16
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")  # such a text is decoded first

Mutation = tuple[str, int, int, int, bytes]

KINDS = ("change", "insert", "delete", "repeat", "move", "indent", "cut")
FRAGMENTS = (
    *(
        b"(",
        b")",
        b"[",
        b"{",
        b"'",
        b'"""',
        b"f'{",
        b"\\\n",
        b"\r",
        b"\r\n",
        b"\t",
        b"\0",
        b"\x0c",
        b":",
        b"#",
        b";",
        b"`",
    ),
    *(b"def f(): ", b"async ", b"class A: pass\n", b"@d\n", b"lambda: ", b"\n\nimport a\n", b"print 'a'\n", b" = = "),
    *(b"if x:\n", b"else:\n", b"try:\n", b"match x:\n", b"\xef\xbb\xbf", b"\xff"),
)
PIECES = st.one_of(
    st.binary(max_size=4),
    st.text(max_size=6).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.sampled_from(FRAGMENTS),
)
MUTATIONS: st.SearchStrategy[Mutation] = st.tuples(
    st.sampled_from(KINDS), st.integers(0, SCALE), st.integers(0, SCALE), st.integers(0, SCALE), PIECES
)


@cache
def list_modules() -> list[Path]:
    """List small modules of the standard library and of the installed packages."""
    paths = sysconfig.get_paths()
    chosen: list[Path] = []
    for root in (Path(paths["stdlib"]), Path(paths["purelib"])):
        modules = sorted(path for path in root.rglob("*.py") if 0 < path.stat().st_size <= MAX_BYTES)
        own = [path for path in modules if root.name == "site-packages" or "site-packages" not in path.parts]
        chosen += own[:: max(1, len(own) // MODULES_OF_EACH)]
    return chosen


@cache
def read_module(path: Path) -> bytes:
    return path.read_bytes()


def mutate(text: bytes, mutation: Mutation) -> bytes:
    """Apply one mutation; its places are shares of the text's length."""
    kind, first, second, third, piece = mutation
    start, end = sorted((first * len(text) // SCALE, second * len(text) // SCALE))
    part, target = text[start:end], third * len(text) // SCALE
    if kind == "change":
        return text[:start] + piece + text[start + len(piece) :]
    if kind == "insert":
        return text[:start] + piece + text[start:]
    if kind == "delete":
        return text[:start] + text[end:]
    if kind == "repeat":
        return text[:end] + part + text[end:]
    if kind == "move":
        rest = text[:start] + text[end:]
        return rest[:target] + part + rest[target:]
    if kind == "indent":
        return text[:start] + part.replace(b"\n", b"\n" + b" " * (third % 9)) + text[end:]
    return text[:end]


@st.composite
def mutated_modules(draw: st.DrawFn) -> bytes:
    text = read_module(draw(st.sampled_from(list_modules())))
    for mutation in draw(st.lists(MUTATIONS, min_size=1, max_size=5)):
        text = mutate(text, mutation)
    return text


class BlindEncoder:
    """Stand in for an encoder where vectors do not matter."""

    name = "blind"
    dimension = 2

    def encode(self, texts: Sequence[bytes], headings: Sequence[str] = ()) -> Vectors:
        return np.zeros((len(texts), self.dimension), np.float32)

    def encode_query(self, text: str) -> Vectors:
        return np.zeros(self.dimension, np.float32)


def check_span(text: bytes, span: Span) -> None:
    assert 0 <= span.start < span.end <= len(text)
    assert span.start_line == text.count(b"\n", 0, span.start) + 1
    assert span.end_line == text.count(b"\n", 0, span.end - 1) + 1


def contains(outer: Span, inner: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def check_definition(code: CodeUnit, index: int) -> None:
    definition = code.definitions[index]
    check_span(code.text, definition.span)
    content = code.text[definition.span.start : definition.span.end]
    keyword = b"class" if isinstance(definition, Class) else b"def"
    name = definition.name.encode()
    assert "\ufffd" in definition.name or re.search(rb"\b" + keyword + rb"\b[\s\\]*" + re.escape(name), content)
    assert definition.qualname.rpartition(".")[2] == definition.name
    if definition.docstring is not None:
        check_span(code.text, definition.docstring)
        assert contains(definition.span, definition.docstring)
    if definition.parent is not None:
        assert definition.parent < index
        assert contains(code.definitions[definition.parent].span, definition.span)


def check_block(code: CodeUnit, index: int) -> None:
    block = code.blocks[index]
    check_span(code.text, block.span)
    owner = code.definitions[block.function]
    assert isinstance(owner, Function)
    assert contains(owner.span, block.span)
    assert block.depth == block.path.count("/")
    assert owner.docstring is None or owner.docstring.end <= block.span.start
    if block.kind == "body":
        assert (block.parent, block.depth) == (None, 0)
        return
    assert block.parent is not None
    parent = code.blocks[block.parent]
    assert block.parent < index
    assert (parent.function, parent.depth) == (block.function, block.depth - 1)
    assert block.path.startswith(parent.path + "/")
    assert contains(parent.span, block.span)


def check_calls(code: CodeUnit) -> None:
    lines = code.text.count(b"\n") + 1
    for call in code.calls:
        assert 1 <= call.line <= lines
        if call.function is not None:
            span = code.definitions[call.function].span
            assert isinstance(code.definitions[call.function], Function)
            assert span.start_line <= call.line <= span.end_line


def is_sorted(pieces: Sequence[Class | Function | Block | Import]) -> bool:
    return all(before.span.start <= after.span.start for before, after in pairwise(pieces))


@given(mutated_modules())
def test_extracted_places_of_a_mutated_module_match_its_bytes(text: bytes) -> None:
    code = extract_unit(text)
    assert code.text == text
    assert extract_unit(text) == code  # the order of the parser's captures varies
    for index in range(len(code.definitions)):
        check_definition(code, index)
    for index in range(len(code.blocks)):
        check_block(code, index)
    for record in code.imports:
        check_span(text, record.span)
    for constant in code.constants:
        check_span(text, constant.span)
    if code.module is not None:
        check_span(text, code.module.span)
    check_calls(code)
    assert is_sorted(code.definitions)
    assert is_sorted(code.blocks)
    assert is_sorted(code.imports)


def prepare(text: bytes) -> UnitGraph:
    digest = blake2b(text, digest_size=8).hexdigest()
    units, _ = Preparer("lib", BlindEncoder()).prepare([LoadedUnit("a.py", "1", Label.FILE, digest, text)])
    return units[0]


@given(mutated_modules())
def test_each_node_of_a_mutated_module_holds_the_bytes_at_its_place(text: bytes) -> None:
    for part in prepare(text).parts:
        fragment = part.fragment
        assert fragment is not None
        assert fragment.text == re.sub(rb"\r(?!\n)", b"\n", text) or text.startswith(UTF_16_MARKS)
        assert len({node.id for node in fragment.nodes}) == len(fragment.nodes)
        for index, node in enumerate(fragment.nodes):
            check_span(fragment.text, Span(node.start, node.end, node.start_line, node.end_line))
            assert node.parent < index
            if node.label not in (Label.IMPORT, Label.CONSTANT):  # their hashes cover an alias, or the name too
                assert node.content_hash == hash_bytes(fragment.text[node.start : node.end])
            if node.parent >= 0:
                parent = fragment.nodes[node.parent]
                assert parent.start <= node.start
                assert node.end <= parent.end
