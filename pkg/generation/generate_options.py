"""How an answer is written, and what is refused; light, for the command line reads it at every start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from pkg.retrieval.query_options import check_choice, check_minimum

Frame = Literal["code", "explain", "edit", "plain"]
"""What is asked for: a program, an answer in words, changed code, or what the text alone says."""
FRAMES: tuple[Frame, ...] = get_args(Frame)

ContextChoice = Literal["auto", "none", "signatures", "code"]
CONTEXTS: tuple[ContextChoice, ...] = get_args(ContextChoice)

Tests = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class GenerateOptions:
    """How an answer is written; the defaults harm no model that was measured."""

    form: str = "auto"  # of the prompt (P-20): auto, paper, or the name of one
    frame: Frame = "code"  # what is asked for
    context: ContextChoice = "auto"  # what the prompt shows of the graph
    gate: str = ""  # file of rules for context auto, made by pkg eval calibrate; else those that PKG brings
    samples: int = 0  # answers among which to choose; 0 writes one, and more while a visible example fails
    rerank: bool = True  # whether one of several is chosen; else all are given in their order
    attempts: int = 1  # tries at most, each told what was wrong with those before (U-10)
    link: bool = True  # whether helpers that the answer calls are put into it
    max_tokens: int = 512  # of one answer (P-22)
    temperature: float = 0.8  # of repeated samples; the first of each form is the likeliest one
    seed: int = 0
    tests: Tests = ()  # hidden ones that feedback quotes, for research: worth nothing as a measurement

    def __post_init__(self) -> None:
        """Refuse what cannot be meant, with a UsageError."""
        check_choice("frame", self.frame, FRAMES)
        check_choice("context", self.context, CONTEXTS)
        check_minimum("samples", self.samples, 0)
        check_minimum("attempts", self.attempts, 1)
        check_minimum("max_tokens", self.max_tokens, 1)
        check_minimum("temperature", self.temperature, 0)
