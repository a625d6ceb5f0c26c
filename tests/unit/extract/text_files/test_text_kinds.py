"""Recognition of text files written by people."""

from __future__ import annotations

import pytest

from pkg.extract.text_files.text_kinds import find_text_kind

KINDS = {
    "README.md": "markdown", "docs/Guide.MARKDOWN": "markdown", "docs/index.rst": "rst", "notes.txt": "text",
    "pyproject.toml": "toml", "setup.cfg": "ini", "tox.ini": "ini", ".github/workflows/ci.yml": "yaml",
    ".pre-commit-config.yaml": "yaml", "README": "text", "LICENSE": "text", "Licence": "text", "COPYING.LESSER": "text",
    "LICENSE-MIT": "text", "CHANGES": "text", "a/b/CODE_OF_CONDUCT": "text",
    "shop-1.0.dist-info/METADATA": "markdown",
}  # fmt: skip
OTHERS = (
    "cart.py",
    "data.json",
    "install",
    "history.js",
    "news.css",
    ".md",
    "LICENSE.html",
    "Makefile",
    "METADATA",
    "md",
    "a.md/x",
)


@pytest.mark.parametrize(("path", "kind"), KINDS.items())
def test_text_files_are_known_by_their_names(path: str, kind: str) -> None:
    assert find_text_kind(path) == kind


@pytest.mark.parametrize("path", OTHERS)
def test_other_files_are_no_text(path: str) -> None:
    assert find_text_kind(path) is None
