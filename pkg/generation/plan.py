"""Plan the samples of an answer: the least harmful variant, then other templates and contexts, then repeats (P-22).

Shown code can spoil an answer that would be right without it, above all with a small model. So if the question has
examples, an answer without context comes first, and others are written only while an example fails.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import cycle, islice

from pkg.generation.generate_options import ContextChoice, GenerateOptions
from pkg.generation.prompt_templates.prompt_template import PromptTask
from pkg.generation.prompt_templates.template_choice import AUTO, choose_template
from pkg.generation.samples import Variant
from pkg.models.text_model import Decoding, TextModel

_SIZE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)[bB](?![a-zA-Z])")
MOST_VARIANTS = 4  # if the number of samples is open
BILLION = 1e9
SMALL = 3 * BILLION  # parameters; smaller models copy shown code instead of using it


def plan_variants(
    options: GenerateOptions, templates: Sequence[str], has_examples: bool, has_context: bool, is_small: bool
) -> list[Variant]:
    """Return the variants of one answer, in the order of writing.

    templates: the suitable ones, best first. has_context: whether there is helper code to show.
    """
    contexts = _order_contexts(options.context, has_examples, has_context, is_small)
    pairs = [(template, context) for template in templates for context in contexts]
    count = options.samples or (MOST_VARIANTS if has_examples else 1)
    if not options.samples:
        count = min(count, len(pairs))  # only the greedy answer of each pair
    return [
        Variant(template, context, _choose_decoding(options, number, len(pairs)))
        for number, (template, context) in enumerate(islice(cycle(pairs), count))
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


def _choose_decoding(options: GenerateOptions, number: int, pairs: int) -> Decoding:
    """Decode the first answer of each pair greedily, and sample the repeats."""
    temperature = options.temperature if number >= pairs else 0.0
    return Decoding(options.max_tokens, temperature, seed=options.seed + number // pairs)


def list_templates(name: str, model: TextModel, task: PromptTask) -> tuple[str, ...]:
    """Return the suitable prompt templates for a model and task, best first; only the named one, if not `auto`."""
    best = choose_template(name, model).name
    if name != AUTO or task.type != "code":
        return (best,)
    if task.stub is None:  # there is no code to continue
        return ("brief",)
    return tuple(dict.fromkeys((best, "brief", "raw")))


def is_small(model: TextModel) -> bool:
    """Return whether a model is known to be small."""
    size = find_size(model)
    return size is not None and size < SMALL


def find_size(model: TextModel) -> float | None:
    """Return the number of parameters that a model reports or that its name states, such as 0.5B; else None."""
    if model.parameters is not None:
        return float(model.parameters)
    sizes = [BILLION * float(found) for found in _SIZE.findall(model.name)]
    return sizes[-1] if sizes else None
