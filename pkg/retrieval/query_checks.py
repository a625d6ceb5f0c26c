"""Errors and notes for questions that cannot be answered: what was seen, what was expected, what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from posixpath import dirname
from typing import TYPE_CHECKING, NoReturn

from pkg.errors import QueryError, UnknownWordsError, shorten
from pkg.model import Label
from pkg.retrieval.deps.paths import list_code_files, list_text_files
from pkg.retrieval.query_options import QueryOptions, list_globs
from pkg.retrieval.question import Question
from pkg.retrieval.search import LABELS_OF_MODE, Found

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

SHOWN_TEXT = 60  # characters of a question quoted in a message
SUGGESTED = 3  # paths suggested in a message


def check_text(text: str) -> None:
    """Raise QueryError for a question without words."""
    if not text.strip():
        raise QueryError("the question is empty; expected a few words on what the code does, or a piece of code")


def check_known(store: GraphStore, question: Question, encoder: str, ranking: str) -> None:
    """Raise UnknownWordsError for a question with no word known to the encoder, such as one in another language.

    It passes nevertheless if words of it occur in the code, unless only the cosine is used.
    """
    if ranking != "dense" and _is_in_code(store, question):
        return
    is_dense = ranking == "dense"
    known = "is known to the encoder" if is_dense else "occurs in the code or is known to the encoder"
    refuse_unknown(question.text, encoder, known)


def refuse_unknown(text: str, encoder: str, known: str) -> NoReturn:
    """Raise UnknownWordsError with a message of where the words are unknown."""
    raise UnknownWordsError(
        f"no word of the question {shorten(text, SHOWN_TEXT)!r} {known} '{encoder}';"
        " ask with names or words that the code itself may use, in the language of its comments"
    )


def _is_in_code(store: GraphStore, question: Question) -> bool:
    if store.text_search(Label.FUNCTION, question.weights, 1).matches:
        return True
    return bool(question.files) and any(path.endswith(question.files) for path in _list_paths(store, None))


def check_paths(store: GraphStore, options: QueryOptions, found: Found) -> None:
    """Raise QueryError, with suggestions, for globs that match no file.

    A single glob has matched if anything was found, so no path is read.
    """
    globs = [glob for glob in list_globs(options.path) if not glob.startswith("!")]
    if not globs or (found.ranked and len(globs) == 1):
        return
    paths = _list_paths(store, options.source, of_text=options.mode == "text")
    unmatched = [glob for glob in globs if not any(fnmatchcase(path, glob) for path in paths)]
    if unmatched and paths:
        near = _suggest_globs(unmatched[0], paths)
        advice = f"nearest: {', '.join(map(repr, near))}" if near else "pkg stats lists the sources and their roots"
        of_source = f" of source '{options.source}'" if options.source else ""
        raise QueryError(
            f"no file{of_source} matches the path {unmatched[0]!r}; expected a glob on the whole path below the root of"
            f" its source, such as 'shop/*'; {advice}"
        )


def _list_paths(store: GraphStore, source: str | None, of_text: bool = False) -> list[str]:
    """List the paths of the files and rows of code, or of the text files."""
    paths: set[str] = set()
    for each in store.sources():
        if source in (None, each.name) and each.kind == "corpus":
            paths.update(path for path, _, _ in store.fingerprints(each.name) if not of_text)
        elif source in (None, each.name):
            paths.update(list_text_files(store, each.name) if of_text else list_code_files(store, each.name))
    return sorted(paths)


def _suggest_globs(glob: str, paths: Sequence[str]) -> list[str]:
    """Suggest globs that match something: a correction of the given one, else the most similar ones."""
    for meant in _list_corrections(glob):
        if any(fnmatchcase(path, meant) for path in paths):
            return [meant]
    ends = [path for path in paths if glob.replace("\\", "/").endswith(f"/{path}")]
    if ends:  # a path from the root of the file system
        return sorted(ends, key=len)[-1:]
    folders = sorted({f"{folder}/*" for path in paths if (folder := dirname(path))})
    return get_close_matches(glob, [*paths, *folders], SUGGESTED)


def _list_corrections(glob: str) -> Iterator[str]:
    plain = glob.replace("\\", "/").removeprefix("./").rstrip("/")
    yield from (plain, f"{plain}/*", f"*/{plain}", f"*/{plain}/*", f"*{plain}*")
    yield f"*{plain.lower()}*"


def explain_empty(store: GraphStore, found: Found, options: QueryOptions) -> tuple[str, ...]:
    """Return why a search found nothing; free where there are matches."""
    if found.ranked:
        return ()
    if not found.searched:
        labels = " or ".join(label.value for label in LABELS_OF_MODE[options.mode])
        return (f"the graph holds no {labels} nodes; {_advise_mode(store, options.mode)}",)
    return (
        f"none of the {found.searched} nodes that may answer passes the filter;"
        " widen source, path, tests, kind or blocks",
    )


def _advise_mode(store: GraphStore, mode: str) -> str:
    """Suggest a mode whose nodes the graph has, or a build."""
    counts = store.stats().nodes
    for other, labels in LABELS_OF_MODE.items():
        held = [f"{counts[label.value]:,} {label.value}" for label in labels if counts.get(label.value)]
        if other != mode and held:
            return f"it holds {' and '.join(held)} nodes: ask with mode '{other}'"
    return "run: pkg build PATH"
