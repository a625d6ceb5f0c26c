"""Facts of tutorials (P-12): their number and cost, and forty questions whose right sections were written before.

The questions, in data/tutorial_questions.jsonl, name sections of the Python documentation and a cheat sheet. A result
is right if it lies in a right section, or contains the beginning of one. Beside the facts are the lexical search of the
papers (BM25) among whole documents and among sections, and PKG's own search among the sections of the same texts.

    python benchmarks/tutorials.py --trees numpy-1f90bbb5 sphinx-e44a40eb

builds folders of documents instead, and compares the text of every fact with the text at its place.
"""

from __future__ import annotations

import json
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from measure import Figures, make_parser, read_line, read_options, run_pkg, write_result
from shared_data import find_files, read_rows

from pkg.api import open_graph
from pkg.extract.documents.document_kinds import find_document_kind, guess_document_kind
from pkg.extract.documents.document_reader import read_document
from pkg.extract.documents.reading import Reading
from pkg.extract.documents.structure_reader import write_text
from pkg.extract.text_files.text_kinds import TextKind
from pkg.extract.text_files.text_sections import cut_sections, name_document
from pkg.indexing.inputs import LoadedUnit, hash_text
from pkg.indexing.model_reader import ModelReader
from pkg.lab.evaluation.retrieval.rankings import PlainBM25
from pkg.model import Label, Node
from pkg.models.registry import open_model
from pkg.models.text_cache import TextCache
from pkg.retrieval.query_options import Mode

TUTORIALS = {
    "tutorials/docs_python_3.9.jsonl.gz": "8596cc63f385ea1ba01e431f2f7280ebe0e876e6c0ee50717b60dcc45404f6e2",
    "tutorials/python_cheatsheet.jsonl.gz": "d2329b49ee2d392f038427d9e569c7386b459abcd802a543d00c9f23d902916f",
}
QUESTIONS = Path(__file__).with_name("data") / "tutorial_questions.jsonl"
FIRST = 5  # results that are judged
DOCUMENTS, SHORTEST, LONGEST = 40, 300, 1_000  # read by a model: their number, least and most characters
TARGET = 0.85  # share of the questions with a right section among the first


class Shown(NamedTuple):
    """A result: its row, its lines, and the text that is shown."""

    row: str
    first: int
    last: int
    text: str


@dataclass(frozen=True, slots=True)
class Section:
    """A right section: its row, its lines, and its first two lines that are not blank."""

    row: str
    first: int
    last: int
    begins: tuple[str, ...]

    def holds(self, shown: Shown) -> bool:
        """Return whether a result lies in the section, or contains its beginning."""
        if shown.row != self.row:
            return False
        is_inside = self.first <= shown.first and shown.last <= self.last
        return is_inside or all(line in shown.text for line in self.begins)


