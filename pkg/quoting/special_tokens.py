"""Words by which text models tell who speaks and where a text ends: in what a prompt quotes they are broken.

A tokenizer turns each into one control token wherever it stands, so a repository could end the prompt or speak as its
author. A blank after the first character is enough against that, shows, and leaves what a person reads: `<|im_end|>`
becomes `< |im_end|>`. Of a turn that is told by a word, such as `Human:`, the blank stands before the colon. A broken
word gets another blank, so taking one away from each gives back what was quoted.
"""

from __future__ import annotations

import re

_NAME = r"[A-Za-z_]\w{0,40}"
_STARCODER = "fim_prefix|fim_middle|fim_suffix|fim_pad|fim-prefix|fim-middle|fim-suffix|fim-pad|gh_stars|issue_start"
_STARCODER += "|issue_comment|issue_closed|jupyter_start|jupyter_text|jupyter_code|jupyter_output|jupyter_script"
_STARCODER += "|jupyter_error|empty_output|commit_before|commit_msg|commit_after|reponame|repo_name|file_sep"
_MISTRAL = "AVAILABLE_TOOLS|TOOL_RESULTS|SYSTEM_PROMPT|TOOL_CONTENT|TOOL_CALLS|MODEL_SETTINGS|BEGIN_AUDIO|THINK|CALL_ID"
_MISTRAL += "|ARGS|IMG|IMG_BREAK|IMG_END"
_HEADINGS = "Instructions?|Response|Input|Output|Human|User|User Message|Assistant|System|System Prompt|Question|Answer"
_CHANNELS = "think|tool_call|tool_response|arg_key|arg_value"

_BREAKS = r"\r\n\v\f\x1c-\x1e\x85\u2028\u2029"
_BLANKS = rf"[^\S{_BREAKS}]*"  # no-break and ideographic spaces too, which look like any other
_LINE_START = rf"(?<![^{_BREAKS}]){_BLANKS}"
_LINE_END = rf"{_BLANKS}(?:[:{_BREAKS}]|\Z)"  # or a colon

SPECIAL_TOKENS = {
    # where it is from: what follows the first character, and that one in front
    "ChatML, Qwen, Llama 3 and 4, Phi, Zephyr, Command R, Granite, gpt-oss: <|name|>": ("<", r"\|[^<>|\r\n]{1,60}\|>"),
    "Gemma 4: <|turn>, <turn|>": ("<", rf"(?:\|{_NAME}|{_NAME}\|)>"),
    "EXAONE: [|user|]": (r"\[", rf"\|{_NAME}\|\]"),
    "DeepSeek, Hunyuan: the same with wide bars": ("<", "/?\uff5c[^<>\uff5c\r\n]{1,60}\uff5c[^<>\r\n]{0,60}>"),
    "StarCoder, SantaCoder, Granite: <fim_prefix>": ("<", rf"(?:{_STARCODER})>"),
    "Llama 2, Mistral, T5: <s>, </s>, <unk>, <pad>": ("<", r"/?(?:s|unk|pad)>"),
    "Gemma: <bos>, <start_of_turn>": ("<", r"(?:bos|eos|(?:start|end)_of_(?:turn|image|audio)|unused\d+)>"),
    "Command R: <BOS_TOKEN>, <PAD>": ("<", r"(?:(?:BOS|EOS|EOP|MASK)_TOKEN|PAD|CLS|SEP|UNK)>"),
    "Code Llama: <PRE>, <SUF>, <MID>, <EOT>, <FILL_ME>": ("<", "(?:PRE|SUF|MID|EOT|FILL_ME)>"),
    "Llama 2: <<SYS>>": ("<", "</?SYS>>"),
    "Qwen 3, DeepSeek R1, GLM, Hermes: <think>, <tool_call>": ("<", f"/?(?:{_CHANNELS})>"),
    "Seed, MiniMax: <seed:bos>, <minimax:tool_call>": ("<", rf"/?(?:seed|minimax):{_NAME}>"),
    "MiniMax: ]~b], ]~!b[": (r"\]", r"~!?b[\[\]]"),
    "MiniMax: [e~[": (r"\[", r"e~\["),
    "MiniMax: ]<]end of image[>[": (r"\]", r"<\][\w ]{1,40}\[>\["),
    "T5, CodeT5, Nemotron: <extra_id_0>": ("<", r"extra_id_\d+>"),
    "Nemotron, Baichuan: <SPECIAL_10>, <reserved_106>": ("<", r"(?:SPECIAL|reserved)_\d+>"),
    "ChatGLM, InternLM: <sop>, <eoh>": ("<", "(?:sop|eop|eoh|eoa|eom)>"),
    "RedPajama: <human>:, <bot>:": ("<", "(?:human|bot)>:"),
    "Llama 2, Mistral: [INST]": (r"\[", r"/?INST\]"),
    "Mistral: [TOOL_CALLS], [ARGS], [IMG]": (r"\[", rf"/?(?:{_MISTRAL})\]"),
    "Code Llama: [PYTHON], [/TESTS]": (r"\[", r"(?:/?PYTHON|/TESTS)\]"),
    "ChatGLM: [gMASK]": (r"\[", r"(?:gMASK|sMASK)\]"),
    "Kimi, InternLM, Pangu: [BOS], [EOS], [UNUSED_TOKEN_145]": (r"\[", r"(?:BOS|EOS|UNUSED_TOKEN_\d+|unused\d+)\]"),
    "Falcon: >>QUESTION<<": (">", ">(?:QUESTION|ANSWER|TITLE|ABSTRACT|INTRODUCTION|SUMMARY|COMMENT|DOMAIN)<<"),
    "Alpaca, WizardCoder, DeepSeek Coder: ### Response:": ("#", rf"## ?(?:{_HEADINGS}){_LINE_END}"),
    "Claude 2, Vicuna, DeepSeek LLM, Falcon: Human: at the start of a line": (
        rf"{_LINE_START}(?:Human|HUMAN|User|USER|Assistant|ASSISTANT|System|SYSTEM)",
        r":(?!:)",
    ),
}
"""Where a token is used, with its first character and what follows it, both as patterns.

Left out are words that ordinary code holds in the same form and that do no more than mark a place: <filename> in the
usage of a command, [SUFFIX] after the name of a table. Where a model is shown a hole, those of its own family are
broken too (pkg.models.fim).
"""

_NOT_A_GROUP = r"(?<!\(\?P)"  # the name of a group in a regular expression, as in (?P<pad>...), is ordinary code
_BROKEN = re.compile(
    "|".join(f"{_NOT_A_GROUP if first == '<' else ''}{first}(?= *{rest})" for first, rest in SPECIAL_TOKENS.values())
)


def break_tokens(text: str) -> str:
    """Put a blank after the first character of each special token; text without one stays as it is."""
    return _BROKEN.sub(r"\g<0> ", text)


def find_token(text: str) -> int | None:
    """Return where the first special token of a text begins; None where there is none."""
    found = _BROKEN.search(text)
    return None if found is None else found.start()
