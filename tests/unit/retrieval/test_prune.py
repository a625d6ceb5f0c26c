from __future__ import annotations

import ast
import textwrap
import warnings

import numpy as np
import pytest
from fakes import FakeEncoder
from hypothesis import given
from hypothesis import strategies as st

from pkg.encode.encoder import Vectors
from pkg.encode.static import StaticEncoder
from pkg.extract.python import extract_unit
from pkg.model import Function, Nested
from pkg.retrieval.pruning.prune import Pruned, prune

ENCODER = FakeEncoder()

COUNT_SENTENCES = '''\
def count_sentences(text):
    """Count sentences."""
    count = 0
    for sentence in text:
        if is_boring(sentence):
            count += 1
        if is_exciting(sentence):
            exciting = exciting + amazing(sentence)
            print(exciting, wonderful)
    return count
'''


def encode(text: str) -> Vectors:
    query: Vectors = ENCODER.encode([text.encode()])[0]
    return query


def find_branches(text: bytes) -> list[Nested]:
    """List every block of the text's functions, bodies included."""
    blocks = extract_unit(text).blocks
    return [Nested(b.path, b.kind, b.span.start, b.span.end, b.span.start_line, b.span.end_line) for b in blocks]


def prune_text(text: str | bytes, question: str, steps: int = 1, limit: int = 64) -> Pruned:
    data = text.encode() if isinstance(text, str) else text
    return prune(ENCODER, encode(question), data, b"", find_branches(data), steps, limit)


def assert_no_farther(query: Vectors, text: bytes, pruned: Pruned) -> None:
    before, after = ENCODER.encode([text, pruned.content]) @ query
    assert after - before == pytest.approx(pruned.gain, abs=1e-6)
    assert pruned.gain >= 0


BORED = """\
def count_feelings(text):
    boring = exciting = 0
    for sentence in text.split("."):
        if sentence.strip().startswith("I am bored"):
            boring += 1
        if sentence.strip().startswith("I am excited"):
            exciting += 1
    return boring, exciting
"""


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        ("count the boring sentences of a text", b"bored"),
        ("count the number of boredoms. A boredom is a sentence that starts with the word I.", b"excited"),
    ],
)
def test_the_default_encoder_compares_words_on_the_example_of_the_papers(question: str, kept: bytes) -> None:
    encoder, text = StaticEncoder(), BORED.encode()
    pruned = prune(encoder, encoder.encode_query(question), text, b"", find_branches(text), 1, 64)
    assert [word for word in (b"bored", b"excited") if word in pruned.content] == [kept]


def test_the_branch_that_the_question_does_not_ask_for_is_cut() -> None:
    pruned = prune_text(COUNT_SENTENCES, "count boring sentence in text")

    assert b"boring" in pruned.content
    assert b"exciting" not in pruned.content
    (cut,) = pruned.cuts
    assert (cut.kind, cut.start_line, cut.end_line) == ("if", 7, 9)
    assert pruned.gain == cut.score_after - cut.score_before > 0


def test_scores_are_the_cosines_of_the_real_texts() -> None:
    question = "count boring sentence in text"
    pruned = prune_text(COUNT_SENTENCES, question)

    before, after = ENCODER.encode([COUNT_SENTENCES.encode(), pruned.content]) @ encode(question)
    (cut,) = pruned.cuts
    assert (cut.score_before, cut.score_after) == pytest.approx((before, after), abs=1e-6)


def test_a_text_without_branches_stays_as_it_is() -> None:
    pruned = prune_text("def f():\n    return 1\n", "anything")

    assert (pruned.content, pruned.cuts, pruned.tried) == (b"def f():\n    return 1\n", (), 0)
    assert pruned.gain == 0


def test_nothing_is_cut_when_every_cut_would_lower_the_score() -> None:
    text = "def f(x):\n    if boring:\n        boring(x)\n    return zebra, quagga\n"

    pruned = prune_text(text, "boring")

    assert pruned.content == text.encode()
    assert pruned.cuts == ()


def test_an_emptied_suite_is_filled_with_pass_at_its_indentation() -> None:
    text = (
        "def boring(sentence):\n    while sentence:\n        if zebra:\n            quagga(okapi)\n    return boring\n"
    )

    pruned = prune_text(text, "while boring sentence return pass")

    assert pruned.content == b"def boring(sentence):\n    while sentence:\n        pass\n    return boring\n"


