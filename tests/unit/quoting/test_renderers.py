"""No hidden character leaves any renderer, whatever a name, a path or a text holds; JSON gives the same data back."""

from __future__ import annotations

import json
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from io import StringIO
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from hostile_repository import MARKER, build_hostile
from hypothesis import given
from hypothesis import strategies as st

from pkg.api import Graph, diff_graphs, open_graph
from pkg.commands.ask import view_answer
from pkg.commands.diff import view_diff
from pkg.commands.explore import view_exploration
from pkg.commands.impact import write_impact_markdown
from pkg.commands.map import view_map
from pkg.commands.outline import view_outline
from pkg.commands.query import view_query
from pkg.commands.show import view_show
from pkg.commands.stats import view_stats
from pkg.console import drawings, trees
from pkg.console.streams import emit, show, style_words
from pkg.lab.evaluation.report.answers_page import write_answers_page
from pkg.lab.evaluation.report.report_format import Table, render_html_table, render_markdown_table
from pkg.lab.judge.items import JudgedItem
from pkg.quoting.data_marks import mark_data
from pkg.quoting.hidden_characters import escape_json, is_hidden, spell_hidden, spell_line
from pkg.service.operations import answer_texts, map_lines
from pkg.service.page.page_file import render_page

HIDDEN = st.text(
    st.one_of(
        st.sampled_from(
            "\x00\x07\x08\x0b\x0c\r\x1b\x7f\x85\u00ad\u034f\u061c\u200b\u200e\u2028\u2029\u202e\u2066\u3164"
        ),
        st.sampled_from("\ufe0f\ufeff\ufffe\U000e0041\U000e0101\ud800\udcff\U0010ffff\u0378"),
        st.characters(categories=["Cc", "Cf", "Co", "Cs", "Zl", "Zp"]),
        st.sampled_from('a \n\t<&"`|[/'),
    ),
    min_size=1,
    max_size=12,
).filter(lambda text: not re.search("[\ud800-\udbff][\udc00-\udfff]", text))
"""Texts without a pair of surrogates, which is one character in JSON."""


def find_hidden(text: str) -> set[str]:
    return {char for char in text if char not in "\n\t" and is_hidden(char)}


VOCABULARY = {"confidence", "type", "relation", "label", "kind", "how", "role", "form", "state"}
"""Fields that hold words of PKG itself, by which views choose what they write."""


def plant(value: Any, hint: Any, planted: str) -> Any:
    """Add a text to every text of an answer, however deep; words of PKG itself stay what they are."""
    if isinstance(value, str):
        return value if _is_fixed(hint) else f"{value}{planted}"
    if is_dataclass(value) and not isinstance(value, type):
        hints = get_type_hints(type(value))
        changes = {
            each.name: plant(getattr(value, each.name), hints[each.name], planted)
            for each in fields(value)
            if each.init and each.name not in VOCABULARY
        }
        return replace(value, **{name: new for name, new in changes.items() if new is not getattr(value, name)})
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        hints = get_type_hints(type(value))
        return type(value)(*(plant(getattr(value, name), hint, planted) for name, hint in hints.items()))
    if isinstance(value, tuple | list):
        inner = [each for each in get_args(_drop_none(hint)) if each is not ...] or [Any]
        parts = [plant(each, inner[min(at, len(inner) - 1)], planted) for at, each in enumerate(value)]
        return type(value)(parts)
    return value


def _drop_none(hint: Any) -> Any:
    if get_origin(hint) in (Union, types.UnionType):
        return next(each for each in get_args(hint) if each is not type(None))
    return hint


def _is_fixed(hint: Any) -> bool:
    parts = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    return any(get_origin(each) is Literal for each in parts)


