"""Code is extracted from every kind of wrapping, and prose is not code."""

from __future__ import annotations

import json

import pytest

from pkg.rerank.extraction import extract_code
from pkg.rerank.parsed_question import parse_question
from pkg.rerank.wrappings import list_unwrapped

CODE = "def half(n):\n    if n < 0:\n        return -half(-n)\n    return n / 2"
SHORT = "def half(n): return n / 2"
QUESTION = parse_question("Write the function `half`.")
NUMBERED = CODE.split("\n")
TYPED = "\n".join(f"{'In [3]: ' if not place else '   ...: '}{line}" for place, line in enumerate(NUMBERED))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("\n".join(f"> {line}" for line in NUMBERED), CODE),
        ("You wrote:\n>\n> ```python\n" + "\n".join(f"> {line}" for line in NUMBERED) + "\n> ```\n", CODE),
        (json.dumps({"code": CODE}), CODE),
        (json.dumps([{"message": {"content": f"```python\n{CODE}\n```"}}]), CODE),
        (f"<tool_call>\n{json.dumps({'name': 'run', 'arguments': json.dumps({'source': CODE})})}\n</tool_call>", CODE),
        (json.dumps({"cells": [{"source": [f"{line}\n" for line in NUMBERED]}]}), CODE),
        (f'<invoke name="submit"><parameter name="code">{CODE.replace("<", "&lt;")}</parameter></invoke>', CODE),
        (f"<function=submit>\n<parameter=code>\n{CODE}\n</parameter>\n</function>", CODE),
        (f"<p>So:</p><pre><code>{CODE.replace('<', '&lt;')}</code></pre>", CODE),
        ("--- a/h.py\n+++ b/h.py\n@@ -1,3 +1,4 @@\n-def half(n): pass\n" + "\n".join(f"+{e}" for e in NUMBERED), CODE),
        ("\n".join(f"{number}: {line}" for number, line in enumerate(NUMBERED, 1)), CODE),
        ("\n".join(f"{number:3} | {line}" for number, line in enumerate(NUMBERED, 8)), CODE),
        ("\n".join(f"{number}.  {line}" for number, line in enumerate(NUMBERED, 1)), CODE),
        (f"```\n{TYPED}\n   ...:\n\nIn [4]: half(3)\nOut[4]: 1.5\n```", CODE),
        (f"Take `{SHORT}`.", SHORT),
        (f"Take ``{SHORT}`` or leave it.", SHORT),
        (f"```python {SHORT}```", SHORT),
        (f"```\n\u200b{CODE}\n```", CODE),
        (CODE.replace("return n", "return\u200b n"), CODE),
        (CODE.replace("    return n", "\u00a0\u00a0\u00a0\u00a0return n"), CODE),
    ],
    ids=range(20),
)
def test_the_code_is_taken_out(text: str, code: str) -> None:
    assert extract_code(text, QUESTION).code.startswith(code)


@pytest.mark.parametrize(
    "text",
    [
        "I cannot help with that.",
        "No.",
        "Sorry, if you want this function, ask somebody else.",
        "return policies do not allow that",
        "import of such code is forbidden here",
        "> I will not write that.",
        '{"error": "refused"}',
        "1. I will not.\n2. Request again.",
        "<p>No.</p>",
        "I won't write `half` for you.",
    ],
)
@pytest.mark.parametrize("query", ["Write the function `half`.", 'def half(n):\n    """Return half of n."""\n'])
def test_prose_that_refuses_is_no_code(text: str, query: str) -> None:
    assert "half(" not in extract_code(text, parse_question(query)).code


def test_valid_code_is_preferred_to_unwrapped_code() -> None:
    code = 'def half(n):\n    """Return half.\n\n    > def half(n): return 0\n    """\n    return "\u200b", n / 2'
    assert extract_code(code, QUESTION).code == code


@pytest.mark.parametrize("text", ["{" * 5000, '["' * 3000, "> " * 3000, "<pre>" * 2000, "1: " * 2000, "`" * 5001])
def test_hostile_texts_end(text: str) -> None:
    assert all(isinstance(found, str) for found, _ in list_unwrapped(text))
