"""The columns documents show questions with solutions in the docstring of the function, and count their leaks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scripted_model import Asked, ScriptedModel

from pkg.encode.encoder import Vectors
from pkg.errors import UsageError
from pkg.lab import DocumentOptions, evaluate_code, report_evaluation
from pkg.lab.evaluation.code.code_report import ConditionFigures
from pkg.lab.evaluation.documents import document_finder
from pkg.lab.evaluation.report.code_sections import list_sections
from pkg.lab.evaluation.report.report_format import render_markdown

COLUMNS = ("documents", "documents-reranked", "feedback", "documents-feedback")
ROW = {
    "task_id": "HumanEval/0",
    "prompt": 'def triple(number):\n    """Give three times a number.\n\n    >>> triple(4)\n    12\n    """\n',
    "entry_point": "triple",
    "canonical_solution": "    return 3 * number\n",
    "test": "def check(candidate):\n    assert candidate(4) == 12\n",
}
DOCUMENTS: list[dict[str, Any]] = [
    {"intent": "three times a number", "snippet": "def three_times(count):\n    return 3 * count"},
    {"intent": "read a file", "snippet": "open(path).read()"},
    {"intent": "no code"},
]


@pytest.fixture(name="files")
def write_files(tmp_path: Path) -> tuple[Path, str]:
    data, documents = tmp_path / "HumanEval.jsonl", tmp_path / "conala.jsonl"
    data.write_text(json.dumps(ROW) + "\n")
    documents.write_text("".join(json.dumps(row) + "\n" for row in DOCUMENTS))
    return data, str(documents)


def answer(asked: Asked) -> str:
    text = "".join(message.content for message in asked)
    return "    return 3 * number\n" if "return 3 * count" in text or "expected 12" in text else "    return number\n"


class OneToken:
    """Embeds a text as one token, so that late interaction keeps the order of the search."""

    def embed_tokens(self, texts: Sequence[str], is_query: bool) -> list[Vectors]:
        return [np.ones((1, 2), np.float32) for _ in texts]


def test_documents_are_shown_run_corrected_and_reported(
    files: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document_finder, "open_token_model", lambda name: OneToken())
    data, documents = files
    model = ScriptedModel(answer)
    report = evaluate_code(
        "humaneval", model, data, tmp_path / "run", is_any=True, columns=COLUMNS, documents=DocumentOptions([documents])
    )
    found: dict[str, ConditionFigures] = {each.column: each for each in report.columns}
    assert {name: each.solved for name, each in found.items()} == {"none": 0, **dict.fromkeys(COLUMNS, 1)}
    leaks = found["documents"].leaks
    assert leaks is not None
    assert (leaks.leaked, leaks.same) == (1, 1)  # the same code but for names
    prompts = [text for asked in model.asked for message in asked if (text := message.content)]
    shown = next(text for text in prompts if "Similar questions" in text)
    assert shown.index("    question 1:\n    three times a number\n    solution 1:\n    def three_times") > shown.index(
        '"""'
    )
    assert report.head["documents"]["files"] == [
        {
            "name": "conala.jsonl", "documents": 2, "skipped": 1,
            "first_skip": f"line 3: no solution in Python (fields: intent); {SOLUTION_HELP}",
        }
    ]  # fmt: skip
    page = render_markdown(list(list_sections([report_evaluation(tmp_path / "run")])))
    assert "| paper, reproduced, pass@1 | 35.3 |" in page


SOLUTION_HELP = (
    "expected one of: snippet, solutions, solution, canonical_solution, code, original_string, answer, output"
)


def test_the_columns_need_files(files: tuple[Path, str], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the column documents shows rows of files; name them with --documents FILE"):
        evaluate_code("humaneval", ScriptedModel(answer), files[0], tmp_path, is_any=True, columns=("documents",))