def test_a_suite_that_keeps_only_a_comment_gets_pass() -> None:
    text = "boring()\ndef boring(sentence):\n    # boring sentence\n    if zebra:\n        quagga(okapi)\n"

    pruned = prune_text(text, "boring sentence")

    assert pruned.content == b"boring()\ndef boring(sentence):\n    # boring sentence\n    pass\n"


def test_a_suite_that_keeps_a_docstring_needs_no_pass() -> None:
    text = 'boring()\ndef boring(sentence):\n    """boring sentence"""\n    if zebra:\n        quagga(okapi)\n'

    pruned = prune_text(text, "boring sentence")

    assert pruned.content == b'boring()\ndef boring(sentence):\n    """boring sentence"""\n'


def test_a_cut_that_leaves_a_bare_signature_is_refused() -> None:
    text = 'def boring(sentence):\n    """boring sentence"""\n    if zebra:\n        quagga(okapi)\n'

    pruned = prune_text(text, "boring sentence")

    assert pruned.content == text.encode()
    assert "if at lines 3-4 kept: nothing but headers and `pass` would be left" in pruned.refused


def test_an_if_goes_with_all_its_branches() -> None:
    chain = "    if a:\n        zebra\n    elif b:\n        quagga\n    else:\n        okapi\n"
    text = f"def boring(x):\n{chain}    return boring\n"

    pruned = prune_text(text, "boring")

    assert pruned.content == b"def boring(x):\n    return boring\n"
    assert (pruned.cuts[0].start_line, pruned.cuts[0].end_line) == (2, 7)


@pytest.mark.parametrize(
    "clause",
    ["try:\n        {}\n    finally:\n        boring()", "for x in y:\n        {}\n    else:\n        boring()"],
)
def test_a_cut_inside_a_clause_leaves_the_other_clauses_right(clause: str) -> None:
    inner = "with zebra as quagga:\n            okapi(quagga, zebra)"
    text = f"def boring():\n    {clause.format(inner)}\n    return boring\n"

    pruned = prune_text(text, "boring boring boring")

    ast.parse(pruned.content)
    assert pruned.cuts


def test_a_one_line_suite_is_cut_whole() -> None:
    pruned = prune_text("def boring(x):\n    if zebra: quagga(okapi)\n    return boring\n", "boring")

    assert pruned.content == b"def boring(x):\n    return boring\n"


def test_a_comment_after_the_block_is_removed_with_it() -> None:
    text = "def boring(x):\n    if zebra:\n        quagga(okapi)  # gnu\n    return boring\n"

    assert prune_text(text, "boring").content == b"def boring(x):\n    return boring\n"


def test_windows_line_ends_stay() -> None:
    text = "def boring(s):\r\n    boring(s)\r\n    while s:\r\n        if zebra:\r\n            quagga(okapi)\r\n"

    pruned = prune_text(text, "while boring s pass")

    assert pruned.content == b"def boring(s):\r\n    boring(s)\r\n    while s:\r\n        pass\r\n"


def test_tabs_stay() -> None:
    text = "def boring(sentence):\n\twhile sentence:\n\t\tif zebra:\n\t\t\tquagga(okapi)\n\treturn boring\n"

    pruned = prune_text(text, "while boring sentence return pass")

    assert pruned.content == b"def boring(sentence):\n\twhile sentence:\n\t\tpass\n\treturn boring\n"


def test_offsets_are_bytes_where_the_text_is_not_ascii() -> None:
    text = "def boring(x):\n    é = 'ünïcödé 日本'\n    if zebra:\n        quagga('日本')\n    return boring\n"

    assert prune_text(text, "boring").content.decode() == (
        "def boring(x):\n    é = 'ünïcödé 日本'\n    return boring\n"
    )


def test_text_at_the_end_without_a_line_break_gets_none() -> None:
    text = "def boring(x):\n    boring()\n    if zebra:\n        quagga(okapi)"

    assert prune_text(text, "boring").content == b"def boring(x):\n    boring()"


