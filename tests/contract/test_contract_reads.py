"""Reads of a store: nodes in order, relationships, statistics, exports, and snapshots."""

from __future__ import annotations

from collections import Counter
from contextlib import closing, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from contract.conftest import MEMORY, Hold, OpenStore
from contract.units import (
    FILES,
    READER,
    WRITER,
    encode,
    fill,
    fill_files,
    find_id,
    names_of,
    prepare,
    put_edges,
    put_links,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pkg.errors import NodeNotFoundError, StoreChangedError
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.graph.store import GraphStore
from pkg.model import EMBEDDED_LABELS, UNFOLDED_TYPES, Call, Edge, Label, RelationType
from pkg.units import UnboundCall, UnitLinks, find_owner

NESTED = """def outer():
    def inner(value):
        if value:
            return value


def many(items):
    if items:
        for item in items:
            while item:
                item = next(item)
        with items:
            pass
    else:
        try:
            many(None)
        except ValueError:
            pass
"""


@pytest.fixture
def filled(hold: Hold) -> GraphStore:
    return hold(fill_files)


def places(store: GraphStore, node_id: str) -> list[str]:
    return [node.name for node in store.subtree(node_id)]


def test_nodes_are_returned_in_the_order_of_their_ids(filled: GraphStore) -> None:
    asked = [find_id(filled, Label.FUNCTION, name) for name in ("write", "find_settings", "copy")]
    assert [node.id for node in filled.get(asked)] == asked
    assert [node.id for node in filled.get(asked[::-1])] == asked[::-1]
    assert names_of(filled, [asked[1], asked[1]]) == ["find_settings", "find_settings"]
    assert filled.get([]) == []


@pytest.mark.parametrize("unknown", ["0123456789abcdef", "read", "", "0123456789ABCDEF", "-1", "é" * 16])
def test_an_unknown_id_is_named(filled: GraphStore, unknown: str) -> None:
    known = find_id(filled, Label.FUNCTION, "write")
    for ask in (lambda: filled.get([known, unknown]), lambda: filled.subtree(unknown), lambda: filled.calls(unknown)):
        with pytest.raises(NodeNotFoundError, match=f"'{unknown}'"):
            ask()
    with pytest.raises(NodeNotFoundError, match=f"'{unknown}'"):
        filled.neighbours([unknown])


def test_every_exported_node_can_be_fetched(filled: GraphStore) -> None:
    for line in filled.export():
        if line["type"] == "node":
            node = filled.get([line["id"]])[0]
            assert (node.id, node.label.value, node.source) == (line["id"], line["label"], line["source"])
            assert node.content == line.get("content", node.content)


def test_a_node_is_the_text_at_its_place(filled: GraphStore) -> None:
    for name in ("read", "Reader", "find_settings", "copy"):
        for node in filled.find_name(name):
            text = FILES[node.path]
            assert text.encode()[node.start : node.end].decode() == node.content
            assert text.splitlines()[node.start_line - 1].lstrip() == node.content.splitlines()[0]
            assert text.count("\n", 0, text.index(node.content) + len(node.content)) + 1 == node.end_line


def test_a_name_is_found_among_functions_and_classes(store: GraphStore) -> None:
    text = "class read:\n    def read(self):\n        return read\n\n\ndef other():\n    return 1\n"
    fill(store, {"b.py": text, "a.py": text.replace("other", "read")})
    found = [(node.path, node.start_line, node.label) for node in store.find_name("read")]
    first = [("a.py", 1, Label.CLASS), ("a.py", 2, Label.FUNCTION), ("a.py", 6, Label.FUNCTION)]
    assert found == [*first, ("b.py", 1, Label.CLASS), ("b.py", 2, Label.FUNCTION)]
    assert store.find_name("rea") == []
    assert store.find_name("read", "elsewhere") == []
    several = store.find_names(["other", "read", "nowhere", "read"])
    assert several == sorted(store.find_name("read") + store.find_name("other"), key=lambda n: (n.path, n.start_line))
    assert store.find_names([]) == []


def test_a_file_contains_its_definitions_and_blocks_in_the_order_of_the_text(filled: GraphStore) -> None:
    inside = places(filled, find_id(filled, Label.FILE, "pack/reader.py"))
    read = ["read", "body", "body/with[0]", "body/with[0]/if[0]"]
    assert inside == ["reader", "Reader", *read, "find_settings", "body", "body/for[0]", "body/for[0]/if[0]"]


def test_a_class_and_a_function_contain_their_nodes(filled: GraphStore) -> None:
    read = ["body", "body/with[0]", "body/with[0]/if[0]"]
    assert places(filled, find_id(filled, Label.CLASS, "Reader")) == ["read", *read]
    assert places(filled, find_id(filled, Label.FUNCTION, "read")) == read
    assert places(filled, find_id(filled, Label.IMPORT, "os")) == []


def test_a_block_contains_the_blocks_inside_it(store: GraphStore) -> None:
    fill(store, {"nested.py": NESTED})
    body = find_id(store, Label.BLOCK, "many:body")
    inside = ["body/if[0]", "body/if[0]/for[0]", "body/if[0]/for[0]/while[0]", "body/if[0]/with[0]"]
    assert places(store, body) == [*inside, "body/if[0]/try[0]"]
    assert places(store, find_id(store, Label.BLOCK, "many:body/if[0]/for[0]")) == ["body/if[0]/for[0]/while[0]"]


def test_a_function_that_is_the_whole_body_of_another_does_not_contain_that_body(store: GraphStore) -> None:
    fill(store, {"nested.py": NESTED})
    inner = find_id(store, Label.FUNCTION, "inner")
    body, branch = store.subtree(inner)
    assert (body.qualname, body.name, branch.name) == ("outer.inner", "body", "body/if[0]")
    everything = {node.id for node in store.subtree(find_id(store, Label.FUNCTION, "outer"))}
    assert {inner, body.id, branch.id, find_id(store, Label.BLOCK, "outer:body")} == everything


def test_calls_are_those_on_the_lines_of_a_node(filled: GraphStore) -> None:
    read = filled.calls(find_id(filled, Label.FUNCTION, "read"))
    assert [call.expression for call in read][:2] == ["open", "file.readable"]
    assert {call.expression for call in read} == {"open", "file.readable", "parse_json", "file.read"}
    assert [call.line for call in read] == [11, 12, 13, 13]
    branch = filled.calls(find_id(filled, Label.BLOCK, "copy:body/while[0]/match[0]"))
    assert branch == [Call("source.take", 14, None), Call("write", 18, None)]


def test_calls_of_a_shared_body_count_lines_in_the_row_that_shows_it(store: GraphStore) -> None:
    body = "def area(shape):\n    return measure(shape)\n"
    fill(store, {"row-2": body, "row-1": f"import os\n\n\n{body}"}, label=Label.ROW)
    node = store.find_name("area")[0]
    assert (node.path, node.start_line, node.end_line) == ("row-1", 4, 5)
    assert store.calls(node.id) == [Call("measure", 5, None)]


def steps(store: GraphStore, edges: list[Edge]) -> set[tuple[str, str, str]]:
    names = {line["id"]: line.get("path") or line["name"] for line in store.export() if line["type"] == "node"}
    short = {line["id"]: line["name"] for line in store.export() if line.get("content") is not None}
    names |= short
    return {(edge.type.value, names[edge.start], names[edge.end]) for edge in edges}


def test_neighbours_follow_types_and_direction(filled: GraphStore) -> None:
    read = find_id(filled, Label.FUNCTION, "read")
    incoming = {("CONTAINS", "Reader", "read"), ("NAMES", "read", "read")}
    assert steps(filled, filled.neighbours([read], direction="in")) == incoming
    assert steps(filled, filled.neighbours([read], direction="out")) == {("HAS_BODY", "read", "body")}
    assert steps(filled, filled.neighbours([read])) == incoming | {("HAS_BODY", "read", "body")}
    assert steps(filled, filled.neighbours([read], [RelationType.NAMES])) == {("NAMES", "read", "read")}
    assert filled.neighbours([read], []) == []


def test_neighbours_are_followed_to_the_given_depth(filled: GraphStore) -> None:
    file = find_id(filled, Label.FILE, "pack/reader.py")
    one = {("CONTAINS", "pack/reader.py", name) for name in ("reader", "Reader", "find_settings")}
    two = one | {("CONTAINS", "Reader", "read"), ("HAS_BODY", "find_settings", "body")}
    types = [RelationType.CONTAINS, RelationType.HAS_BODY, RelationType.CHILD]
    assert steps(filled, filled.neighbours([file], types, "out", 0)) == set()
    assert steps(filled, filled.neighbours([file], types, "out", 1)) == one
    assert steps(filled, filled.neighbours([file], types, "out", 2)) == two
    every = filled.neighbours([file], types, "out", 9)
    assert len({edge.end for edge in every}) == len(filled.subtree(file))
    assert filled.neighbours([file], types, "out", 99) == every


def test_an_import_is_a_relationship_with_its_line(filled: GraphStore) -> None:
    file = find_id(filled, Label.FILE, "pack/reader.py")
    edges = filled.neighbours([file], [RelationType.IMPORTS], "out")
    assert {(names_of(filled, [edge.end])[0], edge.line) for edge in edges} == {("os", 2), ("loads", 3)}


BOUND = """import os.path, re as regex
from json import loads as parse, dumps
from . import sibling
from stars import *


def go():
    if os:
        import os
"""


def imports(store: GraphStore, unit: str, *names: str) -> list[tuple[str, int]]:
    return [(node.name, node.start_line) for node in store.imports({unit: names})[unit]]


def test_imports_are_found_by_the_names_that_they_bind(store: GraphStore) -> None:
    fill(store, {"a/b.py": BOUND, "c.py": READER})
    unit, other = find_id(store, Label.FILE, "a/b.py"), find_id(store, Label.FILE, "c.py")
    assert imports(store, unit, "os") == [("os.path", 1), ("os", 9)]
    assert imports(store, unit, "sibling", "regex", "parse") == [("re", 1), ("loads", 2), ("sibling", 3)]
    assert imports(store, unit, "re", "loads", "path", "json", "stars", "none") == imports(store, unit) == []
    both = store.imports({other: ["os"], unit: {"dumps"}})
    assert {key: [node.name for node in nodes] for key, nodes in both.items()} == {other: ["os"], unit: ["dumps"]}
    (node,) = both[unit]
    assert node == store.get([node.id])[0]
    assert store.imports({}) == {}


def test_imports_of_rows_that_share_them_are_those_of_each_row(store: GraphStore) -> None:
    fill(store, {"row-2": "import re\nimport os\n", "row-1": "import os\n"}, label=Label.ROW)
    rows = {path: find_id(store, Label.ROW, path) for path in ("row-1", "row-2")}
    found = store.imports(dict.fromkeys(rows.values(), ("os", "re")))
    assert [node.name for node in found[rows["row-1"]]] == ["os"]
    assert [node.name for node in found[rows["row-2"]]] == ["re", "os"]
    assert all(node == store.get([node.id])[0] for nodes in found.values() for node in nodes)


def test_other_nodes_have_no_imports_and_an_unknown_id_is_named(filled: GraphStore) -> None:
    file, write = find_id(filled, Label.FILE, "pack/reader.py"), find_id(filled, Label.FUNCTION, "write")
    assert filled.imports({write: ["os"]}) == {write: []}
    for unknown in ("0123456789abcdef", "é" * 16):
        with pytest.raises(NodeNotFoundError, match=f"'{unknown}'"):
            filled.imports({file: ["os"], unknown: ["os"]})


def test_relationships_that_were_put_are_neighbours(filled: GraphStore) -> None:
    copy, write = (find_id(filled, Label.FUNCTION, name) for name in ("copy", "write"))
    edge = Edge(RelationType.CALLS, copy, write, 18, "same file", "certain")
    put_edges(filled, "pack/writer.py", edge)
    assert filled.neighbours([copy], [RelationType.CALLS], "out") == [edge]
    assert filled.neighbours([write], [RelationType.CALLS], "in") == [edge]
    assert filled.neighbours([write], [RelationType.CALLS], "out") == []


def test_statistics_count_what_is_exported(filled: GraphStore) -> None:
    copy, write = (find_id(filled, Label.FUNCTION, name) for name in ("copy", "write"))
    put_edges(filled, "pack/writer.py", Edge(RelationType.CALLS, copy, write))
    fill(filled, {"a.py": READER, "partial.py": "def f():\n    return 1\n\n\ndef broken(:\n    pass\n"}, "second")
    stats = filled.stats()
    lines = list(filled.export())
    labels = Counter(line["label"] for line in lines if line["type"] == "node")
    assert {label: count for label, count in stats.nodes.items() if count} == labels
    assert stats.relations == Counter(line["name"] for line in lines if line["type"] == "relation")
    assert [skip.path for skip in stats.partial] == ["partial.py"]
    assert (stats.generation, stats.encoder, stats.dimension) == (3, lines[0]["encoder"], lines[0]["dimension"])
    assert stats.sources == filled.sources()


SLOW = [HealthCheck.function_scoped_fixture]
ORDERS = {"order": st.permutations(["a.py", "b.py", "c.py", "d.py"]), "cut": st.integers(0, 4)}


@settings(max_examples=settings().max_examples // 5, suppress_health_check=SLOW)
@given(**ORDERS)
def test_an_export_does_not_depend_on_the_order_of_writes(
    make_local_store: OpenStore, order: list[str], cut: int
) -> None:
    check_order(make_local_store(), order, cut)


@settings(max_examples=settings().max_examples // 15, suppress_health_check=SLOW)
@given(**ORDERS)
def test_an_export_of_a_server_does_not_depend_on_the_order_of_writes(
    make_server_store: OpenStore, order: list[str], cut: int
) -> None:
    check_order(make_server_store(), order, cut)


def check_order(shuffled: GraphStore, order: list[str], cut: int) -> None:
    """Fill a store in two writes and compare its export with that of an embedded store."""
    texts = {"a.py": READER, "b.py": WRITER, "c.py": NESTED, "d.py": READER}
    for part in (order[:cut], order[cut:]):
        fill(shuffled, {path: texts[path] for path in part})
    with TemporaryDirectory(dir=MEMORY) as folder, closing(EmbeddedStore(Path(folder, "graph.db"), True)) as straight:
        fill(straight, texts)
        assert list(shuffled.export(True)) == list(straight.export(True))


def test_an_export_is_sorted_and_the_same_each_time(filled: GraphStore) -> None:
    lines = list(filled.export())
    assert list(filled.export()) == lines
    assert [line["type"] for line in lines] == sorted(
        (line["type"] for line in lines), key=["graph", "node", "relation"].index
    )
    order = [label.value for label in Label]
    nodes = [(order.index(line["label"]), line["id"]) for line in lines if line["type"] == "node"]
    assert nodes == sorted(nodes)
    edges = [(line["name"], line["start"], line["end"]) for line in lines if line["type"] == "relation"]
    assert edges == sorted(edges)
    assert not any("vector" in line for line in lines)


def test_an_export_has_vectors_on_request(filled: GraphStore) -> None:
    with_vectors = {line["id"]: line for line in filled.export(vectors=True) if "vector" in line}
    assert {line["label"] for line in with_vectors.values()} == {label.value for label in EMBEDDED_LABELS} - {
        "Constant",
        "Chunk",
        "Fact",
    }
    assert {len(line["vector"]) for line in with_vectors.values()} == {filled.stats().dimension}
    plain = [line for line in filled.export() if line.get("id") in with_vectors]
    assert [line | {"vector": with_vectors[line["id"]]["vector"]} for line in plain] == list(with_vectors.values())


def test_a_snapshot_keeps_the_old_generation_while_a_writer_commits(
    open_store: OpenStore, holds_snapshots: bool
) -> None:
    writing, reading = open_store(), open_store()
    fill(writing, FILES)
    whole = list(reading.export())
    outcome = nullcontext() if holds_snapshots else pytest.raises(StoreChangedError, match="try again")
    with outcome, reading.snapshot():
        with writing.write() as writer:
            writer.delete_file("demo", "pack/reader.py")
        if holds_snapshots:
            assert reading.generation() == 1
            assert [node.path for node in reading.find_name("read")] == ["pack/reader.py"]
            assert list(reading.export()) == whole
    assert reading.generation() == 2
    assert reading.find_name("read") == []
    assert len(list(reading.export())) < len(whole)


def test_a_reader_sees_nothing_of_an_unfinished_write(open_store: OpenStore) -> None:
    writing, reading = open_store(), open_store()
    fill(writing, FILES)
    before = list(reading.export())
    with writing.write() as writer:
        if reading is not writing:
            writer.delete_file("demo", "pack/reader.py")
            writer.replace_file(prepare("demo", {"c.py": NESTED})[0])
            assert list(reading.export()) == before
        writer.replace_file(prepare("demo", {"c.py": NESTED})[0])
    assert [node.path for node in reading.find_name("many")] == ["c.py"]


def test_snapshots_may_be_nested(filled: GraphStore) -> None:
    with filled.snapshot(), filled.snapshot():
        assert filled.generation() == 1
    with filled.write() as writer:
        writer.delete_file("demo", "pack/reader.py")
    assert filled.generation() == 2


def test_an_error_inside_a_snapshot_is_the_callers_own(filled: GraphStore) -> None:
    with pytest.raises(BrokenPipeError), filled.snapshot():
        raise BrokenPipeError("the reader has closed")
    assert filled.generation() == 1


def test_outlines_of_functions_and_blocks_agree_with_their_nodes(store: GraphStore) -> None:
    fill(store, {"a.py": NESTED, **FILES})
    nodes = list(store.nodes([Label.FUNCTION, Label.BLOCK]))
    outlines = store.outlines([*(node.id for node in nodes), "0" * 16], encode("read"))
    assert set(outlines) == {node.id for node in nodes}
    for node in nodes:
        each = outlines[node.id]
        assert (each.label, each.source, each.path, each.name, each.kind, each.content_hash) == (
            (node.label, node.source, node.path, node.name, node.kind, node.content_hash)
        )
        assert each.lines == node.end_line - node.start_line + 1
        assert each.qualname == (node.name if node.label is Label.BLOCK else node.qualname)


def test_outlines_are_of_the_last_write_after_earlier_reads(open_store: OpenStore) -> None:
    writing, reading = open_store(), open_store()
    fill(writing, FILES)
    query, (node,) = encode("write"), writing.find_name("write")
    first = reading.outlines([node.id], query, [node.id])
    assert reading.outlines([node.id], query, [node.id]) == first
    with writing.write() as writer:
        writer.delete_source("demo")
    longer = WRITER.replace("    try:", "    while not path:\n        path = str(path)\n    try:", 1)
    fill(writing, {"pack/writer.py": longer})
    second = reading.outlines([node.id], query, [node.id])
    assert second[node.id].lines == first[node.id].lines + 2
    assert [each.kind for each in second.values() if each.id not in first] == ["while"]
    with writing.write() as writer:
        writer.delete_source("demo")
    assert reading.outlines([node.id], query) == {}


@pytest.mark.parametrize("label", [Label.FILE, Label.ROW])
def test_unfolded_nodes_agree_with_separate_reads(store: GraphStore, label: Label) -> None:
    fill(store, {"a.py": f"import os\n\n\n{NESTED}", **FILES}, label=label)
    outer, many, write = (find_id(store, Label.FUNCTION, name) for name in ("outer", "many", "write"))
    called = tuple(Edge(RelationType.CALLS, many, end, 40, "same file", "certain") for end in (many, outer, write))
    put_links(store, UnitLinks("a.py", called, (UnboundCall("00000000000000cc", many, "next", 35, "builtin"),)))
    ids = [node.id for node in store.nodes([Label.FUNCTION, Label.BLOCK])]
    for unfolded in (*store.unfold(ids), *store.unfold(ids[:1])):
        node = unfolded.node
        assert [node] == store.get([node.id])
        inside = [each for each in store.subtree(node.id) if each.label is Label.BLOCK and each.kind != "body"]
        assert unfolded.blocks == tuple(
            (each.id, each.kind, each.start, each.end, each.start_line, each.end_line) for each in inside
        )
        owner = find_owner(node.id, node.label, node.name)
        assert set(unfolded.links) == set(store.neighbours([owner], UNFOLDED_TYPES, "out"))
    counts = Counter(link.type for link in store.unfold([many])[0].links)
    assert counts == {RelationType.CALLS: 3, RelationType.UNRESOLVED: 1}
    assert store.unfold([]) == []
    with pytest.raises(NodeNotFoundError, match=r"'0{16}'"):
        store.unfold([ids[0], "0" * 16])


def test_blocks_of_functions_are_their_descendants(store: GraphStore) -> None:
    fill(store, {"a.py": NESTED, **FILES})
    functions = [node.id for node in store.nodes([Label.FUNCTION])]
    blocks = {node.id for node in store.nodes([Label.BLOCK])}
    vector = encode("read")
    found = {function: store.outlines([], vector, [function]) for function in functions}
    owners = {each: function for function, outlines in found.items() for each in outlines if each in blocks}
    assert set(owners) == blocks
    assert set(store.outlines(functions, vector, functions)) == blocks | set(functions)
    for block, function in owners.items():
        assert found[function][block].owner == function
        assert block in {node.id for node in store.subtree(function)}


def test_outlines_of_blocks_include_their_functions(store: GraphStore) -> None:
    fill(store, {"a.py": NESTED, **FILES})
    blocks = [node for node in store.nodes([Label.BLOCK]) if node.kind != "body"]
    for block in blocks:
        found = store.outlines([block.id], encode("read"))
        (function,) = found.keys() - {block.id}
        assert found[function].label is Label.FUNCTION
        assert block.id in store.outlines([], encode("read"), [function])
