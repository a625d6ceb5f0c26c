"""The data of generation: a variant of the request, one sample of an answer, and the chosen answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pkg.generation.generate_options import ContextChoice
from pkg.generation.linking import Piece
from pkg.model import QueryResult
from pkg.models.text_model import Decoding, Usage


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to ask for an answer."""

    template: str
    context: ContextChoice
    decoding: Decoding

    def describe(self) -> str:
        """Describe the variant in a few words."""
        shown = {"none": "without context", "signatures": "with signatures", "code": "with code"}
        temperature = f", temperature {self.decoding.temperature:g}" if self.decoding.temperature else ""
        return f"template {self.template} {shown.get(self.context, self.context)}{temperature}"


NO_CODE = "The answer has no code. Write the program itself, in one fenced block of Python."
"""Feedback on an answer of prose."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One answer of the model, with its prompt, its extracted code and its evaluation (U-10)."""

    variant: Variant
    hop: int  # number of the attempt, from 1; later ones had feedback on the earlier ones
    prompt: str  # the whole input, as one text
    prompt_hash: str
    text: str  # the whole answer, including its beginning from the prompt
    usage: Usage
    is_cut: bool = False  # its tokens ran out, or its end is incomplete
    shown: tuple[str, ...] = ()  # places of the helper code in the prompt
    code: str = ""  # extracted from the text, with linked helpers; "" for an answer that is no program
    note: str = ""  # about the extraction
    linked: tuple[Piece, ...] = ()
    missing: tuple[str, ...] = ()  # undefined names
    passed: int = 0  # examples
    examples: int = 0  # run
    is_wanted: bool = True  # whether it is code, and defines the name that the question asks for
    feedback: str = ""  # for the next attempt

    @property
    def holds(self) -> bool:
        """Return whether there are examples and all hold."""
        return 0 < self.examples == self.passed

    def describe(self) -> str:
        """Describe the evaluation in a line."""
        findings = [] if self.text.strip() else ["the model wrote nothing"]
        findings += [f"{self.passed} of {self.examples} examples hold"] if self.examples else []
        findings += (
            []
            if self.is_wanted
            else ["it has no code" if self.feedback == NO_CODE else "the wanted name is not defined"]
        )
        findings += ["truncated"] if self.is_cut else []
        findings += [f"calls {each.name} of {each.place}, which is inserted" for each in self.linked]
        findings += [f"undefined: {', '.join(self.missing)}"] if self.missing else []
        return "; ".join(findings) or f"{self.usage.completion_tokens} tokens"


def keep_complete(flags: Sequence[tuple[bool, bool]]) -> list[int]:
    """Return the indices of the answers to choose among: truncated ones only where no other is as good.

    flags: of each answer, whether it is truncated, and whether it is known to be right. A truncated answer is kept if
    it is right and no complete one is, or if all are truncated.
    """
    kept = [number for number, (is_cut, _) in enumerate(flags) if not is_cut]
    if not any(flags[number][1] for number in kept):
        kept += [number for number, (is_cut, is_right) in enumerate(flags) if is_cut and is_right]
    return sorted(kept) or list(range(len(flags)))


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """The answer to a question, with all samples and decisions."""

    question: str
    model: str
    frame: str
    text: str  # of the model
    code: str
    chosen: int  # index of the sample
    samples: tuple[Sample, ...]
    decisions: tuple[str, ...]  # each with its reason, in words
    usage: Usage  # of all samples
    examples: tuple[str, ...] = ()  # parsed from the question
    ranking: Mapping[str, Any] = field(default_factory=dict)  # of the reranker, if it chose
    oracle: bool = False  # whether hidden tests were used
    result: QueryResult | None = None  # of the query; None without a graph

    @property
    def best(self) -> Sample:
        """Return the chosen sample."""
        return self.samples[self.chosen]
