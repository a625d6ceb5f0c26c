"""Command options and their combined meaning; a command receives one store address however it was given."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import wraps
from pathlib import Path
from typing import IO, Any, get_args
from urllib.parse import urlsplit

import click

from pkg.config import default_store
from pkg.console.settings import (
    Switch,
    combine,
    decode_option,
    decode_options,
    jobs_setting,
    model_setting,
    setting,
    source_setting,
    take_setting,
)
from pkg.console.streams import decode_word
from pkg.errors import UsageError, conceal_address, refuse_file
from pkg.generation.ask.ask_options import AskOptions
from pkg.generation.generate_options import CONTEXTS, TASK_TYPES, GenerateOptions
from pkg.model import BLOCK_KINDS
from pkg.rerank.candidates import BackendName, Comparison
from pkg.retrieval.deps.answer import (
    DIRECTIONS,
    RELATION_KINDS,
    SHOWN_LINKS,
    DepsOptions,
    QuestionKind,
    RelationKind,
)
from pkg.retrieval.evidence.evidence_options import RETRIEVERS
from pkg.retrieval.explore_options import ExploreOptions
from pkg.retrieval.query_options import (
    BLOCK_CHOICES,
    HELPER_CHOICES,
    MODES,
    OUTLINE_BUDGET,
    PRUNE_CHOICES,
    RANKINGS,
    TEST_CHOICES,
    QueryOptions,
)

trust_options = combine(
    click.option(
        "--encoder",
        metavar="NAME",
        callback=decode_option,
        help="Trust an encoder instead, such as openai:NAME@URL, that a graph of others was made with.",
    ),
    click.option("--list", "is_list", is_flag=True, help="List what is trusted."),
    click.option("--remove", is_flag=True, help="Trust the folder, or the encoder, no longer."),
)
"""The options of `pkg trust`."""

_STORE_HELP = """Where the graph lives, such as sqlite:///graph.db or neo4j://host; PKG_STORE sets it too.
Default: your data folder."""
_DATABASE_HELP = "Database of the Neo4j server of --store; PKG_NEO4J_DATABASE sets it too. Default: the server's own."

# Source of the commands' default values.
QUERY, DEPS, GENERATE, EXPLORE = QueryOptions(), DepsOptions(), GenerateOptions(), ExploreOptions()
ASK = AskOptions()


_NO_WRITING = ("diff", "undo", "export_patch")  # options of pkg enhance that call no model
_ENHANCE = (
    model_setting(
        help="Who writes: gguf:FILE, openai:NAME@URL or hf:FOLDER, or template, which asks no model and puts together"
        " what the code says of itself.",
        only_with="is_enhanced",
        not_with=_NO_WRITING,
    ),
    click.option("--form", metavar="FORM", help="Prompt template; default: the best for the model."),
    click.option("--comments", is_flag=True, help="Write comments before the blocks of each function as well."),
    click.option("--limit", type=click.IntRange(0), help="Functions to write for, the most called first."),
    click.option("--minutes", type=click.FloatRange(0), help="Minutes to write for."),
    click.option("--max-cost", type=click.FloatRange(0), help="What writing may cost; needs --price."),
    setting(
        "--price",
        metavar="IN/OUT",
        help="What a million tokens cost, read and written, such as 0.15/0.60.",
        only_with="is_enhanced",
        not_with=_NO_WRITING,
    ),
    click.option("--retry-failed", is_flag=True, help="Ask again for functions at which the model has failed before."),
)
"""Options for the model that writes docstrings, and its limits."""

build_options = combine(
    source_setting(help="Name of the source; default: the name of the folder or file."),
    setting("--field", callback=decode_option, help="Field of a corpus row that holds code, such as output."),
    setting(
        "--encoder",
        metavar="NAME",
        help="Encoder of the vectors: static, minilm[:FOLDER], st:NAME, voyage:NAME or openai:NAME@URL; default: that"
        " of the graph. Another one than before encodes the whole graph anew.",
    ),
    click.option(
        "--yes",
        is_flag=True,
        help="Agree beforehand that code is sent to the service of --encoder or of --model, whatever it costs.",
    ),
    jobs_setting(help="Worker processes; 0 takes one for each processor when there is enough to do."),
    setting("--max-file-size", type=click.IntRange(1), help="Bytes above which a file is left out."),
    setting(
        "--text/--no-text",
        default=True,
        help="Read text files too, such as README.md, docs/*.rst and pyproject.toml; --no-text reads code alone.",
    ),
    setting(
        "--follow-links/--no-follow-links",
        default=False,
        help="Read what links lead to outside of PATH too, inside of your home at most; without it they are left out.",
    ),
    click.option(
        "--strict",
        "is_strict",
        is_flag=True,
        help="End with exit code 1 where an internal error cost a file or a call site; all else is stored.",
    ),
    click.option("--watch", "is_watched", is_flag=True, help="Go on: build again whenever files change, until Ctrl-C."),
    click.option("--poll", is_flag=True, help="With --watch: look every second, where the system tells of no changes."),
    click.option(
        "--from-export", is_flag=True, help="PATH is a file that pkg export wrote; its sources are built again."
    ),
    click.option("--remove", is_flag=True, help="Remove the source named PATH from the graph instead."),
    click.option(
        "--enhance", "is_enhanced", is_flag=True, help="Write docstrings after the build, as pkg enhance does."
    ),
    *_ENHANCE,
)
"""Options of `pkg build` except the store."""

enhance_options = combine(
    source_setting(help="Write for one source only."),
    *_ENHANCE,
    click.option("--yes", is_flag=True, help="Agree beforehand that code is sent to another machine."),
    click.option("--estimate", is_flag=True, help="Tell what it takes, from 20 functions that are really written."),
    click.option("--dry-run", is_flag=True, help="Show as a diff what would be stored, and store nothing."),
    click.option("--list", is_flag=True, help="List what was written by which model; with --model, its failures too."),
    click.option("--diff", is_flag=True, help="Show what was written as a diff of the code."),
    click.option("--undo", metavar="MODEL", callback=decode_option, help="Take out what a model has written."),
    click.option(
        "--export-patch",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="Write a patch that puts the docstrings into the files, which are not touched; - for standard output.",
    ),
)
"""Options of `pkg enhance` except the store."""


fresh_option = click.option(
    "--fresh", is_flag=True, help="Bring the graph up to date first: build again what changed since the last build."
)
"""Option to build before answering."""


def _prune_nothing(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    """Translate --no-prune to --prune none."""
    if value:
        ctx.params["prune"] = "none"


where_options = combine(
    click.option(
        "--path",
        multiple=True,
        callback=decode_options,
        metavar="GLOB",
        help="Search only files whose path matches, such as 'shop/*'; '!shop/old*' leaves files out. May be given"
        " several times: the last one that matches decides.",
    ),
    setting(
        "--tests",
        type=click.Choice(TEST_CHOICES),
        default=QUERY.tests,
        help="Hold tests back unless TEXT asks for them, search tests alone, or never.",
    ),
)
"""Options that restrict a question to some files."""

query_options = combine(
    setting(
        "--mode",
        type=click.Choice(MODES),
        default=QUERY.mode,
        help="Look for blocks, whole functions, both, or classes, constants and modules; or list files with their best"
        " functions; or look for sections of text files.",
    ),
    setting(
        "--top-k",
        "-k",
        type=click.IntRange(1),
        default=QUERY.top_k,
        help="Hits to return; 1 for --prompt and --generate.",
    ),
    setting(
        "--ranking",
        type=click.Choice(RANKINGS),
        default=QUERY.ranking,
        help="Order by words, names and meaning together, by both searches' ranks, or by the cosine alone.",
    ),
    setting(
        "--blocks",
        type=click.Choice(BLOCK_CHOICES),
        default=QUERY.blocks,
        help="All blocks, only compound statements, or only function bodies.",
    ),
    setting(
        "--declarations/--no-declarations",
        default=QUERY.declarations,
        help="Find classes, constants and modules beside functions and blocks, or do not.",
    ),
    source_setting(help="Search one source only."),
    where_options,
    click.option("--kind", type=click.Choice(BLOCK_KINDS), help="Search one kind of block."),
    setting(
        "--budget",
        type=click.IntRange(0),
        default=QUERY.budget,
        help="Tokens that all code together may take; 0 for no limit.",
    ),
    setting(
        "--prune",
        type=Switch(PRUNE_CHOICES, on="safe", off="none"),
        default=QUERY.prune,
        is_flag=False,
        flag_value="safe",
        is_eager=True,  # so that --no-prune, which is processed later, takes precedence
        help="Cut branches that do not help: what nothing else depends on, anything by the papers' rule, or nothing.",
    ),
    click.option(
        "--no-prune",
        is_flag=True,
        expose_value=False,
        callback=_prune_nothing,
        help="The same as --prune none.",
    ),
    setting(
        "--prune-steps",
        type=click.IntRange(1),
        default=QUERY.prune_steps,
        help="Branches that may be cut one after another.",
    ),
    setting("--hops", type=click.IntRange(0), default=QUERY.hops, help="Follow calls this far for helpers."),
    setting(
        "--helpers",
        type=click.Choice(HELPER_CHOICES),
        default=QUERY.helpers,
        help="Add of what a hit calls what TEXT needs, all of it whole, or none; all for --generate.",
    ),
    click.option("--callers", is_flag=True, help="Add the functions that call a hit as well."),
    click.option(
        "--rerank-hits",
        metavar="MODEL",
        help="Let a cross-encoder of sentence-transformers order the 50 best candidates anew: slow.",
    ),
    setting(
        "--floor/--no-floor",
        default=QUERY.floor,
        help="Say when nothing fits (default), and keep it out of prompts; or do not judge.",
    ),
    click.option(
        "--exclude-leaks", is_flag=True, help="Find nothing of what pkg audit has marked as solutions of a benchmark."
    ),
    fresh_option,
    click.option("--exit-code", is_flag=True, help="End with exit code 3 when nothing is found, or nothing fits."),
    click.option("--explain", is_flag=True, help="Tell every decision: scores, cuts, folds, helpers, budget."),
    click.option("--prompt", is_flag=True, help="Write the augmented prompt for a model instead."),
)
"""Search options of `pkg query` except the store."""

generate_options = combine(
    click.option("--generate", is_flag=True, help="Have a text model answer TEXT with the code that was found."),
    model_setting(help="Who answers: openai:NAME@URL, gguf:FILE or hf:FOLDER.", only_with="generate"),
    click.option("--form", default=GENERATE.form, show_default=True, help="Prompt template: auto, paper, or a name."),
    setting(
        "--frame", type=click.Choice(TASK_TYPES), default=GENERATE.frame, help="Task type: what the answer is to be."
    ),
    setting(
        "--context",
        type=click.Choice(CONTEXTS),
        default=GENERATE.context,
        help="What the prompt shows: what harms least, nothing, signatures, or code.",
    ),
    setting(
        "--gate",
        default=GENERATE.gate,
        callback=decode_option,
        metavar="FILE",
        only_with="generate",
        help="Rules for --context auto, made by pkg eval calibrate; without it those that PKG brings.",
    ),
    click.option("--no-context", is_flag=True, help="The same as --context none, to compare; no graph is needed."),
    click.option(
        "--samples",
        "-n",
        type=click.IntRange(0),
        default=GENERATE.samples,
        help="Answers to write and to choose from; without it one, and more while an example in TEXT fails.",
    ),
    click.option("--rerank/--no-rerank", default=GENERATE.rerank, help="Choose among answers (default), or give all."),
    setting(
        "--attempts",
        type=click.IntRange(1),
        default=GENERATE.attempts,
        only_with="generate",
        help="Tries at most, each told which examples failed before.",
    ),
    click.option("--link/--no-link", default=GENERATE.link, help="Put helpers that an answer calls into it (default)."),
    setting(
        "--max-tokens",
        type=click.IntRange(1),
        default=GENERATE.max_tokens,
        only_with="generate",
        help="Tokens of one answer.",
    ),
    click.option(
        "--temperature",
        type=click.FloatRange(0),
        default=GENERATE.temperature,
        show_default=True,
        help="Of samples beyond the first of each form.",
    ),
    click.option("--seed", type=int, default=GENERATE.seed, show_default=True, help="Seed of the samples."),
    click.option(
        "--oracle-tests",
        "tests_file",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="For research: let attempts see hidden tests, one a line; all output says ORACLE.",
    ),
    click.option(
        "--trace",
        "trace_file",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="Write every prompt, answer and verdict to FILE, one JSON line each.",
    ),
)
"""Options of `pkg query` for a generated answer."""


def _split_relations(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> tuple[RelationKind, ...]:
    """Parse relation kinds separated by commas or given several times."""
    found = [word.strip() for value in values for word in value.split(",")]
    chosen = tuple(kind for kind in RELATION_KINDS if kind in found)
    wrong = sorted(set(found) - set(chosen))
    if wrong:
        raise click.BadParameter(f"'{wrong[0]}' is none of {', '.join(RELATION_KINDS)}", ctx, param)
    return chosen


_relation_option = click.option(
    "--relation",
    "relations",
    multiple=True,
    metavar="KIND,...",
    callback=_split_relations,
    help=f"Links to follow: {', '.join(RELATION_KINDS)}; without it all.",
)
_limit_option = click.option(
    "--limit", type=click.IntRange(0), default=DEPS.limit, show_default=True, help="Lines of one kind; 0 for all."
)
_FORMS = ["tree", "json", "dot", "mermaid", "graphml"]


def _form_option(*forms: str) -> Callable[..., Any]:
    return click.option(
        "--format",
        "form",
        type=click.Choice([*_FORMS, *forms]),
        help="Output format; default: tree, or json with --json.",
    )


impact_options = combine(
    source_setting(help="Look in one source only."),
    fresh_option,
    click.option(
        "--diff",
        metavar="REV",
        callback=decode_option,
        help="Ask about what differs from a git revision, uncommitted changes too; REV..REV compares two.",
    ),
    click.option("--staged", is_flag=True, help="Ask about what is staged; with --diff against REV, else HEAD."),
    click.option("--depth", type=click.IntRange(1), help="Steps to follow; without it 10."),
    _relation_option,
    click.option(
        "--tests", "only_tests", is_flag=True, help="Write the tests that reach it alone, as pytest takes them."
    ),
    click.option(
        "--entries", is_flag=True, help="List also by which routes, commands and the like it is entered; takes longer."
    ),
    _limit_option,
    _form_option("markdown"),
    click.option(
        "--link",
        metavar="URL",
        callback=decode_option,
        help="With --format markdown: the address below which the files stand, for links to places.",
    ),
)
"""Options of `pkg impact` except the store."""

_page_option = click.option(
    "--html",
    "page",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write a page to look at instead: one file that opens from disk and asks nobody for anything.",
)

map_options = combine(
    source_setting(help="Map this source."),
    fresh_option,
    click.option("--files", "with_files", is_flag=True, help="Show files and what they import, instead of folders."),
    _page_option,
)
"""Options of `pkg map` except the store."""

deps_options = combine(
    source_setting(help="Look in one source only."),
    fresh_option,
    click.option(
        "--depth",
        type=click.IntRange(1),
        help="Steps to follow; without it 1, and 10 with --path and --impact.",
    ),
    click.option(
        "--direction",
        type=click.Choice(DIRECTIONS),
        default=DEPS.direction,
        show_default=True,
        help="What needs NAME, what NAME needs, or both.",
    ),
    click.option(
        "--path", "ends", nargs=2, metavar="A B", help="Show the shortest chains of calls from A to B instead."
    ),
    click.option("--impact", is_flag=True, help="Show what may break when NAME changes, and the tests that reach it."),
    click.option("--cycles", is_flag=True, help="Show cycles of imports and of calls; of NAME, or of all."),
    click.option("--unused", is_flag=True, help="Show what nothing refers to, and what could make that wrong."),
    click.option("--doubtful", is_flag=True, help="With --unused: list also what may be used in a way no link shows."),
    click.option("--imports", is_flag=True, help="Show the table of imports; of NAME's file, or of all files."),
    _relation_option,
    _limit_option,
    _form_option(),
    click.option("--fail", is_flag=True, help="With --cycles: exit with code 1 where files import each other."),
    click.option(
        "--known",
        type=click.Path(exists=True, dir_okay=False),
        metavar="FILE",
        help="With --fail: leave out the cycles that FILE lists, JSON lines of --cycles.",
    ),
    _page_option,
)
"""Options of `pkg deps` except the store."""

explore_options = combine(
    click.option(
        "--budget",
        "tokens",
        type=click.IntRange(0),
        default=EXPLORE.budget,
        show_default=True,
        help="Tokens of all that is shown; 0 for no limit.",
    ),
    source_setting(help="Look in one source only."),
    fresh_option,
    where_options,
)
"""Options of `pkg explore` except the store."""

evidence_budget_option = click.option(
    "--budget",
    "tokens",
    type=click.IntRange(0),
    default=ASK.evidence.budget,
    show_default=True,
    help="Tokens of all evidence; 0 for no limit.",
)
"""Token budget of the evidence for an answer."""

answer_tokens_option = click.option(
    "--max-tokens",
    "answer_tokens",
    type=click.IntRange(1),
    default=ASK.max_tokens,
    show_default=True,
    help="Tokens of an answer.",
)
"""Token limit of an answer in words."""

ask_options = combine(
    model_setting(help="Who answers: openai:NAME@URL, gguf:FILE or hf:FOLDER; without it, the evidence is shown."),
    setting(
        "--retriever",
        type=click.Choice(RETRIEVERS),
        default=ASK.evidence.retriever,
        help="Where evidence comes from: the graph, chunks of 1,500 characters of its files, or both.",
    ),
    evidence_budget_option,
    click.option(
        "--top-k",
        "-k",
        "pieces",
        type=click.IntRange(0),
        default=ASK.evidence.top_k,
        help="Pieces of evidence at most; without it, what fits into the budget.",
    ),
    source_setting(help="Ask about one source only."),
    fresh_option,
    where_options,
    click.option(
        "--evidence/--no-evidence",
        default=ASK.with_evidence,
        help="Show the model evidence (default), or have it answer from memory, to compare.",
    ),
    click.option(
        "--refuse/--no-refuse",
        default=ASK.refuse,
        help="Say 'I do not know' where nothing fits, without asking the model (default), or ask it all the same.",
    ),
    answer_tokens_option,
    click.option(
        "--temperature", type=click.FloatRange(0), default=ASK.temperature, help="0 takes the likeliest token."
    ),
    click.option("--seed", type=int, default=ASK.seed, help="Of samples, with a temperature."),
    click.option("--chat", is_flag=True, help="Answer each line of standard input; later ones may go on with earlier."),
    click.option("--exit-code", is_flag=True, help="End with exit code 3 when a question is not answered."),
)
"""Options of `pkg ask` except the store."""

show_options = combine(
    source_setting(help="Look in one source only."),
    fresh_option,
    click.option(
        "--limit", type=click.IntRange(0), default=SHOWN_LINKS, show_default=True, help="Links of one kind; 0 for all."
    ),
)
"""Options of `pkg show` except the store."""

outline_options = combine(
    source_setting(help="Outline this source."),
    fresh_option,
    click.option(
        "--budget",
        type=click.IntRange(0),
        default=OUTLINE_BUDGET,
        show_default=True,
        help="Tokens that the outline may take; 0 for no limit.",
    ),
)
"""Options of `pkg outline` except the store."""

diff_options = combine(
    click.option(
        "--source",
        "sources",
        multiple=True,
        callback=decode_options,
        metavar="NAME",
        help="Which source of a graph with several; given twice, the first is that of A.",
    ),
    _limit_option,
)
"""Options of `pkg diff`."""


def name_side(side: str) -> str:
    """Return a side unchanged if it is an address or a path; otherwise as a git revision of the current folder."""
    return side if "://" in side or "@" in side or os.path.lexists(side) else f".@{side}"


export_options = combine(
    click.option("--vectors", is_flag=True, help="Write the vectors too."),
    click.option("--output", "-o", type=click.Path(dir_okay=False), help="File to write; default: standard output."),
    click.option(
        "--neo4j-admin",
        "bulk",
        type=click.Path(file_okay=False),
        metavar="DIR",
        help="Write CSV files for neo4j-admin database import into a new or empty folder instead.",
    ),
)
"""Options of `pkg export` except the store."""

browser_options = combine(
    click.option(
        "--http", metavar="PORT", help="Port or address of the page; default: port 7474 of the graph's server."
    ),
    click.option(
        "--open", "is_opened", is_flag=True, help="Open the page in the system's browser, first query filled in."
    ),
    click.option(
        "--export",
        "folder",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Write the saved queries and the style sheet into a folder instead; needs no store.",
    ),
)
"""Options of `pkg browser` except the store."""


_store_setting = setting(
    "--store",
    default=default_store,
    metavar="ADDRESS",
    help=_STORE_HELP,
    not_with=("folder",),  # pkg browser --export
)


def store_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --store and --database; the command receives `store`, the address with the database in it."""

    @_store_setting
    @click.option("--database", metavar="NAME", help=_DATABASE_HELP)
    @wraps(command)
    def run(*words: Any, store: str, database: str | None, **options: Any) -> Any:
        return command(*words, store=store if database is None else name_database(store, database), **options)

    return run


