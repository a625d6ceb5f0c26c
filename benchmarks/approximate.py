"""Measure at which number of vectors an approximate index pays: exact search against usearch, at growing sizes.

    python benchmarks/approximate.py --data FOLDER [--cache FOLDER] [--largest 3200000] [--indexed 1600000]

The vectors are those of the functions and blocks of real packages in shuffled order, followed by copies with a little
noise, each with a content id of its own. The questions are prompts of HumanEval and texts of MBPP. Both searches
rescore their matches by the same vectors, so that only the search differs. The index holds signed bytes and is built by
one thread. It grows from size to size, and its cost is the sum. Where the exact search exceeds a limit beyond the
largest size, the crossing is extrapolated from the last two.
"""

from __future__ import annotations

import json
import math
import resource
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from measure import MEGABYTE, Figures, make_parser, open_folder, read_line, read_options, run_pkg, run_process
from measure import write_result as write_figures
from packages import DJANGO, NETWORKX, PANDAS, SCIKIT_LEARN, SPYDER, SYMPY, fetch_package
from shared_data import read_questions

from pkg.encode.registry import DEFAULT_ENCODER, load_encoder
from pkg.graph.embedded import sql
from pkg.model import Label
from pkg.vectors.best import pick_representatives
from pkg.vectors.exact import OVERSAMPLING, Row, Segment, normalise, quantise, score_vectors
from pkg.vectors.quantised import pack_vectors, unpack_vectors
from pkg.vectors.vector_file import read_index, write_index

PACKAGES = (DJANGO, SPYDER, SYMPY, PANDAS, SCIKIT_LEARN, NETWORKX)
SMALLEST, LARGEST, INDEXED = 100_000, 3_200_000, 1_600_000
QUESTIONS, EACH = 100, 11  # every eleventh of 1,138
NOISE = 1 / 3  # length of the noise of a copy, whose cosine with its original is about .95
COUNTS = (10, 100)  # the default of a user, and the ranker's candidates from one search
EXPANSIONS = (128, 512, 1024)  # candidate list sizes of usearch
LIMITS = (10, 50)  # CPU milliseconds
CHANGED = 1000  # vectors that an update removes, and that it adds

Floats = npt.NDArray[np.float32]


def make_vectors(store: Path, folder: Path, largest: int) -> int:
    """Write the vectors of a store and copies of them to a file; return the number of real ones."""
    with sqlite3.connect(store) as connection:
        labels = [sql.LABEL_NUMBERS[label] for label in (Label.FUNCTION, Label.BLOCK)]
        rows = [row for label in labels for row in connection.execute(sql.LIST_VECTORS, (label, 0))]
        dimension = dict(connection.execute(sql.LIST_META))["dimension"]
    random = np.random.default_rng(0)
    real = [rows[place] for place in random.permutation(len(rows))[:largest].tolist()]
    vectors = chain(((row[2], row[-1]) for row in real), _list_copies(real, dimension, random))
    numbered = (_make_row(*each) for each in enumerate(islice(vectors, largest)))
    write_index(folder / "codes", "", dimension, {"all": largest}, lambda _: numbered, {})
    return len(real)


def _make_row(place: int, each: tuple[int | None, bytes]) -> Row:
    """Number the vectors from 1; a copy has a content id of its own."""
    content, data = each
    return place + 1, place + 1, -place if content is None else content, 1, 1, 0, data


def _list_copies(rows: list[Row], dimension: int, random: np.random.Generator) -> Iterator[tuple[None, bytes]]:
    """Yield copies without end, each with its own noise."""
    vectors = normalise(unpack_vectors([row[-1] for row in rows], dimension))
    while True:
        noise = normalise(random.standard_normal(vectors.shape, np.float32))
        yield from ((None, data) for data in pack_vectors(vectors + NOISE * noise))


def open_vectors(folder: Path, size: int) -> Segment:
    """Map the first `size` vectors of the file."""
    index = read_index(folder / "codes")
    assert index is not None
    whole = index.segments["all"]
    return Segment({name: column[:size] for name, column in whole.columns.items()}, whole.codes[:size])


def grow_index(folder: Path, sizes: list[int]) -> dict[int, Figures]:
    """Grow the index from size to size and save each; return the cumulative cost at each size."""
    from usearch.index import Index

    segment = open_vectors(folder, sizes[-1])
    index: Any = Index(ndim=segment.codes.shape[1], metric="cos", dtype="i8")
    figures: dict[int, Figures] = {}
    spent, start = 0.0, 0
    for size in sizes:
        used = time.process_time()
        index.add(np.arange(start, size, dtype=np.uint64), segment.codes[start:size], threads=1)
        spent += time.process_time() - used
        start = size
        index.save(_name_index(folder, size))
        figures[size] = {
            "build_cpu_s": round(spent, 1),
            "build_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MEGABYTE),
            "file_mb": round(_name_index(folder, size).stat().st_size / MEGABYTE, 1),
        }
    figures[sizes[-1]]["update"] = _update_index(folder, segment)
    return figures


