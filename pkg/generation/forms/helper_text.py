"""Make the helper texts of prompts: what a query has found, as pieces of code that stand for themselves (P-19)."""

from __future__ import annotations

from collections.abc import Iterator

from pkg.generation.aligned_code import align_code
from pkg.generation.forms.prompt_form import HelperText
from pkg.model import Helper, Hit, QueryResult


def list_helpers(result: QueryResult) -> tuple[HelperText, ...]:
    """Give the code of each hit, pruned, and then of its helpers with their imports."""
    return tuple(_list_helpers(result))


def _list_helpers(result: QueryResult) -> Iterator[HelperText]:
    for hit in result.hits:
        yield HelperText(_tell_place(hit), align_code(hit.pruned_content))
        for helper in hit.helpers:
            yield HelperText(_tell_place(helper), "\n".join((*helper.imports, align_code(helper.content))))


def _tell_place(found: Hit | Helper) -> str:
    return f"{found.path}:{found.start_line}-{found.end_line} {found.qualname}"
