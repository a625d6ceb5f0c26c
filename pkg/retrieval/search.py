"""Find the nodes that best answer a question: one search for each label, merged if there are two (A-01)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from posixpath import dirname
from typing import TYPE_CHECKING, NoReturn

from pkg.errors import QueryError, UnknownWordsError, shorten
from pkg.model import DECLARATION_LABELS, Label, Match, Matches, NodeFilter, Outline
from pkg.retrieval.candidate_pool import Pool, collect_pool
from pkg.retrieval.deps.paths import list_code_files, list_text_files
from pkg.retrieval.long.long_question import Part
from pkg.retrieval.query_options import QueryOptions, list_globs
from pkg.retrieval.question import Question
from pkg.retrieval.question_fit import Evidence, measure_evidence
from pkg.retrieval.ranking import Ranked, collapse_functions, merge_ranked, rank_linear, rank_reciprocal
from pkg.retrieval.twins import fold_twins

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder, Vectors
    from pkg.graph.store import GraphStore
    from pkg.retrieval.hit_order import HitOrder


LABELS_OF_MODE = {
    "block": (Label.BLOCK,),
    "function": (Label.FUNCTION,),
    "both": (Label.BLOCK, Label.FUNCTION),
    "declaration": DECLARATION_LABELS,
    "file": (Label.FUNCTION,),  # the score of a file is that of its best functions
    "text": (Label.CHUNK,),
    "fact": (Label.FACT,),
}
FIRST_PAGE = 25
"""Answers of the first search, whose order is that of the first places for any k: with more candidates, features that
compare them would change the order."""
DEEPER = 4  # factor of answers of the next search where these are too few
SAME_SCORE = 1e-7  # equal texts have equal vectors, whose cosines in one store differ at most in the last bits
SHOWN_TEXT = 60  # characters of a question quoted in a message
SUGGESTED = 3  # paths suggested in a message


@dataclass(frozen=True, slots=True)
class Found:
    """The best candidates of a question in order, and the number of nodes searched."""

    ranked: tuple[Ranked, ...]
    searched: int
    filtered: int
    folded: int
    is_approximate: bool = False  # whether a dense search did not examine all nodes
    has_questions: bool = False  # whether a model wrote questions for any candidate
    evidence: Evidence | None = None  # for judging whether anything fits; not with the ranking ``dense``


def find_nodes(
    store: GraphStore,
    question: Question,
    query: Vectors,
    mode: str,
    k: int,
    where: NodeFilter,
    ranking: str,
    parts: Mapping[Part, Vectors] | None = None,
    by_function: bool = False,
    with_declarations: bool = False,
    asked: int = 0,
) -> Found:
    """Find the k best nodes of a mode in the order of a ranking (P-17); fewer only if the graph has fewer.

    The query and those of the parts of a long question are float32 [dimension]; with parts and the ranking ``linear``,
    each part is searched. by_function: only the best block of a function is returned, except with the ranking
    ``dense``. with_declarations: with the ranking ``linear``, classes, constants and modules are found beside functions
    and blocks. asked: number of nodes if that is more and a model wrote questions for any candidate.
    """
    if parts and ranking == "linear" and mode != "declaration":
        return _find_long(store, question, query, parts, mode, k, where, by_function)
    if ranking == "dense":
        near = search_nodes(store, query, mode, k, where)
        ranked = tuple(Ranked(each.id, each.score, each.score, "", each.same_content, slope=1) for each in near.matches)
        return Found(ranked, near.searched, near.filtered, near.folded, near.is_approximate)
    beside = with_declarations and ranking == "linear" and where.kinds is None and mode != "file"
    return _find_fused(store, question, query, mode, k, where, ranking, by_function, beside, asked)


def _find_long(
    store: GraphStore,
    question: Question,
    query: Vectors,
    parts: Mapping[Part, Vectors],
    mode: str,
    k: int,
    where: NodeFilter,
    by_function: bool,
) -> Found:
    """Find functions, and the nearest block of each if blocks are requested."""
    from pkg.retrieval.long.long_search import choose_blocks, collect_long_pool, rank_long

    labels = LABELS_OF_MODE[mode]
    pool = collect_long_pool(store, question, query, parts, k, replace(where, kinds=None))
    functions = rank_long(pool, len(pool.whole.outlines))
    blocks = choose_blocks(store, query, functions, k, where.kinds) if Label.BLOCK in labels else []
    lists = [blocks if label is Label.BLOCK else functions[:k] for label in labels]
    ranked = tuple(_join(lists, by_function)[:k])
    counts = pool.whole.searched, pool.whole.filtered, sum(each.same_content for each in ranked)
    return Found(ranked, *counts, pool.whole.is_approximate)


def _find_fused(
    store: GraphStore,
    question: Question,
    query: Vectors,
    mode: str,
    k: int,
    where: NodeFilter,
    ranking: str,
    by_function: bool,
    with_declarations: bool,
    asked: int,
) -> Found:
    labels, (encoder, _) = LABELS_OF_MODE[mode], store.encoder()
    if mode == "declaration":
        labels = labels[:1]  # the three labels are searched as one

    def rank_page(size: int) -> tuple[list[Pool], list[Ranked]]:
        """Collect the candidates for some answers, and rank as many, or all if there are no others."""
        pools = [
            collect_pool(
                store, question, query, label, size, _narrow(where, label), with_declarations and label is labels[-1]
            )
            for label in labels
        ]
        count = size if not all(pool.holds_all(size) for pool in pools) else sum(len(pool.outlines) for pool in pools)
        lists = [
            rank_linear(pool, label, count, encoder, by_function)
            if ranking == "linear"
            else rank_reciprocal(pool, count, by_function)
            for pool, label in zip(pools, labels, strict=True)
        ]
        return pools, _join(lists, by_function)

    size = FIRST_PAGE
    pools, ranked = rank_page(size)
    outlines = _read_outlines(pools)
    best = fold_twins(ranked, outlines) if by_function else ranked
    evidence = measure_evidence(pools)
    has_questions = any(each.has_questions for pool in pools for each in pool.owners)
    k = max(k, asked) if has_questions else k
    while len(best) < k and not all(pool.holds_all(size) for pool in pools):
        size *= DEEPER
        pools, page = rank_page(size)
        ranked, outlines = _append_page(ranked, page, by_function), outlines | _read_outlines(pools)
        best = fold_twins(ranked, outlines) if by_function else ranked
    best = best[:k]
    folded = sum(each.same_content for each in best)
    searched, filtered = sum(pool.searched for pool in pools), sum(pool.filtered for pool in pools)
    is_approximate = any(pool.is_approximate for pool in pools)
    return Found(tuple(best), searched, filtered, folded, is_approximate, has_questions, evidence)


def find_ordered(
    store: GraphStore, encoder: Encoder, text: str, find: Callable[[int], Found], order: HitOrder | None, k: int
) -> Found:
    """Search for k nodes, and reorder the best by an order, if any."""
    if order is None:
        return find(k)
    found = find(max(k, order.depth))
    return replace(found, ranked=order.order(store, encoder, text, found.ranked)[:k])


def _read_outlines(pools: Sequence[Pool]) -> dict[str, Outline]:
    return {each.id: each for pool in pools for each in pool.owners}


def _append_page(best: list[Ranked], page: Sequence[Ranked], by_function: bool) -> list[Ranked]:
    """Append the candidates of a deeper search that are new, with at most the score of the last one.

    Features compare the candidates of one search, so a deeper one may order the first places differently.
    """
    known = {_identify(each, by_function) for each in best}
    lowest = best[-1].score if best else 1.0
    fresh = (each for each in page if _identify(each, by_function) not in known)
    return [*best, *(replace(each, score=min(each.score, lowest)) for each in fresh)]


def _identify(each: Ranked, by_function: bool) -> str:
    return each.owner if by_function else each.content_hash


def _join(lists: Sequence[list[Ranked]], by_function: bool) -> list[Ranked]:
    if len(lists) == 1:
        return lists[0]
    merged = merge_ranked(lists)
    return collapse_functions(merged) if by_function else merged


def _narrow(where: NodeFilter, label: Label) -> NodeFilter:
    """Apply the kinds of a filter only to blocks: functions have none of them."""
    return where if label is Label.BLOCK else replace(where, kinds=None)


def search_nodes(store: GraphStore, query: Vectors, mode: str, k: int, where: NodeFilter) -> Matches:
    """Find the k nodes of a mode nearest to a query, ties by id, duplicates dropped (P-14 to P-17).

    Mode ``both`` takes the best k of each label and keeps the best k of all; block kinds restrict only blocks. The
    query is float32 [dimension].
    """
    if mode == "declaration":
        return store.search_declarations(query, {}, k, where)[0]
    found = [store.vector_search(label, query, k, _narrow(where, label)) for label in LABELS_OF_MODE[mode]]
    if len(found) == 1:
        return found[0]
    ranked = sorted((match for each in found for match in each.matches), key=lambda match: (-match.score, match.id))
    merged = _collapse_equal(store, ranked, {match.id for match in found[0].matches})
    return Matches(
        tuple(merged[:k]),
        sum(each.searched for each in found),
        sum(each.filtered for each in found),
        sum(each.folded for each in found) + len(ranked) - len(merged),
        any(each.is_approximate for each in found),
    )


def _collapse_equal(store: GraphStore, ranked: Sequence[Match], first_label: set[str]) -> list[Match]:
    """Collapse a block and a function of equal content into the first.

    Equal content means equal score, so only neighbours of one score and of both labels are fetched and compared.
    """
    kept: list[Match] = []
    for group in _group_scores(ranked):
        is_mixed = len({match.id in first_label for match in group}) > 1
        kept += _collapse_group(store, group) if is_mixed else group
    return kept


def _group_scores(ranked: Sequence[Match]) -> Iterator[list[Match]]:
    group: list[Match] = []
    for match in ranked:
        if group and group[-1].score - match.score > SAME_SCORE:
            yield group
            group = []
        group.append(match)
    if group:
        yield group


def _collapse_group(store: GraphStore, group: list[Match]) -> list[Match]:
    firsts: dict[str, Match] = {}
    for match, node in zip(group, store.get([match.id for match in group]), strict=True):
        first = firsts.get(node.content_hash)
        same = match.same_content + 1 + first.same_content if first else match.same_content
        firsts[node.content_hash] = (first or match)._replace(same_content=same)
    return list(firsts.values())


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
    paths = sorted({*_list_paths(store, options.source), *_list_paths(store, options.source, of_text=True)})
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
    from difflib import get_close_matches

    return get_close_matches(glob, [*paths, *folders], SUGGESTED)


def _list_corrections(glob: str) -> Iterator[str]:
    plain = glob.replace("\\", "/").removeprefix("./").rstrip("/")
    yield from (plain, f"{plain}/*", f"*/{plain}", f"*/{plain}/*", f"*{plain}*")
    yield f"*{plain.lower()}*"


def explain_empty(store: GraphStore, found: Found, options: QueryOptions) -> tuple[str, ...]:
    """Return why a search found nothing; free where there are matches."""
    if found.ranked:
        return ()
    of_text = options.mode in ("text", "fact")
    globs = [glob for glob in list_globs(options.path) if not glob.startswith("!")]
    paths = _list_paths(store, options.source, of_text) if globs else []
    if globs and not any(fnmatchcase(path, glob) for path in paths for glob in globs):
        other, mode = ("code", "a mode of code") if of_text else ("text files", "mode 'text'")
        return (f"the path {globs[0]!r} matches {other} alone; ask with {mode}",)
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
