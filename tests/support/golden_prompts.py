"""Prompts of every template as text, for the files in tests/unit/generation/golden.

    python tests/support/golden_prompts.py

rewrites the files. A template with changed words gets a new version, because traces name the version of a prompt.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pkg.generation.prompt_templates.prompt_template import Attempt, HelperText, Prompt, make_task
from pkg.generation.prompt_templates.template_choice import TEMPLATES

GOLDEN = Path(__file__).resolve().parents[1] / "unit" / "generation" / "golden"

STUB = '''from typing import List


def mean_distance(numbers: List[float]) -> float:
    """Give the mean distance of the numbers from their mean.
    >>> mean_distance([1.0, 2.0, 3.0, 4.0])
    1.0
    """
'''
WORDS = "Write a function `mean_distance` that gives the mean distance of some numbers from their mean."
MEAN = "import math\n\ndef mean(numbers):\n    return math.fsum(numbers) / len(numbers)"
SPREAD = 'def spread(numbers):\n    """Tell how far apart numbers are."""\n    ...'
HELPERS = (HelperText("shop/sums.py:3-5 mean", MEAN), HelperText("shop/sums.py:8-9 spread", SPREAD))
ATTEMPTS = (
    Attempt("def mean_distance(numbers):\n    return 0", "assert mean_distance([1.0, 3.0]) == 1.0: it gave 0"),
    Attempt("def mean_distance(numbers):\n    return mean", "NameError: name 'mean' is not defined, line 2"),
)
EDIT = "Let it take any iterable:\n\n```python\ndef mean(numbers):\n    return sum(numbers) / len(numbers)\n```"
OTHER_TASKS = (
    make_task("Where is the mean of some numbers computed?", "explain"),
    make_task(EDIT, "edit"),
    make_task("How do sums and spread go together?", "plain"),
)


def show_prompt(prompt: Prompt) -> str:
    """Return the fields of a prompt as text."""
    lines = [f"{name}: {json.dumps(getattr(prompt, name))}" for name in ("template", "stop", "begun", "close")]
    if prompt.text is not None:
        lines += ["======== text ========", prompt.text]
    for role, content in prompt.messages:
        lines += [f"======== {role} ========", content]
    return "\n".join((*lines, "======== end ========\n"))


def list_prompts() -> Iterator[tuple[str, Prompt]]:
    """Yield the name of every file with its prompt."""
    task, in_words = make_task(STUB), make_task(WORDS)
    for name, template in TEMPLATES.items():
        yield name, template.render(task)
        yield f"{name}-helpers", template.render(task, HELPERS)
        yield f"{name}-attempts", template.render(task, (), ATTEMPTS)
        yield f"{name}-words", template.render(in_words)
    for each in OTHER_TASKS:
        yield f"brief-{each.type}", TEMPLATES["brief"].render(each)
        yield f"brief-{each.type}-helpers", TEMPLATES["brief"].render(each, HELPERS)


def write_all() -> None:
    """Write every file, and remove files of former prompts."""
    GOLDEN.mkdir(exist_ok=True)
    for path in GOLDEN.glob("*.txt"):
        path.unlink()
    for name, prompt in list_prompts():
        (GOLDEN / f"{name}.txt").write_bytes(show_prompt(prompt).encode())


if __name__ == "__main__":
    write_all()
