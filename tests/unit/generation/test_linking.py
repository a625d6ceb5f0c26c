"""A helper that an answer calls is inserted into it, with its imports and callees."""

from __future__ import annotations

from typing import Any

from pkg.generation.linking import Piece, explain_unusable, link_pieces

SPLIT = Piece("split", "dates.py:1", "def split(text):\n    return SIGN.split(text)", ("from signs import SIGN",))
PLAIN_SPLIT = Piece("split", "dates.py:9", "def split(text):\n    return re.split('-', text)", ("import re",))
TOTAL = Piece("total", "dates.py:5", "def total(text):\n    return sum(map(int, split(text)))")


def run(code: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(code, names)
    return names


def test_a_called_helper_brings_its_callees_and_imports() -> None:
    linked = link_pieces("import os\n\ndef double(text):\n    return 2 * total(text)\n", [TOTAL, PLAIN_SPLIT])
    assert [each.name for each in linked.added] == ["total", "split"]
    assert linked.missing == ()
    assert run(linked.code)["double"]("1-2") == 6


def test_complete_code_is_unchanged() -> None:
    code = "def total(text):\n    return split(text)\n\ndef split(text):\n    return text\n"
    assert link_pieces(code, [TOTAL, PLAIN_SPLIT]).code == code


def test_an_undefined_name_is_reported() -> None:
    linked = link_pieces("def f():\n    return total(nowhere)\n", [TOTAL])
    assert linked.missing == ("split", "nowhere")


def test_a_top_level_statement_finds_the_helper_above_it() -> None:
    code = '"""Module."""\nfrom __future__ import annotations\n\nresult = total("1-2")\n'
    linked = link_pieces(code, [TOTAL, PLAIN_SPLIT])
    assert linked.code.startswith('"""Module."""\nfrom __future__ import annotations\n')
    assert run(linked.code)["result"] == 3


def test_code_with_a_syntax_error_is_unchanged() -> None:
    assert link_pieces("def f(:\n", [TOTAL]).code == "def f(:\n"


def test_pieces_that_call_each_other_are_inserted_once() -> None:
    even = Piece("even", "n.py:1", "def even(n):\n    return n == 0 or odd(n - 1)")
    odd = Piece("odd", "n.py:5", "def odd(n):\n    return n != 0 and even(n - 1)")
    linked = link_pieces("def f(n):\n    return even(n)\n", [odd, even])
    assert sorted(each.name for each in linked.added) == ["even", "odd"]
    assert run(linked.code)["f"](4)


def test_a_helper_of_python_2_or_with_undefined_names_is_unusable() -> None:
    assert explain_unusable(Piece("f", "a.py:1", "def f():\n    print 'x'"), []) == "it has a syntax error in Python 3"
    assert explain_unusable(TOTAL, [TOTAL]) == "undefined: split"
    assert explain_unusable(TOTAL, [TOTAL, PLAIN_SPLIT]) == ""
    assert explain_unusable(SPLIT, []) == ""


def test_an_import_of_the_standard_library_is_added_to_helper_and_answer() -> None:
    helper = Piece("last", "a.py:1", "def last(items):\n    return deque(items, maxlen=1).pop()")
    code = "def f(items: Iterable[Any]) -> str:\n    return json.dumps([last(items), datetime(2020, 1, 2).year])\n"
    linked = link_pieces(code, [helper])
    assert (linked.missing, [each.name for each in linked.added]) == ((), ["last"])
    assert run(linked.code)["f"]([1, 2]) == "[2, 2020]"
    assert explain_unusable(helper, []) == ""


def test_an_import_of_a_helper_answers_a_name_of_the_answer() -> None:
    helper = Piece("zeros", "a.py:1", "def zeros(n):\n    return xp.zeros(n)", ("import numpy as xp",))
    linked = link_pieces("def f():\n    return xp.ones(2).sum() + np.ones(1).sum()\n", [helper])
    assert (linked.added, linked.imports) == ((), ("import numpy as np", "import numpy as xp"))
    assert run(linked.code)["f"]() == 3


def test_annotations_do_not_make_a_helper_unusable() -> None:
    helper = Piece("head", "a.py:1", 'def head(frame: "DataFrame", series: Series) -> DataFrame:\n    return frame[0]')
    assert explain_unusable(helper, []) == ""
    linked = link_pieces('"""Module."""\nimport os\n\ndef f(frame):\n    return head(frame, None)\n', [helper])
    assert linked.code.startswith('"""Module."""\nfrom __future__ import annotations\nimport os\n')
    assert run(linked.code)["f"]([3]) == 3


def test_code_without_undefined_names_keeps_its_annotations() -> None:
    code = "def f(text: str) -> int:\n    return len(text)\n"
    assert link_pieces(code, []).code == code
