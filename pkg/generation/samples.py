"""The nouns of generation: one way to ask, one sample of an answer, and what comes of all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pkg.generation.generate_options import ContextChoice
from pkg.generation.linking import Piece
from pkg.model import QueryResult
from pkg.models.text_model import Decoding, Usage


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to ask for an answer."""

    form: str
    context: ContextChoice
    decoding: Decoding

    def describe(self) -> str:
        """Say it in a few words."""
        shown = {"none": "without context", "signatures": "with signatures", "code": "with code"}
        heat = f", temperature {self.decoding.temperature:g}" if self.decoding.temperature else ""
        return f"form {self.form} {shown.get(self.context, self.context)}{heat}"


@dataclass(frozen=True, slots=True)
class Sample:
    """One answer of the model, as it was asked for, written, read and judged (U-10)."""

    variant: Variant
    hop: int  # from 1; those above it were told what was wrong before
    prompt: str  # all that was sent, as one text
    prompt_hash: str
    text: str  # the whole answer, with the beginning that the prompt gave
    usage: Usage
    is_cut: bool = False  # its tokens ran out, or its end is broken
    shown: tuple[str, ...] = ()  # places of the code that the prompt showed
    code: str = ""  # what is run: read out of the text, helpers put in; "" for an answer that is no program
    note: str = ""  # what was done to read it
    linked: tuple[Piece, ...] = ()
    missing: tuple[str, ...] = ()  # names that nothing binds
    passed: int = 0  # examples that hold
    examples: int = 0  # that were tried
    is_wanted: bool = True  # whether it defines what the question names
    feedback: str = ""  # what is wrong, in the words that the next attempt reads

    @property
    def holds(self) -> bool:
        """Tell whether every example holds, and there is one."""
        return 0 < self.examples == self.passed

    def describe(self) -> str:
        """Say in a line what was found out about it."""
        told = [] if self.text.strip() else ["the model wrote nothing"]
        told += [f"{self.passed} of {self.examples} examples hold"] if self.examples else []
        told += [] if self.is_wanted else ["what the question names is not defined"]
        told += ["cut off at its end"] if self.is_cut else []
        told += [f"calls {each.name} of {each.place}, which is put into it" for each in self.linked]
        told += [f"nothing defines {', '.join(self.missing)}"] if self.missing else []
        return "; ".join(told) or f"{self.usage.completion_tokens} tokens"


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """The answer to a question, and how it came about."""

    question: str
    model: str
    frame: str
    text: str  # as the model wrote it
    code: str
    chosen: int  # index of the sample
    samples: tuple[Sample, ...]
    decisions: tuple[str, ...]  # what was done and why, in words
    usage: Usage  # of all samples
    examples: tuple[str, ...] = ()  # what the question shows, as it was read
    ranking: Mapping[str, Any] = field(default_factory=dict)  # the reranker's line, where it chose
    oracle: bool = False  # hidden tests were seen
    result: QueryResult | None = None  # what the graph gave; None where it was not asked

    @property
    def best(self) -> Sample:
        """Give the sample that was chosen."""
        return self.samples[self.chosen]
