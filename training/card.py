"""Write the model card: training data, scores, limitations, and files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from batches import SIZE
from learning import RATE, STEPS, TEMPERATURE
from matrices import Pairs
from scores import Scores
from sources import TrainingPackage

TEMPLATE = Path(__file__).with_name("card_template.md")


@dataclass(frozen=True, slots=True)
class Card:
    """Contents of a card besides the files."""

    packages: Sequence[TrainingPackage]
    pairs: Pairs
    scores: Sequence[Scores]
    runs: int  # number of averaged runs
    cpu: int  # seconds


def write_card(card: Card, weights: Path, target: Path) -> None:
    """Write the card for the weights in a folder."""
    counts = card.pairs.counts
    rows = np.load(weights / "static.npy", mmap_mode="r")
    text = TEMPLATE.read_text("utf-8").format(
        rows=len(rows),
        dimension=rows.shape[1],
        terms=len(np.load(weights / "term_weights.npy")),
        kinds=len(np.load(weights / "question_kinds.npy")),
        gains=len(np.load(weights / "name_gains.npy", mmap_mode="r")),
        files="\n".join(_list_files(weights)),
        functions=counts["functions"],
        packages=len(card.packages),
        first=counts["questions: first"],
        later=counts["questions: later"],
        comments=counts["questions: comments"],
        blocks=counts["questions: blocks"],
        asked=counts["questions: asked"],
        excluded=counts["functions of evaluation sets"],
        texts=counts["texts of evaluation sets"],
        sources="\n".join(_list_sources(card)),
        size=SIZE,
        temperature=TEMPERATURE,
        steps=STEPS,
        rate=RATE,
        runs=card.runs,
        cpu=card.cpu,
        scores="\n".join(_list_scores(card.scores)),
    )
    target.write_text(text, encoding="utf-8")


def _list_files(weights: Path) -> list[str]:
    files = sorted(path for path in weights.iterdir() if path.is_file())
    return [
        f"| `{path.name}` | {path.stat().st_size:,} | `{sha256(path.read_bytes()).hexdigest()}` |" for path in files
    ]


def _list_sources(card: Card) -> list[str]:
    amounts = np.bincount(card.pairs.functions.packages, minlength=len(card.packages)).tolist()
    return [
        f"| {each.name} | {each.package.version} | {each.licence} | {amount:,} |"
        for each, amount in zip(card.packages, amounts, strict=True)
    ]


def _list_scores(scores: Sequence[Scores]) -> list[str]:
    return [f"| {each.system} | {each.questions} | {each.mrr} | {each.recall or ''} |" for each in scores]
