"""The page of a report in a real Chromium: complete on wide and small screens, light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Page, start_page
from code_runs import alternate, write_run
from page_contrast import find_contrast
from page_faults import find_faults
from serve_process import start_serve
from trees import write_tree

import pkg
import pkg.lab

pytestmark = pytest.mark.browser

SOLVED = {
    "none": alternate(60, 2),
    "func-bm25": alternate(60, 3),
    "func-pkg": alternate(60, 4),
    "block-pkg": alternate(60, 2, 1),
    "reranked": [True] * 60,
}
CUT_TEXTS = """[...document.querySelectorAll('figure svg')].flatMap((svg) => {
    const frame = svg.getBoundingClientRect();
    return [...svg.querySelectorAll('text')].filter((each) => {
        const box = each.getBoundingClientRect();
        return box.left < frame.left - 1 || box.right > frame.right + 1
            || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
    }).map((each) => each.textContent);
})"""


@pytest.fixture(name="address", scope="module")
def report_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("report")
    runs = [
        write_run(folder / "small", SOLVED),
        write_run(
            folder / "mbpp", SOLVED, benchmark="mbpp", model="gguf:a-model-of-a-very-long-name-that-goes-on.gguf"
        ),
    ]
    path = folder / "report.html"
    pkg.lab.write_report_page([pkg.lab.report_evaluation(run) for run in runs], path)
    return path.as_uri()


@pytest.fixture(name="page", params=[(1280, 900), (360, 740)], ids=["wide", "small"])
def opened_page(request: pytest.FixtureRequest, address: str) -> Iterator[Page]:
    with start_page(*request.param) as page:
        page.open(address)
        page.await_true("document.readyState === 'complete' && document.querySelector('figure svg')")
        yield page


def test_all_is_drawn_and_nothing_is_cut(page: Page) -> None:
    assert page.run("document.querySelectorAll('figure svg').length") == 12
    assert page.run("document.documentElement.scrollWidth <= innerWidth")  # only tables scroll horizontally
    assert page.run("Math.min(...[...document.querySelectorAll('figure svg')].map((each) => each.clientHeight))") > 100
    assert page.run(CUT_TEXTS) == []
    assert page.run("document.querySelectorAll('h2').length") == 3
    assert page.run("document.querySelector('details table').checkVisibility()") is False
    page.click("summary")
    assert page.run("document.querySelector('details table').checkVisibility()") is True


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_accessible_in_light_and_dark(page: Page, scheme: str) -> None:
    page.prefer_scheme(scheme)
    assert page.run(f"matchMedia('(prefers-color-scheme: {scheme})').matches")
    assert find_contrast(page, "td, th, p, h1, h2, h3, a, figcaption, summary") >= 4.5
    assert find_faults(page) == []


def test_a_name_in_the_contents_leads_to_its_section(page: Page) -> None:
    page.run("[...document.querySelectorAll('nav a')].at(-1).click()")
    page.await_true(
        "Math.abs([...document.querySelectorAll('h2')].at(-1).getBoundingClientRect().bottom) < innerHeight"
    )


def test_pkg_serve_lists_runs_and_shows_each(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/graph.db"
    pkg.build_graph(write_tree(tmp_path / "shop", {"a.py": "def work(): pass\n"}), store=store)
    write_run(tmp_path / "runs/small", SOLVED)
    with start_serve(tmp_path, "--store", store, "--runs", "runs") as served, start_page(1280, 900) as page:
        page.open(served.page)
        page.await_true("document.querySelector('.top nav a[href=\"/evaluation\"]')")
        page.run("document.querySelector('.top nav a[href=\"/evaluation\"]').click()")
        page.await_true("location.pathname === '/evaluation' && document.querySelector('main li a')")
        assert find_faults(page) == []
        page.run("document.querySelector('main li a').click()")
        page.await_true("location.pathname === '/evaluation/small' && document.querySelector('figure svg')")
        assert (
            page.run("getComputedStyle(document.querySelector('.wide')).borderRadius") == "10px"
        )  # styles are in force
        assert find_contrast(page, "td, th, p, h1, h2, h3, a, figcaption, summary") >= 4.5
        assert find_faults(page) == []