def verify_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `pkg verify`; the command receives `stores`: two addresses, or one with --trace."""

    @combine(
        click.option(
            "--store",
            "stores",
            multiple=True,
            metavar="ADDRESS",
            help="Where a graph lives; give it twice, once for each, or once with --trace.",
        ),
        click.option("--database", metavar="NAME", help="Database of the Neo4j servers among them that name none."),
        click.option("--vectors", is_flag=True, help="Compare the vectors too."),
        click.option(
            "--trace",
            "command",
            callback=decode_option,
            metavar="CMD",
            help="Run a command, such as your tests, and compare the calls it makes with those of one graph instead.",
        ),
        source_setting(help="With --trace: the source to look at; default: the one of the current folder."),
    )
    @wraps(command)
    def run(**options: Any) -> Any:
        ctx = click.get_current_context()
        stores, database, traced = options.pop("stores"), options.pop("database"), options["command"] is not None
        _check_verify_options(ctx, traced, options["vectors"])
        if traced and not stores:
            stores = (os.environ.get("PKG_STORE") or take_setting(ctx, "store") or default_store(),)
        return command(stores=_name_databases(stores, database, 1 if traced else 2), **options)

    return run


def _check_verify_options(ctx: click.Context, traced: bool, vectors: bool) -> None:
    if traced and vectors:
        raise UsageError("--trace compares calls and --vectors compares stores; give one of them")
    if not traced and ctx.get_parameter_source("source") is click.core.ParameterSource.COMMANDLINE:
        raise UsageError("--source narrows --trace; two stores are compared whole")


ENHANCE_NAMES = ("model", "form", "comments", "limit", "minutes", "max_cost", "price", "retry_failed")
"""Names of the options for the model that writes docstrings, and its limits."""


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --json and --no-json; the default is text on a terminal, in a file and in a pipe alike."""
    return setting("--json/--no-json", "as_json", default=False, help="Write JSON lines instead of text.")(command)


