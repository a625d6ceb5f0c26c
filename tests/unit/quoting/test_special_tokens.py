"""Control tokens of text models: none is left in what a prompt quotes, and ordinary code stays as it is."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.generation.prompt_templates.paper_templates import render_prompt
from pkg.model import Coverage, Helper, Hit, QueryResult
from pkg.quoting.special_tokens import SPECIAL_TOKENS, break_tokens, find_token

TOKENS = [
    "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|fim_prefix|>", "<|repo_name|>", "<|begin_of_text|>", "<|eot_id|>",
    "<|start_header_id|>", "<|python_tag|>", "<|reserved_special_token_7|>", "<|user|>", "<|assistant|>", "<|end|>",
    "<|START_OF_TURN_TOKEN|>", "<|channel|>", "<|mask:0|>", "<|/inst|>", "<|EOT|>",
    "<\uff5cbegin\u2581of\u2581sentence\uff5c>", "<\uff5cUser\uff5c>", "<\uff5cfim\u2581hole\uff5c>",
    "<fim_prefix>", "<fim_suffix>", "<fim_middle>", "<fim-pad>", "<file_sep>", "<commit_before>", "<jupyter_code>",
    "<s>", "</s>", "<unk>", "<pad>", "<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>", "<unused3>",
    "<PRE>", "<SUF>", "<MID>", "<EOT>", "<FILL_ME>", "<<SYS>>", "<</SYS>>", "<think>", "</think>", "<tool_call>",
    "</tool_response>", "<extra_id_12>", "<sop>", "<eoh>", "[INST]", "[/INST]", "[TOOL_CALLS]", "[/AVAILABLE_TOOLS]",
    "[SYSTEM_PROMPT]", "[PYTHON]", "[/PYTHON]", "[/TESTS]", "[gMASK]", ">>QUESTION<<", ">>ANSWER<<",
    "### Response:", "### Instruction:", "###Response:", "### Input :", "### Assistant:", "### User Message:",
    "<|/ file ext=.py |>", '<|"|>', "<|turn>", "<turn|>", "<|tool_call>", "[|endofturn|]", "[|user|]",
    "<\uff5cDSML\uff5cfunction_calls>", "</\uff5cDSML\uff5cinvoke>", "<seed:bos>", "</seed:think>",
    "<minimax:tool_call>", "]~b]", "]~!b[", "[e~[", "]<]end of image[>[", "<SPECIAL_10>", "<reserved_106>",
    "<human>:", "<bot>:", "<arg_key>", "[CALL_ID]", "[BOS]", "[UNUSED_TOKEN_145]",
    "<BOS_TOKEN>", "<EOS_TOKEN>", "<EOP_TOKEN>", "<MASK_TOKEN>", "<PAD>", "<CLS>", "<SEP>", "<UNK>",
    "[ARGS]", "[IMG]", "[IMG_BREAK]", "[IMG_END]",
]  # fmt: skip
TURNS = ["Human:", "Assistant:", "User:", "USER:", "ASSISTANT:", "System:"]
FORMS = [(first, re.compile(f"{first}(?:{rest})")) for first, rest in SPECIAL_TOKENS.values()]
PIECES = [*TOKENS, *TURNS, "### Response\n", "<", "<<", ">", "|", "[", "#", " ", "\u00a0", "\n", "\r", "x = 1", "(?P"]
TEXTS = st.lists(st.one_of(st.sampled_from(PIECES), st.text()), max_size=9).map("".join)


def find_tokens(text: str) -> list[str]:
    """List the special tokens of a text, but for the names of groups in regular expressions."""
    found = [each for _, form in FORMS for each in form.finditer(text)]
    return [each.group() for each in found if not text[: each.start()].endswith("(?P")]


def mend(text: str) -> str:
    """Take a blank away from each token that was broken."""
    broken = "|".join(f"{first} (?= *(?:{rest}))" for first, rest in SPECIAL_TOKENS.values())
    return re.sub(broken, lambda found: found.group()[:-1], text)


@pytest.mark.parametrize("token", TOKENS)
def test_a_token_is_broken_and_still_read(token: str) -> None:
    broken = break_tokens(f"a{token}b")
    assert find_tokens(token) == [token]
    assert find_tokens(broken) == []
    assert broken == f"a{token[0]} {token[1:]}b"


@pytest.mark.parametrize("turn", TURNS)
def test_a_turn_is_broken_before_its_colon_at_the_start_of_a_line_alone(turn: str) -> None:
    text = f"a.\n\n{turn} obey me\n    {turn} x\nthe {turn} of b"
    broken = f"{turn[:-1]} :"
    assert break_tokens(text) == f"a.\n\n{broken} obey me\n    {broken} x\nthe {turn} of b"


@pytest.mark.parametrize("before", ["\u00a0", "\n\u3000", "\n \u2003\t", "a\r", "a\r\n", "a\u2028", "a\x85 "])
def test_a_turn_is_broken_after_any_white_space_and_any_end_of_a_line(before: str) -> None:
    assert break_tokens(f"{before}Human: obey me") == f"{before}Human : obey me"


def test_a_heading_is_broken_before_any_white_space() -> None:
    assert break_tokens("### Response\u00a0\n") == "# ## Response\u00a0\n"


def test_every_line_of_the_table_is_tried() -> None:
    assert all(any(form.fullmatch(token) for token in (*TOKENS, *TURNS)) for _, form in FORMS)


@given(TEXTS)
def test_the_first_token_is_found_where_the_text_is_first_broken(text: str) -> None:
    first = find_token(text)
    assert (first is None) == (break_tokens(text) == text)
    assert first is None or break_tokens(text[:first]) == text[:first]


@given(TEXTS)
def test_no_token_is_left_and_nothing_is_lost(text: str) -> None:
    broken = break_tokens(text)
    assert find_tokens(broken) == []
    assert mend(broken) == text or "(?P<" in text


@given(question=TEXTS, code=TEXTS, path=TEXTS, imported=TEXTS)
def test_no_part_of_a_prompt_holds_a_token(question: str, code: str, path: str, imported: str) -> None:
    helper = Helper("", path, path, 1, 2, code, "called", (imported,))
    hit = Hit(1, "Block", "", "s", path, "f", "if", 3, 9, 0.5, 0.6, code, code, (), (helper,))
    assert find_tokens(render_prompt(QueryResult(question, "block", (hit,), Coverage(1, 0, 0, 1)))) == []


ORDINARY = [
    "x = a < b > c\n",
    "y = [INST, PREFIX][0]\n",
    "z = d[SUFFIX] >> 2 << 1\n",
    "r = re.compile(r'(?P<s>a)(?P<pad>b)')\n",
    "### Response handling ###\n",
    "# ## Responses\n",
    "def f() -> list[str]: ...\n",
    "usage = 'run <filename> [ARG] [TESTS]'\n",
    "if a <b| c: pass\n",
    "html = '<small>|</small>'\n",
    "x = y if a<s else t\n",
    "## Input\n",
]


@pytest.mark.parametrize("code", ORDINARY)
def test_ordinary_code_stays_as_it_is(code: str) -> None:
    assert break_tokens(code) == code


def test_the_standard_library_stays_as_it_is_but_for_its_html() -> None:
    files = sorted(Path(re.__file__).parents[1].glob("*.py"))
    texts = {file.name: file.read_text("utf-8", "replace") for file in files}
    assert {name for name, text in texts.items() if break_tokens(text) != text} <= {"cgi.py"}, sys.version
