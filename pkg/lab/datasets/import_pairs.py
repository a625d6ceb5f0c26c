"""Questions and answers about the import table of each file, written by a model (Q-05)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pkg.lab.datasets.dataset_options import DatasetOptions
from pkg.lab.datasets.dataset_rows import Origin, Row, StepCounts, drop_duplicates, make_row
from pkg.lab.datasets.import_questions import STEP, TYPE, ImportingFile
from pkg.lab.datasets.pair_checks import Repositories, find_file_fault
from pkg.lab.datasets.pair_parsing import ANSWER, QUESTION, Malformed, parse_pairs
from pkg.lab.datasets.prompts import name_prompt, quote_name, render_prompt
from pkg.lab.datasets.request_runner import Reply, Request, RequestRunner, run_step

_HEAD = "category | file | library | name | kind"


def write_pairs(
    files: Iterable[ImportingFile],
    runner: RequestRunner,
    options: DatasetOptions,
    counts: StepCounts,
    repositories: Repositories,
) -> Iterator[Row]:
    """Write pairs about each file with a model; a malformed reply is dropped as a whole, as in the paper.

    The answers are not verified; each row names its model.
    """

    def read(reply: Reply) -> list[Row] | str:
        pairs, place = parse_pairs(reply.text, reply.is_cut), reply.request.place
        if isinstance(pairs, Malformed):
            return pairs.reason
        repository = repositories.find(place.source)
        faults = [fault for pair in pairs if (fault := find_file_fault(pair, place, repository))]
        if faults:
            return faults[0]
        origin = Origin(STEP, runner.model.name, name_prompt(STEP), options.seed)
        fields = [{"question": pair.question, "answer": pair.answer, "type": TYPE} for pair in pairs]
        return [make_row(place, origin, each) for each in fields]

    yield from drop_duplicates(run_step(runner, request_table_pairs(files, options), read, counts), counts)


def request_table_pairs(files: Iterable[ImportingFile], options: DatasetOptions) -> Iterator[Request]:
    """Yield a request about the table of each file; the prefill names the file."""
    for file in files:
        words = {"path": file.path, "table": render_table(file)}
        prefill = f"{QUESTION} In the file {quote_name(file.path)},"
        yield Request(file.place, {}, render_prompt(STEP, words), options.make_decoding(), prefill, ANSWER)


def render_table(file: ImportingFile) -> str:
    """Return the rows of the table as lines, after a header."""
    rows = (
        (each.category, each.target_file or "-", each.library_name or "-", each.artifact, each.artifact_type)
        for each in file.records
    )
    return "\n".join((_HEAD, *dict.fromkeys(" | ".join(row) for row in rows)))
