"""Have a model write questions and answers about the import table of each file (Q-05)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pkg.lab.datasets.asking import Asker, Reply, Request, run_step
from pkg.lab.datasets.dataset_options import DatasetOptions
from pkg.lab.datasets.dataset_rows import Origin, Row, StepCounts, drop_twins, make_row
from pkg.lab.datasets.import_questions import STEP, TYPE, ImportingFile
from pkg.lab.datasets.pair_checks import Repositories, find_file_fault
from pkg.lab.datasets.pair_parsing import ANSWER, QUESTION, Malformed, parse_pairs
from pkg.lab.datasets.prompts import name_prompt, quote_name, render_prompt

_HEAD = "category | file | library | name | kind"


def write_pairs(
    files: Iterable[ImportingFile],
    asker: Asker,
    options: DatasetOptions,
    counts: StepCounts,
    repositories: Repositories,
) -> Iterator[Row]:
    """Have pairs written about each file; a reply of another form is dropped whole, as in the paper.

    Whether an answer is true nobody has checked: it is the model's, and the rows name it.
    """

    def read(reply: Reply) -> list[Row] | str:
        pairs, place = parse_pairs(reply.text, reply.is_cut), reply.request.place
        if isinstance(pairs, Malformed):
            return pairs.reason
        repository = repositories.find(place.source)
        faults = [fault for pair in pairs if (fault := find_file_fault(pair, place, repository))]
        if faults:
            return faults[0]
        origin = Origin(STEP, asker.model.name, name_prompt(STEP), options.seed)
        said = [{"question": pair.question, "answer": pair.answer, "type": TYPE} for pair in pairs]
        return [make_row(place, origin, each) for each in said]

    yield from drop_twins(run_step(asker, ask_tables(files, options), read, counts), counts)


def ask_tables(files: Iterable[ImportingFile], options: DatasetOptions) -> Iterator[Request]:
    """Ask about the table of each file, which is named already for models that can be begun for."""
    for file in files:
        words = {"path": file.path, "table": render_table(file)}
        begun = f"{QUESTION} In the file {quote_name(file.path)},"
        yield Request(file.place, {}, render_prompt(STEP, words), options.decode(), begun, ANSWER)


def render_table(file: ImportingFile) -> str:
    """Write the rows of the table as lines, under their head."""
    rows = (
        (each.category, each.target_file or "-", each.library_name or "-", each.artifact, each.artifact_type)
        for each in file.records
    )
    return "\n".join((_HEAD, *dict.fromkeys(" | ".join(row) for row in rows)))
