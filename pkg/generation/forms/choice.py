"""Choose the form of prompts for a model."""

from __future__ import annotations

import re

from pkg.errors import UsageError
from pkg.generation.forms.brief import write_brief
from pkg.generation.forms.codellama import write_codellama
from pkg.generation.forms.deepseek import write_deepseek
from pkg.generation.forms.generic import write_generic
from pkg.generation.forms.header import write_header
from pkg.generation.forms.llama31 import write_llama31
from pkg.generation.forms.primed import write_primed
from pkg.generation.forms.prompt_form import Form, Write
from pkg.generation.forms.qwen import write_qwen
from pkg.generation.forms.raw import write_raw
from pkg.generation.forms.starcoder2 import write_starcoder2
from pkg.models.text_model import TextModel

AUTO, PAPER = "auto", "paper"
_WRITE: dict[str, Write] = {
    "brief": write_brief,
    "primed": write_primed,
    "raw": write_raw,
    "header": write_header,
    "generic": write_generic,
    "codellama": write_codellama,
    "starcoder2": write_starcoder2,
    "deepseek": write_deepseek,
    "llama31": write_llama31,
    "qwen": write_qwen,
}
FORMS = {name: Form(name, write, write_brief) for name, write in _WRITE.items()}
"""Every form by its name; what is no program is asked for in the brief form's words."""

FORM_NAMES = (AUTO, PAPER, *FORMS)

_FAMILIES = {
    "codellama": re.compile(r"code[-_ ]?llama"),
    "starcoder2": re.compile(r"starcoder|starchat"),
    "deepseek": re.compile(r"deepseek"),
    "llama31": re.compile(r"llama[-_ ]?3"),
    "qwen": re.compile(r"qwen|qwq"),
}
"""How the names of a family's models read, in small letters."""


def choose_form(name: str, model: TextModel) -> Form:
    """Choose a form by its name, or by the model for `auto` and `paper`.

    `auto` begins the answer where the model goes on with one; `paper` is the form of the papers for the model's family.
    Raises UsageError for a name that no form has.
    """
    if name == AUTO:
        return FORMS["primed" if model.can_prime else "brief"]
    if name == PAPER:
        return FORMS[find_family(model.name)]
    check_form(name)
    return FORMS[name]


def check_form(name: str) -> None:
    """Refuse a name that no form has, with a UsageError."""
    if name not in FORM_NAMES:
        raise UsageError(f"no prompt form {name!r}; expected one of: {', '.join(FORM_NAMES)}")


def find_family(name: str) -> str:
    """Find the form of a model's family by the last words of its name that tell it; `generic` where none does.

    The address of a service, behind an @, tells nothing.
    """
    told = name.partition("@")[0].lower()
    found = [(each.start(), family) for family, form in _FAMILIES.items() for each in form.finditer(told)]
    return max(found)[1] if found else "generic"