def test_a_method_is_parsed_at_its_indentation() -> None:
    text = b"def boring(self):\n        if zebra:\n            quagga(okapi)\n        return boring"
    branches = [Nested("a", "if", 26, 61, 11, 12)]

    pruned = prune(ENCODER, encode("boring"), text, b"    ", branches)

    assert pruned.content == b"def boring(self):\n        return boring"
    assert pruned.cuts[0].start_line == 11


def test_a_body_that_begins_with_the_branch_begins_with_the_next_code() -> None:
    text = b"if zebra:\n        quagga(okapi)\n\n    boring()\n    return boring"

    pruned = prune(ENCODER, encode("boring"), text, b"    ", [Nested("a", "if", 0, 31, 2, 3)])

    assert pruned.content == b"boring()\n    return boring"


def test_the_only_statement_of_a_body_is_kept_with_the_reason() -> None:
    text = b"if zebra:\n        quagga(okapi)"
    query = -encode("zebra quagga okapi if")  # less than the similarity of nothing at all

    pruned = prune(ENCODER, query, text, b"    ", [Nested("a", "if", 0, len(text), 2, 3)])

    assert pruned.content == text
    assert pruned.refused == ("if at lines 2-3 kept: nothing else would be left",)


def test_a_gain_that_pass_undoes_is_refused() -> None:
    text = "def boring():\n    boring\n    while boring:\n        if zebra:\n            quagga\n"
    question = encode("def boring while") - 3 * encode("pass")
    question /= np.float32(np.linalg.norm(question))

    pruned = prune(ENCODER, question, text.encode(), b"", find_branches(text.encode()))

    assert "if at lines 4-5 kept: with `pass` in its place the score would not rise" in pruned.refused
    assert_no_farther(question, text.encode(), pruned)


def test_a_branch_whose_removal_breaks_the_text_is_refused() -> None:
    text = b"def boring():\n    zebra = (quagga,\n        okapi)\n    return boring\n"
    branch = Nested("a", "if", text.index(b"quagga"), text.index(b")\n    return") + 1, 2, 3)

    pruned = prune(ENCODER, encode("boring"), text, b"", [branch])

    assert (pruned.content, pruned.refused) == (text, ("if at lines 2-3 kept: the rest would not parse",))


def test_bodies_are_no_branches() -> None:
    text = b"def boring():\n    zebra(quagga)\n"

    pruned = prune(ENCODER, encode("boring"), text, b"", [Nested("a", "body", 18, 31, 2, 2)])

    assert (pruned.tried, pruned.cuts) == (0, ())


def test_equal_gains_go_to_fewer_lines_and_then_to_the_earlier_branch() -> None:
    long, short = "    if zebra:\n\n        quagga\n", "    if zebra:\n        quagga\n"
    text = f"def boring():\n{long}{short}{short}    return boring\n"

    pruned = prune_text(text, "boring")

    assert [(cut.start_line, cut.end_line) for cut in pruned.cuts] == [(5, 6)]


def test_more_steps_cut_on_until_nothing_gains_and_report_lines_of_the_file() -> None:
    first, second = "        if quagga:\n            okapi(gnu)\n", "    if zebra:\n        okapi()\n"
    text = f"def boring():\n    while boring:\n{first}        boring()\n{second}    return boring\n"

    once, often = prune_text(text, "boring while return"), prune_text(text, "boring while return", steps=9)

    assert len(once.cuts) == 1
    assert sorted((cut.start_line, cut.end_line) for cut in often.cuts) == [(3, 4), (6, 7)]
    assert often.content == b"def boring():\n    while boring:\n        boring()\n    return boring\n"
    assert often.gain > once.gain


def test_an_owner_that_ended_with_an_earlier_cut_can_be_cut_afterwards() -> None:
    inner = "        for x in okapi:\n            quagga(quagga, quagga)\n"
    text = f"def boring():\n    if zebra:\n        boring = gnu\n{inner}    return boring\n"

    pruned = prune_text(text, "boring", steps=2)

    assert pruned.content == b"def boring():\n    return boring\n"


def test_more_branches_than_the_limit_are_counted_and_the_largest_tried() -> None:
    blocks = "".join("    if zebra:\n        quagga()\n" for _ in range(9))
    text = f"def boring():\n{blocks}    if zebra:\n        quagga(okapi, okapi)\n    return boring\n"

    pruned = prune_text(text, "boring", limit=1)

    assert pruned.tried == 1
    assert pruned.cuts[0].start_line == 20
    assert pruned.refused == ("9 of 10 branches not tried: the limit is 1, largest first",)


