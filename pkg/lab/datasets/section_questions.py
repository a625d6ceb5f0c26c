"""Questions about the sections of text files, such as README, changelog and settings (Q-06)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from pkg.extract.text_files.text_kinds import find_text_kind
from pkg.extract.text_files.text_sections import BESIDE
from pkg.graph.store import GraphStore
from pkg.lab.datasets.dataset_rows import (
    Origin,
    Place,
    Row,
    StepCounts,
    drop_duplicates,
    hash_words,
    make_evidence,
    make_row,
)
from pkg.lab.datasets.file_pieces import list_repositories
from pkg.lab.datasets.pair_checks import ANSWER, QUESTION, Malformed, Repositories, find_file_fault, parse_pair
from pkg.lab.datasets.prompts import name_prompt, quote_name, render_prompt
from pkg.lab.datasets.request_runner import Reply, Request, RequestRunner, run_step
from pkg.lab.lab_options import DatasetOptions
from pkg.model import HEADINGS, Label, Node

STEP, TYPE = "meta", "meta"
MAX_ANSWER_LENGTH = 4_000  # characters; a longer section is not a useful answer
_SETTINGS = ("toml", "ini", "yaml")


class Section(NamedTuple):
    """A whole section of a text file, with its headings from the outermost to its own."""

    place: Place
    heading: str


def read_sections(store: GraphStore, source: str | None) -> list[Section]:
    """Return the sections of all text files, sorted by source, path and line; joins the chunks of long ones."""
    with store.snapshot():
        return [
            section
            for each in list_repositories(store, source)
            for section in _join_chunks(store, each.name, each.revision)
        ]


def _join_chunks(store: GraphStore, source: str, revision: str | None) -> Iterator[Section]:
    chunks = sorted(store.nodes((Label.CHUNK,), source), key=lambda node: (node.path, node.start))
    texts = dict(store.texts(source, sorted({node.path for node in chunks})))
    for (path, heading), found in groupby(chunks, lambda node: (node.path, node.qualname)):
        parts: Sequence[Node] = list(found)
        content = texts[path][parts[0].start : parts[-1].end].decode("utf-8", "replace")
        yield Section(Place(source, revision, path, parts[0].start_line, parts[-1].end_line, content), heading)


def keep_askable(sections: Iterable[Section], counts: StepCounts) -> list[Section]:
    """Return the sections that a question can identify; drops single lines, repeated headings and long sections."""
    found = list(sections)
    times = Counter((each.place.source, each.place.path, each.heading) for each in found)
    kept = []
    for section in found:
        place = section.place
        if place.start_line == place.end_line:
            counts.drop("a section of a single line")
        elif times[place.source, place.path, section.heading] > 1:
            counts.drop("a heading that its file has twice")
        elif len(place.content) > MAX_ANSWER_LENGTH:
            counts.drop(f"a section of more than {MAX_ANSWER_LENGTH:,} characters")
        else:
            kept.append(section)
    return kept


def write_questions(sections: Sequence[Section], counts: StepCounts) -> Iterator[Row]:
    """Yield a question about the content of each section, and one about the headings of each file."""
    by_file: dict[tuple[str, str], list[Section]] = defaultdict(list)
    for section in sections:
        by_file[section.place.source, section.place.path].append(section)
    for found in by_file.values():
        if len(found) > 1:
            yield _ask_headings(found)
    counts.taken += len(sections)
    for section in keep_askable(sections, counts):
        yield _ask_section(section)


def list_headings(section: Section) -> list[str]:
    """Return the headings of a section; several where small neighbours were joined."""
    parents, separator, last = section.heading.rpartition(HEADINGS)
    lines = {line.strip("#=*[]\"' \t") for line in section.place.content.splitlines()}
    found, pending = list[str](), list[str]()
    for part in last.split(BESIDE):
        pending.append(part)  # of a heading that may have the separator in it
        if BESIDE.join(pending).strip("\"'") in lines:
            found.append(f"{parents}{separator}{BESIDE.join(pending)}")
            pending = []
    return [section.heading] if pending else found


def _ask_section(section: Section) -> Row:
    path, headings = section.place.path, list_headings(section)
    named = " and ".join(filter(None, (", ".join(f"`{each}`" for each in headings[:-1]), f"`{headings[-1]}`")))
    if find_text_kind(path) in _SETTINGS:
        question = f"What is set under {named} in the file `{path}`?"
    elif len(headings) > 1:
        question = f"What do the sections {named} of the file `{path}` say?"
    else:
        question = f"What does the section {named} of the file `{path}` say?"
    fields = {"question": question, "answer": section.place.content, "type": TYPE, "kind": "section"}
    return make_row(section.place, Origin(STEP), fields | {"evidence": make_evidence(section.place)})


def _ask_headings(sections: Sequence[Section]) -> Row:
    first, last = sections[0].place, sections[-1].place
    headings = "\n".join(
        f"- {heading}" for heading in dict.fromkeys(heading for each in sections for heading in list_headings(each))
    )
    whole = Place(
        first.source, first.revision, first.path, content_hash=hash_words(*(each.place.content for each in sections))
    )
    fields = {
        "question": f"Which sections does the file `{first.path}` have?",
        "answer": f"From line {first.start_line} to {last.end_line}, `{first.path}` has the sections:\n{headings}",
        "type": TYPE,
        "kind": "headings",
    }
    return make_row(whole, Origin(STEP), fields)


def write_pairs(
    sections: Iterable[Section],
    runner: RequestRunner,
    options: DatasetOptions,
    counts: StepCounts,
    repositories: Repositories,
) -> Iterator[Row]:
    """Write a question and answer about each section with a model."""

    def read(reply: Reply) -> list[Row] | str:
        pair, place = parse_pair(reply.text, reply.is_cut), reply.request.place
        if isinstance(pair, Malformed):
            return pair.reason
        fault = find_file_fault(pair, place, repositories.find(place.source))
        if fault is not None:
            return fault
        fields = {"question": pair.question, "answer": pair.answer, "type": TYPE, "evidence": make_evidence(place)}
        return [make_row(place, Origin(STEP, runner.model.name, name_prompt(STEP), options.seed), fields)]

    yield from drop_duplicates(run_step(runner, request_section_pairs(sections, options), read, counts), counts)


def request_section_pairs(sections: Iterable[Section], options: DatasetOptions) -> Iterator[Request]:
    """Yield a request about each section; the prefill names the file."""
    for section in sections:
        place = section.place
        words = {"path": place.path, "heading": section.heading, "content": place.content}
        prefill = f"{QUESTION} By the file {quote_name(place.path)},"
        yield Request(place, {}, render_prompt(STEP, words), options.make_decoding(), prefill, ANSWER)
