"""Put a question and the code found for it into one prompt for any model (P-19, P-20 in its generic form)."""

from __future__ import annotations

from pkg.generation.forms.generic import list_generic_lines
from pkg.generation.forms.helper_text import list_helpers
from pkg.generation.forms.prompt_form import PromptTask
from pkg.model import QueryResult
from pkg.retrieval.query_options import check_shows_code


def render_prompt(result: QueryResult) -> str:
    """Render the augmented prompt of a query as text; without hits it is the plain problem.

    Each helper code stands in a fence, headed by a comment with its place. What is quoted cannot be taken for the
    prompt's own words (pkg.generation.forms.form_lines). A UsageError refuses hits that show no code.
    """
    check_shows_code(result.mode)
    return "\n".join(list_generic_lines(PromptTask(result.text), list_helpers(result))) + "\n"