def test_python_2_is_judged_by_tree_sitter_and_keeps_its_suites_filled() -> None:
    inner = '        if zebra:\n            print "quagga"\n'
    text = f'def boring(sentence):\n    while sentence:\n{inner}    print "boring"\n'

    pruned = prune_text(text, "while boring sentence print pass")

    assert pruned.content == b'def boring(sentence):\n    while sentence:\n        pass\n    print "boring"\n'


@pytest.mark.parametrize("hostile", ["x = '\\d'", "x = " + "(" * 500 + ")" * 500, "x = 1 is 1", "x = '\ufeff\u2028'"])
def test_odd_code_is_pruned_without_a_warning_or_a_crash(hostile: str) -> None:
    text = f"def boring():\n    {hostile}\n    if zebra:\n        quagga(okapi)\n    return boring\n"

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pruned = prune_text(text, "boring")

    assert_no_farther(encode("boring"), text.encode(), pruned)


def test_a_nul_byte_makes_every_cut_impossible_and_nothing_worse() -> None:
    text = b"def boring():\n    x = '\0'\n    if zebra:\n        quagga(okapi)\n    return boring\n"

    pruned = prune(ENCODER, encode("boring"), text, b"", [Nested("a", "if", 31, 66, 3, 4)])

    assert_no_farther(encode("boring"), text, pruned)


WORDS = ("boring", "sentence", "zebra", "quagga", "okapi", "gnu")


@st.composite
def suites(draw: st.DrawFn, depth: int = 0) -> list[str]:
    """Draw the lines of one suite, compound statements nested up to three deep."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        word = draw(st.sampled_from(WORDS))
        form = draw(st.sampled_from(("call", "call", "comment", "if", "else", "for", "try", "with", "inline")))
        if form == "comment":
            lines.append(f"# {word}")
        elif form == "call" or depth == 3:
            lines.append(f"{word}({draw(st.sampled_from(WORDS))})")
        elif form == "inline":
            lines.append(f"if {word}: {word}()")
        else:
            head, tail = _HEADS[form]
            lines.append(head.format(word))
            lines += textwrap.indent("\n".join(draw(suites(depth + 1))), "    ").split("\n")
            lines += tail
    return lines if any(not line.lstrip().startswith("#") for line in lines) else [*lines, "gnu()"]


_HEADS = {
    "if": ("if {}:", []),
    "else": ("if {}:\n    pass\nelse:", []),
    "for": ("for x in {}:", ["else:", "    okapi()"]),
    "try": ("try:", ["finally:", "    gnu()"]),
    "with": ("with {} as y:  # boring", []),
}


@given(suites(), st.sampled_from(WORDS), st.integers(1, 4), st.sampled_from(["", "    ", "\t"]), st.booleans())
def test_the_result_parses_scores_no_less_and_lacks_only_the_cut_lines(
    body: list[str], word: str, steps: int, indent: str, windows: bool
) -> None:
    whole = textwrap.indent("def boring(sentence):\n" + textwrap.indent("\n".join(body), "    ") + "\n", indent)
    text = (f"class A:\n{whole}" if indent else whole).replace("\n", "\r\n" if windows else "\n").encode()
    unit = extract_unit(text)
    span = next(item.span for item in unit.definitions if isinstance(item, Function))
    branches = [
        Nested(b.path, b.kind, b.span.start - span.start, b.span.end - span.start, b.span.start_line, b.span.end_line)
        for b in unit.blocks
    ]

    pruned = prune(ENCODER, encode(word), text[span.start : span.end], indent.encode(), branches, steps)

    ast.parse(text[: span.start] + pruned.content)
    assert_no_farther(encode(word), text[span.start : span.end], pruned)
    assert len(pruned.cuts) <= steps
    gone = {line for cut in pruned.cuts for line in range(cut.start_line, cut.end_line + 1)}
    lines = text[: span.end].splitlines()
    kept = [lines[n - 1].strip() for n in range(span.start_line, span.end_line + 1) if n not in gone]
    left = [line.strip() for line in pruned.content.splitlines()]
    assert [line for line in left if line and line != b"pass"] == [line for line in kept if line and line != b"pass"]
