"""The guide to Neo4j Browser: valid addresses, documented queries, a style for every label."""

from __future__ import annotations

import re
import webbrowser
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from zipfile import ZipFile

import pytest
from grass import parse_style
from hypothesis import given
from hypothesis import strategies as st

from pkg.errors import PathError, PkgError, StoreError, UsageError
from pkg.graph.neo4j.cypher import FRAGMENT, HOLDS, STORE
from pkg.graph.neo4j.guide import (
    ARCHIVE,
    FOLDER,
    START,
    STYLE,
    SavedQuery,
    export_guide,
    link_page,
    link_query,
    open_page,
    read_guide,
    read_queries,
    render_lines,
    render_text,
)
from pkg.model import Label, RelationType

WANTED = {
    "start", "function-blocks", "class-methods", "callers", "call-path", "file-imports", "biggest-functions",
    "unresolved-calls", "duplicates", "shared-names",
}  # fmt: skip
CONTRAST = 4.5  # of text and background, required by WCAG 2
QUERIES = [pytest.param(query, id=query.name) for query in read_queries()]
STYLES = parse_style(STYLE.read_text(encoding="utf-8"))


def read_body(query: SavedQuery) -> str:
    return "\n".join(line for line in query.text.splitlines() if not line.startswith("//"))


@pytest.mark.parametrize(
    ("store", "http", "page", "dbms"),
    [
        ("neo4j://localhost", None, "http://localhost:7474/browser/", "neo4j://localhost:7687"),
        ("bolt://127.0.0.1:7000", "7001", "http://127.0.0.1:7001/browser/", "bolt://127.0.0.1:7000"),
        ("neo4j+s://graph.example.org", None, "https://graph.example.org:7473/browser/", "neo4j+s://graph.example.org:7687"),
        ("bolt+ssc://[::1]:99", None, "https://[::1]:7473/browser/", "bolt+s://[::1]:99"),
        ("neo4j://a", "https://b.example.org/neo4j", "https://b.example.org/neo4j/browser/", "neo4j://a:7687"),
        ("neo4j://a", "http://b:8080/browser/", "http://b:8080/browser/", "neo4j://a:7687"),
    ],
)  # fmt: skip
def test_the_address_leads_to_the_page_with_the_server_filled_in(
    store: str, http: str | None, page: str, dbms: str
) -> None:
    address, _, arguments = link_page(store, http).partition("?")
    assert (address, parse_qs(arguments)) == (page, {"dbms": [dbms]})


def test_a_database_is_filled_in_too() -> None:
    assert parse_qs(urlsplit(link_page("neo4j://a/code")).query) == {"dbms": ["neo4j://a:7687"], "db": ["code"]}


@pytest.mark.parametrize("http", ["host:7474", "ftp://host", "https://", "-1", "", "http://host?dbms=x"])
def test_an_invalid_address_of_the_page_is_refused(http: str) -> None:
    with pytest.raises(UsageError, match="expected a port, or an address such as http://host:7474"):
        read_guide("neo4j://a", http)


def test_a_graph_in_a_file_is_refused_with_advice() -> None:
    with pytest.raises(StoreError, match=r"graph.db is a file, .* run: pkg build PATH --store neo4j://host"):
        read_guide("sqlite:///graph.db")


def read_link(link: str) -> str:
    """Parse the query of a link like the Browser, which decodes before it finds the argument."""
    decoded = unquote(link.replace("+", " "))
    found = re.search(r"[?&]arg=([^&#]*)", decoded)
    assert found
    return found[1]


@pytest.mark.parametrize("query", QUERIES)
def test_the_browser_reads_the_exact_query_from_its_link(query: SavedQuery) -> None:
    assert read_link(link_query("neo4j://a/code", query)) == query.text.strip()


@given(st.text(st.characters(exclude_characters="&#", exclude_categories=["Cs"])))
def test_any_text_without_ampersand_and_hash_survives_a_link(text: str) -> None:
    assert read_link(link_query("neo4j://a", SavedQuery("", "", "", (), text))) == text.strip()


def test_the_guide_starts_with_a_view_that_needs_no_parameter() -> None:
    guide = read_guide("neo4j://a")
    first, *_ = guide.queries
    assert (first.name, first.parameters, read_link(guide.start)) == (START, (), first.text.strip())