def _update_index(folder: Path, segment: Segment) -> Figures:
    """Remove some vectors and add as many, as after a change of some files."""
    from usearch.index import Index

    gone = np.random.default_rng(1).choice(len(segment), CHANGED, replace=False).astype(np.uint64)
    marks = [time.process_time()]
    index: Any = Index(ndim=segment.codes.shape[1], metric="cos", dtype="i8")
    index.load(_name_index(folder, len(segment)))
    marks.append(time.process_time())
    index.remove(gone, threads=1)
    index.add(gone + np.uint64(len(segment)), segment.codes[gone], threads=1)
    marks.append(time.process_time())
    index.save(folder / "updated")
    marks.append(time.process_time())
    (folder / "updated").unlink()
    steps = zip(("load_cpu_s", "change_cpu_s", "save_cpu_s"), np.diff(marks), strict=True)
    return {"changed": CHANGED, **{name: round(float(taken), 3) for name, taken in steps}}


def _name_index(folder: Path, size: int) -> Path:
    return folder / f"index-{size}"


def view_index(folder: Path, size: int) -> Any:
    """Map a saved index."""
    from usearch.index import Index

    index: Any = Index(ndim=1)
    index.view(_name_index(folder, size))
    return index


def search_near(index: Any, segment: Segment, k: int, query: Floats) -> list[int]:
    """Fetch more than k from the index, score them exactly and deduplicate content, as the exact search does."""
    codes, _ = quantise(normalise(query[None, :]))
    found = index.search(codes[0], k + OVERSAMPLING, threads=1).keys.astype(np.int64)
    scores, hashes = score_vectors(segment.codes[found], query), segment.columns["hash"]
    leaders = pick_representatives(found.astype(np.uint64), scores, hashes[found])[:k]
    return [int(place) + 1 for place in found[leaders]]


def search_exactly(segment: Segment, k: int, query: Floats) -> list[int]:
    """Search as the embedded store does."""
    return [int(match.id, 16) for match in segment.search(query, k, None).matches]


def search_all(folder: Path, questions: list[str], size: int, has_index: bool) -> Figures:
    """Run all questions on both searches; return the cost of each and the recall of the approximate one."""
    segment = open_vectors(folder, size)
    encoder = load_encoder(DEFAULT_ENCODER)
    queries = [encoder.encode_query(question) for question in questions]
    figures: Figures = {}
    for k in COUNTS:
        exact, figures[f"exact_{k}"] = _ask(partial(search_exactly, segment, k), queries)
        for expansion in EXPANSIONS if has_index else ():
            index = view_index(folder, size)
            index.expansion_search = expansion
            near, cost = _ask(partial(search_near, index, segment, k), queries)
            figures[f"near_{k}_expansion_{expansion}"] = cost | _compare(exact, near, k)
    return figures


def _compare(exact: list[list[int]], near: list[list[int]], k: int) -> Figures:
    """Return the share of the exact results that the approximate search also finds."""
    shared = [len({*one} & {*other}) / len(one) for one, other in zip(exact, near, strict=True)]
    return {
        "recall": round(float(np.mean(shared)), 4),
        "least_recall": round(min(shared), 2),
        "fewer_than_k": sum(len(one) < k for one in near),
    }


