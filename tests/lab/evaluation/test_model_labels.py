"""Models have short names, unless these are equal."""

from __future__ import annotations

import pytest

from pkg.errors import UsageError
from pkg.lab.evaluation.model_labels import find_model, label_models


def test_the_short_name_is_the_last_part_that_a_person_would_say() -> None:
    assert label_models(
        ["gguf:/models/coder-0.5b.gguf", "hf:/models/base+/models/tuned", "openai:qwen:7b@http://localhost:11434/v1"]
    ) == {
        "gguf:/models/coder-0.5b.gguf": "coder-0.5b",
        "hf:/models/base+/models/tuned": "tuned",
        "openai:qwen:7b@http://localhost:11434/v1": "qwen:7b",
    }


def test_models_of_one_short_name_keep_the_whole() -> None:
    assert label_models(["hf:/a/model", "hf:/b/model", "hf:/b/other"]) == {
        "hf:/a/model": "hf:/a/model", "hf:/b/model": "hf:/b/model", "hf:/b/other": "other"
    }  # fmt: skip


def test_a_model_is_found_by_both_of_its_names() -> None:
    labels = label_models(["gguf:/models/base.gguf", "hf:/models/base.gguf+/models/tuned"])
    assert [find_model(labels, name) for name in ("tuned", "gguf:/models/base.gguf")] == [
        "hf:/models/base.gguf+/models/tuned", "gguf:/models/base.gguf"
    ]  # fmt: skip
    with pytest.raises(UsageError, match="no model is called 'other'; expected one of base, tuned"):
        find_model(labels, "other")
