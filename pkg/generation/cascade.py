"""The use case: write an answer to a question with what the graph gave, judge it, mend it, choose (P-19 to P-22, U-01).

Where the question shows examples, they decide: an answer that was written without context comes first, others are
written while an example fails, one with context counts only if every example holds, and the reranker chooses among
them. So what the graph adds can mend an answer, and cannot spoil one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

from pkg.generation.gate import list_rules, read_rules
from pkg.generation.generate_options import ContextChoice, GenerateOptions
from pkg.generation.plan import find_size, is_small, list_templates, plan_variants
from pkg.generation.prompt_templates.prompt_template import Attempt, make_task
from pkg.generation.sample_writer import Context, SampleWriter
from pkg.generation.samples import Sample, WrittenAnswer
from pkg.models.text_model import Listen, TextModel, Usage
from pkg.rerank.candidates import Candidate, Ranking, Task
from pkg.rerank.reranker import Reranker


def write_answer(
    text: str,
    model: TextModel,
    context: Context,
    options: GenerateOptions,
    reranker: Reranker,
    *,
    listen: Listen | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> WrittenAnswer:
    """Write the answer to a question.

    reranker: tries examples and chooses. listen: told the text piece by piece, where nothing can replace it. say: told
    each decision. Raises ModelError for a model that cannot be used, and ContextLengthError for a question that does
    not fit into its window.
    """
    writer = SampleWriter(make_task(text, options.frame), model, context, options, reranker, say)
    for note in context.notes:
        writer.decide(note)
    write_samples(writer, listen)
    choice = choose_sample(writer)
    if mend_sample(writer, writer.samples[choice[0]]):
        choice = choose_sample(writer)
    return sum_up(writer, choice)


def write_samples(writer: SampleWriter, listen: Listen | None = None) -> None:
    """Write the samples of the plan; where their number was left open, no more once every example holds."""
    options, context = writer.options, writer.context
    forms = list_templates(options.form, writer.model, writer.task)
    has_context = bool(context.code or context.signatures)
    chosen = replace(options, context=_choose_context(writer))
    plan = plan_variants(chosen, forms, bool(writer.examples), has_context, is_small(writer.model))
    is_judged = writer.examples or (writer.task.type == "code" and writer.task.entry is not None)
    is_final = len(plan) == 1 and options.attempts == 1 and not is_judged
    for number, variant in enumerate(plan, 1):
        sample = writer.write(variant, listen=listen if is_final else None)
        writer.decide(f"answer {number}, {variant.describe()}: {sample.describe()}")
        if sample.holds and not options.samples:
            return


def _choose_context(writer: SampleWriter) -> ContextChoice:
    """Ask the gate what is shown, where nobody has settled it and no example of the question can tell afterwards."""
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


def mend_sample(writer: SampleWriter, best: Sample) -> bool:
    """Tell the model what is wrong with its best answer, and let it try again (U-06 to U-10, A-26, A-27).

    An answer without the function that is wanted is sent back once in any case (U-15). Tells whether any was tried.
    """
    last = max(writer.options.attempts, 1 if best.is_wanted else 2)
    history: list[Attempt] = []
    for hop in range(2, last + 1):
        if best.holds or not best.feedback:
            break
        history.append(Attempt(best.code or best.text, best.feedback))
        decoding = replace(best.variant.decoding, seed=writer.options.seed + hop - 1)
        if len({each.code for each in history}) < len(history):  # told what was wrong, it wrote the same again
            decoding = replace(decoding, temperature=writer.options.temperature)
        best = writer.write(replace(best.variant, context="none", decoding=decoding), history)
        writer.decide(f"attempt {hop}, told what was wrong before: {best.describe()}")
    return bool(history)


def choose_sample(writer: SampleWriter) -> tuple[int, Ranking | None]:
    """Choose among the samples; give the index of the best, and the ranking where there was a choice."""
    every = range(len(writer.samples))
    eligible = [index for index in every if _may_win(writer.samples[index])] or list(every)
    if len(eligible) < 2 or not writer.options.rerank or writer.task.type != "code":
        return eligible[0], None
    candidates = tuple(Candidate(index, writer.samples[index].code) for index in eligible)
    task = Task(writer.task.text, candidates, writer.options.tests)
    ranking = writer.reranker.rank(task)
    return int(ranking.chosen), ranking


def _may_win(sample: Sample) -> bool:
    """Tell whether a sample may be chosen: one with context not while an example fails."""
    return sample.holds or not sample.examples or sample.variant.context == "none"


def sum_up(writer: SampleWriter, choice: tuple[int, Ranking | None]) -> WrittenAnswer:
    """Give the chosen sample as the answer, with all that led to it."""
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
