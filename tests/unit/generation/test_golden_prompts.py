"""Every template writes its golden file, byte by byte; python tests/support/golden_prompts.py updates the files."""

from __future__ import annotations

import pytest
from golden_prompts import GOLDEN, list_prompts, show_prompt

from pkg.generation.prompt_templates.prompt_template import Prompt

PROMPTS = dict(list_prompts())


@pytest.mark.parametrize(("name", "prompt"), PROMPTS.items(), ids=list(PROMPTS))
def test_a_prompt_equals_its_file(name: str, prompt: Prompt) -> None:
    assert show_prompt(prompt).encode() == (GOLDEN / f"{name}.txt").read_bytes()


def test_every_file_is_a_prompt() -> None:
    assert sorted(path.stem for path in GOLDEN.iterdir()) == sorted(PROMPTS)


def test_every_template_has_its_own_version() -> None:
    versions = {prompt.template for name, prompt in PROMPTS.items() if "-" not in name}
    assert sorted(version.partition("/")[0] for version in versions) == sorted(
        name for name in PROMPTS if "-" not in name
    )
