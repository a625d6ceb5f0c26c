"""Choose the form of prompts for a model."""

from __future__ import annotations

from pkg.errors import UsageError
from pkg.generation.forms.brief import write_brief
from pkg.generation.forms.generic import write_generic
from pkg.generation.forms.primed import write_primed
from pkg.generation.forms.prompt_form import Form
from pkg.generation.forms.raw import write_raw
from pkg.models.text_model import TextModel

BRIEF = Form("brief", write_brief, write_brief)
PRIMED = Form("primed", write_primed, write_brief)
RAW = Form("raw", write_raw, write_brief)
GENERIC = Form("generic", write_generic, write_brief)

FORMS = {form.name: form for form in (BRIEF, PRIMED, RAW, GENERIC)}
AUTO = "auto"


def choose_form(name: str, model: TextModel) -> Form:
    """Choose a form by its name; `auto` begins the answer where the model goes on with one.

    Raises UsageError for a name that no form has.
    """
    if name == AUTO:
        return PRIMED if model.can_prime else BRIEF
    if name not in FORMS:
        known = ", ".join((AUTO, *FORMS))
        raise UsageError(f"no prompt form {name!r}; expected one of: {known}")
    return FORMS[name]