def _ask(search: Callable[[Floats], list[int]], queries: list[Floats]) -> tuple[list[list[int]], Figures]:
    """Return the results and percentiles of the cost; the first question runs twice, because it maps pages."""
    found, taken = [], []
    for query in (queries[0], *queries):
        used = time.process_time()
        found.append(search(query))
        taken.append((time.process_time() - used) * 1000)
    ranked = sorted(taken[1:])
    return found[1:], {"cpu_ms_p50": round(ranked[len(ranked) // 2], 2), "cpu_ms_p95": round(ranked[-5], 2)}


def search_first(folder: Path, size: int, is_exact: bool) -> Figures:
    """Run one question in a new process: the cost of a command, including imports and mapping."""
    segment = open_vectors(folder, size)
    query = segment.codes[0].astype(np.float32)
    used = time.process_time()
    if is_exact:
        search_exactly(segment, COUNTS[-1], query)
        return {"cpu_ms": round((time.process_time() - used) * 1000, 1)}
    index = view_index(folder, size)
    opened = time.process_time()
    search_near(index, segment, COUNTS[-1], query)
    marks = {"open_cpu_ms": opened - used, "cpu_ms": time.process_time() - used}
    return {name: round(taken * 1000, 1) for name, taken in marks.items()}


def build_store(store: Path, cache: Path) -> None:
    """Build one graph of all packages."""
    for package in PACKAGES:
        run_pkg(["build", str(fetch_package(package, cache)), "--store", f"sqlite:///{store}", "--json"], store.parent)


def measure(data: Path, cache: Path, work: Path, largest: int, indexed: int) -> Figures:
    """Create the vectors, then the index, then search at each size, each step in its own process."""
    store = work / "approximate.db"
    build_store(store, cache)
    return measure_store(store, data, work, largest, indexed)


def measure_store(store: Path, data: Path, work: Path, largest: int, indexed: int) -> Figures:
    """Measure with the vectors of a graph."""
    sizes = [SMALLEST << step for step in range((largest // SMALLEST).bit_length())]
    real = _run_step(work, "make", str(store), largest)
    built = _run_step(work, "grow", [size for size in sizes if size <= indexed])
    figures = {}
    for size in sizes:
        has_index = size <= indexed
        (work / "questions.json").write_text(json.dumps(read_questions(data)[::EACH][:QUESTIONS]), encoding="utf-8")
        figures[str(size)] = {
            **_run_step(work, "search", size, has_index),
            "first_exact_100": _run_step(work, "first", size, True),
            **({"first_near_100": _run_step(work, "first", size, False)} if has_index else {}),
            **built.get(str(size), {}),
        }
    return {"real_vectors": real, "questions": QUESTIONS, "sizes": figures, **_conclude(figures)}


def _run_step(work: Path, *step: Any) -> Any:
    """Run one step in a new process, so that its memory starts at zero."""
    command = [sys.executable, __file__, "--step", json.dumps([str(work), *step])]
    return read_line(run_process(command, work))


def run_step(folder: str, name: str, *values: Any) -> Any:
    """Run the step that the parent process requests."""
    work = Path(folder)
    if name == "make":
        return make_vectors(Path(values[0]), work, values[1])
    if name == "grow":
        return grow_index(work, values[0])
    if name == "search":
        return search_all(work, json.loads((work / "questions.json").read_text(encoding="utf-8")), *values)
    return search_first(work, *values)


def _conclude(sizes: dict[str, Figures]) -> Figures:
    """Return the sizes at which the exact search exceeds the limits, and how many questions pay for the index."""
    costs = {k: {int(size): each[f"exact_{k}"]["cpu_ms_p50"] for size, each in sizes.items()} for k in COUNTS}
    near = f"near_{COUNTS[-1]}_expansion_{EXPANSIONS[-1]}"
    saved = {
        size: (each[f"exact_{COUNTS[-1]}"]["cpu_ms_p50"] - each[near]["cpu_ms_p50"]) / 1000
        for size, each in sizes.items()
        if near in each
    }
    return {
        "exact_exceeds": {f"{limit}_ms": {str(k): _cross(costs[k], limit) for k in COUNTS} for limit in LIMITS},
        "questions_that_pay": {
            size: round(sizes[size]["build_cpu_s"] / each) if each > 0 else None for size, each in saved.items()
        },
    }


def _cross(costs: dict[int, float], limit: float) -> int:
    """Return the size at which a cost reaches the limit, interpolated linearly and extrapolated from the last two."""
    points = [(0, 0.0), *costs.items()]
    small, low = max((point for point in points[:-1] if point[1] < limit), key=lambda point: point[0])
    large, high = points[points.index((small, low)) + 1]
    return math.floor(small + (large - small) * (limit - low) / (high - low))


def main() -> None:
    if sys.argv[1:2] == ["--step"]:
        print(json.dumps(run_step(*json.loads(sys.argv[2]))))
        return
    parser = make_parser(__doc__)
    parser.add_argument("--largest", type=int, default=LARGEST, help=f"vectors at the most; default: {LARGEST}")
    parser.add_argument("--indexed", type=int, default=INDEXED, help=f"vectors of an index at most; default: {INDEXED}")
    parser.add_argument("--store", type=Path, help="a graph of the packages that is there; default: one is built")
    options = read_options(parser)
    with open_folder(options.cache) as (cache, work):
        if options.store is None:
            figures = measure(options.data, cache, work, options.largest, options.indexed)
        else:
            figures = measure_store(options.store.resolve(), options.data, work, options.largest, options.indexed)
    write_figures("approximate", figures)


if __name__ == "__main__":
    main()
