"""Collect the candidates of many questions once, and store them: searches take minutes, measuring them seconds."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from functools import cache as remember
from hashlib import sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt
from measure import run_pkg
from question_sets import Question, QuestionSet

from pkg.api import Graph, open_graph
from pkg.encode.registry import load_encoder
from pkg.model import Label, NodeFilter, Outline
from pkg.retrieval.candidate_pool import Pool, collect_pool
from pkg.retrieval.query import encode_question
from pkg.retrieval.question import parse_question

PACKAGE = Path(__file__).resolve().parents[1] / "pkg"
_GRAPH = (
    "extract", "indexing", "encode", "enhance", "resolution", "graph/embedded/sql.py", "units.py",
    "terms/packed_terms.py", "terms/words.py", "weights/static.json", "weights/lexical.json",
)  # fmt: skip
"""Code that determines the contents of a graph."""
_POOL = (
    "retrieval/candidate_pool.py", "retrieval/features.py", "retrieval/question.py", "terms", "vectors", "weights",
)  # fmt: skip
"""Code that determines, with the graph, the candidates and their features."""


def keep_pools(
    chosen: QuestionSet, questions: Sequence[Question], label: Label, encoder: str, answers: int, cache: Path
) -> list[Pool]:
    """Read the pools of questions stored by an earlier run of the same code, or collect and store them."""
    asked = sha256("\n".join(question.text for question in questions).encode()).hexdigest()[:8]
    folder = cache / f"pools-{_hash_code(_GRAPH + _POOL)}"
    file = folder / f"{chosen.name}-{label.value}-{encoder.partition(':')[0]}-{answers}-{asked}.pickle"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with open_kept(chosen, encoder, cache) as graph:
            pools = collect_pools(graph, questions, label, answers)
        file.with_suffix(".tmp").write_bytes(pickle.dumps(pools))
        file.with_suffix(".tmp").rename(file)
    kept: list[Pool] = pickle.loads(file.read_bytes())
    return kept


def open_kept(chosen: QuestionSet, encoder: str, cache: Path) -> Graph:
    """Open the graph of a set; build it if it is missing."""
    folder = cache / f"graphs-{_hash_code(_GRAPH)}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{chosen.name}-{encoder.partition(':')[0]}.db"
    address = f"sqlite:///{path}"
    if not path.exists():
        run_pkg(["build", str(chosen.code), "--encoder", encoder, "--store", address, "--json"], folder)
    return open_graph(address)


@remember
def _hash_code(parts: tuple[str, ...]) -> str:
    """Hash parts of the package; raises FileNotFoundError for a part that has moved."""
    digest = sha256()
    for part in parts:
        (PACKAGE / part).stat()
        for path in sorted((PACKAGE / part).rglob("*") if (PACKAGE / part).is_dir() else [PACKAGE / part]):
            if path.is_file() and path.suffix != ".pyc":
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
            pools.append(collect_pool(graph.store, parsed, query, label, answers, NodeFilter(), with_declarations=True))
    return pools


def find_right(pool: Pool, chosen: QuestionSet, question: Question, of_function: bool = False) -> npt.NDArray[np.bool_]:
    """Return which candidates are right: bool [candidates]; the body of a right function is right.

    of_function: any block of a right function is right.
    """
    right = [_is_right(pool, row, chosen, question, of_function) for row in range(len(pool.outlines))]
    same = {each.content_hash for each, is_right in zip(pool.outlines, right, strict=True) if is_right}
    is_equal = [each.label is Label.FUNCTION and each.content_hash in same for each in pool.outlines]
    return np.logical_or(right, is_equal)


def _is_right(pool: Pool, row: int, chosen: QuestionSet, question: Question, of_function: bool) -> bool:
    outline, owner = pool.outlines[row], pool.owners[row]
    if chosen.mode == "block":
        return f"{outline.path}::{owner.qualname}::{outline.name}" in question.gold
    is_whole = of_function or outline.label is not Label.BLOCK or outline.kind == "body"
    return is_whole and any(_is_place(owner, chosen, place) for place in question.gold)


def _is_place(owner: Outline, chosen: QuestionSet, place: str) -> bool:
    """Return whether a function is at a place; a source distribution may have it one folder deeper."""
    if chosen.is_of_units:
        return owner.path == place
    path, _, qualname = place.partition("::")
    return owner.qualname == qualname and f"/{owner.path}".endswith(f"/{path}")
