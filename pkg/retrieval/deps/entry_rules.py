"""Entries from frameworks and runners: a table of rules, and the place to add a framework.

Each rule has the sign by which a function or class is known to be entered from outside, and words for the entry. Signs
are a decorator, being passed to a call, or a name in a file of some name. In the words, {0} is the first argument of
decorator or call that is a literal or a name, {verb} the last part of its dotted name, {of} the part before it, {name}
the name of the definition, {label} the name that it is given, or its own, {command} the same as a command line writes
it, {method} the HTTP methods, and {stem} the name of the file without its suffix.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pkg.retrieval.deps.set_up_rules import RUN_BY_NAME


class Decorated(NamedTuple):
    """Entered because of a decorator with a dotted name."""

    pattern: str
    words: str
    needs: str = ""  # pattern of the first argument; "" for any, or none


class Passed(NamedTuple):
    """Entered because it is an argument of a call with a dotted name."""

    pattern: str
    words: str
    position: int  # of the argument; -1 for none
    keyword: str = ""


class Named(NamedTuple):
    """Entered because of its name, in a file whose path matches."""

    pattern: str  # of the qualified name
    words: str
    path: str = ""


_ANY = r"(?:.*\.)?"  # anything before the last part of a dotted name
_OF = r".+\."
_TESTS = r"(?:.*/)?(?:test_[^/]*|[^/]*_test|tests|conftest)\.py|(?:.*/)?tests?/.*"

DECORATED = (
    # Flask, FastAPI, Starlette, aiohttp, Sanic, Bottle
    Decorated(_OF + r"(?:get|post|put|patch|delete|head|options|trace|websocket)", "{VERB} {0}", r"/.*|"),
    Decorated(_OF + r"(?:route|api_route)", "{method} {0}", r"/.*|"),
    Decorated(_OF + r"(?:errorhandler|app_errorhandler|exception_handler)", "error {0}"),
    Decorated(_OF + r"(?:middleware|on_event)", "{verb} {0}"),
    Decorated(
        _OF
        + r"(?:before_request|after_request|teardown_request|before_app_request|after_app_request|teardown_appcontext"
        r"|context_processor|app_context_processor|url_value_preprocessor|url_defaults|shell_context_processor"
        r"|user_loader)",
        "{verb} of {of}",
    ),
    Decorated(_OF + r"(?:app_)?template_(?:filter|global|test)", "template {name}"),
    # Django
    Decorated(_ANY + "receiver", "signal {0}"),
    Decorated(_ANY + r"register\.(?:filter|tag|simple_tag|simple_block_tag|inclusion_tag)", "template {verb} {name}"),
    Decorated(_ANY + r"admin\.(?:register|action|display)", "admin {0}"),
    # Click, Typer, Invoke, Celery
    Decorated(_ANY + r"(?:command|group)", "command {command}"),
    Decorated(_OF + "callback", "command {of}"),
    Decorated(_ANY + r"(?:shared_task|periodic_task)|" + _OF + "task|task", "task {label}"),
    # pytest and pluggy
    Decorated(_ANY + r"(?:fixture|yield_fixture)", "fixture {label}"),
    Decorated(_ANY + "hookimpl", "hook {name}"),
    Decorated(_ANY + "hookspec", "specification of the hook {name}"),
    # signals and events: blinker, Celery, SQLAlchemy, discord.py
    Decorated(_OF + r"(?:connect|connect_via)", "signal {of}"),
    Decorated(_ANY + r"(?:listens_for|listener|event|subscribe|on)", "event {0}"),
    # Pydantic, attrs, SQLAlchemy
    Decorated(
        _ANY
        + r"(?:validates|validator|field_validator|model_validator|root_validator|field_serializer|model_serializer"
        r"|computed_field)|.+\.(?:default|validator)",
        "{verb} {0}",
    ),
    # Python itself
    Decorated(_OF + r"(?:setter|deleter)", "{verb} of {of}"),
    Decorated(_OF + r"(?:register|register_\w+)", "registration with {of}"),
    Decorated("register", "registration {0}"),
    Decorated(r"(?:typing\.|typing_extensions\.|t\.)?overload", "type checkers only"),
    Decorated(r"(?:abc\.)?abstract(?:method|property|classmethod|staticmethod)", "its implementations"),
)

PASSED = (
    # Django
    Passed(r"(?:path|re_path|url)", "URL {0}", 1, "view"),
    Passed(r"(?:.*\.)?admin\.(?:site\.)?register", "admin {0}", 1),
    # Flask, FastAPI, Starlette, aiohttp
    Passed(_OF + "add_url_rule", "URL {0}", 2, "view_func"),
    Passed(_OF + r"(?:add_api_route|add_route|add_websocket_route|add_api_websocket_route)", "URL {0}", 1, "endpoint"),
    Passed(r"(?:Route|WebSocketRoute)", "URL {0}", 1, "endpoint"),
    Passed(_OF + r"add_(?:get|post|put|patch|delete|head|options)", "{VERB} {0}", 1, "handler"),
    Passed(_OF + r"(?:before_request|after_request|teardown_request|teardown_appcontext)", "{verb} of {of}", 0),
    # commands, signals, events
    Passed(_OF + "add_command", "command", 0),
    Passed(_OF + "set_defaults", "command", -1, "func"),
    Passed(_OF + "connect", "signal {of}", 0, "receiver"),
    Passed("signal.signal", "signal {0}", 1),
    Passed("atexit.register", "the end of the process", 0),
    Passed(r"(?:threading\.|multiprocessing\.)?(?:Thread|Process|Timer)", "{verb}", 1, "target"),
    Passed(_OF + r"(?:add_done_callback|call_soon|call_soon_threadsafe|submit)", "{verb} of {of}", 0),
    Passed(_OF + r"(?:call_later|call_at|run_in_executor)", "{verb} of {of}", 1),
)

NAMED = (
    Named(r"(?:.*\.)?test\w*", "the test runner", _TESTS),
    Named(r"Test\w*|\w+Tests?|\w+TestCase", "the test runner", _TESTS),
    Named(rf"(?:.*\.)?(?:{RUN_BY_NAME})", "the test runner", _TESTS),
    Named(r"pytest_\w+", "hook of pytest"),
    Named("Command", "command {stem}", r"(?:.*/)?management/commands/[^/]+\.py"),
    Named("Migration", "migration {stem}", r"(?:.*/)?migrations/[^/]+\.py"),
    Named(r"\w+Config", "Django, as an app", r"(?:.*/)?apps\.py"),
    Named("main", "python -m", r"(?:.*/)?__main__\.py"),
    Named(r".+", "its file, which is run as a script", r"setup\.py|noxfile\.py|manage\.py|docs/conf\.py"),
)

_RULES = {rule.pattern: re.compile(rule.pattern) for rule in (*DECORATED, *PASSED)}
_LAST = re.compile(r"[A-Za-z_]\w*")
CALLED_NAMES = frozenset(
    word
    for rule in PASSED
    for word in _LAST.findall(rule.pattern)
)  # fmt: skip
"""Words one of which occurs in each text that passes definitions on: most files need not be parsed."""


def match_dotted(rule: Decorated | Passed, dotted: str) -> bool:
    """Return whether a rule applies to a dotted name."""
    return _RULES[rule.pattern].fullmatch(dotted) is not None
