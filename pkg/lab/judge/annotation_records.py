"""Annotation records in the format of the paper: instruction, responses, and a rating with its rationale (C-07)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pkg.errors import refuse_file
from pkg.lab.judge.items import JudgedItem
from pkg.lab.judge.judgements import Judgement
from pkg.quoting.hidden_characters import escape_json


def make_records(items: Sequence[JudgedItem], judgements: Iterable[Judgement]) -> Iterator[dict[str, Any]]:
    """Build a record of each item and preference from the first run; an unparsable rating is null."""
    known = {item.id: item for item in items}
    for each in judgements:
        item = known.get(each.id)
        if item is None or each.kind != "annotate" or each.run or each.fault or each.case:
            continue
        rationales = each.rationales or ("",) * len(each.systems)
        yield {
            "id": item.id,
            "instruction": item.question,
            "preference": each.preference,
            "models": list(each.systems),
            "responses": [{"model": system, "response": item.answers[system]} for system in each.systems],
            "annotations": [
                {"model": system, "rating": rating, "rationale": rationale}
                for system, rating, rationale in zip(each.systems, each.ratings, rationales, strict=True)
            ],
        }


def write_records(path: Path, records: Iterable[dict[str, Any]]) -> int:
    """Write records as JSON lines and return their number; raises PathError if the file cannot be written."""
    lines = [escape_json(json.dumps(each, ensure_ascii=False)) + "\n" for each in records]
    try:
        path.write_text("".join(lines), encoding="utf-8", errors="replace")
    except OSError as fault:
        raise refuse_file(path, fault) from None
    return len(lines)
