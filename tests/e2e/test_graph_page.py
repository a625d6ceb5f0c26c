"""The page of a graph in a real Chromium: search, navigation and drawings, by mouse and keys, light and dark."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from chromium import Page, start_page
from odd_shop import ODD_FILE, ODD_SHOP
from page_contrast import find_contrast
from page_faults import find_faults
from serve_process import start_serve
from trees import write_tree

from pkg.api import build_graph, open_graph
from pkg.service.page.page_file import render_map_page, render_symbol_page

pytestmark = pytest.mark.browser

WIDE, PHONE = (1280, 900), (390, 800)
TEXTS = (
    "h1, h2, h3, a, p, summary, button, .name, .under, .place, .line, .count, .sure, .code li *, .tabs a, kbd, label"
)
FIND_PRICE = "#/symbol?name=shop/prices.py::find_price&source=shop"
CY = "document.querySelector('.canvas')._cyreg.cy"
NODES = f"Object.fromEntries({CY}.nodes().map((each) => [each.data('name'), each.position()]))"
OVERLAPS = f"""(() => {{
  const boxes = {CY}.nodes().map((each) => ({{ id: each.id(), isGroup: each.is('.group'), ...each.boundingBox() }}));
  const isApart = (a, b) => a.x2 <= b.x1 || b.x2 <= a.x1 || a.y2 <= b.y1 || b.y2 <= a.y1;
  const holds = (a, b) => a.isGroup && b.id.startsWith(`${{a.id}}/`);
  const isFault = (a, b) => !isApart(a, b) && !holds(a, b) && !holds(b, a);
  return boxes.flatMap((a, at) => boxes.slice(at + 1).filter((b) => isFault(a, b)).map((b) => `${{a.id}} ${{b.id}}`));
}})()"""
"""Pairs of nodes of a drawing that overlap, but for open folders and their content."""
NOTICE = "document.getElementById('notice').textContent"
REPORT = {"name": "shop/reports/daily.py::report", "source": "shop", "limit": 1, "budget": 0}
SLOW = """
window.asked = 0;
const kept = window.fetch;
window.fetch = async (address, options) => {
  if (/query|show/.test(address)) window.asked += 1;
  await new Promise((done, fail) => {
    setTimeout(done, 1000);
    options.signal?.addEventListener('abort', () => fail(new DOMException('stopped', 'AbortError')));
  });
  return kept(address, options);
};
0
"""
VIEWS = [
    "#/map", FIND_PRICE, f"{FIND_PRICE}&tab=graph", f"{FIND_PRICE}&tab=impact",
    "#/search?text=find the price of an item", "#/symbol?name=shop/orders.py::Order&source=shop",
]  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("graph")
    write_tree(folder / "shop", ODD_SHOP)
    address = f"sqlite:///{folder}/graph.db"
    build_graph(folder / "shop", store=address)
    return address


@pytest.fixture(scope="module")
def address(store: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with start_serve(tmp_path_factory.mktemp("serve"), "--store", store) as served:
        yield served.page


@pytest.fixture
def page(address: str) -> Iterator[Page]:
    with start_page(*WIDE) as opened:
        yield opened


def show(page: Page, address: str, view: str) -> None:
    """Open a view, and wait until it is complete."""
    page.open("about:blank")
    page.open(address + quote(view, safe="#/?=&:"))
    page.await_true("document.querySelector('main .body > *, main .hits > *, main .cards')")
    page.await_true("!document.querySelector('main[aria-busy]')")
    assert page.run("document.getElementById('fault').textContent") == ""


def read(page: Page, selector: str) -> list[str]:
    found: list[str] = page.run(
        f"[...document.querySelectorAll({json.dumps(selector)})].map((each) => each.textContent)"
    )
    return found


def test_results_appear_during_typing_and_the_first_is_opened_with_keys(page: Page, address: str) -> None:
    show(page, address, "#/map")
    page.press("/")
    page.type("find the price of an item")
    page.await_true("[...document.querySelectorAll('.hit a.name')].some((each) => each.textContent === 'find_price')")
    assert "text=find" in page.run("location.hash")
    page.press("Enter")
    page.await_true("document.activeElement.matches('.hit a.name')")
    page.press("Enter")
    page.await_true("document.querySelector('.source li')")
    assert page.run("location.hash").startswith("#/symbol")


def test_a_hit_shows_why_it_was_found(page: Page, address: str) -> None:
    show(page, address, "#/search?text=where are PRICES found for an item?&source=shop")
    marked = page.run(
        "[...document.querySelectorAll('.hit')].find((each) => each.querySelector('.name').textContent"
        " === 'find_price').querySelector('.code').querySelectorAll('mark').length"
    )
    assert marked > 0
    first = read(page, ".hit .why")[0]
    assert first.startswith("score 0.")
    assert "meaning 0." in first
    assert "in the name: prices, price" in first
    words = {word.casefold() for word in read(page, "mark")}
    assert {"price", "item"} <= words
    assert not words & {"an", "for", "are"}


def test_a_symbol_shows_its_callers_its_highlighted_source_and_its_callees(page: Page, address: str) -> None:
    show(page, address, FIND_PRICE)
    needed_by, needs = read(page, ".side:first-child .name"), read(page, ".side:last-child .name")
    assert {"Order.total", "test_price"} <= set(needed_by)
    assert needs == ["add_tax"]
    assert read(page, "li.calls a.call") == ["add_tax"]
    page.click("li.calls a.call")
    page.await_true("document.querySelector('h1').textContent.includes('add_tax')")
    assert "unknown.call" in "".join(read(page, ".side:last-child details"))  # the graph ends here
    assert read(page, ".code .stop") == ["unknown", "call"]
    assert read(page, ".trail a") == ["find_price"]
    page.reload()
    page.await_true("document.querySelector('.trail a')?.textContent === 'find_price'")  # it is part of the address
    page.click(".trail a")
    page.await_true("document.querySelector('h1').textContent.includes('find_price')")


def test_the_graph_grows_at_the_selected_node_and_nothing_moves(page: Page, address: str) -> None:
    show(page, address, f"{FIND_PRICE}&tab=graph")
    before = page.run(NODES)
    assert before["Order.total"]["x"] < before["find_price"]["x"] < before["add_tax"]["x"]
    assert "Order.pay" not in before
    page.run("document.querySelector('.canvas').focus()")
    page.press("ArrowRight")  # moved to the centre
    for _ in range(3):
        page.press("ArrowLeft")
    for way in ["ArrowUp"] * len(before) + ["ArrowDown"] * len(before):
        if "Order.total" in page.run("document.querySelector('.told').textContent"):
            break
        page.press(way)
    page.press("+")
    page.await_true(f"{CY}.nodes().some((each) => each.data('name') === 'Order.pay')")
    after = page.run(NODES)
    assert {name: after[name] for name in before} == before
    assert after["Order.pay"]["x"] < after["Order.total"]["x"]
    page.press("Enter")
    page.await_true("document.querySelector('h1').textContent.includes('Order.total')")


def test_an_impact_counts_affected_code_and_tests_separately(page: Page, address: str) -> None:
    show(page, address, FIND_PRICE)
    page.press("i")
    page.await_true("document.querySelector('.fact')")
    assert read(page, "[aria-label='Tests that reach it'] .name") == ["tests/test_prices.py", "test_price"]
    assert {"Order.total", "Order.pay", "report"} <= set(read(page, "[aria-label='May break'] .name"))


def test_a_map_marks_cycles_and_leads_into_folders(page: Page, address: str) -> None:
    show(page, address, "#/map?source=shop&path=shop")
    cyclic = page.run(f"{CY}.nodes('.cyclic').map((each) => each.data('name')).sort()")
    assert cyclic == ["orders.py", "prices.py"]
    assert page.run(f"{CY}.edges('.cyclic').length") == 1
    first = page.run(NODES)
    page.reload()
    page.await_true(f"{CY}.nodes().length === {len(first)}")
    assert page.run(NODES) == first
    page.run("[...document.querySelectorAll('.side a.name')].find((each) => each.textContent === 'reports/').click()")
    page.await_true("document.title.startsWith('shop/reports')")


def test_a_folder_opens_in_its_place_and_the_address_keeps_it(page: Page, address: str) -> None:
    show(page, address, "#/map?source=shop&path=shop")
    page.run("document.querySelector('[aria-label=\"Open shop/reports in the map\"]').click()")
    names = page.run(f"{CY}.nodes().map((each) => each.data('name'))")
    assert {"reports/", "daily.py", "orders.py"} <= set(names)
    page.reload()
    page.await_true(f"{CY}.nodes('.group').length === 1")
    page.run("document.querySelector('.canvas').focus()")
    page.run(f"{CY}.getElementById('shop/reports/daily.py').emit('tap'); 0")
    page.press("-")
    assert page.run(f"{CY}.nodes('.group').length") == 0
    assert page.run(f"{CY}.nodes('.chosen').map((each) => each.id())") == ["shop/reports"]
    page.press("Enter")
    assert page.run(f"{CY}.nodes('.group').length") == 1


def test_a_search_in_the_map_opens_the_folders_around_a_file(page: Page, address: str) -> None:
    show(page, address, "#/map?source=shop&path=shop")
    page.press("f")
    page.type("daily")
    assert read(page, ".side button.name") == ["reports/daily.py"]
    assert page.run(f"{CY}.nodes().filter((each) => !each.hasClass('faded')).map((each) => each.data('name'))") == [
        "reports/"
    ]
    page.press("Enter")
    assert page.run(f"{CY}.nodes('.chosen').map((each) => each.id())") == ["shop/reports/daily.py"]
    assert page.run("document.activeElement.matches('.canvas')")
    assert "imports" in "".join(read(page, ".side")).lower()


def test_nothing_overlaps_on_a_map_of_a_thousand_files(page: Page, tmp_path: Path) -> None:
    files = {
        f"big/p{number % 37}/q{number % 5}/m{number}.py": f"import big.p{next_ % 37}.q{next_ % 5}.m{next_}\n"
        for number, next_ in ((each, each * 7 % 1000) for each in range(1000))
    }
    write_tree(tmp_path / "big", {**files, "big/top.py": ""})
    store = f"sqlite:///{tmp_path}/graph.db"
    build_graph(tmp_path / "big", store=store)
    with start_serve(tmp_path, "--store", store) as served:
        show(page, served.page, "#/map")
        for nodes in (38, 1001):
            assert page.run(f"{CY}.nodes().not('.group').length") == nodes
            assert page.run(OVERLAPS) == []
            page.run("document.querySelector('.tools button').click()")  # opens or closes all
        assert find_faults(page) == []


def test_a_place_leads_to_the_editor(page: Page, address: str, store: str) -> None:
    show(page, address, FIND_PRICE)
    link = page.run("document.querySelector('.head a.place').href")
    with open_graph(store) as graph:
        root = graph.store.sources()[0].root
    assert link == f"vscode://file{root}/shop/prices.py:8"


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible(page: Page, address: str, view: str, scheme: str) -> None:
    page.prefer_scheme(scheme)
    show(page, address, view)
    assert find_contrast(page, TEXTS) >= 4.5
    assert find_faults(page) == []


def test_a_chosen_colour_scheme_is_kept(page: Page, address: str) -> None:
    page.prefer_scheme("light")
    show(page, address, "#/map")
    seen = []
    for _ in range(3):
        page.press("t")
        seen.append(page.run("getComputedStyle(document.body).backgroundColor"))
        page.reload()
        page.await_true("document.querySelector('.canvas canvas')")
        assert page.run("getComputedStyle(document.body).backgroundColor") == seen[-1]
    light, dark, system = seen
    assert light == system != dark


@pytest.mark.parametrize("view", VIEWS)
def test_a_phone_shows_the_whole_page_without_horizontal_scrolling(address: str, view: str) -> None:
    with start_page(*PHONE) as page:
        show(page, address, view)
        assert page.run("document.documentElement.scrollWidth") <= PHONE[0]
        assert page.run("document.getElementById('search').getBoundingClientRect().width") > 250


def test_a_drawing_is_saved_as_svg_and_png(page: Page, address: str) -> None:
    show(page, address, f"{FIND_PRICE}&tab=graph")
    page.run("URL.createObjectURL = (kept) => { window.kept = kept; return 'blob:none'; }")
    page.run("[...document.querySelectorAll('.tools button')].find((each) => each.textContent === 'SVG').click()")
    texts = page.run(
        "kept.text().then((text) => [...new DOMParser().parseFromString(text, 'image/svg+xml')"
        ".querySelectorAll('text')].map((each) => each.textContent))"
    )
    assert {"find_price", "add_tax", "Order.total"} <= set(texts)
    page.run("[...document.querySelectorAll('.tools button')].find((each) => each.textContent === 'PNG').click()")
    page.await_true("window.kept.type === 'image/png'")
    assert page.run("createImageBitmap(kept).then((each) => each.width)") > 400


def test_cut_branches_are_struck_through(page: Page, address: str) -> None:
    show(page, address, FIND_PRICE)
    page.run(
        "import('/page/page.js').then(({ showCode }) => document.body.append("
        "...showCode('if a:\\n    b()\\nelse:\\n    c()', 5, { cuts: [[7, 8]] })))"
    )
    page.await_true("document.querySelector('del')")
    assert read(page, "del") == ["else:", "    c()"]


@pytest.mark.parametrize(
    "view", [*VIEWS, "#/symbol?name=shop/prices.py::add_tax&source=shop", "#/map?source=shop&path=shop"]
)
def test_names_and_texts_are_never_interpreted_as_markup(page: Page, address: str, view: str) -> None:
    show(page, address, view)
    assert page.run("document.title") != "broken"
    assert page.run("document.querySelectorAll('main img, main script, main iframe').length") == 0


def test_a_file_with_an_unusual_name_is_opened(page: Page, address: str) -> None:
    show(page, address, "#/map?source=shop&path=shop")
    page.run(
        "[...document.querySelectorAll('.side a.name')].find((each) => each.textContent.includes('onerror')).click()"
    )
    page.await_true("document.querySelector('.source li')")
    assert ODD_FILE in page.run("document.querySelector('h1').textContent")


def test_an_unknown_name_is_reported_and_the_page_remains_usable(page: Page, address: str) -> None:
    page.open(f"{address}#/symbol?name=nothing_of_the_kind")
    page.await_true("document.getElementById('fault').textContent.includes('nothing_of_the_kind')")
    page.press("m")
    page.await_true("document.querySelector('.canvas canvas')")
    assert page.run("document.getElementById('fault').textContent") == ""


def test_a_written_symbol_opens_from_disk_without_requests(page: Page, store: str, tmp_path: Path) -> None:
    with open_graph(store) as graph:
        (tmp_path / "symbol.html").write_text(render_symbol_page(graph, "add_tax", None).text, encoding="utf-8")
    page.open((tmp_path / "symbol.html").as_uri())
    page.await_true("document.querySelector('.canvas canvas')")
    assert page.run("performance.getEntriesByType('resource').length") == 0
    assert set(page.run(NODES)) >= {"add_tax", "find_price", "odd"}
    page.press("c")
    page.await_true("document.querySelector('.source li')")
    assert "</script><script>" in page.run("document.querySelector('.source').textContent")
    assert page.run("document.title") != "broken"
    page.run("[...document.querySelectorAll('.side a.name')].find((each) => each.textContent === 'find_price').click()")
    page.await_true("document.querySelector('h1').textContent.includes('find_price')")  # its neighbours are included
    page.press("i")
    page.await_true("document.getElementById('fault').textContent.includes('does not include')")


def test_a_written_map_opens_from_disk(page: Page, store: str, tmp_path: Path) -> None:
    with open_graph(store) as graph:
        (tmp_path / "map.html").write_text(render_map_page(graph, None, None).text, encoding="utf-8")
    page.open((tmp_path / "map.html").as_uri())
    page.await_true(f"{CY}.nodes().length > 1")
    assert page.run("performance.getEntriesByType('resource').length") == 0
    assert find_faults(page) == []


def test_a_written_page_lists_files_changed_since_the_build(page: Page, tmp_path: Path) -> None:
    store = build_changed(tmp_path)
    with open_graph(store) as graph:
        pages = {"map": render_map_page(graph, None, None), "symbol": render_symbol_page(graph, "add_tax", None)}
    for name, written in pages.items():
        (tmp_path / f"{name}.html").write_text(written.text, encoding="utf-8")
        page.open((tmp_path / f"{name}.html").as_uri())
        page.await_true(f"location.pathname.endsWith('{name}.html') && document.querySelector('.canvas canvas')")
        assert page.run(NOTICE) == "Changed since the build: shop/prices.py."


def test_files_changed_since_the_build_are_listed(page: Page, tmp_path: Path) -> None:
    with start_serve(tmp_path, "--store", build_changed(tmp_path)) as served:
        show(page, served.page, FIND_PRICE)
        assert page.run(NOTICE) == "Changed since the build: shop/prices.py."
        assert "changed since the build" in page.run("document.querySelector('.head').textContent")
        page.run(f"import('/page/page.js').then(({{ ask }}) => ask('show', {json.dumps(REPORT)})).then(() => 0)")
        assert "shop/prices.py" in page.run(NOTICE)  # an answer without changed files does not remove the notice
        page.run("location.hash = '#/symbol?name=shop/reports/daily.py::report&source=shop'")
        page.await_true(
            "document.querySelector('h1').textContent.includes('report') && document.querySelector('.source')"
        )
        assert page.run(NOTICE) == ""  # nothing shown has changed
        page.press("b")
        page.await_true(f"document.querySelector('h1').textContent.includes('find_price') && {NOTICE}")
        assert page.run(NOTICE) == "Changed since the build: shop/prices.py."  # as in the cached answer


def test_enter_waits_for_a_pending_search(page: Page, address: str) -> None:
    show(page, address, "#/map")
    page.run(SLOW)
    page.press("/")
    page.type("find the price of an item")
    page.await_true("window.asked === 1")
    page.press("Enter")
    page.await_true("document.activeElement.matches('.hit a.name')")
    assert page.run("window.asked") == 1


def test_a_symbol_requested_again_while_it_loads_is_shown(page: Page, address: str) -> None:
    show(page, address, "#/map")
    page.run(SLOW)
    page.run(f"location.hash = {json.dumps(FIND_PRICE)}")
    page.await_true("window.asked === 1")
    page.run(f"location.hash = {json.dumps(FIND_PRICE + '&trail=add_tax')}")
    page.await_true("document.querySelector('h1').textContent.includes('find_price')")
    assert read(page, ".trail a") == ["add_tax"]


def test_answers_of_another_graph_are_not_cached(page: Page, address: str) -> None:
    show(page, address, "#/map")
    page.run(
        "window.asked = 0; window.kept = window.fetch; window.fetch = async (address, options) => {"
        " const answer = await (await window.kept(address, options)).json(); window.asked += 1;"
        " answer.freshness.graph = window.graph; return new Response(JSON.stringify(answer)); }; 0"
    )
    counts = []
    for graph, limit in (("one", 1), ("one", 1), ("one", 2), ("one", 1), ("two", 3), ("two", 1)):
        asked = json.dumps(REPORT | {"limit": limit})
        page.run(f"window.graph = '{graph}'; import('/page/page.js').then(({{ ask }}) => ask('show', {asked}))")
        counts.append(page.run("window.asked"))
    assert counts[2:] == [counts[1] + 1, counts[1] + 1, counts[1] + 2, counts[1] + 3]


def test_invisible_characters_are_spelled_out(page: Page, address: str) -> None:
    show(page, address, "#/map")
    hidden = [
        "\x00", "\x1b", "\x85", "\xad", "\u034f", "\u061c", "\u115f", "\u1160", "\u17b4", "\u180e", "\u200b", "\u200d",
        "\u202e", "\u2028", "\u2060", "\u2069", "\u2800", "\u3164", "\ufe0f", "\ufeff", "\uffa0", "\ue000",
        "\U0001d173", "\U000e0001", "\U000e0041", "\U000e0100", "\U000f0000",
    ]  # fmt: skip
    spelled = page.run(f"import('/page/page.js').then(({{ spell }}) => {json.dumps(hidden)}.map(spell))")
    assert spelled == [ascii(each)[1:-1] for each in hidden]
    shown = "\tdef größe(漢, ℵ):\n    return '😀 – ½ e\u0301'"
    assert page.run(f"import('/page/page.js').then(({{ spell }}) => spell({json.dumps(shown)}))") == shown


def build_changed(folder: Path) -> str:
    """Build a graph, and change one of its files."""
    write_tree(folder / "shop", ODD_SHOP)
    store = f"sqlite:///{folder}/graph.db"
    build_graph(folder / "shop", store=store)
    changed = folder / "shop" / "shop" / "prices.py"
    changed.write_text(changed.read_text(encoding="utf-8") + "\n\nTAX = 1\n", encoding="utf-8")
    return store
