"""Enhance the sources of a graph: with whose consent, by which model, within one budget for all of them."""

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
from pkg.indexing.enhancement import EnhancementListen, EnhanceReport, enhance, needs_writing
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
    """How functions are documented."""

    model: str  # such as gguf:FILE, or template
    form: str | None = None  # of the prompt; else the best that the model can be asked in
    comments: bool = False  # before the blocks of each function as well (P-08)
    budget: Budget = NO_LIMIT
    retry_failed: bool = False
    is_stored: bool = True  # else what is written goes into the cache alone
    listen: EnhancementListen = lambda outcome, progress: None
    agree: Callable[[str], bool] | None = None  # asked before code is sent anywhere; nothing is sent without it
    settings: ModelOptions | None = None


def run_enhancement(store: GraphStore, source: str | None, options: EnhanceOptions) -> Iterator[EnhanceReport]:
    """Document the functions of a source, or of all, one source after the other; give a report of each.

    Raises UsageError where code would be sent away without consent, and what model, store and encoder raise.
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
    """Estimate what run_enhancement takes: from a sample of functions that are really written, which stay in the cache.

    Where code may not be sent to the model, from sizes alone. Raises what model and store raise.
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
    """List the sources that are meant: one, or all; a UsageError that lists them where there is none of that name."""
    known = [each.name for each in store.sources()]
    if source is not None and source not in known:
        raise UsageError(f"no source '{source}' in {store.address}; expected one of: {', '.join(known) or 'none'}")
    return known if source is None else [source]


def undo_enhancement(
    store: GraphStore, source: str | None, model: str, agree: Callable[[str], bool] | None = None
) -> dict[str, int]:
    """Take the docstrings of a model out of a source, or of all; give how many by source.

    Raises UsageError, with the models that there are, where none is by that one, and what writing to a store raises.
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
    """Give the functions that a model has failed at before, and why; nothing is asked of it."""
    with _open_writer(options) as writer, _open_cache() as cache:
        for name in list_sources(store, source):
            with _look(store, name, options) as missing:
                yield from ((target, failure.reason) for target, failure in list_failures(missing, writer, cache))


def open_encoder(store: GraphStore) -> Encoder:
    """Load the encoder of a graph; a StoreMissingError where nothing was built yet."""
    from pkg.indexing.store_encoder import keep_encoder

    if not store.encoder()[0]:
        raise StoreMissingError(f"no graph in {store.address} yet; run: pkg build PATH")
    return load_encoder(keep_encoder(store))


def find_remote(model: str) -> str | None:
    """Give the address of another machine that a model's prompts go to; None for a model on this one."""
    word, detail = split_name(model)
    if word != "openai":
        return None
    address = OPENAI.choose_url(split_address(detail, word, "model")[1])
    return None if is_here(address) else address


def _check_consent(store: GraphStore, names: Sequence[str], options: EnhanceOptions, encoder: Encoder) -> None:
    """See that sending code to the machine of the model, and to that of the encoder, is agreed to."""
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
    message += " this machine, and the service may charge for them (its price list tells what a token costs)"
    if not _is_agreed(options, message):
        raise UsageError(f"{message}; nothing was sent: agree with --yes, or choose a model of this machine")


def _ask_for_sample(remote: str, model: str) -> str:
    return f"for an estimate, model '{model}' gets a sample of 20 functions sent to {remote}, which leave this machine"


def _is_agreed(options: EnhanceOptions, message: str) -> bool:
    return options.agree is not None and options.agree(message)


@contextmanager
def _look(store: GraphStore, source: str, options: EnhanceOptions) -> Iterator[Undocumented]:
    """Look through a source for what is to be written, before there is a writer."""
    with closing(Undocumented(store, source, partial(needs_writing, options.model, None))) as found:
        yield found


@contextmanager
def _open_writer(options: EnhanceOptions) -> Iterator[DocstringWriter]:
    if options.model == TEMPLATE:
        writer = open_writer(TEMPLATE, form=options.form)
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
