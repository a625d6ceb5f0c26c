"""Write docstrings or questions for a graph's sources: consent, model, and one budget for all sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pkg.cache_file import find_cache_file
from pkg.encode.registry import find_service
from pkg.enhance.comments import CommentingWriter
from pkg.enhance.docstring_cache import FILE_NAME, DocstringCache, make_key
from pkg.enhance.enhancement import EnhanceOptions, EnhanceReport, enhance
from pkg.enhance.enhancement_estimate import EnhanceEstimate, estimate_by_sample, estimate_by_size
from pkg.enhance.question_writer import QuestionWriter
from pkg.enhance.undocumented import Target, Undocumented
from pkg.enhance.writer import TEMPLATE, Failure, open_writer
from pkg.errors import UsageError
from pkg.graph.store import choose_sources
from pkg.indexing.generated_storage import remove_generated
from pkg.indexing.store_encoder import load_store_encoder
from pkg.models.registry import find_remote, open_model

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder
    from pkg.enhance.writer import TextWriter
    from pkg.graph.store import GraphStore
    from pkg.model import Source


def run_enhancement(store: GraphStore, source: str | None, options: EnhanceOptions) -> Iterator[EnhanceReport]:
    """Document the functions of a source, or of all sources one by one; yield a report for each.

    Raises UsageError if code would be sent to a service without consent, and what model, store and encoder raise.
    """
    sources, encoder = choose_sources(store, source), load_store_encoder(store)
    _check_consent(store, sources, options, encoder)
    with _open_writer(options) as (writer, cache):
        for each in sources:
            report = enhance(store, each.name, writer, encoder, options, cache)
            yield report
            done = report.written + len(report.failed) - report.known_failures
            options = replace(options, budget=options.budget.take(done, report.seconds, report.cost))


def estimate_enhancement(store: GraphStore, source: str | None, options: EnhanceOptions) -> EnhanceEstimate:
    """Estimate the cost of run_enhancement from a generated sample of functions, which stays in the cache.

    Without consent to send code, estimate from sizes. Raises what model and store raise.
    """
    sources = choose_sources(store, source)
    with ExitStack() as opened:
        remote = find_remote(options.model)
        missing = [opened.enter_context(closing(_find_missing(store, each.name, options))) for each in sources]
        plain = estimate_by_size(options.model, missing, options.budget, options.questions)
        if remote is not None and not _is_agreed(options, _ask_for_sample(remote, options.model)):
            return plain
        writer, cache = opened.enter_context(_open_writer(options))
        return estimate_by_sample(writer, missing, options.budget, cache, options.questions)


def undo_enhancement(
    store: GraphStore,
    source: str | None,
    model: str,
    agree: Callable[[str], bool] | None = None,
    questions: bool = False,
) -> dict[str, int]:
    """Remove the docstrings or the questions of a model from a source, or from all; return the count by source.

    Raises UsageError, which lists the models, if there are none of that model, and what writing to a store raises.
    """
    names, encoder = [each.name for each in choose_sources(store, source)], load_store_encoder(store)
    texts = [each for name in names for _, each in store.generated_texts(name)]
    found = [each.questions if questions else each.docstring for each in texts]
    models = {each.model for each in found if each is not None}
    if model not in models:
        known = ", ".join(sorted(models)) or "none"
        kind = "question" if questions else "docstring"
        raise UsageError(f"no {kind} of model '{model}' in {store.address}; expected one of: {known}")
    service = None if questions else find_service(encoder.name)  # questions are not encoded
    if service is not None:
        message = f"encoder '{encoder.name}' gets code without its docstrings sent to {service} once more, as far as"
        message += " nothing here remembers its vectors; it leaves this machine, and the service may charge for it"
        if agree is None or not agree(message):
            raise UsageError(f"{message}; nothing was sent: agree with --yes")
    return {name: remove_generated(store, name, model, encoder, questions) for name in names}


def list_known_failures(store: GraphStore, source: str | None, options: EnhanceOptions) -> Iterator[tuple[Target, str]]:
    """Yield the functions for which a model has failed before, and the reason, without a request to it."""
    with _open_writer(options) as (writer, cache):
        for each in choose_sources(store, source):
            with closing(_find_missing(store, each.name, options)) as missing:
                for target in missing.list_called():
                    found = cache.find(make_key(target.text, writer))
                    if isinstance(found, Failure):
                        yield target, found.reason


@dataclass(frozen=True, slots=True)
class DocstringCount:
    """Number of functions of a source with a docstring, or questions, of one model and prompt."""

    source: str
    docstring_source: str  # fim or template; questions
    model: str
    prompt: str
    functions: int
    first: str  # dates of the first and the last of them
    last: str


def count_docstrings(store: GraphStore, source: str | None) -> list[DocstringCount]:
    """Count the functions with generated docstrings or questions by source, model and prompt (A-13).

    Raises UsageError for an unknown source, and what reading a store raises.
    """
    with store.snapshot():
        return [count for each in choose_sources(store, source) for count in _count_in_source(store, each.name)]


def _count_in_source(store: GraphStore, source: str) -> list[DocstringCount]:
    dates: dict[tuple[str, str, str], list[str]] = {}
    for _, texts in store.generated_texts(source):
        if texts.docstring is not None:
            each = texts.docstring
            dates.setdefault((each.model, each.prompt, each.source), []).append(each.date)
        if texts.questions is not None:
            asked = texts.questions
            dates.setdefault((asked.model, asked.prompt, "questions"), []).append(asked.date)
    return [
        DocstringCount(source, kind, model, prompt, len(found), min(found), max(found))
        for (model, prompt, kind), found in sorted(dates.items())
    ]


def _check_consent(store: GraphStore, sources: Sequence[Source], options: EnhanceOptions, encoder: Encoder) -> None:
    """Raise UsageError without consent to send code to the service of the model or of the encoder."""
    remote = find_remote(options.model)
    service = None if options.questions else find_service(encoder.name)  # questions change no vector
    if remote is None and service is None:
        return
    with ExitStack() as opened:
        missing = [opened.enter_context(closing(_find_missing(store, each.name, options))) for each in sources]
        estimate = estimate_by_size(options.model, missing, options.budget, options.questions)
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


def _find_missing(store: GraphStore, source: str, options: EnhanceOptions) -> Undocumented:
    return Undocumented(store, source, options.model, of_questions=options.questions)


@contextmanager
def _open_writer(options: EnhanceOptions) -> Iterator[tuple[TextWriter, DocstringCache]]:
    if options.questions:
        _check_questions(options)
    with ExitStack() as opened:
        model = None if options.model == TEMPLATE else opened.enter_context(closing(open_model(options.model)))
        cache = opened.enter_context(closing(DocstringCache(find_cache_file(FILE_NAME))))
        if options.questions and model is not None:
            yield QuestionWriter(model), cache
            return
        writer = open_writer(options.model, model, options.form)
        yield (CommentingWriter(writer, model, cache) if options.comments else writer), cache


def _check_questions(options: EnhanceOptions) -> None:
    """Raise UsageError for options that do not go with questions."""
    if options.model == TEMPLATE:
        raise UsageError("the writer 'template' writes no questions; name a text model")
    if options.form is not None or options.comments:
        raise UsageError("--form and --comments are for docstrings; leave them out with --questions")
