"""Write one sample of an answer and check it: extract its code, insert called helpers, run the examples."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from pkg.extract.syntax import parse_code
from pkg.generation.generate_options import GenerateOptions
from pkg.generation.linking import Linked, Piece, link_pieces, list_missing
from pkg.generation.prompt_templates.fitting import FittedPrompt, fit_prompt
from pkg.generation.prompt_templates.prompt_template import Attempt, HelperText, Prompt, PromptTask
from pkg.generation.prompt_templates.template_choice import TEMPLATES
from pkg.generation.samples import NO_CODE, Sample, Variant
from pkg.models.prompt_batch import Conversation
from pkg.models.text_cache import UnfinishedTexts, make_key
from pkg.models.text_model import Decoding, Generation, Listen, TextModel
from pkg.rerank.candidates import RerankOptions
from pkg.rerank.case import make_case
from pkg.rerank.diagnosis import Diagnosis, check_answer, show_example

if TYPE_CHECKING:
    from pkg.rerank.reranker import Reranker

HASH_DIGITS = 16  # of the hash that names a prompt in a trace
_CODE = re.compile(
    r"```|^\s*(?:async|class|def|del|for|from|if|import|raise|return|try|while|with|yield|@)\b|\w\(|\w\s*=", re.M
)

_PROSE_NODES = (ast.Module, ast.Expr, ast.Name, ast.Load, ast.Constant)


@dataclass(frozen=True, slots=True)
class Context:
    """The context of a question from the graph: helpers for the prompt, and pieces that may be inserted."""

    code: tuple[HelperText, ...] = ()
    signatures: tuple[HelperText, ...] = ()
    pieces: tuple[Piece, ...] = ()
    notes: tuple[str, ...] = ()  # pieces that are not used, each with the reason
    signals: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # of the search for code, for signatures

    def choose(self, variant: Variant) -> tuple[HelperText, ...]:
        """Return the helpers that a variant shows."""
        return {"code": self.code, "signatures": self.signatures}.get(variant.context, ())


@dataclass
class SampleWriter:
    """Writes the samples of one question, and records them and the decisions."""

    task: PromptTask
    model: TextModel
    context: Context
    options: GenerateOptions
    reranker: Reranker  # whose sandbox runs the examples; without a sandbox nothing is run
    say: Callable[[str], None] = lambda text: None  # called with each decision
    on_sample: Callable[[Sample], None] = lambda sample: None  # called with each checked sample
    unfinished: UnfinishedTexts | None = None  # keeps texts until the answer is complete
    samples: list[Sample] = field(default_factory=list)
    decisions: list[str] = field(default_factory=list)

    @cached_property
    def examples(self) -> tuple[str, ...]:
        """Return the examples of the question, and the hidden tests of the options."""
        if self.task.type != "code" or self.reranker.sandbox is None:
            return ()
        case = make_case(self.task.text, self.options.tests, RerankOptions(), None)
        return tuple(map(show_example, case.examples))

    def decide(self, text: str) -> None:
        """Record a decision."""
        self.decisions.append(text)
        self.say(text)

    def write(self, variant: Variant, history: Sequence[Attempt] = (), listen: Listen | None = None) -> Sample:
        """Write one sample and check it; after earlier attempts the prompt has no helpers (A-27)."""
        helpers = self.context.choose(variant) if not history else ()
        tokens = variant.decoding.max_tokens
        fitted = fit_prompt(TEMPLATES[variant.template], self.task, helpers, self.model, tokens, history)
        for note in fitted.notes:
            self.decide(note)
        written = self._run(fitted.prompt, variant.decoding, listen)
        sample = _make_sample(variant, len(history) + 1, fitted, written)
        self.samples.append(self._judge(sample) if self.task.type == "code" else sample)
        self.on_sample(self.samples[-1])
        return self.samples[-1]

    def _run(self, prompt: Prompt, decoding: Decoding, listen: Listen | None) -> Generation:
        """Run the model on a prompt, or take the text of an interrupted run."""
        if self.unfinished is None:
            return run_prompt(self.model, prompt, decoding, listen)
        sent = Conversation(prompt.messages) if prompt.text is None else prompt.text
        key = make_key(self.model, sent, add_stops(prompt, decoding))
        written, is_known = self.unfinished.write(key, lambda: run_prompt(self.model, prompt, decoding, listen))
        if is_known:
            self.decide("taken from an interrupted run: the next answer")
            if listen is not None:
                listen(written.text)
        return written

    def _judge(self, sample: Sample) -> Sample:
        found = self._check(sample.text)
        has_code = holds_code(sample.text.removeprefix(self.task.stub or ""))
        linked = (
            link_pieces(found.code, self.context.pieces)
            if self.options.link
            else Linked(found.code, missing=tuple(list_missing(found.code)))
        )
        if linked.code != found.code:
            found = replace(self._check(linked.code), note=found.note, is_cut=found.is_cut)
        return replace(
            sample,
            code=found.code,
            note=found.note,
            linked=linked.added,
            missing=linked.missing,
            passed=found.held if self.examples else 0,
            examples=len(self.examples),
            is_wanted=not found.lacks_entry and has_code,
            is_cut=found.is_cut or sample.is_cut,
            feedback=found.render() if has_code else NO_CODE,
        )

    def _check(self, text: str) -> Diagnosis:
        return check_answer(text, self.task.text, self.options.tests, sandbox=self.reranker.sandbox)


def holds_code(text: str) -> bool:
    """Return whether an answer has any line of code, in contrast to prose."""
    if _CODE.search(text):
        return True
    tree = parse_code(text)
    return tree is not None and not all(isinstance(node, _PROSE_NODES) for node in ast.walk(tree))


def run_prompt(model: TextModel, prompt: Prompt, decoding: Decoding, listen: Listen | None = None) -> Generation:
    """Run a model on a prompt: a conversation, or a text to complete."""
    decoding = add_stops(prompt, decoding)
    if prompt.text is not None:
        return model.complete(prompt.text, decoding, listen)
    return model.chat(prompt.messages, decoding, listen)


def add_stops(prompt: Prompt, decoding: Decoding) -> Decoding:
    """Return the decoding with the stop strings of a prompt."""
    return replace(decoding, stop=(*decoding.stop, *prompt.stop))


def render_sent(prompt: Prompt) -> str:
    """Return the whole input of a model as one text, for a trace."""
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
