"""Names of bases with adapters, and cards that refuse another base."""

from __future__ import annotations

from pathlib import Path

import pytest

from pkg.errors import ModelError, PathError
from pkg.models.adapters import CARD, check_base, identify_adapter, read_card, split_adapters, write_card
from pkg.models.registry import locate_model


def make_adapter(folder: Path, weights: bytes = b"w") -> Path:
    folder.mkdir()
    (folder / "adapter_config.json").write_text("{}")
    (folder / "adapter_model.safetensors").write_bytes(weights)
    return folder


@pytest.mark.parametrize(
    ("detail", "parts"),
    [
        ("owner/name", ("owner/name", [])),
        ("owner/name+one", ("owner/name", ["one"])),
        ("m.gguf+one+two", ("m.gguf", ["one", "two"])),
    ],
)
def test_adapters_follow_the_base(detail: str, parts: tuple[str, list[str]]) -> None:
    assert split_adapters(detail) == parts


def test_a_path_with_the_sign_stays_whole(tmp_path: Path) -> None:
    (tmp_path / "c++").mkdir()
    (tmp_path / "a+b").mkdir()
    assert split_adapters(f"{tmp_path}/c+++{tmp_path}/a+b") == (f"{tmp_path}/c++", [f"{tmp_path}/a+b"])


def test_base_and_adapters_are_located(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_adapter(tmp_path / "tuned")
    assert locate_model("hf:m.gguf+tuned") == f"hf:{tmp_path}/m.gguf+{tmp_path}/tuned"
    assert locate_model("hf:owner/name+tuned") == f"hf:owner/name+{tmp_path}/tuned"
    assert locate_model("hf:owner/name") == "hf:owner/name"


def test_the_identity_is_that_of_the_weights(tmp_path: Path) -> None:
    one, same = make_adapter(tmp_path / "one"), make_adapter(tmp_path / "same")
    other = make_adapter(tmp_path / "other", b"v")
    assert identify_adapter(one) == identify_adapter(same) != identify_adapter(other)
    with pytest.raises(PathError, match=r"no adapter in .*; expected the output of pkg tune"):
        identify_adapter(tmp_path)


def test_an_adapter_of_another_base_is_refused_by_its_card(tmp_path: Path) -> None:
    folder = make_adapter(tmp_path / "tuned")
    check_base(folder, "any", "1234")  # without a card
    write_card(folder, {"base": {"model": "hf:small", "identity": "1234"}})
    check_base(folder, "small", "1234")
    with pytest.raises(ModelError, match=r"belongs to another base: hf:small \(1234\), not to hf:large \(5678\)"):
        check_base(folder, "large", "5678")


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"base": 1}'])
def test_a_damaged_card_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / CARD).write_text(text)
    with pytest.raises(ModelError, match=CARD):
        read_card(tmp_path)
