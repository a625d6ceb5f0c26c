"""Findings of `pkg doctor` for text models, without loading one or sending anything."""

from __future__ import annotations

import pytest

from pkg.doctor import examine_models
from pkg.errors import name_install
from pkg.models import registry


def test_each_kind_of_model_is_reported_with_missing_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "find_spec", lambda name: None if name == "xllamacpp" else object())
    found = {each.name: each for each in examine_models()}
    assert found["model openai:NAME@URL"].state == "ok"
    assert found["model gguf:FILE"].state == "missing"
    assert found["model gguf:FILE"].detail == "not installed: xllamacpp"
    assert found["model gguf:FILE"].advice == name_install("gguf")