def name_database(address: str, database: str) -> str:
    """Insert the name of a database into a server's address; raises UsageError if the address cannot hold one."""
    from pkg.graph.neo4j.address import is_server

    if not is_server(address):
        raise UsageError(
            f"--database {database} does not fit the store {conceal_address(address)};"
            " expected neo4j://host or its like"
        )
    named = _find_database(address)
    if named not in ("", database):
        raise UsageError(
            f"the store address names the database '{named}' and --database names '{database}'; give one of the two"
        )
    return urlsplit(address)._replace(path=f"/{database}").geturl()


def _find_database(address: str) -> str:
    """Return the database in a server's address, or ""; an invalid address is rejected before it is shown."""
    from pkg.graph.neo4j.address import parse_address

    parse_address(address)
    return urlsplit(address).path.strip("/")


def _name_databases(stores: tuple[str, ...], database: str | None, expected: int) -> tuple[str, ...]:
    from pkg.graph.neo4j.address import is_server

    if len(stores) != expected:
        wanted = "one store with --trace" if expected == 1 else "two stores to compare"
        form = " ".join(["--store ADDRESS"] * expected)
        raise UsageError(f"expected {wanted}, seen {len(stores)}; write: {form}")
    if database is None:
        return stores
    lacking = {each for each in stores if is_server(each) and not _find_database(each)}
    if not lacking:
        which = "neither store" if expected == 2 else "no server"
        raise UsageError(f"--database {database} fits {which}; expected a neo4j://host that names no database")
    return tuple(name_database(each, database) if each in lacking else each for each in stores)


