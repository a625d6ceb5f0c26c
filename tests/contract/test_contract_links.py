"""The links of a unit are replaced together; libraries and unresolved calls are nodes while referenced."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from contract.conftest import Hold
from contract.units import FILES, READER, WRITER, fill, find_id, prepare, put, put_links
from fakes import FakeStore

from pkg.errors import NodeNotFoundError, StoreError
from pkg.graph.store import GraphStore
from pkg.model import Edge, Label, Node, RelationType
from pkg.units import UnboundCall, UnitLinks, name_library

LINKED = (
    RelationType.CALLS,
    RelationType.RESOLVES_TO,
    RelationType.INHERITS,
    RelationType.OVERRIDES,
    RelationType.UNRESOLVED,
)
OS, JSON = name_library("demo", "os"), name_library("demo", "json")
OPEN, READABLE = "00000000000000aa", "ffffffffffffff0b"
EDITED = READER.replace("return None", "return {}")


def calls(start: str, end: str, line: int | None = None, rule: str | None = None, sure: str | None = None) -> Edge:
    return Edge(RelationType.CALLS, start, end, line, rule, sure)


def resolves(start: str, end: str, rule: str) -> Edge:
    return Edge(RelationType.RESOLVES_TO, start, end, rule=rule)


def link_reader(store: GraphStore) -> UnitLinks:
    """Return the links of pack/reader.py: to itself, two libraries, and two unresolved calls."""
    read, find = (find_id(store, Label.FUNCTION, name) for name in ("read", "find_settings"))
    edges = (
        calls(find, read, 23, "constructor", "likely"),
        calls(find, find_id(store, Label.CLASS, "Reader"), 23, "constructor", "certain"),
        resolves(find_id(store, Label.IMPORT, "os"), OS, "module"),
        resolves(find_id(store, Label.IMPORT, "loads"), JSON, "function"),
    )
    unbound = (
        UnboundCall(OPEN, read, "open", 11, "builtin"),
        UnboundCall(READABLE, read, "file.readable", 12, "receiver unknown"),
    )
    return UnitLinks("pack/reader.py", edges, unbound, ("os", "json"), b"reader")


def link_writer(store: GraphStore) -> UnitLinks:
    """Return the links of pack/writer.py: to pack/reader.py, itself, and from a call outside of functions."""
    file = find_id(store, Label.FILE, "pack/writer.py")
    copy, write = (find_id(store, Label.FUNCTION, name) for name in ("copy", "write"))
    edges = (
        resolves(find_id(store, Label.IMPORT, "Reader"), find_id(store, Label.CLASS, "Reader"), "class"),
        calls(copy, write, 19, "scope", "certain"),
        calls(file, find_id(store, Label.FUNCTION, "find_settings"), 1, "import", "possible"),
        Edge(RelationType.OVERRIDES, write, find_id(store, Label.FUNCTION, "read")),
    )
    return UnitLinks("pack/writer.py", edges, (UnboundCall("00000000000000cc", file, "print", 9, "builtin"),))


def fill_and_link(store: GraphStore) -> None:
    """Write two files and their links: generation 2."""
    fill(store, FILES)
    put_links(store, link_reader(store), link_writer(store))


@pytest.fixture
def linked(hold: Hold) -> GraphStore:
    return hold(fill_and_link)


def list_links(store: GraphStore) -> list[Edge]:
    """Return the resolved relationships, in the order of an export."""
    lines = [line for line in store.export() if line["type"] == "relation" and RelationType(line["name"]) in LINKED]
    facts = ("start", "end", "line", "rule", "confidence")
    return [Edge(RelationType(line["name"]), *map(line.get, facts)) for line in lines]  # type: ignore[arg-type]


def show(*links: UnitLinks) -> set[Edge]:
    """Return the expected relationships of links, including unresolved calls."""
    unbound = [call for each in links for call in each.unbound]
    shown = {edge for each in links for edge in each.edges}
    return shown | {Edge(RelationType.UNRESOLVED, call.owner, call.id, call.line) for call in unbound}


def count(store: GraphStore, *names: str) -> list[int]:
    stats = store.stats()
    return [{**stats.nodes, **stats.relations}.get(name, 0) for name in names]


def test_a_source_is_counted_without_the_others(store: GraphStore) -> None:
    fill_and_link(store)
    alone = store.stats()
    fill(store, {"tea.py": "def brew(:\n", "cup.py": WRITER}, "other")
    both, demo, other = (store.stats(source) for source in (None, "demo", "other"))
    assert (demo.sources, demo.nodes, demo.relations) == (alone.sources, alone.nodes, alone.relations)
    assert (demo.partial, demo.stages) == (alone.partial, alone.stages)
    assert Counter(demo.nodes) + Counter(other.nodes) == both.nodes
    assert Counter(demo.relations) + Counter(other.relations) == both.relations
    assert [each.path for each in other.partial] == ["tea.py"]
    assert store.stats("unknown").sources == ()
    assert not any(store.stats("unknown").nodes.values())


def test_links_are_exported_once_and_counted(linked: GraphStore) -> None:
    found = list_links(linked)
    assert set(found) == show(link_reader(linked), link_writer(linked))
    assert len(found) == len(set(found))
    counts = Counter(edge.type.value for edge in found)
    assert {name: number for name, number in linked.stats().relations.items() if name in counts} == counts
    assert linked.generation() == 2
    assert linked.check() == []


def test_links_are_neighbours_of_both_their_ends(linked: GraphStore) -> None:
    for edge in show(link_reader(linked), link_writer(linked)):
        assert edge in linked.neighbours([edge.start], [edge.type], "out")
        assert edge in linked.neighbours([edge.end], [edge.type], "in")
        assert edge not in linked.neighbours([edge.end], [edge.type], "out")


def test_neighbours_go_on_through_links(linked: GraphStore) -> None:
    reader, writer = link_reader(linked), link_writer(linked)
    file = find_id(linked, Label.FILE, "pack/writer.py")
    assert linked.neighbours([file], [RelationType.CALLS], "out", 1) == [writer.edges[2]]
    found = linked.neighbours([file], [RelationType.CALLS], "out", 2)
    assert set(found) == {writer.edges[2], *reader.edges[:2]}


def test_neighbours_of_several_nodes_are_listed_once_and_in_one_order(linked: GraphStore) -> None:
    every = show(link_reader(linked), link_writer(linked))
    ends = sorted({end for edge in every for end in (edge.start, edge.end)})
    found = linked.neighbours([*ends, *reversed(ends)], LINKED)
    assert set(found) == {edge for end in ends for edge in linked.neighbours([end], LINKED)} == set(every)
    assert len(found) == len(every)
    assert found == linked.neighbours(list(reversed(ends)), LINKED)
    assert linked.neighbours([], LINKED) == []
    with pytest.raises(NodeNotFoundError, match="no node 'fffffffffffffffe'"):
        linked.neighbours([*ends, "fffffffffffffffe"], LINKED)


def test_an_unresolved_call_is_a_node_with_its_position_and_reason(linked: GraphStore) -> None:
    (call,) = linked.get([READABLE])
    assert (call.label, call.source, call.path, call.start_line, call.end_line) == (
        Label.CALL, "demo", "pack/reader.py", 12, 12,
    )  # fmt: skip
    assert (call.name, call.qualname, call.content) == ("file.readable",) * 3
    assert call.properties == {"reason": "receiver unknown"}
    assert (linked.subtree(READABLE), linked.calls(READABLE)) == ([], [])
    assert count(linked, "Call", "UNRESOLVED") == [3, 3]


def test_a_library_is_a_node_of_its_source_without_a_place(linked: GraphStore) -> None:
    library = linked.get([OS])[0]
    assert (library.label, library.source, library.name, library.path, library.start_line) == (
        Label.LIBRARY, "demo", "os", "", 0,
    )  # fmt: skip
    assert (linked.subtree(OS), linked.calls(OS)) == ([], [])
    fill(linked, FILES, "other")
    reader = find_other_import(linked, "os")
    edge = resolves(reader.id, name_library("other", "os"), "module")
    put_links(linked, UnitLinks("pack/reader.py", (edge,), (), ("os",)), source="other")
    assert [each.source for each in linked.get([OS, name_library("other", "os")])] == ["demo", "other"]
    assert count(linked, "Library") == [3]


def find_other_import(store: GraphStore, name: str) -> Node:
    ids = [
        line["id"]
        for line in store.export()
        if (line.get("label"), line.get("name"), line.get("source")) == ("Import", name, "other")
    ]
    return store.get(ids)[0]


def test_every_node_of_links_is_exported_as_it_is_fetched(linked: GraphStore) -> None:
    lines = [line for line in linked.export() if line.get("label") in ("Call", "Library")]
    assert [line["label"] for line in lines] == ["Library", "Library", "Call", "Call", "Call"]
    for line in lines:
        (node,) = linked.get([line["id"]])
        assert (node.name, node.path, node.source) == (line["name"], line.get("path", ""), line["source"])
        assert (node.start_line, node.content_hash) == (line.get("start_line", 0), line["content_hash"])


def test_links_replace_those_of_the_same_file(linked: GraphStore) -> None:
    reader, writer = link_reader(linked), link_writer(linked)
    edges, unbound = (calls(reader.edges[0].start, reader.edges[0].end, 24), reader.edges[2]), reader.unbound[1:]
    changed = replace(reader, edges=edges, unbound=unbound, libraries=("os",))
    put_links(linked, changed)
    assert set(list_links(linked)) == show(changed, writer)
    assert count(linked, "Library", "Call") == [1, 2]
    with pytest.raises(NodeNotFoundError):
        linked.get([JSON])
    assert (linked.generation(), linked.check()) == (3, [])


def test_the_last_links_of_a_file_in_one_write_are_kept(store: GraphStore) -> None:
    fill(store, FILES)
    reader, writer = link_reader(store), link_writer(store)
    with store.write() as write:
        write.put_links("demo", [reader, writer, UnitLinks("pack/reader.py")])
        write.put_links("demo", [replace(writer, edges=writer.edges[:2])])
    assert set(list_links(store)) == show(replace(writer, edges=writer.edges[:2]))
    assert (count(store, "Library", "Call"), store.check()) == ([0, 1], [])


def test_equal_links_make_no_generation_but_notes_are_stored(linked: GraphStore) -> None:
    put_links(linked, replace(link_reader(linked), notes=b"new"), link_writer(linked))
    assert linked.generation() == 2
    assert dict(linked.link_notes("demo")) == {"pack/reader.py": b"new", "pack/writer.py": b""}


def test_notes_alone_are_put_and_make_no_generation(linked: GraphStore) -> None:
    links = list_links(linked)
    with linked.write() as write:
        write.put_notes("demo", {"pack/writer.py": b"later", "pack/reader.py": b"x" * 70_000})
    assert dict(linked.link_notes("demo")) == {"pack/reader.py": b"x" * 70_000, "pack/writer.py": b"later"}
    assert (list_links(linked), linked.generation(), linked.check()) == (links, 2, [])


def test_notes_of_an_unknown_unit_are_refused(linked: GraphStore) -> None:
    with pytest.raises(StoreError, match="'missing'"), linked.write() as write:
        write.put_notes("demo", {"pack/reader.py": b"new", "missing": b""})
    assert dict(linked.link_notes("demo"))["pack/reader.py"] == b"reader"


def test_other_properties_of_the_same_relationship_make_a_generation(linked: GraphStore) -> None:
    reader = link_reader(linked)
    for generation, unbound in enumerate((reader.unbound[:1], (reader.unbound[0]._replace(reason="shadowed"),)), 3):
        put_links(linked, replace(reader, unbound=unbound))
        assert linked.generation() == generation
    assert linked.get([OPEN])[0].properties == {"reason": "shadowed"}


def test_a_replaced_file_loses_its_links_and_keeps_those_to_it(linked: GraphStore) -> None:
    writer = link_writer(linked)
    with linked.write() as write:
        write.replace_file(prepare("demo", {"pack/reader.py": EDITED})[0])
    assert set(list_links(linked)) == show(writer)
    assert dict(linked.link_notes("demo")) == {"pack/writer.py": b""}
    assert (count(linked, "Library", "Call"), linked.check()) == ([0, 1], [])
    with pytest.raises(NodeNotFoundError):
        linked.get([OPEN])


def test_a_replaced_file_may_be_linked_in_the_same_write(linked: GraphStore) -> None:
    reader, writer = link_reader(linked), link_writer(linked)
    with linked.write() as write:
        write.replace_file(prepare("demo", {"pack/reader.py": EDITED})[0])
        write.put_links("demo", [reader])
    assert set(list_links(linked)) == show(reader, writer)
    assert (count(linked, "Library", "Call"), linked.check()) == ([2, 3], [])


def test_a_deleted_file_loses_its_links_in_both_directions(linked: GraphStore) -> None:
    with linked.write() as write:
        write.delete_file("demo", "pack/reader.py")
    assert count(linked, "CALLS", "RESOLVES_TO", "OVERRIDES", "UNRESOLVED", "Library", "Call") == [1, 0, 0, 1, 0, 1]
    assert [path for path, _ in linked.link_notes("demo")] == ["pack/writer.py"]
    assert linked.check() == []


def test_links_to_a_restored_end_can_be_put_again(linked: GraphStore) -> None:
    writer = link_writer(linked)
    with linked.write() as write:
        write.delete_file("demo", "pack/reader.py")
    fill(linked, FILES | {"pack/writer.py": WRITER})
    put_links(linked, writer)
    assert set(list_links(linked)) == show(writer)


def test_a_deleted_source_leaves_no_library_and_no_call(linked: GraphStore) -> None:
    with linked.write() as write:
        write.delete_source("demo")
    assert linked.stats().relations == {}
    assert (count(linked, "Library", "Call"), linked.check()) == ([0, 0], [])
    assert list(linked.link_notes("demo")) == []


def test_links_are_put_by_the_write_that_puts_their_files(store: GraphStore) -> None:
    twin = FakeStore()
    fill(twin, FILES)
    reader, writer = link_reader(twin), link_writer(twin)
    fill(store, {})
    with store.write() as write:
        put(write, "demo", prepare("demo", FILES))
        write.put_links("demo", [reader, writer])
    assert set(list_links(store)) == show(reader, writer)
    assert (store.generation(), store.check()) == (2, [])


def test_an_exception_after_links_leaves_the_old_ones(linked: GraphStore) -> None:
    before, reader = list(linked.export()), link_reader(linked)
    with pytest.raises(StoreError, match="missing"), linked.write() as write:
        write.put_links("demo", [UnitLinks("pack/reader.py", reader.edges[:1], (), (), b"other"), UnitLinks("missing")])
    assert list(linked.export()) == before
    assert dict(linked.link_notes("demo"))["pack/reader.py"] == b"reader"
    assert (linked.generation(), linked.check()) == (2, [])


@pytest.mark.parametrize(("source", "path"), [("ghost", "pack/reader.py"), ("demo", "pack/missing.py")])
def test_links_of_an_unknown_file_or_source_are_refused(linked: GraphStore, source: str, path: str) -> None:
    with pytest.raises(StoreError, match=r"ghost|missing"):
        put_links(linked, UnitLinks(path), source=source)
    assert linked.generation() == 2


def test_relationships_of_the_same_ends_have_an_order(store: GraphStore) -> None:
    fill(store, FILES)
    copy, write = (find_id(store, Label.FUNCTION, name) for name in ("copy", "write"))
    edges = [
        calls(copy, write),
        calls(copy, write, None, "scope"),
        calls(copy, write, 2),
        calls(copy, write, 2, "import"),
        calls(copy, write, 2, "import", "certain"),
        calls(copy, write, 2, "import", "possible"),
        calls(copy, write, 2, "scope", "certain"),
        calls(copy, write, 10, "import"),
    ]
    put_links(store, UnitLinks("pack/writer.py", (*edges[::-1], *edges)))
    assert list_links(store) == edges
    assert store.neighbours([copy], [RelationType.CALLS]) == edges


ONE = "def area(width, height):\n    return width * times(height)\n"
TWO = "def edge(width):\n    return 4 * width\n"
ROWS = {"row-1": ONE, "row-2": f"{TWO}\n{ONE}", "row-3": f"{ONE}\n{TWO}"}


def link_row(store: GraphStore, path: str, line: int) -> UnitLinks:
    area, edge = (find_id(store, Label.FUNCTION, name) for name in ("area", "edge"))
    unbound = (UnboundCall(OPEN, area, "times", line, "unknown"),)
    return UnitLinks(path, (calls(area, edge, 2, "scope", "certain"),), unbound, (), path.encode())


def test_shared_links_of_rows_are_returned_once_until_the_last_row_is_deleted(store: GraphStore) -> None:
    fill(store, ROWS, label=Label.ROW)
    links = [link_row(store, "row-2", 5), link_row(store, "row-3", 2)]
    put_links(store, *links)
    assert set(list_links(store)) == show(*links)
    assert count(store, "CALLS", "UNRESOLVED", "Call") == [1, 2, 1]
    assert [(node.path, node.start_line) for node in store.get([OPEN])] == [("row-2", 5)]
    with store.write() as write:
        write.delete_file("demo", "row-2")
    assert set(list_links(store)) == show(links[1])
    assert [(node.path, node.start_line) for node in store.get([OPEN])] == [("row-3", 2)]
    with store.write() as write:
        write.delete_file("demo", "row-3")
    assert (count(store, "CALLS", "Call"), store.check()) == ([0, 0], [])


def test_links_of_one_row_are_replaced_and_of_the_other_kept(store: GraphStore) -> None:
    fill(store, ROWS, label=Label.ROW)
    links = [link_row(store, "row-2", 5), link_row(store, "row-3", 2)]
    put_links(store, *links)
    put_links(store, UnitLinks("row-2"))
    assert set(list_links(store)) == show(links[1])
    assert dict(store.link_notes("demo")) == {"row-2": b"", "row-3": b"row-3"}
    assert store.check() == []


def test_texts_are_those_of_existing_files(store: GraphStore) -> None:
    fill(store, FILES | {"empty.py": ""})
    found = dict(store.texts("demo", ["pack/writer.py", "pack/missing.py", "empty.py", "é'.py"]))
    assert found == {"pack/writer.py": WRITER.encode(), "empty.py": b""}
    assert list(store.texts("ghost", FILES)) == []
    assert list(store.texts("demo", [])) == []


def test_texts_of_rows_are_not_returned(store: GraphStore) -> None:
    fill(store, ROWS, label=Label.ROW)
    assert list(store.texts("demo", ROWS)) == []


def test_notes_and_texts_are_read_inside_a_write(linked: GraphStore) -> None:
    with linked.write() as write:
        write.put_links("demo", [UnitLinks("pack/writer.py")])
        assert dict(linked.texts("demo", FILES)) == {path: text.encode() for path, text in FILES.items()}
        assert dict(linked.link_notes("demo"))["pack/reader.py"] == b"reader"


def test_notes_are_kept_byte_for_byte(linked: GraphStore) -> None:
    notes = bytes(range(256)) * 20
    put_links(linked, replace(link_reader(linked), notes=notes))
    assert dict(linked.link_notes("demo"))["pack/reader.py"] == notes
    assert list(linked.link_notes("ghost")) == []
