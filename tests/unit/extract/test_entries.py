from __future__ import annotations

import os

from hypothesis import given
from hypothesis import strategies as st

from pkg.extract.files import print_path, restore_path

names = st.one_of(
    st.binary(max_size=6).map(os.fsdecode), st.text(alphabet="\\xe9\u00e9\u00a0\udce9\n\U000e0001", max_size=8)
)


@given(names, names)
def test_every_path_is_printable_and_distinct(one: str, other: str) -> None:
    assert print_path(one).isprintable()
    assert (print_path(one) == print_path(other)) == (one == other)
    assert restore_path(print_path(one)) == one


@given(st.from_regex(r"[\w./ -]*", fullmatch=True))
def test_a_printable_path_stays_as_it_is(path: str) -> None:
    assert not path.isprintable() or print_path(path) == path