def check_build_options(
    is_watched: bool, poll: bool, from_export: bool, remove: bool, is_enhanced: bool, is_strict: bool
) -> None:
    """Reject options of `pkg build` that exclude each other.

    Raises UsageError, which names the two.
    """
    if remove and from_export:
        raise UsageError("--remove and --from-export exclude each other; give one of them")
    if is_watched and (remove or from_export):
        raise UsageError("--watch excludes --remove and --from-export; it follows a folder or file that changes")
    if is_enhanced and (is_watched or remove):
        raise UsageError("--enhance excludes --watch and --remove; run pkg enhance whenever docstrings are wanted")
    if is_strict and is_watched:
        raise UsageError("--strict excludes --watch, which goes on whatever happens; leave one of them out")
    if poll and not is_watched:
        raise UsageError("--poll tells how --watch looks for changes; give both, or neither")


def choose_question(
    name: str | None, ends: tuple[str, str] | None, options: dict[str, Any]
) -> tuple[QuestionKind, str | None, str | None]:
    """Return the requested question, its subject, and the end of a path.

    Raises UsageError for several questions, or for a path with a third name.
    """
    flags: tuple[QuestionKind, ...] = ("impact", "cycles", "unused", "imports")
    asked: list[QuestionKind] = [each for each in flags if options.pop(each)]
    asked += ["path"] if ends else []
    if len(asked) > 1:
        raise UsageError(f"--{' and --'.join(asked)} are different questions; ask one at a time")
    if not ends:
        return asked[0] if asked else "links", name, None
    if name:
        raise UsageError(f"--path names both ends, and '{name}' is a third name; write: pkg deps --path A B")
    return "path", decode_word(ends[0]), decode_word(ends[1])


