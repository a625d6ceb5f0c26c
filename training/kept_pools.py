"""Collect the candidates of many questions once, and keep them: searches take minutes, what is measured of them seconds."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt
from measure import run_pkg
from question_sets import Question, QuestionSet

from pkg.api import Graph, open_graph
from pkg.encode.registry import load_encoder
from pkg.model import Label, NodeFilter, Outline
from pkg.retrieval.pool import Pool, collect_pool
from pkg.retrieval.query import encode_question
from pkg.retrieval.question import parse_question

PACKAGE = Path(__file__).resolve().parents[1] / "pkg"
_JUDGING = ("retrieval", "generation", "rerank", "evaluation", "service", "console")
"""Folders of the package that decide nothing about which candidates there are, but for pool.py and question.py."""


def keep_pools(
    chosen: QuestionSet, questions: Sequence[Question], label: Label, encoder: str, answers: int, kept: Path
) -> list[Pool]:
    """Read the pools of questions that an earlier run has kept for the same code, or collect and keep them."""
    asked = sha256("\n".join(question.text for question in questions).encode()).hexdigest()[:8]
    folder = kept / f"pools-{_hash_package()}"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{chosen.name}-{label.value}-{encoder.partition(':')[0]}-{answers}-{asked}.pickle"
    if not file.exists():
        with open_kept(chosen, encoder, kept) as graph:
            pools = collect_pools(graph, questions, label, answers)
        file.with_suffix(".tmp").write_bytes(pickle.dumps(pools))
        file.with_suffix(".tmp").rename(file)
    pools: list[Pool] = pickle.loads(file.read_bytes())
    return pools


def open_kept(chosen: QuestionSet, encoder: str, kept: Path) -> Graph:
    """Open the graph of a set, and build it unless it is there."""
    folder = kept / f"pools-{_hash_package()}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{chosen.name}-{encoder.partition(':')[0]}.db"
    address = f"sqlite:///{path}"
    if not path.exists():
        run_pkg(["build", str(chosen.code), "--encoder", encoder, "--store", address, "--json"], folder)
    return open_graph(address)


@cache
def _hash_package() -> str:
    """Hash the part of the package that says which candidates there are."""
    digest = sha256()
    for path in sorted(PACKAGE.rglob("*")):
        inside = path.relative_to(PACKAGE)
        judges = inside.parts[0] in _JUDGING and inside.name not in ("pool.py", "question.py")
        if path.is_file() and path.suffix != ".pyc" and not judges:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def collect_pools(graph: Graph, questions: Sequence[Question], label: Label, answers: int) -> list[Pool]:
    """Collect the candidates for each question as the product does."""
    encoder = load_encoder(graph.store.encoder()[0])
    pools = []
    for question in questions:
        parsed = parse_question(question.text)
        with graph.store.snapshot():
            query = encode_question(encoder, question.text)
            pools.append(collect_pool(graph.store, parsed, query, label, answers, NodeFilter()))
    return pools


def find_right(pool: Pool, chosen: QuestionSet, question: Question, of_function: bool = False) -> npt.NDArray[np.bool_]:
    """Tell which candidates are right: bool [candidates]; where functions are, their bodies are.

    of_function: any block of a right function counts.
    """
    right = [_is_right(pool, row, chosen, question, of_function) for row in range(len(pool.outlines))]
    same = {each.content_hash for each, is_right in zip(pool.outlines, right, strict=True) if is_right}
    is_equal = [each.label is Label.FUNCTION and each.content_hash in same for each in pool.outlines]
    return np.array(right, bool) | np.array(is_equal, bool)


def _is_right(pool: Pool, row: int, chosen: QuestionSet, question: Question, of_function: bool) -> bool:
    outline, owner = pool.outlines[row], pool.owners[row]
    if chosen.mode == "block":
        return f"{outline.path}::{owner.qualname}::{outline.name}" in question.gold
    is_whole = of_function or outline.label is Label.FUNCTION or outline.kind == "body"
    return is_whole and any(_is_place(owner, chosen, place) for place in question.gold)


def _is_place(owner: Outline, chosen: QuestionSet, place: str) -> bool:
    """Tell whether a function stands at a place; a source distribution may have it in a folder more."""
    if chosen.is_of_units:
        return owner.path == place
    path, _, qualname = place.partition("::")
    return owner.qualname == qualname and f"/{owner.path}".endswith(f"/{path}")
