from __future__ import annotations

import pytest

from pkg.retrieval.pruning.prune import excise


def cut(text: str, block: str, indent: str = "") -> tuple[bytes, bytes]:
    """Return the likely and the other remainder without the block."""
    start = text.encode().index(block.encode())
    likely, other = excise(text.encode(), start, start + len(block.encode()), indent.encode()).remainders
    return likely.text, other.text


def test_whole_lines_are_removed_for_a_block_alone_on_them() -> None:
    likely, other = cut("a\nif x:\n    y\nb\n", "if x:\n    y")

    assert likely == b"a\nb\n"
    assert other == b"a\npass\nb\n"


def test_a_block_beside_other_code_goes_without_its_line() -> None:
    likely, other = cut("a; if x: y\nb\n", "if x: y")

    assert (likely, other) == (b"a; \nb\n", b"a; pass\nb\n")


@pytest.mark.parametrize("header", ["while a:", "while a:  # why: so", "def f(\n    a,\n):", "else:"])
def test_pass_is_likely_after_a_header_that_loses_its_suite(header: str) -> None:
    likely, _ = cut(f"{header}\n    # note\n    if x:\n        y\n\nb\n", "if x:\n        y")

    assert likely == f"{header}\n    # note\n    pass\n\nb\n".encode()


def test_pass_is_unlikely_when_the_suite_goes_on() -> None:
    likely, _ = cut("while a:\n    if x:\n        y\n    b\n", "if x:\n        y")

    assert likely == b"while a:\n    b\n"


def test_at_the_start_of_a_text_the_next_code_takes_the_place_of_the_first() -> None:
    likely, other = cut("if x:\n        y\n\n    b\n    c", "if x:\n        y", indent="    ")

    assert likely == b"b\n    c"
    assert other == b"pass\n\n    b\n    c"


def test_a_block_that_is_all_the_code_leaves_nothing() -> None:
    text = b"# note\nif x:\n    y\n# end\n"

    assert excise(text, 7, 18, b"").leaves_nothing
    assert not excise(b"a\n" + text, 9, 20, b"").leaves_nothing
