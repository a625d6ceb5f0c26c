from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.retrieval.question import MAX_MODULES, MAX_NAMES, parse_question


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("how is Session.send used", ("Session.send",)),
        ("where is parse_header called", ("parse_header",)),
        ("what does `track` do", ("track",)),
        ("what does track() do", ("track",)),
        ("what does 'retry' do", ("retry",)),
        ('where is "backoff" or “http.retry” set', ("backoff", "http.retry")),
        ("don't read the users' config, it's 'not found'", ()),
        ("what does HTTPAdapter close", ("HTTPAdapter",)),
        ("what does __enter__ return", ("__enter__",)),
        ("send a JSON file over HTTP", ()),
        ("wait. Then go on", ()),
    ],
)
def test_words_written_like_code_are_names(text: str, names: tuple[str, ...]) -> None:
    assert parse_question(text).names == names


def test_a_piece_of_code_names_nothing_in_particular() -> None:
    code = "def total(first_one, second_one):\n" + "\n".join(f"    value_{n} = call_{n}()" for n in "abcdefgh")
    assert len(set(code.split())) > MAX_NAMES
    assert parse_question(code).names == ()


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("what is imported in kill_ring.py", ("kill_ring.py",)),
        ("explain spyder/plugins/run/confpage.py and base.py", ("spyder/plugins/run/confpage.py", "base.py")),
        ("what is in spyder/plugins/application/", ("spyder/plugins/application/",)),
        ("what is in spyder/plugins/run", ("spyder/plugins/run",)),
        ("read and/or write CSC/CSR files", ()),
    ],
)
def test_files_and_folders_are_separated_from_prose(text: str, files: tuple[str, ...]) -> None:
    question = parse_question(text)
    assert question.files == files
    assert not set(question.names) & set(files)


def test_names_with_dots_may_be_paths_of_modules() -> None:
    assert parse_question('what reads tables with format="ascii.rst"').files == ("ascii/rst.py",)
    assert parse_question("where does kombu.utils.url parse an address").files == ("kombu/utils/url.py",)
    assert parse_question("how does Client.get differ from a.B, e.g. in version 1.2").files == ()
    assert len(parse_question("compare web.get, web.post and web.put").files) == MAX_MODULES


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("why does shop/cart.py:36 fail", (("shop/cart.py", 36),)),
        ("cart.py:3 and cart.py:3, stock.py:12 or pay.py:7", (("cart.py", 3), ("stock.py", 12))),
        ("at 10.30:15 see cart.py: 36 items, cart.pyx:3", ()),
    ],
)
def test_lines_of_files_are_read(text: str, lines: tuple[tuple[str, int], ...]) -> None:
    assert parse_question(text).lines == lines


def test_the_last_frames_of_a_short_stack_trace_are_named() -> None:
    text = 'File "/srv/a.py", line 3, in go File "/lib/site-packages/web/core/app.py", line 9, in run TypeError'
    question = parse_question(text)
    assert question.names[:2] == ("run", "go")
    assert question.files == ("core/app.py", "srv/a.py")


def test_questions_for_tests_are_recognised() -> None:
    assert parse_question("which test covers the parser").asks_tests
    assert parse_question("tests of the parser").asks_tests
    assert parse_question("where is the parser tested").asks_tests
    assert not parse_question("fastest way to parse").asks_tests
    assert not parse_question("test whether a parser is done").asks_tests


@pytest.mark.parametrize("text", ["how do I run my tests", "start the debugger when a test fails", "test a connection"])
def test_mentions_of_tests_do_not_ask_for_them(text: str) -> None:
    assert not parse_question(text).asks_tests


def test_terms_are_stems_in_their_order_and_come_once() -> None:
    assert parse_question("parsing parsed headers").terms == ("pars", "header")


@given(st.text(max_size=80))
def test_any_text_can_be_read(text: str) -> None:
    question = parse_question(text)
    assert len(set(question.terms)) == len(question.terms)
    assert len(question.names) <= MAX_NAMES


@pytest.mark.parametrize("text", ["найти кратчайший путь", "查找最短路径", "🚀 rocket", "λ→μ"])
def test_other_scripts_give_terms(text: str) -> None:
    assert parse_question(text).terms
