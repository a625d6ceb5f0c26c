"""Order the documents of `pkg eval --documents` by late interaction (U-04): whether the right one comes first.

    python benchmarks/late_interaction.py --data FOLDER

FOLDER has `conala/test.jsonl.gz` and the questions of CoSQA. The documents are the rows of CoNaLa under their rewritten
questions, and the questions of CoSQA with their answers. Every fourth row of CoNaLa is asked by its original question,
and right is the document with its snippet. The ten best by cosine are ordered by the states of tokens of encoders.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from cosqa_questions import read_cosqa_questions
from measure import Figures, make_parser, read_options, write_lines, write_result
from shared_data import CONALA, find_files, read_rows

from pkg.encode.registry import load_encoder
from pkg.lab.evaluation.documents.document_finder import DEPTH, SHOWN
from pkg.lab.evaluation.documents.document_index import DocumentIndex
from pkg.lab.evaluation.documents.document_rows import Document, read_documents
from pkg.lab.evaluation.documents.late_interaction import open_token_model, order_by_tokens

EVERY = 4  # rows of CoNaLa to one question
ORDERS = ("minilm",)  # encoders with states of tokens


def write_cosqa(data: Path, folder: Path) -> str:
    """Write the questions of CoSQA with their answers in the format of its own file; return the path."""
    cosqa = read_cosqa_questions(data)
    codes = {row["_id"]: row["code"] for row in read_rows(cosqa.code)}
    answered = [{"doc": each.text, "code": codes[each.gold[0]], "label": 1} for each in cosqa.questions]
    return write_lines(folder / "cosqa.jsonl", answered)


def measure(documents: Sequence[Document], asked: Sequence[tuple[str, str]]) -> Figures:
    """Return, for cosine and each encoder, how many right documents are first and in a prompt, and the cost."""
    index = DocumentIndex(documents, load_encoder("static"))
    found = [[document for document, _ in index.search(question, DEPTH)] for question, _ in asked]
    figures = {"cosine": count_right(found, asked, 0.0)}
    for name in ORDERS:
        model, start = open_token_model(name), time.process_time()
        ordered = [
            [hits[place] for place in order_by_tokens(model, question, [each.text for each in hits])]
            for (question, _), hits in zip(asked, found, strict=True)
        ]
        figures[name] = count_right(ordered, asked, time.process_time() - start)
    return figures


def count_right(found: Sequence[Sequence[Document]], asked: Sequence[tuple[str, str]], seconds: float) -> Figures:
    """Return how many right documents are first and in a prompt, their mean reciprocal rank, and the CPU seconds."""
    ranks = [
        next((rank for rank, each in enumerate(hits, 1) if each.solution.strip() == right.strip()), 0)
        for hits, (_, right) in zip(found, asked, strict=True)
    ]
    return {
        "first": sum(rank == 1 for rank in ranks),
        "shown": sum(0 < rank <= SHOWN for rank in ranks),
        "mrr": round(sum(1 / rank for rank in ranks if rank) / len(ranks), 3),
        "cpu_seconds": round(seconds, 1),
    }


def main() -> None:
    """Search, order, and write the figures."""
    given = read_options(make_parser(__doc__))
    (conala,) = find_files(given.data, CONALA)
    with tempfile.TemporaryDirectory() as folder:
        documents = read_documents([str(conala), write_cosqa(given.data, Path(folder))]).documents
    asked = [(row["intent"], row["snippet"]) for row in islice(read_rows(conala), 0, None, EVERY)]
    figures = {"documents": len(documents), "questions": len(asked), "ordered": DEPTH, "shown": SHOWN}
    write_result("late_interaction", figures | {"orders": measure(documents, asked)})


if __name__ == "__main__":
    main()
