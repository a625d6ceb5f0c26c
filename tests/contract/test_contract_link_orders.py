"""After links are put, replaced and deleted in any order, a store equals one in memory."""

from __future__ import annotations

import pytest
from contract.conftest import OpenStore
from contract.test_contract_links import EDITED, ONE, OS, TWO, calls, resolves
from contract.units import READER, fill, prepare, put_links, put_names
from fakes import FakeStore
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pkg.graph.store import GraphStore
from pkg.model import Label, RelationType
from pkg.units import UnboundCall, UnitLinks

TEXTS = [READER, EDITED, ONE + TWO, "import os\n", ""]
PATHS = ["a.py", "b.py", "c.py"]
ACTS = st.tuples(
    st.sampled_from(["put", "delete", "link", "link"]),
    st.sampled_from(PATHS),
    st.integers(0, len(TEXTS) - 1),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.none() | st.integers(1, 2)), max_size=4),
)
SLOW = [HealthCheck.function_scoped_fixture]
Acts = list[tuple[str, str, int, list[tuple[int, int, int | None]]]]  # act, path, text, ends of links with a line


@pytest.mark.parametrize("label", [Label.FILE, Label.ROW])
@settings(max_examples=settings().max_examples // 2, suppress_health_check=SLOW)
@given(writes=st.lists(st.lists(ACTS, max_size=6), min_size=1, max_size=4))
def test_any_order_of_links_ends_like_a_store_in_memory(
    make_local_store: OpenStore, label: Label, writes: list[Acts]
) -> None:
    check_links(make_local_store(), label, writes)


@pytest.mark.parametrize("label", [Label.FILE, Label.ROW])
@settings(max_examples=settings().max_examples // 15, suppress_health_check=SLOW)
@given(writes=st.lists(st.lists(ACTS, max_size=6), min_size=1, max_size=4))
def test_any_order_of_links_on_a_server_ends_like_a_store_in_memory(
    make_server_store: OpenStore, label: Label, writes: list[Acts]
) -> None:
    check_links(make_server_store(), label, writes)


def check_links(store: GraphStore, label: Label, writes: list[Acts]) -> None:
    """Apply the same writes to a store in memory, and compare all results after each."""
    twin = FakeStore()
    for each in (store, twin):
        fill(each, {}, label=label)
    for acts in writes:
        wanted = plan(acts)
        for each in (store, twin):
            with each.write() as write:
                for path, text in wanted.items():
                    if text is None:
                        write.delete_file("demo", path)
                    else:
                        write.replace_file(prepare("demo", {path: text}, label)[0])
                put_names(write, "demo")
        links = list(plan_links(twin, label, acts))
        for each in (store, twin):
            put_links(each, *links)
        assert list(store.export(vectors=True)) == list(twin.export(vectors=True))
        assert sorted(store.link_notes("demo")) == sorted(twin.link_notes("demo"))
        assert (store.generation(), store.stats().relations) == (twin.generation(), twin.stats().relations)
        assert store.check() == []


def plan(acts: Acts) -> dict[str, str | None]:
    return {path: TEXTS[text] if act == "put" else None for act, path, text, _ in acts if act in ("put", "delete")}


def plan_links(twin: FakeStore, label: Label, acts: Acts) -> list[UnitLinks]:
    """Link functions and imports of a unit to existing nodes, a library, or an unresolved call."""
    planned = []
    every = [line for line in twin.export() if line.get("label") in ("Class", "Function")]
    for _, path, number, ends in acts:
        units = [line["id"] for line in twin.export() if (line.get("label"), line.get("path")) == (label.value, path)]
        if not units:
            continue
        own = [node.id for node in twin.subtree(units[0]) if node.label is Label.FUNCTION] + units
        edges = [calls(own[a % len(own)], every[b % len(every)]["id"], line) for a, b, line in ends if every]
        unbound = [
            UnboundCall(f"{a + 8 * b + 64 * number:016x}", own[a % len(own)], f"call{b}", line, f"reason {number}")
            for a, b, line in ends
            if line is not None
        ]
        imports = twin.neighbours([units[0]], [RelationType.IMPORTS], "out")
        edges += [resolves(edge.end, OS, "module") for edge in imports[: len(ends)]]
        planned.append(UnitLinks(path, tuple(edges), tuple(unbound), ("os",), bytes([number])))
    return planned
