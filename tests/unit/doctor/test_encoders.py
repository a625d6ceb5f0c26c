"""Findings of `pkg doctor` for encoders."""

from __future__ import annotations

import pytest

from pkg.doctor import examine_encoders
from pkg.encode.registry import DEFAULT_ENCODER, KINDS
from pkg.model import Finding


def find(name: str) -> Finding:
    (found,) = [finding for finding in examine_encoders() if finding.name == f"encoder {KINDS[name].syntax}"]
    return found


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that every package of encoders is installed."""
    monkeypatch.setattr("pkg.encode.registry.find_spec", lambda package: package)


def test_the_default_works_and_is_named() -> None:
    first = next(examine_encoders())
    assert (first.name, first.state) == ("encoder", "ok")
    assert DEFAULT_ENCODER in first.detail


def test_a_missing_package_is_reported_with_its_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pkg.encode.registry.find_spec", lambda package: None)
    missing = [finding for finding in examine_encoders() if finding.state == "missing"]
    assert {finding.advice.partition("[")[2].rstrip("]'") for finding in missing} == {
        "minilm",
        "st",
        "voyage",
        "openai",
    }
    assert "not installed: onnxruntime, tokenizers" in find("minilm").detail


@pytest.mark.usefixtures("install")
def test_a_missing_key_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VOYAGE_API_KEY", raising=False)
    assert (find("voyage").state, find("voyage").advice) == ("missing", "set VOYAGE_API_KEY")
    monkeypatch.setenv("VOYAGE_API_KEY", "k")
    assert find("voyage").detail == "sends code to https://api.voyageai.com/v1, or to the address that you name"


@pytest.mark.usefixtures("install")
def test_a_server_on_this_machine_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:11434/v1")
    assert find("openai").detail == "http://localhost:11434/v1, on this machine"


@pytest.mark.usefixtures("install")
def test_missing_files_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pkg.encode.minilm.find_spec", lambda package: None)
    assert (find("minilm").state, find("st").state) == ("missing", "ok")
    assert "no model.onnx and tokenizer.json of all-MiniLM-L6-v2" in find("minilm").detail
