"""A text model reads documents: answers are parsed, repeated once, cached, and counted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from scripted_model import ScriptedModel

from pkg.errors import UsageError
from pkg.extract.documents.document_reader import read_document
from pkg.extract.documents.reading import Reading
from pkg.indexing.inputs import LoadedUnit, hash_text
from pkg.indexing.model_reader import ModelReader, check_model_name, list_pieces
from pkg.model import DocumentUnit, Label, Status
from pkg.models.text_cache import TextCache

TEXT = "# Lists\n\nappend adds an item.\n"
GOOD = json.dumps({"Lists": {"append": "append adds an item."}})


def make_unit(text: str = TEXT) -> LoadedUnit:
    raw = text.encode()
    return LoadedUnit("lists.md", "", Label.FILE, hash_text(raw), raw, reading=Reading("markdown"))


def read(folder: Path, answers: Sequence[str], text: str = TEXT) -> tuple[DocumentUnit, ModelReader, ScriptedModel]:
    model = ScriptedModel(answers or ["unused"])
    with closing(TextCache(folder / "texts.db")) as cache:
        reader = ModelReader(model, cache)
        unit = reader.read(make_unit(text))
    assert unit.reading is not None
    return read_document(unit.text, unit.path, unit.reading), reader, model


def test_an_answer_becomes_facts_and_is_asked_for_once(tmp_path: Path) -> None:
    unit, reader, _ = read(tmp_path, [GOOD])
    assert [fact.qualname for fact in unit.facts] == ["Lists", "Lists > append"]
    assert (unit.status, reader.pieces, reader.valid, reader.first) == (Status.OK, 1, 1, 1)
    again, _, model = read(tmp_path, [])
    assert again.facts == unit.facts
    assert model.asked == []


def test_prose_is_asked_again_once(tmp_path: Path) -> None:
    unit, reader, _ = read(tmp_path, ["It is about lists.", GOOD])
    assert (len(unit.facts), reader.valid, reader.first) == (2, 1, 0)


def test_a_document_without_json_is_left_out_with_the_reason(tmp_path: Path) -> None:
    unit, reader, _ = read(tmp_path, ["No.", "No, again."])
    assert (unit.status, unit.facts, reader.valid) == (Status.FAILED, (), 0)
    assert "wrote no JSON of 1 piece" in str(unit.reason)


def test_a_long_document_is_asked_about_in_pieces(tmp_path: Path) -> None:
    text = "".join(f"Paragraph {number} of this.\n\n" for number in range(400))
    count = len(list_pieces(make_unit(text)))
    unit, reader, _ = read(tmp_path, [GOOD, "no", "no", *[GOOD] * count], text)
    assert (unit.status, reader.pieces, reader.valid) == (Status.PARTIAL, count, count - 1)
    assert "1 piece, the first at byte" in str(unit.reason)


@pytest.mark.parametrize("name", [None, "template"])
def test_no_model_is_answered_with_what_to_give(name: str | None) -> None:
    with pytest.raises(UsageError, match="gguf:FILE"):
        check_model_name(name)
