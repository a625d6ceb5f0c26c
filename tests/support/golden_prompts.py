"""Prompts of every form as text, as the files in tests/unit/generation/golden hold them.

    python tests/support/golden_prompts.py

writes them anew. A form whose words change gets another version: what was written with the old one is not its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pkg.generation.forms.choice import FORMS
from pkg.generation.forms.prompt_form import Attempt, HelperText, Prompt, PromptTask, make_task

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
FRAMED = (
    make_task("Where is the mean of some numbers computed?", "explain"),
    make_task(EDIT, "edit"),
    make_task("How do sums and spread go together?", "plain"),
)


def show_prompt(prompt: Prompt) -> str:
    """Write all that a prompt says, and what ends its answer."""
    lines = [f"{name}: {json.dumps(getattr(prompt, name))}" for name in ("form", "stop", "begun", "close")]
    if prompt.text is not None:
        lines += ["======== text ========", prompt.text]
    for role, content in prompt.messages:
        lines += [f"======== {role} ========", content]
    return "\n".join((*lines, "======== end ========\n"))


def list_prompts() -> Iterator[tuple[str, Prompt]]:
    """Give the name of every file with its prompt."""
    task, told = make_task(STUB), make_task(WORDS)
    for name, form in FORMS.items():
        yield name, form.render(task)
        yield f"{name}-helpers", form.render(task, HELPERS)
        yield f"{name}-attempts", form.render(task, (), ATTEMPTS)
        yield f"{name}-words", form.render(told)
    for framed in FRAMED:
        yield from list_framed(framed)


def list_framed(task: PromptTask) -> Iterator[tuple[str, Prompt]]:
    """Give what the brief form says in another frame."""
    yield f"brief-{task.frame}", FORMS["brief"].render(task)
    yield f"brief-{task.frame}-helpers", FORMS["brief"].render(task, HELPERS)


def write_all() -> None:
    """Write every file, and remove what is no prompt any more."""
    GOLDEN.mkdir(exist_ok=True)
    for path in GOLDEN.glob("*.txt"):
        path.unlink()
    for name, prompt in list_prompts():
        (GOLDEN / f"{name}.txt").write_bytes(show_prompt(prompt).encode())


if __name__ == "__main__":
    write_all()
