"""The nodes of a document: its facts, then the definitions and blocks of the code in them."""

from __future__ import annotations

from pkg.encode.headings import encode_fact, make_heading
from pkg.indexing.pending_nodes import CodePieces, PendingNodes
from pkg.model import CodeUnit, DocumentUnit, Label, Span
from pkg.units import NodeRow, hash_bytes


class PendingFacts(PendingNodes):
    """The facts of a document and its code whose vectors and terms are not known yet (P-12)."""

    def __init__(self, unit: DocumentUnit, source: str, path: str, is_row: bool = False) -> None:
        """Make the rows of the facts and of the code; as in any row, code has no path."""
        self._unit = unit
        self._document = path
        code = unit.code or CodeUnit(unit.text, "python", unit.status, None)
        super().__init__(CodePieces(code), Span(0, len(unit.text), 1, 1), (source, path), "" if is_row else path)

    def _add_pieces(self, span: Span) -> None:
        self._add_facts()
        super()._add_pieces(span)

    def _find_parent(self, number: int) -> int:
        found = super()._find_parent(number)
        return self._unit.owners[number] if found < 0 else found

    def _add_facts(self) -> None:
        children: dict[int | None, list[tuple[int, int]]] = {}
        for fact in self._unit.facts:
            children.setdefault(fact.parent, []).append(fact.span[:2])
        for number, fact in enumerate(self._unit.facts):
            value = self._unit.text[fact.span.start : fact.span.end] if fact.value is None else fact.value.encode()
            nested = children.get(number, ())
            self._encode_also(encode_fact(self._document, fact.qualname, value))
            self.headings.append("")
            place = make_heading(self._document, fact.qualname)
            if fact.value is None:
                self.fields.add_fact(place, list_outside(fact.span, nested))
            else:
                self.fields.add_fact(place, (), fact.value)
            # Equal values under equal keys are one fact to a reader.
            hashed = hash_bytes(b"\0".join((fact.qualname.encode("utf-8", "replace"), value)))
            identity = self._names.name(Label.FACT, fact.qualname)
            own = {"language": self._unit.languages[number] or None, "value": fact.value}
            kept: dict[str, object] = {name: each for name, each in own.items() if each is not None}
            parent = -1 if fact.parent is None else fact.parent
            self.nodes.append(
                NodeRow(
                    identity, Label.FACT, parent, fact.name, fact.qualname, fact.kind, *fact.span, hashed, kept or None
                )
            )  # fmt: skip


def list_outside(span: Span, nested: list[tuple[int, int]] | tuple[()]) -> list[tuple[int, int]]:
    """Return the byte ranges of a span outside of those nested in it, which ascend; all of it where they overlap."""
    ranges, place = [], span.start
    for start, end in nested:
        if start > place:
            ranges.append((place, start))
        place = max(place, end)
    if place < span.end:
        ranges.append((place, span.end))
    return ranges
