"""Write one sample of an answer, and judge it: its code is read, helpers that it calls put in, examples tried."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from pkg.generation.generate_options import GenerateOptions
from pkg.generation.linking import Piece, link_pieces
from pkg.generation.prompt_templates.fitting import FittedPrompt, fit_prompt
from pkg.generation.prompt_templates.prompt_template import Attempt, HelperText, Prompt, PromptTask
from pkg.generation.prompt_templates.template_choice import TEMPLATES
from pkg.generation.samples import Sample, Variant
from pkg.models.text_model import Decoding, Generation, Listen, TextModel
from pkg.rerank.candidates import RerankOptions
from pkg.rerank.case import make_case
from pkg.rerank.diagnosis import Diagnosis, check_answer, show_example

if TYPE_CHECKING:
    from pkg.rerank.reranker import Reranker

HASH_DIGITS = 16  # of the hash that names a prompt in a trace


@dataclass(frozen=True, slots=True)
class Context:
    """What the graph gives to a question: helpers as prompts show them, and pieces that may be put into an answer."""

    code: tuple[HelperText, ...] = ()
    signatures: tuple[HelperText, ...] = ()
    pieces: tuple[Piece, ...] = ()
    notes: tuple[str, ...] = ()  # what is not handed out, and why
    signals: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # of the search for code, for signatures

    def choose(self, variant: Variant) -> tuple[HelperText, ...]:
        """Give the helpers that a variant shows."""
        return {"code": self.code, "signatures": self.signatures}.get(variant.context, ())


@dataclass
class SampleWriter:
    """Writes the samples of one question, and keeps them with what was decided on the way."""

    task: PromptTask
    model: TextModel
    context: Context
    options: GenerateOptions
    reranker: Reranker  # whose sandbox tries the examples; without one nothing is run
    say: Callable[[str], None] = lambda text: None  # told each decision as it is taken
    samples: list[Sample] = field(default_factory=list)
    decisions: list[str] = field(default_factory=list)

    @cached_property
    def examples(self) -> tuple[str, ...]:
        """Give what is tried: what the question shows of the wanted code, and hidden tests that were handed over."""
        if self.task.type != "code" or self.reranker.sandbox is None:
            return ()
        case = make_case(self.task.text, self.options.tests, RerankOptions(), None)
        return tuple(map(show_example, case.examples))

    def decide(self, text: str) -> None:
        """Note a decision."""
        self.decisions.append(text)
        self.say(text)

    def write(self, variant: Variant, history: Sequence[Attempt] = (), listen: Listen | None = None) -> Sample:
        """Write one sample and judge it; after earlier attempts without helpers (A-27)."""
        helpers = self.context.choose(variant) if not history else ()
        tokens = variant.decoding.max_tokens
        fitted = fit_prompt(TEMPLATES[variant.template], self.task, helpers, self.model, tokens, history)
        for note in fitted.notes:
            self.decide(note)
        written = run_prompt(self.model, fitted.prompt, variant.decoding, listen)
        sample = _make_sample(variant, len(history) + 1, fitted, written)
        self.samples.append(self._judge(sample) if self.task.type == "code" else sample)
        return self.samples[-1]

    def _judge(self, sample: Sample) -> Sample:
        found = self._check(sample.text)
        linked = link_pieces(found.code, self.context.pieces if self.options.link else ())
        if linked.added:
            found = replace(self._check(linked.code), note=found.note, is_cut=found.is_cut)
        return replace(
            sample,
            code=found.code,
            note=found.note,
            linked=linked.added,
            missing=linked.missing,
            passed=found.held if self.examples else 0,
            examples=len(self.examples),
            is_wanted=not found.lacks_entry,
            is_cut=found.is_cut or sample.is_cut,
            feedback=found.render(),
        )

    def _check(self, text: str) -> Diagnosis:
        return check_answer(text, self.task.text, self.options.tests, sandbox=self.reranker.sandbox)


def run_prompt(model: TextModel, prompt: Prompt, decoding: Decoding, listen: Listen | None = None) -> Generation:
    """Have a model answer a prompt: a conversation, or a text that it goes on with."""
    decoding = replace(decoding, stop=(*decoding.stop, *prompt.stop))
    if prompt.text is not None:
        return model.complete(prompt.text, decoding, listen)
    return model.chat(prompt.messages, decoding, listen)


def render_sent(prompt: Prompt) -> str:
    """Write all that is sent as one text, for a trace."""
    if prompt.text is not None:
        return prompt.text
    return "\n".join(f"[{message.role}]\n{message.content}" for message in prompt.messages)


def _make_sample(variant: Variant, hop: int, fitted: FittedPrompt, written: Generation) -> Sample:
    sent = render_sent(fitted.prompt)
    return Sample(
        variant=variant,
        hop=hop,
        prompt=sent,
        prompt_hash=hashlib.sha256(sent.encode("utf-8", "replace")).hexdigest()[:HASH_DIGITS],
        text=fitted.prompt.join(written.text, written.finish),
        usage=written.usage,
        is_cut=written.finish == "length",
        shown=tuple(each.place for each in fitted.helpers),
    )
