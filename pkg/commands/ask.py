"""`pkg ask`: answer one question about a repository, or several as a conversation (Q-14, Q-16)."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from pkg.console.answer_options import answer_tokens_option, evidence_budget_option
from pkg.console.freshness_notes import open_answering, say_stale
from pkg.console.options import (
    fresh_option,
    json_option,
    store_options,
    where_options,
)
from pkg.console.settings import decode_option, model_setting, setting, source_setting
from pkg.console.streams import NOTHING_FITS, NOTHING_FOUND, emit, read_text, style_words
from pkg.errors import QueryError, UsageError, count_things
from pkg.generation.ask.ask_options import AskOptions
from pkg.quoting.hidden_characters import spell_hidden
from pkg.retrieval.evidence.evidence_options import RETRIEVERS
from pkg.service.operations.answer_lines import answer_lines

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.generation.ask.question_answer import QuestionAnswerer
    from pkg.generation.ask.repository_answer import Citation, RepositoryAnswer, Statement
    from pkg.retrieval.evidence.evidence import Evidence

ASK = AskOptions()

PREVIEW_LINES = 12  # shown of each piece of evidence in a terminal; JSON output is complete

NO_MODEL = "for a written answer give --model gguf:FILE, openai:NAME@URL or hf:FOLDER"

_SAY: dict[str, Callable[[Citation], str]] = {
    "supported": lambda each: f"[{each.number}] {', '.join(each.places)}",
    "partly": lambda each: f"[{each.number}] {', '.join(each.places)}: says a part of this",
    "unsupported": lambda each: f"[{each.number}] {', '.join(each.places)}: does not say this",
    "missing": lambda each: f"[{each.number}]: there is no such evidence",
}


@click.command(epilog="Example:  pkg ask 'where is the retry decided, and what calls it?' --model gguf:coder.gguf")
@click.argument("text", required=False, callback=decode_option)
@store_options
@model_setting(help="Text model: openai:NAME@URL, gguf:FILE or hf:FOLDER. Default: none, which shows the evidence.")
@setting(
    "--retriever",
    type=click.Choice(RETRIEVERS),
    default=ASK.evidence.retriever,
    help="Source of evidence: the graph, chunks of 1,500 characters of its files, or both.",
)
@evidence_budget_option
@click.option(
    "--top-k",
    "-k",
    "pieces",
    type=click.IntRange(0),
    default=ASK.evidence.top_k,
    help="Maximum number of pieces of evidence. Default: as many as fit into the budget.",
)
@source_setting(help="Search only this source.")
@fresh_option
@where_options
@click.option(
    "--evidence/--no-evidence",
    default=ASK.with_evidence,
    help="Show the evidence to the model (default), or not, for comparison.",
)
@click.option(
    "--refuse/--no-refuse",
    default=ASK.refuse,
    help="Answer 'I do not know' if nothing fits or supports the answer (default), or show it anyway.",
)
@answer_tokens_option
@click.option(
    "--temperature", type=click.FloatRange(0), default=ASK.temperature, help="Temperature; 0 for greedy decoding."
)
@click.option("--seed", type=int, default=ASK.seed, help="Seed of sampling.")
@click.option("--chat", is_flag=True, help="Answer each line of standard input as one conversation.")
@click.option("--exit-code", is_flag=True, help="Exit with code 3 if a question is not answered.")
@json_option
def ask(text: str | None, store: str, as_json: bool, exit_code: bool, **options: Any) -> None:
    """Answer a question about the code in words, with citations.

    Each statement cites code or documents, and each citation is checked. If nothing fits, the answer says so. Without a
    model, the evidence is shown. - reads TEXT from standard input.
    """
    if not run_ask(text, store, as_json, options) and exit_code:
        sys.exit(NOTHING_FOUND)


def run_ask(text: str | None, store: str, as_json: bool, asked: dict[str, Any]) -> bool:
    """Answer one question, or each line of standard input with --chat; return whether every question was answered.

    Raises UsageError unless exactly one of the two is requested.
    """
    from pkg.models.registry import use_model

    is_chat, model = asked.pop("chat"), asked.pop("model")
    if (text is None) != is_chat:
        raise UsageError(
            "--chat reads its questions from standard input; give no TEXT with it"
            if is_chat
            else "no question; expected TEXT, such as: pkg ask 'where is the retry decided', or --chat"
        )
    fresh = asked.pop("fresh")
    with open_answering(store, fresh, asked["source"]) as (graph, asked["source"]), use_model(model) as opened:
        answerer = graph.open_conversation(opened, make_options(asked))
        if text is None:
            return _chat(answerer, as_json)
        return _answer(answerer, read_text(text), as_json)


def make_options(asked: dict[str, Any]) -> AskOptions:
    """Build the answer options from the command line's options."""
    from pkg.retrieval.evidence.evidence_options import EvidenceOptions

    where = {name: asked[name] for name in ("source", "path", "tests")}
    evidence = EvidenceOptions(asked["retriever"], asked["tokens"], asked["pieces"], **where)
    return AskOptions(
        evidence,
        asked["evidence"],
        asked["refuse"],
        asked["answer_tokens"],
        asked["temperature"],
        asked["seed"],
    )


