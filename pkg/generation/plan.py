"""Plan in which ways an answer is asked for: what harms least, then other forms and contexts, then samples (P-22).

Code that is shown may spoil an answer that would have been right without it, above all with a small model. So where the
question shows examples, an answer without context comes first, and others are written only while an example fails.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import cycle, islice

from pkg.generation.forms.choice import AUTO, choose_form
from pkg.generation.forms.prompt_form import PromptTask
from pkg.generation.generate_options import ContextChoice, GenerateOptions
from pkg.generation.samples import Variant
from pkg.models.text_model import Decoding, TextModel

_SIZE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)[bB](?![a-zA-Z])")
MOST_VARIANTS = 4  # asked for where the number of samples is left open
BILLION = 1e9
SMALL = 3 * BILLION  # parameters; smaller models copy code that they are shown instead of using it


def plan_variants(
    options: GenerateOptions, forms: Sequence[str], has_examples: bool, has_context: bool, is_small: bool
) -> list[Variant]:
    """List the ways to ask for one answer, in their order.

    forms: those that serve the model, best first. has_context: whether the graph gave anything to show.
    """
    contexts = _order_contexts(options.context, has_examples, has_context, is_small)
    ways = [(form, context) for form in forms for context in contexts]
    count = options.samples or (MOST_VARIANTS if has_examples else 1)
    if not options.samples:
        count = min(count, len(ways))  # the likeliest answer of each way, and no second one
    return [
        Variant(form, context, _choose_decoding(options, number, len(ways)))
        for number, (form, context) in enumerate(islice(cycle(ways), count))
    ]


def _order_contexts(
    choice: ContextChoice, has_examples: bool, has_context: bool, is_small: bool
) -> tuple[ContextChoice, ...]:
    if not has_context or choice == "none":
        return ("none",)
    if choice != "auto":
        return (choice,)
    shown: ContextChoice = "signatures" if is_small else "code"
    if has_examples:
        return ("none", shown, "code" if is_small else "signatures")
    return (shown,)


def _choose_decoding(options: GenerateOptions, number: int, ways: int) -> Decoding:
    """Take the likeliest answer the first time that a way is asked, and another sample each time after it."""
    heat = options.temperature if number >= ways else 0.0
    return Decoding(options.max_tokens, heat, seed=options.seed + number // ways)


def list_forms(name: str, model: TextModel, task: PromptTask) -> tuple[str, ...]:
    """List the forms of prompts for a model, best first: the one that is named alone, or those that serve any."""
    best = choose_form(name, model).name
    if name != AUTO or task.frame != "code":
        return (best,)
    if task.stub is None:  # nothing breaks off that an answer could go on with
        return ("brief",)
    return tuple(dict.fromkeys((best, "brief", "raw")))


def is_small(model: TextModel) -> bool:
    """Tell whether a model is known to be small."""
    size = find_size(model)
    return size is not None and size < SMALL


def find_size(model: TextModel) -> float | None:
    """Give the parameters of a model, as it tells them or by a size in its name, such as 0.5B; None if neither does."""
    if model.parameters is not None:
        return float(model.parameters)
    sizes = [BILLION * float(found) for found in _SIZE.findall(model.name)]
    return sizes[-1] if sizes else None