def check_failing(question: QuestionKind, fail: bool, known: str | None) -> None:
    """Reject --fail and --known without the question they apply to; raises UsageError."""
    if fail and question != "cycles":
        raise UsageError("--fail is about cycles of imports; write: pkg deps --cycles --fail")
    if known is not None and not fail:
        raise UsageError(
            "--known lists cycles at which --fail does not fail; write: pkg deps --cycles --fail --known FILE"
        )


_BEYOND_PAGE = ("depth", "direction", "relations", "limit", "doubtful")


def check_page_options(ctx: click.Context) -> None:
    """Reject options of `pkg deps` that its page does not use; raises UsageError."""
    given = [
        parameter.opts[0]
        for parameter in ctx.command.params
        if parameter.name in _BEYOND_PAGE
        and ctx.get_parameter_source(parameter.name) is click.core.ParameterSource.COMMANDLINE
    ]
    if given:
        raise UsageError(f"--html writes all that its page shows, and does not use {', '.join(given)}; leave that out")


def open_output(output: str | None, store: str, is_binary: bool = False) -> AbstractContextManager[IO[Any]]:
    """Open the file to export to, but not the store itself, which would be overwritten before it is read.

    Raises UsageError if the file is the store, PathError if it cannot be written.
    """
    scheme, _, place = store.partition(":///")
    if output and scheme == "sqlite" and _is_same_file(Path(output), Path(place)):
        raise UsageError(f"{output} is the store {store} itself; expected another file to export to")
    try:
        mode, encoding = ("wb", None) if is_binary else ("w", "utf-8")
        return click.open_file(output or "-", mode, encoding=encoding, atomic=output not in (None, "-"))
    except OSError as fault:
        raise refuse_file(output, fault) from fault


