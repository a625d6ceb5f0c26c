"""Reference answers of a model to the instructions of a bench (C-17)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pkg.lab.datasets.dataset_rows import Row, StepCounts
from pkg.lab.datasets.model_responses import NO_PLACE
from pkg.lab.datasets.request_runner import Reply, Request, RequestRunner, run_step
from pkg.lab.lab_options import DatasetOptions
from pkg.models.prompt_batch import Conversation
from pkg.models.text_model import Message
from pkg.quoting.data_marks import quote_data

REFERENCES = "references"


def request_references(rows: Sequence[Row], options: DatasetOptions) -> Iterator[Request]:
    """Yield a request for each row of the bench."""
    for row in rows:
        prompt = Conversation((Message("user", quote_data(str(row["instruction"]))),))
        yield Request(NO_PLACE, row, prompt, options.make_decoding())


def write_references(
    rows: Sequence[Row], model: str, runner: RequestRunner, options: DatasetOptions, counts: StepCounts
) -> Iterator[Row]:
    """Yield each row with a reference answer; drops and counts rows whose answer is empty or cut."""

    def read(reply: Reply) -> list[Row] | str:
        text = reply.text.strip()
        if not text or reply.is_cut:
            return "nothing written" if not text else "a reference that is cut at --max-tokens"
        return [{**reply.request.row, "reference": text, "reference_model": model}]

    yield from _count(run_step(runner, request_references(rows, options), read, counts), counts)


def _count(rows: Iterable[Row], counts: StepCounts) -> Iterator[Row]:
    for row in rows:
        counts.written += 1
        yield row
