"""Questions about the imports of a file, with answers from the import table of the graph (Q-04, Q-05), or by a model.

Without a model there are seven kinds, as in the paper; each question names the file:

row         one row of the table: the origin of an imported name
table       all rows of the table
libraries   the imported libraries
files       the imported files of the repository
category    the rows of one category and kind of definition, such as classes of other files (Q-04)
no          a file of the repository, or a library of other files, that this one does not import
absent      a library that does not exist
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from random import Random
from typing import Literal, NamedTuple, get_args

from pkg.extract.files import SUFFIXES
from pkg.graph.store import GraphStore
from pkg.lab.datasets.dataset_rows import Origin, Place, Row, StepCounts, drop_duplicates, make_row
from pkg.lab.datasets.file_pieces import list_repositories
from pkg.lab.datasets.pair_checks import ANSWER, QUESTION, Malformed, Repositories, find_file_fault, parse_pairs
from pkg.lab.datasets.prompts import name_prompt, quote_name, render_prompt
from pkg.lab.datasets.request_runner import Reply, Request, RequestRunner, run_step
from pkg.lab.lab_options import DatasetOptions
from pkg.model import Label, Source
from pkg.retrieval.deps.answer import DepsOptions, ImportRecord, ImportTable
from pkg.retrieval.deps.questions import run_deps

STEP, TYPE = "dependencies", "dependencies"
QuestionKind = Literal["row", "table", "libraries", "files", "category", "no", "absent"]
KINDS: tuple[QuestionKind, ...] = get_args(QuestionKind)

INVENTED = (
    "quillparse", "nimbusframe", "fastledgerdb", "pyorchardkit", "tensorloom", "httpgrove", "datamarmot", "cliweaver",
    "asyncpebble", "yamlharbor", "plotwillow", "cachebadger",
)  # fmt: skip
"""Names of libraries that do not exist; one that the repository imports is not used."""

_UNKNOWN = ""
_PACKAGE = "__init__"
_LIBRARY_QUESTIONS = (
    "Which modules of libraries does {file} import as a whole, by `import NAME`?",
    "Which names does {file} import out of libraries, by `from LIBRARY import NAME`?",
)
_PLURALS = {"class": "classes", "function": "functions", "variable": "variables", "module": "modules"}
_HEAD = "category | file | library | name | kind"


@dataclass(frozen=True, slots=True)
class ImportingFile:
    """A file with its rows of the import table, and the other files and libraries of its repository."""

    place: Place  # the whole file
    records: tuple[ImportRecord, ...]
    paths: tuple[str, ...]  # of all files of the source
    libraries: frozenset[str]  # imported by any file of the source
    words: frozenset[str]  # names in its import statements and in those of the packages that it imports from, and
    # libraries that the imported files may re-export
    reached: frozenset[str]  # files that its imports may come from, directly or through these packages

    @property
    def path(self) -> str:
        """Return the path of the file."""
        return self.place.path


class _Pair(NamedTuple):
    kind: QuestionKind
    question: str
    answer: str
    lines: tuple[int, ...] = ()


def write_questions(files: Iterable[ImportingFile], seed: int, counts: StepCounts) -> Iterator[Row]:
    """Yield a question of each kind about each file; counts the kinds that do not apply.

    The seed draws the row, the category, and the file or library that is not imported.
    """
    for file in files:
        counts.taken += 1
        random = Random(f"{seed}:{file.place.source}:{file.path}")
        for kind, pair in zip(KINDS, _write_pairs(file, random), strict=True):
            if pair is None:
                counts.drop(f"nothing to ask of the kind {kind}")
                continue
            fields = {"question": pair.question, "answer": pair.answer, "type": TYPE, "kind": pair.kind}
            yield make_row(file.place, Origin(STEP, seed=seed), fields | {"lines": list(pair.lines)})


def _write_pairs(file: ImportingFile, random: Random) -> list[_Pair | None]:
    return [
        _build_row_pair(file, random),
        _build_table_pair(file),
        _build_libraries_pair(file),
        _build_files_pair(file),
        _build_category_pair(file, random),
        _build_negative_pair(file, random),
        _build_absent_pair(file, random),
    ]


def _build_row_pair(file: ImportingFile, random: Random) -> _Pair:
    """Build a question about one name; the answer has all its imports, such as those of both branches of a try."""
    by_name: dict[str, list[ImportRecord]] = defaultdict(list)
    for record in file.records:
        by_name[record.artifact].append(record)
    name = random.choice([each for each in by_name if each != "*"] or list(by_name))
    ways = list(dict.fromkeys(_describe_way(record) for record in by_name[name]))
    question = f"From where does the file `{file.path}` import {_show_name(name)}?"
    return _Pair("row", question, f"`{file.path}` imports {'; and '.join(ways)}.", _list_lines(by_name[name]))


def _describe_way(record: ImportRecord) -> str:
    """Describe one row of the table."""
    line, name = f"(import in line {record.line})", _show_name(record.artifact)
    if record.category == "library_import_direct":
        return f"the library `{record.library_name}`, by `import {record.artifact}` {line}"
    if record.category == "library_import_from":
        return f"{name} from the library `{record.library_name}` {line}"
    if record.target_file is None:
        return f"{name} of this repository, from a file that was not found {line}"
    if record.artifact_type == "module":
        return f"{name} of this repository, a module that stands in `{record.target_file}` {line}"
    if record.artifact_type in ("class", "function"):
        return (
            f"the {record.artifact_type} {name} of this repository, which is defined in `{record.target_file}` {line}"
        )
    what = "" if record.artifact_type == "unknown" else f"the {record.artifact_type} "
    return f"{what}{name} of this repository, from `{record.target_file}` {line}"


def _show_name(name: str) -> str:
    return "everything (`*`)" if name == "*" else f"`{name}`"


def _build_table_pair(file: ImportingFile) -> _Pair:
    rows = "\n".join(f"- {way}" for way in dict.fromkeys(map(_describe_way, file.records)))
    return _Pair("table", f"What does the file `{file.path}` import?", f"`{file.path}` imports:\n{rows}",
                 _list_lines(file.records))  # fmt: skip


def _build_libraries_pair(file: ImportingFile) -> _Pair:
    records = [each for each in file.records if each.library_name is not None]
    names = _list_quoted(each.library_name for each in records)
    answer = (
        f"`{file.path}` imports {names}." if names else f"None: `{file.path}` imports files of this repository alone."
    )
    return _Pair("libraries", f"Which libraries does the file `{file.path}` import?", answer, _list_lines(records))


def _build_files_pair(file: ImportingFile) -> _Pair:
    question = f"From which files of this repository comes what the file `{file.path}` imports?"
    records = [each for each in file.records if each.library_name is None]
    return _Pair("files", question, _describe_files(file, records), _list_lines(records))


def _describe_files(file: ImportingFile, records: Sequence[ImportRecord]) -> str:
    if not records:
        return f"From none: `{file.path}` imports libraries alone."
    names = _list_quoted(each.target_file for each in records)
    unresolved = _list_quoted(each.artifact for each in records if each.target_file is None)
    parts = [f"what `{file.path}` imports of this repository comes from {names}"] if names else []
    parts += [f"the file that {unresolved} comes from was not found"] if unresolved else []
    answer = "; ".join(parts)
    return f"{answer[0].upper()}{answer[1:]}."


def _build_category_pair(file: ImportingFile, random: Random) -> _Pair | None:
    """Build a question for all rows of one category and kind of definition; None if no such group is known completely.

    A star import may import anything, and an unresolved import of the repository may be of any kind.
    """
    groups: dict[str, list[ImportRecord]] = defaultdict(list)
    for record in file.records:
        groups[_make_category_question(record)].append(record)
    unknown = bool(groups.pop(_UNKNOWN, []))
    asked = [
        question
        for question, records in sorted(groups.items())
        if not (unknown and question not in _LIBRARY_QUESTIONS) and all(each.artifact != "*" for each in records)
    ]
    if not asked:
        return None
    chosen = random.choice(asked)
    names = _list_quoted(each.artifact for each in groups[chosen])
    question = chosen.format(file=f"the file `{file.path}`")
    return _Pair("category", question, f"`{file.path}` imports {names} so.", _list_lines(groups[chosen]))


def _make_category_question(record: ImportRecord) -> str:
    """Return the question for all rows of the category and kind of a row; _UNKNOWN if its kind is not known."""
    if record.library_name is not None:
        return _LIBRARY_QUESTIONS[record.category == "library_import_from"]
    things = _PLURALS.get(record.artifact_type)
    if things is None or record.target_file is None:
        return _UNKNOWN
    how = "`import NAME`" if record.category == "file_import_direct" else "`from MODULE import NAME`"
    return f"Which {things} of this repository does {{file}} import, by {how}?"


def _build_negative_pair(file: ImportingFile, random: Random) -> _Pair | None:
    """Build a question about a file or a library that is not imported here; None if there is none."""
    files = [("file", path) for path in file.paths if _is_foreign(path, file)]
    libraries = [("library", name) for name in sorted(file.libraries - file.words)]
    choices = [each for each in (files, libraries) if each]
    if not choices:
        return None
    what, name = random.choice(random.choice(choices))
    if what == "library":
        reason = f"other files of this repository import `{name}`, and this one does not"
        return _Pair("no", f"Does the file `{file.path}` import the library `{name}`?", f"No: {reason}.")
    targets = _list_quoted(each.target_file for each in file.records)
    reason = f"of this repository it imports what stands in {targets}" if targets else "it imports libraries alone"
    question = f"Does the file `{file.path}` import anything from the file `{name}`?"
    return _Pair("no", question, f"No: `{file.path}` imports nothing from `{name}`; {reason}.")


def _is_foreign(path: str, file: ImportingFile) -> bool:
    """Return whether a file is certainly not imported: no row leads to it, and no import statement has its name.

    The names are checked because a row leads to the definition, and the statement may name a file that re-exports it.
    Returns False for package files, which run on any import from the package, and if there is a star import.
    """
    stem = PurePosixPath(path).stem
    if path == file.path or stem == _PACKAGE or not path.endswith(SUFFIXES) or "*" in file.words:
        return False
    return path not in file.reached and stem not in file.words


def _build_absent_pair(file: ImportingFile, random: Random) -> _Pair:
    name = random.choice([each for each in INVENTED if each not in file.libraries])
    libraries = _list_quoted(each.library_name for each in file.records)
    reason = (
        f"the libraries that it imports are {libraries}" if libraries else "it imports files of this repository alone"
    )
    answer = f"For nothing: `{file.path}` does not import `{name}`, nor does any file of this repository; {reason}."
    return _Pair("absent", f"For what does the file `{file.path}` use the library `{name}`?", answer)


def _list_lines(records: Iterable[ImportRecord]) -> tuple[int, ...]:
    return tuple(sorted({each.line for each in records}))


def _list_quoted(names: Iterable[str | None]) -> str:
    return ", ".join(f"`{name}`" for name in dict.fromkeys(names) if name)


def group_records(
    records: Iterable[ImportRecord], places: Mapping[str, Place], words: Mapping[str, Collection[str]]
) -> list[ImportingFile]:
    """Group the rows of the import table of one source by file, sorted by path.

    places: all files of the source, by path. words: the names in the import statements of each file.
    """
    paths = tuple(sorted(places))
    by_file: dict[str, list[ImportRecord]] = defaultdict(list)
    for record in records:
        by_file[record.file_name].append(record)
    libraries = frozenset(
        each.library_name for table in by_file.values() for each in table if each.library_name is not None
    )
    files = []
    for path, found in sorted(by_file.items()):
        reexporting = _list_reexporting(path, by_file)
        reached = frozenset(_list_targets(by_file.get(each, ()) for each in reexporting))
        reexported = (each.library_name for target in reached for each in by_file.get(target, ()))
        all_words = frozenset(
            (*(word for each in reexporting for word in words.get(each, ())), *filter(None, reexported))
        )
        files.append(ImportingFile(places[path], tuple(found), paths, libraries, all_words, reached))
    return files


def _list_reexporting(path: str, by_file: Mapping[str, Sequence[ImportRecord]]) -> list[str]:
    """List a file and the packages that it imports from, directly or through other packages."""
    reexporting, waiting = [path], [path]
    while waiting:
        for target in _list_targets([by_file.get(waiting.pop(), ())]):
            if PurePosixPath(target).stem == _PACKAGE and target not in reexporting:
                reexporting.append(target)
                waiting.append(target)
    return reexporting


def _list_targets(tables: Iterable[Sequence[ImportRecord]]) -> list[str]:
    return list(dict.fromkeys(each.target_file for table in tables for each in table if each.target_file is not None))


class _Statement(NamedTuple):
    """The module that an import statement names."""

    module: str
    level: int  # leading dots


def read_importing_files(store: GraphStore, source: str | None) -> list[ImportingFile]:
    """Return each file with imports and its rows of the table, sorted by source and path."""
    with store.snapshot():
        return [file for each in list_repositories(store, source) for file in _read_source(store, each)]


def _read_source(store: GraphStore, source: Source) -> list[ImportingFile]:
    places = {
        path: Place(source.name, source.revision, path, content_hash=content_hash)
        for path, _, content_hash in store.fingerprints(source.name)
    }
    statements: dict[tuple[str, int, str], _Statement] = {}
    words: dict[str, set[str]] = defaultdict(set)
    for node in store.nodes((Label.IMPORT,), source.name):
        module, name = (str(node.properties.get(each) or "") for each in ("module", "imported"))
        statement = _Statement(module, int(str(node.properties.get("level") or 0)))
        statements[node.path, node.start_line, name or module] = statement
        words[node.path].update(word for each in (module, name) for word in each.split(".") if word)
    table = run_deps(store, None, DepsOptions(question="imports", source=source.name, limit=0))
    assert isinstance(table, ImportTable)
    records = []
    for record in table.records:
        statement = statements[record.file_name, record.line, record.artifact]
        if record.library_name is not None:
            words[record.file_name].add(record.library_name)
        records.append(_keep_to_statement(record, statement, places.keys()))
    return group_records(records, places, words)


def _keep_to_statement(record: ImportRecord, statement: _Statement, paths: Collection[str]) -> ImportRecord:
    """Return the record of a library name that a file of the repository re-exports as an import from that file."""
    is_own = not statement.level and statement.module.partition(".")[0] == record.library_name
    if record.library_name is None or is_own:
        return record
    category = record.category.replace("library", "file")
    target = _find_file(record.file_name, statement, paths)
    return replace(record, category=category, target_file=target, library_name=None, artifact_type="unknown")


def _find_file(path: str, statement: _Statement, paths: Collection[str]) -> str | None:
    """Return the file that a statement names; None if none or several match."""
    inside = statement.module.replace(".", "/")
    if statement.level:
        folder = PurePosixPath(path).parents[min(statement.level, len(PurePosixPath(path).parents)) - 1]
        wanted = {(folder / each).as_posix() for each in (f"{inside}.py", f"{inside}/__init__.py")}
        found = [each for each in paths if each in wanted]
    else:
        ends = (f"/{inside}.py", f"/{inside}/__init__.py")
        found = [each for each in paths if f"/{each}".endswith(ends)]
    return found[0] if len(found) == 1 else None


def write_pairs(
    files: Iterable[ImportingFile],
    runner: RequestRunner,
    options: DatasetOptions,
    counts: StepCounts,
    repositories: Repositories,
) -> Iterator[Row]:
    """Write pairs about each file with a model; a malformed reply is dropped as a whole, as in the paper.

    The answers are not verified; each row names its model.
    """

    def read(reply: Reply) -> list[Row] | str:
        pairs, place = parse_pairs(reply.text, reply.is_cut), reply.request.place
        if isinstance(pairs, Malformed):
            return pairs.reason
        repository = repositories.find(place.source)
        faults = [fault for pair in pairs if (fault := find_file_fault(pair, place, repository))]
        if faults:
            return faults[0]
        origin = Origin(STEP, runner.model.name, name_prompt(STEP), options.seed)
        fields = [{"question": pair.question, "answer": pair.answer, "type": TYPE} for pair in pairs]
        return [make_row(place, origin, each) for each in fields]

    yield from drop_duplicates(run_step(runner, request_table_pairs(files, options), read, counts), counts)


def request_table_pairs(files: Iterable[ImportingFile], options: DatasetOptions) -> Iterator[Request]:
    """Yield a request about the table of each file; the prefill names the file."""
    for file in files:
        words = {"path": file.path, "table": render_table(file)}
        prefill = f"{QUESTION} In the file {quote_name(file.path)},"
        yield Request(file.place, {}, render_prompt(STEP, words), options.make_decoding(), prefill, ANSWER)


def render_table(file: ImportingFile) -> str:
    """Return the rows of the table as lines, after a header."""
    rows = (
        (each.category, each.target_file or "-", each.library_name or "-", each.artifact, each.artifact_type)
        for each in file.records
    )
    return "\n".join((_HEAD, *dict.fromkeys(" | ".join(row) for row in rows)))
