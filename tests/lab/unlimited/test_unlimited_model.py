"""Attention to the nearest keys is only for models of transformers."""

from __future__ import annotations

import pytest

from pkg.errors import UsageError
from pkg.lab.unlimited.unlimited_model import open_unlimited


def test_another_kind_of_model_is_refused() -> None:
    with pytest.raises(UsageError, match=r"expected hf:FOLDER, not 'gguf:coder\.gguf'"):
        open_unlimited("gguf:coder.gguf", 16)
