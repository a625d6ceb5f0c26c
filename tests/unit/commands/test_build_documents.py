"""`pkg build` of documents that are odd or broken: each is read or named with its reason, and none stops the build."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from trees import write_tree

from pkg.cli import main

WORDS = "word " * 1_000_000  # one line of 5 MB


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def build(folder: Path, files: Mapping[str, str]) -> tuple[dict[str, str], dict[str, list[str]], str]:
    """Build documents; return the reasons of those not read, the keys of the facts of the others, and the store."""
    store = f"sqlite:///{folder / 'graph.db'}"
    result = run("build", str(write_tree(folder / "docs", files)), "--reader", "structure", "--store", store)
    assert (result.exit_code, json.loads(result.stdout)["errors"]) == (0, [])
    stats = json.loads(run("stats", "--store", store).stdout)
    reasons = {each["path"]: each["reason"] for each in (*stats["partial"], *stats["skipped"])}
    return reasons, list_keys(store), store


def list_keys(store: str) -> dict[str, list[str]]:
    """Return the keys of the facts of each document, in the order of the text."""
    lines: list[dict[str, Any]] = [json.loads(line) for line in run("export", "--store", store).stdout.splitlines()]
    facts = [line for line in lines if line.get("label") == "Fact"]
    keys: dict[str, list[str]] = {}
    for line in sorted(facts, key=lambda line: (line["start"], -line["end"])):
        keys.setdefault(line["path"], []).append(line["qualname"])
    return keys


def test_what_cannot_be_read_is_named_and_the_rest_is_built(tmp_path: Path) -> None:
    files = {
        "broken.ipynb": "{", "cells.ipynb": '{"worksheets": 4}', "head.html": "<html><head><title>x</title></head>",
        "line.md": f"# Long\n\n{WORDS}\n", "lines.md": f"# Long\n\n{WORDS[:900_000]}\n", "good.md": "# Good\n\nText.\n",
    }  # fmt: skip
    reasons, keys, store = build(tmp_path, files)
    assert {path: reason.partition(" (")[0].partition(":")[0] for path, reason in reasons.items()} == {
        "broken.ipynb": "a notebook that is no JSON",
        "cells.ipynb": "a notebook without cells",
        "head.html": "a document without text",
        "line.md": "larger than 1.0 MB",
        "lines.md": "minified or generated",
    }
    assert keys == {"good.md": ["Good"]}
    shown = " ".join(run("stats", "--store", store, "--no-json").stdout.split())
    assert "CHILD between facts 0" in shown


def test_a_line_of_five_megabytes_is_cut_into_texts(tmp_path: Path) -> None:
    reasons, keys, _ = build(tmp_path, {"page.html": f"<p>{WORDS[:4_900_000]}"})
    assert (reasons, len(keys["page.html"]) > 3_000) == ({}, True)


def test_levels_may_be_skipped_and_equal_keys_are_numbered(tmp_path: Path) -> None:
    table = "| a | b |\n|---|---|\n|  |  |\n| x |  |\n"
    text = f"# A\n\n#### D\n\nd\n\n## B\n\none\n\n## B\n\ntwo\n\n- **k**:\n- **k**: v\n\n{table}"
    reasons, keys, _ = build(tmp_path, {"a.md": text})
    assert reasons == {}
    assert keys["a.md"] == [
        "A", "A > D", "A > B", "A > B (2)", "A > B (2) > text", "A > B (2) > k", "A > B (2) > k (2)",
        "A > B (2) > table", "A > B (2) > table > [1]", "A > B (2) > table > x",
    ]  # fmt: skip


def test_cells_may_go_over_lines_and_items_over_two_hundred_levels(tmp_path: Path) -> None:
    grid = "T\n=\n\n+---+-----+\n| k | v   |\n+===+=====+\n| a | one |\n|   | two |\n+---+-----+\n"
    deep = "".join(f"{'  ' * level}- level {level}\n" for level in range(200))
    reasons, keys, store = build(tmp_path, {"a.rst": grid, "b.md": f"# Deep\n\n{deep}"})
    assert reasons == {}
    assert keys["a.rst"] == ["T", "T > table", "T > table > a"]
    assert 30 < len(keys["b.md"]) < 120
    hit = json.loads(run("query", "one two", "--mode", "fact", "--top-k", "1", "--store", store).stdout.splitlines()[0])
    assert "one |\n|   | two" in hit["content"]


def test_a_row_without_a_text_is_named(tmp_path: Path) -> None:
    texts = {"a": "# Guide\n\nSome prose.", "c": None, "d": ""}
    rows = [{"id": "b"}, *({"id": name, "text": text} for name, text in texts.items())]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    store = f"sqlite:///{tmp_path / 'graph.db'}"
    result = run("build", str(tmp_path / "rows.jsonl"), "--store", store)
    assert result.exit_code == 0
    skipped = {each["path"]: each["reason"] for each in json.loads(result.stdout)["skipped"]}
    assert skipped == {"b": "no field 'text' (found: id)", "c": "field 'text' is null; expected text"}
    assert list_keys(store) == {"a": ["Guide"]}


@pytest.mark.parametrize("words", [[], ["--model", "template"]])
def test_the_reader_model_says_what_it_needs(tmp_path: Path, words: list[str]) -> None:
    docs = write_tree(tmp_path / "docs", {"a.md": "# A\n\nText.\n"})
    store = ["--store", f"sqlite:///{tmp_path / 'graph.db'}"]
    result = run("build", str(docs), "--reader", "model", *words, *store)
    assert result.exit_code == 2
    assert "expected --model gguf:FILE, openai:NAME@URL or hf:FOLDER" in result.stderr
