"""The heading of an encoded piece of code: its module and qualified name."""

from __future__ import annotations

from collections.abc import Iterable

from pkg.model import Node, Source


def make_heading(path: str, qualname: str) -> str:
    """Return the heading of a function, or of the function of a block: ``shop/cart Cart.add``.

    The path loses its suffix and a final ``__init__``; a piece of a corpus row has no path. Bytes of a file name that
    are not text are replaced.
    """
    module = path.rpartition(".")[0] or path
    heading = f"{module.removesuffix('/__init__')} {qualname}".strip()
    return heading if heading.isascii() else heading.encode("utf-8", "replace").decode()


def head_text(path: str, qualname: str, text: bytes) -> bytes:
    """Return the text of a chunk below a line with its file and headings.

    This line is part of the text and no heading for the encoder, whose weights of headings were trained on functions:
    used for chunks, they move the vectors away from the questions that the chunks answer.
    """
    return b"\n".join((make_heading(path, qualname).encode(), text))


MAX_FACT_BYTES = 1_500  # bytes encoded of a fact: those of a chunk; the vector of a longer text is vague


def encode_fact(path: str, qualname: str, value: bytes) -> bytes:
    """Return the text of a fact as it is encoded: its document and keys, above the beginning of its value."""
    return head_text(path, qualname, value[:MAX_FACT_BYTES])


class Headings:
    """The headings of stored nodes; nodes of a corpus have no path."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self._corpora = frozenset(source.name for source in sources if source.kind == "corpus")

    def of(self, node: Node) -> str:
        """Return the heading that a function or block was encoded with."""
        return make_heading("" if node.source in self._corpora else node.path, node.qualname)
