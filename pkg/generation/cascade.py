"""Use case: write samples of an answer, check, repair and choose (P-19 to P-22, U-01; docs/papers.md, 9.5).

If the question has examples, they decide: a sample without context comes first, others are written while an example
fails, one with context is eligible only if every example holds, and the reranker chooses among the eligible. So context
can repair an answer and cannot spoil one. Shown code can spoil an answer that would be right without it, above all
with a small model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from itertools import cycle, islice
from pathlib import Path

from pkg.errors import ModelError, count_things
from pkg.generation.gate import list_rules, read_rules
from pkg.generation.generate_options import ContextChoice, GenerateOptions
from pkg.generation.prompt_templates.prompt_template import Attempt, PromptTask, make_task
from pkg.generation.prompt_templates.template_choice import AUTO, choose_template
from pkg.generation.sample_writer import Context, SampleWriter
from pkg.generation.samples import Sample, Variant, WrittenAnswer, keep_complete
from pkg.models.text_cache import UnfinishedTexts
from pkg.models.text_model import Decoding, Listen, TextModel, Usage
from pkg.rerank.candidates import Candidate, Ranking, Task
from pkg.rerank.reranker import Reranker

_SIZE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)[bB](?![a-zA-Z])")
MOST_VARIANTS = 4  # if the number of samples is open
BILLION = 1e9
SMALL = 3 * BILLION  # parameters; smaller models copy shown code instead of using it


def write_answer(
    text: str,
    model: TextModel,
    context: Context,
    options: GenerateOptions,
    reranker: Reranker,
    *,
    listen: Listen | None = None,
    say: Callable[[str], None] = lambda text: None,
    on_sample: Callable[[Sample], None] = lambda sample: None,
    unfinished: UnfinishedTexts | None = None,
) -> WrittenAnswer:
    """Write the answer to a question.

    reranker: runs examples and chooses. listen: called with each piece of the text, if the first sample is final. say:
    called with each decision. on_sample: called with each sample as soon as it is checked. unfinished: keeps the
    texts until the answer is complete, for the next run. Raises ModelError for an
    unusable model, and ContextLengthError for a question that does not fit into its window. After a first sample an
    error ends the writing, and the answer is chosen among the samples so far.
    """
    writer = SampleWriter(
        task=make_task(text, options.frame),
        model=model,
        context=context,
        options=options,
        reranker=reranker,
        say=say,
        on_sample=on_sample,
        unfinished=unfinished,
    )
    for note in context.notes:
        writer.decide(note)
    choice = None
    try:
        write_samples(writer, listen)
        choice = choose_sample(writer)
        if repair_sample(writer, writer.samples[choice[0]]):
            choice = None
    except ModelError as fault:
        if not writer.samples:
            raise
        writer.decide(f"ended after {count_things(len(writer.samples), 'answer')}: {fault}")
        choice = None
    return make_answer(writer, choice or choose_sample(writer))


def write_samples(writer: SampleWriter, listen: Listen | None = None) -> None:
    """Write the samples of the plan; if their number is open, stop once every example holds."""
    options, context = writer.options, writer.context
    templates = list_templates(options.form, writer.model, writer.task)
    has_context = bool(context.code or context.signatures)
    chosen = replace(options, context=_choose_context(writer))
    plan = plan_variants(chosen, templates, bool(writer.examples), has_context, is_small(writer.model))
    is_judged = writer.examples or (writer.task.type == "code" and writer.task.entry is not None)
    is_final = len(plan) == 1 and options.attempts == 1 and not is_judged
    for number, variant in enumerate(plan, 1):
        sample = writer.write(variant, listen=listen if is_final else None)
        writer.decide(f"answer {number}, {variant.describe()}: {sample.describe()}")
        if sample.holds and not options.samples:
            return


def _choose_context(writer: SampleWriter) -> ContextChoice:
    """Choose the context by the rules of the gate, if the options leave it open and no example can decide."""
    options, context = writer.options, writer.context
    if options.context != "auto" or writer.examples or writer.task.type != "code":
        return options.context
    known = read_rules(Path(options.gate)) if options.gate else read_rules()
    rules = list_rules(known, find_size(writer.model)) if context.code or context.signatures else []
    for rule in rules:
        if rule.admits(context.signals.get(rule.context, {})):
            return rule.context
        writer.decide(f"not shown: {rule.explain(context.signals.get(rule.context, {}))}")
    return "none" if rules else "auto"


def repair_sample(writer: SampleWriter, best: Sample) -> bool:
    """Write further attempts with the feedback on the best answer (U-06 to U-10, A-26, A-27).

    An answer without the wanted function is sent back once in any case (U-15). Returns whether there was an attempt.
    """
    last = max(writer.options.attempts, 1 if best.is_wanted else 2)
    history: list[Attempt] = []
    for hop in range(2, last + 1):
        if best.holds or not best.feedback:
            break
        history.append(Attempt(best.code or best.text, best.feedback))
        decoding = replace(best.variant.decoding, seed=writer.options.seed + hop - 1)
        if len({each.code for each in history}) < len(history):  # it ignored the feedback and repeated itself
            decoding = replace(decoding, temperature=writer.options.temperature)
        best = writer.write(replace(best.variant, context="none", decoding=decoding), history)
        writer.decide(f"attempt {hop}, with feedback: {best.describe()}")
    return bool(history)


def choose_sample(writer: SampleWriter) -> tuple[int, Ranking | None]:
    """Return the index of the best sample, and the ranking if there was a choice.

    A sample with context is not eligible while an example fails, and a truncated one while another is as good.
    """
    every = range(len(writer.samples))
    eligible = [index for index in every if _is_eligible(writer.samples[index])] or list(every)
    flags = [(writer.samples[index].is_cut, writer.samples[index].holds) for index in eligible]
    eligible = [eligible[number] for number in keep_complete(flags)]
    if len(eligible) < 2 or not writer.options.rerank or writer.task.type != "code":
        return eligible[0], None
    candidates = tuple(Candidate(index, writer.samples[index].code) for index in eligible)
    task = Task(writer.task.text, candidates, writer.options.tests)
    ranking = writer.reranker.rank(task)
    return int(ranking.chosen), ranking


def _is_eligible(sample: Sample) -> bool:
    return sample.holds or not sample.examples or sample.variant.context == "none"


def make_answer(writer: SampleWriter, choice: tuple[int, Ranking | None]) -> WrittenAnswer:
    """Return the chosen sample as the answer, with all samples and decisions."""
    index, ranking = choice
    best = writer.samples[index]
    return WrittenAnswer(
        question=writer.task.text,
        model=writer.model.name,
        frame=writer.task.type,
        text=best.text,
        code=best.code,
        chosen=index,
        samples=tuple(writer.samples),
        decisions=tuple(writer.decisions),
        usage=sum((each.usage for each in writer.samples), Usage()),
        examples=writer.examples,
        ranking=asdict(ranking) if ranking is not None else {},
        oracle=bool(writer.options.tests),
    )


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
