"""The trained rows of words: the files of the wheel, and errors for other files."""

from __future__ import annotations

import json
import shutil
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from pkg.encode.word_table import (
    FILES,
    NAME,
    PLACE,
    TEXT,
    WordTable,
    load_word_table,
    spell_signs,
)
from pkg.errors import WeightsError
from pkg.trained import MANIFEST, WEIGHTS

SIZE_LIMIT = 20_000_000  # bytes of all weights in the wheel
WORDS_OF_TABLE = ["read", "row", NAME + "read", PLACE + "row"]


def make_table() -> WordTable:
    rows = np.arange(4 * 16, dtype=np.int8).reshape(4, 16)
    return WordTable(rows, WORDS_OF_TABLE, 3, (1.0, 0.5, 0.25))


def copy_weights(folder: Path) -> Path:
    for name in (MANIFEST, *FILES):
        shutil.copyfile(WEIGHTS / name, folder / name)
    return folder


def test_a_word_has_a_row_of_its_own_in_names_and_places_or_that_of_texts() -> None:
    table = make_table()
    assert [int(row[0]) for row in table.look_up_rows(["read", "row"], TEXT)] == [0, 16]
    assert [int(row[0]) for row in table.look_up_rows(["read", "row"], NAME)] == [32, 16]
    assert [int(row[0]) for row in table.look_up_rows(["read", "row"], PLACE)] == [0, 48]


def test_an_unknown_word_has_signs_of_one_size_that_no_other_word_shares() -> None:
    first, second, again = make_table().look_up_rows(["zebra", "okapi", "zebra"], TEXT)
    assert set(np.abs(first).tolist()) == {3}
    assert np.array_equal(first, again)
    assert not np.array_equal(first, second)


def test_a_sum_counts_each_word_of_a_heading_once() -> None:
    table = make_table()
    sums = table.sum_words(NAME, ["read_rows", "readRow.read", ""])
    assert np.array_equal(sums[0], sums[1])
    assert sums[0].tolist() == [float(32 + 16 + 2 * place) for place in range(16)]
    assert not sums[2].any()


def test_signs_are_as_many_as_asked_for_and_half_of_each_kind() -> None:
    signs = spell_signs([str(number) for number in range(200)], 256)
    assert set(signs.ravel().tolist()) == {-1, 1}
    assert abs(signs.mean()) < 0.02


def test_the_weights_are_small_and_those_of_the_manifest() -> None:
    files = {path.name: path for path in WEIGHTS.iterdir()}
    manifest = json.loads(files[MANIFEST].read_text("utf-8"))
    assert {name: sha256(files[name].read_bytes()).hexdigest() for name in FILES} == manifest["sha256"]
    assert sum(path.stat().st_size for path in files.values()) < SIZE_LIMIT
    assert load_word_table().dimension == manifest["dimension"]


def test_the_model_card_names_every_file_with_its_hash() -> None:
    card = (Path(__file__).resolve().parents[3] / "training" / "MODEL_CARD.md").read_text("utf-8")
    for path in WEIGHTS.iterdir():
        assert f"`{path.name}`" in card
        assert sha256(path.read_bytes()).hexdigest() in card


@pytest.mark.parametrize("name", [MANIFEST, *FILES])
def test_weights_that_are_missing_are_named(tmp_path: Path, name: str) -> None:
    (copy_weights(tmp_path) / name).unlink()
    with pytest.raises(WeightsError, match=rf"cannot read .*{name} .*install the package again"):
        load_word_table(tmp_path)


@pytest.mark.parametrize("name", FILES)
def test_weights_that_were_changed_are_refused(tmp_path: Path, name: str) -> None:
    path = copy_weights(tmp_path) / name
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(WeightsError, match=rf"{name} has sha256 .*, expected .*damaged"):
        load_word_table(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"sha256": {}}', '{"sha256": 3}'])
def test_a_manifest_that_cannot_be_read_is_refused(tmp_path: Path, text: str) -> None:
    (copy_weights(tmp_path) / MANIFEST).write_text(text, encoding="utf-8")
    with pytest.raises(WeightsError, match=r"static\.json .*install the package again"):
        load_word_table(tmp_path)
