"""The operation: a request class with validated fields, and a function that answers it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pkg.errors import UsageError, shorten
from pkg.model import Stale

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import ErrorDetails

    from pkg.service.request_context import RequestContext

LONGEST_VALUE = 80  # characters of an invalid value that its error shows


@dataclass(frozen=True, slots=True)
class Reply:
    """The result of an operation."""

    lines: tuple[Mapping[str, Any], ...]
    """As the command of the same name writes with --json."""
    text: str
    """The same as plain text, within the token budget of the request."""
    stale: tuple[Stale, ...] = ()  # files of the result that have changed since the build
    left_out: tuple[str, ...] = ()  # parts that exceeded the budget, and how to get them


@dataclass(frozen=True)
class Operation:
    """One kind of request to a served graph."""

    name: str
    summary: str
    """One sentence in the imperative."""
    request: type
    """A frozen dataclass; its fields with their defaults, bounds and descriptions are the arguments."""
    answer: Callable[[RequestContext, Any], Reply]
    writes_graph: bool = False  # refused unless the service allows it
    runs_code: bool = False  # runs code of the request in the sandbox, and reads no graph

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        """The pydantic adapter that validates and describes the arguments."""
        from pydantic import TypeAdapter

        return TypeAdapter(self.request)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema (2020-12) of the arguments."""
        return self.adapter.json_schema()

    def read_request(self, arguments: Mapping[str, Any]) -> Any:
        """Build the request from arguments; numbers and booleans may be strings.

        Raises UsageError that names each missing, unknown or invalid argument.
        """
        return self._read(lambda: self.adapter.validate_python(dict(arguments)))

    def check_strictly(self, arguments: Mapping[str, Any]) -> None:
        """Raise UsageError for invalid arguments, and for a value whose type differs from the schema."""
        self._read(lambda: self.adapter.validate_json(json.dumps(arguments), strict=True))

    def _read(self, validate: Callable[[], Any]) -> Any:
        from pydantic import ValidationError

        try:
            return validate()
        except ValidationError as fault:
            known = ", ".join(self.schema.get("properties", {})) or "none"
            faults = "; ".join(_list_faults(fault.errors(include_url=False, include_context=False)))
            raise UsageError(f"{self.name}: {faults}; its arguments are: {known}") from fault


def _list_faults(faults: Iterable[ErrorDetails]) -> Iterator[str]:
    """Yield the first error of each argument; pydantic reports one for each member of a union."""
    seen = set[str]()
    for each in faults:
        name = str(each["loc"][0]) if each["loc"] else "arguments"
        if name in seen:
            continue
        seen.add(name)
        if each["type"] == "missing":
            yield f"'{name}' is missing"
        elif each["type"] == "unexpected_keyword_argument":
            yield f"'{name}' is unknown"
        else:
            yield f"'{name}': {each['msg'].lower()}, seen {shorten(repr(each['input']), LONGEST_VALUE)}"
