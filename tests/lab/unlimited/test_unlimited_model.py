"""Attention to the nearest keys is only for models of transformers."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from pkg.cli import main
from pkg.errors import UsageError
from pkg.lab.unlimited.unlimited_model import open_unlimited


def test_another_kind_of_model_is_refused() -> None:
    with pytest.raises(UsageError, match=r"expected hf:FOLDER, not 'gguf:coder\.gguf'"):
        open_unlimited("gguf:coder.gguf", 16)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--layer-begin", "2", "--model", "hf:folder"], "--layer-begin chooses a layer for --unlimited; give both"),
        (["--unlimited", "8", "--model", "gguf:coder.gguf"], "expected hf:FOLDER, not 'gguf:coder.gguf'"),
        (["--unlimited", "8"], "no model; expected --model"),
        (["--unlimited", "0", "--model", "hf:folder"], "0 is not in the range x>=1"),
    ],
)
@pytest.mark.parametrize("benchmark", ["humaneval", "mbpp"])
def test_the_command_says_what_it_expects(benchmark: str, words: list[str], message: str) -> None:
    result = CliRunner().invoke(main, ["eval", benchmark, "--data", "rows.jsonl", "--out", "run", *words])
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
