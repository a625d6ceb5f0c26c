"""Facts are shown to a model as Python: their prose as comments, their code as it is."""

from __future__ import annotations

from pkg.generation.prompt_templates.fact_text import show_fact
from pkg.model import Hit


def show(kind: str, content: str) -> str:
    hit = Hit(
        rank=1, label="Fact", id="f", source="s", path="docs/a.md", qualname="Guide > Retries", kind=kind,
        start_line=3, end_line=9, score=1.0, score_pruned=1.0, content=content, pruned_content=content,
    )  # fmt: skip
    shown = show_fact(hit)
    assert shown.place == "docs/a.md:3-9 Guide > Retries"
    return shown.code


def test_prose_and_other_languages_become_comments() -> None:
    shown = show("section", "## Retries\n\nSend it again.\n\n```console\n$ pkg build\n```\n")
    assert shown == "# Guide > Retries\n# ## Retries\n# Send it again.\n# $ pkg build"


def test_lines_in_fences_of_python_stay() -> None:
    shown = show("section", "Before.\n\n~~~python\ndef f():\n    return '```'\n~~~\n\nAfter.\n")
    assert shown == "# Guide > Retries\n# Before.\ndef f():\n    return '```'\n# After."
    compile(shown, "shown", "exec")


def test_code_has_one_indentation_though_its_first_line_has_lost_its_own() -> None:
    shown = show("code", "def f():\n        return 1\n\n    x = f()")
    assert shown == "# Guide > Retries\ndef f():\n    return 1\n\nx = f()"
    compile(shown, "shown", "exec")


def test_a_console_session_is_prose() -> None:
    assert show("code", ">>> f()\n1") == "# Guide > Retries\n# >>> f()\n# 1"
