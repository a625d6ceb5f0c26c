"""Check the README: its transcript and example run, its figures and those of docs/benchmarks.md are measured ones."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from pages import ROOT, read_blocks, read_transcripts
from terminal import blur, make_shell, run_in_terminal

import pkg.console.options  # noqa: F401 - each setting is entered where its option is made
from pkg.config import read_settings

DOCSTRINGS = "sets/docstrings-python-3.11.7"
FIGURES = (  # text of docs/benchmarks.md, the result file, and the place of the figure in it
    ("| {:.1f} CPU-seconds, ", "build.json", "django/first_build/cpu_seconds/median"),
    (", {:.0f} MB of memory | [build.py]", "build.json", "django/first_build/memory_mb/median"),
    ("nothing changed | {:.2f} CPU-seconds |", "build.json", "django/unchanged_cpu_seconds/median"),
    ("two files changed | {:.2f} CPU-seconds |", "build.json", "django/two_files_changed_cpu_seconds/median"),
    ("speak of | {:.2f} CPU-seconds |", "build.json", "django/two_files_changed_by_a_used_name_cpu_seconds/median"),
    (
        "one function changed | {:.2f} CPU-seconds in the middle, ",
        "build.json",
        "django/one_body_changed_cpu_seconds/median",
    ),
    ("in the middle, {:.1f} at most | [build.py]", "build.json", "django/one_body_changed_cpu_seconds/max"),
    ("| {:.0f} MB, ", "build.json", "django/disk/mb/value"),
    (", {:.0f} bytes a node |", "build.json", "django/disk/bytes_a_node/value"),
    ("a corpus | {:.0f} CPU-seconds, ", "corpus.json", "rows/143000/cpu_seconds/median"),
    (", {:.0f} MB of memory | [corpus.py]", "corpus.json", "rows/143000/memory_mb/median"),
    ("| {:.0f} kills at random moments", "killed_builds.json", "kills"),
    ("moments of builds of {:.0f} files", "killed_builds.json", "files"),
    ("at its peak | {:.1%} in the middle", "killed_builds.json", "twice/median"),
    ("in the middle, {:.1%} at most; ", "killed_builds.json", "twice/max"),
    ("at most; {:.2f} times the end", "killed_builds.json", "disk/max"),
    ("times the end, {:.2f} in one transaction", "killed_builds.json", "disk_in_one_transaction"),
    ("{:,.0f} files of 11 packages in one", "growth.json", "sizes/10000/files"),
    ("by parts | {:.1f} CPU-milliseconds a file", "growth.json", "sizes/10000/cpu_milliseconds_a_file/all"),
    ("a file, {:,.0f} MB of memory; ", "growth.json", "sizes/10000/memory_mb"),
    ("| {:,.0f} files of 51 packages in one folder", "growth.json", "sizes/50000/files"),
    ("10,916 files | {:.1f} CPU-milliseconds", "growth.json", "sizes/50000/cpu_milliseconds_a_file/all"),
    ("a file, {:,.0f} MB of memory | [growth.py]", "growth.json", "sizes/50000/memory_mb"),
    ("; {:,.0f} files of two of them", "growth.json", "sizes/1000/files"),
    ("of two of them {:.1f} and", "growth.json", "sizes/1000/cpu_milliseconds_a_file/all"),
    ("and {:.0f} MB | [growth.py]", "growth.json", "sizes/1000/memory_mb"),
    ("in process | {:.1f} CPU-milliseconds |", "retrieval.json", f"{DOCSTRINGS}/fused/cpu_ms_of_10_answers"),
    ("a question to {:,} nodes", "query.json", "nodes"),
    ("| {:.1f} ms in the middle", "query.json", "modes/block/wall_ms/p50/median"),
    (", {:.1f} ms at the 95th percentile |", "query.json", "modes/block/wall_ms/p95/median"),
    ("cold | {:.2f} seconds |", "query.json", "command_line/wall_seconds/median"),
    ("questions to a [set](scale.md#sets-of-stores) of {} stores", "store_sets.json", "members"),
    ("stores with {:,} rows", "store_sets.json", "rows"),
    ("rows, blocks and functions | {} and", "store_sets.json", "modes/block/equal_answers"),
    ("and {} answers equal", "store_sets.json", "modes/function/equal_answers"),
    ("those of one store, {:.2f} and", "store_sets.json", "modes/block/p50_ratio_cpu/median"),
    ("and {:.2f} times its CPU", "store_sets.json", "modes/function/p50_ratio_cpu/median"),
    ("of {:,} calls that six packages make", "dynamic_edges.json", "overall/pairs"),
    ("as possible too | {:.1%}, ", "dynamic_edges.json", "overall/recall_certain_likely/value"),
    (", {:.1%}; of the certain edges", "dynamic_edges.json", "overall/recall_with_possible/value"),
    ("whose line ran, {:.1%} were seen", "dynamic_edges.json", "overall/precision_certain/value"),
    ("| {} of ", "empty_answers.json", "block_k1/fewer_than_k/value"),
    (" of {:,} |", "empty_answers.json", "questions"),
    ("first five | {:.1%}, ", "repository_questions.json", "graph/overall/hit@1"),
    (", {:.1%}; chunks of", "repository_questions.json", "graph/overall/hit@5"),
    ("characters {:.1%}, ", "repository_questions.json", "chunks/overall/hit@1"),
    (", {:.1%} | [repository_questions.py]", "repository_questions.json", "chunks/overall/hit@5"),
    ("two packages | {} tokens, ", "service_tools.json", "before_the_first_question/value"),
    (", {:,.0f} tokens | [service_tools.py]", "service_tools.json", "tokens/explore/median"),
    ("that one answer of {:,} tokens names |", "agent_tools.json", "tools/pkg/together/tokens/mean"),
    ("tokens names | {:.1%}; codegraph", "agent_tools.json", "tools/pkg/together/places_named"),
    ("codegraph, {:,} tokens: ", "agent_tools.json", "tools/codegraph/together/tokens/mean"),
    (" tokens: {:.1%}; serena", "agent_tools.json", "tools/codegraph/together/places_named"),
    ("serena, {:,}: ", "agent_tools.json", "tools/serena/together/tokens/mean"),
    (": {:.1%} | [agent_tools.py]", "agent_tools.json", "tools/serena/together/places_named"),
    ("| {:.1%} of the questions, ", "retrieval.json", f"{DOCSTRINGS}/fused/test/hit@5"),
    (", plain BM25 {:.1%} |", "retrieval.json", f"{DOCSTRINGS}/BM25 (rank-bm25)/test/hit@5"),
)
CLAIMS = (  # the same for the README
    ("all {} files of django", "build.json", "django/files"),
    ("of django in {:.1f} CPU-seconds", "build.json", "django/first_build/cpu_seconds/median"),
    ("{:.1%} of the questions, ", "retrieval.json", f"{DOCSTRINGS}/fused/test/hit@5"),
    (", with plain BM25 for {:.1%}", "retrieval.json", f"{DOCSTRINGS}/BM25 (rank-bm25)/test/hit@5"),
    ("of {:,} calls that six packages make", "dynamic_edges.json", "overall/pairs"),
    ("the graph has {:.1%}; ", "dynamic_edges.json", "overall/recall_with_possible/value"),
    ("whose line ran, {:.1%} were seen", "dynamic_edges.json", "overall/precision_certain/value"),
    ("first of the evidence for {:.1%}, ", "repository_questions.json", "graph/overall/hit@1"),
    ("chunks of characters for {:.1%}.", "repository_questions.json", "chunks/overall/hit@1"),
    ("described in {} tokens", "service_tools.json", "before_the_first_question/value"),
    ("one answer of {:,} tokens names", "agent_tools.json", "tools/pkg/together/tokens/mean"),
    ("tokens names {:.1%} of the places", "agent_tools.json", "tools/pkg/together/places_named"),
    ("(codegraph, {:,} tokens: ", "agent_tools.json", "tools/codegraph/together/tokens/mean"),
    (" tokens: {:.1%})", "agent_tools.json", "tools/codegraph/together/places_named"),
    ("{:.2f} CPU-seconds for django where nothing", "build.json", "django/unchanged_cpu_seconds/median"),
    ("{:.2f} after an edit of one function", "build.json", "django/one_body_changed_cpu_seconds/median"),
)
QUESTION = re.compile(r"^QUESTION_(\d) := (.+)\n^ANSWER_\1 := (\S+), (\S+)$", re.MULTILINE)
ASKED = re.compile(r"query '\$\(QUESTION_(\d)\)' --source (\w+)")


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return an environment in which `pkg` and `python` are those of this checkout, with an empty data folder."""
    return make_shell(tmp_path_factory.mktemp("home"))


