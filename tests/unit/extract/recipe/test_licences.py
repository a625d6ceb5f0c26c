from __future__ import annotations

import pytest

from pkg.extract.recipe.licences import read_licence


@pytest.mark.parametrize(
    ("expression", "is_permissive"),
    [
        ("MIT", True),
        ("mit", True),
        ("Apache-2.0 OR GPL-2.0-or-later", True),
        ("MIT AND GPL-3.0-only", False),
        ("(MIT OR GPL-3.0-only) AND BSD-3-Clause", True),
        ("MIT OR GPL-3.0-only AND BSD-3-Clause", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("GPL-2.0-only WITH Classpath-exception-2.0", False),
        ("LicenseRef-Proprietary", False),
        ("MIT OR", False),
        ("(MIT", False),
        ("MIT GPL-3.0-only", False),
    ],
)
def test_an_expression_is_permissive_if_one_alternative_is(expression: str, is_permissive: bool) -> None:
    assert read_licence(expression).is_permissive is is_permissive


def test_all_classifiers_must_be_permissive() -> None:
    permissive = ["License :: OSI Approved", "License :: OSI Approved :: MIT License", "Topic :: Software"]
    assert (read_licence(None, permissive).name, read_licence(None, permissive).is_permissive) == ("MIT", True)
    both = [*permissive, "License :: OSI Approved :: GNU General Public License (GPL)"]
    assert not read_licence(None, both).is_permissive


@pytest.mark.parametrize(
    ("text", "is_permissive"),
    [
        ("MIT License\n\nCopyright (c) ...", True),
        ("BSD 3-Clause License\n\nCopyright ...", True),
        ("Apache 2.0", True),
        ("MIT and GPLv3", False),
        ("GPL", False),
        ("Copyright, all rights reserved", False),
        ("", False),
        ("UNKNOWN", False),
    ],
)
def test_free_text_is_permissive_only_if_it_is_unambiguous(text: str, is_permissive: bool) -> None:
    assert read_licence(None, (), text).is_permissive is is_permissive
