"""An impact as Markdown: in order, bounded, and safe against names of the code with markup."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from git_trees import commit_all, make_repository
from markdown_it import MarkdownIt
from markdown_it.token import Token
from trees import write_tree

from pkg.cli import main
from pkg.commands.impact import SECTION_CHARACTERS, write_impact_markdown
from pkg.retrieval.deps.answer import Affected, CallCoverage, Change, Entry, Impact, Link, Place, ReachedEntry

PRICES = "def load():\n    return {}\n\n\ndef find_price(item):\n    return load()[item]\n"
FILES = {
    "shop/prices.py": PRICES,
    "shop/app.py": (
        "from flask import Flask\nfrom shop.prices import find_price\n\napp = Flask(__name__)\n\n\n"
        '@app.get("/items")\ndef list_items():\n    return find_price(1)\n'
    ),
    "tests/test_prices.py": "from shop.prices import find_price\n\n\ndef test_price():\n    assert find_price(1)\n",
}
HOSTILE = "a`b``c<img src=x>](http://evil) @all\n# h\n```\n<!-- x -->|*_"
Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run `pkg impact` on the graph before a change that deletes a called function."""
    top = make_repository(tmp_path / "code", FILES)
    store = f"sqlite:///{tmp_path / 'graph.db'}"
    assert CliRunner().invoke(main, ["build", f"{top}@HEAD", "--source", "shop", "--store", store]).exit_code == 0
    write_tree(top, {"shop/prices.py": PRICES.replace("def load", "def load_all")})
    commit_all(top)

    def invoke(*words: str) -> Result:
        return CliRunner().invoke(main, ["impact", *words, "--store", store, "--format", "markdown"])

    return invoke


def make_impact(name: str, count: int = 1, confidence: str = "certain") -> Impact:
    """Build an impact in which all names are equal."""
    place = Place(f"s:{name}", "Function", "s", name, 3, name)
    link = Link("CALLS", place, place, (4,), name, confidence)
    affected = tuple(Affected(place, 1, confidence, False, link) for _ in range(count))
    test = Affected(Place("t", "Function", "s", f"tests/{name}/test_x.py", 1, "test_x"), 1, "certain", True, link)
    coverage = CallCoverage("into it", 1, 0, 0, notes=(name,))
    return Impact(
        (place,), 10, (*affected, test), count + 1, 1, 0, 0, (Change(name, name, "changed"),), coverage,
        (ReachedEntry(Entry(name, name, 2), place, "certain"),),
    )  # fmt: skip


def read_tokens(written: str) -> list[Token]:
    """Parse Markdown by CommonMark; return every token, including inline ones."""
    return [token for block in MarkdownIt().parse(written) for token in (block, *(block.children or ()))]


def test_affected_code_is_listed_with_places_entries_and_tests(run: Run) -> None:
    written = run("--diff", "HEAD^1..HEAD", "--link", "https://host/o/r/blob/abc/").stdout
    link = "https://host/o/r/blob/abc/shop"
    assert f"- [`shop/prices.py:1`]({link}/prices.py#L1) `load` deleted\n" in written
    assert f"- [`shop/prices.py:5`]({link}/prices.py#L5) `find_price` calls `load` at line 6, certain\n" in written
    assert f"- `GET /items` enters `list_items` at [`shop/app.py:7`]({link}/app.py#L7), certain\n" in written
    assert "```sh\npytest \\\n  tests/test_prices.py::test_price\n```\n" in written


def test_a_limit_applies_to_each_section_and_counts_the_rest(run: Run) -> None:
    written = run("load", "--limit", "1").stdout
    assert "#### May break (3)\n\n- `shop/prices.py:5` `find_price`" in written
    assert "- and 2 more; see `pkg impact --limit 0`" in written


def test_possible_results_are_folded_after_certain_ones() -> None:
    certain, possible = make_impact("f"), make_impact("g", confidence="possible")
    both = replace(certain, affected=(*possible.affected, *certain.affected))
    written = write_impact_markdown(both, 0)
    assert written.index("`f:3` calls") < written.index("<details><summary>1 only possibly affected</summary>")
    assert written.index("<details>") < written.index("`g:3` calls") < written.index("</details>")


@pytest.mark.parametrize("name", [HOSTILE, "`", "``` ", "a\x1b[31m", "\udcff", "</details>", "x" * 900])
def test_no_name_is_interpreted_as_markup(name: str) -> None:
    plain, hostile = (
        read_tokens(write_impact_markdown(make_impact(each), 0, "https://host/o/r/blob/abc")) for each in ("f", name)
    )
    assert [token.type for token in hostile] == [token.type for token in plain]
    held = ("code_inline", "fence")
    assert [t.content for t in hostile if not t.children and t.type not in held] == [
        t.content for t in plain if not t.children and t.type not in held
    ]
    links = [str(token.attrs["href"]) for token in hostile if token.type == "link_open"]
    assert [link for link in links if not link.startswith("https://host/o/r/blob/abc/")] == []
    assert "\x1b" not in "".join(token.content for token in hostile)


def test_the_command_for_the_tests_is_quoted_for_a_shell() -> None:
    written = write_impact_markdown(make_impact("a b;rm -rf $HOME`x`"), 0)
    (block,) = [token.content for token in read_tokens(written) if token.type == "fence"]
    assert shlex.split(block.replace("\\\n", "")) == ["pytest", "tests/a b;rm -rf $HOME`x`/test_x.py::test_x"]


def test_a_comment_stays_within_the_limit_of_a_forge() -> None:
    written = write_impact_markdown(make_impact("x" * 900, count=1000), 0, "https://host")
    assert len(written) < 6 * SECTION_CHARACTERS
    assert "- and 997 more; see `pkg impact --limit 0`" in written


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["load", "--json"], "--json and --format markdown are different forms"),
        (["load", "--tests"], "--tests writes names for pytest"),
        (["load", "--format", "tree", "--link", "https://host"], "give both, or neither"),
    ],
)
def test_formats_that_exclude_each_other_are_refused(tmp_path: Path, words: list[str], told: str) -> None:
    form = [] if "--format" in words else ["--format", "markdown"]
    result = CliRunner().invoke(main, ["impact", *words, *form, "--store", f"sqlite:///{tmp_path / 'graph.db'}"])
    assert (result.exit_code, told in result.stderr) == (2, True), result.output
