"""Writes are atomic, and replaced or deleted units leave no nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from contract.conftest import OpenStore
from contract.units import FILES, READER, WRITER, encoder, fill, find_id, names_of, prepare, put, put_names
from fakes import FakeStore
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pkg.errors import EncoderMismatchError, StoreError
from pkg.graph.store import GraphStore
from pkg.model import Label, LocalError, RelationType, Skip, Source
from pkg.units import Part

EDITED = READER.replace("return None", "return {}")


def lines(store: GraphStore) -> list[dict[str, Any]]:
    return list(store.export(vectors=True))


def ids_of(store: GraphStore, label: Label) -> dict[str, str]:
    """Map the qualified names of the nodes of a label to their ids."""
    return {
        f"{line['qualname']}:{line['name']}": line["id"] for line in store.export() if line.get("label") == label.value
    }


def count(store: GraphStore, label: Label) -> int:
    return store.stats().nodes.get(label.value, 0)


def test_a_new_store_is_empty(store: GraphStore) -> None:
    assert store.generation() == 0
    assert store.sources() == ()
    assert store.source_fingerprint("demo") is None
    assert list(store.fingerprints("demo")) == []
    assert [line["type"] for line in store.export()] == ["graph"]


def test_a_write_makes_one_generation(store: GraphStore) -> None:
    fill(store, FILES)
    assert store.generation() == 1
    first = store.stamp()
    with store.write() as writer:
        writer.delete_file("demo", "pack/writer.py")
    assert store.generation() == 2
    assert "" != first != store.stamp()


def test_a_write_that_changes_nothing_makes_no_generation(store: GraphStore) -> None:
    fill(store, FILES)
    first = store.stamp()
    with store.write() as writer:
        writer.delete_file("demo", "pack/missing.py")
    assert (store.generation(), store.stamp()) == (1, first)


def test_fingerprints_of_some_paths_are_returned(store: GraphStore) -> None:
    fill(store, FILES)
    known = sorted(store.fingerprints("demo"))
    paths = [path for path, _, _ in known]
    assert len(paths) > 1
    assert list(store.fingerprints("demo", paths[:1])) == known[:1]
    assert sorted(store.fingerprints("demo", [*paths, "no/such.py"])) == known
    assert list(store.fingerprints("demo", [])) == list(store.fingerprints("other", paths)) == []


def test_a_touched_file_gets_its_fingerprint_without_a_generation(store: GraphStore) -> None:
    fill(store, FILES)
    before = sorted(store.fingerprints("demo"))
    with store.write() as writer:
        writer.put_fingerprint("demo", "pack/reader.py", "touched")
    assert store.generation() == 1
    expected = [(path, "touched" if path == "pack/reader.py" else old, content) for path, old, content in before]
    assert sorted(store.fingerprints("demo")) == expected


def test_a_source_keeps_what_its_build_noted(store: GraphStore) -> None:
    fill(store, FILES)
    skip = Skip("pack/big.py", "larger than 5.0 MB")
    error = LocalError("pack/reader.py", 3, "resolve", "KeyError: 'x' \u2013 \ud800", "0.1.0")
    source = Source("demo", "repository", "/elsewhere", "abc", "big.demo")
    with store.write() as writer:
        writer.put_source(source, "second", [skip, error], {"extract": 0.5})
    assert store.sources() == (source,)
    (node,) = store.nodes([Label.SOURCE])
    assert node.properties == {"root": "/elsewhere", "revision": "abc", "package": "big.demo"}
    assert store.source_fingerprint("demo") == "second"
    assert store.stats().skipped == (skip,)
    assert store.stats().errors == store.errors("demo") == (error,)
    assert store.errors("unknown") == ()
    assert store.stats().stages == {"demo": {"extract": 0.5}}


def change_and_raise(store: GraphStore, fault: BaseException) -> None:
    with store.write() as writer:
        put(writer, "other", prepare("other", FILES))
        put(writer, "demo", prepare("demo", {"pack/reader.py": EDITED}))
        writer.delete_file("demo", "pack/writer.py")
        raise fault


@pytest.mark.parametrize("fault", [ValueError("wrong"), OSError("no such file"), KeyboardInterrupt()])
def test_an_exception_inside_a_write_leaves_the_old_graph(store: GraphStore, fault: BaseException) -> None:
    fill(store, FILES)
    before, known = lines(store), sorted(store.fingerprints("demo"))
    with pytest.raises(type(fault)) as caught:
        change_and_raise(store, fault)
    assert caught.value is fault
    assert (store.generation(), lines(store), sorted(store.fingerprints("demo"))) == (1, before, known)
    assert store.check() == []


def test_an_exception_inside_the_first_write_leaves_an_empty_store(store: GraphStore) -> None:
    with pytest.raises(ValueError, match="wrong"):
        change_and_raise(store, ValueError("wrong"))
    assert store.generation() == 0
    fill(store, FILES)
    assert store.check() == []
    assert names_of(store, [node.id for node in store.find_name("read")]) == ["read"]


def test_an_edited_file_keeps_the_ids_of_its_nodes(store: GraphStore) -> None:
    fill(store, FILES)
    functions, blocks = ids_of(store, Label.FUNCTION), ids_of(store, Label.BLOCK)
    with store.write() as writer:
        writer.replace_file(prepare("demo", {"pack/reader.py": EDITED})[0])
    assert ids_of(store, Label.FUNCTION) == functions
    assert ids_of(store, Label.BLOCK) == blocks
    assert "return {}" in store.find_name("read")[0].content


def test_a_replaced_file_leaves_nothing_of_the_old_one(store: GraphStore) -> None:
    fill(store, FILES)
    with store.write() as writer:
        writer.replace_file(prepare("demo", {"pack/reader.py": "def only():\n    return 1\n"})[0])
        put_names(writer, "demo")
    assert set(ids_of(store, Label.FUNCTION)) == {"only:only", "write:write", "copy:copy"}
    assert set(ids_of(store, Label.FUNCTION_NAME)) == {"only:only", "write:write", "copy:copy"}
    assert count(store, Label.CLASS) == 0
    assert store.text_search(Label.FUNCTION, {"set": 1.0}, 9).matches == ()
    assert store.check() == []


def test_the_same_path_twice_in_one_write_leaves_the_last(store: GraphStore) -> None:
    store.ensure_schema(encoder().name, encoder().dimension)
    with store.write() as writer:
        put(writer, "demo", [*prepare("demo", FILES), *prepare("demo", {"pack/reader.py": EDITED})])
    assert count(store, Label.FILE) == 2
    assert "return {}" in store.find_name("read")[0].content
    assert store.check() == []


def test_a_deleted_file_takes_its_nodes_and_names_along(store: GraphStore) -> None:
    fill(store, FILES)
    with store.write() as writer:
        writer.delete_file("demo", "pack/reader.py")
    other = FakeStore()
    fill(other, {"pack/writer.py": WRITER})
    assert lines(store) == lines(other)
    assert store.check() == []


def test_a_deleted_source_leaves_others_unchanged(store: GraphStore) -> None:
    fill(store, FILES, "first")
    before = [line for line in lines(store) if line["type"] == "node"]
    fill(store, {"pack/reader.py": READER, "more.py": WRITER}, "second")
    with store.snapshot():
        assert [source.name for source in store.sources()] == ["first", "second"]
    with store.write() as writer:
        writer.delete_source("second")
    assert [line for line in lines(store) if line["type"] == "node"] == before
    assert store.sources() == (Source("first", "repository", "/first"),)
    assert list(store.fingerprints("second")) == []
    assert store.check() == []


def test_equal_names_and_files_of_two_sources_stay_apart(store: GraphStore) -> None:
    fill(store, FILES, "first")
    fill(store, FILES, "second")
    assert count(store, Label.FUNCTION) == 8
    assert count(store, Label.FUNCTION_NAME) == 8
    assert [node.source for node in store.find_name("read")] == ["first", "second"]
    assert [node.source for node in store.find_name("read", "second")] == ["second"]


@pytest.mark.parametrize("act", ["replace_file", "delete_file", "delete_source"])
def test_an_unknown_source_is_named(store: GraphStore, act: str) -> None:
    unit = prepare("ghost", {"a.py": "def f():\n    return 1\n"})[0]
    arguments = {"replace_file": (unit,), "delete_file": ("ghost", "a.py")}.get(act, ("ghost",))
    with pytest.raises(StoreError, match="ghost"), store.write() as writer:
        getattr(writer, act)(*arguments)
    assert store.generation() == 0


def test_a_missing_fragment_is_refused(store: GraphStore) -> None:
    fill(store, FILES)
    before = lines(store)
    unit = prepare("demo", {"c.py": READER})[0]
    hollow = replace(unit, parts=(Part(unit.parts[0].key, 1, None),))
    with pytest.raises(StoreError, match="is missing in the store"), store.write() as writer:
        writer.replace_file(hollow)
    assert lines(store) == before


ONE = "def area(width, height):\n    return width * height\n"
TWO = "def edge(width):\n    return 4 * width\n"
ROWS = {"row-1": ONE, "row-2": f"{TWO}\n{ONE}", "row-3": ONE}


def test_an_equal_body_of_several_rows_is_one_node_that_all_contain(store: GraphStore) -> None:
    fill(store, ROWS, label=Label.ROW)
    assert set(ids_of(store, Label.FUNCTION)) == {"area:area", "edge:edge"}
    edges = store.neighbours([find_id(store, Label.FUNCTION, "area")], [RelationType.CONTAINS], "in")
    assert sorted(names_of(store, [edge.start for edge in edges])) == ["row-1", "row-2", "row-3"]


def test_a_shared_body_stays_until_its_last_row_is_gone(store: GraphStore) -> None:
    fill(store, ROWS, label=Label.ROW)
    for row in ("row-1", "row-2"):
        with store.write() as writer:
            writer.delete_file("demo", row)
        assert [node.name for node in store.find_name("area")] == ["area"]
    assert [node.path for node in store.find_name("area")] == ["row-3"]
    with store.write() as writer:
        writer.delete_file("demo", "row-3")
    assert (count(store, Label.FUNCTION), count(store, Label.FUNCTION_NAME)) == (0, 0)
    assert store.check() == []


def test_missing_names_are_those_without_a_node(store: GraphStore) -> None:
    fill(store, FILES)
    with store.write() as writer:
        writer.replace_file(prepare("demo", {"c.py": "def zoom():\n    return 1\n\n\ndef read():\n    return 2\n"})[0])
        assert writer.missing_names("demo") == ["zoom"]
        writer.put_names("demo", {"zoom": np.ones(encoder().dimension, np.float16)})
        assert writer.missing_names("demo") == []


def test_missing_names_are_sorted_from_a_first_one_on(store: GraphStore) -> None:
    text = "".join(f"def {name}():\n    return 1\n\n\n" for name in ("walk", "turn", "stop", "jump"))
    store.ensure_schema(encoder().name, encoder().dimension)
    with store.write() as writer:
        writer.put_source(Source("demo", "repository", "/demo"))
        writer.replace_file(prepare("demo", {"a.py": text})[0])
        assert writer.missing_names("demo", limit=3) == ["jump", "stop", "turn"]
        assert writer.missing_names("demo", "stop", limit=2) == ["stop", "turn"]


def test_another_encoder_is_refused_with_both_named(store: GraphStore) -> None:
    store.ensure_schema("static", 192)
    store.ensure_schema("static", 192)
    with pytest.raises(EncoderMismatchError, match=r"'static' with 192.*'minilm' with 192"):
        store.ensure_schema("minilm", 192)
    with pytest.raises(EncoderMismatchError, match=r"'static' with 192.*'static' with 384"):
        store.ensure_schema("static", 384)
    assert (store.stats().encoder, store.stats().dimension) == ("static", 192)


VERSIONS = ["", ONE, TWO, ONE + TWO, READER, EDITED, "def broken(:\n", "import os\nimport os\n"]
STEPS = st.lists(st.tuples(st.sampled_from(["a.py", "b.py", "c.py"]), st.integers(-1, len(VERSIONS) - 1)), max_size=8)


SLOW = [HealthCheck.function_scoped_fixture]


@pytest.mark.parametrize("label", [Label.FILE, Label.ROW])
@settings(max_examples=settings().max_examples // 2, suppress_health_check=SLOW)
@given(writes=st.lists(STEPS, min_size=1, max_size=4))
def test_any_order_of_writes_ends_like_a_fresh_store(
    make_local_store: OpenStore, label: Label, writes: list[list[tuple[str, int]]]
) -> None:
    check_writes(make_local_store(), label, writes)


@pytest.mark.parametrize("label", [Label.FILE, Label.ROW])
@settings(max_examples=settings().max_examples // 15, suppress_health_check=SLOW)
@given(writes=st.lists(STEPS, min_size=1, max_size=4))
def test_any_order_of_writes_ends_like_a_fresh_store_on_a_server(
    make_server_store: OpenStore, label: Label, writes: list[list[tuple[str, int]]]
) -> None:
    check_writes(make_server_store(), label, writes)


def check_writes(grown: GraphStore, label: Label, writes: list[list[tuple[str, int]]]) -> None:
    """Write in steps, and compare with a store in memory of the final state."""
    fill(grown, {}, label=label)
    texts: dict[str, str] = {}
    for steps in writes:
        with grown.write() as writer:
            for path, version in steps:
                if version < 0:
                    writer.delete_file("demo", path)
                    texts.pop(path, None)
                else:
                    texts[path] = VERSIONS[version]
                    writer.replace_file(prepare("demo", {path: texts[path]}, label)[0])
            put_names(writer, "demo")
    fresh = FakeStore()
    fill(fresh, texts, label=label)
    assert lines(grown) == lines(fresh)
    assert grown.check() == []
