"""A real small coder explains, asks and judges: each text is counted and written once (Q-08 to Q-12)."""

from __future__ import annotations

from contextlib import closing

import pytest

from pkg.lab.datasets.dataset_rows import Row, StepCounts, Tally
from pkg.lab.datasets.file_pieces import RepositoryText, write_chunks
from pkg.lab.datasets.pair_checks import Repositories
from pkg.lab.datasets.request_runner import RequestRunner
from pkg.lab.datasets.self_augmentation import plan_steps, run_steps
from pkg.lab.lab_options import DatasetOptions
from pkg.models.text_cache import TextCache
from pkg.models.text_model import TextModel

pytestmark = pytest.mark.model

CART = "import json\n\n\ndef load_cart(path):\n    with open(path) as file:\n        return json.load(file)\n"
OPTIONS = DatasetOptions(repeat=1, max_tokens=100)


def run(coder: TextModel, rows: list[Row], cache: TextCache, step: str) -> tuple[list[Row], Tally, RequestRunner]:
    tally, known = Tally(), Repositories({"shop": ["shop/cart.py"]})
    with closing(RequestRunner(coder, cache)) as runner:
        made = list(run_steps(rows, plan_steps(rows, step), runner, OPTIONS, tally, known))
    return made, tally, runner


def test_each_text_becomes_a_row_or_is_counted_and_is_written_once(coder: TextModel) -> None:
    chunks = list(write_chunks([RepositoryText("shop", None, "shop/cart.py", CART)], 1500, 200, StepCounts("chunks")))
    with closing(TextCache()) as cache:
        explained, _, _ = run(coder, chunks, cache, "explain")
        assert "cart" in explained[0]["explanation"].lower()
        kept, tally, runner = run(coder, chunks, cache, "curate")
        for counts in tally.steps.values():
            assert counts.taken == counts.written + counts.dropped.total()
        assert tally.steps["questions"].taken == 1
        assert all("lines 1 to 6" in row["question"] and row["score"] >= OPTIONS.threshold for row in kept)
        again, _, later = run(coder, chunks, cache, "curate")
    assert again == kept
    assert runner.usage.requests >= 1
    assert later.usage.requests == 0
