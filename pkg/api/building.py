"""Build, update, restore and remove the graphs of sources, and write corpora to build them from."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial

from pkg.api.lazy_types import api_types
from pkg.argument_types import check_sequence
from pkg.errors import SET_SCHEME, PkgError, UsageError
from pkg.graph.opening import find_address, open_store

Ask = Callable[[str], str]
"""Called for the password of a server if PKG_NEO4J_PASSWORD is not set."""


@dataclass(frozen=True, slots=True)
class Listener:
    """Callbacks of a build; the default ones do nothing, and without agree no code is sent to a service."""

    progress: api_types.Progress | None = None  # called with the bytes read and the total
    index_progress: Callable[[str, float], None] | None = None  # a server's index, percentage populated
    say: Callable[[str], None] = lambda text: None  # called with a message before a long step
    agree: Callable[[str], bool] | None = None  # called with an estimate before code is sent to a service
    ask: Ask | None = None
    enter: Callable[[str], None] = lambda stage: None  # called with each stage that follows reading


NO_LISTENER = Listener()


def build_graph(
    path: str | os.PathLike[str],
    *,
    store: str | None = None,
    source: str | None = None,
    encoder: str | None = None,
    field: str | None = None,
    jobs: int = 1,
    max_file_size: int | None = None,
    follow_links: bool = False,
    text: bool = True,
    reader: str | None = None,
    model: str | None = None,
    cluster: str | os.PathLike[str] | None = None,
    ray: str | None = None,
    members: int | None = None,
    listener: Listener = NO_LISTENER,
) -> api_types.BuildReport:
    """Build or incrementally update the graph of a repository, archive, git revision or corpus.

    store: an address such as sqlite:///graph.db; default: PKG_STORE, else the user's own store.
    jobs: worker processes, 0 for one per processor; a script with more than one needs the
    ``if __name__ == "__main__"`` guard of multiprocessing.
    encoder: such as minilm; default: that of the store. Another encoder encodes the whole graph again.
    follow_links: follow links out of the folder to targets inside the user's home.
    text: include the text files of a repository, such as README.md.
    reader: make facts of documents instead of sections: structure, or model with the name of a text model. Default:
    structure for rows of texts, none for everything else.
    cluster: a folder that all workers reach, in which they keep what they make: a build that needs it again reads it
    (docs/scale.md). ray: the address of the Ray cluster that the workers belong to; default: processes of this machine.
    members: the number of stores of a new set, the address sqlite-set:///FOLDER, which takes rows of a corpus.
    Raises pkg.errors.PkgError, such as UsageError for ray without a folder or members without a set; the store is then
    unchanged.
    """
    from pkg.indexing.build import build

    options, address = make_build_options(encoder, jobs, listener), find_address(store)
    if ray is not None and cluster is None:
        raise UsageError("ray needs a folder that its workers share; give cluster as well")
    if address.startswith(SET_SCHEME):
        from pkg.indexing.set_building import build_rows

        place = None if cluster is None else os.fspath(cluster)
        return build_rows(
            os.fspath(path), address, options,
            members=members, place=place, ray=ray, source=source, field=field, reader=reader,
        )  # fmt: skip
    if members is not None:
        raise UsageError(f"members is the number of stores of a set; expected {SET_SCHEME}FOLDER as the store")
    with ExitStack() as stack:
        if cluster is not None:
            from pkg.indexing.partitions import open_cluster

            options = replace(options, cluster=stack.enter_context(open_cluster(os.fspath(cluster), ray, jobs)))
        target = stack.enter_context(closing(open_target(store, listener)))
        return build(
            os.fspath(path),
            target,
            options,
            source=source,
            field=field,
            max_file_size=max_file_size,
            follow_links=follow_links,
            text=text,
            reader=reader,
            model=model,
        )


def estimate_documents(
    path: str | os.PathLike[str],
    *,
    source: str | None = None,
    field: str | None = None,
    max_file_size: int | None = None,
    follow_links: bool = False,
) -> api_types.ReadingEstimate:
    """Count the requests and tokens of ``build_graph(path, reader="model")``, without asking a model.

    Raises PathError or CorpusError for an unusable path.
    """
    from pkg.indexing.inputs import find_input
    from pkg.indexing.model_reader import estimate_reading

    found = find_input(os.fspath(path), source, field, max_file_size, follow_links, reader="model")
    return estimate_reading(found)


def watch_graph(
    path: str | os.PathLike[str],
    *,
    store: str | None = None,
    source: str | None = None,
    encoder: str | None = None,
    field: str | None = None,
    jobs: int = 1,
    max_file_size: int | None = None,
    follow_links: bool = False,
    text: bool = True,
    reader: str | None = None,
    model: str | None = None,
    poll: bool = False,
    on_fault: Callable[[PkgError], None] = lambda fault: None,
    listener: Listener = NO_LISTENER,
) -> Iterator[api_types.BuildReport]:
    """Build now and after each change on disk; yield a report of each round that changed anything.

    poll: check every second, where the system reports no changes. on_fault: called for a later round that failed, which
    is retried. The first build raises the errors of build_graph; raises PathError when the folder is deleted.
    """
    from pkg.indexing.watch import watch

    return watch(
        os.fspath(path),
        find_address(store),
        make_build_options(encoder, jobs, listener),
        source=source,
        field=field,
        max_file_size=max_file_size,
        follow_links=follow_links,
        text=text,
        reader=reader,
        model=model,
        poll=poll,
        say=on_fault,
        open_target=partial(open_target, listener=listener),
    )


def restore_graph(
    path: str | os.PathLike[str],
    *,
    store: str | None = None,
    encoder: str | None = None,
    jobs: int = 1,
    listener: Listener = NO_LISTENER,
) -> list[api_types.BuildReport]:
    """Build the sources of an export, with one report each; the resulting graph is byte-equal."""
    from pkg.indexing.build import build_export

    with closing(open_target(store, listener)) as target:
        return build_export(os.fspath(path), target, make_build_options(encoder, jobs, listener))


def remove_source(name: str, *, store: str | None = None, ask: Ask | None = None) -> api_types.BuildReport:
    """Remove a source with everything in it; raise UsageError for an unknown one."""
    from pkg.indexing.build import drop_source

    with closing(open_store(find_address(store), ask=ask)) as target:
        return drop_source(target, name)


def write_corpus(
    paths: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    docstrings: bool = True,
    documented: bool = False,
    any_licence: bool = False,
    licence: str | None = None,
) -> api_types.CorpusReport:
    """Write rows and the functions of packages into one corpus for build_graph, each with its source and licence.

    paths: files of rows, wheels, source distributions, folders, names of installed packages. docstrings: keep those of
    packages in the code. documented: only functions with a docstring. any_licence: include packages of any licence.
    licence: of rows without one. Raises PathError, UsageError if the output is also an input, InputError if no row is
    left.
    """
    from pkg.extract.recipe.corpus_recipe import RecipeOptions, make_corpus

    check_sequence("paths", paths, 'files, folders or names of packages, such as ["rows.jsonl"]')
    options = RecipeOptions(docstrings, documented, any_licence, licence)
    return make_corpus([os.fspath(path) for path in paths], os.fspath(output), options)


def make_build_options(encoder: str | None, jobs: int, listener: Listener) -> api_types.BuildOptions:
    """Return the options of a build that reports to a listener."""
    from pkg.indexing.build_plan import BuildOptions

    return BuildOptions(encoder, jobs, listener.progress, listener.say, listener.agree, listener.enter)


def open_target(store: str | None, listener: Listener) -> api_types.GraphStore:
    """Open a store to build into, and create it if it does not exist."""
    return open_store(find_address(store), create=True, ask=listener.ask, watch=listener.index_progress)
