"""Make the helper texts of prompts: what a query has found, as pieces of code that stand for themselves (P-19).

How much of a piece is shown has three degrees: its code, with its signature and the imports that it stands on; its
signature with the first line of its docstring; nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from pkg.generation.aligned_code import align_code
from pkg.generation.forms.form_lines import comment
from pkg.generation.forms.prompt_form import HelperText
from pkg.generation.forms.standing_code import make_signature, wrap_block
from pkg.model import Helper, Hit, Label, Node, QueryResult
from pkg.retrieval.heads import list_unshown
from pkg.retrieval.needed_imports import ModuleImports, list_corpora
from pkg.units import find_owner

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

Degree = Literal["code", "signature", "none"]
"""How much of a piece of code a prompt shows."""


def list_helpers(result: QueryResult) -> tuple[HelperText, ...]:
    """Give the code of each hit as the query has it, pruned, and then of its helpers with their imports.

    Where nothing fits the question, none: what does not help harms.
    """
    if result.coverage.fits is False:
        return ()
    return tuple(text for hit in result.hits for text in list_texts(hit))


def list_texts(hit: Hit) -> Iterator[HelperText]:
    """Give the code of a hit as the query has it, pruned, and then of its helpers with their imports."""
    head = [comment(text, "# ") for text in list_unshown(hit)]
    yield HelperText(tell_place(hit), "\n".join((*head, *([align_code(hit.pruned_content)] if hit.has_code else []))))
    yield from map(_show_helper, hit.helpers)


def _show_helper(helper: Helper) -> HelperText:
    return HelperText(tell_place(helper), "\n".join((*helper.imports, align_code(helper.content))))


def tell_place(found: Hit | Helper) -> str:
    """Say where a piece of code stands: path, lines and qualified name."""
    return f"{found.path}:{found.start_line}-{found.end_line} {found.qualname}"


def read_helpers(store: GraphStore, result: QueryResult, degree: Degree = "code") -> tuple[HelperText, ...]:
    """Give what a query has found so that it stands for itself, in the order of the hits.

    As code, a block has the function around it, as far as the block needs that; a hit has the imports that it uses, and
    is followed by its helpers. As signatures, each function is there once, and helpers are not. Where nothing fits the
    question, there are none.
    """
    if degree == "none" or not result.hits or result.coverage.fits is False:
        return ()
    hits = result.hits if degree == "signature" else [hit for hit in result.hits if hit.has_code]
    found = read_found(store, hits)
    if degree == "signature":
        return tuple(_list_signatures(found))
    shown = [_show_code(each) for each in found]
    imports = _read_imports(store, found, shown)
    return tuple(_list_standing(found, shown, imports))


class FoundHit(NamedTuple):
    """A hit with its node, and that of the function which a block is a block of."""

    hit: Hit
    node: Node
    owner: Node

    @property
    def docstring(self) -> str:
        """Give the docstring of the function; "" without one."""
        return str(self.owner.properties.get("docstring") or "")


def read_found(store: GraphStore, hits: Iterable[Hit]) -> list[FoundHit]:
    """Read the nodes of hits, and of the functions that they are or stand in."""
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
    """Show a hit as it was pruned; of the function around a block what that needs, where Python 3 takes it."""
    hit, owner = found.hit, found.owner
    code = align_code(hit.pruned_content)
    if found.node.label is not Label.BLOCK:
        return code
    lines = hit.start_line - owner.start_line + 1, hit.end_line - owner.start_line + 1
    return wrap_block(align_code(owner.content), lines, code, found.docstring) or code


def _read_imports(store: GraphStore, found: Iterable[FoundHit], shown: Iterable[str]) -> list[tuple[str, ...]]:
    """Give the imports of its module that each shown text uses."""
    reader = ModuleImports(store, list_corpora(store))
    nodes = [replace(each.node, content=code, start_col=0) for each, code in zip(found, shown, strict=True)]
    reader.read(nodes)
    return [reader.list_needed(node) for node in nodes]


def _list_standing(
    found: Iterable[FoundHit], shown: Iterable[str], imports: Iterable[tuple[str, ...]]
) -> Iterator[HelperText]:
    for each, code, needed in zip(found, shown, imports, strict=True):
        yield HelperText(tell_place(each.hit), "\n".join((*needed, code)))
        yield from map(_show_helper, each.hit.helpers)