def test_the_transcript_is_what_the_commands_print(shell: dict[str, str], tmp_path: Path) -> None:
    transcript = read_transcripts("README.md")
    assert [command.split()[:2] for command, _ in transcript] == [["pkg", "build"], ["pkg", "query"]]
    shown = [(command, blur(run_in_terminal(command, shell, tmp_path))) for command, _ in transcript]
    assert shown == [(command, blur(output)) for command, output in transcript]


@pytest.mark.parametrize(("page", "claims"), [("README.md", CLAIMS), ("docs/benchmarks.md", FIGURES)])
def test_a_figure_of_a_page_is_that_of_the_result_file(page: str, claims: tuple[tuple[str, str, str], ...]) -> None:
    text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    expected = [words.format(read_figure(file, key)) for words, file, key in claims]
    assert [each for each in expected if each not in text] == []


def read_figure(file: str, key: str) -> Any:
    figure = json.loads((ROOT / "benchmarks" / "results" / file).read_text(encoding="utf-8"))
    for part in key.split("/"):
        figure = figure[part]
    return figure


@pytest.mark.slow
def test_make_try_queries_existing_code(shell: dict[str, str], tmp_path: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    sources = dict(ASKED.findall(makefile))
    store = {"PKG_STORE": f"sqlite:///{tmp_path / 'try.db'}"}
    rich = 'pkg build "$(python -c "import rich; print(rich.__path__[0])")" --source rich'
    for build in (rich, f"pkg build '{ROOT / 'pkg'}' --source pkg"):
        subprocess.run(build, shell=True, env=shell | store, check=True, stdout=subprocess.DEVNULL)
    expected, found = [], []
    for number, question, path, qualname in QUESTION.findall(makefile):
        command = ["pkg", "query", question, "--source", sources[number], "--top-k", "1", "--json"]
        lines = subprocess.run(command, env=shell | store, check=True, stdout=subprocess.PIPE).stdout.splitlines()
        hit = json.loads(lines[0])
        expected.append((question, path, qualname))
        found.append((question, hit["path"], hit["qualname"]))
    assert len(found) == 3
    assert found == expected


def test_the_python_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("src/shop").mkdir(parents=True)
    Path("src/shop/mail.py").write_text("def send_mail(customer):\n    return customer.address\n", encoding="utf-8")
    (example,) = read_blocks("README.md", "python")
    exec(compile(example, "README.md", "exec"), {})
    assert capsys.readouterr().out.startswith("mail.py:2 send_mail ")


def test_the_settings_example_is_understood(tmp_path: Path) -> None:
    (example,) = read_blocks("docs/commands.md", "toml")
    (tmp_path / "pyproject.toml").write_text(example, encoding="utf-8")
    assert set(read_settings(tmp_path).values) == {"store", "prune"}