def read_corpora(data: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each corpus by its name."""
    return {path.name.split(".jsonl")[0]: list(read_rows(path)) for path in find_files(data, TUTORIALS)}


def read_questions(corpora: dict[str, list[dict[str, Any]]]) -> list[tuple[str, list[Section]]]:
    """Return the questions with their right sections."""
    asked = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    return [(row["question"], [each for gold in row["gold"] for each in find_sections(corpora, gold)]) for row in asked]


def find_sections(corpora: dict[str, list[dict[str, Any]]], gold: dict[str, str]) -> Iterator[Section]:
    """Yield the sections of an answer: those of a row below a line, or the rows of a file with a heading."""
    for row in corpora[gold["corpus"]]:
        lines = row["text"].split("\n")
        if row["id"] == gold["row"]:
            for number, line in enumerate(lines, 1):
                if line.startswith(gold["section"]):
                    yield _cut_section(row["id"], lines, number)
        elif (row.get("path"), row.get("heading")) == (gold["row"], gold["section"]):
            begins = [line.strip() for line in lines if line.strip()][:2]
            yield Section(row["id"], 1, len(lines), tuple(begins))


_HEAD = re.compile(r"(#+) |`[^`]+`\s*$")


def _cut_section(row: str, lines: Sequence[str], number: int) -> Section:
    own = _HEAD.match(lines[number - 1])
    level = len(own[1]) if own and own[1] else 99
    last = len(lines)
    for at in range(number, len(lines)):
        found = _HEAD.match(lines[at])
        if found and (len(found[1]) if found[1] else 99) <= level:
            last = at
            break
    begins = [line.strip() for line in lines[number - 1 : last] if line.strip()][:2]
    return Section(row, number, last, tuple(begins))


def list_sections(corpora: dict[str, list[dict[str, Any]]]) -> Iterator[Shown]:
    """Yield the sections into which text files are cut, of every row."""
    for rows in corpora.values():
        for row in rows:
            text = row["text"].encode()
            name = row.get("heading") or name_document(row["id"])
            kind: TextKind = "rst" if guess_document_kind(text) == "rst" else "markdown"
            for chunk in cut_sections(text, kind, name):
                content = text[chunk.span.start : chunk.span.end].decode()
                yield Shown(row["id"], chunk.span.start_line, chunk.span.end_line, f"{chunk.qualname}\n{content}")


def rank_lexically(pieces: Sequence[Shown]) -> Callable[[str], list[Shown]]:
    """Return a search by BM25."""
    index = PlainBM25([str(place) for place in range(len(pieces))], [each.text for each in pieces])
    return lambda question: [pieces[int(place)] for place in index.rank(question, FIRST)]


def measure(questions: Sequence[tuple[str, list[Section]]], search: Callable[[str], list[Shown]]) -> Figures:
    """Return the share of questions with a right result first, and among the first."""
    ranks = []
    for text, sections in questions:
        found = search(text)
        ranks.append(next((rank for rank, each in enumerate(found, 1) if any(s.holds(each) for s in sections)), 0))
    return {
        "first": sum(rank == 1 for rank in ranks) / len(ranks),
        f"among_{FIRST}": sum(rank > 0 for rank in ranks) / len(ranks),
        "missed": [text for (text, _), rank in zip(questions, ranks, strict=True) if not rank],
    }


def build_facts(data: Path, folder: Path, address: str) -> Figures:
    """Build both corpora by structure; return the counts and costs."""
    figures: Figures = {}
    for path in find_files(data, TUTORIALS):
        run = run_pkg(["build", str(path), "--store", address, "--reader", "structure"], folder)
        name = path.name.split(".jsonl")[0]
        with open_graph(address) as graph:
            stats = graph.stats(read_line(run)["source"])
        figures[name] = {
            "rows": read_line(run)["written"],
            "cpu_seconds": round(run.cpu, 2),
            "facts": stats.nodes["Fact"],
            "relations": stats.fact_relations,
            "functions": stats.nodes.get("Function", 0),
        }
    return figures


def search_graph(address: str, mode: Mode) -> Callable[[str], list[Shown]]:
    """Return a search of a graph."""
    graph = open_graph(address)

    def search(question: str) -> list[Shown]:
        hits = graph.query(question, mode=mode, top_k=FIRST).hits
        return [Shown(hit.path.removesuffix(".md"), hit.start_line, hit.end_line, hit.pruned_content) for hit in hits]

    return search


def build_sections(corpora: dict[str, list[dict[str, Any]]], folder: Path, address: str) -> None:
    """Build a graph of the same texts as text files, which are cut into sections."""
    root = folder / "texts"
    for rows in corpora.values():
        for row in rows:
            place = root / f"{row['id']}.md"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(row["text"], encoding="utf-8")
    (root / "none.py").write_text("", encoding="utf-8")
    run_pkg(["build", str(root), "--store", address], folder)


def read_by_model(corpora: dict[str, list[dict[str, Any]]], model: str, limit: float) -> Figures:
    """Return how much of the documents, cut to a length that a small model reads fast, a model turns into JSON.

    limit: CPU seconds after which no further document is read.
    """
    rows = [row for row in corpora["python_cheatsheet"] if len(row["text"]) >= SHORTEST]
    chosen = rows[:: max(1, len(rows) // DOCUMENTS)][:DOCUMENTS]
    start, facts, done = time.process_time(), 0, 0
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(TextCache(Path(folder) / "texts.db")) as cache,
        closing(open_model(model)) as opened,
    ):
        reader = ModelReader(opened, cache)
        for row in chosen:
            if time.process_time() - start > limit:
                break
            text = row["text"][:LONGEST].encode()
            reading = Reading("markdown", (row["heading"],))
            unit = reader.read(LoadedUnit(row["id"], "", Label.ROW, hash_text(text), text, reading=reading))
            if unit.reading is not None:
                facts += len(read_document(unit.text, unit.path, unit.reading).facts)
            done += 1
    return {
        "model": Path(model).name,
        "documents": done,
        "bytes": LONGEST,
        "pieces": reader.pieces,
        "valid_json": round(reader.valid / max(reader.pieces, 1), 3),
        "valid_at_once": round(reader.first / max(reader.pieces, 1), 3),
        "facts": facts,
        "cpu_seconds": round(time.process_time() - start, 1),
    }


def read_tree(root: Path, folder: Path) -> Figures:
    """Build the documents of a folder by structure; return the counts, and every node that is not what stands there."""
    address = f"sqlite:///{folder / root.name}.db"
    run = run_pkg(["build", str(root), "--store", address, "--reader", "structure"], folder)
    with open_graph(address) as graph:
        stats = graph.stats()
        nodes: dict[str, list[Node]] = {node.path: [] for node in graph.store.nodes([Label.FACT])}
        for node in graph.store.nodes([Label.FACT, Label.FUNCTION]):
            if node.path in nodes:
                nodes[node.path].append(node)
    return {
        "documents": len(nodes),
        "cpu_seconds": round(run.cpu, 2),
        "facts": stats.nodes["Fact"],
        "relations": stats.fact_relations,
        "functions": sum(node.label is Label.FUNCTION for each in nodes.values() for node in each),
        "internal_errors": len(stats.errors),
        "wrong_places": [name for path in sorted(nodes) for name in list_wrong_places(root / path, nodes[path])],
    }


def list_wrong_places(path: Path, nodes: Sequence[Node]) -> Iterator[str]:
    """Yield the facts and functions of a document whose text or lines are not those at their place."""
    text, _, _ = write_text(path.read_bytes(), find_document_kind(path.name) or "text")
    for node in nodes:
        lines = [text.count(b"\n", 0, place) + 1 for place in (node.start, node.end)]
        if text[node.start : node.end] != node.content.encode() or lines != [node.start_line, node.end_line]:
            yield f"{node.path} {node.qualname}"


def main() -> None:
    """Build and ask both graphs; with a model, let it read some documents."""
    parser = make_parser(__doc__)
    parser.add_argument("--model", help="text model that reads some documents, such as gguf:FILE")
    parser.add_argument("--limit", type=float, default=1500, help="CPU seconds of the model")
    parser.add_argument("--trees", type=Path, nargs="+", help="folders of documents to build, named with their version")
    given = read_options(parser)
    if given.trees:
        with tempfile.TemporaryDirectory() as name:
            write_result("tutorials_trees", {each.name: read_tree(each.resolve(), Path(name)) for each in given.trees})
        return
    if given.model:
        figures = read_by_model(read_corpora(given.data), given.model, given.limit)
        write_result("tutorials_model", figures)
        return
    corpora = read_corpora(given.data)
    questions = read_questions(corpora)
    documents = [
        Shown(row["id"], 1, row["text"].count("\n") + 1, row["text"]) for rows in corpora.values() for row in rows
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        address, beside = (f"sqlite:///{folder / each}.db" for each in ("facts", "sections"))
        figures = {"graphs": build_facts(given.data, folder, address), "questions": len(questions), "target": TARGET}
        build_sections(corpora, folder, beside)
        found = {
            "facts": measure(questions, search_graph(address, "fact")),
            "sections": measure(questions, search_graph(beside, "text")),
            "bm25_sections": measure(questions, rank_lexically(list(list_sections(corpora)))),
            "bm25_documents": measure(questions, rank_lexically(documents)),
        }
    write_result("tutorials", figures | {"found": found})


if __name__ == "__main__":
    main()
