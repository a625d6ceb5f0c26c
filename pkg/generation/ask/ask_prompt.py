"""Write the prompt of a question about a repository: an expert who cites numbered evidence, or says so (Q-14, Q-16)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pkg.models.text_model import Message
from pkg.retrieval.evidence.evidence import Evidence

PROMPT = "ask/1"
UNKNOWN = "I do not know"
"""What the model is told to say where the evidence does not answer; what it says is looked for by this."""


class Turn(NamedTuple):
    """One question of a conversation with its answer."""

    question: str
    answer: str


def write_messages(
    repository: str, question: str, pieces: Sequence[tuple[int, Evidence]], turns: Sequence[Turn] = ()
) -> tuple[Message, ...]:
    """Write the conversation that asks for an answer from numbered pieces; without any, from memory."""
    told = [
        f"You know the open source repository {repository} well and answer questions about it.",
        "Be truthful and brief: one to five sentences.",
    ]
    if pieces:
        told += [
            "Use nothing but the numbered evidence.",
            "End each sentence with the number of the evidence that says it, such as [2].",
        ]
    told += [f"If {'the evidence does' if pieces else 'you do'} not tell the answer, write only: {UNKNOWN}."]
    messages = [Message("system", " ".join(told))]
    for turn in turns:
        messages += [Message("user", turn.question), Message("assistant", turn.answer)]
    shown = "\n\n".join(write_piece(number, piece) for number, piece in pieces)
    asked = f"[QUESTION]\n{question}\n[/QUESTION]"
    messages.append(Message("user", f"[EVIDENCE]\n{shown}\n[/EVIDENCE]\n\n{asked}" if pieces else asked))
    return tuple(messages)


def write_piece(number: int, piece: Evidence) -> str:
    """Write one piece under its number and its place."""
    return f"[{number}] {piece.span} ({piece.title})\n{piece.content}"
