"""Write a question and the code found for it as one prompt for any model (P-19, the generic template of P-20)."""

from __future__ import annotations

from pkg.generation.prompt_templates.helper_text import list_helpers
from pkg.generation.prompt_templates.paper_templates import write_generic
from pkg.generation.prompt_templates.prompt_template import PromptTask
from pkg.model import QueryResult
from pkg.retrieval.query_options import check_shows_code


def render_prompt(result: QueryResult) -> str:
    """Render the augmented prompt of a query as text; without hits, the plain problem.

    Each helper is in a fence, headed by a comment with its place, and quoted, so that it cannot imitate the template
    (pkg.generation.prompt_templates.template_lines). Raises UsageError for hits without code.
    """
    check_shows_code(result.mode)
    (message,) = write_generic(PromptTask(result.text), list_helpers(result), ()).messages
    return f"{message.content}\n"
