from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from pkg.errors import UsageError
from pkg.model import NodeFilter
from pkg.retrieval.query_options import (
    DEFAULT_OPTIONS,
    MODES,
    Mode,
    QueryOptions,
    block_kinds,
    check_options,
    node_filter,
)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            QueryOptions(mode=cast(Any, "folder")),
            "unknown mode 'folder'; expected one of: block, function, both, declaration, file",
        ),
        (QueryOptions(blocks=cast(Any, "outer")), "unknown blocks 'outer'; expected one of: all, inner, body"),
        (
            QueryOptions(kind=cast(Any, "lambda")),
            "unknown kind 'lambda'; expected one of: body, if, for, while, with, try, match",
        ),
        (QueryOptions(top_k=0), "top_k is 0; expected 1 or more"),
        (QueryOptions(budget=-1), "budget is -1; expected 0 or more"),
        (QueryOptions(prune_steps=0), "prune_steps is 0; expected 1 or more"),
        (QueryOptions(hops=-2), "hops is -2; expected 0 or more"),
        (QueryOptions(mode="function", kind="if"), "kind and blocks narrow blocks, and mode is 'function'"),
        (QueryOptions(mode="function", blocks="body"), "kind and blocks narrow blocks, and mode is 'function'"),
        (QueryOptions(blocks="body", kind="if"), "no block is both 'body' and 'if'"),
        (QueryOptions(blocks="inner", kind="body"), "no block is both 'inner' and 'body'"),
    ],
)
def test_options_that_cannot_be_meant_are_usage_errors(options: QueryOptions, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_options(options)

    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("mode", MODES)
def test_defaults_are_fine_in_every_mode(mode: Mode) -> None:
    check_options(replace(DEFAULT_OPTIONS, mode=mode, top_k=10**9))


def test_blocks_and_kind_together_name_the_kinds() -> None:
    assert block_kinds(QueryOptions()) is None
    assert block_kinds(QueryOptions(blocks="body")) == frozenset({"body"})
    assert block_kinds(QueryOptions(blocks="inner")) == frozenset({"if", "for", "while", "with", "try", "match"})
    assert block_kinds(QueryOptions(blocks="inner", kind="for")) == frozenset({"for"})


def test_the_filter_carries_source_path_and_kinds() -> None:
    options = QueryOptions(source="demo", path="a/*", kind="if")

    assert node_filter(options) == NodeFilter("demo", ("a/*",), frozenset({"if"}))
