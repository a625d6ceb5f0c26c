"""Document the functions of a graph's sources: consent, model, and one budget for all sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from pkg.cache_file import find_cache_file
from pkg.encode.registry import find_service, load_encoder
from pkg.enhance.commenting import CommentingWriter
from pkg.enhance.docstring_cache import FILE_NAME, DocstringCache
from pkg.enhance.writer import TEMPLATE, open_writer
from pkg.errors import StoreMissingError, UsageError
from pkg.indexing.docstring_counts import list_failures
from pkg.indexing.docstring_storage import remove_docstrings
from pkg.indexing.enhancement import EnhancementListen, EnhanceReport, enhance, needs_docstring
from pkg.indexing.enhancement_budget import NO_LIMIT, Budget
from pkg.indexing.enhancement_estimate import EnhanceEstimate, estimate_by_sample, estimate_by_size
from pkg.indexing.undocumented import Target, Undocumented
from pkg.models.registry import open_model, split_name
from pkg.services import OPENAI, is_here, split_address

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder
    from pkg.enhance.writer import DocstringWriter
    from pkg.graph.store import GraphStore
    from pkg.models.model_options import ModelOptions


@dataclass(frozen=True, slots=True)
class EnhanceOptions:
    """Options of documenting functions."""

    model: str  # such as gguf:FILE, or template
    form: str | None = None  # prompt template; None: the best that the model supports
    comments: bool = False  # also comment the blocks of each function (P-08)
    budget: Budget = NO_LIMIT
    retry_failed: bool = False
    is_stored: bool = True  # False: docstrings go to the cache only
    listen: EnhancementListen = lambda outcome, progress: None
    agree: Callable[[str], bool] | None = None  # asked for consent before code is sent to a service
    settings: ModelOptions | None = None


def run_enhancement(store: GraphStore, source: str | None, options: EnhanceOptions) -> Iterator[EnhanceReport]:
    """Document the functions of a source, or of all sources one by one; yield a report for each.

    Raises UsageError if code would be sent to a service without consent, and what model, store and encoder raise.
    """
    names, encoder = list_sources(store, source), open_encoder(store)
    _check_consent(store, names, options, encoder)
    budget = options.budget
    with _open_writer(options) as writer, _open_cache() as cache:
        for name in names:
            report = enhance(
                store, name, writer, encoder, budget, options.listen, cache=cache,
                retry_failed=options.retry_failed, is_stored=options.is_stored,
            )  # fmt: skip
            yield report
            done = report.written + len(report.failed) - report.known_failures
            budget = budget.take(done, report.seconds, report.cost)


def estimate_enhancement(store: GraphStore, source: str | None, options: EnhanceOptions) -> EnhanceEstimate:
    """Estimate the cost of run_enhancement from a generated sample of functions, which stays in the cache.

    Without consent to send code, estimate from sizes. Raises what model and store raise.
    """
    names = list_sources(store, source)
    with ExitStack() as opened:
        remote = find_remote(options.model)
        sources = [opened.enter_context(_look(store, name, options)) for name in names]
        plain = estimate_by_size(options.model, sources, options.budget)
        if remote is not None and not _is_agreed(options, _ask_for_sample(remote, options.model)):
            return plain
        writer = opened.enter_context(_open_writer(options))
        return estimate_by_sample(writer, sources, options.budget, opened.enter_context(_open_cache()))


def list_sources(store: GraphStore, source: str | None) -> list[str]:
    """Return the named source, or all; an unknown name raises UsageError, which lists the sources."""
    known = [each.name for each in store.sources()]
    if source is not None and source not in known:
        raise UsageError(f"no source '{source}' in {store.address}; expected one of: {', '.join(known) or 'none'}")
    return known if source is None else [source]


def undo_enhancement(
    store: GraphStore, source: str | None, model: str, agree: Callable[[str], bool] | None = None
) -> dict[str, int]:
    """Remove the docstrings of a model from a source, or from all; return the count by source.

    Raises UsageError, which lists the models, if there are none of that model, and what writing to a store raises.
    """
    names, encoder = list_sources(store, source), open_encoder(store)
    models = {docstring.model for name in names for _, docstring in store.docstrings(name)}
    if model not in models:
        known = ", ".join(sorted(models)) or "none"
        raise UsageError(f"no docstring of model '{model}' in {store.address}; expected one of: {known}")
    service = find_service(encoder.name)
    if service is not None:
        message = f"encoder '{encoder.name}' gets code without its docstrings sent to {service} once more, as far as"
        message += " nothing here remembers its vectors; it leaves this machine, and the service may charge for it"
        if agree is None or not agree(message):
            raise UsageError(f"{message}; nothing was sent: agree with --yes")
    return {name: remove_docstrings(store, name, model, encoder) for name in names}


def list_known_failures(store: GraphStore, source: str | None, options: EnhanceOptions) -> Iterator[tuple[Target, str]]:
    """Yield the functions for which a model has failed before, and the reason, without a request to it."""
    with _open_writer(options) as writer, _open_cache() as cache:
        for name in list_sources(store, source):
            with _look(store, name, options) as missing:
                yield from ((target, failure.reason) for target, failure in list_failures(missing, writer, cache))


def open_encoder(store: GraphStore) -> Encoder:
    """Load the encoder of a graph; raise StoreMissingError if nothing was built yet."""
    from pkg.indexing.store_encoder import choose_query_encoder

    if not store.encoder()[0]:
        raise StoreMissingError(f"no graph in {store.address} yet; run: pkg build PATH")
    return load_encoder(choose_query_encoder(store))


def find_remote(model: str) -> str | None:
    """Return the address of the machine that serves a model; None for a model on this machine."""
    word, detail = split_name(model)
    if word != "openai":
        return None
    address = OPENAI.choose_url(split_address(detail, word, "model")[1])
    return None if is_here(address) else address


def _check_consent(store: GraphStore, names: Sequence[str], options: EnhanceOptions, encoder: Encoder) -> None:
    """Raise UsageError without consent to send code to the service of the model or of the encoder."""
    remote, service = find_remote(options.model), find_service(encoder.name)
    if remote is None and service is None:
        return
    with ExitStack() as opened:
        sources = [opened.enter_context(_look(store, name, options)) for name in names]
        estimate = estimate_by_size(options.model, sources, options.budget)
    if not estimate.codes:
        return
    places = [f"model '{options.model}' gets code sent to {remote}"] if remote else []
    places += [f"encoder '{encoder.name}' gets it with its docstrings sent to {service}"] if service else []
    plain = [each for each in (remote, service) if each and not each.startswith("https://")]
    message = f"{'; '.join(places)}: {estimate.describe()}{', not encrypted on the way' if plain else ''}; they leave"
    message += " this machine, and the service may charge for them (see its price list)"
    if not _is_agreed(options, message):
        raise UsageError(f"{message}; nothing was sent: agree with --yes, or choose a model of this machine")


def _ask_for_sample(remote: str, model: str) -> str:
    return f"for an estimate, model '{model}' gets a sample of 20 functions sent to {remote}, which leave this machine"


def _is_agreed(options: EnhanceOptions, message: str) -> bool:
    return options.agree is not None and options.agree(message)


@contextmanager
def _look(store: GraphStore, source: str, options: EnhanceOptions) -> Iterator[Undocumented]:
    """Find the functions to document, before a writer is opened."""
    with closing(Undocumented(store, source, partial(needs_docstring, options.model, None))) as found:
        yield found


@contextmanager
def _open_writer(options: EnhanceOptions) -> Iterator[DocstringWriter]:
    if options.model == TEMPLATE:
        writer = open_writer(TEMPLATE, prompt_name=options.form)
        yield CommentingWriter(writer, None) if options.comments else writer
        return
    with closing(open_model(options.model, options.settings)) as model:
        writer = open_writer(options.model, model, options.form)
        if not options.comments:
            yield writer
            return
        with _open_cache() as cache:
            yield CommentingWriter(writer, model, cache)


@contextmanager
def _open_cache() -> Iterator[DocstringCache]:
    with closing(DocstringCache(find_cache_file(FILE_NAME))) as cache:
        yield cache