def _is_same_file(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)


rerank_options = combine(
    click.option(
        "--query",
        callback=decode_option,
        metavar="TEXT",
        help="What the files that are the candidates answer; - reads it from standard input.",
    ),
    click.option(
        "--stages",
        callback=lambda ctx, parameter, value: value and tuple(word.strip() for word in value.split(",")),
        metavar="A,B",
        help="Run these stages alone, of syntax, static, smoke, examples, behaviour, similarity; default: all.",
    ),
    click.option("--without", multiple=True, metavar="STAGE", help="Leave a stage out; may be given several times."),
    click.option("--paper", is_flag=True, help="Run syntax, smoke and raw similarity alone, as the paper does."),
    click.option(
        "--weights", metavar="A=1,B=.5", help="Order by a weighted sum of the stages instead of one after the other."
    ),
    click.option(
        "--compare",
        type=click.Choice(get_args(Comparison)),
        help="Measure likeness without comments and docstrings (default), or with them.",
    ),
    click.option(
        "--sandbox",
        type=click.Choice(get_args(BackendName)),
        help="Where candidates run; default: process on Linux, docker elsewhere. none protects nothing.",
    ),
    jobs_setting(help="Tasks and candidates at one time; 0 takes one for each processor."),
    click.option("--inputs", type=click.IntRange(0), help="Calls on which candidates are compared; default: 24."),
    click.option(
        "--cpu-seconds",
        type=click.FloatRange(0, min_open=True),
        help="Seconds that loading a candidate, or all its calls together, may take; default: 2.",
    ),
    click.option("--seed", type=int, default=0, show_default=True, help="Seed of the calls."),
    click.option(
        "--resume",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="OUT",
        help="Write to OUT, and leave out the tasks that it holds from an earlier run.",
    ),
    click.option(
        "--oracle-tests",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="For research: rank by hidden tests; every line of the output says ORACLE.",
    ),
)
"""Options of `pkg rerank`."""


