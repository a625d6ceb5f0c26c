"""Choose the prompt template for a model."""

from __future__ import annotations

import re

from pkg.errors import UsageError
from pkg.generation.prompt_templates.own_templates import (
    write_brief,
    write_header,
    write_primed,
    write_raw,
    write_similar,
)
from pkg.generation.prompt_templates.paper_templates import (
    write_codellama,
    write_deepseek,
    write_generic,
    write_llama31,
    write_qwen,
    write_starcoder2,
)
from pkg.generation.prompt_templates.prompt_template import PromptTemplate, Write
from pkg.models.text_model import TextModel

AUTO, PAPER = "auto", "paper"
_WRITE: dict[str, Write] = {
    "brief": write_brief,
    "primed": write_primed,
    "raw": write_raw,
    "header": write_header,
    "similar": write_similar,
    "generic": write_generic,
    "codellama": write_codellama,
    "starcoder2": write_starcoder2,
    "deepseek": write_deepseek,
    "llama31": write_llama31,
    "qwen": write_qwen,
}
TEMPLATES = {name: PromptTemplate(name, write, write_brief) for name, write in _WRITE.items()}
"""Prompt templates by name; tasks that do not ask for a program are written as `brief` writes them."""

TEMPLATE_NAMES = (AUTO, PAPER, *TEMPLATES)

_FAMILIES = {
    "codellama": re.compile(r"code[-_ ]?llama"),
    "starcoder2": re.compile(r"starcoder|starchat"),
    "deepseek": re.compile(r"deepseek"),
    "llama31": re.compile(r"llama[-_ ]?3"),
    "qwen": re.compile(r"qwen|qwq"),
}
"""Patterns of the model names of a family, in lower case."""


def choose_template(name: str, model: TextModel) -> PromptTemplate:
    """Return the template of a name, or for `auto` and `paper` the one for the model.

    `auto` begins the answer if the model can continue one; `paper` is the papers' template for the model's family.
    Raises UsageError for an unknown name.
    """
    if name == AUTO:
        return TEMPLATES["primed" if model.can_prime else "brief"]
    if name == PAPER:
        return TEMPLATES[find_family(model.name)]
    check_template(name)
    return TEMPLATES[name]


def check_template(name: str) -> None:
    """Raise UsageError for an unknown template name."""
    if name not in TEMPLATE_NAMES:
        raise UsageError(f"no prompt template {name!r}; expected one of: {', '.join(TEMPLATE_NAMES)}")


def find_family(name: str) -> str:
    """Return the template of a model's family, which the last match in its name decides, or `generic`.

    The address of a service, after an @, is ignored.
    """
    plain = name.partition("@")[0].lower()
    found = [(each.start(), family) for family, pattern in _FAMILIES.items() for each in pattern.finditer(plain)]
    return max(found)[1] if found else "generic"