def print_view(view: Iterable[Any], monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what a view writes to a terminal without colours."""
    written = StringIO()
    with monkeypatch.context() as patched:
        patched.setattr("sys.stdout", written)
        show(view)
    return written.getvalue()


def _write_data(page: str) -> str:
    """Return the data of a page, without its scripts."""
    return page.partition('id="answers">')[2].partition("</script>")[0]


ANSWERS: Mapping[str, Callable[[Graph], Any]] = {
    "explore": lambda graph: graph.explore("add up the prices of all items"),
    "ask": lambda graph: graph.ask("How are the prices of all items added up?"),
    "query": lambda graph: graph.query("add up the prices", mode="both", floor=False, helpers="all", callers=True),
    "query for files": lambda graph: graph.query("add up the prices", mode="file", floor=False),
    "query for text": lambda graph: graph.query(f"the {MARKER} heading", mode="text", floor=False),
    "show": lambda graph: graph.show(f"{MARKER}_total"),
    "outline": lambda graph: graph.outline(),
    "map": lambda graph: graph.map(),
    "links": lambda graph: graph.deps(f"{MARKER}_price"),
    "imports": lambda graph: graph.deps(question="imports"),
    "cycles": lambda graph: graph.deps(question="cycles"),
    "unused": lambda graph: graph.deps(question="unused"),
    "path": lambda graph: graph.deps(f"{MARKER}_total", question="path", to=f"{MARKER}_price"),
    "impact": lambda graph: graph.impact(f"{MARKER}_price"),
    "stats": lambda graph: graph.stats(),
    "diff": lambda graph: diff_graphs(graph.store.address, graph.store.address),
}
"""What the commands ask a graph."""

RENDERERS: list[tuple[str, Callable[[Any], Iterable[Any]]]] = [
    ("explore", view_exploration),
    ("explore", lambda found: [style_words(mark_data(answer_texts.write_explored(found)))]),
    ("ask", view_answer),
    ("query", lambda found: view_query(found, True)),
    ("query for files", lambda found: view_query(found, True)),
    ("query for text", lambda found: view_query(found, True)),
    ("show", view_show),
    ("outline", view_outline),
    ("map", lambda found: view_map(found, True)),
    *((name, trees.view_deps) for name in ("links", "imports", "cycles", "unused", "path", "impact")),
    ("stats", view_stats),
    ("diff", lambda found: view_diff(found, 0)),
]
"""The views of the commands, by their answers."""

WRITERS: list[tuple[str, Callable[[Any], str]]] = [
    ("explore", answer_texts.write_explored),
    *(
        (name, write)
        for name in ("links", "imports", "cycles", "unused", "path", "impact")
        for write in (
            *(lambda answer, form=form: drawings.draw_deps(answer, form) for form in ("dot", "mermaid", "graphml")),
            lambda answer: mark_data(answer_texts.write_links(answer, 0)[0]),
        )
    ),
    ("impact", lambda answer: write_impact_markdown(answer, 0, "https://host/x")),
    ("map", lambda found: _write_data(render_page({"map": list(map_lines.map_lines(found, with_files=True))}, "map"))),
]
"""What is written as a text that is no view."""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    with open_graph(build_hostile(tmp_path_factory.mktemp("hostile"))) as graph:
        yield {name: ask(graph) for name, ask in ANSWERS.items()}


@pytest.mark.parametrize("kind", sorted({name for name, _ in RENDERERS}))
def test_no_hidden_character_leaves_a_view(kind: str, answers: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    views = [view for name, view in RENDERERS if name == kind]

    @given(HIDDEN)
    def check(planted: str) -> None:
        found = plant(answers[kind], type(answers[kind]), planted)
        for view in views:
            assert find_hidden(print_view(view(found), monkeypatch)) == set()

    check()


@pytest.mark.parametrize("kind", sorted({name for name, _ in WRITERS}))
def test_no_hidden_character_stands_in_a_written_text(kind: str, answers: dict[str, Any]) -> None:
    writers = [write for name, write in WRITERS if name == kind]

    @given(HIDDEN)
    def check(planted: str) -> None:
        found = plant(answers[kind], type(answers[kind]), planted)
        for write in writers:
            written = mark_data(write(found)) if write is answer_texts.write_explored else write(found)
            assert find_hidden(written) == set()

    check()


@given(HIDDEN)
def test_no_hidden_character_stands_in_a_report(planted: str) -> None:
    table = Table(("name", planted), ((planted, planted),), note=planted)
    assert find_hidden(render_html_table(table)) == set()
    assert find_hidden(render_markdown_table(table)) == set()
    item = JudgedItem(planted, planted, {"a": planted, planted: planted}, planted, (planted,))
    assert find_hidden(write_answers_page([item])) == set()


@given(HIDDEN)
def test_a_name_stays_on_its_line(planted: str) -> None:
    assert len(spell_line(f"a{planted}b").splitlines()) == 1


@given(st.text())
def test_a_text_is_spelled_once_and_keeps_what_is_seen(text: str) -> None:
    spelled = spell_hidden(text)
    assert find_hidden(spelled) == set()
    assert spell_hidden(spelled) == spelled
    if not find_hidden(text):
        assert spelled == text


@given(st.recursive(st.one_of(HIDDEN, st.text(), st.integers()), lambda inner: st.lists(inner, max_size=3)))
def test_json_gives_back_the_same_data_on_one_line_of_utf_8(data: Any) -> None:
    written = escape_json(json.dumps(data, ensure_ascii=False))
    assert find_hidden(written) == set()
    assert len(written.splitlines()) == 1
    assert json.loads(written.encode()) == data


def test_json_lines_of_a_command_keep_half_a_surrogate_pair(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    emit(True, [{"path": "a\udcff\u2028.py"}], lambda: [])
    out, _ = capfdbinary.readouterr()
    assert out == b'{"path": "a\\udcff\\u2028.py"}\n'
    assert json.loads(out) == {"path": "a\udcff\u2028.py"}
