"""Write the prompt of a question about a repository: an expert who cites numbered evidence, or says so (Q-14, Q-16)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from pkg.models.text_model import Message
from pkg.retrieval.evidence.evidence import Evidence

UNKNOWN = "I do not know"
"""What the model is told to say where the evidence does not answer; what it says is looked for by this."""


_EXPERT = (
    "You are an expert on the open source repository {repository}. You answer questions about it as well as you can,"
    " and truthfully."
)
_FROM_EVIDENCE = (
    " Use only the numbered pieces. Cite after each sentence, such as [2]. If they do not hold the answer, say:"
    f" {UNKNOWN}."
)
_FROM_MEMORY = f" If you do not know the answer, say: {UNKNOWN}."
_TASK = (
    "Answer the question in one to three sentences. Name the functions, classes and files, and cite the pieces by"
    " number."
)
"""An example of an answer, or a second mention of refusing, makes small models repeat that instead of answering."""


class Turn(NamedTuple):
    """One question of a conversation with its answer."""

    question: str
    answer: str


def write_messages(
    repository: str, question: str, pieces: Sequence[tuple[int, Evidence]], turns: Sequence[Turn] = ()
) -> tuple[Message, ...]:
    """Write the conversation that asks for an answer from numbered pieces; without any, from memory."""
    told = _EXPERT.format(repository=repository) + (_FROM_EVIDENCE if pieces else _FROM_MEMORY)
    messages = [Message("system", told)]
    for turn in turns:
        messages += [Message("user", turn.question), Message("assistant", turn.answer)]
    asked = f"[QUESTION] {question} [/QUESTION]"
    if pieces:
        shown = "\n\n".join(write_piece(number, piece) for number, piece in pieces)
        asked = f"{shown}\n\n{asked}\n{_TASK}"
    messages.append(Message("user", asked))
    return tuple(messages)


def write_piece(number: int, piece: Evidence) -> str:
    """Write one piece under its number and its place; a fence that the text itself holds cannot close its own."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", piece.content)), default=0))
    return f"[{number}] {piece.title}, {piece.span}\n{fence}\n{piece.content}\n{fence}"