def _answer(answerer: QuestionAnswerer, text: str, as_json: bool) -> bool:

    answer = answerer.ask(text)
    say_stale(answer.gathered.stale)
    emit(as_json, answer_lines(answer), lambda: view_answer(answer))
    _say_usage(answer)
    return not answer.is_refused


def _chat(answerer: QuestionAnswerer, as_json: bool) -> bool:
    """Answer each line until the end of standard input; continue after a question that fails."""
    is_seen = sys.stdin.isatty() and sys.stdout.isatty()
    if is_seen:
        click.echo("pkg: ask; an empty line or Ctrl-D ends", err=True)
    are_answered = True
    for line in _read_lines("> " if is_seen else ""):
        if not line.strip():
            if is_seen:
                break
            continue
        try:
            are_answered &= _answer(answerer, line.strip(), as_json)
        except QueryError as fault:
            are_answered = False
            if as_json:
                click.echo(json.dumps({"type": "error", "question": line.strip(), "error": str(fault)}))
            click.echo(f"pkg: {spell_hidden(str(fault))}", err=True)
        sys.stdout.flush()
    return are_answered


def _read_lines(prompt: str) -> Iterator[str]:
    if prompt:
        import readline  # noqa: F401  edits the line and keeps the history of this conversation

        while True:
            try:
                yield input(prompt)
            except EOFError:
                return
    else:
        yield from sys.stdin


def _say_usage(answer: RepositoryAnswer) -> None:
    from pkg.models.usage import read_price, render_usage

    if answer.usage.requests:
        click.echo(f"pkg: {render_usage(answer.usage, answer.model, read_price())}", err=True)
    elif not answer.model and answer.gathered.links is None:
        click.echo(f"pkg: {NO_MODEL}", err=True)


def view_answer(answer: RepositoryAnswer) -> Iterator[RenderableType]:
    """Render an answer with its places; the evidence if there is no model, and what was looked at for a refusal."""
    if answer.is_refused:
        yield style_words(f"{answer.text} ({answer.reason})", "yellow")
        yield from _view_places("looked at", answer.gathered.pieces)
    elif answer.gathered.links is not None and answer.gathered.links.is_whole:
        yield style_words(answer.text)
    elif not answer.model:
        if answer.gathered.pieces and answer.gathered.fits is False:
            yield NOTHING_FITS
        yield from _view_evidence(answer)
    else:
        dropped = [each for each in answer.statements if each.verdict == "unsupported"]
        for statement in answer.statements:
            if statement not in dropped:
                yield style_words(statement.text)
                yield from _view_citations(statement)
        if dropped:
            yield style_words("also written by the model, and not in the evidence:", "yellow")
            for statement in dropped:
                yield style_words(f"  {statement.text}", "dim")
                yield from _view_citations(statement)
    if answer.model and answer.gathered.fits is False and not answer.is_refused:
        yield "[bold yellow]nothing fits[/]; the answer is unlikely to help"
    for note in answer.notes:
        yield style_words(note, "dim")
    if answer.is_cut:
        yield style_words("the answer was cut; see --max-tokens", "yellow")


def _view_evidence(answer: RepositoryAnswer) -> Iterator[RenderableType]:
    for number, piece in zip(answer.numbers, answer.gathered.pieces, strict=True):
        lines = piece.content.split("\n")
        hidden = len(lines) - PREVIEW_LINES
        more = [f"... {count_things(hidden, 'more line')}"] if hidden > 0 else []
        yield style_words(f"[{number}] {piece.span}  {piece.title}", "bold cyan")
        yield style_words("\n".join(f"    {line}" for line in (*lines[:PREVIEW_LINES], *more)))


def _view_places(what: str, pieces: tuple[Evidence, ...]) -> Iterator[RenderableType]:
    for piece in pieces[:5]:
        yield style_words(f"  {what}: {piece.span}  {piece.title}", "dim")


def _view_citations(statement: Statement) -> Iterator[RenderableType]:
    for each in statement.citations:
        yield style_words(f"    {_say_citation(each)}", "red" if each.is_wrong else "cyan")
    for fact in statement.links:
        claim, place = fact.claim, f" ({fact.place})" if fact.place else ""
        link = f"{claim.start} {claim.verb} {claim.end}"
        is_there = fact.holds is not claim.is_negated
        said = f"in the graph: {link}{place}" if is_there else f"not in the graph: {link}"
        yield style_words(f"    {said}", "cyan" if fact.holds else "red")
    if not statement.citations and not statement.links:
        yield style_words("    no evidence says this", "yellow")
    if statement.unknown_names:
        yield style_words(f"    in no evidence: {', '.join(statement.unknown_names)}", "yellow")


def _say_citation(citation: Citation) -> str:
    added = " (found by PKG; the model cited nothing)" if citation.is_added else ""
    return _SAY[citation.state](citation) + added
