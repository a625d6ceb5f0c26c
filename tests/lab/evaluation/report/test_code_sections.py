from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from code_runs import alternate, write_run

import pkg
import pkg.lab
from pkg.cli import main
from pkg.errors import InputError, MissingExtraError, PathError
from pkg.lab.evaluation.report.code_sections import TITLE, list_sections, name_runs
from pkg.lab.evaluation.report.report_format import render_html, render_markdown, render_svg

COUNT = 40
SOLVED = {
    "none": alternate(COUNT, 2),
    "func-bm25": alternate(COUNT, 3),
    "func-pkg": alternate(COUNT, 4),
    "block-pkg": alternate(COUNT, 2, 1),  # none of those solved by None
    "reranked": [True] * COUNT,
}
TABLE = re.compile(r"^\| (.+) \|$", re.MULTILINE)


@pytest.fixture(name="run")
def folder(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run", SOLVED)


def read_rows(markdown: str, first: str) -> dict[str, list[str]]:
    """Return the cells of the table whose first column has a name, by the first cell of each row."""
    lines = markdown.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"| {first} |"))
    table = lines[start : lines.index("", start)]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table]
    return {row[0]: row[1:] for row in cells}


def report(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(main, ["eval", "report", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result


def test_each_figure_can_be_counted_in_the_records(run: Path) -> None:
    markdown = render_markdown(list_sections([pkg.lab.report_evaluation(run)]))
    none, block, reranked = (sum(SOLVED[name]) for name in ("none", "block-pkg", "reranked"))
    harm = read_rows(markdown, "column")
    assert harm["None"][:2] == [f"{none}/{COUNT}", "50.0"]
    assert harm["Block-PKG"][3:6] == [str(block), str(none), "1.000"]
    assert harm["Reranked"][3:6] == [str(reranked - none), "0", "< 0.001"]
    assert read_rows(markdown, "pass@1, %")["paper, StarCoder2-7B"] == ["45", "57", "56", "59", "63"]
    assert read_rows(markdown, "failures")["None"] == ["0", "20", "0", "0", "0", "0"]
    assert sum(int(cells[0]) for cells in list(read_rows(markdown, "solved by exactly").values())[2:]) == COUNT
    topics = list(read_rows(markdown, "topic: % solved").values())[2:]
    assert (len(topics), sum(int(cells[0]) for cells in topics)) == (10, COUNT)


def test_what_the_graph_cost_stands_beside_the_paper(run: Path) -> None:
    costs = read_rows(render_markdown(list_sections([pkg.lab.report_evaluation(run)])), "minutes")
    assert costs["code extraction"] == ["1.00", "3", "3", "–", "–"]
    assert costs["encoding"] == ["0.50", "240", "240", "240", "44"]
    assert costs["storing"][0] == "0.50"
    assert costs["all"] == ["2.00", "5,451", "301", "240", "44"]
    assert costs["MB stored"][0] == "5.00"


def test_cases_name_the_task_and_the_code_that_was_shown(run: Path) -> None:
    made = pkg.lab.report_evaluation(run)
    cases = {each.column: each for each in made.cases}
    assert [case.item for case in cases["block-pkg"].fixed[:2]] == ["HumanEval/1", "HumanEval/3"]
    assert cases["block-pkg"].broken[0].shown == ("corpus/part_0.py:1-9 part",)
    rows = read_rows(render_markdown(list_sections([made])), "Block-PKG: broken")
    assert len(rows) == 12  # ten, and two lines of the header
    assert rows["HumanEval/0"] == ["corpus/part_0.py:1-9 part", "AssertionError expected <1> \\| seen 'x'"]
    assert "10 more stand in the records" in render_markdown(list_sections([made]))
    assert read_rows(render_markdown(list_sections([made])), "Reranked: fixed")["HumanEval/1"][0].startswith(
        "none: corpus/"
    )


def test_runs_stand_beside_each_other(tmp_path: Path, run: Path) -> None:
    large = write_run(tmp_path / "large", SOLVED, model="gguf:coder-1.5b.gguf")
    again = write_run(tmp_path / "again", SOLVED, model="gguf:coder-1.5b.gguf")
    mbpp = write_run(tmp_path / "mbpp", SOLVED, benchmark="mbpp")
    markdown = render_markdown(list_sections([pkg.lab.report_evaluation(each) for each in (run, large, again, mbpp)]))
    rows = list(read_rows(markdown, "pass@1, %"))
    assert rows[2:5] == ["coder-0.5b", "coder-1.5b (large)", "coder-1.5b (again)"]
    twin = write_run(tmp_path / "deep" / "again", SOLVED, model="gguf:coder-1.5b.gguf")
    names = [each.name for each in name_runs([pkg.lab.report_evaluation(each) for each in (again, twin, mbpp)])]
    assert names == [f"coder-1.5b ({again})", f"coder-1.5b ({twin})", "coder-0.5b"]
    headings = re.findall(r"^## (.+)$", markdown, re.MULTILINE)
    assert headings == ["HumanEval", "MBPP", "Costs"]
    beside = read_rows(markdown.partition("## MBPP")[2], "failures")
    assert beside["paper, StarCoder2-7B, PKG"] == ["147", "64", "8", "0", "18", "7"]
    assert len(read_rows(markdown, "minutes")["all"]) == 5  # equal graphs once


def test_a_run_that_tells_neither_topics_nor_costs_has_a_report(tmp_path: Path) -> None:
    old = write_run(tmp_path / "old", {"none": alternate(4, 2)}, is_told=False)
    made = pkg.lab.report_evaluation(old)
    assert (made.topics, made.cases, dict(made.costs)) == ((), (), {})
    assert [picture.name for section in list_sections([made]) for picture in section.pictures] == [
        "humaneval-coder-0.5b-columns"
    ]
    assert "<svg" in render_html(TITLE, list(list_sections([made])))


def test_topics_can_be_added_from_the_benchmark_and_from_no_other(tmp_path: Path) -> None:
    row = {
        "task_id": "HumanEval/0", "prompt": 'def area(side):\n    """Give the area of a square."""\n',
        "entry_point": "area", "canonical_solution": "    return side * side\n", "test": "def check(candidate): pass\n",
    }  # fmt: skip
    data = tmp_path / "HumanEval.jsonl"
    data.write_text(json.dumps(row) + "\n")
    old = write_run(tmp_path / "old", {"none": [True]}, is_told=False)
    with pytest.raises(InputError, match=r"holds other rows \(SHA-256 \w+\) than the run in .* is of \(0\)"):
        pkg.lab.report_evaluation(old, data)
    head = json.loads((old / "run.json").read_text())
    from pkg.lab.evaluation.code.benchmarks import hash_rows

    (old / "run.json").write_text(json.dumps({**head, "sha256": hash_rows([row])}))
    assert [topic.topic for topic in pkg.lab.report_evaluation(old, data).topics] == ["Geometry and measures"]
    data.unlink()
    assert [task.topic for task in pkg.lab.report_evaluation(old).tasks] == ["Geometry and measures"]


class Tags(HTMLParser):
    """Collects the references of a page, and checks that its tags are closed in order."""

    VOID = ("meta", "br", "img", "link", "input")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        found = {name: value or "" for name, value in attrs}
        self.ids += [found["id"]] if "id" in found else []
        self.references += [found[name] for name in ("href", "xlink:href", "src") if name in found]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_the_page_needs_nothing_from_elsewhere_and_its_parts_do_not_clash(tmp_path: Path, run: Path) -> None:
    other = write_run(tmp_path / "other", SOLVED, model="gguf:<b>coder</b>.gguf")
    page = render_html(TITLE, list(list_sections([pkg.lab.report_evaluation(run), pkg.lab.report_evaluation(other)])))
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert tags.seen.isdisjoint({"script", "link", "img", "iframe", "b"})
    assert len(tags.ids) == len(set(tags.ids))
    assert {each for each in tags.references if not each.startswith("#")} == set()
    assert {each[1:] for each in tags.references} <= set(tags.ids)
    assert set(re.findall(r"url\(#([^)]+)\)", page)) <= set(tags.ids)
    assert "http" not in re.sub(r'xmlns(:\w+)?="[^"]+"|<!DOCTYPE[^>]+>', "", page).replace("https?", "")


def test_figures_are_equal_each_time_and_hold_no_date(tmp_path: Path, run: Path) -> None:
    for folder in ("first", "second"):
        report(run, "--figures", tmp_path / folder)
    names = sorted(path.name for path in (tmp_path / "first").iterdir())
    kinds = ("columns", "errors", "map", "overlap", "radar", "topics")
    assert names == [f"humaneval-coder-0.5b-{kind}.{ending}" for kind in kinds for ending in ("png", "svg")]
    for name in names:
        content = (tmp_path / "first" / name).read_bytes()
        assert content == (tmp_path / "second" / name).read_bytes()
        assert b"dc:date" not in content
        assert b"tEXt" not in content


def test_a_page_is_equal_each_time(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"none": alternate(4, 2)})
    first, second = tmp_path / "first.html", tmp_path / "second.html"
    for page in (first, second):
        report(run, "--html", page)
    assert first.read_bytes() == second.read_bytes()


def test_a_figure_says_in_words_what_it_shows(run: Path) -> None:
    pictures = [each for section in list_sections([pkg.lab.report_evaluation(run)]) for each in section.pictures]
    texts = {}
    for picture in pictures:
        tree = ElementTree.fromstring(render_svg(picture))
        texts[picture.name.rpartition("-")[2]] = " ".join("".join(each.itertext()) for each in tree.iter() if each.text)
    assert "tasks by PCA of their embeddings" in texts["map"]
    assert "Block-PKG alone (fixed): 20" in texts["map"]
    assert "solved with context alone" in texts["overlap"]
    assert "broken" in texts["columns"]


def test_the_command_writes_the_same_figures_in_each_form(tmp_path: Path, run: Path) -> None:
    lines = [json.loads(line) for line in report(run, "--format", "json").stdout.splitlines()]
    columns = {line["column"]: line for line in lines if line["type"] == "column"}
    rows = {row["column"]: row for row in csv.DictReader(io.StringIO(report(run, "--format", "csv").stdout))}
    markdown = report(run, "--format", "markdown", "--figures", tmp_path / "figures").stdout
    harm = read_rows(markdown, "column")
    for name, column in columns.items():
        assert (rows[name]["fixed"], rows[name]["broken"]) == tuple(
            "" if column[kind] is None else str(column[kind]) for kind in ("fixed", "broken")
        )
        assert harm[column["title"]][0] == f"{column['solved']}/{column['items']}"
        assert rows[name]["NameError"] == str(column["errors"]["NameError"])
    topics = [line for line in lines if line["type"] == "topic"]
    assert rows["none"][f"{topics[0]['topic']}: solved"] == str(topics[0]["solved"]["none"])
    assert f"]({(tmp_path / 'figures').as_posix()}/humaneval-coder-0.5b-map.png)" in markdown
    assert {"task", "cases", "costs", "overlaps"} <= {line["type"] for line in lines}


def test_a_page_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    made = [pkg.lab.report_evaluation(write_run(tmp_path / "run", {"none": alternate(4, 2)}, is_told=False))]
    with pytest.raises(PathError, match="cannot write the page"):
        pkg.lab.write_report_page(made, tmp_path / "nowhere" / "report.html")
    (tmp_path / "file").write_text("")
    with pytest.raises(PathError, match="cannot write the figure"):
        pkg.lab.write_report_page(made, figures=tmp_path / "file")


def test_without_matplotlib_the_tables_are_there_and_figures_ask_for_the_extra(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    made = [pkg.lab.report_evaluation(run)]
    assert "## Costs" in render_markdown(list_sections(made))
    with pytest.raises(MissingExtraError, match=r"needs the package 'matplotlib'.*\[eval\]"):
        render_html(TITLE, list(list_sections(made)))
