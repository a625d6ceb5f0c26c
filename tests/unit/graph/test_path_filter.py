from __future__ import annotations

import re

import pytest
from fakes import passes_path
from hypothesis import given
from hypothesis import strategies as st

from pkg.graph.path_filter import make_path_pattern
from pkg.model import NodeFilter

PATHS = ("a.py", "shop/a.py", "shop/old/a.py", "tests/a.py", "shop/test_b.py", "a[1].py", "line\nfeed.py")
GLOBS = ("*", "*.py", "shop/*", "*/old/*", "?.py", "[!s]*", "a[[]1].py", "*a*p*", "[", "shop/a.py")


@pytest.mark.parametrize(
    ("globs", "passing"),
    [
        ((), PATHS),
        (("shop/*",), ("shop/a.py", "shop/old/a.py", "shop/test_b.py")),
        (("shop/*", "!shop/old/*"), ("shop/a.py", "shop/test_b.py")),
        (("!shop/*",), ("a.py", "tests/a.py", "a[1].py", "line\nfeed.py")),
        (("!shop/*", "shop/old/*"), ("a.py", "shop/old/a.py", "tests/a.py", "a[1].py", "line\nfeed.py")),
        (("a.py", "tests/*"), ("a.py", "tests/a.py")),
    ],
)
def test_the_last_glob_that_matches_decides(globs: tuple[str, ...], passing: tuple[str, ...]) -> None:
    pattern = re.compile(make_path_pattern(NodeFilter(paths=globs)))

    assert tuple(path for path in PATHS if pattern.fullmatch(path)) == passing


GIVEN = st.builds("".join, st.tuples(st.sampled_from(["", "!"]), st.sampled_from(GLOBS)))


@given(st.lists(GIVEN, max_size=4).map(tuple), st.sampled_from([None, True, False]))
def test_one_pattern_equals_the_globs_in_order(globs: tuple[str, ...], tests: bool | None) -> None:
    where = NodeFilter(paths=globs, tests=tests)
    pattern = re.compile(make_path_pattern(where))

    assert [bool(pattern.fullmatch(path)) for path in PATHS] == [passes_path(path, where) for path in PATHS]


def test_patterns_have_no_group_that_java_lacks() -> None:
    pattern = make_path_pattern(NodeFilter(paths=("*a*b*", "!*c*d*", "e*f*g"), tests=True))

    assert not re.search(r"\(\?>|\(\?P|\\Z|\\z", pattern)
