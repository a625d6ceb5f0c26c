"""The revision of the default encoder: another one wherever anything that its vectors depend on is another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pkg.encode.registry import DEFAULT_ENCODER, load_encoder, name_encoder
from pkg.encode.static import StaticEncoder
from pkg.encode.word_table import FILES, load_word_table
from pkg.errors import WeightsError
from pkg.trained import MANIFEST, WEIGHTS, read_revision


def copy_weights(folder: Path) -> Path:
    for name in (MANIFEST, *FILES):
        (folder / name).write_bytes((WEIGHTS / name).read_bytes())
    return folder


def test_the_encoder_is_named_with_the_revision_of_its_weights() -> None:
    name = f"{DEFAULT_ENCODER}@{read_revision()}"
    assert load_encoder(DEFAULT_ENCODER).name == name
    assert name_encoder(DEFAULT_ENCODER) == name_encoder(name) == name


def test_equal_weights_have_one_revision_wherever_they_lie(tmp_path: Path) -> None:
    assert read_revision(copy_weights(tmp_path)) == read_revision()


@pytest.mark.parametrize("change", [{"unknown": 1}, {"version": 0}, {"sha256": dict.fromkeys(FILES, "")}])
def test_other_weights_have_another_revision(tmp_path: Path, change: dict[str, object]) -> None:
    manifest = json.loads((WEIGHTS / MANIFEST).read_text("utf-8"))
    (tmp_path / MANIFEST).write_text(json.dumps(manifest | change), encoding="utf-8")
    assert read_revision(tmp_path) != read_revision()


def test_an_encoder_of_other_weights_has_another_name(tmp_path: Path) -> None:
    text = (copy_weights(tmp_path) / MANIFEST).read_text("utf-8")
    (tmp_path / MANIFEST).write_text(text + "\n", encoding="utf-8")
    assert StaticEncoder(load_word_table(tmp_path)).name != load_encoder(DEFAULT_ENCODER).name


def test_a_manifest_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=rf"cannot read .*{MANIFEST} .*install the package again"):
        read_revision(tmp_path)
