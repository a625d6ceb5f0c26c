"""The page as one file: repository text cannot leave its element, and only the scripts of the page run."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from html.parser import HTMLParser
from pathlib import Path

import pytest
from odd_shop import ODD_FILE, ODD_SHOP, ODD_TEXT
from trees import write_tree

from pkg.api import Graph, build_graph, open_graph
from pkg.errors import PathError, QueryError
from pkg.service.page.page_file import (
    MODULES,
    SITE,
    name_question,
    read_palette,
    render_map_page,
    render_page,
    render_symbol_page,
    write_page,
)

CYTOSCAPE = ("3.35.0", "71fa9ebec21a7ca2c40cff6aacc30d1f6464e363662ad4b2c197e1adc770cd94")
"""Version of the drawing library, and SHA-256 of its file in the npm package."""
LARGEST_SCRIPTS = 100_000  # bytes of all modules together, which every page loads


class _Elements(HTMLParser):
    """The elements of a page, and the texts of its scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.texts.append("")

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] in ("script", "style") and self.cdata_elem:
            self.texts[-1] += data


@pytest.fixture(name="graph")
def open_shop(tmp_path: Path) -> Graph:
    write_tree(tmp_path / "shop", ODD_SHOP)
    build_graph(tmp_path / "shop", store=f"sqlite:///{tmp_path}/graph.db")
    return open_graph(f"sqlite:///{tmp_path}/graph.db")


def read_answers(page: str) -> dict[str, list[dict[str, object]]]:
    held = json.loads(_Elements(page).texts[1])["answers"]
    assert isinstance(held, dict)
    return held


def test_only_scripts_and_styles_with_a_listed_hash_run(graph: Graph) -> None:
    page = render_symbol_page(graph, "add_tax", None).text
    found = _Elements(page)
    policy = next(str(facts["content"]) for tag, facts in found.tags if facts.get("http-equiv"))
    named = re.findall(r"'sha256-([^']+)'", policy)
    style, _, library, app = found.texts
    hashes = [b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (library, app, style)]
    assert named == hashes
    assert "unsafe" not in policy
    assert policy.startswith("default-src 'none'")


def test_the_page_has_no_handlers_and_no_external_addresses(graph: Graph) -> None:
    for tag, facts in _Elements(render_map_page(graph, None, None).text).tags:
        assert not [name for name in facts if name.startswith("on") or name == "style"], tag
        assert not str(facts.get("src") or facts.get("href") or "#").startswith(("http", "//", "page/")), tag


def test_repository_text_cannot_close_its_element(graph: Graph) -> None:
    page = render_symbol_page(graph, "add_tax", None).text
    assert [tag for tag, _ in _Elements(page).tags].count("script") == 3
    assert ODD_TEXT not in page
    shown = read_answers(page)
    name = name_question("show", {"name": "shop/prices.py::add_tax", "source": "shop", "limit": 100, "budget": 0})
    assert ODD_TEXT in str(next(line["content"] for line in shown[name] if line["type"] == "definition"))


def test_a_symbol_page_holds_neighbours_and_impact(graph: Graph) -> None:
    asked = [json.loads(name) for name in read_answers(render_symbol_page(graph, "add_tax", None).text)]
    shown = {facts["name"] for operation, facts in asked if operation == "show"}
    assert shown == {"shop/prices.py::add_tax", "shop/prices.py::find_price", f"{ODD_FILE}::odd", ODD_FILE}
    assert [facts["names"] for operation, facts in asked if operation == "impact"] == [["shop/prices.py::add_tax"]]


def test_a_written_page_holds_no_local_paths(graph: Graph, tmp_path: Path) -> None:
    changed = tmp_path / "shop" / "shop" / "orders.py"
    changed.write_text(changed.read_text(encoding="utf-8") + "\nX = 1\n", encoding="utf-8")
    for page in (render_symbol_page(graph, "Order.total", None).text, render_map_page(graph, None, None).text):
        assert "orders.py" in page
        assert str(tmp_path) not in page


def test_an_unknown_name_is_refused_before_writing(graph: Graph) -> None:
    with pytest.raises(QueryError, match="nothing_like_it"):
        render_symbol_page(graph, "nothing_like_it", None)


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PathError, match="No such file"):
        write_page(tmp_path / "nowhere" / "page.html", "")


def test_a_lone_surrogate_is_written_as_a_question_mark(tmp_path: Path) -> None:
    page = render_page({name_question("show", {"name": "\ud800"}): [{"type": "target", "qualname": "\ud800"}]}, "#/map")
    assert "\ufffd" not in write_page(tmp_path / "page.html", page).read_text(encoding="utf-8")


def test_modules_are_joined_after_their_imports_and_names_are_unique() -> None:
    assert sorted(MODULES) == sorted(path.stem for path in SITE.glob("*.js"))
    seen: list[str] = []
    names: list[str] = []
    for module in MODULES:
        text = (SITE / f"{module}.js").read_text(encoding="utf-8")
        imported = re.findall(r"^import .* from '\./(\w+)\.js';$", text, re.MULTILINE)
        assert len(imported) == len(re.findall(r"^import ", text, re.MULTILINE))
        assert set(imported) <= set(seen), module
        names += re.findall(r"^(?:export )?(?:async )?(?:const|let|function|class) (\w+)", text, re.MULTILINE)
        seen.append(module)
    assert len(names) == len(set(names))
    assert sum((SITE / f"{module}.js").stat().st_size for module in MODULES) < LARGEST_SCRIPTS


def test_the_drawing_library_is_the_file_of_its_package_with_its_licence() -> None:
    version, digest = CYTOSCAPE
    content = (SITE / "vendor" / "cytoscape.min.js").read_bytes()
    assert hashlib.sha256(content).hexdigest() == digest
    assert f'"{version}"'.encode() in content
    assert b"Permission is hereby granted" in (SITE / "vendor" / "cytoscape.LICENSE").read_bytes()
    assert b"</script" not in content.lower()


def test_texts_are_inserted_as_text_nodes_only() -> None:
    for module in MODULES:
        text = (SITE / f"{module}.js").read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text), (
            module
        )


def test_the_palette_styles_no_element() -> None:
    rules = read_palette()
    assert {"--bg:", "--text:", "--accent:"} <= set(re.findall(r"--[\w-]+:", rules))
    assert all(each.strip().startswith(":root") for each in re.findall(r"[^{}]+(?=\{)", rules))
