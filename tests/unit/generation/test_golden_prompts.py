"""Every form writes what its golden file holds, byte by byte; python tests/support/golden_prompts.py writes them."""

from __future__ import annotations

import pytest
from golden_prompts import GOLDEN, list_prompts, show_prompt

from pkg.generation.forms.prompt_form import Prompt

PROMPTS = dict(list_prompts())


@pytest.mark.parametrize(("name", "prompt"), PROMPTS.items(), ids=list(PROMPTS))
def test_a_prompt_is_what_its_file_holds(name: str, prompt: Prompt) -> None:
    assert show_prompt(prompt).encode() == (GOLDEN / f"{name}.txt").read_bytes()


def test_every_file_is_a_prompt() -> None:
    assert sorted(path.stem for path in GOLDEN.iterdir()) == sorted(PROMPTS)


def test_every_form_has_its_own_version() -> None:
    versions = {prompt.form for name, prompt in PROMPTS.items() if "-" not in name}
    assert sorted(version.partition("/")[0] for version in versions) == sorted(
        name for name in PROMPTS if "-" not in name
    )
