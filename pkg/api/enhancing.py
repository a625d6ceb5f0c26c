"""Generate the docstrings of a graph, estimate their cost, list failures, and remove them."""

from __future__ import annotations

from contextlib import closing

from pkg.api.building import NO_LISTENER, Ask, Listener
from pkg.api.lazy_types import api_types
from pkg.graph.opening import find_address, open_store


def enhance_graph(
    model: str,
    *,
    store: str | None = None,
    source: str | None = None,
    form: str | None = None,
    comments: bool = False,
    questions: bool = False,
    limit: int | None = None,
    minutes: float | None = None,
    max_cost: float | None = None,
    price: str | None = None,
    retry_failed: bool = False,
    is_stored: bool = True,
    listen: api_types.EnhancementListen | None = None,
    listener: Listener = NO_LISTENER,
) -> list[api_types.EnhanceReport]:
    """Generate and store docstrings for functions without one, the most called first (P-07); one report per source.

    model: such as gguf:FILE, openai:NAME@URL or template. form: the prompt template; default: the best for the model.
    comments: write comments before blocks too (P-08), which takes several times as long.
    questions: write questions that functions answer instead, also for functions with a docstring.
    limit, minutes, max_cost: budgets; max_cost needs price, of a million tokens: IN/OUT.
    retry_failed: retry functions that failed before. is_stored: if false, docstrings are only cached.
    listen: called for each function. Docstrings in the code and files are never changed.
    Raises pkg.errors.PkgError; docstrings generated before are stored.
    """
    from pkg.enhance.enhancement import EnhanceOptions
    from pkg.enhance.enhancement_session import run_enhancement

    options = EnhanceOptions(
        model=model,
        form=form,
        comments=comments,
        questions=questions,
        budget=_make_budget(limit, minutes, max_cost, price),
        retry_failed=retry_failed,
        is_stored=is_stored,
        listen=listen,
        agree=listener.agree,
    )
    with closing(open_store(find_address(store), ask=listener.ask)) as target:
        return list(run_enhancement(target, source, options))


def estimate_enhancement(
    model: str,
    *,
    store: str | None = None,
    source: str | None = None,
    form: str | None = None,
    questions: bool = False,
    limit: int | None = None,
    price: str | None = None,
    listener: Listener = NO_LISTENER,
) -> api_types.EnhanceEstimate:
    """Estimate time and cost of enhance_graph from docstrings of twenty functions, which stay in the cache.

    Without agreement to send them to another machine, the estimate uses the sizes of functions only.
    Raises pkg.errors.PkgError.
    """
    from pkg.enhance.enhancement import EnhanceOptions
    from pkg.enhance.enhancement_session import estimate_enhancement

    budget = _make_budget(limit, None, None, price)
    options = EnhanceOptions(model, form, questions=questions, budget=budget, agree=listener.agree)
    with closing(open_store(find_address(store), ask=listener.ask)) as target:
        return estimate_enhancement(target, source, options)


def list_failures(
    model: str,
    *,
    store: str | None = None,
    source: str | None = None,
    form: str | None = None,
    questions: bool = False,
    ask: Ask | None = None,
) -> list[tuple[str, str, str]]:
    """Return the functions for which a model failed: path, qualified name and reason; the model is not called."""
    from pkg.enhance.enhancement import EnhanceOptions
    from pkg.enhance.enhancement_session import list_known_failures

    with closing(open_store(find_address(store), ask=ask)) as target:
        found = list_known_failures(target, source, EnhanceOptions(model, form, questions=questions))
        return [(target.path, target.qualname, reason) for target, reason in found]


def remove_docstrings(
    model: str,
    *,
    store: str | None = None,
    source: str | None = None,
    questions: bool = False,
    listener: Listener = NO_LISTENER,
) -> dict[str, int]:
    """Remove all traces of the docstrings of a model, or of its questions, from a graph; return the count by source.

    Raises UsageError for an unknown model, or if code would be sent to an encoder without agreement.
    """
    from pkg.enhance.enhancement_session import undo_enhancement

    with closing(open_store(find_address(store), ask=listener.ask)) as target:
        return undo_enhancement(target, source, model, listener.agree, questions)


def _make_budget(
    limit: int | None, minutes: float | None, max_cost: float | None, price: str | None
) -> api_types.Budget:
    from pkg.enhance.enhancement import Budget
    from pkg.models.usage import parse_price

    seconds = None if minutes is None else minutes * 60
    return Budget(limit, seconds, max_cost, None if price is None else parse_price(price))
