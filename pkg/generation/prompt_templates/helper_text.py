"""Make the helper texts of prompts: the hits of a query as self-contained pieces of code (P-19).

A piece is shown as code, with its signature and the imports it needs; as a signature, with the first line of its
docstring; or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from pkg.generation.aligned_code import align_code
from pkg.generation.prompt_templates.prompt_template import HelperText
from pkg.generation.prompt_templates.self_contained_code import make_signature, wrap_block
from pkg.generation.prompt_templates.template_lines import comment
from pkg.model import Helper, Hit, Label, Node, QueryResult
from pkg.retrieval.heads import list_unshown
from pkg.retrieval.needed_imports import ModuleImports, list_corpora
from pkg.units import find_owner

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

Detail = Literal["code", "signature", "none"]
"""The part of a piece of code that a prompt shows."""


def list_helpers(result: QueryResult) -> tuple[HelperText, ...]:
    """Return the pruned code of each hit, followed by its helpers with their imports; each function once.

    Nothing if no hit fits the question, because code that does not help does harm.
    """
    if result.coverage.fits is False:
        return ()
    return tuple(_list_once(result.hits))


def _list_once(hits: Sequence[Hit]) -> Iterator[HelperText]:
    """Yield the texts of hits in order, each once, without blocks of functions that are shown themselves."""
    whole: list[tuple[str, Hit | Helper]] = [(hit.source, hit) for hit in hits if hit.label != Label.BLOCK.value]
    whole += [(hit.source, helper) for hit in hits for helper in hit.helpers]
    seen: set[str] = set()
    for hit in hits:
        is_block = hit.label == Label.BLOCK.value
        if is_block and any(_holds(each, hit) for source, each in whole if source == hit.source):
            seen.add(hit.id)
        for id_, text in zip((hit.id, *(each.id for each in hit.helpers)), list_texts(hit), strict=True):
            if id_ not in seen:
                seen.add(id_)
                yield text


def _holds(function: Hit | Helper, block: Hit) -> bool:
    """Return whether a block of the same source is on the lines of a function."""
    is_around = function.start_line <= block.start_line and block.end_line <= function.end_line
    return function.path == block.path and is_around


def list_texts(hit: Hit) -> Iterator[HelperText]:
    """Yield the pruned code of a hit, then its helpers with their imports."""
    head = [comment(text, "# ") for text in list_unshown(hit)]
    yield HelperText(format_place(hit), "\n".join((*head, *([align_code(hit.pruned_content)] if hit.has_code else []))))
    yield from map(_show_helper, hit.helpers)


def _show_helper(helper: Helper) -> HelperText:
    return HelperText(format_place(helper), "\n".join((*helper.imports, align_code(helper.content))))


def format_place(found: Hit | Helper) -> str:
    """Format the place of a piece of code: path, lines and qualified name."""
    return f"{found.path}:{found.start_line}-{found.end_line} {found.qualname}"


def read_helpers(store: GraphStore, result: QueryResult, detail: Detail = "code") -> tuple[HelperText, ...]:
    """Return the hits of a query as self-contained pieces, in their order; nothing if no hit fits the question.

    As code, a block is wrapped in the parts of its function that it needs, and a hit brings the imports that it uses
    and is followed by its helpers. As signatures, each function comes once, without helpers.
    """
    if detail == "none" or not result.hits or result.coverage.fits is False:
        return ()
    hits = result.hits if detail == "signature" else [hit for hit in result.hits if hit.has_code]
    found = read_found(store, hits)
    if detail == "signature":
        return tuple(_list_signatures(found))
    shown = [_show_code(each) for each in found]
    imports = _read_imports(store, found, shown)
    return tuple(_list_code(found, shown, imports))


class FoundHit(NamedTuple):
    """A hit with its node, and the node of the function that a block belongs to."""

    hit: Hit
    node: Node
    owner: Node

    @property
    def docstring(self) -> str:
        """Return the docstring of the function, or ""."""
        return str(self.owner.properties.get("docstring") or "")


def read_found(store: GraphStore, hits: Iterable[Hit]) -> list[FoundHit]:
    """Read the nodes of hits and of the functions that contain them."""
    nodes = {node.id: node for node in store.get(list(dict.fromkeys(hit.id for hit in hits)))}
    owners = {node.id: find_owner(node.id, node.label, node.name) for node in nodes.values()}
    nodes |= {node.id: node for node in store.get(sorted(set(owners.values()) - nodes.keys()))}
    return [FoundHit(hit, nodes[hit.id], nodes[owners[hit.id]]) for hit in hits]


def _list_signatures(found: Iterable[FoundHit]) -> Iterator[HelperText]:
    shown: set[str] = set()
    for each in found:
        signature = make_signature(align_code(each.owner.content), each.docstring)
        if signature is not None and each.owner.id not in shown:
            shown.add(each.owner.id)
            owner = each.owner
            yield HelperText(f"{owner.path}:{owner.start_line}-{owner.end_line} {owner.qualname}", signature)


def _show_code(found: FoundHit) -> str:
    """Return the pruned code of a hit, and around a block the parts of its function that it needs."""
    hit, owner = found.hit, found.owner
    code = align_code(hit.pruned_content)
    if found.node.label is not Label.BLOCK:
        return code
    lines = hit.start_line - owner.start_line + 1, hit.end_line - owner.start_line + 1
    return wrap_block(align_code(owner.content), lines, code, found.docstring) or code


def _read_imports(store: GraphStore, found: Iterable[FoundHit], shown: Iterable[str]) -> list[tuple[str, ...]]:
    """Return the imports of its module that each shown text uses."""
    reader = ModuleImports(store, list_corpora(store))
    nodes = [replace(each.node, content=code, start_col=0) for each, code in zip(found, shown, strict=True)]
    reader.read(nodes)
    return [reader.list_needed(node) for node in nodes]


def _list_code(
    found: Sequence[FoundHit], shown: Iterable[str], imports: Iterable[tuple[str, ...]]
) -> Iterator[HelperText]:
    """Yield each function once: a block only if its function is shown neither as a hit nor as a helper."""
    helpers = {helper.id for each in found for helper in each.hit.helpers}
    whole = helpers | {each.node.id for each in found if each.node.label is not Label.BLOCK}
    seen: set[str] = set()
    for each, code, needed in zip(found, shown, imports, strict=True):
        is_inside = each.node.label is Label.BLOCK and each.owner.id in whole
        if each.node.id not in seen and not is_inside:
            seen.add(each.node.id)
            yield HelperText(format_place(each.hit), "\n".join((*needed, code)))
        for helper in each.hit.helpers:
            if helper.id not in seen:
                seen.add(helper.id)
                yield _show_helper(helper)
