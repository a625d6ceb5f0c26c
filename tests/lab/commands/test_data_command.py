"""`pkg data` as a person or a program meets it: rows, counts, estimates, consent, and clear refusals."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from scripted_model import Asked, ScriptedModel
from text_server import Body, Reply, serve_texts, stream
from trees import open_graph_at, write_tree

from pkg.cli import main
from pkg.indexing.build import build

FILES = {
    "shop/cart.py": "import json\n\n\ndef load_cart(path):\n    return json.loads(path.read_text())\n",
    "shop/prices.py": "from .cart import load_cart\n\n\ndef find_price(item):\n    return load_cart(item)\n",
    "README.md": "# Shop\n\nIt sells things.\nIn the market.\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "shop", FILES)


@pytest.fixture
def graph(folder: Path, tmp_path: Path) -> str:
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(folder), store)
    return f"sqlite:///{tmp_path / 'graph.db'}"


def run(*words: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, ["data", *words], input=stdin)


def read(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.split("\n") if line]


def answer(asked: Asked) -> str:
    system, shown = asked[0].content, asked[1].content
    if "teach" in system:
        return "It loads."
    if "You judge" in system:
        return "Right.\nScore: 4"
    if "table of its imports" in system:
        return " is json imported?\nAnswer: Yes."
    name = "README.md" if "README.md" in shown else "cart.py"
    return f" what does {name} do?\nAnswer: `load_cart` sells things."


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    import pkg.models.registry as registry

    made = ScriptedModel(answer, name="gguf:toy")
    monkeypatch.setattr(registry, "open_model", lambda name, settings=None: made)
    return made


@pytest.mark.parametrize("step", ["snippets", "chunks", "dependencies", "meta"])
def test_rows_of_a_graph_and_of_its_folder_are_the_same(folder: Path, graph: str, step: str) -> None:
    stored, built = read(run(step, "--store", graph)), read(run(step, str(folder)))
    assert stored == built
    assert stored
    assert {row["source"] for row in stored} == {"shop"}
    assert {row["step"] for row in stored} == {step}


def test_nothing_is_written_into_the_folder(folder: Path, graph: str) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for step in ("snippets", "chunks", "dependencies", "meta"):
        assert run(step, str(folder)).exit_code == 0
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_what_has_changed_since_the_build_is_told_and_built_when_wanted(folder: Path, graph: str) -> None:
    (folder / "shop" / "prices.py").write_text("import shelve\n\nx = shelve\n")
    old = run("dependencies", "--store", graph)
    assert "stale: since shop was built, shop/prices.py changed" in old.stderr
    assert "shelve" not in old.stdout
    new = run("dependencies", "--store", graph, "--fresh")
    assert "stale" not in new.stderr
    assert "shelve" in new.stdout


def test_a_file_is_in_place_when_it_is_whole_and_counts_are_told(graph: str, tmp_path: Path) -> None:
    result = run("chunks", "--store", graph, "--limit", "2", "-o", str(tmp_path / "chunks.jsonl"))
    assert result.stdout == ""
    assert "pkg: chunks: 3 taken, 2 rows written, dropped: 1 not drawn" in result.stderr
    assert len((tmp_path / "chunks.jsonl").read_text().splitlines()) == 2
    assert list(tmp_path.glob("*.part")) == []


def test_the_chain_runs_from_a_file_a_pipe_or_the_graph(graph: str, tmp_path: Path, model: ScriptedModel) -> None:
    words = ("--store", graph, "--model", "gguf:toy", "--repeat", "1")
    run("chunks", "--store", graph, "-o", str(tmp_path / "chunks.jsonl"))
    run("explain", str(tmp_path / "chunks.jsonl"), *words, "-o", str(tmp_path / "explained.jsonl"))
    result = run("curate", str(tmp_path / "explained.jsonl"), *words)
    from_file = read(result)
    asked = len(model.asked)
    piped = read(run("curate", "-", *words, stdin=(tmp_path / "explained.jsonl").read_text()))
    whole = read(run("curate", *words))
    assert from_file == piped == whole
    assert {row["path"] for row in from_file} == {"README.md", "shop/cart.py", "shop/prices.py"}
    assert len(model.asked) == asked  # all was known
    assert "pkg: questions: 3 taken, 3 rows written\n" in result.stderr
    assert "gguf:toy: 6 requests" in result.stderr


def test_letters_that_end_lines_elsewhere_and_broken_ones_are_kept(
    folder: Path, tmp_path: Path, model: ScriptedModel
) -> None:
    text = "def end(text):\n    return text + '\u2028\x85\x0b'  # \U0001f600 ü\n"
    (folder / "ends.py").write_text(text, encoding="utf-8")
    (folder / "latin.py").write_bytes(b"# caf\xe9\nx = 1\ny = 2\n")
    assert run("chunks", str(folder), "-o", str(tmp_path / "chunks.jsonl")).exit_code == 0
    words = ("--model", "gguf:toy", "--repeat", "1", "--store", f"sqlite:///{tmp_path / 'none.db'}")
    rows = read(run("explain", str(tmp_path / "chunks.jsonl"), *words))
    contents = {row["path"]: row["content"] for row in rows}
    assert contents["ends.py"] == text.rstrip()
    assert contents["latin.py"].startswith("# caf")
    again = read(run("explain", "-", *words, stdin=(tmp_path / "chunks.jsonl").read_text(encoding="utf-8")))
    assert rows == again


def test_rows_are_read_by_who_judges_and_rates(graph: str, model: ScriptedModel) -> None:
    rows = read(run("curate", "--store", graph, "--model", "gguf:toy", "--repeat", "1"))
    for row in rows:
        assert all(isinstance(row[name], str) and row[name] for name in ("id", "question", "answer", "type", "path"))
        assert set(row["meta_data"]) == {"file_name", "module", "start_line", "end_line"}
        assert set(row["evidence"][0]) == {"path", "start_line", "end_line", "content"}


def test_a_model_writes_about_imports_and_texts(graph: str, model: ScriptedModel) -> None:
    rows = read(run("dependencies", "--store", graph, "--model", "gguf:toy"))
    assert [(row["question"], row["answer"], row["model"]) for row in rows] == [
        (f"In the file `{path}`, is json imported?", "Yes.", "gguf:toy") for path in ("shop/cart.py", "shop/prices.py")
    ]
    (row,) = read(run("meta", "--store", graph, "--model", "gguf:toy"))
    assert (row["path"], row["question"]) == ("README.md", "By the file `README.md`, what does README.md do?")


def test_an_estimate_asks_nobody(graph: str, model: ScriptedModel) -> None:
    words = ("--store", graph, "--model", "gguf:toy", "--price", "1/2", "--estimate")
    lines = read(run("curate", *words))
    assert [(line["step"], line["requests"]) for line in lines] == [("explain", 6), ("questions", 6), ("curate", 6)]
    assert all(line["cost"] > 0 for line in lines)
    assert model.asked == []
    told = run("dependencies", *words, "--no-json").stdout
    assert told.startswith("gguf:toy: dependencies: 2 requests, about ")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("explain",), 2, "no model; expected --model"),
        (("explain", "none.jsonl", "--model", "gguf:x"), 1, "cannot read none.jsonl"),
        (("dependencies", "--estimate"), 2, "--estimate needs --model"),
        (
            ("chunks", "--size", "10", "--overlap", "10"),
            2,
            "an overlap of 10 and a size of 10; expected an overlap below the size",
        ),
        (("snippets", "--source", "other"), 2, "no repository 'other' in"),
        (("snippets", "nowhere"), 1, "nowhere"),
        (("meta", "-o", "missing/meta.jsonl"), 1, "cannot write missing/meta.jsonl"),
        (("meta", "-o", "."), 1, "cannot write ."),
        (("curate", "--threshold", "6"), 2, "6 is not in the range 1<=x<=5"),
    ],
)
def test_failures_are_reported(
    graph: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], code: int, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(words[0], *words[1:], "--store", graph)
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr


def test_rows_of_a_later_step_are_refused(graph: str, tmp_path: Path, model: ScriptedModel) -> None:
    words = ("--store", graph, "--model", "gguf:toy", "--repeat", "1")
    run("curate", *words, "-o", str(tmp_path / "kept.jsonl"))
    result = run("explain", str(tmp_path / "kept.jsonl"), *words)
    assert result.exit_code == 2
    assert "pkg data explain takes rows of chunks, and these are of curate" in result.stderr


def test_a_line_that_is_no_row_is_told_with_its_number(tmp_path: Path, graph: str) -> None:
    (tmp_path / "broken.jsonl").write_text('{"id": "a"')
    result = run("explain", str(tmp_path / "broken.jsonl"), "--model", "gguf:x", "--store", graph)
    assert result.exit_code == 1
    assert "line 1" in result.stderr
    assert "expected the output of pkg data chunks" in result.stderr


def test_code_leaves_the_machine_only_when_somebody_agrees(graph: str) -> None:
    result = run("explain", "--store", graph, "--model", "openai:big@http://203.0.113.9/v1")
    assert result.exit_code == 2
    assert "nothing was sent: agree with --yes" in result.stderr
    assert "not encrypted on the way" in result.stderr


def test_a_settings_file_of_the_code_does_not_choose_the_model(
    folder: Path, graph: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "pkg.toml").write_text('model = "openai:thief@http://127.0.0.1:1/v1"\n')
    monkeypatch.chdir(folder)
    result = run("explain", "--store", graph)
    assert result.exit_code == 1
    assert "setting 'model'" in result.stderr
    assert {row["model"] for row in read(run("dependencies", "--store", graph))} == {None}


@pytest.mark.model  # the client of services is installed for these alone
def test_a_real_service_is_asked_many_things_at_once_and_each_once(
    graph: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def reply(body: Body) -> Reply:
        return stream(["It loads."], usage={"prompt_tokens": 5, "completion_tokens": 2})

    monkeypatch.setenv("PKG_MODEL_PARALLEL", "4")
    with serve_texts() as server:
        server.always = reply
        words = ("explain", "--store", graph, "--model", f"openai:toy@{server.url}", "-o", str(tmp_path / "e.jsonl"))
        first = run(*words)
        assert first.exit_code == 0, first.output
        assert len(server.requests) == 6
        written = (tmp_path / "e.jsonl").read_bytes()
        second = run(*words)
    assert len(server.requests) == 6
    assert "6 texts were there already" in second.stderr
    assert (tmp_path / "e.jsonl").read_bytes() == written


def test_several_models_answer_the_instructions_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pkg.models.registry as registry

    def open_model(name: str, settings: object = None) -> ScriptedModel:
        return ScriptedModel([f"def f(): return '{name}'"], name=name, identity=name)

    monkeypatch.setattr(registry, "open_model", open_model)
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_text('{"id": "a", "instruction": "Write f.", "preference": "style"}\n[]\n{"question": "Write g."}\n')
    names = ["--model", "gguf:one", "--model", "gguf:two"]
    estimated = read(run("responses", str(tasks), *names, "--estimate"))
    assert [(line["model"], line["requests"]) for line in estimated] == [("gguf:one", 2), ("gguf:two", 2)]
    done = run("responses", str(tasks), *names)
    assert "left out" in done.stderr
    assert "line 2" in done.stderr
    rows = read(done)
    assert [sorted(row["models"]) for row in rows] == [["gguf:one", "gguf:two"]] * 2
    assert rows[0]["preference"] == "style"

    judged = CliRunner().invoke(main, ["judge", "grade", "-", "--json"], input=done.stdout)
    assert judged.exit_code == 0, judged.output


def test_responses_need_a_model_and_a_file(tmp_path: Path) -> None:
    assert "no model" in run("responses", str(tmp_path / "tasks.jsonl")).output
    missing = run("responses", str(tmp_path / "tasks.jsonl"), "--model", "gguf:one")
    assert missing.exit_code == 1
    assert "cannot read" in missing.output
