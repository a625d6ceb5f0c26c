"""A change of encoder: all nodes are re-encoded, and sending code to a service needs consent."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from toy_models import LetterModel, embed_letters
from trees import open_graph_at

from pkg.api import Graph
from pkg.encode.registry import DEFAULT_ENCODER, name_encoder
from pkg.errors import EncoderError, EncoderMismatchError, MissingExtraError, UsageError
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.indexing.build import build
from pkg.indexing.build_plan import BuildOptions
from pkg.indexing.bulk_export import export_bulk
from pkg.model import EMBEDDED_LABELS

pytestmark = pytest.mark.usefixtures("models")

ROWS = '{"output": "import os, sys\\ndef add(a, b):\\n    if a:\\n        return a + b\\n"}\n' * 2


DECLARED = (
    "# How often.\nRETRIES = HOSTS = 3  # times\n\n\nclass Cart:\n    limit = 3\n    'Said.'\n\n    def add(self):\n"
    "        class Line:\n            price = 0\n\n        return Line\n\n\nif RETRIES:\n    def f(): pass\n    f()\n"
)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    (tmp_path / "rows.jsonl").write_text(ROWS)
    return tmp_path / "rows.jsonl"


def export(store: EmbeddedStore) -> list[dict[str, object]]:
    return list(store.export(vectors=True))


def count_embedded(store: EmbeddedStore) -> int:
    return sum(store.stats().nodes.get(label.value, 0) for label in EMBEDDED_LABELS)


@pytest.mark.parametrize(("old", "encoder"), [(None, "fake"), (None, "toy:m"), ("fake", DEFAULT_ENCODER)])
def test_a_changed_encoder_gives_the_graph_of_a_build_from_nothing(
    tree: Path, rows: Path, store: EmbeddedStore, tmp_path: Path, old: str | None, encoder: str
) -> None:
    (tree / "shop" / "conf.py").write_text(DECLARED)
    rows.write_text(ROWS + json.dumps({"output": f"x = 1\n\n\n{DECLARED}"}) + "\n")
    build(str(rows), store, BuildOptions(old))
    build(str(tree), store)
    report = build(str(tree), store, BuildOptions(encoder))
    assert (report.written, report.unchanged, report.reencoded) == (0, 4, count_embedded(store))
    assert store.check() == []
    with closing(open_graph_at(tmp_path / "other.db")) as fresh:
        build(str(rows), fresh, BuildOptions(encoder))
        build(str(tree), fresh, BuildOptions(encoder))
        assert export(store) == export(fresh)


def test_a_build_without_a_name_uses_the_encoder_of_the_store(tree: Path, store: EmbeddedStore) -> None:
    build(str(tree), store)
    assert store.encoder()[0] == name_encoder(DEFAULT_ENCODER)
    build(str(tree), store, BuildOptions("fake"))
    (tree / "new.py").write_text("def fresh(): pass\n")
    report = build(str(tree), store)
    assert (store.encoder(), report.written, report.reencoded) == (("fake", 256), 1, 0)


def test_the_number_of_nodes_to_re_encode_is_reported_first(tree: Path, store: EmbeddedStore) -> None:
    build(str(tree), store)
    said: list[str] = []
    build(str(tree), store, BuildOptions("fake", say=lambda text: said.append(f"{store.encoder()[0]}: {text}")))
    (only,) = said
    before = name_encoder(DEFAULT_ENCODER)
    assert only.startswith(f"{before}: {store.address} holds vectors of '{before}'; all")
    assert f"all {count_embedded(store)} nodes are re-encoded with 'fake'" in only


def test_a_failure_on_the_way_leaves_the_old_vectors(
    tree: Path, store: EmbeddedStore, models: dict[str, LetterModel]
) -> None:
    build(str(tree), store)
    before = export(store)
    left = [2]

    def fail_at_last(texts: Sequence[str]) -> list[list[float]]:
        left[0] -= 1
        if left[0] < 0:
            raise EncoderError("the model is gone")
        return embed_letters(texts)

    models["toy:m"] = LetterModel(fail_at_last, window=None, name="toy:m")
    with pytest.raises(EncoderError, match="the model is gone"):
        build(str(tree), store, BuildOptions("toy:m"))
    assert export(store) == before


def test_truncated_texts_are_reported(tree: Path, store: EmbeddedStore) -> None:
    report = build(str(tree), store, BuildOptions("toy:m"))
    (told,) = [skip for skip in report.skipped if "longer" in skip.reason]
    assert (told.path, told in store.stats().skipped) == ("repo", True)
    assert " texts are longer than 'toy:m' reads; their ends were not encoded" in told.reason


def test_one_process_holds_a_heavy_encoder(tree: Path, store: EmbeddedStore) -> None:
    assert build(str(tree), store, BuildOptions("toy:m", jobs=4)).written == 3


def ask(answer: bool, asked: list[str]) -> Callable[[str], bool]:
    def agree(text: str) -> bool:
        asked.append(text)
        return answer

    return agree


def test_nothing_is_sent_without_consent(tree: Path, store: EmbeddedStore, models: dict[str, LetterModel]) -> None:
    asked: list[str] = []
    for options in (BuildOptions("far:m"), BuildOptions("far:m", agree=ask(False, asked))):
        with pytest.raises(
            UsageError, match=r"sends code to https://far.example/v1: .* nothing was sent: agree with --yes"
        ):
            build(str(tree), store, options)
    assert len(asked) == 1
    assert models["far:m"].asked == []
    assert (store.encoder(), store.sources()) == (("", 0), ())


def test_the_estimate_equals_the_sent_text(tree: Path, store: EmbeddedStore, models: dict[str, LetterModel]) -> None:
    asked: list[str] = []
    options = BuildOptions("far:m", agree=ask(True, asked))
    build(str(tree), store, options)
    names = {node["name"] for node in export(store) if node.get("label") == "FunctionName"}
    sent = [text for batch in models["far:m"].asked for text in batch if text not in names]
    assert f": {len(sent)} texts of about {sum(map(len, sent)):,} tokens; they leave this machine" in asked[0]
    build(str(tree), store, options)
    assert len(asked) == 1


def test_after_an_edit_only_new_texts_are_sent(
    tree: Path, store: EmbeddedStore, models: dict[str, LetterModel]
) -> None:
    asked: list[str] = []
    options = BuildOptions("far:m", agree=ask(True, asked))
    build(str(tree), store, options)
    (tree / "new.py").write_text("def fresh():\n    return 1\n")
    build(str(tree), store, options)
    assert ": 2 texts of about " in asked[1]


def test_a_change_to_a_service_counts_the_whole_graph(
    tree: Path, rows: Path, store: EmbeddedStore, models: dict[str, LetterModel]
) -> None:
    build(str(rows), store)
    build(str(tree), store)
    asked: list[str] = []
    build(str(tree), store, BuildOptions("far:m", agree=ask(True, asked)))
    (text,) = asked
    sent = [text for batch in models["far:m"].asked for text in batch]
    assert f": {len(sent)} texts of about {sum(map(len, sent)):,} tokens; they leave this machine" in text
    assert store.encoder() == ("far:m", 4)


def test_cached_texts_are_not_sent(tree: Path, store: EmbeddedStore, tmp_path: Path) -> None:
    asked: list[str] = []
    options = BuildOptions("far:m", agree=ask(True, asked))
    build(str(tree), store, options)
    with closing(open_graph_at(tmp_path / "other.db")) as fresh:
        assert build(str(tree), fresh, options).written == 3
    assert len(asked) == 1


def test_files_for_an_import_send_nothing(tree: Path, store: EmbeddedStore, tmp_path: Path) -> None:
    build(str(tree), store, BuildOptions("far:m", agree=ask(True, [])))
    with pytest.raises(UsageError, match="would send all code there again; build into the server instead"):
        export_bulk(store, tmp_path / "files")


def test_an_open_graph_uses_the_new_encoder_after_a_build(
    tree: Path, store: EmbeddedStore, models: dict[str, LetterModel]
) -> None:
    build(str(tree), store, BuildOptions("toy:first"))
    graph = Graph(store)
    graph.query("total")
    build(str(tree), store, BuildOptions("toy:second"))
    graph.query("total of the items")
    assert [sum(models[name].queries) for name in ("toy:first", "toy:second")] == [1, 1]


def test_a_query_of_a_graph_with_a_missing_encoder_names_the_remedy(tree: Path, store: EmbeddedStore) -> None:
    build(str(tree), store)
    with store.write() as writer:
        ids = {label: [node.id for node in store.nodes([label])] for label in EMBEDDED_LABELS}
        writer.put_encoder("gone", 4)
        for label, some in ids.items():
            writer.put_vectors(label, dict.fromkeys(some, np.ones(4, np.float16)))
    with pytest.raises(EncoderMismatchError, match=f"'gone' with 4 .* does not have; .* --encoder {DEFAULT_ENCODER}"):
        Graph(store).query("total")


def name_otherwise(store: EmbeddedStore, encoder: str) -> None:
    """Make a store report another encoder."""
    vectors = {line["id"]: line["vector"] for line in export(store) if "vector" in line}
    ids = {label: [node.id for node in store.nodes([label])] for label in EMBEDDED_LABELS}
    with store.write() as writer:
        writer.put_encoder(encoder, store.encoder()[1])
        for label, some in ids.items():
            writer.put_vectors(label, {each: np.array(vectors[each], np.float16) for each in some})


OTHER_WEIGHTS = [DEFAULT_ENCODER, f"{DEFAULT_ENCODER}@0000"]  # the first from before names had revisions


@pytest.mark.parametrize("known", OTHER_WEIGHTS)
def test_a_graph_of_other_weights_is_not_searched(tree: Path, store: EmbeddedStore, known: str) -> None:
    build(str(tree), store)
    name_otherwise(store, known)
    told = rf"encoder '{known}', made with other weights .*'{DEFAULT_ENCODER}@\w{{8}}'.* pkg build PATH"
    with pytest.raises(EncoderMismatchError, match=told):
        Graph(store).query("total")


@pytest.mark.parametrize("known", OTHER_WEIGHTS)
@pytest.mark.parametrize("wanted", [None, DEFAULT_ENCODER])
def test_the_next_build_encodes_a_graph_of_other_weights_again(
    tree: Path, store: EmbeddedStore, known: str, wanted: str | None
) -> None:
    build(str(tree), store)
    before = export(store)
    name_otherwise(store, known)
    said: list[str] = []
    report = build(str(tree), store, BuildOptions(wanted, say=said.append))
    assert (report.written, report.reencoded) == (0, count_embedded(store))
    assert f"holds vectors of '{known}'; all" in said[0]
    assert export(store) == before
    assert Graph(store).query("total").hits


def test_an_unencrypted_address_is_reported(tree: Path, store: EmbeddedStore) -> None:
    asked: list[str] = []
    build(str(tree), store, BuildOptions("far:m@http://far.example:8000/v1", agree=ask(True, asked)))
    assert "tokens, not encrypted on the way; they leave this machine" in asked[0]


def test_a_missing_key_is_reported_before_any_request(
    tree: Path, store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FAR_KEY")
    with pytest.raises(EncoderError, match=r"no key for https://far\.example/v1; set FAR_KEY"):
        build(str(tree), store, BuildOptions("far:m", agree=ask(True, [])))


def test_a_missing_package_is_reported_before_the_build(
    tree: Path, store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pkg.encode.registry.find_spec", lambda package: None)
    with pytest.raises(MissingExtraError, match=r"'minilm' needs the package 'onnxruntime'.*\[minilm\]"):
        build(str(tree), store, BuildOptions("minilm"))
    assert store.encoder() == ("", 0)
