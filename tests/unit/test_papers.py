"""The page on the papers is complete and true: every id has a row, and the linked modules cite it."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "papers.md"
CODE = ("pkg", "tests", "benchmarks", "checks", "examples", "training")
COUNTS = {"P": 38, "Q": 23, "U": 15, "C": 27, "A": 38}  # rows of each paper, and of the ambiguities
WITHOUT_CODE = "no code needed"

ROW = re.compile(r"^\| ([PQUCA]-\d\d|9\.\d) \| (.+?) \| (.+?) \|(.*)\|$", re.MULTILINE)
CITATION = re.compile(r"\b([PQUCA])-(\d\d)(?: to \1-(\d\d))?\b")  # one id, or P-02 to P-04
ALGORITHM = re.compile(r"(?:\(|papers\.md, )(9\.\d)\b")
LINK = re.compile(r"\]\(\.\./([^)]+)\)")
FOREIGN = re.compile(r"\b(?:PAPERS\.md|DESIGN(?:\.md)?(?: section|,|\)))")  # pages outside of the repository


class Row(NamedTuple):
    """One row of the page."""

    id: str
    told: str
    where: str
    shown: str

    @property
    def has_code(self) -> bool:
        return not self.where.startswith(WITHOUT_CODE)


def read_rows() -> dict[str, Row]:
    return {found[1]: Row(*found.groups()) for found in ROW.finditer(PAGE.read_text(encoding="utf-8"))}


def read_citations(text: str) -> set[str]:
    """List the ids that a text cites, those between the ends of a range too."""
    return {
        f"{prefix}-{number:02}"
        for prefix, first, last in CITATION.findall(text)
        for number in range(int(first), int(last or first) + 1)
    }


def find_citing() -> dict[str, set[str]]:
    """Return the files of the repository that cite each id."""
    citing: dict[str, set[str]] = defaultdict(set)
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path != Path(__file__):
                for cited in read_citations(path.read_text(encoding="utf-8")):
                    citing[cited].add(path.relative_to(ROOT).as_posix())
    return citing


def read_target(link: str) -> str:
    """Read the module that a link leads to; of a package its first page counts."""
    path = ROOT / link
    return (path / "__init__.py" if path.is_dir() else path).read_text(encoding="utf-8")


ROWS = read_rows()
PAPER_ROWS = [row for row in ROWS.values() if not row.id.startswith("9.")]


def test_the_ids_are_complete_and_in_order() -> None:
    expected = [f"{prefix}-{number:02}" for prefix, count in COUNTS.items() for number in range(1, count + 1)]
    found = [each[1] for each in ROW.finditer(PAGE.read_text(encoding="utf-8")) if not each[1].startswith("9.")]
    assert found == expected


def test_every_id_that_code_or_tests_cite_has_a_row() -> None:
    assert sorted(find_citing().keys() - ROWS.keys()) == []


def test_every_algorithm_that_is_cited_has_a_row() -> None:
    files = [path for folder in CODE for path in (ROOT / folder).rglob("*.py") if path != Path(__file__)]
    cited = {number for path in files for number in ALGORITHM.findall(path.read_text(encoding="utf-8"))}
    assert "9.1" in cited
    assert sorted(cited - ROWS.keys()) == []


def test_links_lead_to_modules_and_tests_that_exist() -> None:
    broken = [
        f"{row.id}: {link}"
        for row in ROWS.values()
        for links, places in ((row.where, ("pkg/", "benchmarks/")), (row.shown, ("tests/", "benchmarks/")))
        for link in LINK.findall(links)
        if not link.startswith(places) or not (ROOT / link).exists()
    ]
    assert broken == []


def test_every_module_that_a_row_links_to_cites_its_id() -> None:
    silent = [
        f"{row.id}: {link}"
        for row in PAPER_ROWS
        for link in LINK.findall(row.where)
        if row.id not in read_citations(read_target(link))
    ]
    assert silent == []


def test_a_row_without_code_links_to_none_and_is_cited_by_none() -> None:
    citing = find_citing()
    wrong = [
        f"{row.id}: {sorted(citing[row.id])}"
        for row in PAPER_ROWS
        if not row.has_code and (LINK.search(row.where + row.shown) or citing[row.id])
    ]
    assert wrong == []


def test_a_row_with_code_names_it_and_the_tests_of_what_is_in_the_package() -> None:
    bare = [
        row.id
        for row in ROWS.values()
        if row.has_code and (not LINK.search(row.where) or ("../pkg/" in row.where and not LINK.search(row.shown)))
    ]
    assert bare == []


def test_nothing_cites_a_page_that_the_repository_does_not_have() -> None:
    files = [*(path for folder in CODE for path in (ROOT / folder).rglob("*.py")), *(ROOT / "docs").glob("*.md")]
    named = [path.relative_to(ROOT).as_posix() for path in [*files, ROOT / "README.md"] if path != Path(__file__)]
    assert [name for name in named if FOREIGN.search((ROOT / name).read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("(P-02 to P-04, A-11)", {"P-02", "P-03", "P-04", "A-11"}),
        ("(P-14, P-17)", {"P-14", "P-17"}),
        ("WC-33B and X-12", set()),
    ],
)
def test_citations_are_read_with_their_ranges(text: str, ids: set[str]) -> None:
    assert read_citations(text) == ids
