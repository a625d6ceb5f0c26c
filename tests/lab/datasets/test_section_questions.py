"""The answer to a question about a section is the whole section, with its lines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from scripted_model import ScriptedModel
from trees import open_graph_at, write_tree

from pkg.indexing.build import build
from pkg.lab.datasets.dataset_rows import StepCounts
from pkg.lab.datasets.pair_checks import Repositories
from pkg.lab.datasets.request_runner import RequestRunner
from pkg.lab.datasets.section_questions import (
    MAX_ANSWER_LENGTH,
    Section,
    keep_askable,
    list_headings,
    read_sections,
    write_pairs,
    write_questions,
)
from pkg.lab.lab_options import DatasetOptions
from pkg.models.text_cache import TextCache

STEP = "".join(f"Step {number} of the installation is told in this line.\n" for number in range(40))
WORDS = "".join(f"Option {number} is described here, in as many words as a paragraph has.\n\n" for number in range(60))
TEXTS = {
    "README.md": f"# Shop\n\nSells things to people who look at them.\n\n## Install\n\n{STEP}\n## Options\n\n{WORDS}",
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1.0"\n' + "# about the project\n" * 12
    + '\n[tool.ruff]\nline-length = 100\n' + "# about ruff\n" * 20,
    "shop.py": "price = 1\n",
}  # fmt: skip


@pytest.fixture
def sections(tmp_path: Path) -> Iterator[list[Section]]:
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(write_tree(tmp_path / "shop", TEXTS)), store)
        yield read_sections(store, None)


def test_the_chunks_of_a_long_section_are_joined(sections: list[Section]) -> None:
    for section in sections:
        lines = TEXTS[section.place.path].split("\n")
        assert section.place.start_line is not None
        whole = "\n".join(lines[section.place.start_line - 1 : section.place.end_line]).rstrip()
        assert whole == section.place.content
    headings = [each.heading for each in sections if each.place.path == "README.md"]
    assert headings == ["Shop", "Shop > Install", "Shop > Options"]


def test_the_answer_is_the_section(sections: list[Section]) -> None:
    counts = StepCounts("meta")
    rows = list(write_questions(sections, counts))
    asked = {row["question"]: row for row in rows}
    install = asked["What does the section `Shop > Install` of the file `README.md` say?"]
    assert install["answer"].startswith("## Install\n")
    assert "Step 39 of the installation" in install["answer"]
    assert install["type"] == "meta"
    (row,) = install["evidence"]
    assert row["content"] == install["answer"]
    assert "version" in asked["What is set under `project` in the file `pyproject.toml`?"]["answer"]
    assert "- Shop > Options" in asked["Which sections does the file `README.md` have?"]["answer"]
    assert counts.dropped == {f"a section of more than {MAX_ANSWER_LENGTH:,} characters": 1}


def test_joined_sections_are_named_one_by_one(tmp_path: Path) -> None:
    small = "# Guide\n\nIntroduction.\n\n## Red\n\nA colour.\n\n## Green / blue\n\nTwo colours.\n"
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(write_tree(tmp_path / "guide", {"g.md": small, "a.py": "x = 1\n"})), store)
        found = read_sections(store, None)
    assert [each.heading for each in found] == ["Guide > Red / Green / blue"]
    assert list_headings(found[0]) == ["Guide > Red", "Guide > Green / blue"]
    (row,) = write_questions(found, StepCounts("meta"))
    assert row["question"] == "What do the sections `Guide > Red` and `Guide > Green / blue` of the file `g.md` say?"
    assert list_headings(found[0]._replace(heading="Guide > Other / words")) == ["Guide > Other / words"]


def test_a_repeated_heading_has_no_question(sections: list[Section]) -> None:
    counts = StepCounts("meta")
    one = sections[1]
    other = Section(one.place, "other")
    assert keep_askable([one, other, one], counts) == [other]
    assert counts.dropped == {"a heading that its file has twice": 2}


def test_a_model_writes_about_each_section_and_unrelated_pairs_are_dropped(sections: list[Section]) -> None:
    answers = [
        "Question: What does the shop of README.md sell?\nAnswer: It sells things.",
        "Question: How is it installed?\nAnswer: In 40 steps of the installation.",
        "I do not know.",
        "Question: Which name has pyproject.toml?\nAnswer: Basket.",
    ]
    model = ScriptedModel(answers, can_prime=False)
    counts = StepCounts("meta")
    repositories = Repositories({"shop": list(TEXTS)})
    with closing(TextCache()) as cache:
        rows = list(write_pairs(sections[-4:], RequestRunner(model, cache), DatasetOptions(), counts, repositories))
    order = [each.place.path for each in sections[-4:]]
    assert order == ["README.md", "README.md", "pyproject.toml", "pyproject.toml"]
    assert rows == []
    assert counts.dropped["a question without its file"] == 1
    assert counts.dropped["no question and no answer"] == 1
