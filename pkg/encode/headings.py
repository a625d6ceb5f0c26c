"""The line that tells an encoder where a piece of code stands: its module and its qualified name."""

from __future__ import annotations

from collections.abc import Iterable

from pkg.model import Node, Source


def make_heading(path: str, qualname: str) -> str:
    """Name the place of a function, or of the function that holds a block: ``shop/cart Cart.add``.

    The path loses its suffix, and that of a package its ``__init__``; a piece of a corpus row has no path.
    What a file system calls a file need not be text: the rest is replaced.
    """
    module = path.rpartition(".")[0] or path
    heading = f"{module.removesuffix('/__init__')} {qualname}".strip()
    return heading if heading.isascii() else heading.encode("utf-8", "replace").decode()


def head_text(path: str, qualname: str, text: bytes) -> bytes:
    """Write what is encoded of a chunk: its file and headings on a line above its text.

    They are no heading to the encoder: what that counts as the name and the place of a function was learned of these,
    and the vectors of chunks that were encoded so are further from the questions that they answer.
    """
    return b"\n".join((make_heading(path, qualname).encode(), text))


class Headings:
    """Give the stored nodes of a graph their headings; the name of a corpus row is no path, and heads nothing."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self._corpora = frozenset(source.name for source in sources if source.kind == "corpus")

    def of(self, node: Node) -> str:
        """Give the heading that a function or block was encoded with."""
        return make_heading("" if node.source in self._corpora else node.path, node.qualname)
