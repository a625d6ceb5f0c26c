"""Words by which text models tell who speaks and where a text ends: in code that is quoted they are broken.

A tokenizer turns each into one control token wherever it stands, so a repository could end the prompt or speak as its
author. A blank behind the first character is enough against that, shows, and leaves what a person reads: `<|im_end|>`
becomes `< |im_end|>`. A broken word gets another blank, so taking one away from each gives back what was quoted.
"""

from __future__ import annotations

import re

_NAMES = r"[A-Za-z0-9_:/.\-\u2581]{1,60}"  # of tokens in bars
_STARCODER = "fim_prefix|fim_middle|fim_suffix|fim_pad|fim-prefix|fim-middle|fim-suffix|fim-pad|gh_stars|issue_start"
_STARCODER += "|issue_comment|issue_closed|jupyter_start|jupyter_text|jupyter_code|jupyter_output|jupyter_script"
_STARCODER += "|empty_output|commit_before|commit_msg|commit_after|reponame|repo_name|file_sep"
_MISTRAL = "AVAILABLE_TOOLS|TOOL_RESULTS|SYSTEM_PROMPT|TOOL_CONTENT|TOOL_CALLS|THINK"
_HEADINGS = "Instructions?|Response|Input|Output|Human|User|Assistant|System|Question|Answer"

_LINE_END = r"[:\r\n\v\f\x1c-\x1e\x85\u2028\u2029]|\Z"  # or a colon

SPECIAL_TOKENS = {
    # where it is from: what follows the first character, and that one in front
    "ChatML, Qwen, Llama 3, Phi, Zephyr, Command R, gpt-oss: <|name|>": ("<", rf"\|{_NAMES}\|>"),
    "DeepSeek: the same with wide bars": ("<", rf"\uff5c{_NAMES}\uff5c>"),
    "StarCoder, SantaCoder, Granite: <fim_prefix>": ("<", rf"(?:{_STARCODER})>"),
    "Llama 2, Mistral, T5: <s>, </s>, <unk>, <pad>": ("<", r"/?(?:s|unk|pad)>"),
    "Gemma: <bos>, <start_of_turn>": ("<", r"(?:bos|eos|(?:start|end)_of_(?:turn|image)|unused\d+)>"),
    "Code Llama: <PRE>, <SUF>, <MID>, <EOT>, <FILL_ME>": ("<", "(?:PRE|SUF|MID|EOT|FILL_ME)>"),
    "Llama 2: <<SYS>>": ("<", "</?SYS>>"),
    "Qwen 3, DeepSeek R1, Hermes: <think>, <tool_call>": ("<", "/?(?:think|tool_call|tool_response)>"),
    "T5, CodeT5: <extra_id_0>": ("<", r"extra_id_\d+>"),
    "ChatGLM, InternLM: <sop>, <eoh>": ("<", "(?:sop|eop|eoh|eoa|eom)>"),
    "Llama 2, Mistral: [INST]": (r"\[", r"/?INST\]"),
    "Mistral: [TOOL_CALLS]": (r"\[", rf"/?(?:{_MISTRAL})\]"),
    "Code Llama: [PYTHON], [/TESTS]": (r"\[", r"(?:/?PYTHON|/TESTS)\]"),
    "ChatGLM: [gMASK]": (r"\[", r"(?:gMASK|sMASK)\]"),
    "Falcon: >>QUESTION<<": (">", ">(?:QUESTION|ANSWER|TITLE|ABSTRACT|INTRODUCTION|SUMMARY|COMMENT|DOMAIN)<<"),
    "Alpaca, WizardCoder, DeepSeek Coder: ### Response:": ("#", rf"## ?(?:{_HEADINGS})[ \t]*(?:{_LINE_END})"),
}
"""Where a token is used, with its first character and what follows it, both as patterns.

Left out are words that ordinary code holds in the same form and that do no more than mark a place: <filename> in the
usage of a command, [SUFFIX] behind the name of a table.
"""

_NOT_A_GROUP = r"(?<!\(\?P)"  # the name of a group in a regular expression, as in (?P<pad>...), is ordinary code
_BROKEN = re.compile(
    "|".join(f"{_NOT_A_GROUP if first == '<' else ''}{first}(?= *{rest})" for first, rest in SPECIAL_TOKENS.values())
)


def break_tokens(text: str) -> str:
    """Put a blank behind the first character of each special token; text without one stays as it is."""
    return _BROKEN.sub(r"\g<0> ", text)
