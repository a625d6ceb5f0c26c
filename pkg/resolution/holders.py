"""Library objects that hold values, and library functions that call their arguments (A-12).

Queues, futures, context variables, references and namespaces are kinds of containers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pkg.model import LIKELY
from pkg.resolution.call_arguments import Arguments
from pkg.resolution.library import LibraryCalls, models
from pkg.resolution.reasons import Reason
from pkg.resolution.value_sets import (
    EMPTY,
    PLAIN,
    Class,
    Constant,
    Container,
    Coroutine,
    Function,
    Instance,
    Method,
    Partial,
    Values,
    Wrapped,
    unknown,
)

if TYPE_CHECKING:
    from pkg.resolution.container_values import Containers

_CALLABLE = (Function, Method, Class, Partial, Wrapped, Instance)
_NONE = frozenset({PLAIN["NoneType"]})


def _hold(library: LibraryCalls, kind: str, items: Values, site: int) -> Values:
    return library.machine.containers.fill(kind, items, site)


def _finish(library: LibraryCalls, values: Values) -> Values:
    """Return results with coroutines awaited."""
    started = frozenset(each for each in values if isinstance(each, Coroutine))
    return values - started | library.machine.calls.await_all(started, -1) if started else values


# Holders.


@models(".Queue", ".LifoQueue", ".PriorityQueue", ".SimpleQueue", ".JoinableQueue", ".Future", ".create_future")
def _make_empty(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    is_future = name.endswith(("Future", "create_future"))
    is_awaited = name.startswith(("asyncio.", "trio.", "anyio."))
    return _hold(library, "awaitable" if is_future else "awaited queue" if is_awaited else "queue", EMPTY, site)


@models("contextvars.ContextVar")
def _make_variable(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    return _hold(library, "variable", arguments.get(9, "default"), site)


@models("weakref.ref", "weakref.WeakMethod", "weakref.ReferenceType")
def _make_reference(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    library.call_with(arguments.get(1, "callback"), [EMPTY], site)
    return _hold(library, "reference", arguments.get(0), site)


@models("types.SimpleNamespace", "argparse.Namespace", "threading.local")
def _make_namespace(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    containers = library.machine.containers
    made = containers.open("namespace", library.machine.code, 20_000_000 + site)
    for key, values in arguments.named:
        containers.put(made, key, values) if key else containers.merge(made, values)
    return frozenset({made})


@models("types.MethodType")
def _make_method(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    return frozenset(
        library.make(Method, value.code, receiver) if isinstance(value, Function) else value
        for value in arguments.get(0)
        for receiver in arguments.get(1)
    )


@models("json.load", "json.loads")
def _load_json(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    items = _hold(library, "dict", unknown(Reason.RESULT), site)
    found = library.call_with(arguments.get(9, "object_hook"), [items], site)
    pairs = _hold(library, "list", EMPTY, site + 1_000_000)
    return found | library.call_with(arguments.get(9, "object_pairs_hook"), [pairs], site) | unknown(Reason.RESULT)


@models("pickle.load", "pickle.loads", "marshal.load", "marshal.loads", "dill.load", "dill.loads", "joblib.load",
        "cloudpickle.load", "cloudpickle.loads", "copyreg.__newobj__", "builtins.eval")  # fmt: skip
def _load(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    return unknown(Reason.RESULT)


# Functions of iterables.


@models("heapq.nlargest", "heapq.nsmallest", "heapq.merge", "random.sample", "random.choices", "itertools.repeat",
        "itertools.compress", "concurrent.futures.as_completed", "asyncio.as_completed")  # fmt: skip
def _choose(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    place = 1 if name.startswith("heapq.n") else 0
    values = [each for each, _ in arguments.placed[place:]] if name == "heapq.merge" else [arguments.get(place)]
    items = EMPTY.union(*values)
    if name != "itertools.repeat":
        items = EMPTY.union(*(library.items_of(each, site) for each in values))
    library.call_with(arguments.get(9, "key"), [items], site)
    return _hold(library, "list", items, site)


@models("itertools.tee", "itertools.permutations", "itertools.combinations", "itertools.pairwise", "itertools.batched",
        "itertools.combinations_with_replacement", "concurrent.futures.wait", "asyncio.wait")  # fmt: skip
def _group(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    made = _hold(library, "tuple", library.items_of(arguments.get(0), site), site + 1_000_000)
    return _hold(library, "awaitable" if name == "asyncio.wait" else "list", made, site)


@models("itertools.accumulate")
def _accumulate(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    items = library.items_of(arguments.get(0), site) | arguments.get(9, "initial")
    made = library.call_with(arguments.get(1, "func"), [items, items], site)
    return _hold(library, "iterator", items | made, site)


@models("functools.cmp_to_key")
def _compare(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    return frozenset(library.wrap("comparison", each) for each in arguments.get(0))


@models("operator.attrgetter", "operator.itemgetter", "operator.methodcaller")
def _get_by(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    kind = name.rpartition(".")[2]
    keys = [each for values, _ in arguments.placed[:1] for each in values if isinstance(each, Constant)]
    return frozenset(library.wrap(kind, each) for each in keys) or library.made(name)


@models(".Counter")
def _count(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    keys = library.items_of(arguments.get(0), site) if arguments.placed else EMPTY
    return library.machine.containers.fill("dict", frozenset({PLAIN["int"]}), site, keys)


# Functions that call others, at once or later.


def call_later(library: LibraryCalls, arguments: Arguments, place: int, site: int) -> Values:
    """Call the functions at a position with the arguments after it."""
    given, result = arguments.cut(place + 1), EMPTY
    for value in library.machine.order(arguments.get(place)):
        if isinstance(value, _CALLABLE):
            result |= library.machine.calls.call(value, given, site, "callback", LIKELY)
    return result


@models(".submit", ".to_thread", ".run_in_executor", ".apply", ".apply_async", ".run_sync", ".start_soon", ".spawn",
        ".call_soon", ".call_soon_threadsafe", ".call_later", ".call_at", "weakref.finalize", "trio.run", "anyio.run",
        "atexit.register")  # fmt: skip
def _call_later(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    last = name.rpartition(".")[2]
    place = int(last in ("run_in_executor", "call_later", "call_at", "finalize"))
    if last.startswith("apply"):
        values, named = arguments.get(1, "args"), arguments.get(2, "kwds")
        arguments = Arguments(library.machine, [(arguments.get(0), False), (values, True)], [("", named)])
    result = call_later(library, arguments, place, site)
    if name == "atexit.register":
        return arguments.get(0)
    if last in ("apply", "run"):
        return _finish(library, result)
    return _hold(library, "awaitable", _finish(library, result), site)


@models(".Thread", ".Timer", ".Process")
def _start(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    place = (1, 2, 3) if name.endswith("Timer") else (1, 3, 4)
    target = arguments.get(place[0], "function" if name.endswith("Timer") else "target")
    values, named = arguments.get(place[1], "args"), arguments.get(place[2], "kwargs")
    given = Arguments(library.machine, [(target, False), (values, True)], [("", named)])
    _finish(library, call_later(library, given, 0, site))
    return library.made(name)


@models(".map", ".imap", ".imap_unordered", ".map_async", ".starmap")
def _map(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    given = [library.items_of(values, site) for values, _ in arguments.placed[1:]]
    if name.endswith("starmap"):
        items = Arguments(library.machine, [(given[0] if given else EMPTY, True)], [])
        return _hold(library, "iterator", _call_all(library, arguments.get(0), items, site), site)
    result = library.call_with(frozenset(each for each in arguments.get(0) if isinstance(each, _CALLABLE)), given, site)
    return _hold(library, "iterator", result or unknown(Reason.RESULT), site)


def _call_all(library: LibraryCalls, functions: Values, arguments: Arguments, site: int) -> Values:
    given = Arguments(library.machine, [(functions, False), *arguments.placed], arguments.named)
    return call_later(library, given, 0, site)


@models("asyncio.run", ".run_until_complete", ".run_coroutine_threadsafe", ".create_task", ".ensure_future",
        "asyncio.Task", "asyncio.wait_for", "asyncio.shield")  # fmt: skip
def _run(library: LibraryCalls, arguments: Arguments, site: int, name: str) -> Values:
    result = library.machine.calls.await_all(arguments.get(0), -1)
    is_over = name == "asyncio.run" or name.endswith("run_until_complete")
    return result if is_over else _hold(library, "awaitable", result, site)


# Methods of holders.


def _put(containers: Containers, owner: Container, arguments: Arguments, site: int) -> Values:
    containers.put(owner, None, arguments.get(0))
    return _NONE


def _take(containers: Containers, owner: Container, arguments: Arguments, site: int) -> Values:
    return containers.read_everything(owner)


def _take_or_default(containers: Containers, owner: Container, arguments: Arguments, site: int) -> Values:
    return containers.read_everything(owner) | arguments.get(0)


def _take_awaited(containers: Containers, owner: Container, arguments: Arguments, site: int) -> Values:
    return containers.fill("awaitable", containers.read_everything(owner), site)


def _call_back(containers: Containers, owner: Container, arguments: Arguments, site: int) -> Values:
    library = containers.machine.library
    return library.call_with(arguments.get(0), [frozenset({owner})], site) and _NONE


HolderMethod = Callable[["Containers", Container, Arguments, int], Values]
_QUEUE: dict[str, HolderMethod] = {"put": _put, "put_nowait": _put, "get": _take, "get_nowait": _take}
HOLDERS: dict[str, dict[str, HolderMethod]] = {
    "queue": _QUEUE,
    "awaited queue": {**_QUEUE, "get": _take_awaited},
    "awaitable": {"set_result": _put, "result": _take, "get": _take, "add_done_callback": _call_back},
    "variable": {"set": _put, "get": _take_or_default},
    "reference": {"__call__": _take},
    "namespace": {},
}
"""Methods by kind of container."""
