"""The list of words that compounds are split by: what counts as a word, and which come first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mining import Mined
from word_list import FEWEST_CODE, FEWEST_PROSE, list_words, write_words

from pkg.terms.words import Compounds


def mine(code: str = "", paragraph: str = "", comment: str = "") -> Mined:
    return Mined("shop/cart.py", "add", [paragraph], [comment], code, [], code)


def repeat(packages: int, *functions: Mined) -> Iterator[Iterator[Mined]]:
    return (iter(functions) for _ in range(packages))


def test_a_word_of_prose_counts_where_enough_packages_write_it() -> None:
    assert list_words(repeat(FEWEST_PROSE, mine(paragraph="Count rows."))) == ["count", "rows"]
    assert list_words(repeat(FEWEST_PROSE - 1, mine(paragraph="Count rows."))) == []


def test_a_word_of_code_stands_between_underscores() -> None:
    assert list_words(repeat(FEWEST_CODE, mine("fmt_date getrow __init__ aCamel MAX_SIZE"))) == ["date", "fmt"]


def test_identifiers_in_prose_are_no_words() -> None:
    said = mine(paragraph="Call getrow() or self.putrow of row_view here.", comment="getcol(x)")
    assert list_words(repeat(FEWEST_PROSE, said)) == ["call", "here", "of", "or"]


def test_the_commonest_come_first_and_packages_count_alike() -> None:
    small = [mine(paragraph="graph"), mine(paragraph="graph")]
    large = [mine(paragraph="plot")] * 50 + [mine(paragraph="graph plot")]
    packages = [iter(small) for _ in range(FEWEST_PROSE)] + [iter(large) for _ in range(FEWEST_PROSE)]
    assert list_words(packages) == ["graph", "plot"]


def test_words_that_are_split_themselves_are_marked(tmp_path: Path) -> None:
    write_words(["set", "default", "name", "filename", "file", *"abcdefgh", "setdefault"], tmp_path / "words")
    lines = (tmp_path / "words").read_text().split()
    assert lines == ["set", "default", "name", "filename", "file", *"abcdefgh", "setdefault+"]
    assert Compounds(lines)["setdefault"] == ("set", "default")
    assert Compounds(lines)["setdefaults"] == Compounds([*lines[:-1], "setdefault"])["setdefaults"]


def test_single_letters_and_repeated_ones_are_no_words() -> None:
    assert list_words(repeat(FEWEST_CODE, mine("x_xxx_aa_ab"))) == ["ab"]
