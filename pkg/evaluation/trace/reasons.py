"""Say why a call that happened is not in the graph, and what happened where an edge of the graph did not."""

from __future__ import annotations

from collections.abc import Set

from pkg.evaluation.trace.subject import Site, Subject, list_decorators
from pkg.model import Edge, Node

CONSTRUCTORS = ("__init__", "__new__", "__call__", "__init_subclass__")


def explain_missed(subject: Subject, site: Site, callee: Node) -> str:
    """Say why a call is missed: the reason of the unbound call that stands there, or that nothing written calls it."""
    unbound = subject.unbound.get(site, [])
    named = [call for call in unbound if call.name.rpartition(".")[2] == callee.name]
    special = callee.name.startswith("__") and callee.name.endswith("__")
    if not named and (callee.name in CONSTRUCTORS or not special):
        named = unbound
    if named:
        return str(named[0].properties.get("reason", "unknown"))
    same = [edge for edge in subject.calls.get(site, []) if subject.nodes[edge.end].name == callee.name]
    if same:
        return "bound to another of that name"
    if special:
        return "no site: special method that the interpreter calls"
    if site.statement in subject.outlines[subject.nodes[site.owner].path].decorated:
        return "no site: decorator"
    if any(name.endswith("property") for name in list_decorators(callee)):
        return "no site: property"
    return "no site"


def explain_unseen(subject: Subject, edge: Edge, seen: Set[str], names: Set[str]) -> str:
    """Say what the line of an edge called instead.

    seen: ids of the functions of the repository that it called; names: what it called elsewhere.
    """
    target = subject.nodes[edge.end]
    kin = {identity for identity in seen if edge.end in subject.find_overridden(identity)}
    if kin or subject.find_overridden(edge.end) & seen:
        return "another method of the hierarchy was called"
    if any(subject.nodes[identity].name == target.name for identity in seen):
        return "another function of that name was called"
    if target.name in names:
        return "something of that name outside of the repository was called"
    return "nothing of that name was called"
