"""What is said of calls that are chosen at run time: why they may lead elsewhere, and that loops end."""

from __future__ import annotations

import pytest
from unit.resolve.resolving import resolve_tree

from pkg.model import RelationType
from pkg.resolve.abstract_values import CONSTANT, TEXT
from pkg.resolve.text_ends import fill_braces, fill_percent, join_texts, match_pattern, match_text, write_pattern

CLASS = "class P:\n    def __getattr__(self, name):\n        return 1\n"


def test_an_attribute_that_is_made_at_run_time_stays_unbound_beside_the_method_that_makes_it() -> None:
    resolved = resolve_tree({"main.py": f"{CLASS}\n\ndef go():\n    P().foo()\n"})
    assert [call.reason for call in resolved.unbound()] == ["attribute made at run time (__getattr__)"]
    assert resolved.pairs(RelationType.CALLS)["main.go", "main.P.__getattr__"].confidence == "likely"


def test_a_name_of_which_nothing_is_known_says_so() -> None:
    resolved = resolve_tree({"main.py": f"{CLASS}\n\ndef go(p, name):\n    getattr(p, name)()\n"})
    assert [call.reason for call in resolved.unbound()] == ["attribute whose name is made at run time (getattr)"]


@pytest.mark.parametrize(
    "line",
    [
        "name = 'a' + name + 'b'",
        "name += 'c'",
        "name = f'{name}d{name}'",
        "name = '%s_e' % name",
        "act = partial(act, 1)",
        "act = partial(partial(act, name), name)",
    ],
)
def test_what_grows_in_a_loop_ends(line: str) -> None:
    head = "from functools import partial\n\n\nclass V:\n    def ab(self):\n        pass\n\n"
    loop = f"        for _ in range(9):\n            {line}\n        getattr(self, name)()\n"
    text = f"{head}    def go(self, name, act):\n{loop}"
    assert ("main.V.go", "main.V.go") not in resolve_tree({"main.py": text}).pairs(RelationType.CALLS)


def test_a_text_is_known_by_its_ends() -> None:
    literal, rest = frozenset({(CONSTANT, "on_")}), frozenset({(CONSTANT, "start"), (CONSTANT, "stop")})
    texts = join_texts(literal, rest, is_literal=True)
    assert {write_pattern(text) for text in texts} == {"on_start", "on_stop"}
    (text,) = join_texts(literal, frozenset({("?", "anything")}), is_literal=True)
    assert [name for name in ("on_start", "on_", "off_on_", "o") if match_text(text, name)] == ["on_start", "on_"]


@pytest.mark.parametrize(
    ("template", "pattern"),
    [("do_%s", "do_*"), ("%s_it", "*_it"), ("a%(b)sc%dd", "a*d"), ("100%", None), ("say %s", None), ("%s", None)],
)
def test_a_template_tells_what_stands_around_its_places(template: str, pattern: str | None) -> None:
    found = {write_pattern(text) for text in fill_percent(frozenset({(CONSTANT, template)}))}
    assert found == ({pattern} if pattern else set())


def test_braces_are_places_as_well() -> None:
    assert fill_braces(frozenset({(CONSTANT, "do_{}_{name!r:>4}")})) == {(TEXT, "do_", "", False)}


def test_a_pattern_is_matched_as_the_text_that_it_was_written_for() -> None:
    assert match_pattern("do_*_it", "do_a_it")
    assert not match_pattern("do_*_it", "do_it")
    assert match_pattern("whole", "whole")
    assert not match_pattern("whole", "wholes")