corpus_options = combine(
    click.option(
        "--output", "-o", required=True, callback=decode_option, metavar="OUT.jsonl", help="File to write the rows to."
    ),
    click.option(
        "--docstrings/--no-docstrings",
        default=True,
        help="Leave the docstrings of packages in their code (default), or in the instruction of a row alone.",
    ),
    click.option("--documented", is_flag=True, help="Take of packages only the functions that have a docstring."),
    click.option("--any-licence", is_flag=True, help="Take packages whatever their licence: yours to answer for."),
    click.option(
        "--licence", callback=decode_option, metavar="NAME", help="Licence of rows that name none; else: unknown."
    ),
)
"""Options of `pkg corpus`."""

serve_options = combine(
    source_setting(help="Serve this source alone; default: all."),
    click.option(
        "--host",
        default="127.0.0.1",
        show_default=True,
        metavar="ADDRESS",
        help="Serve to others, at this address; a token is needed then.",
    ),
    click.option(
        "--port", type=click.IntRange(0, 65_535), default=8720, show_default=True, help="0 takes one that is free."
    ),
    click.option(
        "--token",
        "has_token",
        is_flag=True,
        help="Ask for a token on this machine too: that of PKG_SERVE_TOKEN, else a new one, which is printed.",
    ),
    model_setting(help="Who writes the answers of ask: gguf:FILE, openai:NAME@URL or hf:FOLDER; default: nobody."),
    click.option("--allow-build", is_flag=True, help="Let callers bring the graph up to date (POST /v1/build)."),
    click.option("--watch", is_flag=True, help="Build what changes on disk in the background."),
    click.option("--open", "is_opened", is_flag=True, help="Open the address in the system's browser."),
    click.option(
        "--timeout",
        type=click.FloatRange(0.1, 3_600),
        default=60.0,
        show_default=True,
        metavar="SECONDS",
        help="Work on one request, at most; a streamed answer has 600.",
    ),
    click.option(
        "--at-once",
        type=click.IntRange(0),
        default=0,
        metavar="N",
        help="Requests worked on at once; others wait. Default: two for each processor.",
    ),
)
"""Options of `pkg serve`."""