def test_the_guide_has_queries_for_common_questions() -> None:
    assert {query.name for query in read_queries()} == WANTED


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_explains_itself_and_each_of_its_parameters(query: SavedQuery) -> None:
    assert query.title
    assert query.description.endswith(".")
    named = [re.fullmatch(r":param (\w+) => '[\w./]+'", line) for line in query.parameters]
    assert {found and found[1] for found in named} == set(re.findall(r"\$(\w+)", read_body(query)))


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_asks_for_labels_and_types_of_the_model_alone(query: SavedQuery) -> None:
    body = read_body(query)
    types = {each for found in re.findall(r"\[\w*:([\w|]+)", body) for each in found.split("|")}
    labels = {each for found in re.findall(r"\(\w*:([\w|]+)", body) for each in found.split("|")}
    assert types <= {each.value for each in RelationType}
    assert labels <= {each.value for each in Label}
    assert not {STORE, FRAGMENT, HOLDS} & (types | labels)


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_looks_at_finished_sources_and_ends_with_a_limit(query: SavedQuery) -> None:
    assert "(source:Source {state: 'ready'})" in query.text
    assert re.search(r"LIMIT \d+\s*$", query.text)


@pytest.mark.parametrize("label", [*(label.value for label in Label), FRAGMENT, STORE])
def test_every_label_has_a_caption_that_is_no_id_and_no_hash(label: str) -> None:
    caption = STYLES[f"node.{label}"]["caption"]
    assert caption
    assert not re.search(r"id|hash|key|fingerprint", caption)


def test_every_label_has_a_colour_of_its_own() -> None:
    colours = [STYLES[f"node.{label.value}"]["color"] for label in Label]
    assert len(set(colours)) == len(Label)


@pytest.mark.parametrize("selector", sorted(name for name in STYLES if name.startswith("node.")))
def test_a_caption_stands_out_from_its_ground(selector: str) -> None:
    text, ground = (measure_light(STYLES[selector][name]) for name in ("text-color-internal", "color"))
    assert (max(text, ground) + 0.05) / (min(text, ground) + 0.05) >= CONTRAST


def measure_light(colour: str) -> float:
    """Return the relative luminance of a colour (WCAG 2)."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_relationships_are_named_by_their_type() -> None:
    assert STYLES["relationship"]["caption"] == "<type>"


def test_an_export_holds_every_file_and_an_archive_of_the_queries(tmp_path: Path) -> None:
    files = export_guide(tmp_path / "new" / "guide")
    assert {file.name for file in files} == {file.name for file in FOLDER.iterdir()} | {ARCHIVE}
    with ZipFile(tmp_path / "new" / "guide" / ARCHIVE) as archive:
        assert {f"PKG/{name}.cypher" for name in WANTED} == set(archive.namelist())
        assert archive.read("PKG/start.cypher") == (FOLDER / "start.cypher").read_bytes()


def test_a_second_export_gives_the_same_bytes(tmp_path: Path) -> None:
    first = {file.name: file.read_bytes() for file in export_guide(tmp_path)}
    assert {file.name: file.read_bytes() for file in export_guide(tmp_path)} == first


def test_an_export_to_where_a_file_stands_is_refused(tmp_path: Path) -> None:
    (tmp_path / "guide").write_text("")
    with pytest.raises(PathError, match="guide: File exists; expected a folder that can be written"):
        export_guide(tmp_path / "guide")


def test_the_text_names_the_page_the_style_and_every_query_with_its_parameters() -> None:
    guide = read_guide("neo4j://a")
    text = render_text(guide)
    assert text.startswith("http://a:7474/browser/?dbms=neo4j://a:7687\n")
    assert str(STYLE) in text
    for query in guide.queries:
        assert re.search(rf"^  {query.name} +{query.title}$", text, re.MULTILINE)
        assert all(line in text for line in query.parameters)


def test_the_lines_give_the_addresses_and_a_file_for_every_query() -> None:
    guide = read_guide("neo4j://a")
    page, *queries = render_lines(guide)
    assert (page["address"], page["start"]) == (guide.address, guide.start)
    assert [Path(str(line["file"])).read_text(encoding="utf-8") for line in queries] == [
        query.text for query in guide.queries
    ]


def test_a_page_is_opened_in_the_browser_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def remember(address: str) -> bool:
        opened.append(address)
        return True

    monkeypatch.setattr(webbrowser, "open", remember)
    open_page("http://a:7474/browser/")
    assert opened == ["http://a:7474/browser/"]


def test_without_a_browser_the_address_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    with pytest.raises(PkgError, match="open yourself: http://a:7474/browser/"):
        open_page("http://a:7474/browser/")
