"""Options of a generated answer, with their checks; imports little, because every start of the command line does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from pkg.retrieval.query_options import check_choice, check_minimum

TaskType = Literal["code", "explain", "edit", "plain"]
"""A program, an answer in words, changed code, or the text without an instruction of ours."""
TASK_TYPES: tuple[TaskType, ...] = get_args(TaskType)

ContextChoice = Literal["auto", "none", "signatures", "code"]
CONTEXTS: tuple[ContextChoice, ...] = get_args(ContextChoice)

Tests = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class GenerateOptions:
    """Options of a generated answer; the defaults harmed no measured model."""

    form: str = "auto"  # prompt template (P-20): auto, paper, or a name
    frame: TaskType = "code"
    context: ContextChoice = "auto"  # helper code that the prompt shows
    gate: str = ""  # file of rules for context auto, written by pkg eval calibrate; default: the packaged rules
    samples: int = 0  # answers to choose from; 0 writes one, and more while a visible example fails
    rerank: bool = True  # whether the best of several is chosen; else they keep their order
    attempts: int = 1  # at most, each with the feedback on the ones before (U-10, A-36)
    link: bool = True  # whether helpers that the answer calls are inserted into it
    max_tokens: int = 512  # of one answer (P-22)
    temperature: float = 0.8  # of repeated samples; the first of each template is greedy
    seed: int = 0
    tests: Tests = ()  # hidden tests that feedback quotes, for research: the result is no measurement

    def __post_init__(self) -> None:
        """Raise UsageError for invalid values."""
        check_choice("frame", self.frame, TASK_TYPES)
        check_choice("context", self.context, CONTEXTS)
        check_minimum("samples", self.samples, 0)
        check_minimum("attempts", self.attempts, 1)
        check_minimum("max_tokens", self.max_tokens, 1)
        check_minimum("temperature", self.temperature, 0)
